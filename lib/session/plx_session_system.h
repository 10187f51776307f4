/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a session needs of the system: the time, pauses, timers, and the thread that delivers. All
 * of it is in one file, system.c, so that the simulator can have another (decision 38). Start with
 * plx_session_thread_start().
 */
#ifndef PLX_SESSION_SYSTEM_H
#define PLX_SESSION_SYSTEM_H

#include <pthread.h>

#include "plx_base.h"

struct plx_session;

/** Nanoseconds of CLOCK_MONOTONIC. */
uint64_t plx_session_now_ns(void);
/** Pause between two questions to the engine or the peer. */
void plx_session_nap(uint64_t ns);

/** A descriptor that becomes readable at a time. Returns: -1: no descriptor is left */
int plx_session_timer_open(void);
/** Set it anew.
 * @param at_ns of plx_session_now_ns(); PLX_NEVER: not at all */
void plx_session_timer_set(int fd, uint64_t at_ns);
/** Make it unreadable. */
void plx_session_timer_clear(int fd);
/** @param fd may be -1 */
void plx_session_timer_close(int fd);

struct plx_session_thread {
	pthread_t id;
	bool running;
};

/**
 * Start the thread of a session, which calls plx_session_turn() until that returns false. It
 * handles no signals.
 * @param name of the thread, at most 15 bytes
 * @param core on which it runs; -1: any
 * Returns: false: the system has no thread left, or the process may not use that core
 */
bool plx_session_thread_start(struct plx_session_thread *thread, struct plx_session *session,
			      const char *name, int core) PLX_MUST_CHECK;
/** Wait until it has ended, if it was started. */
void plx_session_thread_join(struct plx_session_thread *thread);

/**
 * A turn of that thread: sleep until something is ready, and deliver it.
 * @param may_sleep false: deliver what is ready now
 * Returns: false: the session ends, and so does its thread
 */
bool plx_session_turn(struct plx_session *session, bool may_sleep);

#endif
