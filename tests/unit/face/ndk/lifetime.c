/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The lifetimes of NDK objects: every graph of four objects, each created from any of those before
 * it, in every order of closes, callbacks and completions, against the rules of the contract.
 * Start with every_order_of_closes_in_every_graph_keeps_the_rules().
 */
#include <stdbool.h>
#include <string.h>

#include "test.h"
#include "lifetime.h"
#include "states.h"

enum {
	OBJECTS = 4,
	GRAPHS = 1 * 3 * 7, /* the first is the adapter; each other has at least one antecedent */
	STATES_ROOM = 1 << 16, /* of one graph; a power of two */
};

/* ---- a world of objects ---- */

struct object {
	struct ndk_lifetime life;
	uint8_t callbacks;   /* that run: 0 to 2 */
	uint8_t due;         /* its CloseCompletion is scheduled */
	uint8_t runs;        /* ... or runs */
	uint8_t completions; /* made so far */
	uint8_t pending;     /* its close returned STATUS_PENDING */
	uint8_t closed, ended;
};

struct world {
	struct object object[OBJECTS];
};

static uint8_t antecedents[OBJECTS]; /* bit masks */

static void take_effects(struct world *world, uint32_t i, unsigned int effects);

static unsigned int
step(struct world *world, uint32_t i, enum ndk_lifetime_event event)
{
	struct object *object = &world->object[i];
	unsigned int effects;

	object->life = ndk_lifetime_step(object->life, event, &effects);
	take_effects(world, i, effects);
	return effects;
}

static bool
has_successor(const struct world *world, uint32_t i)
{
	for (uint32_t s = i + 1; s < OBJECTS; s++)
		if (antecedents[s] & 1 << i && !world->object[s].ended)
			return true;
	return false;
}

static void
take_effects(struct world *world, uint32_t i, unsigned int effects)
{
	struct object *object = &world->object[i];

	if (effects & (NDK_DO_COMPLETE | NDK_DO_END)) {
		assert_false(has_successor(world, i));  /* rules 4 and 5 */
		assert_int_equal(object->callbacks, 0); /* rule 3 */
		assert_true(object->closed);
	}
	if (effects & NDK_DO_COMPLETE)
		object->due = 1;
	if (!(effects & NDK_DO_END))
		return;
	object->ended = 1;
	for (uint32_t a = 0; a < i; a++)
		if (antecedents[i] & 1 << a)
			assert_false(step(world, a, NDK_ON_RELEASE) & NDK_DO_REFUSE);
}

static void
create(struct world *world)
{
	memset(world, 0, sizeof(*world));
	for (uint32_t i = 0; i < OBJECTS; i++) {
		world->object[i].life = ndk_lifetime_begin();
		for (uint32_t a = 0; a < i; a++)
			if (antecedents[i] & 1 << a)
				assert_int_equal(step(world, a, NDK_ON_HOLD), 0);
	}
}

/* ---- what may happen to an object ---- */

enum act {
	BEGIN_CALLBACK,
	END_CALLBACK,
	CLOSE,
	BEGIN_COMPLETION,
	END_COMPLETION,
	ACT_COUNT,
};

static bool
begin_callback(struct world *world, uint32_t i)
{
	struct object *object = &world->object[i];
	bool refused;

	if (object->callbacks == 2 || object->ended)
		return false;
	refused = step(world, i, NDK_ON_HOLD) & NDK_DO_REFUSE;
	assert_int_equal(refused, object->closed); /* rule 6 */
	object->callbacks += !refused;
	return !refused;
}

static bool
end_callback(struct world *world, uint32_t i)
{
	struct object *object = &world->object[i];

	if (object->callbacks == 0)
		return false;
	object->callbacks--;
	assert_false(step(world, i, NDK_ON_RELEASE) & NDK_DO_REFUSE);
	return true;
}

static bool
close_object(struct world *world, uint32_t i)
{
	struct object *object = &world->object[i];
	bool is_held = object->callbacks > 0 || has_successor(world, i);

	if (object->closed)
		return false;
	object->closed = 1;
	assert_int_equal(step(world, i, NDK_ON_CLOSE_OBJECT),
			 is_held ? NDK_DO_RETURN_PENDING : NDK_DO_RETURN_SUCCESS | NDK_DO_END);
	object->pending = is_held;
	return true;
}

static bool
begin_completion(struct world *world, uint32_t i)
{
	struct object *object = &world->object[i];

	if (!object->due)
		return false;
	object->due = 0;
	object->runs = 1;
	object->completions++;
	assert_true(object->pending && object->completions == 1);
	return true;
}

static bool
end_completion(struct world *world, uint32_t i)
{
	struct object *object = &world->object[i];

	if (!object->runs)
		return false;
	object->runs = 0;
	assert_int_equal(step(world, i, NDK_ON_COMPLETE), NDK_DO_END);
	return true;
}

/* Returns: whether it could happen */
static bool
act_on(struct world *world, uint32_t i, enum act act)
{
	switch (act) {
	case BEGIN_CALLBACK:
		return begin_callback(world, i);
	case END_CALLBACK:
		return end_callback(world, i);
	case CLOSE:
		return close_object(world, i);
	case BEGIN_COMPLETION:
		return begin_completion(world, i);
	case END_COMPLETION:
		return end_completion(world, i);
	case ACT_COUNT:
		break;
	}
	return false;
}

/* ---- every state that a graph can reach ---- */

/* Where nothing can happen any more, everything has ended, each pending close by one completion. */
static void
check_end(const struct world *world)
{
	for (uint32_t i = 0; i < OBJECTS; i++) {
		assert_true(world->object[i].ended);
		assert_int_equal(world->object[i].completions, world->object[i].pending);
	}
}

/* Returns: steps taken */
static uint64_t
explore(struct states *states)
{
	struct world world;
	uint64_t steps = 0;

	states_clear(states);
	create(&world);
	states_add(states, &world);
	for (uint32_t at = 0; at < states->found; at++) {
		uint32_t could = 0;

		for (uint32_t i = 0; i < OBJECTS; i++)
			for (enum act act = 0; act < ACT_COUNT; act++) {
				states_get(states, at, &world);
				if (!act_on(&world, i, act))
					continue;
				states_add(states, &world);
				could++;
			}
		states_get(states, at, &world);
		if (could == 0)
			check_end(&world);
		steps += could;
	}
	return steps;
}

static void
every_order_of_closes_in_every_graph_keeps_the_rules(void **state)
{
	uint32_t graphs = 0, total = 0;
	struct states states;
	uint64_t steps = 0;

	(void)state;
	states_init(&states, sizeof(struct world), STATES_ROOM);
	antecedents[1] = 1;
	for (antecedents[2] = 1; antecedents[2] < 4; antecedents[2]++)
		for (antecedents[3] = 1; antecedents[3] < 8; antecedents[3]++) {
			steps += explore(&states);
			total += states.found;
			graphs++;
		}
	print_message("%u graphs, %u states, %llu steps\n", graphs, total,
		      (unsigned long long)steps);
	assert_int_equal(graphs, GRAPHS);
	assert_true(total > 10000);
	states_fini(&states);
}

/* ---- every event in every state of one object ---- */

static bool
is_allowed(struct ndk_lifetime was, enum ndk_lifetime_event event)
{
	bool is_open = was.life == NDK_LIFE_OPEN;

	switch (event) {
	case NDK_ON_HOLD:
		return is_open && was.holds < UINT32_MAX;
	case NDK_ON_RELEASE:
		return (is_open && was.holds > 1) ||
		       (was.life == NDK_LIFE_CLOSING && was.holds > 0);
	case NDK_ON_CLOSE_OBJECT:
		return is_open && was.holds > 0;
	case NDK_ON_COMPLETE:
		return was.life == NDK_LIFE_COMPLETING;
	case NDK_LIFETIME_EVENT_COUNT:
		break;
	}
	return false;
}

static void
what_breaks_a_rule_is_refused_and_changes_nothing(void **state)
{
	static const uint32_t holds[] = {0, 1, 2, 3, UINT32_MAX - 1, UINT32_MAX};
	uint32_t compared = 0;

	(void)state;
	for (enum ndk_life life = 0; life < NDK_LIFE_COUNT; life++)
		for (uint32_t h = 0; h < 6; h++)
			for (enum ndk_lifetime_event e = 0; e <= NDK_LIFETIME_EVENT_COUNT; e++) {
				struct ndk_lifetime was = {life, holds[h]}, is;
				bool allowed = is_allowed(was, e);
				unsigned int effects;

				is = ndk_lifetime_step(was, e, &effects);
				assert_int_equal(effects != NDK_DO_REFUSE, allowed);
				if (!allowed)
					assert_memory_equal(&is, &was, sizeof(is));
				assert_true(!(effects & NDK_DO_END) || is.life == NDK_LIFE_ENDED);
				compared++;
			}
	assert_int_equal(compared, NDK_LIFE_COUNT * 6 * (NDK_LIFETIME_EVENT_COUNT + 1));
}

/* ---- the assertions, as far as they are the machine's ---- */

/* A queue pair (3) of a domain (1) and a completion queue (2), both of an adapter (0). */
static void
queue_pair(struct world *world)
{
	antecedents[1] = antecedents[2] = 1;
	antecedents[3] = 1 << 1 | 1 << 2;
	create(world);
}

static void
t11_a_close_from_inside_a_callback_is_complete_after_it(void **state)
{
	struct world world;

	(void)state;
	queue_pair(&world);
	assert_true(close_object(&world, 3));
	assert_true(begin_callback(&world, 2));
	assert_true(close_object(&world, 2));
	assert_true(world.object[2].pending && !world.object[2].due);
	assert_true(end_callback(&world, 2));
	assert_true(begin_completion(&world, 2));
	assert_false(begin_callback(&world, 2));
}

static void
t12_a_completion_that_sleeps_holds_up_what_it_was_created_from(void **state)
{
	struct world world;

	(void)state;
	queue_pair(&world);
	assert_true(begin_callback(&world, 3));
	for (uint32_t i = 4; i-- > 0;)
		assert_true(close_object(&world, i));
	assert_true(end_callback(&world, 3));
	assert_true(begin_completion(&world, 3));
	for (uint32_t i = 0; i < 3; i++)
		assert_true(world.object[i].pending && !world.object[i].due);
	assert_true(end_completion(&world, 3));
	assert_true(world.object[1].due && world.object[2].due && !world.object[0].due);
	for (uint32_t i = 1; i < 3; i++)
		assert_true(begin_completion(&world, i) && end_completion(&world, i));
	assert_true(world.object[0].due); /* T13: the adapter's close is the last */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order_of_closes_in_every_graph_keeps_the_rules),
		cmocka_unit_test(what_breaks_a_rule_is_refused_and_changes_nothing),
		cmocka_unit_test(t11_a_close_from_inside_a_callback_is_complete_after_it),
		cmocka_unit_test(t12_a_completion_that_sleeps_holds_up_what_it_was_created_from),
	};

	return cmocka_run_group_tests_name("lifetime", tests, NULL, NULL);
}
