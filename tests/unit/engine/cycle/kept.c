/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The buffers of packets that wait for a missing one: they stay, are processed once it has arrived,
 * and return to their pool, whatever becomes of the queue pair. Start with lose_one().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

enum {
	DEPTH = 32,
	WRITES = 8,
	BYTES = 200,
	FRAME_MAX = 512,
};

static struct pair pair;

/* Frames of side 0 that were caught, in order. */
static struct {
	uint8_t bytes[WRITES][FRAME_MAX];
	uint32_t len[WRITES], count;
	uint32_t lose; /* this one is lost; then none is */
} caught;

static bool
lose_one(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	(void)user;
	if (pair_opcode(m) != PLX_RC_WRITE_ONLY || caught.count == WRITES)
		return true;
	assert_true(m->pkt_len <= FRAME_MAX);
	caught.len[caught.count] = m->pkt_len;
	memcpy(caught.bytes[caught.count], rte_pktmbuf_mtod(m, uint8_t *), m->pkt_len);
	return caught.count++ != caught.lose;
}

static bool
lose_all(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)lose_one(from, m, user);
	return false;
}

/* Eight WRITEs, of which one is lost.
 * @param pass lose_one() or lose_all() */
static void
open_and_write(uint32_t lose, bool (*pass)(struct pair_side *, const struct rte_mbuf *, void *))
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_options options = pair_defaults(DEPTH);

	memset(&caught, 0, sizeof(caught));
	caught.lose = lose;
	options.attr.selective = true;
	pair_open(&pair, false);
	pair_connect_with(&pair, &options);
	for (uint32_t i = 0; i < WRITES * BYTES; i++)
		a->memory[i] = (uint8_t)(i * 5 + 1);
	a->port.pass = pass;
	for (uint32_t i = 0; i < WRITES; i++)
		assert_int_equal(pair_write(a, b, i, i * BYTES, BYTES, 0), PLX_OK);
}

static void
what_waits_is_processed_in_order_and_its_buffers_return(void **state)
{
	const struct plx_engine_counters *c;

	(void)state;
	open_and_write(2, lose_one);
	c = plx_engine_counters(pair.side[1].engine);
	pair_run(&pair, 20);
	assert_int_equal(c->rx_kept, WRITES - 3);
	assert_int_equal(c->rx_taken, WRITES - 3);
	assert_memory_equal(pair.side[1].memory, pair.side[0].memory, WRITES * BYTES);
	assert_int_equal(plx_engine_qp_counters(pair.side[0].qp)->requests_resent, 1);
	assert_int_equal(plx_keep_count(pair.side[1].engine->keep), 0);
	pair_close(&pair); /* every buffer is back */
}

/* Of a chain what is kept is a copy: the chain is copied into a place that the next one needs. */
static void
chains_wait_as_copies(void **state)
{
	const struct plx_engine_counters *c;

	(void)state;
	open_and_write(0, lose_all);
	c = plx_engine_counters(pair.side[1].engine);
	pair_run(&pair, 3);
	assert_int_equal(caught.count, WRITES);
	for (uint32_t i = 1; i < WRITES; i++)
		assert_true(pair_inject(&pair, 1, caught.bytes[i], caught.len[i], 3));
	pair_run(&pair, 2);
	assert_int_equal(c->rx_kept, WRITES - 1);
	assert_int_equal(pair.side[1].memory[BYTES], 0);
	assert_true(pair_inject(&pair, 1, caught.bytes[0], caught.len[0], 1));
	pair_run(&pair, 3);
	assert_int_equal(c->rx_taken, WRITES - 1);
	assert_memory_equal(pair.side[1].memory, pair.side[0].memory, WRITES * BYTES);
	pair_close(&pair);
}

static void
keep_seven(void)
{
	open_and_write(0, lose_all);
	pair_run(&pair, 3);
	for (uint32_t i = 1; i < WRITES; i++)
		assert_true(pair_inject(&pair, 1, caught.bytes[i], caught.len[i], 1));
	pair_run(&pair, 2);
	assert_int_equal(plx_keep_count(pair.side[1].engine->keep), WRITES - 1);
}

static void
a_queue_pair_that_ends_returns_what_it_has_kept(void **state)
{
	static const enum plx_qp_state ends[] = {PLX_QP_ERROR, PLX_QP_RESET};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(ends); i++) {
		keep_seven();
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_modify(pair.side[1].qp, ends[i], NULL, NULL),
				 PLX_OK);
		pair_stop(&pair);
		assert_int_equal(plx_keep_count(pair.side[1].engine->keep), 0);
		pair_close(&pair);
	}
	keep_seven();
	pair_close(&pair); /* destroys it */
}

/* A pool must not run dry because a peer leaves out a packet. */
static void
only_a_share_of_the_pool_is_kept(void **state)
{
	(void)state;
	pair_open(&pair, false);
	assert_int_equal(plx_keep_room(pair.side[0].engine->keep), PAIR_POOL / 16);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_is_processed_in_order_and_its_buffers_return),
		cmocka_unit_test(chains_wait_as_copies),
		cmocka_unit_test(a_queue_pair_that_ends_returns_what_it_has_kept),
		cmocka_unit_test(only_a_share_of_the_pool_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
