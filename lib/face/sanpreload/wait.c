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

/* ---- a set of both kinds ---- */

struct both {
	struct pollfd *fds;
	nfds_t n;
	bool *ours;           /* [n] */
	struct pollfd *sleep; /* the kernel's, then what the switch's sleep on */
};

static bool
has_any(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++)
		if (preload_has(fds[i].fd))
			return true;
	return false;
}

static bool
make(struct both *both, struct pollfd *fds, nfds_t n)
{
	*both = (struct both){.fds = fds, .n = n};
	both->ours = calloc(n + 1, sizeof(bool));
	both->sleep = calloc(n * (SAN_SLEEP_FDS + 1) + 1, sizeof(*both->sleep));
	if (both->ours == NULL || both->sleep == NULL)
		return false;
	for (nfds_t i = 0; i < n; i++)
		both->ours[i] = preload_has(fds[i].fd);
	return true;
}

static void
drop(struct both *both)
{
	free(both->ours);
	free(both->sleep);
}

static int
look_at_ours(struct both *both)
{
	struct san_client_ready of;
	int ready = 0;

	for (nfds_t i = 0; i < both->n; i++) {
		both->ours[i] = both->ours[i] && preload_has(both->fds[i].fd);
		if (!both->ours[i])
			continue;
		both->fds[i].revents = preload_ready(both->fds[i].fd, both->fds[i].events, &of);
		ready += both->fds[i].revents != 0;
	}
	return ready;
}

/* The kernel's, at once or in a sleep; the switch's are left out. */
static nfds_t
collect_kernels(struct both *both)
{
	for (nfds_t i = 0; i < both->n; i++) {
		both->sleep[i] = both->fds[i];
		if (both->ours[i])
			both->sleep[i].fd = -1;
	}
	return both->n;
}

static int
count_kernels(struct both *both)
{
	int ready = 0;

	for (nfds_t i = 0; i < both->n; i++) {
		if (both->ours[i])
			continue;
		both->fds[i].revents = both->sleep[i].revents;
		ready += both->fds[i].revents != 0;
	}
	return ready;
}

static int
look(struct both *both)
{
	int ready = look_at_ours(both);

	if (REAL(poll)(both->sleep, collect_kernels(both), 0) > 0)
		ready += count_kernels(both);
	return ready;
}

static int
sleep_on(struct both *both, int ms, const sigset_t *mask)
{
	const struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
	nfds_t n = collect_kernels(both);
	int ready, error;

	preload_enter();
	for (nfds_t i = 0; i < both->n; i++) {
		int fds[SAN_SLEEP_FDS],
			k = both->ours[i] ? san_client_sleep(both->fds[i].fd, fds) : 0;

		while (k-- > 0)
			both->sleep[n++] = (struct pollfd){.fd = fds[k], .events = POLLIN};
	}
	preload_leave();
	/* What came before they were armed. */
	ready = look_at_ours(both);
	if (ready == 0)
		ready = REAL(ppoll)(both->sleep, n, ms < 0 ? NULL : &span, mask);
	error = errno;
	preload_enter();
	for (nfds_t i = 0; i < both->n; i++)
		if (both->ours[i])
			san_client_slept(both->fds[i].fd);
	preload_leave();
	errno = error;
	return ready;
}

static int
poll_all(struct both *both, int ms, const sigset_t *mask)
{
	uint64_t begun = preload_now_ns(), end = begun + (uint64_t)(ms > 0 ? ms : 0) * 1000000u;

	for (;;) {
		int ready = look(both), left = -1;
		uint64_t now = preload_now_ns();

		if (ready > 0 || ms == 0 || (ms > 0 && now >= end))
			return ready;
		if (now < begun + PRELOAD_SPIN_NS)
			continue;
		if (ms > 0)
			left = (int)((end - now + 999999u) / 1000000u);
		if (sleep_on(both, left, mask) < 0)
			return -1;
	}
}

static int
poll_both(struct pollfd *fds, nfds_t n, int ms, const sigset_t *mask, bool *is_kernels)
{
	struct both both;
	int ready = -1;

	*is_kernels = !has_any(fds, n);
	if (*is_kernels)
		return 0;
	if (make(&both, fds, n))
		ready = poll_all(&both, ms, mask);
	else
		errno = ENOMEM;
	drop(&both);
	return ready;
}

PRELOAD_CALL int
poll(struct pollfd *fds, nfds_t n, int ms)
{
	bool is_kernels;
	int ready = poll_both(fds, n, ms, NULL, &is_kernels);

	return is_kernels ? REAL(poll)(fds, n, ms) : ready;
}

PRELOAD_CALL int
ppoll(struct pollfd *fds, nfds_t n, const struct timespec *span, const sigset_t *mask)
{
	bool is_kernels;
	int ready = poll_both(fds, n, preload_ms(span), mask, &is_kernels);

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
		*any |= preload_has(fd);
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
select_both(int n, struct sets *sets, int ms, const sigset_t *mask, int *result)
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
		*result = poll_both(fds, used, ms, mask, &is_kernels);
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

	return select_both(n, &sets, preload_ms(span), mask, &result)
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
	if (!select_both(n, &sets, preload_ms(span != NULL ? &time : NULL), NULL, &result))
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
