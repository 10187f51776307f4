/* SPDX-License-Identifier: BSD-3-Clause
 *
 * epoll: what is registered is recorded here, the switch's descriptors only here. Level and edge
 * triggered, and one-shot. Start with epoll_wait().
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"

_Static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR &&
		       EPOLLHUP == POLLHUP && EPOLLRDHUP == POLLRDHUP,
	       "both have the same bits");

struct entry {
	int fd;
	bool ours;
	bool reported; /* one-shot: not again before it is modified */
	struct epoll_event event;
	/* edges that were reported */
	uint64_t arrived, released;
	uint32_t bits;
};

struct set {
	struct set *next;
	int fd;
	struct entry *entry; /* [n], in no order */
	size_t n, room, ours;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static struct set *sets;
static atomic_uint count;

/* ---- what is registered ---- */

static struct set *
find_set(int fd)
{
	struct set *set = sets;

	while (set != NULL && set->fd != fd)
		set = set->next;
	return set;
}

static struct set *
make_set(int fd)
{
	struct set *set = calloc(1, sizeof(*set));

	if (set == NULL)
		return NULL;
	set->fd = fd;
	set->next = sets;
	sets = set;
	atomic_fetch_add(&count, 1);
	return set;
}

static struct entry *
find_entry(const struct set *set, int fd)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->entry[i].fd == fd)
			return &set->entry[i];
	return NULL;
}

static void
drop_entry(struct set *set, struct entry *entry)
{
	set->ours -= entry->ours;
	*entry = set->entry[--set->n];
}

static void
arm(struct entry *entry, const struct epoll_event *event)
{
	entry->event = *event;
	entry->reported = false;
	entry->arrived = entry->released = UINT64_MAX; /* what is ready is an edge */
	entry->bits = 0;
}

static bool
add_entry(struct set *set, int fd, bool ours, const struct epoll_event *event)
{
	struct entry *entry;

	if (set->n == set->room) {
		size_t room = set->room > 0 ? 2 * set->room : 16;
		void *more = realloc(set->entry, room * sizeof(*set->entry));

		if (more == NULL)
			return false;
		set->entry = more;
		set->room = room;
	}
	entry = &set->entry[set->n++];
	*entry = (struct entry){.fd = fd, .ours = ours};
	set->ours += ours;
	arm(entry, event);
	return true;
}

/* One that is relayed or that TCP connects, or all when this library has retired, is the kernel's,
 * which has not heard of it here. What was reported once is registered without events: it may be
 * modified. */
static void
settle(struct set *set, struct entry *entry, bool retired)
{
	struct epoll_event event = entry->event;

	if (!entry->ours || (!retired && preload_has(entry->fd)))
		return;
	entry->ours = false;
	set->ours--;
	if (entry->reported)
		event.events = EPOLLONESHOT;
	(void)REAL(epoll_ctl)(set->fd, EPOLL_CTL_ADD, entry->fd, &event);
}

/* Returns: 0, or an error */
static int
change_ours(struct set *set, int operation, int fd, const struct epoll_event *event)
{
	struct entry *entry = find_entry(set, fd);

	if (operation == EPOLL_CTL_ADD)
		return entry != NULL ? EEXIST : add_entry(set, fd, true, event) ? 0 : ENOMEM;
	if (entry == NULL)
		return ENOENT;
	if (operation == EPOLL_CTL_MOD)
		arm(entry, event);
	else if (operation == EPOLL_CTL_DEL)
		drop_entry(set, entry);
	else
		return EINVAL;
	return 0;
}

/* The kernel has accepted it. */
static void
record(struct set *set, int operation, int fd, const struct epoll_event *event)
{
	struct entry *entry = find_entry(set, fd);

	if (operation == EPOLL_CTL_DEL && entry != NULL)
		drop_entry(set, entry);
	else if (operation != EPOLL_CTL_DEL && entry != NULL)
		arm(entry, event);
	else if (operation == EPOLL_CTL_ADD)
		(void)add_entry(set, fd, false, event);
}

PRELOAD_CALL int
epoll_ctl(int epfd, int operation, int fd, struct epoll_event *event)
{
	bool ours = preload_has(fd);
	struct set *set;
	int result, error;

	if (!ours && !preload_is_active())
		return REAL(epoll_ctl)(epfd, operation, fd, event);
	pthread_mutex_lock(&lock);
	set = find_set(epfd);
	if (set == NULL)
		set = make_set(epfd);
	if (set == NULL) {
		error = ENOMEM;
	} else if (ours) {
		error = change_ours(set, operation, fd, event);
	} else {
		struct entry *entry = find_entry(set, fd);

		if (entry != NULL)
			settle(set, entry, false);
		result = REAL(epoll_ctl)(epfd, operation, fd, event);
		error = result == 0 ? 0 : errno;
		if (error == 0)
			record(set, operation, fd, event);
	}
	pthread_mutex_unlock(&lock);
	if (error == 0)
		return 0;
	errno = error;
	return -1;
}

void
preload_epoll_adopt(int fd)
{
	if (atomic_load(&count) == 0)
		return;
	pthread_mutex_lock(&lock);
	for (struct set *set = sets; set != NULL; set = set->next) {
		struct entry *entry = find_entry(set, fd);

		if (entry == NULL || entry->ours)
			continue;
		(void)REAL(epoll_ctl)(set->fd, EPOLL_CTL_DEL, fd, NULL);
		entry->ours = true;
		set->ours++;
		arm(entry, &(struct epoll_event){entry->event.events, entry->event.data});
	}
	pthread_mutex_unlock(&lock);
}

void
preload_epoll_settle(void)
{
	pthread_mutex_lock(&lock);
	for (struct set *set = sets; set != NULL; set = set->next)
		for (size_t i = 0; i < set->n; i++)
			settle(set, &set->entry[i], true);
	pthread_mutex_unlock(&lock);
}

static void
forget_set(int fd)
{
	struct set **at = &sets, *set;

	while (*at != NULL && (*at)->fd != fd)
		at = &(*at)->next;
	set = *at;
	if (set == NULL)
		return;
	*at = set->next;
	free(set->entry);
	free(set);
	atomic_fetch_sub(&count, 1);
}

void
preload_epoll_forget(int fd)
{
	if (atomic_load(&count) == 0)
		return;
	pthread_mutex_lock(&lock);
	forget_set(fd);
	for (struct set *set = sets; set != NULL; set = set->next) {
		struct entry *entry = find_entry(set, fd);

		if (entry != NULL)
			drop_entry(set, entry);
	}
	pthread_mutex_unlock(&lock);
}

void
preload_epoll_child(void)
{
	pthread_mutex_init(&lock, NULL);
}

/* ---- waiting ---- */

/* Returns: what is to be reported of it now; 0: nothing */
static uint32_t
look_at(struct entry *entry)
{
	struct san_client_ready ready;
	uint32_t bits;
	bool edge;

	if (entry->reported)
		return 0;
	bits = (uint16_t)preload_ready(entry->fd, (short)entry->event.events, &ready);
	edge = ((bits & EPOLLIN) && ready.arrived != entry->arrived) ||
	       ((bits & EPOLLOUT) && ready.released != entry->released) ||
	       (bits & ~entry->bits) != 0;
	entry->arrived = ready.arrived;
	entry->released = ready.released;
	entry->bits = bits;
	if (bits == 0 || ((entry->event.events & EPOLLET) && !edge))
		return 0;
	entry->reported = entry->event.events & EPOLLONESHOT;
	return bits;
}

/* Whoever was reported last comes last, so that none is left out. */
static int
look(int epfd, struct epoll_event *out, int most)
{
	struct set *set;
	int n = 0;

	pthread_mutex_lock(&lock);
	set = find_set(epfd);
	for (size_t i = 0; set != NULL && i < set->n && n < most; i++) {
		struct entry *entry = &set->entry[i];
		uint32_t bits;

		settle(set, entry, false);
		bits = entry->ours ? look_at(entry) : 0;
		if (bits == 0)
			continue;
		out[n++] = (struct epoll_event){bits, entry->event.data};
	}
	if (set != NULL && n == most && set->n > 1) {
		struct entry first = set->entry[0];

		memmove(&set->entry[0], &set->entry[1], (set->n - 1) * sizeof(first));
		set->entry[set->n - 1] = first;
	}
	pthread_mutex_unlock(&lock);
	return n;
}

/* @param out [out] to be freed; NULL: there is no memory. Returns: how many */
static size_t
ours_of(int epfd, int **out)
{
	size_t n = 0;
	struct set *set;

	pthread_mutex_lock(&lock);
	set = find_set(epfd);
	*out = calloc(set != NULL ? set->ours + 1 : 1, sizeof(**out));
	for (size_t i = 0; *out != NULL && set != NULL && i < set->n; i++)
		if (set->entry[i].ours)
			(*out)[n++] = set->entry[i].fd;
	pthread_mutex_unlock(&lock);
	return n;
}

static int
sleep_on(int epfd, int ms, const sigset_t *mask, struct epoll_event *out, int most)
{
	const struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
	int *ours, slept, error;
	size_t n = ours_of(epfd, &ours);
	struct pollfd *fds = ours != NULL ? calloc(n * SAN_SLEEP_FDS + 1, sizeof(*fds)) : NULL;
	nfds_t used = 0;

	if (fds == NULL) {
		free(ours);
		errno = ENOMEM;
		return -1;
	}
	fds[used++] = (struct pollfd){.fd = epfd, .events = POLLIN};
	preload_enter();
	for (size_t i = 0; i < n; i++) {
		int of[SAN_SLEEP_FDS], k = san_client_sleep(ours[i], of);

		while (k-- > 0)
			fds[used++] = (struct pollfd){.fd = of[k], .events = POLLIN};
	}
	preload_leave();
	/* What came before they were armed. */
	slept = look(epfd, out, most);
	if (slept == 0 && REAL(ppoll)(fds, used, ms < 0 ? NULL : &span, mask) < 0)
		slept = -1;
	error = errno;
	preload_enter();
	for (size_t i = 0; i < n; i++)
		san_client_slept(ours[i]);
	preload_leave();
	free(ours);
	free(fds);
	errno = error;
	return slept;
}

static bool
has_ours(int epfd)
{
	const struct set *set;
	bool has;

	if (atomic_load(&count) == 0)
		return false;
	pthread_mutex_lock(&lock);
	set = find_set(epfd);
	has = set != NULL && set->ours > 0;
	pthread_mutex_unlock(&lock);
	return has;
}

PRELOAD_CALL int
epoll_pwait(int epfd, struct epoll_event *out, int most, int ms, const sigset_t *mask)
{
	uint64_t begun = preload_now_ns(), end = begun + (uint64_t)(ms > 0 ? ms : 0) * 1000000u;

	if (most <= 0 || !has_ours(epfd))
		return REAL(epoll_pwait)(epfd, out, most, ms, mask);
	for (;;) {
		int n = look(epfd, out, most), more = 0, left = -1;
		uint64_t now = preload_now_ns();

		if (n < most)
			more = REAL(epoll_wait)(epfd, out + n, most - n, 0);
		if (n + more > 0)
			return n + (more > 0 ? more : 0);
		if (more < 0 || ms == 0 || (ms > 0 && now >= end))
			return more;
		if (now < begun + PRELOAD_SPIN_NS)
			continue;
		if (ms > 0)
			left = (int)((end - now + 999999u) / 1000000u);
		n = sleep_on(epfd, left, mask, out, most);
		if (n != 0)
			return n;
	}
}

PRELOAD_CALL int
epoll_wait(int epfd, struct epoll_event *out, int most, int ms)
{
	return epoll_pwait(epfd, out, most, ms, NULL);
}
