/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions whose pages are apart: registered at once and by requests, what is refused, and that a
 * region's lists come back however a request ends. Start with struct paper.
 */
#include <stdlib.h>
#include <string.h>

#include "plx_base.h"
#include "verbs_pair.h"

/* Pages are private memory to the host of an attached program. */
static uint32_t
rights(uint32_t all)
{
	return pair_is_attached() ? all & ~(uint32_t)PLX_ACCESS_REMOTE_ATOMIC : all;
}

enum {
	PAGES = 8,
	GUARD = 0x5a,
};

#define BASE UINT64_C(0x123000) /* no memory is there */

/* Pages in reverse order, with one between each two that must not change. */
struct paper {
	uint8_t *memory;
	uint64_t page[PAGES];
};

static struct paper
paper_make(void)
{
	struct paper paper = {.memory = aligned_alloc(PLX_PAGE_BYTES, 2 * PAGES * PLX_PAGE_BYTES)};

	assert_non_null(paper.memory);
	memset(paper.memory, GUARD, 2 * PAGES * PLX_PAGE_BYTES);
	for (uint64_t i = 0; i < PAGES; i++)
		paper.page[i] = (uintptr_t)paper.memory + (PAGES - 1 - i) * 2 * PLX_PAGE_BYTES;
	return paper;
}

/* The byte at `at` of the first page. */
static uint8_t *
paper_byte(const struct paper *paper, uint64_t at)
{
	return (uint8_t *)(uintptr_t)(paper->page[at / PLX_PAGE_BYTES] + at % PLX_PAGE_BYTES);
}

static void
paper_assert_clean(const struct paper *paper)
{
	for (uint64_t i = 0; i < 2 * PAGES * PLX_PAGE_BYTES; i++)
		assert_int_equal(paper->memory[i], GUARD);
}

/* The peer of `paper` writes its arena's first bytes to it, and reads them back. */
static void
write_and_read(struct pair *pair, const struct paper *paper, uint64_t va, struct plx_key key,
	       uint32_t bytes)
{
	const struct beyond beyond = {.va = va, .rkey = key};

	side_fill(&pair->a, 0, bytes, 3);
	side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, bytes, &beyond);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	side_post(&pair->a, PLX_WR_READ, 2, 0, PAIR_ARENA / 2, bytes, &beyond);
	pair_expect(pair->a.send_cq, 2, PLX_WC_SUCCESS);
	for (uint32_t i = 0; i < bytes; i++) {
		uint8_t *byte = paper_byte(paper, va % PLX_PAGE_BYTES + i);

		assert_int_equal(*byte, pair->a.arena[i]);
		assert_int_equal(pair->a.arena[PAIR_ARENA / 2 + i], pair->a.arena[i]);
		*byte = GUARD;
	}
	paper_assert_clean(paper);
}

static void
pages_are_registered_as_one_range(void **state)
{
	static const uint64_t offsets[] = {0, 1, 4095};
	struct pair *pair = pair_open(NULL);
	struct paper paper = paper_make();

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(offsets); i++) {
		uint64_t va = BASE + offsets[i];
		uint64_t length = PAGES * PLX_PAGE_BYTES - offsets[i];
		struct plx_mr *mr;

		assert_int_equal(plx_mr_register_pages(pair->b.pd, va, paper.page, length,
						       rights(PAIR_ALL), &mr),
				 PLX_OK);
		write_and_read(pair, &paper, va, plx_mr_key(mr), (uint32_t)length);
		write_and_read(pair, &paper, va, plx_mr_key(mr), 1);
		assert_int_equal(plx_mr_deregister(mr), PLX_OK);
	}
	free(paper.memory);
	pair_close(pair);
}

/* Pages that follow each other are plain memory, at whatever addresses. */
static void
contiguous_pages_are_registered_as_well(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct paper paper = paper_make();
	struct plx_mr *mr;

	(void)state;
	for (uint64_t i = 0; i < PAGES; i++)
		paper.page[i] = (uintptr_t)paper.memory + i * PLX_PAGE_BYTES;
	assert_int_equal(plx_mr_register_pages(pair->b.pd, BASE + 9, paper.page, 20000,
					       rights(PAIR_ALL), &mr),
			 PLX_OK);
	write_and_read(pair, &paper, BASE + 9, plx_mr_key(mr), 20000);
	assert_int_equal(plx_mr_deregister(mr), PLX_OK);
	free(paper.memory);
	pair_close(pair);
}

static void
what_is_not_pages_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct paper paper = paper_make();
	struct plx_mr *mr = NULL;

	(void)state;
	assert_int_equal(plx_mr_register_pages(pair->b.pd, BASE, paper.page, 0, 0, &mr),
			 PLX_INVALID);
	assert_int_equal(plx_mr_register_pages(pair->b.pd, UINT64_MAX, paper.page, 2, 0, &mr),
			 PLX_INVALID);
	assert_int_equal(plx_mr_register_pages(pair->b.pd, BASE, paper.page, 8, 0x100, &mr),
			 PLX_INVALID);
	paper.page[0]++;
	assert_int_equal(plx_mr_register_pages(pair->b.pd, BASE, paper.page, 8, 0, &mr),
			 PLX_INVALID);
	paper.page[0]--;
	paper.page[1] = 0;
	assert_int_equal(plx_mr_register_pages(pair->b.pd, BASE, paper.page, 4097, 0, &mr),
			 PLX_INVALID);
	assert_int_equal(plx_mr_create_fast(pair->b.pd, PLX_FAST_PAGES_MAX + 1, &mr), PLX_INVALID);
	assert_null(mr);
	free(paper.memory);
	pair_close(pair);
}

/* ---- by requests ---- */

static struct plx_mr *
fast_region(struct side *side, uint32_t pages)
{
	struct plx_mr *mr;

	assert_int_equal(plx_mr_create_fast(side->pd, pages, &mr), PLX_OK);
	return mr;
}

static struct plx_reg
registration(struct plx_mr *mr, const struct paper *paper, uint64_t va, uint64_t length)
{
	return (struct plx_reg){.wr_id = 7,
				.mr = mr,
				.va = va,
				.length = length,
				.access = rights(PAIR_REMOTE | PLX_ACCESS_LOCAL_WRITE),
				.page = paper->page,
				.pages = PAGES};
}

/* The caller's array is free at once. */
static enum plx_status
try_reg(struct plx_qp *qp, const struct plx_reg *reg, struct plx_key *key)
{
	struct plx_reg copy = *reg;
	uint64_t page[PAGES];
	enum plx_status status;

	memcpy(page, reg->page, sizeof(page));
	copy.page = page;
	status = plx_post_reg(qp, &copy, key);
	memset(page, 0xee, sizeof(page));
	return status;
}

static struct plx_key
post_reg(struct plx_qp *qp, const struct plx_reg *reg)
{
	struct plx_key key = {0};

	assert_int_equal(try_reg(qp, reg, &key), PLX_OK);
	assert_int_not_equal(key.v, 0);
	return key;
}

static void
invalidate(struct side *side, struct plx_qp *qp, struct plx_key key)
{
	const struct beyond beyond = {.inv_key = key};

	assert_int_equal(side_try(side, qp, PLX_WR_LOCAL_INV, 8, 0, 0, 0, &beyond), PLX_OK);
}

static void
a_request_registers_pages(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct paper first = paper_make(), second = paper_make();
	struct plx_mr *mr = fast_region(&pair->b, PAGES);
	struct plx_reg reg = registration(mr, &first, BASE + 1, PAGES * PLX_PAGE_BYTES - 1);
	struct plx_key old, key;

	(void)state;
	old = post_reg(pair->b.qp, &reg);
	pair_expect(pair->b.send_cq, 7, PLX_WC_SUCCESS);
	write_and_read(pair, &first, reg.va, old, (uint32_t)reg.length);
	/* posted together */
	reg.page = second.page;
	invalidate(&pair->b, pair->b.qp, old);
	key = post_reg(pair->b.qp, &reg);
	pair_expect(pair->b.send_cq, 8, PLX_WC_SUCCESS);
	pair_expect(pair->b.send_cq, 7, PLX_WC_SUCCESS);
	write_and_read(pair, &second, reg.va, key, (uint32_t)reg.length);
	side_post(&pair->a, PLX_WR_WRITE, 9, 0, 0, 8, &(struct beyond){.va = reg.va, .rkey = old});
	pair_expect(pair->a.send_cq, 9, PLX_WC_REMOTE_ACCESS);
	paper_assert_clean(&first);
	paper_assert_clean(&second);
	assert_int_equal(plx_mr_deregister(mr), PLX_OK);
	free(first.memory);
	free(second.memory);
	pair_close(pair);
}

static void
a_wrong_registration_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct paper paper = paper_make();
	struct plx_mr *mr = fast_region(&pair->b, 2), *none = fast_region(&pair->b, 0);
	struct plx_reg reg = registration(mr, &paper, BASE, 8192);
	struct plx_key key = {0};

	(void)state;
	reg.length = 8193;
	assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_INVALID); /* room for two pages */
	reg.length = 8192;
	reg.pages = 1;
	assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_INVALID);
	reg.pages = 2;
	reg.va++; /* a third page is spanned */
	assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_INVALID);
	reg.va = UINT64_MAX - 4095;
	reg.length = 4097;
	assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_INVALID);
	reg.length = 0;
	assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_INVALID);
	reg = registration(none, &paper, BASE, 1);
	assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_INVALID);
	reg = registration(mr, &paper, BASE, 8192);
	paper.page[1] = 0;
	assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_INVALID);
	paper.page[1] = 12345;
	assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_INVALID);
	/* pages that follow each other around the end of all addresses */
	paper.page[0] = UINT64_MAX - 4095;
	paper.page[1] = 0;
	assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_INVALID);
	assert_int_equal(key.v, 0);
	pair_expect_none(pair->b.send_cq);
	assert_int_equal(plx_mr_deregister(mr), PLX_OK);
	assert_int_equal(plx_mr_deregister(none), PLX_OK);
	free(paper.memory);
	pair_close(pair);
}

/* ---- lists that are posted ahead ---- */

/* A region whose first key is valid. The next registrations wait behind an invalidation, which
 * waits for a SEND that the peer has no receive for. */
struct ahead {
	struct pair *pair;
	struct paper paper;
	struct plx_mr *mr;
	struct plx_reg reg;
	struct plx_key first, last;
};

static struct ahead
ahead_make(void)
{
	struct ahead ahead = {.pair = pair_open(NULL), .paper = paper_make()};
	struct side *b = &ahead.pair->b;

	ahead.mr = fast_region(b, PAGES);
	ahead.reg = registration(ahead.mr, &ahead.paper, BASE, 5 * PLX_PAGE_BYTES);
	ahead.first = ahead.last = post_reg(b->qp, &ahead.reg);
	pair_expect(b->send_cq, 7, PLX_WC_SUCCESS);
	side_post(b, PLX_WR_SEND, 1, 0, 0, 8, &(struct beyond){0});
	for (int i = 1; i < PLX_FAST_LISTS; i++) {
		invalidate(b, b->qp, ahead.last);
		ahead.last = post_reg(b->qp, &ahead.reg);
	}
	return ahead;
}

static void
ahead_close(struct ahead *ahead)
{
	assert_int_equal(plx_mr_deregister(ahead->mr), PLX_OK);
	free(ahead->paper.memory);
	pair_close(ahead->pair);
}

/* Is there a list now? */
static enum plx_status
one_more(struct ahead *ahead, struct plx_qp *qp)
{
	struct plx_key key = {0};
	enum plx_status status;

	ahead->reg.page = ahead->paper.page;
	status = try_reg(qp, &ahead->reg, &key);
	assert_int_equal(key.v != 0, status == PLX_OK);
	return status;
}

static void
lists_run_out_with_full_and_come_back(void **state)
{
	struct ahead ahead = ahead_make();
	struct side *b = &ahead.pair->b;

	(void)state;
	assert_int_equal(one_more(&ahead, b->qp), PLX_FULL);
	side_receive(&ahead.pair->a, 2, 4096, 64);
	pair_expect(b->send_cq, 1, PLX_WC_SUCCESS);
	for (int i = 1; i < PLX_FAST_LISTS; i++) {
		pair_expect(b->send_cq, 8, PLX_WC_SUCCESS);
		pair_expect(b->send_cq, 7, PLX_WC_SUCCESS);
	}
	write_and_read(ahead.pair, &ahead.paper, BASE, ahead.last, 5 * PLX_PAGE_BYTES);
	invalidate(b, b->qp, ahead.last);
	assert_int_equal(one_more(&ahead, b->qp), PLX_OK);
	pair_expect(b->send_cq, 8, PLX_WC_SUCCESS);
	pair_expect(b->send_cq, 7, PLX_WC_SUCCESS);
	ahead_close(&ahead);
}

/* The first key is still valid, so its list is taken; the other three are free again. */
static void
expect_three_lists(struct ahead *ahead)
{
	struct side *b = &ahead->pair->b;
	const struct pair_options options = pair_usual();
	struct plx_qp *to = side_qp(&ahead->pair->a, &options), *qp = side_qp(b, &options);
	struct plx_wc wc;

	pair_join(to, qp, &options.attr);
	invalidate(b, qp, ahead->first);
	assert_int_equal(one_more(ahead, qp), PLX_OK);
	assert_int_equal(one_more(ahead, qp), PLX_OK); /* which fails, as the key is valid then */
	do {
		wc = pair_reap(b->send_cq);
		assert_true(wc.wr_id == 7 || wc.wr_id == 8);
	} while (wc.status != PLX_WC_LOCAL_INVALIDATE);
	assert_int_equal(plx_qp_destroy(qp), PLX_OK);
	assert_int_equal(plx_qp_destroy(to), PLX_OK);
}

static void
a_queue_pair_that_ends_returns_its_lists(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		struct ahead ahead = ahead_make();
		struct side *b = &ahead.pair->b;

		if (how == 0) {
			assert_int_equal(plx_qp_flush(b->qp), PLX_OK);
			for (int i = 0; i < 2 * PLX_FAST_LISTS - 1; i++)
				assert_int_equal(pair_reap(b->send_cq).status, PLX_WC_FLUSHED);
		} else if (how == 1) {
			assert_int_equal(plx_qp_modify(b->qp, PLX_QP_RESET, NULL, NULL, NULL),
					 PLX_OK);
		} else {
			assert_int_equal(plx_qp_destroy(b->qp), PLX_OK);
			b->qp = NULL;
		}
		expect_three_lists(&ahead);
		ahead_close(&ahead);
	}
}

/* A refused post has no list: it may be tried as often as its poster likes. */
static void
a_refused_post_takes_no_list(void **state)
{
	struct pair *pair = pair_open_apart();
	struct paper paper = paper_make();
	struct plx_mr *mr = fast_region(&pair->b, PAGES);
	const struct plx_reg reg = registration(mr, &paper, BASE, PLX_PAGE_BYTES + 1);
	struct pair_options options = pair_usual();
	struct plx_key key = {0};

	(void)state;
	for (int i = 0; i < 2 * PLX_FAST_LISTS; i++)
		assert_int_equal(try_reg(pair->b.qp, &reg, &key), PLX_STATE);
	assert_int_equal(key.v, 0);
	pair_join(pair->a.qp, pair->b.qp, &options.attr);
	key = post_reg(pair->b.qp, &reg);
	pair_expect(pair->b.send_cq, 7, PLX_WC_SUCCESS);
	write_and_read(pair, &paper, BASE, key, PLX_PAGE_BYTES + 1);
	assert_int_equal(plx_mr_deregister(mr), PLX_OK);
	free(paper.memory);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(pages_are_registered_as_one_range),
		PAIR_TEST(contiguous_pages_are_registered_as_well),
		PAIR_TEST(what_is_not_pages_is_refused),
		PAIR_TEST(a_request_registers_pages),
		PAIR_TEST(a_wrong_registration_is_refused),
		PAIR_TEST(lists_run_out_with_full_and_come_back),
		PAIR_TEST(a_queue_pair_that_ends_returns_its_lists),
		PAIR_TEST(a_refused_post_takes_no_list),
	};

	return pair_run_all("verbs_pages", tests, PLX_COUNT_OF(tests));
}
