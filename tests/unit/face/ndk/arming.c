/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arming of NDK completion queues. The machine, on a queue that counts as plx_cq does, is
 * compared with a model of the contract, which counts by itself, in every state that both can reach
 * with up to ENTRIES_MAX entries. The assertions T1 to T7, T9 and T10 are told one by one besides.
 * Start with every_sequence_of_events_agrees_with_the_contract().
 */
#include <ntstatus.h>
#include <string.h>

#include "test.h"
#include "arming.h"
#include "states.h"

enum {
	ENTRIES_MAX = 4,
	STATES_ROOM = 1 << 17, /* a power of two */
};

/* What may happen to a queue. */
enum act {
	PLACE_PLAIN,
	PLACE_SOLICITED,
	PLACE_FAILED,
	POLL_ONE,
	ARM_ERRORS,
	ARM_SOLICITED,
	ARM_ANY,
	OVERRUN,
	CATASTROPHE,
	DISPATCH,
	RETURN,
	CLOSE,
	ACT_COUNT,
};

static bool
is_place(enum act act)
{
	return act == PLACE_PLAIN || act == PLACE_SOLICITED || act == PLACE_FAILED;
}

/* ---- the contract: its own counters, its own words ---- */

struct model {
	uint8_t armed; /* 0, or strength: errors 1, solicited 2, any 3 */
	uint8_t pending, running, closing;
	uint8_t placed, polled, mark, last_match;
	uint8_t error; /* 0, 1: overflow, 2: internal */
	uint8_t calls; /* made by the last act */
};

static void
model_fire(struct model *model)
{
	model->armed = 0;
	model->pending = 1;
}

static bool
model_new_match(const struct model *model)
{
	uint8_t old = model->polled > model->mark ? model->polled : model->mark;

	return model->error != 0 || (model->armed == 3 && model->placed > old) ||
	       (model->armed == 2 && model->last_match > old);
}

static void
model_arm(struct model *model, uint8_t strength)
{
	if (model->pending || model->closing)
		return;
	if (model->armed < strength)
		model->armed = strength;
	if (model_new_match(model))
		model_fire(model);
}

static void
model_place(struct model *model, bool matches_solicited)
{
	model->placed++;
	if (matches_solicited)
		model->last_match = model->placed;
	if (model->armed == 3 || (model->armed == 2 && matches_solicited))
		model_fire(model);
}

static void
model_fail(struct model *model, uint8_t error)
{
	if (model->error == 0)
		model->error = error;
	if (model->armed)
		model_fire(model);
}

static void
model_act(struct model *model, enum act act)
{
	static const uint8_t strength[ACT_COUNT] = {
		[ARM_ERRORS] = 1, [ARM_SOLICITED] = 2, [ARM_ANY] = 3};

	model->calls = 0;
	if (is_place(act))
		model_place(model, act != PLACE_PLAIN);
	else if (act == POLL_ONE)
		model->polled++;
	else if (strength[act] > 0)
		model_arm(model, strength[act]);
	else if (act == OVERRUN || act == CATASTROPHE)
		model_fail(model, act == OVERRUN ? 1 : 2);
	else if (act == RETURN)
		model->running = 0;
	if (act == CLOSE) {
		model->closing = 1;
		model->armed = model->pending = 0;
	}
	if (act != DISPATCH || !model->pending)
		return;
	model->pending = 0;
	model->running = 1;
	model->mark = model->placed;
	model->calls = 1;
}

/* ---- the machine, on a queue that counts as plx_cq does ---- */

struct rig {
	struct ndk_arming arming;
	uint8_t produced, consumed, urgent, notified;
	uint8_t asked[NDK_ARM_COUNT]; /* 0, or 1 + what was old when the kind was armed */
	uint8_t scheduled, calls;
};

static void step(struct rig *rig, enum ndk_arming_event event);

/* As the engine finds armed kinds due: any new entry completes both kinds that wait for entries. */
static void
queue_look(struct rig *rig)
{
	uint8_t *any = &rig->asked[NDK_ARM_ANY], *urgent = &rig->asked[NDK_ARM_SOLICITED];

	if (*any && rig->produced >= *any)
		*any = *urgent = 0;
	else if (*urgent && rig->urgent >= *urgent)
		*urgent = 0;
	else
		return;
	rig->notified = rig->produced;
	step(rig, NDK_ON_FIRED);
}

static void
queue_arm(struct rig *rig)
{
	uint8_t old = rig->consumed > rig->notified ? rig->consumed : rig->notified;

	if (rig->asked[rig->arming.armed] == 0)
		rig->asked[rig->arming.armed] = (uint8_t)(old + 1);
	queue_look(rig);
}

static void
step(struct rig *rig, enum ndk_arming_event event)
{
	unsigned int effects = ndk_arming_step(&rig->arming, event);

	if (effects & NDK_DO_ARM_QUEUE)
		queue_arm(rig);
	if (effects & NDK_DO_MARK)
		rig->notified = rig->produced;
	if (effects & NDK_DO_SCHEDULE) {
		assert_false(rig->scheduled);
		rig->scheduled = 1;
	}
	if (effects & NDK_DO_UNSCHEDULE) {
		assert_true(rig->scheduled);
		rig->scheduled = 0;
	}
	if (effects & NDK_DO_CALL) {
		assert_int_equal(event, NDK_ON_DISPATCH);
		rig->calls++;
	}
}

static void
rig_act(struct rig *rig, enum act act)
{
	static const enum ndk_arming_event event[ACT_COUNT] = {
		[ARM_ERRORS] = NDK_ON_ARM_ERRORS,   [ARM_SOLICITED] = NDK_ON_ARM_SOLICITED,
		[ARM_ANY] = NDK_ON_ARM_ANY,         [OVERRUN] = NDK_ON_OVERRUN,
		[CATASTROPHE] = NDK_ON_CATASTROPHE, [DISPATCH] = NDK_ON_DISPATCH,
		[RETURN] = NDK_ON_RETURN,           [CLOSE] = NDK_ON_CLOSE_CQ};

	rig->calls = 0;
	if (is_place(act)) {
		rig->produced++;
		if (act != PLACE_PLAIN)
			rig->urgent = rig->produced;
		queue_look(rig);
	} else if (act == POLL_ONE) {
		rig->consumed++;
	} else {
		if (act == DISPATCH)
			rig->scheduled = 0;
		step(rig, event[act]);
	}
}

/* ---- both ---- */

struct both {
	struct model model;
	struct rig rig;
};

/* May it happen now? The dispatcher and the consumer keep to their order. */
static bool
is_possible(const struct both *both, enum act act)
{
	if (is_place(act))
		return both->rig.produced < ENTRIES_MAX && both->model.error == 0;
	if (act == POLL_ONE)
		return both->rig.consumed < both->rig.produced;
	if (act == DISPATCH)
		return both->rig.scheduled;
	if (act == RETURN)
		return both->model.running;
	return true;
}

static NTSTATUS
error_of(const struct model *model)
{
	static const NTSTATUS status[] = {STATUS_SUCCESS, STATUS_BUFFER_OVERFLOW,
					  STATUS_INTERNAL_ERROR};

	return status[model->error];
}

static void
act_on_both(struct both *both, enum act act)
{
	const struct model *model = &both->model;
	const struct rig *rig = &both->rig;

	model_act(&both->model, act);
	rig_act(&both->rig, act);
	assert_int_equal(rig->calls, model->calls);
	assert_int_equal(rig->arming.armed, model->armed);
	assert_int_equal(rig->arming.due, model->pending);
	assert_int_equal(rig->arming.running, model->running);
	assert_int_equal(rig->arming.error, error_of(model));
	assert_int_equal(rig->scheduled, model->pending && !model->running);
	assert_true(!model->closing || (!rig->arming.due && !rig->arming.armed));
}

static void
every_sequence_of_events_agrees_with_the_contract(void **state)
{
	struct states states;
	uint64_t steps = 0;
	struct both both;

	(void)state;
	states_init(&states, sizeof(both), STATES_ROOM);
	memset(&both, 0, sizeof(both));
	states_add(&states, &both);
	for (uint32_t i = 0; i < states.found; i++)
		for (enum act act = 0; act < ACT_COUNT; act++) {
			states_get(&states, i, &both);
			if (!is_possible(&both, act))
				continue;
			act_on_both(&both, act);
			both.model.calls = both.rig.calls = 0;
			states_add(&states, &both);
			steps++;
		}
	print_message("%u states, %llu steps\n", states.found, (unsigned long long)steps);
	assert_true(states.found > 10000);
	states_fini(&states);
}

/* ---- every state of the machine, and every event ---- */

static void
every_event_in_every_state_keeps_the_order_of_callbacks(void **state)
{
	uint32_t states_seen = 0;

	(void)state;
	for (uint32_t bits = 0; bits < NDK_ARM_COUNT * 32; bits++)
		for (enum ndk_arming_event e = 0; e <= NDK_ARMING_EVENT_COUNT; e++) {
			struct ndk_arming was = {.armed = (uint8_t)(bits / 32),
						 .due = bits & 1,
						 .running = bits & 2,
						 .closed = bits & 4,
						 .error = bits & 8    ? STATUS_BUFFER_OVERFLOW
							  : bits & 16 ? STATUS_INTERNAL_ERROR
								      : STATUS_SUCCESS};
			struct ndk_arming is = was;
			unsigned int effects = ndk_arming_step(&is, e);

			states_seen += e == 0;
			/* one callback at a time, from the dispatcher alone, marked before */
			assert_int_equal(!!(effects & NDK_DO_CALL),
					 e == NDK_ON_DISPATCH && was.due && !was.running);
			assert_int_equal(!!(effects & NDK_DO_CALL), !!(effects & NDK_DO_MARK));
			/* scheduled once for each callback that nothing runs before */
			assert_int_equal(!!(effects & NDK_DO_SCHEDULE),
					 is.due && !is.running && !(was.due && !was.running));
			assert_int_equal(!!(effects & NDK_DO_UNSCHEDULE),
					 e == NDK_ON_CLOSE_CQ && was.due && !was.running);
			/* an error stays, and a closed queue stays closed */
			assert_true(was.error == STATUS_SUCCESS || is.error == was.error);
			assert_true(!was.closed || is.closed);
			/* an arm is never weakened but by its callback or the close */
			assert_true(is.armed >= was.armed || is.due || is.closed);
		}
	assert_int_equal(states_seen, 128);
}

/* ---- the assertions ---- */

static struct both *
fresh(void)
{
	static struct both both;

	memset(&both, 0, sizeof(both));
	return &both;
}

/* Is the consumer called, when the dispatcher has had its time after `act`? */
static bool
calls_after(struct both *both, enum act act)
{
	uint8_t calls;

	act_on_both(both, act);
	if (!is_possible(both, DISPATCH))
		return false;
	act_on_both(both, DISPATCH);
	calls = both->rig.calls;
	act_on_both(both, RETURN);
	return calls == 1;
}

/* T1: which event wakes which pair of arms. */
static void
t1_two_arms_wait_for_what_the_stronger_waits_for(void **state)
{
	static const enum act arms[] = {ARM_ANY, ARM_ERRORS, ARM_SOLICITED};
	static const enum act events[] = {PLACE_PLAIN, PLACE_SOLICITED, PLACE_FAILED, OVERRUN};
	/* rows: first arm; columns: second arm; A: any, E: errors, S: solicited */
	static const char table[3][3] = {{'A', 'A', 'A'}, {'A', 'E', 'S'}, {'A', 'S', 'S'}};
	uint32_t compared = 0;

	(void)state;
	for (uint32_t first = 0; first < 3; first++)
		for (uint32_t second = 0; second < 3; second++)
			for (uint32_t event = 0; event < 4; event++) {
				struct both *both = fresh();
				char waits = table[first][second];
				bool wakes =
					event == 3 || waits == 'A' || (waits == 'S' && event > 0);

				act_on_both(both, arms[first]);
				act_on_both(both, arms[second]);
				assert_int_equal(calls_after(both, events[event]), wakes);
				compared++;
			}
	assert_int_equal(compared, 36);
}

static void
t2_any_is_stronger_than_solicited_though_its_number_is_smaller(void **state)
{
	struct both *both = fresh();

	(void)state;
	act_on_both(both, ARM_ANY);
	act_on_both(both, ARM_SOLICITED);
	assert_true(calls_after(both, PLACE_PLAIN));
}

static void
t3_one_arm_is_one_callback(void **state)
{
	struct both *both = fresh();

	(void)state;
	act_on_both(both, ARM_ANY);
	act_on_both(both, PLACE_PLAIN);
	act_on_both(both, PLACE_PLAIN);
	assert_true(calls_after(both, PLACE_PLAIN));
	assert_false(calls_after(both, PLACE_PLAIN));
}

static void
t4_entries_that_nobody_was_told_of_satisfy_an_arm_at_once(void **state)
{
	struct both *both = fresh();

	(void)state;
	act_on_both(both, PLACE_PLAIN);
	assert_true(calls_after(both, ARM_ANY));
}

static void
t5_entries_that_a_callback_has_told_of_do_not(void **state)
{
	struct both *both = fresh();

	(void)state;
	act_on_both(both, PLACE_PLAIN);
	assert_true(calls_after(both, ARM_ANY));
	assert_false(calls_after(both, ARM_ANY));
	assert_true(calls_after(both, PLACE_PLAIN));
}

static void
t6_an_entry_placed_during_a_callback_is_told_of_after_it(void **state)
{
	struct both *both = fresh();

	(void)state;
	act_on_both(both, ARM_ANY);
	act_on_both(both, PLACE_PLAIN);
	act_on_both(both, DISPATCH);
	act_on_both(both, PLACE_PLAIN);
	act_on_both(both, ARM_ANY);
	assert_false(is_possible(both, DISPATCH));
	act_on_both(both, RETURN);
	act_on_both(both, DISPATCH);
	assert_int_equal(both->rig.calls, 1);
}

static void
t7_three_arms_in_a_callback_are_one_more_callback(void **state)
{
	struct both *both = fresh();

	(void)state;
	act_on_both(both, ARM_ANY);
	act_on_both(both, PLACE_PLAIN);
	act_on_both(both, DISPATCH);
	for (int i = 0; i < 3; i++) {
		act_on_both(both, PLACE_PLAIN);
		act_on_both(both, ARM_ANY);
	}
	act_on_both(both, RETURN);
	act_on_both(both, DISPATCH);
	assert_int_equal(both->rig.calls, 1);
	act_on_both(both, RETURN);
	assert_false(is_possible(both, DISPATCH));
}

static void
t9_a_failed_entry_wakes_solicited_and_not_errors(void **state)
{
	struct both *both = fresh();

	(void)state;
	act_on_both(both, ARM_SOLICITED);
	assert_true(calls_after(both, PLACE_FAILED));
	assert_int_equal(both->rig.arming.error, STATUS_SUCCESS);
	both = fresh();
	act_on_both(both, ARM_ERRORS);
	assert_false(calls_after(both, PLACE_FAILED));
}

static void
t10_an_overrun_satisfies_every_later_arm(void **state)
{
	static const enum act arms[] = {ARM_ERRORS, ARM_SOLICITED, ARM_ANY};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct both *both = fresh();

		assert_false(calls_after(both, OVERRUN));
		assert_true(calls_after(both, arms[i]));
		assert_int_equal(both->rig.arming.error, STATUS_BUFFER_OVERFLOW);
		assert_true(calls_after(both, arms[i]));
	}
}

/* T11, as far as it is the machine's: the close from inside a callback. */
static void
t11_no_callback_begins_after_a_close(void **state)
{
	struct both *both = fresh();

	(void)state;
	act_on_both(both, ARM_ANY);
	act_on_both(both, PLACE_PLAIN);
	act_on_both(both, DISPATCH);
	act_on_both(both, PLACE_PLAIN);
	act_on_both(both, ARM_ANY);
	act_on_both(both, CLOSE);
	act_on_both(both, RETURN);
	assert_false(is_possible(both, DISPATCH));
	assert_false(calls_after(both, ARM_ANY));
	assert_false(calls_after(both, PLACE_FAILED));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sequence_of_events_agrees_with_the_contract),
		cmocka_unit_test(every_event_in_every_state_keeps_the_order_of_callbacks),
		cmocka_unit_test(t1_two_arms_wait_for_what_the_stronger_waits_for),
		cmocka_unit_test(t2_any_is_stronger_than_solicited_though_its_number_is_smaller),
		cmocka_unit_test(t3_one_arm_is_one_callback),
		cmocka_unit_test(t4_entries_that_nobody_was_told_of_satisfy_an_arm_at_once),
		cmocka_unit_test(t5_entries_that_a_callback_has_told_of_do_not),
		cmocka_unit_test(t6_an_entry_placed_during_a_callback_is_told_of_after_it),
		cmocka_unit_test(t7_three_arms_in_a_callback_are_one_more_callback),
		cmocka_unit_test(t9_a_failed_entry_wakes_solicited_and_not_errors),
		cmocka_unit_test(t10_an_overrun_satisfies_every_later_arm),
		cmocka_unit_test(t11_no_callback_begins_after_a_close),
	};

	return cmocka_run_group_tests_name("arming", tests, NULL, NULL);
}
