/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps at which an application thread can be preempted while it posts, polls or arms, by name,
 * and two of an engine that delivers, which is where an arming can meet it.
 * tests/unit/engine/cycle/held.c is built with the sources of both rooms and PLX_STEPS_BUILD, and
 * stops a thread at each of them. In every other build STEP() leaves no code behind.
 */
#ifndef PLX_STEPS_H
#define PLX_STEPS_H

enum plx_step {
	STEP_NONE,
	STEP_PRODUCER_LOCKED,   /* other posters of this queue wait */
	STEP_WATCHED_SEEN,      /* it is decided whether the doorbell will be rung */
	STEP_PLACES_RESERVED,   /* in the ring; nothing is written yet */
	STEP_ENTRY_WRITTEN,     /* all but the word that shows it */
	STEP_ENTRY_MARKED,      /* the engine can take it */
	STEP_COMMITTED,         /* the ring counts it */
	STEP_PRODUCER_UNLOCKED, /* the next poster can begin */
	STEP_DOORBELL_WORD_SET, /* the queue pair's bit; not the summary's yet */
	STEP_DOORBELL_RUNG,
	STEP_POLL_BEGUN,    /* other pollers of this completion queue wait */
	STEP_POLL_COPIED,   /* the places in the ring are not free yet */
	STEP_ARM_REQUESTED, /* it is not looked for what came before yet */
	STEP_NOTIFY_BEGUN,  /* an engine's: what is in the ring is not counted yet */
	STEP_NOTIFY_STORED, /* it is not looked for who is armed yet */
	STEP_COUNT,
};

#ifdef PLX_STEPS_BUILD
void plx_step(enum plx_step step);
#define STEP(name) plx_step(STEP_##name)
#else
#define STEP(name) ((void)0)
#endif

#endif
