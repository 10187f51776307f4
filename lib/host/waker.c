/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See waker.h. Each descriptor has a bit, which any number of engines set without waiting for each
 * other, as with doorbells (decision 9). Start with wake().
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "waker.h"

enum {
	FDS_MAX = 1 << 16, /* numbers of descriptors */
	WORDS = FDS_MAX / 64,
	SUMMARIES = WORDS / 64,
};

/* A bit for each descriptor, and one for each word that has such a bit. */
struct bits {
	atomic_ulong summary[SUMMARIES];
	atomic_ulong word[WORDS];
};

struct waker {
	struct plx_waker ops;
	struct bits wakes;
	struct bits ends; /* to be closed: nobody wakes by them any more */
	pthread_t thread;
	int bell; /* an eventfd of ours alone */
	atomic_bool asleep, stop;
};

/* The bit is set before its summary, and both before we look whether the thread sleeps: it looks in
 * the opposite order. */
static void
put(struct waker *waker, struct bits *bits, int fd)
{
	uint32_t word = (uint32_t)fd / 64;
	const uint64_t one = 1;

	atomic_fetch_or(&bits->word[word], UINT64_C(1) << (fd % 64));
	atomic_fetch_or(&bits->summary[word / 64], UINT64_C(1) << (word % 64));
	if (atomic_load(&waker->asleep) && atomic_exchange(&waker->asleep, false))
		(void)!write(waker->bell, &one, sizeof(one));
}

static void
wake(struct plx_waker *ops, int fd)
{
	struct waker *waker = plx_list_entry(ops, struct waker, ops);

	put(waker, &waker->wakes, fd);
}

static void
end(struct plx_waker *ops, int fd)
{
	struct waker *waker = plx_list_entry(ops, struct waker, ops);

	put(waker, &waker->ends, fd);
}

/* Take all bits, and do something about each.
 * Returns: how many */
static uint32_t
take(struct waker *waker, struct bits *bits, void (*act)(struct waker *waker, int fd))
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < SUMMARIES; i++) {
		uint64_t words = atomic_load(&bits->summary[i]);

		if (words != 0)
			words = atomic_exchange(&bits->summary[i], 0);
		for (; words != 0; words &= words - 1) {
			uint32_t word = 64 * i + (uint32_t)__builtin_ctzl(words);
			uint64_t fds = atomic_exchange(&bits->word[word], 0);

			for (; fds != 0; fds &= fds - 1, taken++)
				act(waker, (int)(64 * word + (uint32_t)__builtin_ctzl(fds)));
		}
	}
	return taken;
}

/* Only its readability matters, so a full one has had its effect. */
static void
send_one(struct waker *waker, int fd)
{
	const uint64_t one = 1;

	(void)waker;
	(void)!send(fd, &one, sizeof(one), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Nobody wakes by it any more; a wake that was not sent yet must not reach whoever gets the same
 * number next. */
static void
close_one(struct waker *waker, int fd)
{
	atomic_fetch_and(&waker->wakes.word[fd / 64], ~(UINT64_C(1) << (fd % 64)));
	close(fd);
}

static uint32_t
take_all(struct waker *waker)
{
	return take(waker, &waker->wakes, send_one) + take(waker, &waker->ends, close_one);
}

static void *
run(void *arg)
{
	struct waker *waker = arg;
	uint64_t count;

	for (;;) {
		if (take_all(waker) > 0)
			continue;
		if (atomic_load(&waker->stop))
			return NULL;
		atomic_store(&waker->asleep, true);
		if (take_all(waker) == 0 && !atomic_load(&waker->stop))
			(void)!read(waker->bell, &count, sizeof(count));
		atomic_store(&waker->asleep, false);
	}
}

enum plx_status
waker_start(struct waker **out)
{
	struct waker *waker = calloc(1, sizeof(*waker));

	if (waker == NULL)
		return PLX_NO_MEMORY;
	waker->ops = (struct plx_waker){.wake = wake, .close = end};
	waker->bell = eventfd(0, EFD_CLOEXEC);
	if (waker->bell < 0 || pthread_create(&waker->thread, NULL, run, waker) != 0) {
		if (waker->bell >= 0)
			close(waker->bell);
		free(waker);
		return PLX_NO_MEMORY;
	}
	*out = waker;
	return PLX_OK;
}

void
waker_stop(struct waker *waker)
{
	const uint64_t one = 1;

	atomic_store(&waker->stop, true);
	(void)!write(waker->bell, &one, sizeof(one));
	pthread_join(waker->thread, NULL);
	close(waker->bell);
	free(waker);
}

struct plx_waker *
waker_of(struct waker *waker)
{
	return &waker->ops;
}

bool
waker_open(struct waker *waker, int *ours, int *theirs)
{
	int pair[2];

	(void)waker;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
		return false;
	if (pair[0] >= FDS_MAX) {
		close(pair[0]);
		close(pair[1]);
		return false;
	}
	*ours = pair[0];
	*theirs = pair[1];
	return true;
}
