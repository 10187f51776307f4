/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that is described by pages: where each byte of a range is, whatever the order of the
 * pages, and which list of a fast-register region has which pages. Granted memory is never
 * accessed. Start with each_byte_is_in_its_page().
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "box.h"
#include "clock.h"

enum {
	SLOTS = 8,
	PAGES = 5,
};

/* Page i of a list that begins with `first`: no two follow each other. */
static uint64_t
page_of(uint64_t first, uint64_t i)
{
	return first - i * 2 * PLX_PAGE_BYTES;
}

static void
fill(uint64_t *page, uint64_t pages, uint64_t first)
{
	for (uint64_t i = 0; i < pages; i++)
		page[i] = page_of(first, i);
}

#define FIRST UINT64_C(0x7f0000000000)

/* ---- each byte ---- */

struct range {
	uint64_t va, length;
	struct plx_key key;
};

/* Where a byte is, by the model. */
static uint64_t
place(uint64_t va)
{
	return page_of(FIRST, va / PLX_PAGE_BYTES - BOX_VA / PLX_PAGE_BYTES) + va % PLX_PAGE_BYTES;
}

/* Is each piece where it should be? Returns: wrong answers */
static uint64_t
ask_pages(const struct box *box, const struct plx_asker *asker, const struct range *range,
	  uint64_t va, uint64_t length)
{
	uint64_t wrong = 0;

	while (length > 0) {
		uint64_t rest = PLX_PAGE_BYTES - va % PLX_PAGE_BYTES, expected;
		enum plx_key_verdict verdict;
		struct plx_grant grant = {0};
		uint32_t bytes = 0;

		expected = rest < length ? rest : length;
		if (plx_key_check_page(box->mem, range->key, asker, va, (uint32_t)length,
				       (struct plx_access){0}, &grant, &bytes) != PLX_KEY_GRANTED ||
		    bytes != expected || (uintptr_t)grant.host != place(va) ||
		    (grant.access.bits & ~PLX_ACCESS_ALL) != 0)
			return wrong + 1;
		/* now it may be remembered */
		grant.host = NULL;
		verdict = plx_key_check(box->mem, range->key, asker, va, bytes,
					(struct plx_access){0}, &grant);
		wrong += asker->memo == NULL
				 ? verdict != PLX_KEY_PIECES || grant.host != NULL
				 : verdict != PLX_KEY_GRANTED || (uintptr_t)grant.host != place(va);
		va += bytes;
		length -= bytes;
	}
	return wrong;
}

static uint64_t
ask(const struct box *box, struct plx_key_memo *memo, const struct range *range, uint64_t va,
    uint64_t length)
{
	const struct plx_asker asker = {.domain = box->domain, .qpn = BOX_QPN, .memo = memo};
	bool inside = va >= range->va && va - range->va <= range->length &&
		      length <= range->length - (va - range->va);
	enum plx_key_verdict verdict;
	struct plx_grant grant = {0};
	uint32_t bytes = 0;

	verdict = plx_key_check(box->mem, range->key, &asker, va, length, (struct plx_access){0},
				&grant);
	if (inside)
		return (verdict != PLX_KEY_PIECES && verdict != PLX_KEY_GRANTED) +
		       ask_pages(box, &asker, range, va, length);
	return (verdict != PLX_KEY_RANGE || grant.host != NULL) +
	       (plx_key_check_page(box->mem, range->key, &asker, va, (uint32_t)length,
				   (struct plx_access){0}, &grant, &bytes) != PLX_KEY_RANGE ||
		grant.host != NULL || bytes != 0);
}

static const int32_t around[] = {-4097, -4096, -4095, -1, 0, 1, 4095, 4096, 4097};

/* All addresses and lengths around the edges of pages and of the range. */
static uint64_t
ask_all(const struct box *box, const struct range *range)
{
	static const uint64_t lengths[] = {1, 2, 8, 4095, 4096, 4097, 8192, 3 * 4096, 5 * 4096};
	struct plx_key_memo memo = {0};
	uint64_t wrong = 0;

	for (uint64_t page = 0; page <= PAGES; page++)
		for (size_t i = 0; i < PLX_COUNT_OF(around); i++)
			for (size_t j = 0; j < PLX_COUNT_OF(lengths); j++) {
				uint64_t from = BOX_VA - BOX_VA % PLX_PAGE_BYTES;
				uint64_t va = from + page * PLX_PAGE_BYTES + (uint64_t)around[i];

				wrong += ask(box, &memo, range, va, lengths[j]);
				wrong += ask(box, NULL, range, va, lengths[j]);
			}
	return wrong;
}

static void
each_byte_is_in_its_page(void **state)
{
	static const uint64_t offsets[] = {0, 1, 8, 2048, 4088, 4095};
	struct box *box = box_open(SLOTS, 1);
	uint64_t page[PAGES];

	(void)state;
	fill(page, PAGES, FIRST);
	for (size_t i = 0; i < PLX_COUNT_OF(offsets); i++) {
		uint64_t va = BOX_VA - BOX_VA % PLX_PAGE_BYTES + offsets[i];
		uint64_t most = PAGES * (uint64_t)PLX_PAGE_BYTES - offsets[i];
		const uint64_t lengths[] = {1, 4096 - offsets[i], 4097, most - 1, most};

		for (size_t j = 0; j < PLX_COUNT_OF(lengths); j++) {
			const struct plx_region_attr attr = {
				.va = va, .length = lengths[j], .page = page};
			struct range range = {.va = va, .length = lengths[j]};
			struct plx_region region;

			assert_in_range(plx_pages_spanned(va, lengths[j]), 1, PAGES);
			assert_int_equal(plx_region_register(box->mem, box->domain, &attr, &region,
							     &range.key),
					 PLX_OK);
			assert_int_equal(ask_all(box, &range), 0);
			box_drop_region(box, region);
		}
	}
	box_close(box);
}

/* A window has the pages of its own range. */
static void
a_window_has_its_part_of_the_pages(void **state)
{
	static const uint64_t offsets[] = {0, 1, 4095, 4096, 8191, 8192, 3 * 4096 + 5};
	struct box *box = box_open(SLOTS, 2);
	const uint64_t all = PAGES * (uint64_t)PLX_PAGE_BYTES - BOX_VA % PLX_PAGE_BYTES;
	struct plx_region_attr attr = {.va = BOX_VA, .length = all, .access = {BOX_RIGHTS}};
	struct plx_region region;
	struct plx_key key;
	uint64_t page[PAGES];

	(void)state;
	fill(page, PAGES, FIRST);
	attr.page = page;
	assert_int_equal(plx_region_register(box->mem, box->domain, &attr, &region, &key), PLX_OK);
	for (size_t i = 0; i < PLX_COUNT_OF(offsets); i++) {
		struct plx_window_attr bind = box_window_attr(region, PLX_ACCESS_REMOTE_READ);
		struct range range = {.va = BOX_VA + offsets[i], .length = all - offsets[i]};
		struct plx_window window;

		bind.va = range.va;
		bind.length = range.length;
		assert_int_equal(plx_window_create(box->mem, box->domain, &window), PLX_OK);
		assert_int_equal(plx_window_bind(box->mem, window, &bind, &range.key), PLX_OK);
		assert_int_equal(ask_all(box, &range), 0);
		box_drop_window(box, window);
	}
	box_drop_region(box, region);
	box_close(box);
}

static void
a_check_of_nothing_asks_for_key_and_right(void **state)
{
	struct box *box = box_open(SLOTS, 3);
	const struct plx_asker asker = box_asker(box);
	uint64_t page[2];
	const struct plx_region_attr attr = {
		.va = BOX_VA, .length = 5000, .access = {PLX_ACCESS_REMOTE_READ}, .page = page};
	struct plx_grant grant = {.host = box->arena};
	struct plx_region region;
	struct plx_key key;
	uint32_t bytes;

	(void)state;
	fill(page, 2, FIRST);
	assert_int_equal(plx_region_register(box->mem, box->domain, &attr, &region, &key), PLX_OK);
	assert_int_equal(plx_key_check(box->mem, key, &asker, 0, 0,
				       (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant),
			 PLX_KEY_GRANTED);
	assert_null(grant.host);
	assert_int_equal(grant.access.bits, PLX_ACCESS_REMOTE_READ);
	for (unsigned int need = 1; need <= PLX_ACCESS_ALL; need++)
		if (need != PLX_ACCESS_REMOTE_READ)
			assert_int_equal(plx_key_check(box->mem, key, &asker, BOX_VA, 1,
						       (struct plx_access){(uint8_t)need}, &grant),
					 PLX_KEY_NO_RIGHT);
	assert_int_equal(plx_key_check_page(box->mem, key, &asker, BOX_VA, 0,
					    (struct plx_access){0}, &grant, &bytes),
			 PLX_KEY_RANGE);
	box_drop_region(box, region);
	assert_int_equal(box_check(box, key, PLX_ACCESS_REMOTE_READ), PLX_KEY_UNKNOWN);
	assert_int_equal(plx_key_check_page(box->mem, key, &asker, BOX_VA, 8,
					    (struct plx_access){0}, &grant, &bytes),
			 PLX_KEY_UNKNOWN);
	box_close(box);
}

/* Memory in one piece, too: who asks for a page need not know. */
static void
contiguous_memory_is_one_page(void **state)
{
	struct box *box = box_open(SLOTS, 10);
	const struct plx_asker asker = box_asker(box);
	struct plx_grant grant;
	uint32_t bytes;
	struct plx_key key;
	struct plx_region region = box_region(box, PLX_ACCESS_REMOTE_READ, &key);

	(void)state;
	assert_int_equal(plx_key_check_page(box->mem, key, &asker, BOX_VA + 5, BOX_LENGTH - 5,
					    (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant,
					    &bytes),
			 PLX_KEY_GRANTED);
	assert_ptr_equal(grant.host, box->arena + 5);
	assert_int_equal(bytes, BOX_LENGTH - 5);
	assert_int_equal(plx_key_check_page(box->mem, key, &asker, BOX_VA, 1,
					    (struct plx_access){PLX_ACCESS_REMOTE_WRITE}, &grant,
					    &bytes),
			 PLX_KEY_NO_RIGHT);
	box_drop_region(box, region);
	box_close(box);
}

static void
pages_that_follow_each_other_are_found(void **state)
{
	uint64_t page[3] = {FIRST, FIRST + PLX_PAGE_BYTES, FIRST + 2 * PLX_PAGE_BYTES};

	(void)state;
	assert_true(plx_pages_are_contiguous(page, 1));
	assert_true(plx_pages_are_contiguous(page, 3));
	page[2] += PLX_PAGE_BYTES;
	assert_true(plx_pages_are_contiguous(page, 2));
	assert_false(plx_pages_are_contiguous(page, 3));
	page[1] = FIRST - PLX_PAGE_BYTES;
	assert_false(plx_pages_are_contiguous(page, 2));
}

static void
wrong_pages_are_refused(void **state)
{
	static const uint64_t wrong[] = {0, 1, FIRST + 8, FIRST + 4095, UINT64_MAX};
	struct box *box = box_open(SLOTS, 4);
	struct plx_region_attr attr = {.va = BOX_VA, .length = 8192};
	struct plx_region region;
	struct plx_key key;
	uint64_t page[3];

	(void)state;
	attr.page = page;
	for (int at = 0; at < 3; at++)
		for (size_t i = 0; i < PLX_COUNT_OF(wrong); i++) {
			fill(page, 3, FIRST);
			page[at] = wrong[i];
			REFUSED(box, PLX_INVALID,
				plx_region_register(box->mem, box->domain, &attr, &region, &key));
		}
	fill(page, 3, FIRST);
	attr.length = 0;
	REFUSED(box, PLX_INVALID, plx_region_register(box->mem, box->domain, &attr, &region, &key));
	attr.va = UINT64_MAX - 100;
	attr.length = 102;
	REFUSED(box, PLX_INVALID, plx_region_register(box->mem, box->domain, &attr, &region, &key));
	attr.length = 101; /* up to the last address there is */
	assert_int_equal(plx_region_register(box->mem, box->domain, &attr, &region, &key), PLX_OK);
	box_drop_region(box, region);
	box_close(box);
}

/* ---- lists of a fast-register region ---- */

/* A region with lists, and what has been promised of it. */
struct fast {
	struct box *box;
	struct plx_page_lists *lists;
	struct plx_region region;
};

static struct fast
fast_open(uint64_t seed, uint32_t pages)
{
	struct fast fast = {.box = box_open(SLOTS, seed)};

	fast.lists = plx_page_lists_init(malloc(plx_page_lists_bytes(pages)), pages);
	assert_non_null(fast.lists);
	assert_int_equal(
		plx_region_reserve(fast.box->mem, fast.box->domain, fast.lists, &fast.region),
		PLX_OK);
	return fast;
}

static void
fast_close(struct fast *fast)
{
	box_drop_region(fast->box, fast->region);
	free(fast->lists);
	box_close(fast->box);
}

static struct plx_promise
promise(struct fast *fast, uint64_t first)
{
	struct plx_promise promised;
	uint64_t page[PAGES];

	fill(page, PAGES, first);
	assert_int_equal(
		plx_region_promise_pages(fast->box->mem, fast->region, page, PAGES, &promised),
		PLX_OK);
	memset(page, 0xee, sizeof(page)); /* the caller's again */
	assert_in_range(promised.list, 1, PLX_FAST_LISTS);
	return promised;
}

static enum plx_status
promise_more(struct fast *fast)
{
	const uint64_t page = FIRST;
	struct plx_promise promised;

	return plx_region_promise_pages(fast->box->mem, fast->region, &page, 1, &promised);
}

static enum plx_status
fulfil(struct fast *fast, const struct plx_promise *promised)
{
	const struct plx_region_attr attr = {.va = BOX_VA,
					     .length = PAGES * PLX_PAGE_BYTES -
						       BOX_VA % PLX_PAGE_BYTES,
					     .access = {BOX_FAST}};

	return plx_region_fulfil(fast->box->mem, fast->box->domain, promised, &attr);
}

/* Where the key grants the first byte of page 1; NULL: nothing. */
static uint8_t *
granted(struct fast *fast, struct plx_key key)
{
	const struct plx_asker asker = box_asker(fast->box);
	struct plx_grant grant = {0};
	uint32_t bytes;

	(void)!plx_key_check_page(fast->box->mem, key, &asker,
				  BOX_VA - BOX_VA % PLX_PAGE_BYTES + PLX_PAGE_BYTES, 16,
				  (struct plx_access){PLX_ACCESS_REMOTE_WRITE}, &grant, &bytes);
	return grant.host;
}

static uint8_t *
page_1(uint64_t first)
{
	return (uint8_t *)(uintptr_t)page_of(first, 1);
}

#define LIST_FIRST(i) (FIRST + (uint64_t)(i)*0x1000000)

static void
a_list_in_use_is_not_overwritten(void **state)
{
	struct fast fast = fast_open(5, PAGES);
	struct plx_promise promised[PLX_FAST_LISTS + 1];

	(void)state;
	promised[0] = promise(&fast, LIST_FIRST(0));
	assert_int_equal(fulfil(&fast, &promised[0]), PLX_OK);
	for (int i = 1; i < PLX_FAST_LISTS; i++) {
		promised[i] = promise(&fast, LIST_FIRST(i));
		assert_ptr_equal(granted(&fast, promised[0].key), page_1(LIST_FIRST(0)));
	}
	REFUSED(fast.box, PLX_FULL, promise_more(&fast));
	/* contiguous memory needs no list */
	assert_int_equal(plx_region_promise(fast.box->mem, fast.region, &promised[PLX_FAST_LISTS]),
			 PLX_OK);
	assert_int_equal(promised[PLX_FAST_LISTS].list, 0);
	for (int i = 1; i < PLX_FAST_LISTS; i++) {
		assert_null(granted(&fast, promised[i].key));
		assert_int_equal(box_invalidate(fast.box, promised[i - 1].key), PLX_KEY_GRANTED);
		assert_int_equal(fulfil(&fast, &promised[i]), PLX_OK);
		assert_null(granted(&fast, promised[i - 1].key));
		assert_ptr_equal(granted(&fast, promised[i].key), page_1(LIST_FIRST(i)));
	}
	fast_close(&fast);
}

/* The list is free when the key is invalid, not before. */
static void
an_ended_life_returns_its_list(void **state)
{
	struct fast fast = fast_open(6, PAGES);
	struct plx_promise old = {0};

	(void)state;
	for (int round = 0; round < 10 * PLX_FAST_LISTS; round++) {
		struct plx_promise promised[PLX_FAST_LISTS];

		for (int i = 0; i < PLX_FAST_LISTS; i++)
			promised[i] = promise(&fast, LIST_FIRST(round + i));
		REFUSED(fast.box, PLX_FULL, promise_more(&fast));
		/* one that is overtaken can never begin */
		assert_int_equal(fulfil(&fast, &promised[PLX_FAST_LISTS - 1]), PLX_OK);
		assert_int_equal(fulfil(&fast, &promised[0]), PLX_STATE);
		assert_null(granted(&fast, old.key));
		assert_ptr_equal(granted(&fast, promised[PLX_FAST_LISTS - 1].key),
				 page_1(LIST_FIRST(round + PLX_FAST_LISTS - 1)));
		old = promised[PLX_FAST_LISTS - 1];
		assert_int_equal(box_invalidate(fast.box, old.key), PLX_KEY_GRANTED);
	}
	fast_close(&fast);
}

static void
a_void_promise_returns_its_list(void **state)
{
	struct fast fast = fast_open(7, PAGES);
	struct plx_promise promised[PLX_FAST_LISTS], wrong;

	(void)state;
	for (int i = 0; i < PLX_FAST_LISTS; i++)
		promised[i] = promise(&fast, LIST_FIRST(i));
	wrong = promised[1];
	wrong.list = 0;
	plx_region_void(fast.box->mem, &wrong);
	wrong.list = PLX_FAST_LISTS + 1;
	plx_region_void(fast.box->mem, &wrong);
	wrong = promised[1];
	wrong.life++; /* the list is not of that life */
	plx_region_void(fast.box->mem, &wrong);
	wrong.slot = SLOTS + 1;
	plx_region_void(fast.box->mem, &wrong);
	REFUSED(fast.box, PLX_FULL, promise_more(&fast));
	plx_region_void(fast.box->mem, &promised[1]);
	assert_int_equal(fulfil(&fast, &promised[1]), PLX_INVALID);
	assert_int_equal(promise_more(&fast), PLX_OK);
	REFUSED(fast.box, PLX_FULL, promise_more(&fast));
	/* a life that has begun keeps its list */
	assert_int_equal(fulfil(&fast, &promised[0]), PLX_OK);
	plx_region_void(fast.box->mem, &promised[0]);
	REFUSED(fast.box, PLX_FULL, promise_more(&fast));
	assert_ptr_equal(granted(&fast, promised[0].key), page_1(LIST_FIRST(0)));
	fast_close(&fast);
}

static void
a_wrong_promise_of_pages_is_refused(void **state)
{
	struct fast fast = fast_open(8, 2);
	struct plx_region_attr attr = {.va = BOX_VA, .length = 8192 - 16, .access = {BOX_FAST}};
	struct plx_mem *mem = fast.box->mem;
	const struct plx_domain domain = fast.box->domain;
	struct plx_promise promised, wrong;
	struct plx_region plain;
	uint64_t page[3];

	(void)state;
	fill(page, 3, FIRST);
	REFUSED(fast.box, PLX_INVALID,
		plx_region_promise_pages(mem, fast.region, page, 0, &promised));
	REFUSED(fast.box, PLX_INVALID,
		plx_region_promise_pages(mem, fast.region, page, 3, &promised));
	page[1] += 2;
	REFUSED(fast.box, PLX_INVALID,
		plx_region_promise_pages(mem, fast.region, page, 2, &promised));
	page[1] -= 2;
	assert_int_equal(plx_region_reserve(mem, domain, NULL, &plain), PLX_OK);
	REFUSED(fast.box, PLX_INVALID, plx_region_promise_pages(mem, plain, page, 1, &promised));
	box_drop_region(fast.box, plain);
	REFUSED(fast.box, PLX_NO_KEY, plx_region_promise_pages(mem, plain, page, 1, &promised));
	assert_int_equal(plx_region_promise_pages(mem, fast.region, page, 2, &promised), PLX_OK);
	wrong = promised;
	wrong.list = promised.list % PLX_FAST_LISTS + 1;
	REFUSED(fast.box, PLX_INVALID, plx_region_fulfil(mem, domain, &wrong, &attr));
	wrong.list = PLX_FAST_LISTS + 1;
	REFUSED(fast.box, PLX_INVALID, plx_region_fulfil(mem, domain, &wrong, &attr));
	attr.length++; /* of a third page */
	REFUSED(fast.box, PLX_INVALID, plx_region_fulfil(mem, domain, &promised, &attr));
	attr.length = 0;
	REFUSED(fast.box, PLX_INVALID, plx_region_fulfil(mem, domain, &promised, &attr));
	attr.length = 8;
	attr.access.bits = BOX_RIGHTS;
	REFUSED(fast.box, PLX_INVALID, plx_region_fulfil(mem, domain, &promised, &attr));
	attr.va = UINT64_MAX;
	attr.access.bits = BOX_FAST;
	REFUSED(fast.box, PLX_INVALID, plx_region_fulfil(mem, domain, &promised, &attr));
	attr.va = BOX_VA;
	assert_int_equal(plx_region_fulfil(mem, domain, &promised, &attr), PLX_OK);
	assert_int_equal(plx_page_lists_bytes(0), 0);
	assert_int_equal(plx_page_lists_bytes(PLX_FAST_PAGES_MAX + 1), 0);
	assert_null(plx_page_lists_init(page, 0));
	fast_close(&fast);
}

/* ---- threads: a peer uses a key while its owner registers the next list ---- */

#define LIVES  50000
#define LIFE_0 UINT64_C(0x100000)

struct race {
	struct fast fast;
	atomic_ullong mail; /* life << 32 | key */
	atomic_ullong granted, torn;
	atomic_bool stop;
};

static uint64_t
first_of(uint64_t life)
{
	return (LIFE_0 + life) << 20;
}

static void *
reader(void *context)
{
	struct race *race = context;

	while (!atomic_load(&race->stop)) {
		uint64_t mail = atomic_load(&race->mail);
		uint8_t *host = granted(&race->fast, (struct plx_key){(uint32_t)mail});

		if (host == NULL)
			continue;
		/* keys recur after 4095 lives, but no reader is that late */
		atomic_fetch_add(
			host == page_1(first_of(mail >> 32)) ? &race->granted : &race->torn, 1);
	}
	return NULL;
}

static void
an_old_key_never_grants_new_pages(void **state)
{
	struct race race = {.fast = fast_open(9, PAGES)};
	struct plx_promise before = {0};
	pthread_t thread[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, reader, &race), 0);
	for (uint64_t life = 1; life <= LIVES; life++) {
		struct plx_promise promised = promise(&race.fast, first_of(life));

		if (before.key.v != 0)
			assert_int_equal(box_invalidate(race.fast.box, before.key),
					 PLX_KEY_GRANTED);
		assert_int_equal(fulfil(&race.fast, &promised), PLX_OK);
		atomic_store(&race.mail, life << 32 | promised.key.v);
		for (uint64_t spin = 0; spin < life % 256; spin++)
			__asm__ volatile("");
		before = promised;
	}
	test_until(atomic_load(&race.granted) > 0, sched_yield());
	atomic_store(&race.stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(atomic_load(&race.torn), 0);
	fast_close(&race.fast);
}

/* ---- private pages ---- */

/* No check but that of a page says so, and none is remembered, which would not. */
static void
a_private_page_is_granted_alone(void **state)
{
	struct plx_key_memo memo = {0};
	uint64_t page[PAGES];
	const uint64_t va = BOX_VA - BOX_VA % PLX_PAGE_BYTES;
	struct plx_region_attr attr = {.va = va + 9, .length = 2 * PLX_PAGE_BYTES, .page = page};
	const struct plx_access none = {0};
	struct plx_region region;
	struct plx_grant grant;
	struct plx_asker asker;
	struct box *box = box_open(SLOTS, 4);
	struct plx_key key;
	uint32_t bytes;

	(void)state;
	asker = (struct plx_asker){.domain = box->domain, .qpn = BOX_QPN, .memo = &memo};
	fill(page, PAGES, FIRST);
	page[1] |= PLX_PAGE_PRIVATE;
	assert_int_equal(plx_region_register(box->mem, box->domain, &attr, &region, &key), PLX_OK);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(plx_key_check_page(box->mem, key, &asker, va + 9, 8192, none,
						    &grant, &bytes),
				 PLX_KEY_GRANTED);
		assert_false(grant.is_private);
		assert_int_equal(bytes, PLX_PAGE_BYTES - 9);
		assert_int_equal(plx_key_check_page(box->mem, key, &asker, va + PLX_PAGE_BYTES, 100,
						    none, &grant, &bytes),
				 PLX_KEY_GRANTED);
		assert_true(grant.is_private);
		assert_int_equal((uintptr_t)grant.host, page[1] & ~PLX_PAGE_PRIVATE);
		assert_int_equal(plx_key_check(box->mem, key, &asker, va + PLX_PAGE_BYTES, 100,
					       none, &grant),
				 PLX_KEY_PIECES);
	}
	assert_int_equal(plx_region_retire(box->mem, region), PLX_OK);
	assert_int_equal(plx_region_release(box->mem, region), PLX_OK);
	/* nothing but its bit */
	page[1] = PLX_PAGE_PRIVATE;
	assert_int_equal(plx_region_register(box->mem, box->domain, &attr, &region, &key),
			 PLX_INVALID);
	box_close(box);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_byte_is_in_its_page),
		cmocka_unit_test(a_window_has_its_part_of_the_pages),
		cmocka_unit_test(a_check_of_nothing_asks_for_key_and_right),
		cmocka_unit_test(contiguous_memory_is_one_page),
		cmocka_unit_test(pages_that_follow_each_other_are_found),
		cmocka_unit_test(wrong_pages_are_refused),
		cmocka_unit_test(a_list_in_use_is_not_overwritten),
		cmocka_unit_test(an_ended_life_returns_its_list),
		cmocka_unit_test(a_void_promise_returns_its_list),
		cmocka_unit_test(a_wrong_promise_of_pages_is_refused),
		cmocka_unit_test(an_old_key_never_grants_new_pages),
		cmocka_unit_test(a_private_page_is_granted_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
