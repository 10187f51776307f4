/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A socket for another process, as WSADuplicateSocket() gives it on Windows: by a few bytes, which
 * any channel carries. Both are programs of pollux-run(1) on one host, or are linked with
 * libpollux-sockets.so. The socket may be over RDMA or not, connected, listening or new. Start with
 * san_duplicate().
 *
 * Threads: any
 */
#ifndef PLX_SAN_DUP_H
#define PLX_SAN_DUP_H

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A socket, for one process, once. */
struct san_info {
	uint32_t version;
	uint32_t token;
};

enum {
	SAN_INFO_SECONDS = 60, /* it is of no use later, or when that process has ended */
	SAN_INFO_MAX = 64,     /* of a user, which nobody has used */
};

/**
 * Nothing changes for this process: whoever uses the socket next has control of it, as with every
 * way in which processes share one. It may be closed before the other process has it.
 *
 * @param pid  who is to have it
 * @param info [out]
 * Returns: 0; -1: EBADF, ENOTSOCK, ESRCH (there is no such process), EMFILE (SAN_INFO_MAX),
 * ENETDOWN (polluxd serves no sockets here) Cost: a question to polluxd
 */
int san_duplicate(int fd, pid_t pid, struct san_info *info);

/**
 * Returns: the lowest free descriptor, which exec() does not close; -1: EINVAL (for another
 * process, used, or late), EMFILE, ENETDOWN Cost: a question to polluxd
 */
int san_from_info(const struct san_info *info);

#ifdef __cplusplus
}
#endif

#endif
