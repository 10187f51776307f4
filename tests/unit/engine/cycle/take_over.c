/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A connection goes on in another queue pair of its engine: with the same number, other queues and
 * another domain. READs that were answered before are replayed from the former domain, for a while;
 * nothing else of it is reached. Start with take_over().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine_pair.h"
#include "plx_back.h"
#include "plx_engine_cycle.h"

enum {
	DEPTH = 16,
	FRAME_MAX = 256,
	READ_BYTES = 3000, /* three packets */
	TURNS = 400,
};

static struct pair pair;
static struct plx_qp *heir; /* of side 1, in `other` */
static struct plx_domain other;
static struct plx_cq *cq; /* the heir's */
static struct plx_qp_past past;

/* The newest READ request on the wire, and how many responses. */
static struct {
	uint8_t request[FRAME_MAX];
	uint32_t bytes, responses;
	bool lose; /* the responses */
} wire;

static bool
tap_requests(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	(void)user;
	if (pair_opcode(m) != PLX_RC_READ_REQUEST)
		return true;
	wire.bytes = m->pkt_len;
	assert_true(wire.bytes <= FRAME_MAX);
	memcpy(wire.request, rte_pktmbuf_mtod(m, const uint8_t *), wire.bytes);
	return true;
}

static bool
tap_responses(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	int opcode = pair_opcode(m);

	(void)from;
	(void)user;
	if (opcode < PLX_RC_READ_RESPONSE_FIRST || opcode > PLX_RC_READ_RESPONSE_ONLY)
		return true;
	wire.responses++;
	return !wire.lose;
}

static void
open_with(const struct pair_options *options)
{
	const struct plx_engine_cq_config config = {.depth = 4 * DEPTH};
	struct pair_side *b = &pair.side[1];

	memset(&wire, 0, sizeof(wire));
	pair_open(&pair, false);
	pair_connect_with(&pair, options);
	pair.side[0].port.pass = tap_requests;
	b->port.pass = tap_responses;
	for (uint32_t i = 1; i < b->engines; i++) {
		pair.side[0].queue[i]->pass = tap_requests;
		b->queue[i]->pass = tap_responses;
	}
	assert_int_equal(plx_domain_create(b->mem, &other), PLX_OK);
	pair_start(&pair);
	assert_int_equal(plx_engine_cq_create(b->engine, &config, &cq), PLX_OK);
	heir = pair_qp_on(&pair, 1, options, cq, cq, other);
	pair_stop(&pair);
}

static void
open_usually(void)
{
	struct pair_options options = pair_defaults(DEPTH);

	options.attr.ack_timeout_ns = 50 * PLX_MSEC;
	open_with(&options);
}

static void
close_all(void)
{
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(heir), PLX_OK);
	assert_int_equal(plx_engine_cq_destroy(cq), PLX_OK);
	pair_stop(&pair);
	assert_int_equal(plx_domain_destroy(pair.side[1].mem, other), PLX_OK);
	pair_close(&pair);
}

/* Returns: the status of the move of side 1's queue pair to the heir. */
static enum plx_status
take_over(void)
{
	struct pair_side *b = &pair.side[1];
	enum plx_status status;

	pair_start(&pair);
	status = plx_qp_back_move(b->qp->back, heir->back, NULL, &past);
	pair_stop(&pair);
	if (status == PLX_OK)
		whole_qp_moved(heir);
	return status;
}

static struct plx_wc
reap(struct plx_cq *from)
{
	struct plx_wc wc = {.status = PLX_WC_COUNT};

	assert_int_equal(pair_reap(&pair, from, &wc, 1, 100000), 1);
	return wc;
}

static void
the_number_goes_with_the_connection(void **state)
{
	uint32_t before, heirs;

	(void)state;
	open_usually();
	before = plx_engine_qp_number(pair.side[1].qp);
	heirs = plx_engine_qp_number(heir);
	assert_int_equal(take_over(), PLX_OK);
	whole_qp_moved(pair.side[1].qp);
	assert_int_equal(plx_engine_qp_number(heir), before);
	assert_int_equal(plx_engine_qp_number(pair.side[1].qp), heirs);
	close_all();
}

static void
messages_go_on_both_ways(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_qp *former;
	struct plx_wc wc;

	(void)state;
	open_usually();
	/* Of two receives one is used before, and one comes back. */
	assert_int_equal(pair_recv(b, 1, 0, 64), PLX_OK);
	assert_int_equal(pair_recv(b, 2, 64, 64), PLX_OK);
	assert_int_equal(pair_send(a, 3, 0, 64, 0), PLX_OK);
	assert_int_equal(reap(a->send_cq).status, PLX_WC_SUCCESS);
	assert_int_equal(reap(b->recv_cq).wr_id, 1);
	assert_int_equal(pair_recv(a, 8, 0, 64), PLX_OK);
	assert_int_equal(pair_send(b, 9, 0, 64, 0), PLX_OK);
	assert_int_equal(reap(a->recv_cq).wr_id, 8);
	assert_int_equal(reap(b->send_cq).wr_id, 9);
	assert_int_equal(take_over(), PLX_OK);
	assert_int_equal(past.requests, 1);
	assert_int_equal(past.receives, 1);
	wc = reap(b->recv_cq);
	assert_int_equal(wc.wr_id, 2);
	assert_int_equal(wc.status, PLX_WC_FLUSHED);
	/* Without a receive the peer waits. The domain has no memory: empty messages do. */
	assert_int_equal(pair_send(a, 4, 0, 0, 0), PLX_OK);
	pair_run(&pair, TURNS);
	assert_int_equal(plx_engine_cq_poll(a->send_cq, &wc, 1), 0);
	former = b->qp;
	b->qp = heir;
	assert_int_equal(pair_recv(b, 5, 0, 0), PLX_OK);
	assert_int_equal(reap(a->send_cq).status, PLX_WC_SUCCESS);
	assert_int_equal(reap(cq).wr_id, 5);
	assert_int_equal(pair_recv(a, 6, 0, 0), PLX_OK);
	assert_int_equal(pair_send(b, 7, 0, 0, 0), PLX_OK);
	assert_int_equal(reap(a->recv_cq).wr_id, 6);
	assert_int_equal(reap(cq).wr_id, 7);
	b->qp = former;
	close_all();
}

static void
lost_responses_are_replayed_from_the_former_domain(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually();
	memset(b->memory, 0x5a, READ_BYTES);
	memset(a->memory, 0, READ_BYTES);
	wire.lose = true;
	assert_int_equal(pair_read(a, b, 1, 0, READ_BYTES, 0), PLX_OK);
	for (uint32_t i = 0; i < TURNS && wire.responses < 3; i++)
		pair_run(&pair, 1);
	assert_int_equal(wire.responses, 3);
	assert_int_equal(take_over(), PLX_OK);
	wire.lose = false;
	assert_int_equal(reap(a->send_cq).status, PLX_WC_SUCCESS);
	for (uint32_t i = 0; i < READ_BYTES; i++)
		assert_int_equal(a->memory[i], 0x5a);
	/* A new READ with that key is none of the heir's domain. */
	assert_int_equal(pair_read(a, b, 2, 0, 64, 0), PLX_OK);
	assert_int_equal(reap(a->send_cq).status, PLX_WC_REMOTE_ACCESS);
	close_all();
}

static void
after_a_while_nothing_is_replayed(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	const struct plx_rc_counters *counters;
	uint64_t former_ns;

	(void)state;
	open_usually();
	former_ns = plx_rc_former_ns(b->qp->back->rc);
	assert_int_equal(former_ns, PLX_SEC); /* twice 8 times 50 ms are less */
	assert_int_equal(pair_read(a, b, 1, 0, READ_BYTES, 0), PLX_OK);
	assert_int_equal(reap(a->send_cq).status, PLX_WC_SUCCESS);
	assert_int_equal(wire.responses, 3);
	assert_int_equal(take_over(), PLX_OK);
	counters = plx_engine_qp_counters(heir);
	/* In time, for a duplicate that the network has made. */
	pair_pass(&pair, former_ns - 100 * PLX_MSEC);
	assert_true(pair_inject(&pair, 1, wire.request, wire.bytes, 1));
	pair_run(&pair, TURNS);
	assert_int_equal(wire.responses, 6);
	pair_pass(&pair, 200 * PLX_MSEC);
	assert_true(pair_inject(&pair, 1, wire.request, wire.bytes, 1));
	pair_run(&pair, TURNS);
	assert_int_equal(wire.responses, 6);
	assert_int_equal(counters->verdict[PLX_VERDICT_DUPLICATE_DENIED], 1);
	/* The connection is none the worse for it. */
	assert_int_equal(plx_rc_is_between(heir->back->rc), true);
	close_all();
}

/* What moves twice within that time has memory of two former owners. */
static void
a_former_owners_former_owner_is_remembered_too(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct pair_options options = pair_defaults(DEPTH);
	struct plx_domain third;
	struct plx_qp *second;

	(void)state;
	options.attr.ack_timeout_ns = 50 * PLX_MSEC;
	open_with(&options);
	assert_int_equal(plx_domain_create(b->mem, &third), PLX_OK);
	pair_start(&pair);
	second = pair_qp_on(&pair, 1, &options, cq, cq, third);
	pair_stop(&pair);
	assert_int_equal(pair_recv(a, 2, 0, 64), PLX_OK);
	assert_int_equal(pair_send(b, 3, 0, 64, 0), PLX_OK);
	assert_int_equal(reap(a->recv_cq).wr_id, 2);
	assert_int_equal(pair_read(a, b, 1, 0, READ_BYTES, 0), PLX_OK);
	assert_int_equal(reap(a->send_cq).status, PLX_WC_SUCCESS);
	assert_int_equal(take_over(), PLX_OK);
	pair_start(&pair);
	assert_int_equal(plx_qp_back_move(heir->back, second->back, NULL, &past), PLX_OK);
	pair_stop(&pair);
	/* Whoever gets it is told of all that had it. */
	assert_int_equal(past.requests, 1);
	assert_true(pair_inject(&pair, 1, wire.request, wire.bytes, 1));
	pair_run(&pair, TURNS);
	assert_int_equal(wire.responses, 6);
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(second), PLX_OK);
	pair_stop(&pair);
	assert_int_equal(plx_domain_destroy(b->mem, third), PLX_OK);
	close_all();
}

static bool
lose_the_last(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	(void)user;
	return pair_opcode(m) != PLX_RC_SEND_LAST;
}

static void
only_what_is_between_two_messages_moves(void **state)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	(void)state;
	open_usually();
	/* A message of its own without a receive at the peer, ... */
	assert_int_equal(pair_send(b, 1, 0, 64, 0), PLX_OK);
	assert_int_equal(take_over(), PLX_BUSY);
	assert_int_equal(pair_recv(a, 2, 0, 64), PLX_OK);
	assert_int_equal(reap(b->send_cq).status, PLX_WC_SUCCESS);
	/* ... and one of its peer's that has begun. */
	for (uint32_t i = 0; i < a->engines; i++)
		a->queue[i]->pass = lose_the_last;
	assert_int_equal(pair_recv(b, 3, 0, 4096), PLX_OK);
	assert_int_equal(pair_send(a, 4, 0, 4096, 0), PLX_OK);
	pair_run(&pair, TURNS);
	assert_int_equal(take_over(), PLX_BUSY);
	for (uint32_t i = 0; i < a->engines; i++)
		a->queue[i]->pass = NULL;
	assert_int_equal(reap(a->send_cq).status, PLX_WC_SUCCESS);
	assert_int_equal(reap(b->recv_cq).status, PLX_WC_SUCCESS);
	assert_int_equal(take_over(), PLX_OK);
	/* It has moved, and is in ERROR; the heir is in use. */
	assert_int_equal(take_over(), PLX_STATE);
	close_all();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_goes_with_the_connection),
		cmocka_unit_test(messages_go_on_both_ways),
		cmocka_unit_test(lost_responses_are_replayed_from_the_former_domain),
		cmocka_unit_test(after_a_while_nothing_is_replayed),
		cmocka_unit_test(a_former_owners_former_owner_is_remembered_too),
		cmocka_unit_test(only_what_is_between_two_messages_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
