/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns completion queues and what is asserted of arms: a callback comes only after an arm, for what
 * was armed, once for all arms before it, never twice at a time; and it comes, within a few turns
 * of the dispatcher, once an entry has that satisfies the arm. It never judges a result (judge.c).
 * Start with on_notify().
 */
#include "drivers.h"

enum {
	BATCH = 8,
};

static NDK_CQ *
face(const struct queue *queue)
{
	return (NDK_CQ *)(void *)queue->thing.object;
}

/* ---- reading ---- */

static void
count(struct since *since, const NDK_RESULT_EX *result, const struct post *post)
{
	since->read++;
	since->urgent +=
		result->Status != STATUS_SUCCESS || (post->kind == POST_RECEIVE && post->solicited);
}

/* An entry that was armed for is here, so the callback has to come; moderation may delay it. */
static void
owe(struct queue *queue)
{
	struct driver *driver = queue->thing.driver;
	const struct since *since = &queue->strongest;
	bool satisfied = (queue->armed == ARM_ANY && since->read > 0) ||
			 (queue->armed >= ARM_SOLICITED && since->urgent > 0);

	if (queue->due || !since->sure || !satisfied || queue->interval_ns == PLX_NEVER)
		return;
	queue->due = true;
	queue->due_turns = driver->turns + DRIVERS_WAKE_TURNS;
	queue->due_at = 0;
	queue->due_parts = 0;
}

uint32_t
queue_read(struct queue *queue, uint32_t most)
{
	NDK_RESULT_EX result[BATCH];
	uint32_t n, asked = most < BATCH ? most : BATCH;

	n = face(queue)->Dispatch->NdkGetCqResultsEx(face(queue), result, asked);
	sim_must(world_of(queue->thing.driver), n <= asked, "N1", "%u results, %u were asked for",
		 n, asked);
	for (uint32_t i = 0; i < n; i++) {
		const struct post *post = judge_result(queue, &result[i]);

		queue->reads++;
		count(&queue->first, &result[i], post);
		count(&queue->strongest, &result[i], post);
		count(&queue->told, &result[i], post);
	}
	queue->empty |= n < asked;
	owe(queue);
	return n;
}

void
queue_drain(struct queue *queue)
{
	while (queue_read(queue, BATCH) == BATCH)
		;
}

/* ---- arms ---- */

void
queue_arm(struct queue *queue, enum arm arm)
{
	static const ULONG types[] = {[ARM_ERRORS] = NDK_CQ_NOTIFY_ERRORS,
				      [ARM_SOLICITED] = NDK_CQ_NOTIFY_SOLICITED,
				      [ARM_ANY] = NDK_CQ_NOTIFY_ANY};

	/* before the call, in the middle of which the callback may come */
	if (queue->armed == ARM_NONE)
		queue->first = (struct since){.sure = queue->empty};
	if (queue->armed < arm) {
		queue->armed = (uint8_t)arm;
		queue->strongest = (struct since){.sure = queue->empty};
	}
	trace_as(world_of(queue->thing.driver), TRACE_NDK_ARMS, queue->thing.driver->index,
		 queue->thing.serial, arm, queue->armed, 0);
	face(queue)->Dispatch->NdkArmCq(face(queue), types[arm]);
}

static enum arm
draw_arm(const struct queue *queue, struct plx_prng *prng)
{
	if (queue->by_callback || draw_percent(prng, 35))
		return ARM_ANY;
	return draw_percent(prng, 70) ? ARM_SOLICITED : ARM_ERRORS;
}

/* ---- the callback ---- */

/* What was armed for has come, if nothing of it was missed. */
static void
check_cause(const struct queue *queue, enum arm was)
{
	struct world *world = world_of(queue->thing.driver);
	const struct since *since = &queue->told;

	if (!since->sure || !queue->empty || queue->broken)
		return;
	sim_must(world, was != ARM_ERRORS, "N4",
		 "CQ %u was armed for errors, has none, and is called back", queue->thing.serial);
	sim_must(world, was != ARM_SOLICITED || since->urgent > 0, "N4",
		 "CQ %u was armed for solicited entries, and %u others came", queue->thing.serial,
		 since->read);
	sim_must(world, since->read > 0, "N4", "CQ %u is called back, and nothing has come",
		 queue->thing.serial);
}

static void
check_status(struct queue *queue, NTSTATUS status)
{
	if (status == STATUS_SUCCESS && !queue->broken)
		return;
	sim_must(world_of(queue->thing.driver), queue->small && status == STATUS_BUFFER_OVERFLOW,
		 "N4", "CQ %u is called back with 0x%08x", queue->thing.serial,
		 (unsigned int)status);
	queue->broken = true;
}

static void
read_and_arm(struct queue *queue, enum arm was, struct plx_prng *prng)
{
	const bool early = draw_percent(prng, 20);

	/* To arm first and read then loses nothing, either; but what is read then is of the next
	 * arm. */
	if (early)
		queue_arm(queue, draw_arm(queue, prng));
	if (queue->by_callback || draw_percent(prng, 70))
		queue_drain(queue);
	else if (draw_percent(prng, 70))
		(void)queue_read(queue, (uint32_t)draw_between(prng, 1, 4));
	if (!early)
		check_cause(queue, was);
	if (!early && (queue->by_callback || draw_percent(prng, 80)))
		queue_arm(queue, draw_arm(queue, prng));
}

static VOID
on_notify(PVOID context, NTSTATUS status)
{
	struct queue *queue = context;
	struct driver *driver = queue->thing.driver;
	struct world *world = world_of(driver);
	enum arm was;

	trace_as(world, TRACE_NDK_NOTIFIES, driver->index, queue->thing.serial, queue->armed,
		 (uint32_t)status, 0);
	sim_must(world, queue->thing.callbacks == 0, "N3", "CQ %u is called back twice at a time",
		 queue->thing.serial);
	sim_must(world, queue->armed != ARM_NONE, "N4", "CQ %u is called back and was not armed",
		 queue->thing.serial);
	check_status(queue, status);
	world->stats.woken++;
	/* Arms of the program while it runs are of the next one. */
	was = queue->armed;
	queue->told = queue->first;
	queue->armed = ARM_NONE;
	queue->empty = queue->due = false;
	thing_callback(&queue->thing);
	/* closed while this callback slept */
	if (queue->thing.life == LIFE_OPEN)
		read_and_arm(queue, was, &driver->prng);
	thing_callback_ends(&queue->thing);
}

/* Within a few turns the dispatcher knows of the entry. Then moderation may delay the callback, and
 * a few turns after that it begins. */
static void
check_due(struct queue *queue)
{
	struct driver *driver = queue->thing.driver;
	uint64_t now = world_of(driver)->now;

	if (driver->turns <= queue->due_turns || now < queue->due_at)
		return;
	queue->due_turns = driver->turns + DRIVERS_WAKE_TURNS;
	queue->due_at = now + 2 * queue->interval_ns + 1;
	sim_must(world_of(driver), ++queue->due_parts < 3, "N5",
		 "CQ %u was armed, an entry came, and no callback in %u turns", queue->thing.serial,
		 3 * DRIVERS_WAKE_TURNS);
}

/* The dispatcher has had a turn. */
void
queues_check(struct driver *driver)
{
	struct drivers *drivers = driver->drivers;
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &drivers->things) {
		struct thing *thing = plx_list_entry(node, struct thing, link);
		struct queue *queue = plx_list_entry(thing, struct queue, thing);

		if (thing->kind == THING_CQ && thing->driver == driver &&
		    thing->life == LIFE_OPEN && queue->due)
			check_due(queue);
	}
}

/* ---- the program's side ---- */

void
queue_look_by(struct queue *queue, uint64_t at)
{
	queue->look_at = at;
	heap_push(world_of(queue->thing.driver), at, SIM_EV_RECV_SHARED, queue);
}

static void
moderate(struct queue *queue, struct plx_prng *prng)
{
	ULONG interval = (ULONG)draw_log(prng, 1, 2000), count = (ULONG)draw_log(prng, 1, 16);
	NTSTATUS status, expected = STATUS_SUCCESS;

	if (draw_percent(prng, 20))
		interval = 0;
	/* The count alone: a queue that is read by callbacks alone would wait for ever. */
	if (!queue->by_callback && draw_percent(prng, 20))
		interval = MAXULONG;
	if (draw_percent(prng, 20))
		count = MAXULONG;
	if (interval == MAXULONG && (count == MAXULONG || count > queue->depth))
		expected = STATUS_INVALID_PARAMETER_MIX;
	if (expected == STATUS_SUCCESS) {
		uint64_t ns = interval == MAXULONG ? PLX_NEVER : interval * PLX_USEC;

		/* an earlier one may decide about a callback that waits */
		if (ns > queue->interval_ns)
			queue->interval_ns = ns;
		queue->due = false;
	}
	status = face(queue)->Dispatch->NdkControlCqInterruptModeration(face(queue), interval,
									count);
	/* while it is resized, either depth counts */
	sim_must(world_of(queue->thing.driver), status == expected || queue->resizing, "N8",
		 "moderation by %u us and %u entries: 0x%08x", (unsigned int)interval,
		 (unsigned int)count, (unsigned int)status);
}

static void
resized(struct thing *thing, NTSTATUS status)
{
	struct queue *queue = plx_list_entry(thing, struct queue, thing);

	if (status == STATUS_SUCCESS)
		queue->depth = queue->depth_asked;
	else
		sim_must(world_of(thing->driver),
			 status == STATUS_BUFFER_OVERFLOW ||
				 status == STATUS_INSUFFICIENT_RESOURCES,
			 "N8", "a CQ is resized: 0x%08x", (unsigned int)status);
	queue->resizing = false;
}

/* Never to less than may come. */
static void
resize(struct queue *queue, struct plx_prng *prng)
{
	struct ask *ask;

	if (queue->resizing || queue->small)
		return;
	queue->resizing = true;
	queue->depth_asked = queue->least + (ULONG)draw_log(prng, 1, 200) - 1;
	ask = ask_begin(&queue->thing, NULL, resized);
	ask_returned(ask, face(queue)->Dispatch->NdkResizeCq(face(queue), queue->depth_asked,
							     ask_on_done, ask));
}

/* The program reads, arms, and changes the queue. */
void
queue_on_look(struct queue *queue, uint64_t at)
{
	struct driver *driver = queue->thing.driver;
	struct plx_prng *prng = &driver->prng;

	if (at != queue->look_at || queue->thing.life != LIFE_OPEN)
		return;
	if (driver->in_step) {
		queue_look_by(queue, at + DRIVERS_RETRY);
		return;
	}
	queue->idle = queue->reads != queue->seen ? 0 : queue->idle + 1;
	queue->seen = queue->reads;
	queue_look_by(queue, at + 1 + draw_exponential(prng, idle_ns(queue->look_ns, queue->idle)));
	driver_enter(driver);
	driver->in_step = true;
	if (!queue->by_callback && draw_percent(prng, 60))
		(void)queue_read(queue, (uint32_t)draw_between(prng, 1, 16));
	if (thing_is_open(&queue->thing) && draw_percent(prng, 50))
		queue_arm(queue, draw_arm(queue, prng));
	if (thing_is_open(&queue->thing) && draw_percent(prng, 4))
		moderate(queue, prng);
	if (thing_is_open(&queue->thing) && draw_percent(prng, 4))
		resize(queue, prng);
	driver->in_step = false;
	driver_turn_soon(driver);
	host_poll_by(driver->host, world_of(driver)->now + driver->host->gap_ns);
}

struct queue *
queue_make(struct driver *driver, struct half *half, ULONG least,
	   void (*then)(struct thing *thing, NTSTATUS status))
{
	struct thing *thing = thing_new(driver, half, THING_CQ, sizeof(struct queue));
	struct queue *queue = plx_list_entry(thing, struct queue, thing);
	struct plx_prng *prng = &driver->prng;
	struct ask *ask;
	NDK_CQ *out = NULL;

	queue->least = least;
	queue->depth = least + (ULONG)plx_prng_below(prng, 20);
	queue->by_callback = draw_percent(prng, 40);
	queue->empty = true;
	queue->look_ns = draw_log(prng, 3000, 500000);
	ask = ask_begin(thing, NULL, then);
	ask_created(ask,
		    driver->adapter->Dispatch->NdkCreateCq(driver->adapter, queue->depth, on_notify,
							   queue, NULL, ask_on_created, ask, &out),
		    &out);
	return queue;
}

/* It is made: the program begins to look at it. */
void
queue_begin(struct queue *queue)
{
	queue_arm(queue,
		  queue->by_callback ? ARM_ANY : draw_arm(queue, &queue->thing.driver->prng));
	queue_look_by(queue, world_of(queue->thing.driver)->now + 1);
}
