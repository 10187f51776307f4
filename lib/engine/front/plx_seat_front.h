/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Seats as a program sees them: the doorbells of its queue pairs. The engine's half is in
 * plx_engine_seat.h; what holds for fronts is in plx_cq_front.h. Start with struct seat_front.
 */
#ifndef PLX_SEAT_FRONT_H
#define PLX_SEAT_FRONT_H

#include <stdatomic.h>
#include <stddef.h>

#include "plx_front.h"
#include "plx_wake.h"

enum {
	SEAT_SLOTS_MAX = 1 << 15, /* of an engine's table of queue pairs */
	SEAT_SUMMARIES = SEAT_SLOTS_MAX / 64 / 64,
};

/* Written by posting threads, and cleared by the engine, which drops what is not the seat's own.
 * The engine gives it as many words as its table has slots. */
struct seat_front {
	PLX_ALIGNED_PAIR atomic_ulong summary[SEAT_SUMMARIES]; /* a bit for each word of these: */
	/* written by an engine whose thread is about to sleep: whoever rings meanwhile writes to
	 * the bell, then clears it (decision 69); 0: awake, else which sleep it is */
	PLX_ALIGNED_LINE atomic_uint asleep;
	PLX_ALIGNED_PAIR atomic_ulong doorbells[]; /* a bit for each slot */
};

_Static_assert(offsetof(struct seat_front, summary) == 0, "doorbell_seat() goes back to it");

/* How the program of a seat is reached, if it is in another process. */
struct seat_config {
	struct front_memory *memory; /* that it shares; outlives the seat */
	struct plx_waker *waker;     /* of its threads; likewise */
};

/* Where a queue pair's doorbell is rung: a bit in the bitmap of all doorbells, and one in the
 * bitmap of the words that have such a bit. */
struct doorbell {
	atomic_ulong *word, *summary;
	uint8_t bit, summary_bit; /* within these words */
	uint8_t summary_index;    /* of that word among the seat's */
	int bell;                 /* an eventfd that wakes the engine's thread; -1: it never sleeps,
				     or the caller is that thread */
};

/* The doorbell of the queue pair in this slot of the engine's table. */
static inline struct doorbell
seat_doorbell(struct seat_front *front, uint32_t slot, int bell)
{
	return (struct doorbell){
		.word = &front->doorbells[slot / 64],
		.summary = &front->summary[slot / 64 / 64],
		.bit = slot % 64,
		.summary_bit = slot / 64 % 64,
		.summary_index = (uint8_t)(slot / 64 / 64),
		.bell = bell,
	};
}

/* The seat that it belongs to. */
static inline struct seat_front *
doorbell_seat(const struct doorbell *doorbell)
{
	return (struct seat_front *)(uintptr_t)(doorbell->summary - doorbell->summary_index);
}

#endif
