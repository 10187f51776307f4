/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of the consumer in the guest's kernel, and the pattern in it (memory.c). Start with
 * guest_make_memory().
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "guest_kernel.h"

void
guest_free_memory(void)
{
	vunmap(guest.memory[FAST]);
	for (int i = 0; i < PAGES; i++)
		if (guest.page[i])
			__free_page(guest.page[i]);
	free_pages_exact(guest.memory[PLAIN], BYTES);
}

/* No page of FAST follows the one before it: they are allocated backwards, with one between two. */
int
guest_make_memory(void)
{
	struct page *between[PAGES] = {NULL};
	bool is_whole = true;

	guest.memory[PLAIN] = alloc_pages_exact(BYTES, GFP_KERNEL | __GFP_ZERO);
	if (!guest.memory[PLAIN])
		return -ENOMEM;
	for (int i = PAGES - 1; i >= 0; i--) {
		guest.page[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		between[i] = alloc_page(GFP_KERNEL);
		is_whole = is_whole && guest.page[i] && between[i];
	}
	for (int i = 0; i < PAGES; i++)
		if (between[i])
			__free_page(between[i]);
	if (is_whole)
		guest.memory[FAST] = vmap(guest.page, PAGES, VM_MAP, PAGE_KERNEL);
	if (guest.memory[FAST])
		return 0;
	guest_free_memory();
	return -ENOMEM;
}

/* As in memory.c. */
static u8
byte_at(u64 place, u32 seed)
{
	u32 word = ((u32)(place / 4) + seed * 0x9e3779b1u) * 0x85ebca6bu;

	word ^= word >> 15;
	return (u8)(word >> place % 4 * 8);
}

/* The bytes that a command names; NULL: none, and was answered so. */
u8 *
guest_part_of(const struct line *line, u64 *at, u64 *bytes)
{
	u64 area = guest_number_of(line, "mr", AREAS);

	*at = guest_number_of(line, "at", 0);
	*bytes = guest_number_of(line, "bytes", 0);
	if (area < AREAS && *at <= BYTES && *bytes <= BYTES - *at)
		return guest.memory[area] + *at;
	guest_answer("error mr, at and bytes name no memory");
	return NULL;
}

void
guest_run_fill(const struct line *line)
{
	u32 seed = (u32)guest_number_of(line, "seed", 0);
	u64 at, bytes;
	u8 *memory = guest_part_of(line, &at, &bytes);

	if (!memory)
		return;
	for (u64 i = 0; i < bytes; i++)
		memory[i] = byte_at(at + i, seed);
	guest_answer("ok");
}

void
guest_run_check(const struct line *line)
{
	u32 seed = (u32)guest_number_of(line, "seed", 0);
	u64 at, bytes, from, i = 0;
	u8 *memory = guest_part_of(line, &at, &bytes);

	if (!memory)
		return;
	from = guest_number_of(line, "from", at);
	while (i < bytes && memory[i] == byte_at(from + i, seed))
		i++;
	if (i == bytes)
		guest_answer("ok");
	else
		guest_answer("error the byte at %llu is 0x%02x, not 0x%02x", at + i, memory[i],
			     byte_at(from + i, seed));
}
