/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The switch's own descriptors: what is opened within it gets a high number, so that a program gets
 * the numbers that it would have without, and may close or replace what it has not opened. Start
 * with preload_keep().
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload.h"

enum {
	HIGH = 12288, /* the kernel's table of descriptors is as long as the highest: 16,384 then */
};

static atomic_bool hidden[SAN_FILES_MAX];
static atomic_int end; /* those from here on never were */

/* Three quarters of what the process may have are the program's. */
static int
first_of_ours(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 * 3 > HIGH)
		return HIGH;
	return (int)(limit.rlim_cur / 4 * 3);
}

static void
hide(int fd)
{
	int before = atomic_load(&end);

	if (fd >= SAN_FILES_MAX)
		return;
	atomic_store(&hidden[fd], true);
	while (fd >= before && !atomic_compare_exchange_weak(&end, &before, fd + 1)) {}
}

/* Where no high number is free it keeps the one that it has. */
int
preload_keep(int fd)
{
	int high;

	if (fd < 0 || !preload_is_within())
		return fd;
	high = REAL(fcntl)(fd, F_DUPFD_CLOEXEC, first_of_ours());
	if (high < 0) {
		hide(fd);
		return fd;
	}
	REAL(close)(fd);
	hide(high);
	return high;
}

void
preload_keep_all(struct msghdr *m)
{
	struct cmsghdr *head;

	for (head = CMSG_FIRSTHDR(m); head != NULL; head = CMSG_NXTHDR(m, head)) {
		size_t bytes = head->cmsg_len - CMSG_LEN(0);

		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
			int fd;

			memcpy(&fd, CMSG_DATA(head) + at, sizeof(fd));
			fd = preload_keep(fd);
			memcpy(CMSG_DATA(head) + at, &fd, sizeof(fd));
		}
	}
}

void
preload_keep_no_more(int fd)
{
	if (fd >= 0 && fd < SAN_FILES_MAX)
		atomic_store_explicit(&hidden[fd], false, memory_order_relaxed);
}

bool
preload_keeps(int fd)
{
	return fd >= 0 && fd < SAN_FILES_MAX &&
	       atomic_load_explicit(&hidden[fd], memory_order_relaxed);
}

void
preload_close_kept(void)
{
	for (int fd = 0; fd < atomic_load(&end); fd++)
		if (atomic_exchange(&hidden[fd], false))
			REAL(close)(fd);
}

/* ---- what the switch opens ---- */

PRELOAD_CALL int
socket(int domain, int type, int protocol)
{
	return preload_keep(REAL(socket)(domain, type, protocol));
}

PRELOAD_CALL int
eventfd(unsigned count, int flags)
{
	return preload_keep(REAL(eventfd)(count, flags));
}

PRELOAD_CALL int
epoll_create1(int flags)
{
	return preload_keep(REAL(epoll_create1)(flags));
}

PRELOAD_CALL int
memfd_create(const char *name, unsigned flags)
{
	return preload_keep(REAL(memfd_create)(name, flags));
}
