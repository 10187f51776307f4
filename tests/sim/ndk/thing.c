/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the model of lifetimes: requests complete once, if they were pending; closes complete once,
 * after everything that holds the object; then nothing comes any more. It never makes an object.
 * Start with thing_close().
 */
#include <stdlib.h>

#include "drivers.h"

static const char *
name_of(const struct thing *thing)
{
	static const char *const names[THING_KINDS] = {
		[THING_CQ] = "CQ",
		[THING_PD] = "PD",
		[THING_SRQ] = "SRQ",
		[THING_QP] = "QP",
		[THING_MR] = "MR",
		[THING_MW] = "MW",
		[THING_CONNECTOR] = "connector",
		[THING_LISTENER] = "listener",
		[THING_ENDPOINT] = "endpoint",
	};

	return names[thing->kind];
}

struct thing *
thing_new(struct driver *driver, struct half *half, enum thing_kind kind, size_t bytes)
{
	struct thing *thing = calloc(1, bytes);

	PLX_ASSERT(thing != NULL);
	thing->driver = driver;
	thing->half = half;
	thing->kind = (uint8_t)kind;
	thing->life = LIFE_MAKING;
	thing->serial = ++driver->drivers->serial;
	plx_list_append(&driver->drivers->things, &thing->link);
	return thing;
}

bool
thing_is_open(const struct thing *thing)
{
	return thing != NULL && thing->life == LIFE_OPEN;
}

void
thing_holds(struct thing *thing, struct thing *antecedent)
{
	if (antecedent == NULL)
		return;
	for (uint32_t i = 0; i < DRIVERS_ANTECEDENTS; i++) {
		if (thing->of[i] != NULL)
			continue;
		thing->of[i] = antecedent;
		antecedent->successors++;
		return;
	}
	PLX_ASSERT(false);
}

void
thing_lets_go(struct thing *thing, struct thing *antecedent)
{
	for (uint32_t i = 0; antecedent != NULL && i < DRIVERS_ANTECEDENTS; i++) {
		if (thing->of[i] != antecedent)
			continue;
		thing->of[i] = NULL;
		antecedent->successors--;
		return;
	}
}

static void
let_all_go(struct thing *thing)
{
	for (uint32_t i = 0; i < DRIVERS_ANTECEDENTS; i++)
		thing_lets_go(thing, thing->of[i]);
}

/* ---- callbacks ---- */

/* A callback of an object begins. */
void
thing_callback(struct thing *thing)
{
	struct world *world = world_of(thing->driver);

	sim_must(world, thing->life != LIFE_ENDED && thing->life != LIFE_NONE, "N2",
		 "a callback of %s %u, whose close is complete", name_of(thing), thing->serial);
	thing->callbacks++;
	driver_callback(thing->driver);
}

void
thing_callback_ends(struct thing *thing)
{
	driver_callback_ends(thing->driver);
	thing->callbacks--;
}

/* ---- requests ---- */

struct ask *
ask_begin(struct thing *thing, struct thing *with,
	  void (*then)(struct thing *thing, NTSTATUS status))
{
	struct ask *ask = calloc(1, sizeof(*ask));

	PLX_ASSERT(ask != NULL);
	*ask = (struct ask){.thing = thing, .with = with, .then = then};
	plx_list_append(&thing->driver->drivers->asks, &ask->link);
	thing->requests++;
	if (with != NULL)
		with->requests++;
	return ask;
}

static void
settle(struct ask *ask, NTSTATUS status)
{
	ask->done = true;
	if (ask->then != NULL)
		ask->then(ask->thing, status);
	ask->thing->requests--;
	if (ask->with != NULL)
		ask->with->requests--;
}

/* The call has returned. */
void
ask_returned(struct ask *ask, NTSTATUS status)
{
	struct thing *thing = ask->thing;

	ask->returned = true;
	trace_as(world_of(thing->driver), TRACE_NDK_CALLS, thing->driver->index, thing->kind,
		 thing->serial, (uint32_t)status, 0);
	if (status == STATUS_PENDING)
		return;
	sim_must(world_of(thing->driver), !ask->done, "N1",
		 "a request of %s %u is completed that returned 0x%08x", name_of(thing),
		 thing->serial, (unsigned int)status);
	settle(ask, status);
}

static void
completes(struct ask *ask, NTSTATUS status)
{
	struct thing *thing = ask->thing;

	trace_as(world_of(thing->driver), TRACE_NDK_DONE, thing->driver->index, thing->kind,
		 thing->serial, (uint32_t)status, 0);
	sim_must(world_of(thing->driver), !ask->done && status != STATUS_PENDING, "N1",
		 "a request of %s %u completes twice, or as pending", name_of(thing),
		 thing->serial);
}

VOID
ask_on_done(PVOID context, NTSTATUS status)
{
	struct ask *ask = context;
	struct thing *thing = ask->thing;

	completes(ask, status);
	thing_callback(thing);
	settle(ask, status);
	thing_callback_ends(thing);
}

static void
is_made(struct thing *thing, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
	if (status == STATUS_SUCCESS) {
		thing->object = object;
		/* every table begins with its close */
		thing->close = ((NDK_CQ *)(void *)object)->Dispatch->NdkCloseCq;
		thing->life = LIFE_OPEN;
		return;
	}
	let_all_go(thing);
	thing->life = LIFE_NONE;
}

VOID
ask_on_created(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
	struct ask *ask = context;
	struct thing *thing = ask->thing;

	completes(ask, status);
	sim_must(world_of(thing->driver), (object != NULL) == (status == STATUS_SUCCESS), "N1",
		 "%s %u is made with 0x%08x, and an object or none", name_of(thing), thing->serial,
		 (unsigned int)status);
	thing_callback(thing);
	is_made(thing, status, object);
	settle(ask, status);
	thing_callback_ends(thing);
}

/* A call that creates an object has returned.
 * @param out the pointer that it was given; it is read after the call */
void
ask_created(struct ask *ask, NTSTATUS status, const void *out)
{
	NDK_OBJECT_HEADER *object;

	memcpy(&object, out, sizeof(object));
	if (status != STATUS_PENDING)
		is_made(ask->thing, status, object);
	ask_returned(ask, status);
}

/* ---- closing ---- */

/* What was made from it, and what it was asked for, is over. */
static void
ends(struct thing *thing)
{
	struct world *world = world_of(thing->driver);

	trace_as(world, TRACE_NDK_CLOSED, thing->driver->index, thing->kind, thing->serial, 0, 0);
	sim_must(world, thing->life == LIFE_CLOSING, "N2", "the close of %s %u completes %s",
		 name_of(thing), thing->serial,
		 thing->life == LIFE_ENDED ? "twice" : "before it is called");
	sim_must(world, thing->successors == 0 && thing->requests == 0 && thing->callbacks == 0,
		 "N2",
		 "the close of %s %u completes before %u successors, %u requests, %u callbacks",
		 name_of(thing), thing->serial, thing->successors, thing->requests,
		 thing->callbacks);
}

static VOID
on_closed(PVOID context)
{
	struct thing *thing = context;

	if (thing->kind == THING_MR)
		region_unbinds(thing);
	ends(thing);
	driver_callback(thing->driver);
	if (thing->kind == THING_MR || thing->kind == THING_MW)
		tokens_of(thing, token_dies);
	driver_callback_ends(thing->driver);
	thing->life = LIFE_ENDED;
	let_all_go(thing);
}

void
thing_close(struct thing *thing)
{
	NTSTATUS status;

	thing->life = LIFE_CLOSING;
	status = thing->close(thing->object, on_closed, thing);
	trace_as(world_of(thing->driver), TRACE_NDK_CLOSES, thing->driver->index, thing->kind,
		 thing->serial, (uint32_t)status, 0);
	if (status == STATUS_PENDING)
		return;
	sim_must(world_of(thing->driver), status == STATUS_SUCCESS, "N2",
		 "the close of %s %u returns 0x%08x", name_of(thing), thing->serial,
		 (unsigned int)status);
	ends(thing);
	thing->life = LIFE_ENDED;
	let_all_go(thing);
}

/* ---- rest ---- */

void
things_check(struct drivers *drivers)
{
	struct world *world = &drivers->fleet.world;
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &drivers->things) {
		const struct thing *thing = plx_list_entry(node, struct thing, link);

		sim_must(world, thing->life == LIFE_ENDED || thing->life == LIFE_NONE, "N2",
			 "%s %u is left", name_of(thing), thing->serial);
	}
	plx_list_for_each (node, after, &drivers->asks)
		sim_must(world, plx_list_entry(node, struct ask, link)->done, "N1",
			 "a request is left");
}

void
things_free(struct drivers *drivers)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &drivers->things)
		free(plx_list_entry(node, struct thing, link));
	plx_list_for_each (node, after, &drivers->asks)
		free(plx_list_entry(node, struct ask, link));
}
