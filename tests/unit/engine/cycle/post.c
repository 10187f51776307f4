/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posting to a send queue: what is refused and with which status, in both modes; lists and inline
 * data of every length; batches, deferred doorbells, and when an entry is free again. Start with
 * refusals().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

static struct pair pair;

static enum plx_status
post_one(const struct plx_send_wr *wr)
{
	enum plx_status why = PLX_STATUS_COUNT;
	uint32_t n = plx_engine_qp_post_send(pair.side[0].qp, wr, 1, &why);

	assert_int_equal(n, why == PLX_OK);
	return why;
}

static void
expect_refused(struct plx_send_wr wr, enum plx_status status)
{
	struct plx_rc_view before, after;

	pair_start(&pair);
	assert_int_equal(plx_engine_qp_query(pair.side[0].qp, &before), PLX_OK);
	pair_stop(&pair);
	assert_int_equal(post_one(&wr), status);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_query(pair.side[0].qp, &after), PLX_OK);
	pair_stop(&pair);
	assert_int_equal(before.sq_posted, after.sq_posted);
	assert_int_equal(before.sq_consumed, after.sq_consumed);
}

static void
refusals(bool inline_mode)
{
	struct pair_side *a = &pair.side[0];
	struct pair_options options = pair_defaults(16);
	struct plx_sge sge[17] = {{(uintptr_t)a->memory, 8, a->key}};
	const struct plx_send_wr good = {.op = PLX_WR_SEND, .sge = sge, .sges = 1};
	struct plx_send_wr wr = good;

	options.sges = 5;
	options.inline_bytes = 100;
	pair_open(&pair, inline_mode);
	pair_connect_with(&pair, &options);
	for (unsigned op = 0; op < 256; op++) {
		wr.op = (uint8_t)op;
		if (op == PLX_WR_NONE || op >= PLX_WR_BIND)
			expect_refused(wr, PLX_INVALID);
	}
	wr = good;
	wr.flags = 0x10;
	expect_refused(wr, PLX_INVALID);
	wr.flags = 0x40;
	expect_refused(wr, PLX_INVALID);
	wr.op = PLX_WR_READ;
	expect_refused(wr, PLX_INVALID);
	wr.op = PLX_WR_SEND;
	wr.flags = 0;
	wr.sges = 6;
	expect_refused(wr, PLX_TOO_MANY_SGES);
	wr.sges = 2;
	sge[0].length = UINT32_C(0x80000000);
	sge[1].length = 1;
	expect_refused(wr, PLX_TOO_LONG);
	sge[0].length = sge[1].length = 51;
	wr.flags = PLX_WR_INLINE;
	expect_refused(wr, PLX_TOO_LONG);
	wr.op = PLX_WR_LOCAL_INV;
	expect_refused(wr, PLX_INVALID);
	wr.flags = 0;
	expect_refused(wr, PLX_INVALID);
	wr.sges = 0;
	wr.flags = PLX_WR_INLINE;
	expect_refused(wr, PLX_INVALID);
	sge[0].length = 7;
	for (uint8_t op = PLX_WR_CMP_SWAP; op <= PLX_WR_FETCH_ADD; op++) {
		wr = (struct plx_send_wr){.op = op, .sge = sge, .sges = 1};
		expect_refused(wr, PLX_INVALID);
	}
	sge[0].length = 8;
	wr.flags = PLX_WR_INLINE;
	expect_refused(wr, PLX_INVALID);
	wr.op = PLX_WR_READ;
	expect_refused(wr, PLX_INVALID);
	assert_int_equal(plx_engine_qp_post_bind(a->qp, 1, PLX_WR_INLINE, (struct plx_key){0}),
			 PLX_INVALID);
	assert_int_equal(plx_engine_counters(a->engine)->posts_refused, 0);
	pair_close(&pair);
}

static void
what_is_wrong_is_refused_and_changes_nothing(void **state)
{
	(void)state;
	refusals(false);
	refusals(true);
}

static void
a_state_that_cannot_send_refuses(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct plx_send_wr wr = {.op = PLX_WR_SEND};
		struct pair_side *a = &pair.side[0];

		pair_open(&pair, inline_mode);
		pair_connect(&pair, 8);
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_modify(a->qp, PLX_QP_RESET, NULL, NULL), PLX_OK);
		assert_int_equal(post_one(&wr), PLX_STATE);
		assert_int_equal(plx_engine_qp_post_bind(a->qp, 1, 0, (struct plx_key){0}),
				 PLX_STATE);
		assert_int_equal(plx_engine_qp_modify(a->qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
		assert_int_equal(post_one(&wr), PLX_STATE);
		pair_stop(&pair);
		pair_close(&pair);
	}
}

static void
without_reads_agreed_reads_and_atomics_are_refused(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct pair_options options = pair_defaults(8);
		struct plx_send_wr wr = {.op = PLX_WR_READ};

		options.attr.initiator_depth = 0;
		pair_open(&pair, inline_mode);
		pair_connect_with(&pair, &options);
		assert_int_equal(post_one(&wr), PLX_INVALID);
		wr.op = PLX_WR_FETCH_ADD;
		assert_int_equal(post_one(&wr), PLX_INVALID);
		wr.op = PLX_WR_WRITE;
		assert_int_equal(post_one(&wr), PLX_OK);
		pair_close(&pair);
	}
}

static void
paint(uint8_t *bytes, uint32_t n, uint32_t colour)
{
	for (uint32_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 31 + i / 7 + colour * 13);
}

/* The source is written over as soon as the post returns, and has no key. */
static void
inline_data_of_every_length_arrives(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];
		static uint8_t bytes[PLX_INLINE_MAX + 1], wanted[PLX_INLINE_MAX + 1];
		struct plx_wc wc;

		pair_open(&pair, inline_mode);
		pair_connect(&pair, 5);
		for (uint32_t n = 0; n <= PLX_INLINE_MAX; n++) {
			/* In 20 pieces, more than the queue otherwise accepts. */
			struct plx_sge sge[20] = {{0}};
			struct plx_send_wr wr = {.wr_id = n,
						 .op = PLX_WR_WRITE,
						 .flags = PLX_WR_INLINE,
						 .sges = 20,
						 .sge = sge,
						 .remote_va = (uintptr_t)b->memory,
						 .rkey = b->key};

			paint(bytes, n, n);
			memcpy(wanted, bytes, n);
			for (uint32_t i = 0; i < 20; i++) {
				uint32_t from = n * i / 20;

				sge[i] = (struct plx_sge){
					(uintptr_t)bytes + from, n * (i + 1) / 20 - from, {0}};
			}
			b->memory[n] = 0xa5;
			assert_int_equal(post_one(&wr), PLX_OK);
			memset(bytes, 0xee, sizeof(bytes));
			assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
			assert_int_equal(wc.status, PLX_WC_SUCCESS);
			assert_memory_equal(b->memory, wanted, n);
			assert_int_equal(b->memory[n], 0xa5);
		}
		pair_close(&pair);
	}
}

static void
lists_of_up_to_sixteen_pieces_are_gathered(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];
		struct plx_wc wc;

		pair_open(&pair, inline_mode);
		pair_connect(&pair, 3);
		paint(a->memory, 65536, 5);
		for (uint32_t n = 0; n <= PLX_SGE_MAX; n++) {
			struct plx_sge sge[PLX_SGE_MAX];
			struct plx_send_wr wr = {.op = PLX_WR_WRITE,
						 .sges = (uint16_t)n,
						 .sge = sge,
						 .remote_va = (uintptr_t)b->memory,
						 .rkey = b->key};

			for (uint32_t i = 0; i < n; i++)
				sge[i] = (struct plx_sge){(uintptr_t)a->memory + (n - i) * 1000,
							  500 + i, a->key};
			assert_int_equal(post_one(&wr), PLX_OK);
			memset(sge, 0xff, sizeof(sge));
			assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 1000), 1);
			assert_int_equal(wc.status, PLX_WC_SUCCESS);
			for (uint32_t i = 0, at = 0; i < n; at += 500 + i, i++)
				assert_memory_equal(b->memory + at, a->memory + (n - i) * 1000,
						    500 + i);
		}
		pair_close(&pair);
	}
}

static void
a_batch_is_posted_up_to_the_first_that_is_refused(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++)
		for (uint32_t k = 0; k < 8; k++) {
			struct pair_side *a = &pair.side[0];
			struct plx_send_wr wr[8] = {{0}};
			enum plx_status why;
			struct plx_wc wc[8];

			pair_open(&pair, inline_mode);
			pair_connect(&pair, 16);
			for (uint32_t i = 0; i < 8; i++)
				wr[i] = (struct plx_send_wr){.wr_id = i, .op = PLX_WR_WRITE};
			wr[k].op = PLX_WR_NONE;
			assert_int_equal(plx_engine_qp_post_send(a->qp, wr, 8, &why), k);
			assert_int_equal(why, PLX_INVALID);
			pair_run(&pair, 20);
			assert_int_equal(plx_engine_cq_poll(a->send_cq, wc, 8), k);
			for (uint32_t i = 0; i < k; i++)
				assert_int_equal(wc[i].wr_id, i);
			assert_int_equal(plx_engine_qp_post_send(a->qp, wr, 0, &why), 0);
			assert_int_equal(why, PLX_OK);
			pair_close(&pair);
		}
}

static void
deferred_requests_wait_for_the_next_or_the_doorbell(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc[8];
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		pair_open(&pair, inline_mode);
		pair_connect(&pair, 16);
		pair_run(&pair, 5);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(pair_write(a, b, i, 0, 8, PLX_WR_DEFER), PLX_OK);
		pair_run(&pair, 20);
		assert_int_equal(plx_engine_cq_poll(a->send_cq, wc, 8), 0);
		assert_int_equal(pair_write(a, b, 3, 0, 8, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, a->send_cq, wc, 4, 20), 4);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(wc[i].wr_id, i);
		assert_int_equal(pair_write(a, b, 4, 0, 8, PLX_WR_DEFER), PLX_OK);
		plx_engine_qp_ring_doorbell(a->qp);
		assert_int_equal(pair_reap(&pair, a->send_cq, wc, 1, 20), 1);
		assert_int_equal(wc[0].wr_id, 4);
		pair_close(&pair);
	}
}

/* Decision 2a: a place is free by acknowledgement, not when the engine has read the ring. */
static void
places_are_freed_by_acknowledgement(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		struct pair_side *a = &pair.side[0], *b = &pair.side[1];
		struct plx_wc wc[16];

		pair_open(&pair, inline_mode);
		pair_connect(&pair, 8);
		b->port.hold = true;
		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(pair_write(a, b, i, 0, 8, i % 2 ? PLX_WR_UNSIGNALED : 0),
					 PLX_OK);
		assert_int_equal(pair_write(a, b, 8, 0, 8, 0), PLX_FULL);
		pair_run(&pair, 50);
		assert_int_equal(pair_write(a, b, 8, 0, 8, 0), PLX_FULL);
		assert_int_equal(plx_engine_qp_post_bind(a->qp, 9, 0, (struct plx_key){0}),
				 PLX_FULL);
		b->port.hold = false;
		pair_run(&pair, 50);
		/* Acknowledged: free, although nobody has polled; unsignaled ones have no entry. */
		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(pair_write(a, b, 10 + i, 0, 8, PLX_WR_UNSIGNALED), PLX_OK);
		assert_int_equal(plx_engine_cq_poll(a->send_cq, wc, 16), 4);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(wc[i].wr_id, 2 * i);
		/* Ten times the depth of unsignaled requests never fill it (A20). */
		for (uint32_t i = 0; i < 80; i++) {
			pair_run(&pair, 20);
			assert_int_equal(pair_write(a, b, 100 + i, 0, 8, PLX_WR_UNSIGNALED),
					 PLX_OK);
		}
		pair_run(&pair, 20);
		assert_int_equal(plx_engine_cq_poll(a->send_cq, wc, 16), 0);
		pair_close(&pair);
	}
}

static void
a_bind_keeps_its_place_among_the_completions(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc[3];
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		pair_open(&pair, inline_mode);
		pair_connect(&pair, 8);
		assert_int_equal(pair_write(a, b, 1, 0, 8, 0), PLX_OK);
		assert_int_equal(
			plx_engine_qp_post_bind(a->qp, 2, PLX_WR_FENCE, (struct plx_key){0}),
			PLX_OK);
		assert_int_equal(pair_write(a, b, 3, 0, 8, 0), PLX_OK);
		assert_int_equal(pair_reap(&pair, a->send_cq, wc, 3, 100), 3);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(wc[i].wr_id, i + 1);
		assert_int_equal(wc[1].op, PLX_WR_BIND);
		pair_close(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_is_refused_and_changes_nothing),
		cmocka_unit_test(a_state_that_cannot_send_refuses),
		cmocka_unit_test(without_reads_agreed_reads_and_atomics_are_refused),
		cmocka_unit_test(inline_data_of_every_length_arrives),
		cmocka_unit_test(lists_of_up_to_sixteen_pieces_are_gathered),
		cmocka_unit_test(a_batch_is_posted_up_to_the_first_that_is_refused),
		cmocka_unit_test(deferred_requests_wait_for_the_next_or_the_doorbell),
		cmocka_unit_test(places_are_freed_by_acknowledgement),
		cmocka_unit_test(a_bind_keeps_its_place_among_the_completions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
