/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptors that a queue wakes its sleepers by. Start with engine_fd().
 */
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "plx_wake.h"

int
engine_fd(atomic_int *fd, bool *made)
{
	int old = atomic_load(fd), own;

	*made = false;
	if (old >= 0)
		return old;
	own = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (own < 0)
		return -1;
	if (!atomic_compare_exchange_strong(fd, &old, own)) {
		close(own);
		return old;
	}
	*made = true;
	return own;
}

void
engine_wake(atomic_int *fd)
{
	static const uint64_t one = 1;
	int to = atomic_load(fd);

	/* An eventfd takes writes until 2^64 - 2 of them were not read; that it is readable is all
	 * that counts, so a refused write has done its work. */
	if (to >= 0 && write(to, &one, sizeof(one)) != (ssize_t)sizeof(one))
		return;
}
