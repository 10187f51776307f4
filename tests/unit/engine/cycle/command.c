/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that the engine's thread executes: issued by more threads at once than there are slots, and
 * timing out when nobody polls. Start with calls_time_out_together().
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

enum {
	CALLERS = COMMANDS_MAX + 8,
	CALLS = 50
};

static struct pair pair;

struct caller {
	pthread_t thread;
	uint32_t calls;
	enum plx_status status; /* of the last one */
	uint32_t wrong;
	uint64_t took_ns;
};

static void *
query_often(void *arg)
{
	struct caller *caller = arg;
	struct plx_qp *qp = pair.side[0].qp;

	for (uint32_t i = 0; i < caller->calls; i++) {
		struct plx_rc_view view = {0};
		uint64_t start = plx_clock_ns();

		caller->status = plx_engine_qp_query(qp, &view);
		caller->took_ns = plx_clock_ns() - start;
		if (caller->status == PLX_OK && (view.qpn != plx_engine_qp_number(qp) ||
						 view.state != PLX_QP_RTS || view.sq_depth != 16))
			caller->wrong++;
	}
	return NULL;
}

static void
all_call(struct caller *callers, uint32_t calls)
{
	for (uint32_t i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller){.calls = calls, .status = PLX_STATUS_COUNT};
		assert_int_equal(pthread_create(&callers[i].thread, NULL, query_often, &callers[i]),
				 0);
	}
}

static void
all_end(struct caller *callers)
{
	for (uint32_t i = 0; i < CALLERS; i++)
		pthread_join(callers[i].thread, NULL);
}

static void
more_threads_than_slots_are_all_served(void **state)
{
	struct caller callers[CALLERS];
	uint64_t before;
	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	before = plx_engine_counters(pair.side[0].engine)->commands;
	pair_start(&pair);
	all_call(callers, CALLS);
	all_end(callers);
	pair_stop(&pair);
	for (uint32_t i = 0; i < CALLERS; i++) {
		assert_int_equal(callers[i].status, PLX_OK);
		assert_int_equal(callers[i].wrong, 0);
	}
	assert_int_equal(plx_engine_counters(pair.side[0].engine)->commands - before,
			 CALLERS * CALLS);
	pair_close(&pair);
}

/* All of them wait at the same time, so that the test lasts one timeout. */
static void
calls_time_out_together_when_nobody_polls(void **state)
{
	struct plx_engine *engine;
	struct caller callers[CALLERS];
	uint64_t before;
	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	engine = pair.side[0].engine;
	before = plx_engine_counters(engine)->commands;
	all_call(callers, 1);
	all_end(callers);
	for (uint32_t i = 0; i < CALLERS; i++) {
		assert_int_equal(callers[i].status, PLX_TIMEOUT);
		assert_true(callers[i].took_ns >= PLX_COMMAND_TIMEOUT_NS);
		/* all at the same time: in sequence they would take longer */
		assert_true(callers[i].took_ns < 2 * PLX_COMMAND_TIMEOUT_NS);
	}
	for (uint32_t i = 0; i < COMMANDS_MAX; i++)
		assert_int_equal(atomic_load(&engine->slots[i].state), SLOT_CANCELLED);
	/* None of them is executed when somebody polls again, and all slots are free. */
	pair_run(&pair, COMMANDS_MAX);
	assert_int_equal(plx_engine_counters(engine)->commands, before);
	for (uint32_t i = 0; i < COMMANDS_MAX; i++)
		assert_int_equal(atomic_load(&engine->slots[i].state), SLOT_FREE);
	pair_start(&pair);
	all_call(callers, 2);
	all_end(callers);
	pair_stop(&pair);
	for (uint32_t i = 0; i < CALLERS; i++) {
		assert_int_equal(callers[i].status, PLX_OK);
		assert_int_equal(callers[i].wrong, 0);
	}
	pair_close(&pair);
}

static enum plx_status
count_call(struct plx_engine *engine, void *call)
{
	uint32_t *executed = call;

	(void)engine;
	(*executed)++;
	return PLX_BUSY; /* any status that no other slot has */
}

static void
a_cycle_executes_a_few_and_the_rest_later(void **state)
{
	struct plx_engine *engine;
	uint32_t index[COMMANDS_BURST + 1];
	uint32_t executed = 0;
	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	engine = pair.side[0].engine;
	for (uint32_t i = 0; i <= COMMANDS_BURST; i++) {
		engine->slots[i].execute = count_call;
		engine->slots[i].call = &executed;
		atomic_store(&engine->slots[i].state, SLOT_PENDING);
		index[i] = i;
	}
	assert_int_equal(
		plx_ring_enqueue(engine->command_ring, sizeof(index[0]), index, COMMANDS_BURST + 1),
		COMMANDS_BURST + 1);
	pair_run(&pair, 1);
	assert_int_equal(atomic_load(&engine->slots[COMMANDS_BURST - 1].state), SLOT_DONE);
	assert_int_equal(atomic_load(&engine->slots[COMMANDS_BURST].state), SLOT_PENDING);
	assert_int_equal(executed, COMMANDS_BURST);
	pair_run(&pair, 1);
	assert_int_equal(atomic_load(&engine->slots[COMMANDS_BURST].state), SLOT_DONE);
	assert_int_equal(executed, COMMANDS_BURST + 1);
	for (uint32_t i = 0; i <= COMMANDS_BURST; i++) {
		assert_int_equal(engine->slots[i].status, PLX_BUSY);
		atomic_store(&engine->slots[i].state, SLOT_FREE);
	}
	pair_close(&pair);
}

static void *
make_a_queue_pair(void *arg)
{
	struct pair_side *side = &pair.side[0];
	const struct plx_engine_qp_config config = {
		.type = PLX_QP_RC,
		.domain = side->domain,
		.send_cq = side->send_cq,
		.recv_cq = side->recv_cq,
		.caps = {.sq_depth = 4, .sq_sges = 1, .responder_resources = 1},
		.rq_depth = 4,
		.rq_sges = 1,
	};
	struct caller *caller = arg;
	struct plx_qp *qp = NULL;

	caller->status = plx_engine_qp_create(side->engine, &config, &qp);
	if (caller->status == PLX_OK)
		caller->status = plx_engine_qp_destroy(qp);
	return NULL;
}

static bool
is_pending(const struct plx_engine *engine)
{
	for (uint32_t i = 0; i < COMMANDS_MAX; i++)
		if (atomic_load(&engine->slots[i].state) == SLOT_PENDING)
			return true;
	return false;
}

static uint64_t
commands(const struct plx_engine *engine)
{
	return plx_engine_counters(engine)->commands;
}

/* The engine assigns a number, then stops: only the engine knows the number. */
static void
a_queue_pair_that_was_made_half_way_is_forgotten_by_who_makes_the_next(void **state)
{
	struct caller caller = {.status = PLX_STATUS_COUNT};
	struct plx_engine *engine;
	uint32_t before;
	(void)state;
	pair_open(&pair, false);
	pair_connect(&pair, 16);
	engine = pair.side[0].engine;
	before = engine->qp_count;
	assert_int_equal(pthread_create(&caller.thread, NULL, make_a_queue_pair, &caller), 0);
	while (!is_pending(engine))
		sched_yield();
	/* It is pending a moment before it is in the ring: cycles until the engine has seen it. */
	for (uint64_t executed = commands(engine); commands(engine) == executed;)
		pair_run(&pair, 1);
	assert_int_equal(engine->qp_count, before + 1);
	assert_int_equal(pthread_join(caller.thread, NULL), 0);
	assert_int_equal(caller.status, PLX_TIMEOUT);
	assert_int_equal(engine->qp_count, before + 1);
	pair_start(&pair);
	(void)make_a_queue_pair(&caller);
	pair_stop(&pair);
	assert_int_equal(caller.status, PLX_OK);
	assert_int_equal(engine->qp_count, before);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_threads_than_slots_are_all_served),
		cmocka_unit_test(calls_time_out_together_when_nobody_polls),
		cmocka_unit_test(a_cycle_executes_a_few_and_the_rest_later),
		cmocka_unit_test(
			a_queue_pair_that_was_made_half_way_is_forgotten_by_who_makes_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
