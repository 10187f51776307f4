/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libpollux-sockets.so: the C library's functions of sockets for programs that were not written for
 * Pollux. A descriptor that is none of the switch's goes to the C library's function at once.
 * Start with preload_has().
 */
#ifndef PLX_SANPRELOAD_PRELOAD_H
#define PLX_SANPRELOAD_PRELOAD_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "plx_san_client.h"

/* Seen by programs in place of the C library's. */
#define PRELOAD_CALL __attribute__((visibility("default")))

/* The C library's. X(result, name, arguments) */
#define PRELOAD_REAL_LIST(X)                                                                     \
	X(int, socket, (int, int, int))                                                          \
	X(int, connect, (int, const struct sockaddr *, socklen_t))                               \
	X(int, listen, (int, int))                                                               \
	X(int, accept4, (int, struct sockaddr *, socklen_t *, int))                              \
	X(int, getsockname, (int, struct sockaddr *, socklen_t *))                               \
	X(int, getpeername, (int, struct sockaddr *, socklen_t *))                               \
	X(int, getsockopt, (int, int, int, void *, socklen_t *))                                 \
	X(int, shutdown, (int, int))                                                             \
	X(ssize_t, read, (int, void *, size_t))                                                  \
	X(ssize_t, write, (int, const void *, size_t))                                           \
	X(ssize_t, readv, (int, const struct iovec *, int))                                      \
	X(ssize_t, writev, (int, const struct iovec *, int))                                     \
	X(ssize_t, preadv2, (int, const struct iovec *, int, off_t, int))                        \
	X(ssize_t, pwritev2, (int, const struct iovec *, int, off_t, int))                       \
	X(int, vdprintf, (int, const char *, va_list))                                           \
	X(ssize_t, recv, (int, void *, size_t, int))                                             \
	X(ssize_t, send, (int, const void *, size_t, int))                                       \
	X(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *))         \
	X(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, socklen_t)) \
	X(ssize_t, recvmsg, (int, struct msghdr *, int))                                         \
	X(ssize_t, sendmsg, (int, const struct msghdr *, int))                                   \
	X(ssize_t, sendfile, (int, int, off_t *, size_t))                                        \
	X(int, setsockopt, (int, int, int, const void *, socklen_t))                             \
	X(ssize_t, splice, (int, off_t *, int, off_t *, size_t, unsigned))                       \
	X(int, sendmmsg, (int, struct mmsghdr *, unsigned, int))                                 \
	X(int, recvmmsg, (int, struct mmsghdr *, unsigned, int, struct timespec *))              \
	X(int, ioctl, (int, unsigned long, ...))                                                 \
	X(int, close, (int))                                                                     \
	X(int, dup, (int))                                                                       \
	X(int, dup2, (int, int))                                                                 \
	X(int, dup3, (int, int, int))                                                            \
	X(int, fcntl, (int, int, ...))                                                           \
	X(int, close_range, (unsigned, unsigned, int))                                           \
	X(int, poll, (struct pollfd *, nfds_t, int))                                             \
	X(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))      \
	X(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *))                    \
	X(int, pselect,                                                                          \
	  (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))        \
	X(int, eventfd, (unsigned, int))                                                         \
	X(int, memfd_create, (const char *, unsigned))                                           \
	X(int, epoll_create1, (int))                                                             \
	X(int, epoll_ctl, (int, int, int, struct epoll_event *))                                 \
	X(int, epoll_wait, (int, struct epoll_event *, int, int))                                \
	X(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *))             \
	X(int, epoll_pwait2,                                                                     \
	  (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))           \
	X(int, posix_spawn,                                                                      \
	  (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, \
	   char *const *, char *const *))                                                        \
	X(int, posix_spawnp,                                                                     \
	  (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, \
	   char *const *, char *const *))                                                        \
	X(pid_t, fork, (void))                                                                   \
	X(int, clone, (int (*)(void *), void *, int, void *, ...))                               \
	X(int, prctl, (int, unsigned long, unsigned long, unsigned long, unsigned long))         \
	X(long, syscall, (long, long, long, long, long, long, long))                             \
	X(int, setrlimit, (int, const struct rlimit *))                                          \
	X(FILE *, fdopen, (int, const char *))                                                   \
	X(int, execve, (const char *, char *const *, char *const *))                             \
	X(int, execvpe, (const char *, char *const *, char *const *))                            \
	X(void, _exit, (int))

struct preload_real {
#define PLX_X(result, name, arguments) result(*name) arguments;
	PRELOAD_REAL_LIST(PLX_X)
#undef PLX_X
};
extern struct preload_real preload_real;

/* The C library's function: also for who calls before this library has been set up. */
#define REAL(name) \
	(preload_real.name != NULL ? preload_real.name : (preload_begin(), preload_real.name))

/* ---- preload.c ---- */

void preload_begin(void);
/* Does anything go over RDMA, and is this not within the switch? */
bool preload_is_active(void);
/* Is the descriptor one of the switch's? What this process does not know it finds out. Always false
 * within the switch. */
bool preload_has(int fd);
/* ... that this process knows to be one. */
bool preload_knows(int fd);
/* ... and wait while it connects. */
bool preload_await(int fd);
/* ... and does it connect no more? */
bool preload_has_connected(int fd);
/* What has become of a connect() that did not wait, told once: an error; -1: it is connected; 0:
 * nothing is to be told. */
int preload_outcome(int fd);
/* One that did not wait is. */
void preload_is_connected(int fd);
/* Has the switch its names? Those of a relayed one as well. */
bool preload_has_name(int fd);
/* The kernel's socket is used for this one from now on, and the broker carries the bytes. */
void preload_relay(int fd);
/* ... if what was set just now is what only that one does. */
void preload_comply(int fd);
/* ... for all that a program has which this one executes. */
void preload_relay_inherited(void);
/* ... for all; this library does nothing any more. */
void preload_retire(void);
/* Is this process attached, and not within the switch? */
bool preload_runs(void);
/* Within the switch its own calls are the C library's. */
bool preload_is_within(void);
void preload_enter(void);
void preload_leave(void);
/* A descriptor means something else from now on. */
void preload_forget(int fd);
/* It is not one of the switch's. */
void preload_is_kernels(int fd);
/* The child of a fork(). */
void preload_child(void);
/* Is this a child that the switch does not know of, with a copy of its parent's memory, or with
 * that memory itself? */
bool preload_is_borrowed(void);
/* There may be such a child that has it itself from now on. */
void preload_lends_memory(void);

/* Has the switch opened it? Such a one a program neither closes nor replaces, as it has not opened
 * it. */
bool preload_hides(int fd);

/* ---- hidden.c ---- */

/* If this is within the switch: it is the switch's own. Returns: its number from now on */
int preload_keep(int fd);
/* ... all that a message has brought, which are numbered there anew. */
void preload_keep_all(struct msghdr *m);
void preload_keep_no_more(int fd);
bool preload_keeps(int fd);
/* In a child: those are its parent's. */
void preload_close_kept(void);

/* ---- sleep.c ---- */

/* Let an array have room for one more. Returns: false: there is no memory */
bool preload_grow(void **array, size_t used, size_t *room, size_t bytes);

/* Empty when it is zero. */
struct preload_sleep {
	struct pollfd *fds; /* [n] */
	size_t n, room;
	int *ours; /* [ours_n]: the switch's that are slept on */
	size_t ours_n, ours_room;
};

/* Both return: false: there is no memory */
bool preload_sleep_file(struct preload_sleep *sleep, int fd, short events);
bool preload_sleep_on(struct preload_sleep *sleep, int fd);
/* Returns: as ppoll() */
int preload_sleep_for(struct preload_sleep *sleep, int ms, const sigset_t *mask);
/* Nobody sleeps any more: it is empty. */
void preload_sleep_over(struct preload_sleep *sleep);
void preload_sleep_free(struct preload_sleep *sleep);

/* ---- image.c ---- */

/* Will this program have the library? @param file its path, or a name that PATH leads to */
bool preload_will_have(const char *file, char *const *environment);

/* ---- epoll.c ---- */

/* A descriptor has become one of the switch's: the kernel has it registered. */
void preload_epoll_adopt(int fd);
void preload_epoll_forget(int fd);
/* Those that have become the kernel's are registered there. */
void preload_epoll_settle(void);
void preload_epoll_child(void);
/* Is it a set with descriptors of the switch's, or with such a set? */
bool preload_epoll_has(int fd);
/* Has such a set something to report? */
bool preload_epoll_is_ready(int fd);
/* Sleep until it may have. Returns: false: there is no memory */
bool preload_epoll_sleep_on(struct preload_sleep *sleep, int fd);

/* ---- wait.c ---- */

enum {
	PRELOAD_SPIN_NS = 20000, /* before a wait sleeps */
};
uint64_t preload_now_ns(void);
/* [ms] of a time span; -1: for ever */
int preload_ms(const struct timespec *span);
/* revents of one of the switch's. */
short preload_ready(int fd, short events, struct san_client_ready *ready);

#endif
