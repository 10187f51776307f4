/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptors by which a queue wakes waiting threads. Start with engine_fd().
 */
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "plx_steps.h"
#include "plx_wake.h"

int
engine_fd(atomic_int *fd)
{
	int old = atomic_load(fd), own;

	if (old >= 0)
		return old;
	own = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (own < 0)
		return -1;
	if (!atomic_compare_exchange_strong(fd, &old, own)) {
		close(own);
		return old;
	}
	return own;
}

void
engine_wake(struct plx_waker *waker, atomic_int *fd)
{
	static const uint64_t one = 1;
	int to = atomic_load(fd);

	if (waker != NULL) {
		if (to >= 0)
			waker->wake(waker, to);
		return;
	}
	/* An eventfd accepts writes until its counter reaches 2^64 - 2. Only its readability
	 * matters, so a refused write has had its effect. */
	if (to >= 0 && write(to, &one, sizeof(one)) != (ssize_t)sizeof(one))
		return;
}

void
engine_ring_bell(atomic_uint *asleep, unsigned seen, int bell)
{
	static const uint64_t one = 1;

	/* A bell that its program has filled refuses: then that program alone goes unheard. */
	(void)!write(bell, &one, sizeof(one));
	STEP(BELL_RUNG);
	(void)atomic_compare_exchange_strong(asleep, &seen, 0);
}

void
engine_fd_close(struct plx_waker *waker, atomic_int *fd)
{
	int own = atomic_exchange(fd, -1);

	if (own < 0)
		return;
	if (waker != NULL)
		waker->close(waker, own);
	else
		close(own);
}
