/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions: what can be registered, what a key permits, and that nothing accesses the memory once a
 * deregister has returned, both under traffic and with an engine that is not polled. The memory of
 * a region is freed right after deregistering, so that AddressSanitizer detects late accesses.
 * Start anywhere.
 */
#include "verbs_pair.h"
#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plx_engine.h"

static void
what_cannot_be_a_region_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_mr *mr = NULL;
	uint8_t *p = pair->a.arena;

	(void)state;
	assert_int_equal(plx_mr_register(pair->a.pd, NULL, 1, 0, &mr), PLX_INVALID);
	assert_int_equal(plx_mr_register(pair->a.pd, p, 0, 0, &mr), PLX_INVALID);
	assert_int_equal(plx_mr_register(pair->a.pd, p, SIZE_MAX, 0, &mr), PLX_INVALID);
	assert_int_equal(plx_mr_register(pair->a.pd, p, 1, PLX_ACCESS_ALL + 1, &mr), PLX_INVALID);
	/* a right that would fall off an eight-bit set */
	assert_int_equal(plx_mr_register(pair->a.pd, p, 1, 0x100, &mr), PLX_INVALID);
	assert_null(mr);
	pair_close(pair);
}

static void
keys_run_out_with_full_and_come_back(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_mr *mr[PAIR_KEYS], *last = NULL;
	struct plx_mw *mw = NULL;
	uint32_t n = PAIR_KEYS - 1; /* one is the arena's */

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(plx_mr_register(pair->a.pd, pair->a.arena, 64, 0, &mr[i]), PLX_OK);
	assert_int_equal(plx_mr_register(pair->a.pd, pair->a.arena, 64, 0, &last), PLX_FULL);
	assert_int_equal(plx_mw_create(pair->a.pd, &mw), PLX_FULL);
	assert_null(last);
	assert_null(mw);
	assert_int_equal(plx_mr_deregister(mr[0]), PLX_OK);
	assert_int_equal(plx_mr_register(pair->a.pd, pair->a.arena, 64, 0, &mr[0]), PLX_OK);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(plx_mr_deregister(mr[i]), PLX_OK);
	pair_close(pair);
}

static void
overlapping_regions_have_keys_and_rights_of_their_own(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);
	struct plx_mr *read_only, *all;

	(void)state;
	assert_int_equal(plx_mr_register(pair->b.pd, pair->b.arena, 4096, PLX_ACCESS_REMOTE_READ,
					 &read_only),
			 PLX_OK);
	assert_int_equal(plx_mr_register(pair->b.pd, pair->b.arena, 4096, pair_rights(), &all),
			 PLX_OK);
	assert_int_not_equal(plx_mr_key(read_only).v, plx_mr_key(all).v);
	side_fill(&pair->a, 0, 64, 3);
	beyond.rkey = plx_mr_key(all);
	side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, 64, &beyond);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	beyond.rkey = plx_mr_key(read_only);
	side_post(&pair->a, PLX_WR_READ, 2, 0, 4096, 64, &beyond);
	pair_expect(pair->a.send_cq, 2, PLX_WC_SUCCESS);
	side_assert_filled(&pair->a, 4096, 64, 3);
	side_post(&pair->a, PLX_WR_WRITE, 3, 0, 0, 64, &beyond);
	pair_expect(pair->a.send_cq, 3, PLX_WC_REMOTE_ACCESS);
	assert_int_equal(plx_mr_deregister(read_only), PLX_OK);
	assert_int_equal(plx_mr_deregister(all), PLX_OK);
	pair_close(pair);
}

static void
a_local_key_without_the_right_fails_its_request_and_flushes_the_next(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);
	struct plx_mr *whole = pair->a.mr;
	struct plx_mr *no_write;

	(void)state;
	assert_int_equal(plx_mr_register(pair->a.pd, pair->a.arena, 4096, 0, &no_write), PLX_OK);
	pair->a.mr = no_write;
	side_post(&pair->a, PLX_WR_READ, 1, 0, 0, 64, &beyond);
	side_post(&pair->a, PLX_WR_WRITE, 2, 0, 0, 64, &beyond);
	pair_expect(pair->a.send_cq, 1, PLX_WC_LOCAL_PROTECTION);
	pair_expect(pair->a.send_cq, 2, PLX_WC_FLUSHED);
	/* A15: later posts are taken, and flushed. */
	side_post(&pair->a, PLX_WR_WRITE, 3, 0, 0, 64, &beyond);
	pair_expect(pair->a.send_cq, 3, PLX_WC_FLUSHED);
	pair->a.mr = whole;
	assert_int_equal(plx_mr_deregister(no_write), PLX_OK);
	pair_close(pair);
}

static void
a_key_is_dead_when_deregister_returns(void **state)
{
	struct pair *pair = pair_open(NULL);
	uint8_t *memory = pair_memory(4096);
	struct plx_key key;
	struct plx_mr *mr;
	struct beyond beyond;

	(void)state;
	assert_non_null(memory);
	assert_int_equal(plx_mr_register(pair->b.pd, memory, 4096, pair_rights(), &mr), PLX_OK);
	key = plx_mr_key(mr);
	assert_int_equal(plx_mr_deregister(mr), PLX_OK);
	beyond = (struct beyond){.va = (uintptr_t)memory, .rkey = key};
	pair_memory_free(memory);
	side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, 64, &beyond);
	pair_expect(pair->a.send_cq, 1, PLX_WC_REMOTE_ACCESS);
	pair_close(pair);
}

/* The peer writes continuously to memory that may be deregistered at any moment. */
static void
memory_may_be_freed_after_deregister_while_the_peer_writes(void **state)
{
	enum {
		BYTES = 64 * 1024
	};

	(void)state;
	for (unsigned round = 0; round < 8; round++) {
		struct pair *pair = pair_open(NULL);
		uint8_t *memory = pair_memory(BYTES);
		struct beyond beyond = {.va = (uintptr_t)memory};
		struct plx_mr *mr;
		struct plx_wc wc = {.status = PLX_WC_SUCCESS};
		uint64_t posted = 0, done = 0;

		assert_non_null(memory);
		assert_int_equal(plx_mr_register(pair->b.pd, memory, BYTES, pair_rights(), &mr),
				 PLX_OK);
		beyond.rkey = plx_mr_key(mr);
		while (wc.status == PLX_WC_SUCCESS) {
			while (posted < done + 16)
				side_post(&pair->a, PLX_WR_WRITE, posted++, 0, 0, BYTES, &beyond);
			if (done > 3 + round && memory != NULL) {
				assert_int_equal(plx_mr_deregister(mr), PLX_OK);
				pair_memory_free(memory);
				memory = NULL;
			}
			pair_cycle();
			if (plx_cq_poll(pair->a.send_cq, &wc, 1) == 1)
				assert_int_equal(wc.wr_id, done++);
		}
		assert_null(memory);
		assert_int_equal(wc.status, PLX_WC_REMOTE_ACCESS);
		pair_close(pair);
	}
}

/* ---- an engine that is not polled ---- */

/* End a's queue pair is its last engine's. */
static void
hold_engine_of_a(void)
{
	char name[16];

	snprintf(name, sizeof(name), pair_engines() > 1 ? "pair.%u" : "pair", pair_engines() - 1);
	thread_hold(name);
}

static void
an_engine_that_stands_still_is_waited_for_only_so_long(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_qp_info info;
	uint64_t begun;

	(void)state;
	hold_engine_of_a();
	begun = test_ns();
	assert_int_equal(plx_mr_deregister(pair->a.mr), PLX_TIMEOUT);
	assert_true(test_ns() - begun >= PLX_COMMAND_TIMEOUT_NS);
	assert_true(test_ns() - begun < 2 * PLX_COMMAND_TIMEOUT_NS);
	/* The key is dead, and still counted; so the domain is busy. */
	begun = test_ns();
	assert_int_equal(plx_qp_query(pair->a.qp, &info), PLX_TIMEOUT);
	assert_true(test_ns() - begun < 2 * PLX_COMMAND_TIMEOUT_NS);
	assert_false(plx_adapter_is_running(pair->a.adapter, 0));
	thread_let_go();
	assert_true(plx_adapter_is_running(pair->a.adapter, 1000));
	assert_int_equal(plx_mr_deregister(pair->a.mr), PLX_OK);
	pair->a.mr = NULL;
	assert_int_equal(plx_qp_query(pair->a.qp, &info), PLX_OK);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(what_cannot_be_a_region_is_refused),
		PAIR_TEST(keys_run_out_with_full_and_come_back),
		PAIR_TEST(overlapping_regions_have_keys_and_rights_of_their_own),
		PAIR_TEST(a_local_key_without_the_right_fails_its_request_and_flushes_the_next),
		PAIR_TEST(a_key_is_dead_when_deregister_returns),
		PAIR_TEST(memory_may_be_freed_after_deregister_while_the_peer_writes),
	};
	const struct CMUnitTest with_a_worker[] = {
		PAIR_TEST(an_engine_that_stands_still_is_waited_for_only_so_long),
	};

	int failed = pair_run_all("mr", tests, sizeof(tests) / sizeof(tests[0]));

	/* One that sleeps is offline, and is not waited for wherever it stands. */
	if (getenv("POLLUX_TEST_IDLE") == NULL)
		failed += pair_run_in(PLX_MODE_WORKER, "mr", with_a_worker,
				      sizeof(with_a_worker) / sizeof(with_a_worker[0]));
	return failed;
}
