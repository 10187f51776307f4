/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that is not contiguous: lists of pages, which life of a fast-register region has which of
 * its lists, and maps. It never accesses a page. Start with plx_region_promise_pages().
 *
 * A list is written by the thread that promises, and read by engines as long as its life lasts. Who
 * promises finds a list whose life has ended, or can never begin: a life begins only if it is later
 * than the slot's. An engine that still reads such a list looks at the life word afterwards, and
 * finds that its life has ended (check.c).
 */
#include "table.h"

_Static_assert(PLX_FAST_LISTS <= UINT8_MAX, "a promise names its list in 8 bits");

bool
plx_pages_are_valid(const uint64_t *page, uint64_t pages)
{
	for (uint64_t i = 0; i < pages; i++)
		if ((page[i] & ~PLX_PAGE_PRIVATE) == 0 ||
		    (page[i] & ~PLX_PAGE_PRIVATE) % PLX_PAGE_BYTES != 0 || page[i] > UINTPTR_MAX)
			return false;
	return true;
}

bool
plx_pages_are_contiguous(const uint64_t *page, uint64_t pages)
{
	for (uint64_t i = 1; i < pages; i++)
		if (page[i] != page[0] + (i << PLX_PAGE_SHIFT))
			return false;
	return true;
}

size_t
plx_page_lists_bytes(uint32_t pages)
{
	if (pages < 1 || pages > PLX_FAST_PAGES_MAX)
		return 0;
	return sizeof(struct plx_page_lists) + (size_t)pages * PLX_FAST_LISTS * sizeof(uint64_t);
}

struct plx_page_lists *
plx_page_lists_init(void *memory, uint32_t pages)
{
	struct plx_page_lists *lists = memory;

	if (plx_page_lists_bytes(pages) == 0)
		return NULL;
	*lists = (struct plx_page_lists){.pages = pages};
	return lists;
}

static struct plx_page_lists *
lists_of(const struct plx_slot *slot)
{
	return __atomic_load_n(&slot->lists, __ATOMIC_ACQUIRE); /* stored when it was reserved */
}

static uint64_t *
list_at(struct plx_page_lists *lists, uint32_t list)
{
	return &lists->page[(size_t)(list - 1) * lists->pages];
}

/* Does a list belong to a life that lasts, or may begin? */
static bool
is_taken(uint64_t by, uint64_t life)
{
	int32_t ahead = (int32_t)((uint32_t)by - (uint32_t)(life >> 32));

	return by != 0 && (ahead > 0 || (ahead == 0 && plx_life_key(life) != 0));
}

/* Returns: a list that can be written; 0: there is none */
static uint32_t
find_list(const struct plx_slot *slot)
{
	const struct plx_page_lists *lists = lists_of(slot);
	/* Acquire: pairs with the release in plx_slot_end(), by the engine that invalidated. */
	uint64_t life = __atomic_load_n(&slot->life, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < PLX_FAST_LISTS; i++)
		/* Acquire: pairs with the release in plx_region_void(). */
		if (!is_taken(__atomic_load_n(&lists->of[i].life, __ATOMIC_ACQUIRE), life))
			return i + 1;
	return 0;
}

static void
write_list(struct plx_page_lists *lists, uint32_t list, const uint64_t *page, uint32_t pages,
	   uint32_t life)
{
	uint64_t *to = list_at(lists, list);

	/* Release: pairs with the acquire in plx_page_at(). */
	for (uint32_t i = 0; i < pages; i++)
		__atomic_store_n(&to[i], page[i], __ATOMIC_RELEASE);
	__atomic_store_n(&lists->of[list - 1].pages, pages, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire in plx_pages_promised(). */
	__atomic_store_n(&lists->of[list - 1].life, PLX_LIST_TAKEN | life, __ATOMIC_RELEASE);
}

enum plx_status
plx_region_promise_pages(struct plx_mem *mem, struct plx_region region, const uint64_t *page,
			 uint32_t pages, struct plx_promise *promise)
{
	struct plx_slot *slot = plx_slot_of(mem, region.slot, PLX_SLOT_REGION, false);
	struct plx_page_lists *lists;
	enum plx_status status;
	uint32_t list;

	if (!slot)
		return PLX_NO_KEY;
	lists = lists_of(slot);
	if (!lists || pages == 0 || pages > lists->pages || !plx_pages_are_valid(page, pages))
		return PLX_INVALID;
	list = find_list(slot);
	if (list == 0)
		return PLX_FULL;
	status = plx_region_promise(mem, region, promise);
	if (status != PLX_OK)
		return status; /* LCOV_EXCL_LINE: retired since; the caller prevents it */
	write_list(lists, list, page, pages, promise->life);
	promise->list = (uint8_t)list;
	return PLX_OK;
}

uint32_t
plx_region_next_list(struct plx_mem *mem, struct plx_region region)
{
	const struct plx_slot *slot = plx_slot_of(mem, region.slot, PLX_SLOT_REGION, false);

	return slot != NULL && lists_of(slot) != NULL ? find_list(slot) : 0;
}

bool
plx_region_is_of(struct plx_mem *mem, struct plx_region region, struct plx_domain domain)
{
	const struct plx_slot *slot = plx_slot_of(mem, region.slot, PLX_SLOT_REGION, false);

	return slot != NULL && __atomic_load_n(&slot->domain, __ATOMIC_RELAXED) == domain.id;
}

void
plx_region_void(struct plx_mem *mem, const struct plx_promise *promise)
{
	struct plx_slot *slot = plx_slot_of(mem, promise->slot, PLX_SLOT_REGION, false);
	struct plx_page_lists *lists = slot ? lists_of(slot) : NULL;
	uint64_t by = PLX_LIST_TAKEN | promise->life;
	uint64_t life;

	if (!lists || promise->list == 0 || promise->list > PLX_FAST_LISTS)
		return;
	life = __atomic_load_n(&slot->life, __ATOMIC_ACQUIRE);
	if ((int32_t)(promise->life - (uint32_t)(life >> 32)) > 0)
		__atomic_compare_exchange_n(&lists->of[promise->list - 1].life, &by, 0, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

const uint64_t *
plx_pages_promised(struct plx_slot *slot, const struct plx_promise *promise, uint64_t va,
		   uint64_t length)
{
	struct plx_page_lists *lists = lists_of(slot);
	uint32_t at = promise->list - 1u;

	if (!lists || at >= PLX_FAST_LISTS ||
	    __atomic_load_n(&lists->of[at].life, __ATOMIC_ACQUIRE) !=
		    (PLX_LIST_TAKEN | promise->life) ||
	    plx_pages_spanned(va, length) > __atomic_load_n(&lists->of[at].pages, __ATOMIC_RELAXED))
		return NULL;
	return list_at(lists, promise->list);
}

/* ---- maps ----
 *
 * A hash table, whose entries stay: pages that follow each other have places that do, as far as
 * nothing else is there, so that they are copied in one piece. */

enum {
	RUN = PLX_MAP_PLACES_MIN,
	LOOKS = 64, /* for a place; then the map counts as full */
};

_Static_assert((RUN & (RUN - 1)) == 0, "a page's place in its run is masked");

bool
plx_map_is_valid(const struct plx_page_map *map)
{
	return map->page != NULL && map->first != 0 && map->first % PLX_PAGE_BYTES == 0 &&
	       map->places >= RUN && (map->places & (map->places - 1)) == 0;
}

/* Does a place belong to this page, or does it now? */
static bool
has_place(uint64_t *place, uint64_t page)
{
	uint64_t none = 0;

	/* Relaxed: the place is all that there is to know. */
	return __atomic_load_n(place, __ATOMIC_RELAXED) == page ||
	       __atomic_compare_exchange_n(place, &none, page, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED) ||
	       none == page;
}

uint64_t
plx_map_page(const struct plx_page_map *map, uint64_t page)
{
	uint64_t number = page >> PLX_PAGE_SHIFT, run = number / RUN;
	/* Fibonacci hashing: the upper half of the product depends on all bits of the run. */
	uint32_t hash = (uint32_t)((run * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
	uint32_t at = (hash * RUN + (uint32_t)(number % RUN)) & (map->places - 1);

	for (uint32_t looks = 0; looks < LOOKS; looks++, at = (at + RUN) & (map->places - 1))
		if (has_place(&map->page[at], page))
			return (map->first + ((uint64_t)at << PLX_PAGE_SHIFT)) | PLX_PAGE_PRIVATE;
	return 0;
}
