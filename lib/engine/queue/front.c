/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creation of fronts. Start with front_create().
 */
#include "plx_front.h"
#include "plx_heap.h"

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
