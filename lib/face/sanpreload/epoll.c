/* SPDX-License-Identifier: BSD-3-Clause
 *
 * epoll: what is registered is recorded here, the switch's descriptors only here. Level and edge
 * triggered, one-shot, and sets within sets. Start with epoll_wait().
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
	bool is_set;   /* the kernel's, which has it registered, and recorded here */
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
	size_t n, room, ours, of_sets;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static struct set *sets;
static atomic_uint count;
static atomic_bool inherited; /* from a parent: of each it is to be found out whose it is */

/* ---- what is registered ---- */

static struct set *
find_set(int fd)
{
	struct set *set = sets;

	while (set != NULL && set->fd != fd)
		set = set->next;
	return set;
}

/* Others may have it already. */
static void
mark_as_set(int fd)
{
	for (struct set *set = sets; set != NULL; set = set->next)
		for (size_t i = 0; i < set->n; i++)
			if (set->entry[i].fd == fd && !set->entry[i].is_set) {
				set->entry[i].is_set = true;
				set->of_sets++;
			}
}

static struct set *
make_set(int fd)
{
	struct set *set = calloc(1, sizeof(*set));

	if (set == NULL)
		return NULL;
	mark_as_set(fd);
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
	set->of_sets -= entry->is_set;
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

	if (!preload_grow((void **)&set->entry, set->n, &set->room, sizeof(*set->entry)))
		return false;
	entry = &set->entry[set->n++];
	*entry = (struct entry){.fd = fd, .ours = ours, .is_set = find_set(fd) != NULL};
	set->ours += ours;
	set->of_sets += entry->is_set;
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

	if (!entry->ours || (!retired && preload_knows(entry->fd)))
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

/* In a child, once: without the lock, which is taken for those that are the switch's. */
static void
find_out_all(void)
{
	int *fds = NULL;
	size_t n = 0;

	if (!atomic_load(&inherited) || !atomic_exchange(&inherited, false))
		return;
	pthread_mutex_lock(&lock);
	for (const struct set *set = sets; set != NULL; set = set->next)
		n += set->ours;
	fds = calloc(n + 1, sizeof(*fds));
	n = 0;
	for (const struct set *set = sets; fds != NULL && set != NULL; set = set->next)
		for (size_t i = 0; i < set->n; i++)
			if (set->entry[i].ours)
				fds[n++] = set->entry[i].fd;
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < n; i++)
		(void)preload_has(fds[i]);
	free(fds);
}

PRELOAD_CALL int
epoll_ctl(int epfd, int operation, int fd, struct epoll_event *event)
{
	bool ours = preload_has(fd);
	struct set *set;
	int result, error;

	if (!ours && !preload_is_active())
		return REAL(epoll_ctl)(epfd, operation, fd, event);
	find_out_all();
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
	atomic_store(&inherited, atomic_load(&count) > 0);
}

/* ---- waiting ---- */

static uint32_t look_at(struct entry *entry);

/* Does it hold something of the switch's that is to be reported? That stays so.
 * @param arrived [in, out] changes with whatever arrives */
static bool
has_news(const struct set *set, uint64_t *arrived)
{
	bool news = false;

	for (size_t i = 0; i < set->n; i++) {
		struct entry copy = set->entry[i];

		if (!copy.ours && !copy.is_set)
			continue;
		news |= look_at(&copy) != 0;
		*arrived += copy.arrived;
	}
	return news;
}

/* Of a set within a set: what the kernel does not report itself. */
static uint32_t
bits_of_set(const struct entry *entry, struct san_client_ready *ready)
{
	struct pollfd kernels = {.fd = entry->fd, .events = POLLIN};
	const struct set *inner = find_set(entry->fd);

	*ready = (struct san_client_ready){.arrived = 0};
	if (inner == NULL || !has_news(inner, &ready->arrived) || REAL(poll)(&kernels, 1, 0) > 0)
		return 0;
	return entry->event.events & (EPOLLIN | EPOLLRDNORM);
}

/* Returns: what is to be reported of it now; 0: nothing */
static uint32_t
look_at(struct entry *entry)
{
	struct san_client_ready ready;
	uint32_t bits;
	bool edge;

	if (entry->reported)
		return 0;
	if (entry->is_set)
		bits = bits_of_set(entry, &ready);
	else
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
		bits = entry->ours || entry->is_set ? look_at(entry) : 0;
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

/* The kernel's of it, the switch's, and those of sets in it. The lock is held.
 * Returns: false: there is no memory */
static bool
sleep_on_set(struct preload_sleep *sleep, const struct set *set)
{
	bool good = preload_sleep_file(sleep, set->fd, POLLIN);

	for (size_t i = 0; good && i < set->n; i++) {
		const struct entry *entry = &set->entry[i];
		const struct set *inner = entry->is_set ? find_set(entry->fd) : NULL;

		if (entry->ours)
			good = preload_sleep_on(sleep, entry->fd);
		else if (inner != NULL)
			good = sleep_on_set(sleep, inner);
	}
	return good;
}

bool
preload_epoll_sleep_on(struct preload_sleep *sleep, int fd)
{
	const struct set *set;
	bool good;

	pthread_mutex_lock(&lock);
	set = find_set(fd);
	good = set == NULL || sleep_on_set(sleep, set);
	pthread_mutex_unlock(&lock);
	return good;
}

static int
sleep_on(int epfd, int ms, const sigset_t *mask, struct epoll_event *out, int most)
{
	struct preload_sleep sleep = {.n = 0};
	int slept = -1, error = ENOMEM;

	if (preload_epoll_sleep_on(&sleep, epfd)) {
		/* What came before they were armed. */
		slept = look(epfd, out, most);
		if (slept == 0 && preload_sleep_for(&sleep, ms, mask) < 0)
			slept = -1;
		error = errno;
	}
	preload_sleep_over(&sleep);
	preload_sleep_free(&sleep);
	errno = error;
	return slept;
}

static bool
holds_ours(const struct set *set)
{
	if (set->ours > 0)
		return true;
	for (size_t i = 0; set->of_sets > 0 && i < set->n; i++) {
		const struct set *inner = set->entry[i].is_set ? find_set(set->entry[i].fd) : NULL;

		if (inner != NULL && holds_ours(inner))
			return true;
	}
	return false;
}

bool
preload_epoll_has(int fd)
{
	const struct set *set;
	bool has;

	if (atomic_load(&count) == 0 || !preload_is_active())
		return false;
	find_out_all();
	pthread_mutex_lock(&lock);
	set = find_set(fd);
	has = set != NULL && holds_ours(set);
	pthread_mutex_unlock(&lock);
	return has;
}

bool
preload_epoll_is_ready(int fd)
{
	struct pollfd kernels = {.fd = fd, .events = POLLIN};
	uint64_t ignored = 0;
	const struct set *set;
	bool ready;

	pthread_mutex_lock(&lock);
	set = find_set(fd);
	ready = set != NULL && has_news(set, &ignored);
	pthread_mutex_unlock(&lock);
	return ready || REAL(poll)(&kernels, 1, 0) > 0;
}

PRELOAD_CALL int
epoll_pwait(int epfd, struct epoll_event *out, int most, int ms, const sigset_t *mask)
{
	uint64_t begun = preload_now_ns(), end = begun + (uint64_t)(ms > 0 ? ms : 0) * 1000000u;

	if (most <= 0 || !preload_epoll_has(epfd))
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

PRELOAD_CALL int
epoll_pwait2(int epfd, struct epoll_event *out, int most, const struct timespec *span,
	     const sigset_t *mask)
{
	return preload_epoll_has(epfd) ? epoll_pwait(epfd, out, most, preload_ms(span), mask)
				       : REAL(epoll_pwait2)(epfd, out, most, span, mask);
}
