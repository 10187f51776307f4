/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls from application threads that the engine's thread must execute: everything that is not per
 * message. A fixed table of the engine has the function to call and its argument, the index crosses
 * a ring, and the caller waits for at most PLX_COMMAND_TIMEOUT_NS. A call that timed out was not
 * executed and never will be. Start with command_call() and command_serve().
 *
 * States of a slot: FREE -> FILLING -> PENDING -> RUNNING -> DONE -> FREE. The caller may change
 * PENDING to CANCELLED, which the engine changes to FREE. Each step is a compare-and-swap by one
 * thread.
 */
#include "plx_engine_cycle.h"
#include "plx_thread.h"

static bool
step(struct command_slot *slot, unsigned from, unsigned to)
{
	return atomic_compare_exchange_strong(&slot->state, &from, to);
}

/* Let the engine make progress: in inline mode by polling it on this thread. */
static void
let_it_run(struct plx_engine *engine, uint32_t *looks)
{
	if (engine->config.inline_mode)
		plx_engine_poll(engine, plx_clock_ns());
	else
		plx_engine_backoff(looks);
}

static struct command_slot *
claim(struct plx_engine *engine, uint64_t deadline, uint32_t *index)
{
	uint32_t looks = 0;

	do {
		for (uint32_t i = 0; i < COMMANDS_MAX; i++) {
			if (!step(&engine->slots[i], SLOT_FREE, SLOT_FILLING))
				continue;
			*index = i;
			return &engine->slots[i];
		}
		let_it_run(engine, &looks);
	} while (plx_clock_ns() < deadline);
	return NULL;
}

enum plx_status
command_call(struct plx_engine *engine, command_fn execute, void *call)
{
	uint64_t deadline = plx_clock_ns() + PLX_COMMAND_TIMEOUT_NS;
	uint32_t index, looks = 0;
	struct command_slot *slot = claim(engine, deadline, &index);
	enum plx_status status;

	if (slot == NULL)
		return PLX_TIMEOUT;
	slot->execute = execute;
	slot->call = call;
	atomic_store(&slot->state, SLOT_PENDING);
	/* The ring has as many entries as there are slots, so this always fits. */
	PLX_ASSERT(plx_ring_enqueue(engine->command_ring, sizeof(index), &index, 1) == 1);
	plx_engine_rouse(engine);
	while (atomic_load(&slot->state) != SLOT_DONE) {
		let_it_run(engine, &looks);
		if (plx_clock_ns() >= deadline && step(slot, SLOT_PENDING, SLOT_CANCELLED))
			return PLX_TIMEOUT;
	}
	status = slot->status;
	atomic_store(&slot->state, SLOT_FREE);
	return status;
}

uint32_t
command_serve(struct plx_engine *engine)
{
	uint32_t index[COMMANDS_BURST];
	uint32_t n;

	if (plx_likely(plx_ring_empty(engine->command_ring)))
		return 0;
	n = plx_ring_dequeue(engine->command_ring, sizeof(index[0]), index, COMMANDS_BURST);
	engine_answer_held(engine);
	for (uint32_t i = 0; i < n; i++) {
		struct command_slot *slot = &engine->slots[index[i] % COMMANDS_MAX];

		if (!step(slot, SLOT_PENDING, SLOT_RUNNING)) {
			step(slot, SLOT_CANCELLED, SLOT_FREE);
			continue;
		}
		slot->status = slot->execute(engine, slot->call);
		plx_count(&engine->counters.commands, 1);
		atomic_store(&slot->state, SLOT_DONE);
	}
	return n;
}
