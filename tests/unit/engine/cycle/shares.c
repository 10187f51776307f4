/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What each program has of an engine beside others (decision 41), counted in packets over many
 * cycles: programs share equally, however many queue pairs each keeps busy, with requests or as a
 * responder of READs. The peers answer at once. Start with open_programs().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "waiting.h"
#include "engine_pair.h"

enum {
	THOUSAND = 1000,
	PROGRAMS = 3,
	DEPTH = 16,      /* of a queue pair among many, and */
	DEPTH_ONE = 256, /* ... of a program's only one */
	POLLS = 10,      /* of the peer in each cycle: it keeps up with everything */
	CYCLES = 500,
};

/* What a program's queue pairs do. */
enum work {
	WRITES = 1,
	SMALL_WRITES,
	READ_FROM, /* the peer reads */
	MIXED,     /* every second one each */
};

/* A program at the engine of side 0, whose queue pairs are joined with some of side 1. */
struct program {
	struct whole_seat *seat;
	struct plx_cq *cq, *peer_cq;
	struct plx_qp *qp[THOUSAND], *peer[THOUSAND];
	uint32_t qps;
	enum work work; /* 0: idle */
};

static struct pair pair;
static struct program programs[PROGRAMS];

static struct plx_cq *
make_cq(int side, struct whole_seat *seat, uint32_t depth)
{
	const struct plx_engine_cq_config config = {.depth = depth};
	struct plx_cq *cq = NULL;

	assert_int_equal(whole_cq_create_on(pair.side[side].engine, seat, &config, &cq), PLX_OK);
	return cq;
}

/* @param loops every queue pair's peer is on the same side */
static void
program_open(struct program *program, uint32_t qps, bool loops)
{
	uint32_t depth = qps > 1 ? DEPTH : DEPTH_ONE;
	struct pair_options options = pair_defaults(depth);
	int there = loops ? 0 : 1;

	options.sges = 1;
	options.inline_bytes = 0;
	options.attr.ack_timeout_ns = 10 * PLX_SEC;
	*program = (struct program){.qps = qps};
	pair_start(&pair);
	assert_int_equal(whole_seat_create(pair.side[0].engine, &program->seat), PLX_OK);
	program->cq = make_cq(0, program->seat, qps * depth);
	program->peer_cq = make_cq(there, loops ? program->seat : NULL, qps * depth);
	for (uint32_t i = 0; i < qps; i++) {
		program->qp[i] = pair_qp_on(&pair, 0, &options, program->cq, program->cq,
					    pair.side[0].domain);
		program->peer[i] = pair_qp_on(&pair, there, &options, program->peer_cq,
					      program->peer_cq, pair.side[there].domain);
		pair_join(&pair, 0, program->qp[i], there, program->peer[i], &options);
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
	assert_int_equal(plx_engine_cq_destroy(program->cq), PLX_OK);
	assert_int_equal(plx_engine_cq_destroy(program->peer_cq), PLX_OK);
	assert_int_equal(whole_seat_destroy(program->seat), PLX_OK);
	pair_stop(&pair);
	program->qps = 0;
}

/* @param qps [PROGRAMS] of each; 0: there is no such program */
static void
open_programs(const uint32_t *qps)
{
	pair_open_with(&pair, &(struct pair_setup){.qps = 2 * THOUSAND});
	for (uint32_t i = 0; i < PROGRAMS; i++)
		if (qps[i] > 0)
			program_open(&programs[i], qps[i], false);
}

/* No seat and no queue pair is left in any list. */
static void
assert_nobody_waits(void)
{
	const struct plx_engine *engine = pair.side[0].engine;

	assert_int_equal(engine->ready_count, 0);
	for (uint32_t kind = 0; kind < WAIT_KINDS; kind++) {
		assert_int_equal(engine->queues.rotations[kind].count, 0);
		assert_true(plx_list_empty(&engine->queues.rotations[kind].seats));
	}
}

static void
close_programs(void)
{
	pair.side[0].port.take = 0;
	pair.side[0].port.refuse = 0;
	for (uint32_t i = 0; i < PROGRAMS; i++)
		if (programs[i].qps > 0)
			program_close(&programs[i]);
	assert_nobody_waits();
	pair_close(&pair);
}

/* As many requests of this queue pair as its queue holds. */
static void
fill(struct plx_qp *qp, const struct pair_side *from, const struct pair_side *to, enum work work)
{
	const struct plx_sge sge = {(uintptr_t)from->memory, work == SMALL_WRITES ? 8 : PAIR_BYTES,
				    from->key};
	const struct plx_send_wr wr = {.op = work == READ_FROM ? PLX_WR_READ : PLX_WR_WRITE,
				       .sges = 1,
				       .sge = &sge,
				       .remote_va = (uintptr_t)to->memory,
				       .rkey = to->key};
	enum plx_status status;

	while (plx_engine_qp_post_send(qp, &wr, 1, &status) == 1)
		continue;
}

static void
keep_busy(struct program *program)
{
	const struct pair_side *a = &pair.side[0], *b = &pair.side[1];

	for (uint32_t i = 0; program->work != 0 && i < program->qps; i++) {
		enum work work = program->work;

		if (work == MIXED)
			work = i % 2 != 0 ? WRITES : READ_FROM;
		if (work == READ_FROM)
			fill(program->peer[i], b, a, work);
		else
			fill(program->qp[i], a, b, work);
		if (program->work == MIXED && program->qps == 1)
			fill(program->qp[i], a, b, WRITES);
	}
}

/* None may fail. */
static void
reap(struct plx_cq *cq)
{
	struct plx_wc wc[64];
	uint32_t n;

	while ((n = plx_engine_cq_poll(cq, wc, 64)) > 0)
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(wc[i].status, PLX_WC_SUCCESS);
}

static void
run(uint32_t cycles)
{
	while (cycles-- > 0) {
		for (uint32_t i = 0; i < PROGRAMS; i++)
			keep_busy(&programs[i]);
		pair.now += PLX_USEC;
		plx_engine_poll(pair.side[0].engine, pair.now);
		for (uint32_t i = 0; i < POLLS; i++)
			plx_engine_poll(pair.side[1].engine, pair.now);
		for (uint32_t i = 0; i < PROGRAMS; i++) {
			if (programs[i].qps == 0)
				continue;
			reap(programs[i].cq);
			reap(programs[i].peer_cq);
		}
	}
}

static uint64_t
sent_by(const struct plx_qp *qp)
{
	const struct plx_rc_counters *c = plx_engine_qp_counters(qp);

	return c->requests_sent + c->responses_sent;
}

static uint64_t
total_of(const struct program *program)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < program->qps; i++)
		sum += sent_by(program->qp[i]);
	return sum;
}

/* What each program sends in so many cycles.
 * @param sent [PROGRAMS] */
static void
measure(uint32_t cycles, uint64_t *sent)
{
	for (uint32_t i = 0; i < PROGRAMS; i++)
		sent[i] = total_of(&programs[i]);
	run(cycles);
	for (uint32_t i = 0; i < PROGRAMS; i++)
		sent[i] = total_of(&programs[i]) - sent[i];
}

/* ---- shares ---- */

/* Its packets in a cycle, and its part of all packets: where the port takes all, the others make
 * cycles longer. */
static void
a_queue_pair_beside_a_thousand_busy_ones_has_half_of_what_it_has_alone(void **state)
{
	static const uint32_t takes[] = {0, 1, 16, 33, 100};

	(void)state;
	for (enum work work = WRITES; work <= MIXED; work++) {
		struct program *one = &programs[0], *many = &programs[1];
		uint64_t alone[PLX_COUNT_OF(takes)][PROGRAMS], beside[PROGRAMS];

		open_programs((const uint32_t[]){1, THOUSAND - 1, 0});
		one->work = work;
		for (size_t t = 0; t < PLX_COUNT_OF(takes); t++) {
			pair.side[0].port.take = takes[t];
			run(CYCLES);
			measure(CYCLES, alone[t]);
			assert_true(alone[t][0] * 10 >= CYCLES * 9 && alone[t][1] == 0);
		}
		many->work = work;
		for (size_t t = 0; t < PLX_COUNT_OF(takes); t++) {
			pair.side[0].port.take = takes[t];
			run(CYCLES);
			measure(CYCLES, beside);
			assert_true(beside[0] * 20 >= alone[t][0] * 8);
			assert_true(beside[0] * 10 >= (beside[0] + beside[1]) * 4);
		}
		close_programs();
	}
}

/* @param parts programs, which have sent alike */
static void
assert_parts(const uint64_t *sent, uint32_t parts)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < parts; i++)
		sum += sent[i];
	for (uint32_t i = 0; i < parts; i++) {
		assert_true(sent[i] * parts * 100 >= sum * 95);
		assert_true(sent[i] * parts * 100 <= sum * 105);
	}
}

static void
share_alike(const uint32_t *qps, uint32_t parts)
{
	static const uint32_t takes[] = {0, 1, 33, 100};

	open_programs(qps);
	for (enum work work = WRITES; work <= MIXED; work++) {
		for (size_t t = 0; t < PLX_COUNT_OF(takes); t++) {
			uint64_t sent[PROGRAMS];

			pair.side[0].port.take = takes[t];
			for (uint32_t i = 0; i < parts; i++)
				programs[i].work = work;
			run(CYCLES);
			/* many times a turn of each */
			measure(takes[t] == 1 ? 6 * CYCLES : CYCLES, sent);
			assert_parts(sent, parts);
		}
	}
	close_programs();
}

static void
two_programs_with_equal_demands_share_equally(void **state)
{
	(void)state;
	share_alike((const uint32_t[]){200, 200, 0}, 2);
	share_alike((const uint32_t[]){2, 2, 0}, 2);
}

static void
three_programs_share_by_thirds_however_many_queue_pairs_each_has(void **state)
{
	(void)state;
	share_alike((const uint32_t[]){10, 1, 300}, 3);
}

/* To a cycle, what it sends beside programs that do nothing is what it sends alone. */
static void
an_idle_program_costs_nothing(void **state)
{
	uint64_t alone[PROGRAMS], beside[PROGRAMS];

	(void)state;
	for (enum work work = WRITES; work <= MIXED; work++) {
		open_programs((const uint32_t[]){10, 0, 0});
		programs[0].work = work;
		measure(CYCLES, alone);
		close_programs();
		open_programs((const uint32_t[]){10, 500, 1});
		programs[0].work = work;
		measure(CYCLES, beside);
		close_programs();
		assert_int_equal(beside[0], alone[0]);
	}
}

/* ---- within a program ---- */

/* From any cycle to any later one, none is a second quantum ahead of another. */
static void
queue_pairs_of_a_program_are_served_first_come_first_served(void **state)
{
	static const uint32_t takes[] = {0, 33};
	enum {
		N = 30
	};
	uint64_t before[N];

	(void)state;
	for (size_t t = 0; t < PLX_COUNT_OF(takes); t++) {
		open_programs((const uint32_t[]){N, N, 1});
		pair.side[0].port.take = takes[t];
		for (uint32_t i = 0; i < PROGRAMS; i++)
			programs[i].work = WRITES;
		run(CYCLES);
		for (uint32_t i = 0; i < N; i++)
			before[i] = sent_by(programs[0].qp[i]);
		for (uint32_t c = 0; c < 2 * CYCLES; c++) {
			uint64_t least = UINT64_MAX, most = 0;

			run(1);
			for (uint32_t i = 0; i < N; i++) {
				uint64_t sent = sent_by(programs[0].qp[i]) - before[i];

				least = plx_time_min(least, sent);
				most = sent > most ? sent : most;
			}
			assert_true(most - least <= 2 * QUANTUM_MIN);
		}
		assert_true(total_of(&programs[0]) >= 2 * CYCLES * 33 / PROGRAMS);
		close_programs();
	}
}

/* ---- doorbells ---- */

/* What the engine has fetched, of a thousand queue pairs that have all rung, is what it sends soon:
 * but all of it, when the port is stuck. */
static void
doorbells_wait_while_a_program_has_enough_to_send(void **state)
{
	struct program *many = &programs[0];
	struct plx_engine *engine;
	uint32_t most = 0;

	(void)state;
	open_programs((const uint32_t[]){THOUSAND, 0, 0});
	engine = pair.side[0].engine;
	plx_engine_set_company(engine, true);
	many->work = SMALL_WRITES;
	for (uint32_t c = 0; c < 2 * CYCLES; c++) {
		run(1);
		if (engine->ready_count > most)
			most = engine->ready_count;
	}
	assert_in_range(most, PLX_PORT_BURST, PLX_PORT_BURST + DOORBELLS_BURST);
	for (uint32_t i = 0; i < many->qps; i++)
		assert_true(sent_by(many->qp[i]) > 0);
	pair.side[0].port.refuse = UINT32_MAX;
	for (uint32_t c = 0; c < THOUSAND / DOORBELLS_BURST + 3; c++) {
		run(1);
		pair.now += LATE_NS / 3;
	}
	assert_in_range(engine->ready_count, THOUSAND / 2, THOUSAND);
	close_programs();
}

/* ---- what does not need the port ---- */

/* The engine is ours while nobody polls it. */
static void
fail_all(struct program *program)
{
	for (uint32_t i = 0; i < program->qps; i++)
		assert_int_equal(engine_qp_modify(program->qp[i]->back, PLX_QP_ERROR, NULL, NULL),
				 PLX_OK);
}

static uint32_t
flushed(struct plx_cq *cq)
{
	struct plx_wc wc[64];
	uint32_t n, sum = 0;

	while ((n = plx_engine_cq_poll(cq, wc, 64)) > 0)
		sum += n;
	return sum;
}

/* It need not wait until all of the others' have been flushed, which takes them many cycles. */
static void
a_program_is_flushed_in_turn_with_one_that_has_a_thousand_to_flush(void **state)
{
	struct program *one = &programs[0], *many = &programs[1];
	uint32_t cycles = 0, done = 0;

	(void)state;
	open_programs((const uint32_t[]){1, THOUSAND - 1, 0});
	pair.side[0].port.refuse = UINT32_MAX;
	one->work = many->work = WRITES;
	run(100);
	one->work = many->work = 0;
	fail_all(many);
	fail_all(one);
	for (; done < DEPTH_ONE && cycles < 100; cycles++) {
		pair_run(&pair, 1);
		done += flushed(one->cq);
	}
	assert_int_equal(done, DEPTH_ONE);
	assert_in_range(cycles, 1, DEPTH_ONE / 8);
	assert_in_range(flushed(many->cq), 1, cycles * FLUSH_BURST * DEPTH);
	pair_run(&pair, 2 * THOUSAND / FLUSH_BURST);
	close_programs();
}

/* The peer of each writes 8 bytes, while the port takes nothing: more ACKs than there is room for.
 * Then one packet leaves in each cycle, and one ACK finds room. */
static void
an_ack_that_found_no_room_waits_for_one_of_each_other_program(void **state)
{
	struct program *one = &programs[0], *many = &programs[1];
	const struct rotation *owing;
	uint32_t cycles = 0;

	(void)state;
	open_programs((const uint32_t[]){1, TX_ROOM + 50, 0});
	owing = &pair.side[0].engine->queues.rotations[WAIT_ACK_PORT];
	pair.side[0].port.refuse = UINT32_MAX;
	for (uint32_t i = 0; i < many->qps; i++)
		fill(many->peer[i], &pair.side[1], &pair.side[0], SMALL_WRITES);
	pair_run(&pair, 500);
	assert_int_equal(owing->count, 1);
	fill(one->peer[0], &pair.side[1], &pair.side[0], SMALL_WRITES);
	pair_run(&pair, 100);
	assert_int_equal(owing->count, 2);
	pair.side[0].port.refuse = 0;
	pair.side[0].port.take = 1;
	for (; plx_engine_qp_counters(one->qp[0])->acks_sent == 0 && cycles < 100; cycles++)
		pair_run(&pair, 1);
	assert_in_range(cycles, 1, 4);
	close_programs();
}

static void
two_programs_that_send_to_their_own_port_share_it(void **state)
{
	uint64_t sent[PROGRAMS];

	(void)state;
	open_programs((const uint32_t[]){0, 0, 0});
	program_open(&programs[0], 1, true);
	program_open(&programs[1], THOUSAND / 4, true);
	for (uint32_t i = 0; i < 2; i++)
		programs[i].work = WRITES;
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < programs[i].qps; k++)
			fill(programs[i].qp[k], &pair.side[0], &pair.side[0], WRITES);
	for (uint32_t i = 0; i < 2; i++)
		programs[i].work = 0;
	measure(2 * CYCLES, sent);
	assert_true(sent[0] > CYCLES);
	assert_parts(sent, 2);
	pair_run(&pair, 4 * CYCLES);
	close_programs();
}

/* ---- ends ---- */

/* Queue pairs wait for the port, for our own port, to flush and to acknowledge, when they and then
 * their seat are destroyed; the other program goes on. */
static void
a_program_ends_with_queue_pairs_in_every_list(void **state)
{
	const struct plx_engine *engine;
	struct program *ends = &programs[0], *stays = &programs[1], *loops = &programs[2];
	uint64_t sent[PROGRAMS];

	(void)state;
	open_programs((const uint32_t[]){TX_ROOM + 50, 20, 0});
	program_open(loops, 20, true);
	engine = pair.side[0].engine;
	pair.side[0].port.refuse = UINT32_MAX;
	stays->work = WRITES;
	for (uint32_t i = 0; i < ends->qps; i++)
		fill(ends->peer[i], &pair.side[1], &pair.side[0], SMALL_WRITES);
	for (uint32_t i = 0; i < loops->qps; i++)
		fill(loops->qp[i], &pair.side[0], &pair.side[0], WRITES);
	run(200);
	for (uint32_t i = 0; i < 20; i++)
		fill(ends->qp[i], &pair.side[0], &pair.side[1], WRITES);
	run(10);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(engine_qp_modify(ends->qp[i]->back, PLX_QP_ERROR, NULL, NULL),
				 PLX_OK);
		assert_int_equal(engine_qp_modify(loops->qp[i]->back, PLX_QP_ERROR, NULL, NULL),
				 PLX_OK);
	}
	for (uint32_t kind = 0; kind < WAIT_ACK_LOOP; kind++)
		assert_true(engine->queues.rotations[kind].count > 0);
	program_close(ends);
	program_close(loops);
	pair.side[0].port.refuse = 0;
	measure(CYCLES, sent);
	assert_true(sent[1] > 100 * CYCLES);
	close_programs();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_queue_pair_beside_a_thousand_busy_ones_has_half_of_what_it_has_alone),
		cmocka_unit_test(two_programs_with_equal_demands_share_equally),
		cmocka_unit_test(three_programs_share_by_thirds_however_many_queue_pairs_each_has),
		cmocka_unit_test(an_idle_program_costs_nothing),
		cmocka_unit_test(queue_pairs_of_a_program_are_served_first_come_first_served),
		cmocka_unit_test(doorbells_wait_while_a_program_has_enough_to_send),
		cmocka_unit_test(
			a_program_is_flushed_in_turn_with_one_that_has_a_thousand_to_flush),
		cmocka_unit_test(an_ack_that_found_no_room_waits_for_one_of_each_other_program),
		cmocka_unit_test(two_programs_that_send_to_their_own_port_share_it),
		cmocka_unit_test(a_program_ends_with_queue_pairs_in_every_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
