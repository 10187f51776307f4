/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creation of fronts. Start with front_create().
 */
#include <pthread.h>

#include "plx_front.h"
#include "plx_heap.h"
#include "plx_wake.h"

static void *
alloc_private(struct front_memory *memory, size_t bytes)
{
	return plx_heap_queue(bytes, memory->socket);
}

static void
free_private(struct front_memory *memory, void *front)
{
	(void)memory;
	plx_heap_free(front);
}

void
front_memory_init(struct front_memory *memory, int socket)
{
	*memory = (struct front_memory){
		.alloc = alloc_private, .free = free_private, .socket = socket};
}

void *
front_create(struct front_memory *memory, const struct front_layout *layout, bool head_alone,
	     enum plx_ring_role role, struct plx_ring_untrusted *side)
{
	size_t bytes = head_alone ? layout->head_bytes : front_bytes(layout);
	void *front = memory->alloc(memory, bytes);

	if (front == NULL || head_alone)
		return front;
	PLX_ASSERT(plx_ring_untrusted_init(
			   side, &layout->ring, role,
			   plx_ring_init(&layout->ring, front_ring(front, layout))) == PLX_OK);
	return front;
}

void
front_free(struct front_memory *memory, void *front)
{
	if (front != NULL)
		memory->free(memory, front);
}

int
front_descriptor(struct front_owner *owner, uint64_t object, atomic_int *fd, atomic_int *wake_fd)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int own, wake = -1;

	pthread_mutex_lock(&lock);
	own = atomic_load(fd);
	if (own < 0) {
		own = owner->descriptor(owner, object, &wake);
		atomic_store(wake_fd, wake);
		atomic_store(fd, own);
	}
	pthread_mutex_unlock(&lock);
	return own;
}

void
front_descriptor_close(const struct front_owner *owner, atomic_int *fd, atomic_int *wake_fd)
{
	if (!owner->remote)
		return;
	engine_fd_close(NULL, fd);
	engine_fd_close(NULL, wake_fd);
}
