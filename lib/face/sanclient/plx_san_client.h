/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program's part of the socket switch: its connected sockets over RDMA, by the descriptors of the
 * kernel's sockets that stand for them. What a descriptor is, the broker of the host knows, so
 * every process that has it can use it, whichever way it got it. Calls are those of sockets, with
 * -1 and errno; a descriptor that is none of the switch's is the kernel's matter. Start with
 * san_client_start().
 *
 * Threads: any, several at once
 */
#ifndef PLX_SAN_CLIENT_H
#define PLX_SAN_CLIENT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

enum {
	SAN_FILES_MAX = 65536, /* descriptors of the switch are below this */
};

/**
 * Attach this process to the broker of its host. After fork() the child does so anew.
 * @param path of the broker's socket
 * Returns: 0; -1: ENOENT, ECONNREFUSED (there is none), ENETDOWN (no adapters), ENOMEM
 */
int san_client_start(const char *path);

/** In the child of a fork(): all is the parent's; san_client_start() begins anew. */
void san_client_forget(void);

/** Other processes are to have sockets of this one, by fork(), exec() or SCM_RIGHTS: give control
 * of connections that are over to the broker, which takes control of the others by itself. */
void san_client_share(void);

/** A call with MSG_ZEROCOPY has sent something: a copy, which the caller may be told of. */
void san_client_copied(int fd);
/** Take what is to be told of such calls: the first and the last, by their numbers.
 * Returns: false: nothing */
bool san_client_take_copies(int fd, uint32_t *first, uint32_t *last);

/** A socket for another process of the host, which fetches it once, within a minute.
 * @param process its number in the system
 * Returns: 0; -1: ENOTSOCK, ESRCH, EMFILE, ENETDOWN */
int san_client_hand(int fd, uint32_t process, uint32_t *token);
/** Returns: its descriptor, which the caller closes; -1: EINVAL (for another process, fetched, or
 * late), ENETDOWN */
int san_client_fetch(uint32_t token);

/** Give control of all sockets to the broker, which ends those that nobody else has. */
void san_client_stop(void);

enum san_verdict {
	SAN_IS_RDMA,    /* it is connected, or listens, over RDMA */
	SAN_IS_TCP,     /* the kernel does it */
	SAN_FAILED,     /* errno */
	SAN_IS_PENDING, /* not known yet */
};

/** Connect a socket of the kernel's that is not connected: by RDMA, if a rule of the broker and the
 * peer allow it. It waits for the result. */
enum san_verdict san_client_connect(int fd, const struct sockaddr *address, socklen_t bytes);

/** ... for one that must not wait: 1 ms at most. SAN_IS_PENDING: san_client_settle() is to be asked
 * until it says something else; san_client_sleep() waits for it, and san_client_close() ends it. */
enum san_verdict san_client_connect_soon(int fd, const struct sockaddr *address, socklen_t bytes);

/** Is it still to be settled? */
bool san_client_is_connecting(int fd);

/**
 * What has become of a connection. After any other answer than SAN_IS_PENDING it does not connect
 * any more.
 * @param to, bytes [out] where the kernel is to connect to, if the answer is SAN_IS_TCP
 * Returns: SAN_FAILED: another thread has settled it
 */
enum san_verdict san_client_settle(int fd, struct sockaddr_storage *to, socklen_t *bytes);
/** ... when it has: as long as it takes. */
enum san_verdict san_client_await(int fd, struct sockaddr_storage *to, socklen_t *bytes);

/** A socket listens: accept connections over RDMA for it, too. */
enum san_verdict san_client_listen(int fd, int backlog);

/** Is a connected socket one of the switch's? It is asked once: what an accept() returned, or what
 * came from another process. */
enum san_verdict san_client_adopt(int fd);

/** Is it known as one? */
bool san_client_has(int fd);

/**
 * Use the kernel's socket from now on, in all processes: for who will pass by the switch, as a
 * program that is not instrumented or may make few system calls. The broker carries the bytes. Wait
 * until that is so, 10 s at most.
 */
void san_client_relay(int fd);

/** Is the kernel's socket used for a connection over RDMA? Its names are the switch's. */
bool san_client_is_relayed(int fd);

enum {
	SAN_RELAYED = -2, /* of a call: nothing has been done, the kernel's is to do it */
};

/** As send() and recv(), or SAN_RELAYED. @param flags MSG_DONTWAIT, MSG_PEEK, MSG_OOB, MSG_WAITALL,
 * MSG_NOSIGNAL; a socket with O_NONBLOCK does not wait */
ssize_t san_client_send(int fd, const void *bytes, size_t n, int flags);
ssize_t san_client_recv(int fd, void *bytes, size_t n, int flags);

/** As shutdown(), or SAN_RELAYED. */
int san_client_shutdown(int fd, int how);

enum {
	SAN_SLEEP_FDS = 4,
};

/* What is ready, and since when. */
struct san_client_ready {
	bool in, out, urgent;
	bool end, shut;             /* the other end has shut, this one */
	bool ended, error;          /* the connection is over; so, and nobody was told */
	uint64_t arrived, released; /* grow whenever there is something new to read, or room */
};

/** What could be done without waiting; it takes no control. Returns: false: it is none */
bool san_client_ready(int fd, struct san_client_ready *out);

/* What lies between a program and its peer. */
struct san_client_pending {
	uint32_t readable;    /* bytes, as far as the place of an urgent one */
	uint32_t unconfirmed; /* written, and not in the peer's memory; `unsent` of them not sent */
	uint32_t unsent;
	bool at_mark; /* the urgent byte's place is next */
};

/** The same of a connection that another process may have control of: it is taken, within 1 s.
 * Returns: false: it is none, or could not be */
bool san_client_pending(int fd, struct san_client_pending *out);

/** As SO_ERROR: how the connection has ended, once. */
int san_client_error(int fd);
/**
 * Sleep until that changes: call this, look once more, and poll the descriptors for POLLIN; then
 * san_client_slept(). Returns: how many
 */
int san_client_sleep(int fd, int fds[SAN_SLEEP_FDS]);
void san_client_slept(int fd);

/** Before a descriptor is closed, or names another file. */
void san_client_close(int fd);
/** It is a duplicate of another one. */
void san_client_dup(int fd, int copy);

/** As getsockname() and getpeername(). */
int san_client_name(int fd, bool peers, struct sockaddr *address, socklen_t *bytes);

#endif
