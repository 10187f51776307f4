/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbours for several engines: the board by itself, also while one thread writes and others
 * read; queue pairs of engine 1 whose neighbours answer late, never, or move; questions that find
 * no room. Start with reader().
 */
#include <pthread.h>
#include <stdlib.h>

#include "test.h"

#include "block.h"
#include "engine_pair.h"
#include "plx_engine_member.h"

enum {
	DEPTH = 16,
	WRITES = 1000000,
	READERS = 1,
};

static struct pair pair;

/* ---- the board ---- */

static struct board *board;
static struct plx_net *net;

/* 1,024 neighbours of one network, of which those with an odd last byte have answered. */
static struct plx_ip
neighbour(uint32_t n)
{
	return (struct plx_ip){.version = 4, .v = {10, 1, (uint8_t)(n >> 8), (uint8_t)n}};
}

static void
answer_of(const struct plx_ip *ip, uint8_t move, uint8_t *mac)
{
	const uint8_t bytes[6] = {2, move, ip->v[2], ip->v[3], move, ip->v[3]};

	memcpy(mac, bytes, sizeof(bytes));
}

static void
hear(const struct plx_ip *ip, uint8_t move, uint64_t now)
{
	uint8_t arp[60] = {[12] = 0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 2};
	const uint8_t own[6] = {2, 0, 0, 0, 0, 1}, own_ip[4] = {10, 1, 255, 1};

	memcpy(arp, own, 6);
	answer_of(ip, move, arp + 6);
	answer_of(ip, move, arp + 22);
	memcpy(arp + 28, ip->v, 4);
	memcpy(arp + 32, own, 6);
	memcpy(arp + 38, own_ip, 4);
	assert_int_equal(plx_net_on_frame(net, arp, sizeof(arp), now), PLX_NET_TAKEN);
}

static void
open_board(void)
{
	struct plx_net_config config = {
		.mac = {2, 0, 0, 0, 0, 1}, .addresses = 1, .neighbours = 4096};

	config.address[0] = (struct plx_net_address){.ip = {.version = 4, .v = {10, 1, 255, 1}},
						     .prefix_bits = 16};
	net = plx_net_init(test_block(plx_net_bytes(&config)), &config);
	assert_int_equal(posix_memalign((void **)&board, PLX_LINE_PAIR, sizeof(*board)), 0);
	memset(board, 0, sizeof(*board));
	board->key = (struct plx_secret){{7, 8}};
}

static void
close_board(void)
{
	free(net);
	free(board);
}

/* Resolve a neighbour that answers at once. */
static void
want(uint32_t n, uint8_t move, uint64_t now)
{
	struct plx_ip ip = neighbour(n);

	board_want(board, net, &ip, now, now);
	hear(&ip, move, now);
	(void)board_serve(board, net, now, now);
}

static void
what_is_written_is_found_and_nothing_else(void **state)
{
	struct plx_ip ip = neighbour(1), v6 = {.version = 6, .v = {10, 1, 0, 1}};
	uint8_t mac[6] = {0}, right[6];

	(void)state;
	open_board();
	assert_int_equal(board_find(board, &ip, 1, mac), PLX_NET_WAIT);
	board_want(board, net, &ip, 1, 1);
	board_want(board, net, &ip, 1, 1);
	assert_int_equal(board->wanted_count, 1);
	assert_true(board_serve(board, net, 1, 1));
	assert_int_equal(board_find(board, &ip, 1, mac), PLX_NET_WAIT);
	assert_int_equal(board->news, 0);
	hear(&ip, 0, 1);
	assert_false(board_serve(board, net, 1, 1));
	assert_int_equal(board->news, 1);
	assert_int_equal(board_find(board, &ip, UINT64_MAX - 1, mac), PLX_NET_READY);
	answer_of(&ip, 0, right);
	assert_memory_equal(mac, right, 6);
	assert_int_equal(board_find(board, &v6, 1, mac), PLX_NET_WAIT);
	ip = neighbour(2);
	assert_int_equal(board_find(board, &ip, 1, mac), PLX_NET_WAIT);
	close_board();
}

static void
what_does_not_answer_is_believed_for_a_while(void **state)
{
	struct plx_ip ip = neighbour(1);
	uint64_t now = 1, clock = 10 * PLX_SEC;
	uint8_t frame[PLX_NET_FRAME_USUAL], mac[6];

	(void)state;
	open_board();
	board_want(board, net, &ip, now, clock);
	for (int i = 0; i < PLX_NET_TRIES; i++) {
		assert_true(plx_net_transmit(net, now, frame) > 0);
		now += PLX_NET_RETRY_NS;
		plx_net_on_tick(net, now);
	}
	assert_false(board_serve(board, net, now, clock));
	assert_int_equal(board_find(board, &ip, clock, mac), PLX_NET_NO_ANSWER);
	assert_int_equal(board_find(board, &ip, clock + BOARD_NEGATIVE_NS - 1, mac),
			 PLX_NET_NO_ANSWER);
	assert_int_equal(board_find(board, &ip, clock + BOARD_NEGATIVE_NS, mac), PLX_NET_WAIT);
	close_board();
}

static void
a_cleared_board_has_nothing_and_another_version(void **state)
{
	uint8_t mac[6];

	(void)state;
	open_board();
	for (uint32_t n = 1; n < 1000; n++)
		want(n, 0, 1);
	board_clear(board);
	assert_int_equal(board->version, 1);
	assert_int_equal(board->used_count, 0);
	for (uint32_t n = 1; n < 1000; n++) {
		struct plx_ip ip = neighbour(n);

		assert_int_equal(board_find(board, &ip, 1, mac), PLX_NET_WAIT);
	}
	want(1, 0, 1);
	assert_int_equal(board->used_count, 1);
	close_board();
}

/* Sets of four overflow: the newest is always there, and entries are never more than there are. */
static void
a_full_set_replaces_its_entries_in_turn(void **state)
{
	uint32_t there = 0;
	uint8_t mac[6];

	(void)state;
	open_board();
	for (uint32_t n = 1; n < 4000; n++) {
		struct plx_ip ip = neighbour(n);

		want(n, 0, 1);
		assert_int_equal(board_find(board, &ip, 1, mac), PLX_NET_READY);
		assert_true(board->used_count <= BOARD_ENTRIES);
		want(n, 0, 1); /* once more: at the same place */
	}
	for (uint32_t n = 1; n < 4000; n++) {
		struct plx_ip ip = neighbour(n);

		there += board_find(board, &ip, 1, mac) == PLX_NET_READY;
	}
	assert_int_equal(there, board->used_count);
	assert_in_range(there, BOARD_ENTRIES / 2, BOARD_ENTRIES);
	close_board();
}

static void
too_many_wanted_are_wanted_again(void **state)
{
	(void)state;
	open_board();
	for (uint32_t n = 1; n < 2 * BOARD_WANTED_MAX; n++) {
		struct plx_ip ip = neighbour(n);

		board_want(board, net, &ip, 1, 1);
	}
	assert_int_equal(board->wanted_count, BOARD_WANTED_MAX);
	close_board();
}

static atomic_bool stop;
static atomic_uint found;
static uint32_t crowd[2 * BOARD_WAYS]; /* neighbours of one set */

/* The place of a neighbour that was written just now on an empty board. */
static uint32_t
set_of(uint32_t n)
{
	uint32_t set;

	want(n, 0, 1);
	set = board->used[0] / BOARD_WAYS;
	board_clear(board);
	return set;
}

static void
choose_crowd(void)
{
	uint32_t count = 0, set = set_of(1);

	for (uint32_t n = 1; count < PLX_COUNT_OF(crowd); n++)
		if (set_of(n) == set)
			crowd[count++] = n;
}

/* What is found is a whole entry: the MAC repeats the address. */
static void *
reader(void *arg)
{
	struct plx_prng prng;

	plx_prng_init(&prng, (uintptr_t)arg);
	while (!atomic_load(&stop)) {
		struct plx_ip ip = neighbour(crowd[plx_prng_below(&prng, PLX_COUNT_OF(crowd))]);
		uint8_t mac[6], right[6];

		if (board_find(board, &ip, 1, mac) != PLX_NET_READY)
			continue;
		answer_of(&ip, mac[1], right);
		PLX_ASSERT(memcmp(mac, right, sizeof(mac)) == 0);
		atomic_fetch_add(&found, 1);
	}
	return NULL;
}

/* Entries of one set are replaced while others read them. */
static void
a_reader_never_sees_half_an_entry(void **state)
{
	pthread_t threads[READERS];

	(void)state;
	open_board();
	choose_crowd();
	atomic_store(&stop, false);
	for (uintptr_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reader, (void *)i), 0);
	for (uint32_t i = 0; i < PLX_COUNT_OF(crowd); i++)
		want(crowd[i], (uint8_t)i, 1);
	for (uint32_t i = 0; i < WRITES || atomic_load(&found) < WRITES / 10; i++) {
		struct plx_ip ip = neighbour(crowd[i % PLX_COUNT_OF(crowd)]);

		board_want(board, net, &ip, 1, 1);
		if (i % 1000 == 999)
			board_clear(board);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	close_board();
}

/* ---- engines ---- */

static void
open_engines(void)
{
	pair_open_with(&pair, &(struct pair_setup){.engines = 2});
	pair.side[0].engine = pair.side[0].all[1];
	pair.side[0].arrives_on = 1; /* ARP replies, too */
}

static uint64_t
asked(const struct pair_side *side)
{
	return plx_engine_net_counters(side->all[0])->requests_sent;
}

static void
engine_0_resolves_for_engine_1(void **state)
{
	struct pair_side *a = &pair.side[0];
	struct plx_wc wc;

	(void)state;
	open_engines();
	pair_connect(&pair, DEPTH);
	assert_int_equal(asked(a), 1);
	assert_int_equal(pair_write(a, &pair.side[1], 1, 0, 8, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	pair_close(&pair);
}

static enum plx_status
to_rtr(struct plx_qp *qp, const struct plx_ip *remote)
{
	const struct plx_engine_path path = {.remote = *remote};
	struct plx_rc_attr attr = pair_defaults(DEPTH).attr;

	attr.dest_qpn = 77;
	return plx_engine_qp_modify(qp, PLX_QP_RTR, &attr, &path);
}

/* Commands are executed by a thread that polls; virtual time passes meanwhile. */
static enum plx_status
wait_for_rtr(struct plx_qp *qp, const struct plx_ip *remote)
{
	enum plx_status status;

	do
		status = to_rtr(qp, remote);
	while (status == PLX_AGAIN);
	return status;
}

static void
a_silent_neighbour_is_unreachable_for_engine_1(void **state)
{
	const struct plx_ip silent = {.version = 4, .v = {10, 0, 0, 9}};
	const struct plx_ip nowhere = {.version = 4, .v = {192, 0, 2, 1}};
	const struct plx_ip broadcast = {.version = 4, .v = {10, 0, 0, 255}};
	struct pair_options options = pair_defaults(DEPTH);
	struct pair_side *a = &pair.side[0];

	(void)state;
	open_engines();
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	a->qp = pair_qp(&pair, 0, &options);
	assert_int_equal(plx_engine_qp_modify(a->qp, PLX_QP_INIT, NULL, NULL), PLX_OK);
	assert_int_equal(to_rtr(a->qp, &nowhere), PLX_UNREACHABLE);
	assert_int_equal(to_rtr(a->qp, &broadcast), PLX_UNREACHABLE);
	assert_int_equal(to_rtr(a->qp, &silent), PLX_AGAIN);
	pair_stop(&pair);
	for (uint32_t i = 0; i < 40; i++)
		pair_pass(&pair, 100 * PLX_MSEC);
	pair_start(&pair);
	assert_int_equal(wait_for_rtr(a->qp, &silent), PLX_UNREACHABLE);
	assert_int_equal(to_rtr(a->qp, &a->ip), PLX_OK); /* our own, at once */
	pair_stop(&pair);
	assert_int_equal(asked(a), PLX_NET_TRIES);
	pair_close(&pair);
}

static bool
note_address(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	if (pair_opcode(m) >= 0)
		memcpy(user, rte_pktmbuf_mtod(m, const uint8_t *), 6);
	return true;
}

static void
a_queue_pair_of_engine_1_follows_a_neighbour_that_moves(void **state)
{
	static const uint8_t moved[6] = {2, 0, 0, 0, 0, 99};
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint8_t arp[60] = {[12] = 0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 2};
	uint8_t seen[6] = {0};
	struct plx_wc wc;

	(void)state;
	open_engines();
	pair_connect(&pair, DEPTH);
	a->port.pass = note_address;
	a->port.user = seen;
	pair_pass(&pair, 5 * PLX_SEC);
	memset(arp, 0xff, 6);
	memcpy(arp + 6, moved, 6);
	memcpy(arp + 22, moved, 6);
	memcpy(arp + 28, b->ip.v, 4);
	memcpy(arp + 32, a->port.port.caps.mac, 6);
	memcpy(arp + 38, a->ip.v, 4);
	for (uint32_t q = 0; q < 2; q++)
		memcpy(b->queue[q]->port.caps.mac, moved, 6);
	assert_true(pair_inject(&pair, 0, arp, sizeof(arp), 1));
	pair_run(&pair, 5);
	assert_int_equal(plx_engine_net_counters(a->engine)->moved, 1);
	assert_int_equal(pair_write(a, b, 2, 0, 8, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 100), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_memory_equal(seen, moved, 6);
	pair_close(&pair);
}

/* Engine 0 is not polled: what it is asked for waits in the ring, and one question is enough. */
static void
questions_are_few_and_what_finds_no_room_is_asked_again(void **state)
{
	enum {
		MANY = 2 * MESSAGES_MAX
	};
	struct plx_engine *first, *second;
	uint8_t mac[6];
	struct rte_ring *ring;

	(void)state;
	open_engines();
	first = pair.side[0].all[0];
	second = pair.side[0].all[1];
	ring = second->member->messages_out[0];
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(engine_neighbour(second, &pair.side[1].ip, mac), PLX_NET_WAIT);
	assert_int_equal(plx_ring_count(ring), 1);
	for (uint32_t i = 0; i < MANY; i++) {
		const struct plx_ip ip = {.version = 4, .v = {10, 0, 0, (uint8_t)(3 + i % 250)}};

		assert_int_equal(engine_neighbour(second, &ip, mac), PLX_NET_WAIT);
	}
	assert_int_equal(plx_ring_count(ring), MESSAGES_MAX);
	assert_int_equal(plx_engine_wake_ns(first), 0);
	pair_run(&pair, 100);
	assert_int_equal(plx_ring_count(ring), 0);
	/* The table of the fixture has room for a few only. */
	for (uint32_t i = 0;
	     i < 100 && engine_neighbour(second, &pair.side[1].ip, mac) == PLX_NET_WAIT; i++)
		pair_pass(&pair, REROUTE_NS);
	assert_int_equal(engine_neighbour(second, &pair.side[1].ip, mac), PLX_NET_READY);
	assert_memory_equal(mac, pair.side[1].port.port.caps.mac, 6);
	pair_close(&pair);
}

static void
calls_about_neighbours_go_to_engine_0(void **state)
{
	enum plx_net_verdict verdict = PLX_NET_WAIT;
	struct pair_side *a = &pair.side[0];
	uint32_t number;
	uint64_t rtt;
	uint8_t mac[6];

	(void)state;
	open_engines();
	pair_start(&pair);
	while (verdict == PLX_NET_WAIT)
		assert_int_equal(plx_engine_resolve(a->engine, &pair.side[1].ip, mac, &verdict),
				 PLX_OK);
	assert_int_equal(verdict, PLX_NET_READY);
	assert_memory_equal(mac, pair.side[1].port.port.caps.mac, 6);
	assert_int_equal(
		plx_engine_ping(a->engine, &pair.side[1].ip, 56, PLX_SEC, &number, &verdict),
		PLX_OK);
	while (verdict == PLX_NET_WAIT)
		assert_int_equal(plx_engine_ping_result(a->engine, number, &rtt, &verdict), PLX_OK);
	assert_int_equal(verdict, PLX_NET_READY);
	pair_stop(&pair);
	assert_true(plx_engine_counters(a->all[0])->commands >= 3);
	assert_int_equal(plx_engine_counters(a->all[1])->commands, 0);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_found_and_nothing_else),
		cmocka_unit_test(what_does_not_answer_is_believed_for_a_while),
		cmocka_unit_test(a_cleared_board_has_nothing_and_another_version),
		cmocka_unit_test(a_full_set_replaces_its_entries_in_turn),
		cmocka_unit_test(too_many_wanted_are_wanted_again),
		cmocka_unit_test(a_reader_never_sees_half_an_entry),
		cmocka_unit_test(engine_0_resolves_for_engine_1),
		cmocka_unit_test(a_silent_neighbour_is_unreachable_for_engine_1),
		cmocka_unit_test(a_queue_pair_of_engine_1_follows_a_neighbour_that_moves),
		cmocka_unit_test(questions_are_few_and_what_finds_no_room_is_asked_again),
		cmocka_unit_test(calls_about_neighbours_go_to_engine_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
