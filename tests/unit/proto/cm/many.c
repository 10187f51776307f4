/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many connections at once and in sequence, honest and hostile: limits hold, and honest peers are
 * served. It never tests a single connection. Start with a_thousand_in_a_row_leave_nothing().
 */
#include "cm_pair.h"

#include <string.h>

/* A peer that establishes what it requests is not limited. */
static void
a_thousand_in_a_row_leave_nothing(void **state)
{
	struct plx_cm_id ids[HOSTS];
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_establish(&pair, ids);
	for (uint32_t i = 0; i < 1000; i++) {
		int who = i % 2 ? ALICE : BOB;

		if (i > 0)
			pair_establish_more(&pair, ALICE_QPN + i, ids);
		assert_int_equal(plx_cm_disconnect(pair.cm[who], ids[who], pair.now), PLX_OK);
		pair_carry(&pair);
		pair_expect(&pair, who, PLX_CM_EVENT_CLOSED);
		pair_expect(&pair, !who, PLX_CM_EVENT_DISCONNECTED);
		assert_int_equal(pair_view(&pair, BOB).connections, 0);
		assert_int_equal(pair_view(&pair, BOB).half_open, 0);
		assert_in_range(pair_view(&pair, BOB).timewait, 1, 64);
	}
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->verdict[PLX_CM_LIMITED], 0);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->resent, 0);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* All connect before any is answered. */
static void
many_at_once(struct pair *pair, uint32_t count)
{
	struct plx_cm_id alice[256], bob[256];

	for (uint32_t i = 0; i < count; i++)
		alice[i] = pair_connect(pair, ALICE, BOB, 0x1000 + i);
	pair_carry(pair);
	assert_int_equal(pair_view(pair, BOB).half_open, count);
	for (uint32_t i = 0; i < count; i++) {
		bob[i] = pair_expect(pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
		pair_accept(pair, BOB, bob[i], 0x2000 + i);
	}
	pair_carry(pair);
	for (uint32_t i = 0; i < count; i++) {
		pair_expect(pair, ALICE, PLX_CM_EVENT_REPLIED);
		assert_int_equal(plx_cm_establish(pair->cm[ALICE], alice[i], pair->now), PLX_OK);
	}
	pair_carry(pair);
	for (uint32_t i = 0; i < count; i++) {
		pair_expect(pair, BOB, PLX_CM_EVENT_ESTABLISHED);
		assert_int_equal(plx_cm_disconnect(pair->cm[BOB], bob[i], pair->now), PLX_OK);
	}
	pair_carry(pair);
	for (uint32_t i = 0; i < count; i++) {
		pair_expect(pair, BOB, PLX_CM_EVENT_CLOSED);
		pair_expect(pair, ALICE, PLX_CM_EVENT_DISCONNECTED);
	}
}

static void
sixty_four_at_once_leave_nothing(void **state)
{
	struct pair pair;

	(void)state;
	pair_open_with(&pair, 256, 128, 6);
	pair_listen(&pair, BOB, PORT, 0);
	for (int round = 0; round < 20; round++)
		many_at_once(&pair, 64);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->verdict[PLX_CM_LIMITED], 0);
	assert_int_equal(plx_cm_counters(pair.cm[BOB])->resent, 0);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* ---- floods ---- */

enum {
	FLOOD = 100000,
	CROWD_CONNECTIONS = 1024,
	CROWD_HALF_OPEN = 256,
};

/* BOB's program accepts every request, and ALICE's completes. */
static void
serve(struct pair *pair, uint32_t *qpn)
{
	struct plx_cm_event event;
	struct plx_cm_own own;
	struct plx_cm_peer peer;

	while (plx_cm_next_event(pair->cm[BOB], &event)) {
		if (event.kind != PLX_CM_EVENT_REQUESTED)
			continue;
		own = pair_own((*qpn)++);
		assert_int_equal(
			plx_cm_accept(pair->cm[BOB], event.id, &own, 0, NULL, 0, pair->now, &peer),
			PLX_OK);
	}
	while (plx_cm_next_event(pair->cm[ALICE], &event)) {
		assert_int_equal(event.kind, PLX_CM_EVENT_REPLIED);
		assert_int_equal(plx_cm_establish(pair->cm[ALICE], event.id, pair->now), PLX_OK);
	}
}

struct flood {
	uint32_t sources;   /* different addresses */
	uint64_t every_ns;  /* between two REQs */
	uint32_t honest_at; /* after this many REQs, ALICE connects */
};

/* Returns: how long it took ALICE to connect, or PLX_NEVER. */
static uint64_t
flood(struct pair *pair, const struct flood *how)
{
	uint64_t asked_ns = 0, took_ns = PLX_NEVER;
	uint64_t established = 0;
	uint32_t qpn = 0x100000;

	for (uint32_t i = 0; i < FLOOD; i++) {
		struct plx_ip from = pair_ip(4, 0x0b000000 + i % how->sources);
		struct plx_cm_msg msg = pair_req(pair, from, 1000 + i, 0x100 + i);

		pair_inject_from(pair, BOB, from, &msg);
		if (i == how->honest_at) {
			asked_ns = pair->now;
			established = plx_cm_counters(pair->cm[ALICE])->established;
			pair_connect(pair, ALICE, BOB, 0x50);
		}
		pair_wait(pair, how->every_ns);
		serve(pair, &qpn);
		pair_forget(pair);
		assert_in_range(pair_view(pair, BOB).half_open, 0, CROWD_HALF_OPEN);
		assert_in_range(pair_view(pair, BOB).connections, 0, CROWD_CONNECTIONS);
		if (asked_ns && took_ns == PLX_NEVER &&
		    plx_cm_counters(pair->cm[ALICE])->established > established)
			took_ns = pair->now - asked_ns;
	}
	return took_ns;
}

static void
expect_alive(struct pair *pair, const struct plx_cm_id *ids)
{
	struct plx_cm_event event;
	uint32_t qpn = 0x400000;

	serve(pair, &qpn);
	assert_int_equal(plx_cm_disconnect(pair->cm[ALICE], ids[ALICE], pair->now), PLX_OK);
	pair_carry(pair);
	pair_expect(pair, ALICE, PLX_CM_EVENT_CLOSED);
	while (plx_cm_next_event(pair->cm[BOB], &event)) {
		if (event.kind == PLX_CM_EVENT_DISCONNECTED && event.id.v == ids[BOB].v)
			return;
	}
	fail_msg("BOB was not told that ALICE has left");
}

/* One source can only use its share; another is served at once. */
static void
a_flood_of_one_source_hurts_nobody_else(void **state)
{
	struct flood how = {.sources = 1, .every_ns = 10 * PLX_USEC, .honest_at = FLOOD / 2};
	struct pair pair;
	uint64_t took_ns;

	(void)state;
	pair_open_with(&pair, CROWD_CONNECTIONS, CROWD_HALF_OPEN, 4);
	pair_listen(&pair, BOB, PORT, 0);
	took_ns = flood(&pair, &how);
	assert_in_range(took_ns, 0, PLX_MSEC);
	assert_in_range(plx_cm_counters(pair.cm[BOB])->requests, 2,
			PLX_CM_SOURCE_BURST + 1 + PLX_CM_SOURCE_PER_SECOND + 1);
	assert_in_range(plx_cm_counters(pair.cm[BOB])->source_full, FLOOD - 200, FLOOD);
	pair_close(&pair);
}

/* Each of many sources has its share; peers with an established connection have a share of their
 * own. */
static void
a_flood_of_many_sources_hurts_no_known_peer(void **state)
{
	struct flood how = {.sources = FLOOD, .every_ns = 10 * PLX_USEC, .honest_at = FLOOD / 2};
	struct plx_cm_id ids[HOSTS];
	struct pair pair;
	uint64_t took_ns;

	(void)state;
	pair_open_with(&pair, CROWD_CONNECTIONS, CROWD_HALF_OPEN, 4);
	pair_establish(&pair, ids);
	took_ns = flood(&pair, &how);
	assert_in_range(took_ns, 0, PLX_MSEC);
	expect_alive(&pair, ids);
	pair_close(&pair);
}

/* A stranger that is honest gets in when the flood ebbs, in its own tries. */
static void
a_flood_of_many_sources_delays_a_stranger(void **state)
{
	struct flood how = {.sources = FLOOD, .every_ns = 10 * PLX_USEC, .honest_at = FLOOD / 2};
	struct pair pair;
	uint32_t qpn = 0x300000;

	(void)state;
	pair_open_with(&pair, CROWD_CONNECTIONS, CROWD_HALF_OPEN, 4);
	pair_listen(&pair, BOB, PORT, 0);
	flood(&pair, &how);
	for (int i = 0; i < 60; i++) {
		pair_wait(&pair, 50 * PLX_MSEC);
		serve(&pair, &qpn);
	}
	assert_int_equal(plx_cm_counters(pair.cm[ALICE])->established, 1);
	pair_close(&pair);
}

/* When all is over, nothing of a flood is left. */
static void
a_flood_leaves_nothing(void **state)
{
	struct flood how = {.sources = 1000, .every_ns = 100 * PLX_USEC, .honest_at = FLOOD};
	struct pair pair;
	uint32_t qpn = 0x300000;

	(void)state;
	pair_open_with(&pair, CROWD_CONNECTIONS, CROWD_HALF_OPEN, 4);
	pair_listen(&pair, BOB, PORT, 0);
	flood(&pair, &how);
	for (int i = 0; i < 400; i++) {
		pair_wait(&pair, 50 * PLX_MSEC);
		serve(&pair, &qpn);
	}
	assert_in_range(plx_cm_counters(pair.cm[BOB])->gave_way, 1000, FLOOD);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_in_a_row_leave_nothing),
		cmocka_unit_test(sixty_four_at_once_leave_nothing),
		cmocka_unit_test(a_flood_of_one_source_hurts_nobody_else),
		cmocka_unit_test(a_flood_of_many_sources_hurts_no_known_peer),
		cmocka_unit_test(a_flood_of_many_sources_delays_a_stranger),
		cmocka_unit_test(a_flood_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
