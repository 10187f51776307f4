/* SPDX-License-Identifier: BSD-3-Clause
 *
 * poll() and select(): the switch's descriptors are looked at, and slept on, among the kernel's.
 * Start with poll_all().
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "preload.h"

uint64_t
preload_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

int
preload_ms(const struct timespec *span)
{
	int64_t ms;

	if (span == NULL)
		return -1;
	if (span->tv_sec > INT_MAX / 1000 - 1)
		return INT_MAX;
	ms = (int64_t)span->tv_sec * 1000 + (span->tv_nsec + 999999) / 1000000;
	return (int)ms;
}

short
preload_ready(int fd, short events, struct san_client_ready *ready)
{
	short revents = 0;

	if (san_client_is_connecting(fd)) {
		*ready = (struct san_client_ready){.in = false};
		return 0;
	}
	preload_enter();
	/* One that has become relayed: the kernel says more. */
	if (!san_client_ready(fd, ready))
		*ready = (struct san_client_ready){.ended = !san_client_is_relayed(fd)};
	preload_leave();
	if (ready->in || ready->ended)
		revents |= POLLIN | POLLRDNORM;
	if (ready->end || ready->ended)
		revents |= POLLRDHUP;
	if (ready->urgent)
		revents |= POLLPRI;
	if (ready->out || ready->ended)
		revents |= POLLOUT | POLLWRNORM;
	revents &= events;
	if (ready->error)
		revents |= POLLERR;
	if (ready->ended || (ready->end && ready->shut))
		revents |= POLLHUP;
	return revents;
}

/* ---- a set of all kinds ---- */

enum kind {
	KERNELS,
	SWITCHS,
	SET, /* of epoll, with some of the switch's in it */
};

struct polled {
	struct pollfd *fds;
	nfds_t n;
	enum kind *kind; /* [n] */
	/* of these the kernel's in their places, then what is slept on */
	struct preload_sleep sleep;
};

static enum kind
kind_of(int fd)
{
	return preload_has(fd) ? SWITCHS : preload_epoll_has(fd) ? SET : KERNELS;
}

static bool
has_any(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++)
		if (kind_of(fds[i].fd) != KERNELS)
			return true;
	return false;
}

static bool
make(struct polled *polled, struct pollfd *fds, nfds_t n)
{
	*polled = (struct polled){.fds = fds, .n = n};
	polled->kind = calloc(n + 1, sizeof(*polled->kind));
	if (polled->kind == NULL)
		return false;
	for (nfds_t i = 0; i < n; i++)
		polled->kind[i] = kind_of(fds[i].fd);
	return true;
}

static void
drop(struct polled *polled)
{
	free(polled->kind);
	preload_sleep_free(&polled->sleep);
}

static short
look_at(struct polled *polled, nfds_t i)
{
	struct pollfd *one = &polled->fds[i];
	struct san_client_ready of;

	if (polled->kind[i] == SET)
		return preload_epoll_is_ready(one->fd) ? one->events & (POLLIN | POLLRDNORM) : 0;
	return preload_ready(one->fd, one->events, &of);
}

/* All but the kernel's. Returns: how many are ready */
static int
look_at_ours(struct polled *polled)
{
	int ready = 0;

	for (nfds_t i = 0; i < polled->n; i++) {
		if (polled->kind[i] == SWITCHS && !preload_has(polled->fds[i].fd))
			polled->kind[i] = KERNELS;
		if (polled->kind[i] == KERNELS)
			continue;
		polled->fds[i].revents = look_at(polled, i);
		ready += polled->fds[i].revents != 0;
	}
	return ready;
}

/* The kernel's, at once or in a sleep; the others are left out. */
static bool
collect_kernels(struct polled *polled)
{
	polled->sleep.n = 0;
	for (nfds_t i = 0; i < polled->n; i++)
		if (!preload_sleep_file(&polled->sleep,
					polled->kind[i] == KERNELS ? polled->fds[i].fd : -1,
					polled->fds[i].events))
			return false;
	return true;
}

static int
count_kernels(struct polled *polled)
{
	int ready = 0;

	for (nfds_t i = 0; i < polled->n; i++) {
		if (polled->kind[i] != KERNELS)
			continue;
		polled->fds[i].revents = polled->sleep.fds[i].revents;
		ready += polled->fds[i].revents != 0;
	}
	return ready;
}

/* Returns: how many are ready; -1: ENOMEM */
static int
look(struct polled *polled)
{
	int ready = look_at_ours(polled);

	if (!collect_kernels(polled)) {
		errno = ENOMEM;
		return -1;
	}
	if (REAL(poll)(polled->sleep.fds, polled->n, 0) > 0)
		ready += count_kernels(polled);
	return ready;
}

static bool
collect_all(struct polled *polled)
{
	bool good = collect_kernels(polled);

	for (nfds_t i = 0; good && i < polled->n; i++)
		if (polled->kind[i] == SWITCHS)
			good = preload_sleep_on(&polled->sleep, polled->fds[i].fd);
		else if (polled->kind[i] == SET)
			good = preload_epoll_sleep_on(&polled->sleep, polled->fds[i].fd);
	return good;
}

static int
sleep_on(struct polled *polled, int ms, const sigset_t *mask)
{
	int ready = -1, error = ENOMEM;

	if (collect_all(polled)) {
		/* What came before they were armed. */
		ready = look_at_ours(polled);
		if (ready == 0)
			ready = preload_sleep_for(&polled->sleep, ms, mask);
		error = errno;
	}
	preload_sleep_over(&polled->sleep);
	errno = error;
	return ready;
}

static int
poll_all(struct polled *polled, int ms, const sigset_t *mask)
{
	uint64_t begun = preload_now_ns(), end = begun + (uint64_t)(ms > 0 ? ms : 0) * 1000000u;

	for (;;) {
		int ready = look(polled), left = -1;
		uint64_t now = preload_now_ns();

		if (ready != 0 || ms == 0 || (ms > 0 && now >= end))
			return ready;
		if (now < begun + PRELOAD_SPIN_NS)
			continue;
		if (ms > 0)
			left = (int)((end - now + 999999u) / 1000000u);
		if (sleep_on(polled, left, mask) < 0)
			return -1;
	}
}

static int
poll_mixed(struct pollfd *fds, nfds_t n, int ms, const sigset_t *mask, bool *is_kernels)
{
	struct polled polled;
	int ready = -1;

	*is_kernels = !has_any(fds, n);
	if (*is_kernels)
		return 0;
	if (make(&polled, fds, n))
		ready = poll_all(&polled, ms, mask);
	else
		errno = ENOMEM;
	drop(&polled);
	return ready;
}

PRELOAD_CALL int
poll(struct pollfd *fds, nfds_t n, int ms)
{
	bool is_kernels;
	int ready = poll_mixed(fds, n, ms, NULL, &is_kernels);

	return is_kernels ? REAL(poll)(fds, n, ms) : ready;
}

PRELOAD_CALL int
ppoll(struct pollfd *fds, nfds_t n, const struct timespec *span, const sigset_t *mask)
{
	bool is_kernels;
	int ready = poll_mixed(fds, n, preload_ms(span), mask, &is_kernels);

	return is_kernels ? REAL(ppoll)(fds, n, span, mask) : ready;
}

PRELOAD_CALL int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room);

int
__poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t room)
{
	if (room / sizeof(*fds) < n)
		abort();
	return poll(fds, n, ms);
}

/* ---- select() ---- */

struct sets {
	fd_set *in, *out, *odd;
};

static short
events_of(const struct sets *sets, int fd)
{
	return (short)((sets->in != NULL && FD_ISSET(fd, sets->in) ? POLLIN : 0) |
		       (sets->out != NULL && FD_ISSET(fd, sets->out) ? POLLOUT : 0) |
		       (sets->odd != NULL && FD_ISSET(fd, sets->odd) ? POLLPRI : 0));
}

static nfds_t
fds_of(const struct sets *sets, int n, struct pollfd *fds, bool *any)
{
	nfds_t used = 0;

	*any = false;
	for (int fd = 0; fd < n; fd++) {
		short events = events_of(sets, fd);

		if (events == 0)
			continue;
		fds[used++] = (struct pollfd){.fd = fd, .events = events};
		*any |= kind_of(fd) != KERNELS;
	}
	return used;
}

static int
set_if(fd_set *set, int fd, bool ready)
{
	if (set == NULL || !FD_ISSET(fd, set))
		return 0;
	if (!ready)
		FD_CLR(fd, set);
	return ready;
}

/* As the kernel maps what poll() says. */
static int
write_sets(struct sets *sets, const struct pollfd *fds, nfds_t n)
{
	int ready = 0;

	for (nfds_t i = 0; i < n; i++) {
		short r = fds[i].revents;

		ready += set_if(sets->in, fds[i].fd, r & (POLLIN | POLLHUP | POLLERR));
		ready += set_if(sets->out, fds[i].fd, r & (POLLOUT | POLLERR));
		ready += set_if(sets->odd, fds[i].fd, r & POLLPRI);
	}
	return ready;
}

/* Returns: false: all are the kernel's */
static bool
select_mixed(int n, struct sets *sets, int ms, const sigset_t *mask, int *result)
{
	struct pollfd *fds;
	bool any, is_kernels;
	nfds_t used;

	if (n < 0 || n > FD_SETSIZE)
		return false;
	fds = calloc((size_t)n + 1, sizeof(*fds));
	if (fds == NULL)
		return false;
	used = fds_of(sets, n, fds, &any);
	if (any) {
		*result = poll_mixed(fds, used, ms, mask, &is_kernels);
		if (*result >= 0)
			*result = write_sets(sets, fds, used);
	}
	free(fds);
	return any;
}

PRELOAD_CALL int
pselect(int n, fd_set *in, fd_set *out, fd_set *odd, const struct timespec *span,
	const sigset_t *mask)
{
	struct sets sets = {in, out, odd};
	int result;

	return select_mixed(n, &sets, preload_ms(span), mask, &result)
		       ? result
		       : REAL(pselect)(n, in, out, odd, span, mask);
}

/* Linux says how much of the time is left. */
PRELOAD_CALL int
select(int n, fd_set *in, fd_set *out, fd_set *odd, struct timeval *span)
{
	struct sets sets = {in, out, odd};
	struct timespec time;
	uint64_t begun = preload_now_ns(), used, whole;
	int result;

	if (span != NULL) {
		time.tv_sec = span->tv_sec;
		time.tv_nsec = span->tv_usec * 1000;
	}
	if (!select_mixed(n, &sets, preload_ms(span != NULL ? &time : NULL), NULL, &result))
		return REAL(select)(n, in, out, odd, span);
	if (span != NULL) {
		whole = (uint64_t)span->tv_sec * 1000000u + (uint64_t)span->tv_usec;
		used = (preload_now_ns() - begun) / 1000;
		whole = whole > used ? whole - used : 0;
		span->tv_sec = (time_t)(whole / 1000000u);
		span->tv_usec = (suseconds_t)(whole % 1000000u);
	}
	return result;
}
