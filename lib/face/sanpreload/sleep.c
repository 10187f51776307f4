/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a call sleeps on: descriptors of the kernel's, and those by which the switch's are heard of.
 * Start with preload_sleep_on().
 */
#include <stdlib.h>

#include "preload.h"

bool
preload_grow(void **array, size_t used, size_t *room, size_t bytes)
{
	size_t more = *room > 0 ? 2 * *room : 16;
	void *larger;

	if (used < *room)
		return true;
	larger = realloc(*array, more * bytes);
	if (larger == NULL)
		return false;
	*array = larger;
	*room = more;
	return true;
}

bool
preload_sleep_file(struct preload_sleep *sleep, int fd, short events)
{
	if (!preload_grow((void **)&sleep->fds, sleep->n, &sleep->room, sizeof(*sleep->fds)))
		return false;
	sleep->fds[sleep->n++] = (struct pollfd){.fd = fd, .events = events};
	return true;
}

bool
preload_sleep_on(struct preload_sleep *sleep, int fd)
{
	int of[SAN_SLEEP_FDS], n;

	if (!preload_grow((void **)&sleep->ours, sleep->ours_n, &sleep->ours_room, sizeof(int)))
		return false;
	preload_enter();
	n = san_client_sleep(fd, of);
	preload_leave();
	sleep->ours[sleep->ours_n++] = fd;
	while (n-- > 0)
		if (!preload_sleep_file(sleep, of[n], POLLIN))
			return false;
	return true;
}

int
preload_sleep_for(struct preload_sleep *sleep, int ms, const sigset_t *mask)
{
	const struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	return REAL(ppoll)(sleep->fds, sleep->n, ms < 0 ? NULL : &span, mask);
}

void
preload_sleep_over(struct preload_sleep *sleep)
{
	preload_enter();
	for (size_t i = 0; i < sleep->ours_n; i++)
		san_client_slept(sleep->ours[i]);
	preload_leave();
	sleep->n = sleep->ours_n = 0;
}

void
preload_sleep_free(struct preload_sleep *sleep)
{
	free(sleep->fds);
	free(sleep->ours);
	*sleep = (struct preload_sleep){.n = 0};
}
