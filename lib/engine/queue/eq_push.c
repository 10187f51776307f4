/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Event queues as the engine's thread sees them. Start with engine_eq_push().
 */
#include <unistd.h>

#include "plx_engine_eq.h"
#include "plx_wake.h"

enum plx_status
engine_eq_init(struct engine_eq *eq, const struct engine_queues *queues, uint32_t depth,
	       uint32_t event_bytes)
{
	const struct plx_ring_config config = {.entries = depth,
					       .entry_bytes = event_bytes,
					       .producers = PLX_RING_ONE,
					       .consumers = queues->inline_mode ? PLX_RING_ONE
										: PLX_RING_MANY,
					       .socket = queues->socket};
	struct rte_ring *ring = plx_ring_create(&config);

	atomic_init(&eq->fd, -1);
	if (ring == NULL)
		return PLX_NO_MEMORY;
	return plx_ring_untrusted_init(&eq->ring, &config, PLX_RING_PRODUCER, ring);
}

void
engine_eq_free(struct engine_eq *eq)
{
	int fd = atomic_load(&eq->fd);

	if (eq->ring.shared == NULL)
		return;
	if (fd >= 0)
		close(fd);
	plx_ring_destroy(eq->ring.shared);
	eq->ring.shared = NULL;
}

int
engine_eq_fd(struct engine_eq *eq)
{
	return engine_fd(&eq->fd);
}

bool
engine_eq_has_room(struct engine_eq *eq)
{
	return plx_ring_untrusted_count(&eq->ring) < eq->ring.capacity;
}

bool
engine_eq_push(struct engine_eq *eq, const void *event)
{
	if (plx_ring_untrusted_enqueue(&eq->ring, eq->ring.entry_bytes, event, 1) == 0)
		return false;
	engine_wake(&eq->fd);
	return true;
}
