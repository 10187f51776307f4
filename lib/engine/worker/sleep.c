/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See sleep.h. Descriptors are in the set by edges: each write to an eventfd is one, whether or not
 * it was read. So none is ever read, and a program that holds one can neither make the worker wait
 * nor take another's wake-up away. Edges that came while the worker was awake are forgotten before
 * it looks for work once more.
 * Start with sleep_until().
 */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "plx_thread.h"
#include "sleep.h"

enum {
	EDGES = 64, /* forgotten by one call */
	/* Below this a sleep is over before it begins. */
	SLEEP_MIN_NS = 2 * PLX_USEC,
};

bool
sleep_open(struct sleep *sleep, uint64_t max_ns)
{
	*sleep = (struct sleep){
		.set = epoll_create1(EPOLL_CLOEXEC),
		.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
		.max_ns = max_ns != 0 ? max_ns : PLX_WORKER_SLEEP_MAX_NS,
		.nap_ns = PLX_WORKER_NAP_MIN_NS,
	};
	if (sleep->set >= 0 && sleep->bell >= 0 && sleep_watch(sleep, sleep->bell))
		return true;
	sleep_close(sleep);
	return false;
}

void
sleep_close(struct sleep *sleep)
{
	if (sleep->set >= 0)
		close(sleep->set);
	if (sleep->bell >= 0)
		close(sleep->bell);
	sleep->set = sleep->bell = -1;
}

bool
sleep_watch(struct sleep *sleep, int fd)
{
	struct epoll_event edge = {.events = EPOLLIN | EPOLLET};

	return fd >= 0 && (epoll_ctl(sleep->set, EPOLL_CTL_ADD, fd, &edge) == 0 || errno == EEXIST);
}

void
sleep_unwatch(struct sleep *sleep, int fd)
{
	if (fd >= 0)
		(void)epoll_ctl(sleep->set, EPOLL_CTL_DEL, fd, NULL);
}

void
sleep_rouse(struct sleep *sleep)
{
	const uint64_t one = 1;

	(void)!write(sleep->bell, &one, sizeof(one));
}

void
sleep_prepare(struct sleep *sleep)
{
	struct epoll_event edges[EDGES];

	/* Whoever goes on writing is not waited for: an edge that is left ends one sleep early. */
	if (sleep->is_stale)
		(void)epoll_wait(sleep->set, edges, EDGES, 0);
	sleep->is_stale = false;
}

void
sleep_reset(struct sleep *sleep)
{
	sleep->is_stale = true;
	sleep->nap_ns = PLX_WORKER_NAP_MIN_NS;
}

/* [ns] */
static uint64_t
length_of(const struct sleep *sleep, uint64_t until, bool naps)
{
	uint64_t now = plx_clock_ns();
	uint64_t most = plx_time_min(sleep->max_ns, naps ? sleep->nap_ns : PLX_NEVER);

	return until <= now ? 0 : plx_time_min(most, until - now);
}

/* ppoll() of the set, since epoll_wait() has milliseconds. */
bool
sleep_until(struct sleep *sleep, uint64_t until, bool naps)
{
	uint64_t ns = length_of(sleep, until, naps);
	struct timespec limit = {.tv_sec = (time_t)(ns / PLX_SEC), .tv_nsec = (long)(ns % PLX_SEC)};
	struct pollfd set = {.fd = sleep->set, .events = POLLIN};
	bool woken;

	if (ns < SLEEP_MIN_NS)
		return false;
	plx_count(&sleep->done.sleeps, 1);
	woken = ppoll(&set, 1, &limit, NULL) > 0;
	if (woken)
		plx_count(&sleep->done.woken, 1);
	if (woken)
		sleep_reset(sleep);
	else
		sleep->nap_ns = plx_time_min(2 * sleep->nap_ns, PLX_WORKER_NAP_MAX_NS);
	return woken;
}
