/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several programs at one engine: each has a seat, with doorbells and events of its own. They are
 * served in turn, and what one rings reaches its own queue pairs alone. Start with program_open().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

enum {
	DEPTH = 16,
	MANY = PAIR_QPS - 2, /* queue pairs of the busy program */
};

static struct pair pair;

/* A program at the engine of side 0, whose queue pairs are joined with some of side 1. */
struct program {
	struct whole_seat *seat;
	struct plx_cq *cq, *peer_cq;
	struct plx_qp *qp[MANY], *peer[MANY];
	uint32_t qps;
};

static struct plx_cq *
make_cq(int side, struct whole_seat *seat, bool strict, uint32_t depth)
{
	const struct plx_engine_cq_config config = {.depth = depth, .strict = strict};
	struct plx_cq *cq = NULL;

	assert_int_equal(whole_cq_create_on(pair.side[side].engine, seat, &config, &cq), PLX_OK);
	return cq;
}

/* @param strict its completion queue overruns: it has room for one entry */
static void
program_open(struct program *program, uint32_t qps, bool strict)
{
	const struct pair_options options = pair_defaults(DEPTH);

	*program = (struct program){.qps = qps};
	pair_start(&pair);
	assert_int_equal(whole_seat_create(pair.side[0].engine, &program->seat), PLX_OK);
	program->cq = make_cq(0, program->seat, strict, strict ? 1 : qps * DEPTH);
	program->peer_cq = make_cq(1, NULL, false, qps * DEPTH);
	for (uint32_t i = 0; i < qps; i++) {
		program->qp[i] = pair_qp_on(&pair, 0, &options, program->cq, program->cq,
					    pair.side[0].domain);
		program->peer[i] = pair_qp_on(&pair, 1, &options, program->peer_cq,
					      program->peer_cq, pair.side[1].domain);
		pair_join(&pair, 0, program->qp[i], 1, program->peer[i], &options);
	}
	pair_stop(&pair);
}

static void
program_close(struct program *program)
{
	pair_start(&pair);
	for (uint32_t i = 0; i < program->qps; i++) {
		assert_int_equal(plx_engine_qp_destroy(program->qp[i]), PLX_OK);
		assert_int_equal(plx_engine_qp_destroy(program->peer[i]), PLX_OK);
	}
	assert_int_equal(whole_seat_destroy(program->seat), PLX_BUSY);
	assert_int_equal(plx_engine_cq_destroy(program->cq), PLX_OK);
	assert_int_equal(plx_engine_cq_destroy(program->peer_cq), PLX_OK);
	assert_int_equal(whole_seat_destroy(program->seat), PLX_OK);
	pair_stop(&pair);
}

static enum plx_status
write_by(struct plx_qp *qp)
{
	const struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	const struct plx_sge sge = {(uintptr_t)a->memory, 8, a->key};
	const struct plx_send_wr wr = {.op = PLX_WR_WRITE,
				       .sges = 1,
				       .sge = &sge,
				       .remote_va = (uintptr_t)b->memory,
				       .rkey = b->key};
	enum plx_status status;

	(void)plx_engine_qp_post_send(qp, &wr, 1, &status);
	return status;
}

static uint64_t
served(void)
{
	return plx_engine_counters(pair.side[0].engine)->doorbells;
}

static uint64_t
posted_by(const struct plx_qp *qp)
{
	return plx_rc_sq_posted(qp->back->rc);
}

/* ---- doorbells ---- */

static void
ring_all(struct whole_seat *seat)
{
	struct seat_front *front = seat->back->front;

	memset(front->summary, 0xff, sizeof(front->summary));
	memset(front->doorbells, 0xff, seat->back->doorbell_words * sizeof(front->doorbells[0]));
}

static void
a_doorbell_rung_for_others_is_not_heard(void **state)
{
	struct program mine, other;
	uint64_t before;

	(void)state;
	pair_open(&pair, false);
	program_open(&mine, 3, false);
	program_open(&other, 5, false);
	pair_run(&pair, 10);
	for (uint32_t round = 0; round < 3; round++) {
		before = served();
		ring_all(mine.seat);
		pair_run(&pair, 1);
		assert_int_equal(served() - before, 3);
		pair_run(&pair, 10);
		assert_int_equal(served() - before, 3);
	}
	program_close(&other);
	/* Slots are free again, and no program's. */
	before = served();
	ring_all(mine.seat);
	pair_run(&pair, 10);
	assert_int_equal(served() - before, 3);
	program_close(&mine);
	pair_close(&pair);
}

/* The busy program's doorbells would take all of a cycle. */
static void
a_program_with_many_busy_queue_pairs_leaves_half_to_another(void **state)
{
	struct program busy, modest;
	uint64_t by_modest = 0;

	(void)state;
	pair_open(&pair, false);
	program_open(&busy, MANY, false);
	program_open(&modest, 1, false);
	for (uint32_t round = 0; round < 100; round++) {
		uint64_t before = posted_by(modest.qp[0]);
		struct plx_wc wc[64];

		for (uint32_t i = 0; i < MANY; i++)
			(void)write_by(busy.qp[i]);
		assert_int_equal(write_by(modest.qp[0]), PLX_OK);
		/* its ring is not watched: it depends on its doorbell */
		engine_sq_set_watched(&modest.qp[0]->back->sq, false);
		engine_ring_doorbell(&modest.qp[0]->sq.doorbell);
		pair_run(&pair, 1);
		by_modest += posted_by(modest.qp[0]) - before;
		pair_run(&pair, 20);
		while (plx_engine_cq_poll(busy.cq, wc, 64) > 0)
			continue;
		while (plx_engine_cq_poll(modest.cq, wc, 64) > 0)
			continue;
	}
	assert_int_equal(by_modest, 100);
	program_close(&modest);
	program_close(&busy);
	pair_close(&pair);
}

/* ---- objects ---- */

static void
all_queues_of_a_queue_pair_are_of_one_seat(void **state)
{
	const struct plx_engine_srq_config srq_config = {.depth = 4, .sges = 1};
	struct program mine, other;
	struct plx_engine_qp_config config;
	struct plx_srq *srq;
	struct plx_qp *qp = NULL;

	(void)state;
	pair_open(&pair, false);
	program_open(&mine, 1, false);
	program_open(&other, 1, false);
	pair_start(&pair);
	config = *plx_engine_qp_config(mine.qp[0]);
	config.recv_cq = other.cq;
	assert_int_equal(plx_engine_qp_create(pair.side[0].engine, &config, &qp), PLX_INVALID);
	config.recv_cq = mine.cq;
	assert_int_equal(plx_engine_srq_create(pair.side[0].engine, &srq_config, &srq), PLX_OK);
	config.srq = srq;
	assert_int_equal(plx_engine_qp_create(pair.side[0].engine, &config, &qp), PLX_INVALID);
	assert_null(qp);
	assert_int_equal(plx_engine_srq_destroy(srq), PLX_OK);
	pair_stop(&pair);
	program_close(&other);
	program_close(&mine);
	pair_close(&pair);
}

/* ---- events ---- */

/* Fill the ring of events of a seat. */
static void
fill_events(struct whole_seat *seat)
{
	const struct plx_async_event filler = {.kind = PLX_EVENT_SQ_DRAINED};

	while (engine_eq_push(&seat->back->async_events, &filler))
		continue;
}

static void
a_program_that_takes_no_events_holds_up_nobody_elses(void **state)
{
	struct program deaf, other;
	struct plx_async_event event;
	uint32_t overruns = 0;

	(void)state;
	pair_open(&pair, false);
	program_open(&deaf, 1, true);
	program_open(&other, 1, true);
	fill_events(deaf.seat);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(write_by(deaf.qp[0]), PLX_OK);
		assert_int_equal(write_by(other.qp[0]), PLX_OK);
	}
	pair_run(&pair, 50);
	/* Its queue has overrun, and its queue pair has failed: it is told of both. */
	while (whole_seat_next_async_event(other.seat, &event))
		overruns += event.kind == PLX_EVENT_CQ_OVERRUN;
	assert_int_equal(overruns, 1);
	assert_false(plx_engine_next_async_event(pair.side[0].engine, &event));
	/* The other one's wait for it. */
	overruns = 0;
	for (uint32_t i = 0; i < 10; i++) {
		while (whole_seat_next_async_event(deaf.seat, &event))
			overruns += event.kind == PLX_EVENT_CQ_OVERRUN;
		pair_run(&pair, 1);
	}
	assert_int_equal(overruns, 1);
	program_close(&other);
	program_close(&deaf);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_doorbell_rung_for_others_is_not_heard),
		cmocka_unit_test(a_program_with_many_busy_queue_pairs_leaves_half_to_another),
		cmocka_unit_test(all_queues_of_a_queue_pair_are_of_one_seat),
		cmocka_unit_test(a_program_that_takes_no_events_holds_up_nobody_elses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
