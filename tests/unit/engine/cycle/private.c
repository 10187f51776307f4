/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private memory in the duty cycle: what is sent from it waits for its load, and what is placed in
 * it is acknowledged and completed after its copy. The test is the thread that copies, and decides
 * when. Start with move().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine_pair.h"
#include "plx_back.h"
#include "plx_copy.h"

enum {
	DEPTH = 16,
	TURNS = 200,
	FEW = 20,
	LONG = 150000, /* [bytes] loaded in three pieces */
	MESSAGES = 400,
};

static struct pair pair;

/* A side's memory once more, as an engine sees it that cannot reach it. */
static struct {
	uint8_t *shadow;
	uint64_t *page;
	struct plx_region region;
	struct plx_copier *copier;
} hidden[2];

static void
hide(int i)
{
	struct pair_side *side = &pair.side[i];
	uint64_t va = (uintptr_t)side->memory;
	uint64_t pages = plx_pages_spanned(va, PAIR_BYTES);
	struct plx_region_attr attr = {
		.va = va, .length = PAIR_BYTES, .access = {PLX_ACCESS_ALL & ~PLX_ACCESS_STABLE}};

	hidden[i].shadow = aligned_alloc(PLX_PAGE_BYTES, pages << PLX_PAGE_SHIFT);
	hidden[i].page = malloc(pages * sizeof(uint64_t));
	assert_true(hidden[i].shadow != NULL && hidden[i].page != NULL);
	memset(hidden[i].shadow, 0xee, pages << PLX_PAGE_SHIFT);
	for (uint64_t n = 0; n < pages; n++)
		hidden[i].page[n] =
			((uintptr_t)hidden[i].shadow + (n << PLX_PAGE_SHIFT)) | PLX_PAGE_PRIVATE;
	attr.page = hidden[i].page;
	assert_int_equal(
		plx_region_register(side->mem, side->domain, &attr, &hidden[i].region, &side->key),
		PLX_OK);
	hidden[i].copier = plx_copier_create();
	assert_non_null(hidden[i].copier);
	pair_start(&pair);
	assert_int_equal(
		plx_seat_back_set_copier(plx_seat_back_own(side->engine), hidden[i].copier),
		PLX_OK);
	assert_int_equal(
		plx_seat_back_set_copier(plx_seat_back_own(side->engine), hidden[i].copier),
		PLX_STATE);
	pair_stop(&pair);
}

static void
open_with(const struct pair_options *options, bool a_is_private, bool b_is_private)
{
	memset(hidden, 0, sizeof(hidden));
	pair_open(&pair, false);
	pair_connect_with(&pair, options);
	if (a_is_private)
		hide(0);
	if (b_is_private)
		hide(1);
}

static void
open_usually(bool a_is_private, bool b_is_private)
{
	struct pair_options options = pair_defaults(DEPTH);

	options.cq_depth = 4 * DEPTH;
	open_with(&options, a_is_private, b_is_private);
}

static void
close_all(void)
{
	for (int i = 0; i < 2; i++) {
		struct pair_side *side = &pair.side[i];

		if (hidden[i].shadow == NULL)
			continue;
		assert_int_equal(plx_region_retire(side->mem, hidden[i].region), PLX_OK);
		assert_int_equal(plx_region_release(side->mem, hidden[i].region), PLX_OK);
	}
	pair_close(&pair);
	for (int i = 0; i < 2; i++) {
		plx_copier_free(hidden[i].copier);
		free(hidden[i].shadow);
		free(hidden[i].page);
	}
}

/* Carry out the next copy of a side. Returns: false: it has asked for none */
static bool
move(int i, bool failed)
{
	struct plx_copy copy;
	uint8_t *own;

	if (plx_copier_is_idle(hidden[i].copier, plx_copier_asked(hidden[i].copier)))
		return false;
	assert_true(plx_copier_wait(hidden[i].copier, &copy));
	own = pair.side[i].memory - (uintptr_t)pair.side[i].memory % PLX_PAGE_BYTES +
	      ((uint8_t *)copy.shadow - hidden[i].shadow);
	if (!failed && copy.staged != NULL)
		memcpy(own, copy.staged, copy.bytes);
	else if (!failed)
		memcpy(copy.shadow, own, copy.bytes);
	plx_copier_finish(hidden[i].copier, failed);
	return true;
}

/* As pair_reap(), with a thread for each side that has one. */
static struct plx_wc
reap(struct plx_cq *cq)
{
	struct plx_wc wc = {.status = PLX_WC_COUNT};

	for (int n = 0; n < 2000 && plx_engine_cq_poll(cq, &wc, 1) == 0; n++) {
		pair_run(&pair, 5);
		for (int i = 0; i < 2; i++)
			while (hidden[i].copier != NULL && move(i, false))
				;
	}
	return wc;
}

static void
expect(struct plx_cq *cq, uint64_t wr_id, enum plx_wc_status status)
{
	const struct plx_wc wc = reap(cq);

	assert_int_equal(wc.status, status);
	assert_int_equal(wc.wr_id, wr_id);
}

static void
expect_none(struct plx_cq *cq)
{
	struct plx_wc wc;

	assert_int_equal(plx_engine_cq_poll(cq, &wc, 1), 0);
}

static void
fill(uint8_t *bytes, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(seed * 31 + i * 7 + i / 251);
}

static uint64_t
frames_of(int i)
{
	return plx_engine_counters(pair.side[i].engine)->tx_packets;
}

static void
nothing_leaves_before_its_load(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint64_t before;

	(void)state;
	open_usually(true, false);
	fill(a->memory + 33, LONG, 1);
	before = frames_of(0);
	assert_int_equal(pair_write(a, b, 7, 33, LONG, 0), PLX_OK);
	pair_run(&pair, TURNS);
	assert_int_equal(frames_of(0), before);
	assert_true(move(0, false)); /* the first 64 KiB in one copy */
	assert_false(move(0, false));
	pair_run(&pair, TURNS);
	assert_true(frames_of(0) > before);
	expect_none(a->send_cq);
	expect(a->send_cq, 7, PLX_WC_SUCCESS);
	assert_memory_equal(a->memory + 33, b->memory + 33, LONG);
	close_all();
}

static void
requests_behind_it_are_loaded_with_it(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually(true, false);
	fill(a->memory, 8 * 8192, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pair_write(a, b, i, i * 8192, 100, 0), PLX_OK);
	/* not this one, which waits, nor what is behind it */
	assert_int_equal(pair_write(a, b, 4, 4 * 8192, 100, PLX_WR_FENCE), PLX_OK);
	assert_int_equal(pair_write(a, b, 5, 5 * 8192, 100, 0), PLX_OK);
	pair_run(&pair, TURNS);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(move(0, false));
	assert_false(move(0, false));
	for (uint64_t i = 0; i < 6; i++)
		expect(a->send_cq, i, PLX_WC_SUCCESS);
	for (uint32_t i = 0; i < 6; i++)
		assert_memory_equal(a->memory + i * 8192, b->memory + i * 8192, 100);
	close_all();
}

/* A probe goes back to a request whose bytes are loaded again, with those behind it. */
static void
nothing_leaves_with_a_probe_that_loads(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_options options = pair_defaults(DEPTH);
	uint64_t before;

	(void)state;
	options.attr.ack_timeout_ns = PLX_SEC;
	open_with(&options, true, false);
	fill(a->memory, 3 * 8192, 6);
	assert_int_equal(pair_write(a, b, 9, 0, 100, 0), PLX_OK);
	expect(a->send_cq, 9, PLX_WC_SUCCESS); /* the round trip is measured */
	b->port.lose = UINT32_MAX;
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pair_write(a, b, i, i * 8192, 100, 0), PLX_OK);
		pair_run(&pair, FEW);
		assert_true(move(0, false));
		pair_run(&pair, FEW);
	}
	/* a probe is due when this is posted */
	before = frames_of(0);
	pair.now += 2 * PLX_PROBE_WAIT_MIN_NS;
	assert_int_equal(pair_write(a, b, 2, 2 * 8192, 100, 0), PLX_OK);
	pair_run(&pair, TURNS);
	assert_int_equal(frames_of(0), before);
	b->port.lose = 0;
	for (uint64_t i = 0; i < 3; i++)
		expect(a->send_cq, i, PLX_WC_SUCCESS);
	for (uint32_t i = 0; i < 3; i++)
		assert_memory_equal(a->memory + i * 8192, b->memory + i * 8192, 100);
	close_all();
}

/* Together they are longer than what is loaded at once. */
static void
no_more_than_64_kib_are_loaded_at_once(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint32_t moved = 0;

	(void)state;
	open_usually(true, false);
	fill(a->memory, 4 * 32768, 5);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pair_write(a, b, i, i * 32768, 30000, 0), PLX_OK);
	pair_run(&pair, TURNS);
	while (move(0, false))
		moved++;
	assert_int_equal(moved, 2);
	for (uint64_t i = 0; i < 4; i++)
		expect(a->send_cq, i, PLX_WC_SUCCESS);
	for (uint32_t i = 0; i < 4; i++)
		assert_memory_equal(a->memory + i * 32768, b->memory + i * 32768, 30000);
	close_all();
}

static void
a_message_is_complete_and_acknowledged_when_it_is_copied(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually(false, true);
	fill(a->memory, 3000, 2);
	assert_int_equal(pair_recv(b, 5, 0, 3000), PLX_OK);
	assert_int_equal(pair_send(a, 6, 0, 3000, 0), PLX_OK);
	pair_run(&pair, TURNS);
	expect_none(b->recv_cq);
	expect_none(a->send_cq);
	expect(b->recv_cq, 5, PLX_WC_SUCCESS);
	assert_memory_equal(a->memory, b->memory, 3000);
	expect(a->send_cq, 6, PLX_WC_SUCCESS);
	close_all();
}

static void
a_read_takes_both_ways(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually(true, true);
	fill(b->memory + 9, LONG, 3);
	assert_int_equal(pair_read(a, b, 8, 9, LONG, 0), PLX_OK);
	expect(a->send_cq, 8, PLX_WC_SUCCESS);
	assert_memory_equal(a->memory + 9, b->memory + 9, LONG);
	close_all();
}

static void
what_cannot_be_loaded_fails_in_its_turn(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually(true, false);
	pair.side[1].port.hold = true; /* the first is not acknowledged yet */
	assert_int_equal(pair_write(a, b, 1, 0, 100, 0), PLX_OK);
	assert_int_equal(pair_write(a, b, 2, 4096, 100, 0), PLX_OK);
	assert_int_equal(pair_write(a, b, 3, 8192, 100, 0), PLX_OK);
	pair_run(&pair, TURNS);
	/* All three are loaded at once; whose load has failed is not known. */
	assert_true(move(0, false));
	assert_true(move(0, true));
	assert_true(move(0, false));
	pair_run(&pair, TURNS);
	assert_true(move(0, false));
	assert_false(move(0, false));
	pair_run(&pair, TURNS);
	assert_true(move(0, true));
	assert_true(move(0, false));
	pair_run(&pair, TURNS);
	assert_true(move(0, true));
	assert_false(move(0, false));
	pair_run(&pair, TURNS);
	expect_none(a->send_cq);
	pair.side[1].port.hold = false;
	expect(a->send_cq, 1, PLX_WC_SUCCESS);
	expect(a->send_cq, 2, PLX_WC_LOCAL_PROTECTION);
	expect(a->send_cq, 3, PLX_WC_FLUSHED);
	close_all();
}

static void
what_cannot_be_placed_fails_on_both_sides(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually(false, true);
	assert_int_equal(pair_recv(b, 4, 0, 100), PLX_OK);
	assert_int_equal(pair_recv(b, 5, 0, 100), PLX_OK);
	assert_int_equal(pair_send(a, 1, 0, 100, 0), PLX_OK);
	pair_run(&pair, TURNS);
	assert_true(move(1, true));
	expect(b->recv_cq, 4, PLX_WC_LOCAL_PROTECTION);
	expect(b->recv_cq, 5, PLX_WC_FLUSHED);
	expect(a->send_cq, 1, PLX_WC_REMOTE_OPERATION);
	close_all();
}

static void
a_read_of_what_cannot_be_loaded_is_refused(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually(false, true);
	assert_int_equal(pair_read(a, b, 1, 0, 5000, 0), PLX_OK);
	pair_run(&pair, TURNS);
	assert_true(move(1, true));
	expect(a->send_cq, 1, PLX_WC_REMOTE_OPERATION);
	close_all();
}

static void
atomics_are_denied(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_send_wr wr = {.wr_id = 3, .op = PLX_WR_FETCH_ADD, .sges = 1, .swap_add = 1};
	struct plx_sge sge;

	(void)state;
	open_usually(false, true);
	sge = (struct plx_sge){(uintptr_t)a->memory, 8, a->key};
	wr.sge = &sge;
	wr.remote_va = (uintptr_t)b->memory;
	wr.rkey = b->key;
	assert_int_equal(plx_engine_qp_post_send(a->qp, &wr, 1, NULL), 1);
	expect(a->send_cq, 3, PLX_WC_REMOTE_ACCESS);
	close_all();
}

/* The thread hangs, as in a page that the program never lets it read. */
static void
a_copy_that_never_ends_costs_its_queue_pair(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually(true, false);
	assert_int_equal(pair_write(a, b, 1, 0, 100, 0), PLX_OK);
	pair_pass(&pair, 1900 * PLX_MSEC);
	expect_none(a->send_cq);
	pair_pass(&pair, 200 * PLX_MSEC);
	assert_int_equal(pair_reap(&pair, a->send_cq, &(struct plx_wc){0}, 1, TURNS), 1);
	assert_int_equal(plx_engine_qp_state(a->qp), PLX_QP_ERROR);
	close_all();
}

static void
a_queue_pair_may_go_while_it_has_copies(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually(true, true);
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(pair_recv(b, i, 0, 5000), PLX_OK);
		assert_int_equal(pair_send(a, i, 0, 5000, 0), PLX_OK);
	}
	pair_run(&pair, TURNS);
	while (move(0, false))
		;
	pair_run(&pair, TURNS);
	pair_destroy_objects(&pair);
	assert_true(move(1, false));
	pair_run(&pair, TURNS);
	close_all();
}

/* Copies of random delays: a stream stays one. */
static void
messages_keep_their_order(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint64_t sent = 0, got = 0, seed = 5;
	uint32_t free_sends = DEPTH;
	struct plx_wc wc;

	(void)state;
	open_usually(true, true);
	for (uint64_t i = 0; i < DEPTH; i++)
		assert_int_equal(pair_recv(b, i, (uint32_t)(i * 8192), 8192), PLX_OK);
	for (uint32_t turn = 0; turn < 200000 && got < MESSAGES; turn++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		if (free_sends > 0 && sent < MESSAGES && seed >> 62 != 0) {
			uint32_t at = (uint32_t)(sent % DEPTH * 8192);

			fill(a->memory + at, 1 + (uint32_t)(sent * 37 % 8192), (uint32_t)sent);
			assert_int_equal(
				pair_send(a, sent, at, 1 + (uint32_t)(sent * 37 % 8192), 0),
				PLX_OK);
			sent++;
			free_sends--;
		}
		if ((seed >> 40) % 3 == 0)
			(void)move(0, false);
		if ((seed >> 44) % 3 == 0)
			(void)move(1, false);
		pair_run(&pair, 1);
		while (plx_engine_cq_poll(a->send_cq, &wc, 1) == 1) {
			assert_int_equal(wc.status, PLX_WC_SUCCESS);
			free_sends++;
		}
		while (plx_engine_cq_poll(b->recv_cq, &wc, 1) == 1) {
			uint32_t at = (uint32_t)(got % DEPTH * 8192);
			static uint8_t wanted[8192];

			assert_int_equal(wc.status, PLX_WC_SUCCESS);
			assert_int_equal(wc.wr_id, got % DEPTH);
			assert_int_equal(wc.bytes, 1 + got * 37 % 8192);
			fill(wanted, wc.bytes, (uint32_t)got);
			assert_memory_equal(wanted, b->memory + at, wc.bytes);
			assert_int_equal(pair_recv(b, got % DEPTH, at, 8192), PLX_OK);
			got++;
		}
	}
	assert_int_equal(got, MESSAGES);
	close_all();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_leaves_before_its_load),
		cmocka_unit_test(requests_behind_it_are_loaded_with_it),
		cmocka_unit_test(nothing_leaves_with_a_probe_that_loads),
		cmocka_unit_test(no_more_than_64_kib_are_loaded_at_once),
		cmocka_unit_test(a_message_is_complete_and_acknowledged_when_it_is_copied),
		cmocka_unit_test(a_read_takes_both_ways),
		cmocka_unit_test(what_cannot_be_loaded_fails_in_its_turn),
		cmocka_unit_test(what_cannot_be_placed_fails_on_both_sides),
		cmocka_unit_test(a_read_of_what_cannot_be_loaded_is_refused),
		cmocka_unit_test(atomics_are_denied),
		cmocka_unit_test(a_copy_that_never_ends_costs_its_queue_pair),
		cmocka_unit_test(a_queue_pair_may_go_while_it_has_copies),
		cmocka_unit_test(messages_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
