/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Address handles: neighbours that answer late, never, or have moved; datagrams that wait for a
 * neighbour's address; handles that are destroyed while still in use. Start with ah_pair_open().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine_pair.h"
#include "plx_engine_ud.h"

enum {
	DEPTH = 512,
	BYTES = 32,
	RECV_BYTES = PLX_UD_HEADER_BYTES + BYTES,
	ROUNDS = 100,
};

static const uint32_t qkey = 0x11111111;

/* What the wire of side 0 passes, and what it has carried. */
struct tap {
	bool deaf;        /* no ARP leaves */
	uint32_t arps;    /* that left, or should have */
	uint32_t packets; /* RoCE */
	uint8_t mac[6];   /* where the last one went */
	bool spoilt;      /* an ARP frame was written over */
};

static bool
look(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);
	struct tap *tap = user;

	(void)from;
	if (pair_opcode(m) < 0) {
		/* Behind ARP there is padding, and no ICRC. */
		for (uint32_t i = 42; i < m->pkt_len; i++)
			tap->spoilt |= bytes[i] != 0;
		tap->arps++;
		return !tap->deaf;
	}
	tap->packets++;
	memcpy(tap->mac, bytes, 6);
	return true;
}

/* Two engines in worker mode, with a datagram queue pair on each; DEPTH receives on side 1. */
static void
ah_pair_open(struct pair *pair, struct tap *tap)
{
	struct pair_options options = pair_defaults(DEPTH);

	pair_open(pair, false);
	options.type = PLX_QP_UD;
	options.qkey = qkey;
	*tap = (struct tap){.deaf = true};
	pair->side[0].port.pass = look;
	pair->side[0].port.user = tap;
	pair_start(pair);
	pair_make_queues(pair, &options);
	for (int i = 0; i < 2; i++) {
		pair->side[i].qp = pair_qp(pair, i, &options);
		pair_ud_to_rts(pair->side[i].qp);
	}
	pair_stop(pair);
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_int_equal(pair_recv(&pair->side[1], i, i * 128, RECV_BYTES), PLX_OK);
}

static enum plx_status
try_ah(struct pair *pair, const struct plx_ip *to, struct plx_ah **ah)
{
	const struct plx_engine_path path = {.remote = *to};
	enum plx_status status;

	pair_start(pair);
	status = plx_link_ah_create(pair->side[0].engine, pair->side[0].domain, &path, ah);
	pair_stop(pair);
	return status;
}

static struct plx_ah *
ah_to(struct pair *pair, const struct plx_ip *to)
{
	return pair_ah(pair, 0, &(struct plx_engine_path){.remote = *to});
}

static enum plx_status
send_one(struct pair *pair, struct plx_ah *ah, uint64_t wr_id)
{
	struct pair_side *a = &pair->side[0];
	const struct plx_sge sge = {(uintptr_t)a->memory, BYTES, a->key};
	const struct plx_send_wr wr = {.wr_id = wr_id,
				       .op = PLX_WR_SEND_IMM,
				       .imm = (uint32_t)wr_id,
				       .sge = &sge,
				       .sges = 1,
				       .ah = ah,
				       .remote_qpn = plx_engine_qp_number(pair->side[1].qp),
				       .remote_qkey = qkey};
	enum plx_status status;

	plx_engine_qp_post_send(a->qp, &wr, 1, &status);
	return status;
}

/* `n` completions of side 0, all good: a datagram is done when it is sent, or waits. */
static void
expect_sent(struct pair *pair, uint32_t n)
{
	struct plx_wc wc;

	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(pair_reap(pair, pair->side[0].send_cq, &wc, 1, ROUNDS), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(wc.wr_id, i);
	}
}

/* Side 1 receives datagrams [first, end), in order, and no more. */
static void
expect_arrived(struct pair *pair, uint32_t first, uint32_t end)
{
	struct plx_wc wc;

	for (uint32_t i = first; i < end; i++) {
		assert_int_equal(pair_reap(pair, pair->side[1].recv_cq, &wc, 1, ROUNDS), 1);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(wc.imm, i);
	}
	assert_int_equal(pair_reap(pair, pair->side[1].recv_cq, &wc, 1, ROUNDS), 0);
}

static void
wait_for(struct pair *pair, uint64_t ns)
{
	for (uint64_t end = pair->now + ns; pair->now < end; pair->now += PLX_MSEC)
		pair_run(pair, 1);
}

static const struct plx_engine_counters *
counters(struct pair *pair)
{
	return plx_engine_counters(pair->side[0].engine);
}

/* An ARP request (1) or reply (2) from this Ethernet address for side 1's IP address. */
static void
inject_arp(struct pair *pair, uint8_t op, const uint8_t *mac)
{
	const struct plx_ip *ip = &pair->side[1].ip;
	uint8_t arp[60] = {[12] = 8, 6, 0, 1, 8, 0, 6, 4, 0, op};

	memcpy(arp, pair->side[0].port.port.caps.mac, 6);
	memcpy(arp + 6, mac, 6);
	memcpy(arp + 22, mac, 6);
	memcpy(arp + 28, ip->v, 4);
	memcpy(arp + 32, pair->side[0].port.port.caps.mac, 6);
	memcpy(arp + 38, pair->side[0].ip.v, 4);
	assert_true(pair_inject(pair, 0, arp, sizeof(arp), 1));
}

/* Packets sealed before they waited, and ARP, which is never sealed, wait for the port together. */
/* ---- neighbours ---- */

static void
datagrams_wait_for_their_neighbour_and_leave_in_order(void **state)
{
	struct plx_ah *ah;
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	ah = ah_to(&pair, &pair.side[1].ip);
	assert_true(tap.arps > 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(send_one(&pair, ah, i), PLX_OK);
	expect_sent(&pair, 5);
	assert_int_equal(tap.packets, 0);
	tap.deaf = false;
	wait_for(&pair, PLX_NET_RETRY_NS + 10 * PLX_MSEC); /* the second question is heard */
	expect_arrived(&pair, 0, 5);
	/* From now on nothing waits. */
	tap.arps = 0;
	assert_int_equal(send_one(&pair, ah, 5), PLX_OK);
	expect_arrived(&pair, 5, 6);
	assert_int_equal(tap.arps, 0);
	assert_int_equal(counters(&pair)->tx_unresolved + counters(&pair)->tx_waits_full, 0);
	pair_ah_destroy(&pair, ah);
	pair_close(&pair);
}

static void
of_one_neighbour_sixteen_datagrams_may_wait(void **state)
{
	struct plx_ah *ah;
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	ah = ah_to(&pair, &pair.side[1].ip);
	for (uint32_t i = 0; i < PLX_ENGINE_AH_WAITS_MAX + 4; i++)
		assert_int_equal(send_one(&pair, ah, i), PLX_OK);
	expect_sent(&pair, PLX_ENGINE_AH_WAITS_MAX + 4);
	assert_int_equal(counters(&pair)->tx_waits_full, 4);
	tap.deaf = false;
	wait_for(&pair, PLX_NET_RETRY_NS + 10 * PLX_MSEC);
	expect_arrived(&pair, 0, PLX_ENGINE_AH_WAITS_MAX);
	pair_ah_destroy(&pair, ah);
	pair_close(&pair);
}

static void
released_datagrams_and_answers_leave_as_they_were_written(void **state)
{
	struct plx_ah *ah;
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	ah = ah_to(&pair, &pair.side[1].ip);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(send_one(&pair, ah, i), PLX_OK);
	expect_sent(&pair, 4);
	pair.side[0].port.refuse = UINT32_MAX;
	inject_arp(&pair, 2, pair.side[1].port.port.caps.mac);
	pair_run(&pair, 2);
	inject_arp(&pair, 1, pair.side[1].port.port.caps.mac);
	pair_run(&pair, 2);
	assert_int_equal(pair.side[0].engine->tx_count, 5);
	assert_int_equal(send_one(&pair, ah, 4), PLX_OK);
	pair_run(&pair, 2);
	pair.side[0].port.refuse = 0;
	expect_arrived(&pair, 0, 5);
	assert_false(tap.spoilt);
	pair_ah_destroy(&pair, ah);
	pair_close(&pair);
}

static void
of_one_engine_so_many_datagrams_may_wait(void **state)
{
	enum {
		AHS = PLX_ENGINE_WAITS_MAX / PLX_ENGINE_AH_WAITS_MAX + 1,
		LAST = PLX_ENGINE_WAITS_MAX - 1, /* alone on the last handle */
	};
	struct plx_ah *ah[AHS];
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	for (uint32_t i = 0; i < AHS; i++)
		ah[i] = ah_to(&pair, &pair.side[1].ip);
	for (uint32_t i = 0; i < LAST; i++)
		assert_int_equal(send_one(&pair, ah[i / PLX_ENGINE_AH_WAITS_MAX], i), PLX_OK);
	for (uint32_t i = LAST; i < LAST + 9; i++)
		assert_int_equal(send_one(&pair, ah[AHS - 1], i), PLX_OK);
	expect_sent(&pair, LAST + 9);
	assert_int_equal(counters(&pair)->tx_waits_full, 8);
	/* The port accepts nothing, not even the next solicitation. With that at the head, not
	 * all waiting datagrams fit when the reply comes; the last one follows, then later ones. */
	pair.side[0].port.refuse = UINT32_MAX;
	while (pair.side[0].engine->tx_count == 0)
		wait_for(&pair, PLX_MSEC);
	inject_arp(&pair, 2, pair.side[1].port.port.caps.mac);
	pair_run(&pair, 2);
	assert_int_equal(pair.side[0].engine->ah_table->waits, 1);
	assert_int_equal(send_one(&pair, ah[AHS - 1], LAST + 1), PLX_OK);
	pair.side[0].port.refuse = 0;
	expect_arrived(&pair, 0, LAST + 2);
	for (uint32_t i = 0; i < AHS; i++)
		pair_ah_destroy(&pair, ah[i]);
	pair_close(&pair);
}

static void
datagrams_to_who_does_not_answer_are_dropped_and_counted(void **state)
{
	struct plx_ah *ah;
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	ah = ah_to(&pair, &pair.side[1].ip);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(send_one(&pair, ah, i), PLX_OK);
	expect_sent(&pair, 3);
	wait_for(&pair, PLX_NET_TRIES * PLX_NET_RETRY_NS + 100 * PLX_MSEC);
	assert_int_equal(counters(&pair)->tx_unresolved, 3);
	/* A neighbour known not to answer is not solicited again soon, and nothing waits for it. */
	assert_int_equal(send_one(&pair, ah, 3), PLX_OK);
	pair_run(&pair, 10);
	assert_int_equal(counters(&pair)->tx_unresolved, 4);
	tap.deaf = false;
	wait_for(&pair, PLX_NET_NEGATIVE_NS);
	assert_int_equal(send_one(&pair, ah, 4), PLX_OK);
	expect_arrived(&pair, 4, 5);
	pair_ah_destroy(&pair, ah);
	pair_close(&pair);
}

static void
datagrams_follow_a_neighbour_that_has_moved(void **state)
{
	static const uint8_t new[6] = {2, 0, 0, 0, 9, 9};
	struct plx_ah *ah;
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	tap.deaf = false;
	ah = ah_to(&pair, &pair.side[1].ip);
	wait_for(&pair, 2 * PLX_NET_MOVE_NS);
	assert_int_equal(send_one(&pair, ah, 0), PLX_OK);
	expect_arrived(&pair, 0, 1);
	assert_memory_equal(tap.mac, pair.side[1].port.port.caps.mac, 6);
	memcpy(pair.side[1].port.port.caps.mac, new, 6);
	inject_arp(&pair, 2, new);
	pair_run(&pair, 10);
	assert_int_equal(send_one(&pair, ah, 1), PLX_OK);
	expect_arrived(&pair, 1, 2);
	assert_memory_equal(tap.mac, new, 6);
	pair_ah_destroy(&pair, ah);
	pair_close(&pair);
}

/* ---- the life of a handle ---- */

static uint32_t
length(const struct plx_list *list)
{
	uint32_t n = 0;

	for (const struct plx_list *node = list->next; node != list; node = node->next)
		n++;
	return n;
}

static void
a_way_lives_until_nothing_names_it(void **state)
{
	struct ah_table *ah_table;
	struct plx_ah *ah;
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	ah = ah_to(&pair, &pair.side[1].ip);
	ah_table = pair.side[0].engine->ah_table;
	/* Posted while the engine was not polled: not even in the transport when the handle is
	 * destroyed. */
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(send_one(&pair, ah, i), PLX_OK);
	pair_ah_destroy(&pair, ah);
	expect_sent(&pair, 8);
	assert_int_equal(length(&ah_table->ending), 1);
	assert_int_equal(length(&ah_table->free), PLX_ENGINE_AHS_MAX - 1);
	tap.deaf = false;
	wait_for(&pair, PLX_NET_RETRY_NS + 10 * PLX_MSEC);
	expect_arrived(&pair, 0, 8);
	assert_int_equal(length(&ah_table->ending), 0);
	assert_int_equal(length(&ah_table->free), PLX_ENGINE_AHS_MAX);
	pair_close(&pair);
}

static void
a_flushed_or_forgotten_request_does_not_need_its_way(void **state)
{
	struct ah_table *ah_table;
	uint32_t number;
	struct plx_ah *ah;
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	for (int how = 0; how < 3; how++) {
		struct plx_qp *qp = pair.side[0].qp;

		ah = ah_to(&pair, &pair.side[1].ip);
		ah_table = pair.side[0].engine->ah_table;
		pair_start(&pair);
		assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_SQD, NULL, NULL), PLX_OK);
		assert_int_equal(send_one(&pair, ah, 0), PLX_OK);
		number = ah->number[0];
		assert_int_equal(plx_link_ah_destroy(ah), PLX_OK);
		assert_int_equal(ah_table->uses[number].posted, 1);
		if (how == 0)
			assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_ERROR, NULL, NULL),
					 PLX_OK);
		if (how < 2) {
			assert_int_equal(plx_engine_qp_modify(qp, PLX_QP_RESET, NULL, NULL),
					 PLX_OK);
			pair_ud_to_rts(qp);
		} else {
			assert_int_equal(plx_engine_qp_destroy(qp), PLX_OK);
			pair.side[0].qp = NULL;
		}
		pair_stop(&pair);
		pair_run(&pair, 10);
		assert_int_equal(ah_table->uses[number].posted, 0);
		assert_int_equal(length(&ah_table->free), PLX_ENGINE_AHS_MAX);
	}
	pair_close(&pair);
}

/* Waiting packets return to their pool with the engine: pair_close() checks. */
static void
an_engine_can_end_while_datagrams_wait(void **state)
{
	struct plx_ah *ah;
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	ah = ah_to(&pair, &pair.side[1].ip);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(send_one(&pair, ah, i), PLX_OK);
	expect_sent(&pair, 4);
	pair_ah_destroy(&pair, ah);
	assert_int_equal(pair.side[0].engine->ah_table->waits, 4);
	pair_close(&pair);
}

static void
a_way_to_nobody_is_refused(void **state)
{
	const struct plx_ip none = {.version = 0}, odd = {.version = 5};
	const struct plx_ip far = {.version = 4, .v = {11, 0, 0, 1}};
	const struct plx_ip all = {.version = 4, .v = {10, 0, 0, 255}};
	struct plx_ah *ah = NULL;
	struct pair pair;
	struct tap tap;

	(void)state;
	ah_pair_open(&pair, &tap);
	assert_int_equal(try_ah(&pair, &none, &ah), PLX_INVALID);
	assert_int_equal(try_ah(&pair, &odd, &ah), PLX_INVALID);
	assert_int_equal(try_ah(&pair, &far, &ah), PLX_UNREACHABLE);
	assert_int_equal(try_ah(&pair, &all, &ah), PLX_UNREACHABLE);
	assert_null(ah);
	assert_int_equal(length(&pair.side[0].engine->ah_table->free), PLX_ENGINE_AHS_MAX);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(datagrams_wait_for_their_neighbour_and_leave_in_order),
		cmocka_unit_test(of_one_neighbour_sixteen_datagrams_may_wait),
		cmocka_unit_test(released_datagrams_and_answers_leave_as_they_were_written),
		cmocka_unit_test(of_one_engine_so_many_datagrams_may_wait),
		cmocka_unit_test(datagrams_to_who_does_not_answer_are_dropped_and_counted),
		cmocka_unit_test(datagrams_follow_a_neighbour_that_has_moved),
		cmocka_unit_test(a_way_lives_until_nothing_names_it),
		cmocka_unit_test(a_flushed_or_forgotten_request_does_not_need_its_way),
		cmocka_unit_test(an_engine_can_end_while_datagrams_wait),
		cmocka_unit_test(a_way_to_nobody_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
