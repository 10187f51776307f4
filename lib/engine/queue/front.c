/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creation of fronts. Start with front_create().
 */
#include "plx_front.h"
#include "plx_heap.h"

void *
front_create(const struct front_layout *layout, bool head_alone, int socket,
	     enum plx_ring_role role, struct plx_ring_untrusted *side)
{
	void *front = plx_heap_queue(head_alone ? layout->head_bytes : front_bytes(layout), socket);

	if (front == NULL || head_alone)
		return front;
	PLX_ASSERT(plx_ring_untrusted_init(
			   side, &layout->ring, role,
			   plx_ring_init(&layout->ring, front_ring(front, layout))) == PLX_OK);
	return front;
}
