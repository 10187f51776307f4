/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who controls one end of a stream: the processes of a host that hold its socket take turns, in the
 * order in which they asked. It belongs to the host, knows no stream, and believes no process: a
 * call that is not that process's to make returns false and changes nothing.
 * Start with struct plx_san_arbiter.
 *
 * Whoever has control carries out its own requests without asking, while nobody waits. Everybody
 * else asks, once for each request, and so does the one in control once somebody waits. A ticket's
 * turn comes when all before it are done and its process has control.
 */
#ifndef PLX_SAN_ARBITER_H
#define PLX_SAN_ARBITER_H

#include "plx_base.h"

enum {
	PLX_SAN_TICKETS_MAX = 256, /* requests that wait at once */
};

enum plx_san_phase {
	PLX_SAN_PHASE_HELD,    /* by the controller */
	PLX_SAN_PHASE_WANTED,  /* ... which has been told to give it away */
	PLX_SAN_PHASE_GIVEN,   /* the host has what it gave away; nobody has control */
	PLX_SAN_PHASE_OFFERED, /* a process has been told to take it */
	PLX_SAN_PHASE_SEIZED,  /* the host is taking it, without the controller's help */
	PLX_SAN_PHASE_OVER,    /* lost with its controller */
	PLX_SAN_PHASE_COUNT,
};

/* Processes are named by numbers that are never 0 nor given twice. */
struct plx_san_arbiter {
	uint8_t phase;    /* enum plx_san_phase */
	bool told;        /* the process of the oldest ticket knows that it is its turn; OVER: the
			     end is known */
	uint64_t process; /* HELD, WANTED: who has control; OFFERED: who takes it; else 0 */
	uint32_t first, count;
	uint64_t ticket[PLX_SAN_TICKETS_MAX]; /* whose, from `first` on */
};

enum plx_san_tell {
	PLX_SAN_TELL_NOTHING,
	PLX_SAN_TELL_TURN,   /* carry out your oldest request that asked; then plx_san_done() */
	PLX_SAN_TELL_WANTED, /* give control away: plx_san_suspend(); then plx_san_gave() */
	PLX_SAN_TELL_TAKE,   /* take it: plx_san_resume(); then plx_san_took() */
	PLX_SAN_TELL_OVER,   /* everybody: the connection is lost */
};

/** Begin, with the process that made the connection in control. */
void plx_san_arbiter_begin(struct plx_san_arbiter *arbiter, uint64_t controller);

/** May it carry out a request without asking? Processes see the answer in memory that the host
 * shares with them, so that what is requested later than a ticket comes later. */
bool plx_san_is_free(const struct plx_san_arbiter *arbiter, uint64_t process);

/** A process has a request, and no control, or somebody waits for it.
 * Returns: false: PLX_SAN_TICKETS_MAX requests wait, or the connection is lost */
bool plx_san_ask(struct plx_san_arbiter *arbiter, uint64_t process);

/** The request whose turn it was is carried out, or waits for bytes of the other end, which does
 * not hold up others. */
bool plx_san_done(struct plx_san_arbiter *arbiter, uint64_t process);

/** It has given control away: the host has its stream. */
bool plx_san_gave(struct plx_san_arbiter *arbiter, uint64_t process);

/** It has taken control. */
bool plx_san_took(struct plx_san_arbiter *arbiter, uint64_t process);

/**
 * A process has ended, or closed its last descriptor.
 * @param saved the host has the stream of the one in control as if it had been given away. Else the
 *              connection is lost with it.
 */
void plx_san_left(struct plx_san_arbiter *arbiter, uint64_t process, bool saved);

/** The host takes control itself from a controller that does nothing, or has ended: nobody is told
 * anything until it has it. Or from a process that was to take it, and cannot. Returns: false:
 * nobody has control, or is to take it */
bool plx_san_seize(struct plx_san_arbiter *arbiter);

/** ... it is `process` that has it. */
bool plx_san_seized(struct plx_san_arbiter *arbiter, uint64_t process);

/** Does nobody have control, or wait for it? Then the host may take it: it asks, as others do. */
bool plx_san_is_abandoned(const struct plx_san_arbiter *arbiter);

/**
 * Whom to tell what next. It counts as told. Call it again until there is nothing.
 * @param process [out] whom; for OVER: 0
 */
enum plx_san_tell plx_san_tell(struct plx_san_arbiter *arbiter, uint64_t *process);

#endif
