/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Named steps at which an application thread can be preempted while it posts, polls or arms, and
 * two steps of an engine that delivers, at which it can race with arming.
 * tests/unit/engine/cycle/held.c is built with the sources of both rooms and PLX_STEPS_BUILD, and
 * stops a thread at each of them. In every other build STEP() compiles to nothing.
 */
#ifndef PLX_STEPS_H
#define PLX_STEPS_H

enum plx_step {
	STEP_NONE,
	STEP_PRODUCER_LOCKED,   /* other posters to this queue wait */
	STEP_WATCHED_SEEN,      /* the poster has decided whether to ring the doorbell */
	STEP_PLACES_RESERVED,   /* in the ring; not written yet */
	STEP_ENTRY_WRITTEN,     /* all but the word that marks it */
	STEP_ENTRY_MARKED,      /* the engine can read it */
	STEP_COMMITTED,         /* the ring counts it */
	STEP_PRODUCER_UNLOCKED, /* the next poster can begin */
	STEP_DOORBELL_WORD_SET, /* the queue pair's bit; the summary's is not set yet */
	STEP_DOORBELL_RUNG,
	STEP_SLEEP_SEEN,    /* whether the engine's thread is to be woken */
	STEP_BELL_RUNG,     /* it is woken; others still wake it, too */
	STEP_POLL_BEGUN,    /* other pollers of this completion queue wait */
	STEP_POLL_COPIED,   /* the slots in the ring are not free yet */
	STEP_ARM_REQUESTED, /* earlier entries are not checked yet */
	STEP_NOTIFY_BEGUN,  /* in an engine: new entries of the ring are not counted yet */
	STEP_NOTIFY_STORED, /* armed kinds are not checked yet */
	STEP_COUNT,
};

#ifdef PLX_STEPS_BUILD
void plx_step(enum plx_step step);
#define STEP(name) plx_step(STEP_##name)
#else
#define STEP(name) ((void)0)
#endif

#endif
