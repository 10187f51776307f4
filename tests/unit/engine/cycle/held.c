/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread that the scheduler or a debugger suspends in the middle of a post, a poll or an arming,
 * at each of the steps of lib/engine/front/plx_steps.h in turn. Meanwhile each cycle of the engine
 * returns and every other queue pair is served; when the thread resumes, its request completes. An
 * engine that waited for the thread would never return: the alarm detects that. Start with the
 * table of tests at the end, then hold().
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"
#include "plx_steps.h"

enum {
	DEPTH = 128,
	CYCLES = 300, /* that the engine makes beside a thread that is held */
	SOON = 50,    /* cycles in which another queue pair's request is done */
	LIMIT_S = 60, /* for a thread to come to its step, or an engine to its cycle's end */
};

static struct pair pair;
static struct pair_side *const a = &pair.side[0], *const b = &pair.side[1];

/* ---- the thread that is held ---- */

static _Thread_local enum plx_step stop_at;
static atomic_bool reached, go, ended;

/* Called by the engine's sources at each step of any thread. */
void
plx_step(enum plx_step step)
{
	if (step != stop_at || step == STEP_NONE)
		return;
	stop_at = STEP_NONE;
	atomic_store(&reached, true);
	while (!atomic_load(&go))
		usleep(50);
}

struct held {
	enum plx_step step;
	void (*act)(void *);
	void *arg;
	pthread_t thread;
};

static void *
act_until_step(void *arg)
{
	struct held *held = arg;

	stop_at = held->step;
	held->act(held->arg);
	atomic_store(&ended, true);
	return NULL;
}

/* Start a thread that acts, and wait until it is held at the step. Returns: whether it came there;
 * if not it has ended */
static bool
hold(struct held *held)
{
	atomic_store(&reached, false);
	atomic_store(&go, false);
	atomic_store(&ended, false);
	assert_int_equal(pthread_create(&held->thread, NULL, act_until_step, held), 0);
	while (!atomic_load(&reached) && !atomic_load(&ended))
		usleep(50);
	return atomic_load(&reached);
}

static void
let_go(struct held *held)
{
	atomic_store(&go, true);
	pthread_join(held->thread, NULL);
}

static void
on_alarm(int number)
{
	static const char text[] = "a cycle of the engine waits for a thread that is held\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

/* ---- the scene: a queue pair whose thread is held, and others beside it ---- */

/* Queue pairs of side a whose doorbells are in one word; the first is the held thread's. */
static struct plx_qp *mine, *peer, *other, *other_peer;
static struct plx_cq *my_cq; /* of its sends and its receives, and of nobody else's */

/* Join two new queue pairs, the next of each side. */
static void
join_next(struct plx_qp **one, struct plx_qp **two, const struct pair_options *options)
{
	*one = pair_qp(&pair, 0, options);
	*two = pair_qp(&pair, 1, options);
	pair_join(&pair, 0, *one, 1, *two, options);
}

static void
scene_open(bool shared)
{
	struct pair_options options = pair_defaults(DEPTH);
	struct plx_qp *spare[PAIR_QPS][2];
	uint32_t spares = 0;

	options.shared = shared;
	options.attr.ack_timeout_ns = PLX_SEC;
	options.cq_depth = 8 * DEPTH;
	pair_open(&pair, false);
	pair_start(&pair);
	options.one_cq = true;
	pair_make_queues(&pair, &options);
	join_next(&mine, &peer, &options);
	my_cq = a->send_cq;
	PLX_ASSERT(plx_engine_cq_create(a->engine,
					&(struct plx_engine_cq_config){.depth = options.cq_depth},
					&a->send_cq) == PLX_OK);
	a->recv_cq = a->send_cq;
	do {
		PLX_ASSERT(spares < PLX_COUNT_OF(spare));
		join_next(&spare[spares][0], &spare[spares][1], &options);
		spares++;
	} while (spare[spares - 1][0]->sq.doorbell.word != mine->sq.doorbell.word);
	other = spare[spares - 1][0];
	other_peer = spare[spares - 1][1];
	for (uint32_t i = 0; i + 1 < spares; i++) {
		PLX_ASSERT(plx_engine_qp_destroy(spare[i][0]) == PLX_OK);
		PLX_ASSERT(plx_engine_qp_destroy(spare[i][1]) == PLX_OK);
	}
	pair_stop(&pair);
}

static void
scene_close(void)
{
	pair_start(&pair);
	PLX_ASSERT(plx_engine_qp_destroy(mine) == PLX_OK);
	PLX_ASSERT(plx_engine_qp_destroy(peer) == PLX_OK);
	PLX_ASSERT(plx_engine_qp_destroy(other) == PLX_OK);
	PLX_ASSERT(plx_engine_qp_destroy(other_peer) == PLX_OK);
	PLX_ASSERT(plx_engine_cq_destroy(my_cq) == PLX_OK);
	pair_stop(&pair);
	a->qp = b->qp = NULL;
	pair_close(&pair);
}

/* Cycles of both engines, each of which has to end. */
static void
run(uint32_t cycles)
{
	alarm(LIMIT_S);
	pair_run(&pair, cycles);
	alarm(0);
}

static enum plx_status
write_by(struct plx_qp *qp, uint64_t wr_id)
{
	a->qp = qp;
	return pair_write(a, b, wr_id, 0, 8, 0);
}

/* Another queue pair's request and its reply take the usual time. */
static void
others_go_on(void)
{
	struct plx_wc wc;
	uint32_t cycles = 0;

	assert_int_equal(write_by(other, 4711), PLX_OK);
	do {
		assert_true(cycles++ < SOON);
		run(1);
	} while (plx_engine_cq_poll(a->send_cq, &wc, 1) == 0 || wc.wr_id != 4711);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
}

/* Completions of `cq` with this wr_id, within `cycles`. */
static uint32_t
count_done(struct plx_cq *cq, uint64_t wr_id, uint32_t cycles)
{
	uint32_t found = 0;
	struct plx_wc wc;

	while (cycles-- > 0) {
		run(1);
		while (plx_engine_cq_poll(cq, &wc, 1) == 1) {
			assert_int_equal(wc.status, PLX_WC_SUCCESS);
			found += wc.wr_id == wr_id;
		}
	}
	return found;
}

/* ---- what threads do ---- */

static enum plx_status posted;

static void
post_send(void *arg)
{
	const struct plx_sge sge = {(uintptr_t)a->memory, 8, a->key};
	const struct plx_send_wr wr = {.wr_id = 9,
				       .op = PLX_WR_WRITE,
				       .sges = 1,
				       .sge = &sge,
				       .remote_va = (uintptr_t)b->memory,
				       .rkey = b->key};

	(void)arg;
	plx_engine_qp_post_send(mine, &wr, 1, &posted);
}

static void
post_bind(void *arg)
{
	(void)arg;
	posted = plx_engine_qp_post_bind(mine, 9, 0, (struct plx_key){0});
}

static void
post_recv(void *arg)
{
	const struct plx_sge sge = {(uintptr_t)a->memory, 64, a->key};
	const struct plx_recv_wr wr = {.wr_id = 9, .sge = &sge, .sges = 1};

	(void)arg;
	if (a->srq != NULL)
		plx_post_srq_recv(a->srq, &wr, 1, &posted);
	else
		plx_post_recv(mine, &wr, 1, &posted);
}

/* The doorbell of a request that was posted with DEFER. */
static void
ring_only(void *arg)
{
	(void)arg;
	plx_engine_qp_ring_doorbell(mine);
	posted = PLX_OK;
}

static uint32_t polled;

static void
poll_one(void *arg)
{
	struct plx_wc wc;

	(void)arg;
	polled = plx_engine_cq_poll(my_cq, &wc, 1);
}

static uint32_t fired_at_once;

static void
arm_any(void *arg)
{
	(void)arg;
	posted = plx_cq_arm(my_cq, PLX_CQ_NOTIFY_ANY, &fired_at_once);
}

/* ---- tests ---- */

/* The state of a queue pair when its thread was stopped. */
enum before {
	FRESH,   /* never posted to: its ring is not watched */
	WATCHED, /* posted to a moment ago */
	BURST, /* as many requests in its ring as are taken in one cycle: the engine comes again */
	BEFORES,
};

static void
prepare(enum before before)
{
	switch (before) {
	case FRESH:
		break;
	case WATCHED:
		assert_int_equal(write_by(mine, 1), PLX_OK);
		assert_int_equal(count_done(my_cq, 1, SOON), 1);
		assert_true(mine->back->sq.watched);
		break;
	case BURST:
		for (uint32_t i = 0; i < POSTS_BURST; i++)
			assert_int_equal(write_by(mine, 1), PLX_OK);
		break;
	case BEFORES:
		break;
	}
}

/* Of all steps, those that a thread comes to while it does this. Returns: how many */
static uint32_t
hold_at_each(void (*act)(void *), enum before before, bool shared, bool receives)
{
	uint32_t came = 0;

	for (enum plx_step step = STEP_NONE + 1; step < STEP_COUNT; step++) {
		struct held held = {.step = step, .act = act};
		bool stopped;

		scene_open(shared);
		prepare(before);
		stopped = hold(&held);
		came += stopped;
		if (stopped) {
			run(CYCLES);
			others_go_on();
			run(CYCLES);
			others_go_on();
		}
		let_go(&held);
		assert_int_equal(posted, PLX_OK);
		if (receives) {
			b->qp = peer;
			assert_int_equal(pair_send(b, 2, 0, 8, 0), PLX_OK);
		}
		assert_int_equal(count_done(my_cq, 9, 2 * SOON), 1);
		scene_close();
	}
	return came;
}

static void
a_held_poster_of_sends_holds_nobody_else(void **state)
{
	(void)state;
	/* A ring that is watched needs no doorbell. */
	assert_int_equal(hold_at_each(post_send, FRESH, false, false), 10);
	assert_int_equal(hold_at_each(post_send, WATCHED, false, false), 7);
	assert_int_equal(hold_at_each(post_send, BURST, false, false), 10);
}

static void
a_held_poster_of_binds_holds_nobody_else(void **state)
{
	(void)state;
	assert_int_equal(hold_at_each(post_bind, FRESH, false, false), 10);
	assert_int_equal(hold_at_each(post_bind, WATCHED, false, false), 7);
	assert_int_equal(hold_at_each(post_bind, BURST, false, false), 10);
}

static void
a_held_poster_of_receives_holds_nobody_else(void **state)
{
	(void)state;
	assert_int_equal(hold_at_each(post_recv, FRESH, false, true), 5);
	assert_int_equal(hold_at_each(post_recv, WATCHED, false, true), 5);
}

static void
a_held_poster_of_a_shared_queue_holds_nobody_else(void **state)
{
	(void)state;
	assert_int_equal(hold_at_each(post_recv, FRESH, true, true), 5);
	assert_int_equal(hold_at_each(post_recv, WATCHED, true, true), 5);
}

/* Requests that were deferred, and the doorbell for all of them. */
static void
a_held_ringer_holds_nobody_else(void **state)
{
	const struct plx_sge sge = {.length = 8};
	uint32_t came = 0;

	(void)state;
	for (enum plx_step step = STEP_NONE + 1; step < STEP_COUNT; step++) {
		struct plx_send_wr wr = {.wr_id = 9,
					 .op = PLX_WR_WRITE,
					 .flags = PLX_WR_DEFER,
					 .sges = 1,
					 .sge = &sge};
		struct plx_sge mine_sge = sge;
		struct held held = {.step = step, .act = ring_only};

		scene_open(false);
		mine_sge.va = (uintptr_t)a->memory;
		mine_sge.key = a->key;
		wr.sge = &mine_sge;
		wr.remote_va = (uintptr_t)b->memory;
		wr.rkey = b->key;
		assert_int_equal(plx_engine_qp_post_send(mine, &wr, 1, NULL), 1);
		if (hold(&held)) {
			came++;
			run(CYCLES);
			others_go_on();
		}
		let_go(&held);
		assert_int_equal(count_done(my_cq, 9, 2 * SOON), 1);
		scene_close();
	}
	assert_int_equal(came, 6);
}

/* A poll in progress keeps the entries occupied: new completions wait behind the ring. */
static void
a_held_poller_holds_nobody_else(void **state)
{
	static const enum plx_step steps[] = {STEP_POLL_BEGUN, STEP_POLL_COPIED};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(steps); i++) {
		struct held held = {.step = steps[i], .act = poll_one};
		const uint32_t receives = DEPTH;
		uint32_t got = 0;

		scene_open(false);
		b->qp = peer;
		a->qp = mine;
		for (uint32_t k = 0; k < receives; k++)
			assert_int_equal(pair_recv(a, 9, 0, 64), PLX_OK);
		assert_int_equal(pair_send(b, 1, 0, 8, 0), PLX_OK);
		run(SOON);
		assert_true(hold(&held));
		for (uint32_t k = 1; k < receives; k++)
			assert_int_equal(pair_send(b, 1, 0, 8, 0), PLX_OK);
		run(CYCLES);
		others_go_on();
		let_go(&held);
		got = polled + count_done(my_cq, 9, SOON);
		assert_int_equal(got, receives);
		scene_close();
	}
}

/* Of the thread that arms and the engine that delivers meanwhile, exactly one notifies. */
static void
a_completion_beside_a_held_arming_is_told_once(void **state)
{
	struct held held = {.step = STEP_ARM_REQUESTED, .act = arm_any};

	(void)state;
	scene_open(false);
	a->qp = mine;
	b->qp = peer;
	assert_int_equal(pair_recv(a, 9, 0, 64), PLX_OK);
	run(SOON);
	assert_true(hold(&held));
	assert_int_equal(pair_send(b, 1, 0, 8, 0), PLX_OK);
	run(CYCLES);
	others_go_on();
	let_go(&held);
	assert_int_equal(posted, PLX_OK);
	assert_int_equal(fired_at_once, 0);
	assert_true(plx_cq_get_event(my_cq) & PLX_CQ_NOTIFY_ANY);
	assert_int_equal(plx_cq_get_event(my_cq), 0);
	assert_int_equal(count_done(my_cq, 9, 1), 1);
	scene_close();
}

static void
deliver(void *arg)
{
	(void)arg;
	pair_run(&pair, SOON);
}

/* An engine is stopped while it delivers to a queue that was never armed; a thread that arms it
 * now is notified once, by the engine or by itself. */
static void
a_first_arming_beside_a_held_delivery_is_told_once(void **state)
{
	static const enum plx_step steps[] = {STEP_NOTIFY_BEGUN, STEP_NOTIFY_STORED};

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(steps); i++) {
		struct held held = {.step = steps[i], .act = deliver};
		bool counted = steps[i] == STEP_NOTIFY_STORED;

		scene_open(false);
		a->qp = mine;
		b->qp = peer;
		assert_false(atomic_load(&my_cq->front->armable));
		assert_int_equal(pair_recv(a, 9, 0, 64), PLX_OK);
		assert_int_equal(pair_send(b, 1, 0, 8, 0), PLX_OK);
		assert_true(hold(&held));
		arm_any(NULL);
		assert_int_equal(posted, PLX_OK);
		assert_int_equal(fired_at_once, counted ? PLX_CQ_NOTIFY_ANY : 0);
		let_go(&held);
		run(SOON);
		assert_int_equal(plx_cq_get_event(my_cq), counted ? 0 : PLX_CQ_NOTIFY_ANY);
		assert_int_equal(count_done(my_cq, 9, 1), 1);
		scene_close();
	}
}

/* ---- an engine whose thread falls asleep beside a thread that is held ---- */

/* Has its bell been rung since it was last asked? */
static bool
is_woken(void)
{
	struct pollfd bell = {.fd = plx_engine_bell(a->engine), .events = POLLIN};
	uint64_t times;

	return poll(&bell, 1, 0) > 0 && read(bell.fd, &times, sizeof(times)) > 0;
}

/* What a worker does before it sleeps. Returns: whether it sleeps */
static bool
falls_asleep(void)
{
	uint64_t until;

	plx_engine_fall_asleep(a->engine);
	pair.now += PLX_USEC;
	return plx_engine_poll(a->engine, pair.now) == 0 && plx_engine_may_sleep(a->engine, &until);
}

static uint64_t
packets_sent(void)
{
	return plx_engine_counters(a->engine)->tx_packets;
}

/* The post is either seen by the engine before it sleeps, or wakes it. Returns: how often it slept
 */
static uint32_t
sleep_beside(enum plx_step step, enum before before)
{
	struct held held = {.step = step, .act = post_send};
	uint32_t slept = 0;
	uint64_t sent;

	scene_open(false);
	prepare(before);
	sent = packets_sent();
	hold(&held);
	for (uint32_t i = 0; i < SOON && slept == 0; i++) {
		slept = falls_asleep();
		if (slept == 0)
			plx_engine_wake_up(a->engine);
	}
	(void)is_woken();
	let_go(&held);
	assert_int_equal(posted, PLX_OK);
	assert_true(slept == 0 || packets_sent() > sent || is_woken());
	plx_engine_wake_up(a->engine);
	assert_int_equal(count_done(my_cq, 9, 2 * SOON), 1);
	scene_close();
	return slept;
}

static void
a_held_poster_wakes_an_engine_or_is_seen_by_it(void **state)
{
	uint32_t slept = 0, held = 0;

	(void)state;
	for (enum plx_step step = STEP_NONE; step <= STEP_BELL_RUNG; step++) {
		slept += sleep_beside(step, FRESH);
		/* The one that has locked a ring that was watched rings nothing: until it unlocks,
		 * the engine stays awake. */
		held += !sleep_beside(step, WATCHED);
	}
	assert_int_equal(slept, STEP_BELL_RUNG + 1);
	assert_int_equal(held, STEP_COMMITTED - STEP_PRODUCER_LOCKED + 1);
}

/* One that has woken it, and says so late, does not keep it from being woken the next time. */
static void
a_late_ringer_does_not_clear_the_next_sleep(void **state)
{
	struct held held = {.step = STEP_BELL_RUNG, .act = post_send};

	(void)state;
	scene_open(false);
	assert_true(falls_asleep());
	assert_true(hold(&held));
	assert_true(is_woken());
	plx_engine_wake_up(a->engine);
	assert_int_equal(count_done(my_cq, 9, SOON), 1);
	while (!falls_asleep())
		plx_engine_wake_up(a->engine);
	let_go(&held);
	assert_false(is_woken());
	assert_int_equal(write_by(other, 1), PLX_OK);
	assert_true(is_woken());
	plx_engine_wake_up(a->engine);
	assert_int_equal(count_done(a->send_cq, 1, SOON), 1);
	scene_close();
}

/* ---- and without anybody held ---- */

/* A ring that is no longer watched, because another replaces it, may hold more requests than are
 * fetched at once: there may be no later post that rings for them. */
static void
what_is_left_in_a_ring_that_is_watched_no_longer_is_served(void **state)
{
	struct pair_options options = pair_defaults(8 * DEPTH);
	struct plx_qp *qp[RECENT + 1][2];

	(void)state;
	pair_open(&pair, false);
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	options.attr.ack_timeout_ns = PLX_SEC;
	for (uint32_t i = 0; i <= RECENT; i++)
		join_next(&qp[i][0], &qp[i][1], &options);
	pair_stop(&pair);
	for (uint32_t i = 0; i < RECENT; i++) {
		assert_int_equal(write_by(qp[i][0], 1), PLX_OK);
		assert_int_equal(count_done(a->send_cq, 1, SOON), 1);
	}
	assert_true(qp[0][0]->back->sq.watched);
	pair.now += 2 * WATCH_NS;
	for (uint32_t i = 0; i < 4 * POSTS_BURST; i++)
		assert_int_equal(write_by(qp[0][0], 2), PLX_OK);
	assert_int_equal(write_by(qp[RECENT][0], 3), PLX_OK);
	run(1);
	assert_false(qp[0][0]->back->sq.watched);
	assert_int_equal(count_done(a->send_cq, 2, 4 * SOON), 4 * POSTS_BURST);
	pair_start(&pair);
	for (uint32_t i = 0; i <= RECENT; i++)
		for (uint32_t s = 0; s < 2; s++)
			assert_int_equal(plx_engine_qp_destroy(qp[i][s]), PLX_OK);
	pair_stop(&pair);
	a->qp = NULL;
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_held_poster_of_sends_holds_nobody_else),
		cmocka_unit_test(a_held_poster_of_binds_holds_nobody_else),
		cmocka_unit_test(a_held_poster_of_receives_holds_nobody_else),
		cmocka_unit_test(a_held_poster_of_a_shared_queue_holds_nobody_else),
		cmocka_unit_test(a_held_ringer_holds_nobody_else),
		cmocka_unit_test(a_held_poller_holds_nobody_else),
		cmocka_unit_test(a_completion_beside_a_held_arming_is_told_once),
		cmocka_unit_test(a_first_arming_beside_a_held_delivery_is_told_once),
		cmocka_unit_test(a_held_poster_wakes_an_engine_or_is_seen_by_it),
		cmocka_unit_test(a_late_ringer_does_not_clear_the_next_sleep),
		cmocka_unit_test(what_is_left_in_a_ring_that_is_watched_no_longer_is_served),
	};

	signal(SIGALRM, on_alarm);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
