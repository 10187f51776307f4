/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hierarchical timer wheel: setting, moving and clearing a deadline cost O(1); polling costs one
 * comparison until the next tick. There are no callbacks; the engine pops due timers. Start with
 * wheel_pop().
 *
 * Level 0 holds the next 64 ticks (1 ms), one tick per slot; level n the next 64^(n+1), 64^n ticks
 * per slot. A timer beyond level 3 (275 s) waits in its last slot and is inserted again from
 * there. A timer never fires early: its tick is the first one at or after its deadline.
 */
#include "plx_engine_cycle.h"

void
wheel_init(struct wheel *wheel, uint64_t now)
{
	*wheel = (struct wheel){.tick = wheel_tick_of(now)};
	for (uint32_t level = 0; level < WHEEL_LEVELS; level++)
		for (uint32_t slot = 0; slot < WHEEL_SLOTS; slot++)
			plx_list_init(&wheel->slots[level][slot]);
}

/* Insert a timer into the slot of its tick, relative to the wheel's present tick. */
static void
place(struct wheel *wheel, struct timer *timer)
{
	uint64_t due = wheel_tick_of(plx_time_add(timer->deadline, (1u << WHEEL_TICK_SHIFT) - 1));
	uint64_t ahead = due > wheel->tick ? due - wheel->tick : 0;
	uint32_t level = 0;

	due = wheel->tick + ahead;
	while (level < WHEEL_LEVELS - 1 && ahead >> WHEEL_BITS * (level + 1) != 0)
		level++;
	if (ahead >> WHEEL_BITS * WHEEL_LEVELS != 0)
		due = wheel->tick + (UINT64_C(1) << WHEEL_BITS * WHEEL_LEVELS) - 1;
	timer->level = level;
	timer->slot = due >> WHEEL_BITS * level & (WHEEL_SLOTS - 1);
	wheel->used[level] |= UINT64_C(1) << timer->slot;
	plx_list_append(&wheel->slots[level][timer->slot], &timer->link);
}

void
wheel_clear(struct wheel *wheel, struct timer *timer)
{
	if (timer->deadline == PLX_NEVER)
		return;
	timer->deadline = PLX_NEVER;
	plx_list_remove(&timer->link);
	if (plx_list_empty(&wheel->slots[timer->level][timer->slot]))
		wheel->used[timer->level] &= ~(UINT64_C(1) << timer->slot);
}

void
wheel_set(struct wheel *wheel, struct timer *timer, uint64_t deadline)
{
	wheel_clear(wheel, timer);
	if (deadline == PLX_NEVER)
		return;
	timer->deadline = deadline;
	place(wheel, timer);
}

/* Move the timers of the `level` slot that begins at this tick to lower levels. */
static void
cascade(struct wheel *wheel, uint32_t level)
{
	uint32_t slot = wheel->tick >> WHEEL_BITS * level & (WHEEL_SLOTS - 1);
	struct plx_list *head = &wheel->slots[level][slot];
	struct plx_list moved;

	if (plx_list_empty(head))
		return;
	/* Empty the slot first: a distant timer may return to the same slot. */
	plx_list_init(&moved);
	while (!plx_list_empty(head)) {
		struct plx_list *node = head->next;

		plx_list_remove(node);
		plx_list_append(&moved, node);
	}
	wheel->used[level] &= ~(UINT64_C(1) << slot);
	while (!plx_list_empty(&moved)) {
		struct timer *timer = plx_list_entry(moved.next, struct timer, link);

		plx_list_remove(&timer->link);
		place(wheel, timer);
	}
}

/* The first tick after the present one that may need work, at most `limit`. */
static uint64_t
next_stop(const struct wheel *wheel, uint64_t limit)
{
	uint64_t stop = limit;

	for (uint32_t level = 0; level < WHEEL_LEVELS; level++) {
		uint32_t shift = WHEEL_BITS * level;
		uint64_t here = wheel->tick >> shift;
		uint64_t used = wheel->used[level];
		uint32_t turn = (uint32_t)(here + 1) & (WHEEL_SLOTS - 1);
		uint64_t at;

		if (used == 0)
			continue;
		/* Slots in the order in which the wheel reaches them; the present one is last. */
		used = used >> turn | (turn ? used << (WHEEL_SLOTS - turn) : 0);
		at = here + 1 + (uint64_t)__builtin_ctzll(used);
		stop = plx_time_min(stop, at << shift);
	}
	return stop;
}

struct timer *
wheel_pop(struct wheel *wheel, uint64_t now)
{
	uint64_t until = wheel_tick_of(now);

	for (;;) {
		struct plx_list *head = &wheel->slots[0][wheel->tick & (WHEEL_SLOTS - 1)];

		if (!plx_list_empty(head)) {
			struct timer *timer = plx_list_entry(head->next, struct timer, link);

			wheel_clear(wheel, timer);
			return timer;
		}
		if (plx_likely(wheel->tick >= until))
			return NULL;
		wheel->tick = next_stop(wheel, until);
		for (uint32_t level = WHEEL_LEVELS - 1; level > 0; level--)
			if ((wheel->tick & ((UINT64_C(1) << WHEEL_BITS * level) - 1)) == 0)
				cascade(wheel, level);
	}
}

uint64_t
wheel_wake_ns(const struct wheel *wheel)
{
	uint64_t stop;

	if (!plx_list_empty(&wheel->slots[0][wheel->tick & (WHEEL_SLOTS - 1)]))
		return wheel->tick << WHEEL_TICK_SHIFT;
	stop = next_stop(wheel, PLX_NEVER);
	return stop == PLX_NEVER ? PLX_NEVER : stop << WHEEL_TICK_SHIFT;
}
