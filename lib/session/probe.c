/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Is the memory that a program names mapped, and is it readable or writable? This is checked before
 * registration, because otherwise the engine would crash.
 * It never changes the memory, and accesses at most PROBE_PAGES pages of it.
 *
 * A few pages are checked one by one: a system call reads a word, or adds 0 to it atomically, and
 * returns EFAULT where the program would crash. For more pages the process's map is read.
 * Start with plx_session_probe_memory().
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

enum {
	PROBE_PAGES = 256,
	MAP_LINE = 512,
};

/* The word of a futex may have any address. The first operation wakes nobody. The second can wake
 * only a thread that sleeps on this word, which has to expect spurious wakeups. */
static bool
page_is_good(uintptr_t at, bool writes)
{
	uint32_t *word = (uint32_t *)(at & ~(uintptr_t)3);
	long done;

	if (writes)
		done = syscall(SYS_futex, word, FUTEX_WAKE_OP_PRIVATE, 0, 0, word,
			       FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));
	else
		done = syscall(SYS_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, word, 0);
	return done >= 0 || errno != EFAULT;
}

static bool
pages_are_good(uintptr_t first, uintptr_t last, bool writes)
{
	const uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t at = first;

	while (page_is_good(at, writes)) {
		at = (at & ~(page - 1)) + page;
		if (at > last || at == 0)
			return true;
	}
	return false;
}

enum map_answer {
	MAP_GOOD,
	MAP_BAD,
	MAP_UNKNOWN, /* the map is unreadable */
};

/* The lines of the map are sorted and do not overlap. */
static enum map_answer
look_up(FILE *map, uintptr_t first, uintptr_t last, bool writes)
{
	char line[MAP_LINE];
	uintptr_t at = first;

	while (fgets(line, sizeof(line), map) != NULL) {
		unsigned long begin, end;
		char rights[5];

		/* Skip the rest of a line with a long path, which cannot begin like this. */
		if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3 || end <= at)
			continue;
		if (begin > at || rights[0] != 'r' || (writes && rights[1] != 'w'))
			return MAP_BAD;
		if (end > last)
			return MAP_GOOD;
		at = end;
	}
	return MAP_BAD;
}

static enum map_answer
map_check(uintptr_t first, uintptr_t last, bool writes)
{
	FILE *map = fopen("/proc/self/maps", "re");
	enum map_answer answer;

	if (map == NULL)
		return MAP_UNKNOWN;
	answer = look_up(map, first, last, writes);
	(void)fclose(map);
	return answer;
}

bool
plx_session_probe_memory(const void *memory, size_t bytes, bool writes)
{
	const uintptr_t first = (uintptr_t)memory, last = first + (bytes - 1);
	const size_t pages = bytes / (size_t)getpagesize();
	enum map_answer answer = MAP_UNKNOWN;

	if (last < first)
		return false;
	if (pages > PROBE_PAGES)
		answer = map_check(first, last, writes);
	if (answer == MAP_UNKNOWN)
		return pages_are_good(first, last, writes);
	return answer == MAP_GOOD;
}
