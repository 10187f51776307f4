/* SPDX-License-Identifier: BSD-3-Clause
 *
 * T18: a program that writes anything, at any time, to all that it shares with an engine: the
 * fronts of its queues. It hurts itself alone: a neighbour on the same engine loses nothing,
 * nothing hangs, no memory but its own changes. POLLUX_ROUNDS is the number of rounds, POLLUX_SEED
 * the seed of the first program. Start with forge().
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "asked.h"
#include "engine_pair.h"
#include "rc.h"

enum {
	DEPTH = 16,
	PROGRAM_ROUNDS = 40, /* of one program */
	MEMORY = 4096,       /* [bytes] of the program, between two guards */
	GUARD = 0x5a,
};

static struct pair pair;
static struct plx_prng prng;

/* ---- the program ---- */

struct shared {
	uint8_t *at;
	size_t bytes;
};

/* All that it shares with the engine of side 0, whose peer is an honest queue pair of side 1. */
static struct program {
	struct plx_domain domain;
	struct plx_region region;
	struct plx_key key;
	struct whole_seat *seat;
	struct plx_cq *cq, *peer_cq;
	struct plx_qp *qp, *peer;
	struct shared shared[5];
} liar;

static uint8_t memory[3][MEMORY] __attribute__((aligned(64)));

static struct plx_cq *
make_cq(struct pair_side *side, struct whole_seat *seat)
{
	const struct plx_engine_cq_config config = {.depth = 2 * DEPTH};
	struct plx_cq *cq = NULL;

	assert_int_equal(whole_cq_create_on(side->engine, seat, &config, &cq), PLX_OK);
	return cq;
}

static void
find_shared(const struct pair_options *options)
{
	const struct front_layout sq = sq_front_layout(DEPTH, options->sges, options->inline_bytes),
				  rq = rq_front_layout(DEPTH, options->sges),
				  cq = cq_front_layout(2 * DEPTH, false),
				  events = {
					  .ring = {.entries = ASYNC_EVENTS_MAX,
						   .entry_bytes = sizeof(struct plx_async_event)}};
	struct engine_seat *seat = liar.seat->back;
	size_t doorbells = seat->doorbell_words * sizeof(atomic_ulong);
	const struct shared shared[] = {
		{(uint8_t *)liar.qp->sq.front, front_bytes(&sq)},
		{(uint8_t *)liar.qp->rq.front, front_bytes(&rq)},
		{(uint8_t *)liar.cq->front, front_bytes(&cq)},
		{(uint8_t *)seat->front, sizeof(struct seat_front) + doorbells},
		{(uint8_t *)seat->async_events.ring.shared, front_bytes(&events)},
	};

	memcpy(liar.shared, shared, sizeof(shared));
}

static void
program_start(void)
{
	struct pair_options options = pair_defaults(DEPTH);
	struct plx_region_attr attr = {.va = (uintptr_t)memory[1],
				       .host = memory[1],
				       .length = MEMORY,
				       .access = {PLX_ACCESS_LOCAL_WRITE}};

	options.sges = 6; /* more than a slot holds */
	options.inline_bytes = 200;
	options.attr.ack_timeout_ns = 20 * PLX_USEC;
	options.attr.retry_max = 1;
	options.attr.rnr_retry_max = PLX_RNR_RETRY_FOREVER;
	pair_start(&pair);
	assert_int_equal(plx_domain_create(pair.side[0].mem, &liar.domain), PLX_OK);
	liar.key = test_region_at(pair.side[0].mem, liar.domain, &attr, &liar.region);
	assert_int_equal(whole_seat_create(pair.side[0].engine, &liar.seat), PLX_OK);
	liar.cq = make_cq(&pair.side[0], liar.seat);
	liar.peer_cq = make_cq(&pair.side[1], NULL);
	liar.qp = pair_qp_on(&pair, 0, &options, liar.cq, liar.cq, liar.domain);
	liar.peer = pair_qp_on(&pair, 1, &options, liar.peer_cq, liar.peer_cq, pair.side[1].domain);
	pair_join(&pair, 0, liar.qp, 1, liar.peer, &options);
	pair_stop(&pair);
	find_shared(&options);
}

/* What programs that died leave behind can always be destroyed. */
static void
program_end(void)
{
	pair_start(&pair);
	assert_int_equal(plx_engine_qp_destroy(liar.qp), PLX_OK);
	assert_int_equal(plx_engine_qp_destroy(liar.peer), PLX_OK);
	assert_int_equal(plx_engine_cq_destroy(liar.cq), PLX_OK);
	assert_int_equal(plx_engine_cq_destroy(liar.peer_cq), PLX_OK);
	assert_int_equal(whole_seat_destroy(liar.seat), PLX_OK);
	pair_stop(&pair);
	assert_int_equal(plx_region_retire(pair.side[0].mem, liar.region), PLX_OK);
	assert_int_equal(plx_region_release(pair.side[0].mem, liar.region), PLX_OK);
	assert_int_equal(plx_domain_destroy(pair.side[0].mem, liar.domain), PLX_OK);
}

/* ---- what it writes ---- */

static uint64_t
draw_word(void)
{
	static const uint64_t favourites[] = {
		0, 1, UINT64_MAX, PLX_RING_MARK, ~PLX_RING_MARK, UINT32_MAX, UINT64_C(1) << 31};

	switch (plx_prng_below(&prng, 5)) {
	case 0:
		return favourites[plx_prng_below(&prng, PLX_COUNT_OF(favourites))];
	case 1:
		return plx_prng_below(&prng, 2 * DEPTH);
	case 2: /* an address and a key of its own, or of its neighbour */
		return (uintptr_t)memory[1] + plx_prng_below(&prng, 2 * MEMORY);
	case 3:
		return plx_prng_below(&prng, 2) ? liar.key.v : pair.side[0].key.v;
	default:
		return plx_prng_next(&prng);
	}
}

/* A request that is nearly right, and shown as the next one. */
static void
draw_wqe(void)
{
	const struct plx_ring_untrusted *ring = &liar.qp->back->sq.ring;
	uint32_t index = ring->index + (uint32_t)plx_prng_below(&prng, 4);
	struct plx_wqe *wqe = (struct plx_wqe *)(void *)ring->entries + (index & ring->mask);
	struct plx_wqe forged = {
		.wr_id = draw_word(),
		.op = (uint8_t)plx_prng_below(&prng, PLX_WR_OP_COUNT + 2),
		.flags = (uint8_t)(plx_prng_below(&prng, 4) ? 0 : plx_prng_next(&prng)),
		.sges = (uint8_t)(plx_prng_below(&prng, 4) ? plx_prng_below(&prng, 8)
							   : plx_prng_next(&prng)),
		.remote_va = draw_word(),
	};

	forged.inline_bytes =
		(uint32_t)(plx_prng_below(&prng, 4) ? plx_prng_below(&prng, 400) : draw_word());
	forged.rkey.v = (uint32_t)draw_word();
	forged.imm = (uint32_t)draw_word(); /* or the key to be invalidated */
	for (uint32_t i = 0; i < PLX_WQE_SGES; i++)
		forged.sge[i] = (struct plx_sge){
			.va = draw_word(),
			.length = (uint32_t)(plx_prng_below(&prng, 8) ? plx_prng_below(&prng, 64)
								      : draw_word()),
			.key = plx_prng_below(&prng, 4) ? liar.key : pair.side[0].key};
	forged.word = (forged.word & ~PLX_RING_MARK) | ring_mark_of(ring->slots, index);
	*wqe = forged;
}

/* Receives that are nearly right, with an index that is. */
static void
draw_receives(void)
{
	const struct plx_ring_untrusted *ring = &liar.qp->back->own.ring;
	uint32_t n = (uint32_t)plx_prng_below(&prng, DEPTH);

	for (uint32_t i = 0; i < n; i++) {
		struct recv_slot *slot = (struct recv_slot *)(void *)ring->entries +
					 ((ring->index + i) & ring->mask);

		slot->wr_id = draw_word();
		slot->sges = (uint32_t)(plx_prng_below(&prng, 4) ? plx_prng_below(&prng, 8)
								 : draw_word());
		for (uint32_t k = 0; k < RECV_SGES; k++)
			slot->sge[k] = (struct plx_sge){
				draw_word(), (uint32_t)plx_prng_below(&prng, 64),
				plx_prng_below(&prng, 4) ? liar.key : pair.side[0].key};
	}
	ring->shared->prod.tail = ring->index + n;
}

/* Its peer is an honest program, and wants an answer. */
static void
peer_works(void)
{
	/* beside what the neighbour uses: it is the program's to write */
	const struct plx_sge sge = {(uintptr_t)pair.side[1].memory + MEMORY, 8, pair.side[1].key};
	const struct plx_send_wr send = {.op = PLX_WR_SEND, .sges = 1, .sge = &sge};
	const struct plx_recv_wr receive = {.sges = 1, .sge = &sge};
	enum plx_status status;
	struct plx_wc wc[8];

	(void)plx_engine_qp_post_send(liar.peer, &send, 1, &status);
	(void)plx_post_recv(liar.peer, &receive, 1, &status);
	(void)plx_engine_cq_poll(liar.peer_cq, wc, 8);
}

/* It need not keep to what it has agreed on with itself, either. */
static void
forge(void)
{
	const struct shared *to = &liar.shared[plx_prng_below(&prng, PLX_COUNT_OF(liar.shared))];
	size_t words = to->bytes / sizeof(uint64_t);

	switch (plx_prng_below(&prng, 10)) {
	case 0: /* indexes and states: the first words */
		if (words > sizeof(struct sq_front) / sizeof(uint64_t) + 40)
			words = sizeof(struct sq_front) / sizeof(uint64_t) + 40;
		break;
	case 1:
		for (uint32_t i = 0; i < 8; i++)
			draw_wqe();
		break;
	case 2:
		draw_receives();
		break;
	case 3:
		memset(to->at, (int)plx_prng_next(&prng), to->bytes);
		break;
	default:
		break;
	}
	for (uint32_t i = (uint32_t)plx_prng_below(&prng, 64); i > 0; i--) {
		uint64_t word = draw_word();

		memcpy(to->at + plx_prng_below(&prng, words) * sizeof(word), &word, sizeof(word));
	}
	/* Otherwise its queue pair would soon be one that nobody looks at. */
	if (plx_prng_below(&prng, 2))
		engine_ring_doorbell(&liar.qp->sq.doorbell);
}

/* ---- the neighbour ---- */

static void
neighbour_works(uint64_t round)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	struct plx_wc wc;

	a->memory[0] = (uint8_t)round;
	b->memory[0] = (uint8_t)~round;
	assert_int_equal(pair_recv(b, round, 0, 64), PLX_OK);
	assert_int_equal(pair_send(a, round, 0, 64, 0), PLX_OK);
	assert_int_equal(pair_reap(&pair, a->send_cq, &wc, 1, 2000), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(wc.wr_id, round);
	assert_int_equal(pair_reap(&pair, b->recv_cq, &wc, 1, 2000), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(wc.wr_id, round);
	assert_int_equal(b->memory[0], (uint8_t)round);
}

static void
a_program_that_forges_all_that_it_shares_hurts_itself_alone(void **state)
{
	const uint64_t rounds = test_asked("POLLUX_ROUNDS", 20000);
	uint64_t seed = test_asked("POLLUX_SEED", 1);
	const struct plx_engine_counters *counters;
	struct plx_async_event event;

	(void)state;
	memset(memory, GUARD, sizeof(memory));
	pair_open(&pair, false);
	pair_connect(&pair, DEPTH);
	for (uint64_t round = 0; round < rounds; round++) {
		if (round % PROGRAM_ROUNDS == 0) {
			plx_prng_init(&prng, seed);
			program_start();
		}
		peer_works();
		forge();
		pair_run(&pair, (uint32_t)plx_prng_below(&prng, 8));
		neighbour_works(round);
		assert_false(plx_engine_next_async_event(pair.side[0].engine, &event));
		if (round % PROGRAM_ROUNDS == PROGRAM_ROUNDS - 1 || round == rounds - 1) {
			program_end();
			for (uint32_t i = 0; i < MEMORY; i++)
				if (memory[0][i] != GUARD || memory[2][i] != GUARD)
					fail_msg("byte %u beside the memory of program %" PRIu64, i,
						 seed);
			seed++;
		}
	}
	/* All of it was met. */
	counters = plx_engine_counters(pair.side[0].engine);
	assert_true(counters->qps_failed > rounds / PROGRAM_ROUNDS / 4);
	assert_true(counters->posts_refused > 0 && counters->rings_forged > 0);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_forges_all_that_it_shares_hurts_itself_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
