/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a session needs of the system, by the system. It knows nothing of sessions but their turns.
 * Start with plx_session_thread_start().
 */
#include "plx_session_system.h"

#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* ---- time ---- */

uint64_t
plx_session_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * PLX_SEC + (uint64_t)now.tv_nsec;
}

static struct timespec
timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / PLX_SEC), .tv_nsec = (long)(ns % PLX_SEC)};
}

void
plx_session_nap(uint64_t ns)
{
	const struct timespec nap = timespec_of(ns);

	nanosleep(&nap, NULL);
}

/* ---- timers ---- */

int
plx_session_timer_open(void)
{
	return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

/* Zeros disarm it. */
void
plx_session_timer_set(int fd, uint64_t at_ns)
{
	struct itimerspec at = {0};

	if (at_ns != PLX_NEVER)
		at.it_value = timespec_of(at_ns);
	(void)timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
}

void
plx_session_timer_clear(int fd)
{
	uint64_t count;

	(void)!read(fd, &count, sizeof(count));
}

void
plx_session_timer_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* ---- the thread ---- */

static void *
run(void *session)
{
	while (plx_session_turn(session, true))
		;
	return NULL;
}

/* The program's threads handle signals. */
bool
plx_session_thread_start(struct plx_session_thread *thread, struct plx_session *session,
			 const char *name, int core)
{
	pthread_attr_t attributes;
	sigset_t all, old;
	cpu_set_t cores;

	if (pthread_attr_init(&attributes))
		return false;
	CPU_ZERO(&cores);
	if (core >= 0)
		CPU_SET((size_t)core, &cores);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	thread->running = (core < 0 ||
			   pthread_attr_setaffinity_np(&attributes, sizeof(cores), &cores) == 0) &&
			  pthread_create(&thread->id, &attributes, run, session) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	if (thread->running)
		(void)pthread_setname_np(thread->id, name);
	return thread->running;
}

void
plx_session_thread_join(struct plx_session_thread *thread)
{
	if (thread->running)
		pthread_join(thread->id, NULL);
	thread->running = false;
}
