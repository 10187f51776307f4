/* SPDX-License-Identifier: BSD-3-Clause
 *
 * connect(), send() and other calls that have the same name on Windows and here. winsock2.h gives
 * them the linker names defined here. Each calls the C library's function and also reports errors
 * by WSAGetLastError(). It owns nothing, and errno stays as the C library set it.
 * Start with win_socket_fail().
 */
#define PLX_WIN_PLAIN_SOCKETS
#include "plx_crt.h"
#include "sockets.h"

#include <winsock2.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

enum {
	MS_PER_SECOND = 1000,
	US_PER_MS = 1000,
};

/* Defined by its linker name: the plain name is the C library's. */
#define CALL(result, name, ...)                                                    \
	__attribute__((visibility("default"))) result plx_win_##name(__VA_ARGS__); \
	result plx_win_##name(__VA_ARGS__)

static bool
never_blocks(int s)
{
	int flags = fcntl(s, F_GETFL);

	return flags >= 0 && (flags & O_NONBLOCK);
}

static int
fail_as(int error, int number)
{
	WSASetLastError(error);
	errno = number;
	return SOCKET_ERROR;
}

int
win_socket_fail(int s, int flags)
{
	int number = errno, error = win_wsa_of_errno(number);

	/* a call that may wait has waited, for SO_RCVTIMEO or SO_SNDTIMEO */
	if (number == EAGAIN && !(flags & MSG_DONTWAIT) && !never_blocks(s))
		error = WSAETIMEDOUT;
	return fail_as(error, number);
}

/* Returns: `result`, which tells whether the call failed */
static int
checked(int s, int result)
{
	return result < 0 ? win_socket_fail(s, 0) : result;
}

/* ---- creating, connecting and closing ---- */

CALL(int, socket, int family, int type, int protocol)
{
	return checked(-1, socket(family, type, protocol));
}

CALL(int, bind, int s, const struct sockaddr *address, socklen_t bytes)
{
	return checked(s, bind(s, address, bytes));
}

CALL(int, listen, int s, int backlog)
{
	return checked(s, listen(s, backlog));
}

CALL(int, connect, int s, const struct sockaddr *address, socklen_t bytes)
{
	if (!connect(s, address, bytes))
		return 0;
	if (errno == EINPROGRESS)
		return fail_as(never_blocks(s) ? WSAEWOULDBLOCK : WSAETIMEDOUT, EINPROGRESS);
	return win_socket_fail(s, 0);
}

/* An accepted socket blocks or not, as the listening socket does. */
CALL(int, accept, int s, struct sockaddr *from, socklen_t *bytes)
{
	return checked(s, accept4(s, from, bytes, never_blocks(s) ? SOCK_NONBLOCK : 0));
}

CALL(int, shutdown, int s, int how)
{
	return checked(s, shutdown(s, how));
}

CALL(int, getsockname, int s, struct sockaddr *address, socklen_t *bytes)
{
	return checked(s, getsockname(s, address, bytes));
}

CALL(int, getpeername, int s, struct sockaddr *address, socklen_t *bytes)
{
	return checked(s, getpeername(s, address, bytes));
}

/* ---- data ---- */

CALL(ssize_t, sendto, int s, const void *data, size_t bytes, int flags, const struct sockaddr *to,
     socklen_t to_bytes)
{
	/* Windows has no SIGPIPE. */
	ssize_t sent = sendto(s, data, bytes, flags | MSG_NOSIGNAL, to, to_bytes);

	return sent < 0 ? win_socket_fail(s, flags) : sent;
}

CALL(ssize_t, send, int s, const void *data, size_t bytes, int flags)
{
	return plx_win_sendto(s, data, bytes, flags, NULL, 0);
}

static ssize_t
fail_to_receive(int s, int flags)
{
	int type = 0, number = errno;
	socklen_t bytes = sizeof(type);

	/* the answer to an earlier datagram whose port is unused */
	if (number == ECONNREFUSED && !getsockopt(s, SOL_SOCKET, SO_TYPE, &type, &bytes) &&
	    type == SOCK_DGRAM)
		return fail_as(WSAECONNRESET, number);
	errno = number;
	return win_socket_fail(s, flags);
}

CALL(ssize_t, recvfrom, int s, void *data, size_t bytes, int flags, struct sockaddr *from,
     socklen_t *from_bytes)
{
	struct iovec part = {data, bytes};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t received;

	if (from && !from_bytes)
		return fail_as(WSAEFAULT, EFAULT);
	message.msg_name = from;
	message.msg_namelen = from ? *from_bytes : 0;
	received = recvmsg(s, &message, flags);
	if (received < 0)
		return fail_to_receive(s, flags);
	if (from)
		*from_bytes = message.msg_namelen;
	/* The program gets the beginning of a datagram that does not fit. */
	if (message.msg_flags & MSG_TRUNC && !(flags & MSG_TRUNC))
		return fail_as(WSAEMSGSIZE, EMSGSIZE);
	return received;
}

CALL(ssize_t, recv, int s, void *data, size_t bytes, int flags)
{
	return plx_win_recvfrom(s, data, bytes, flags, NULL, NULL);
}

/* The number of descriptors that the sets can contain: the program's own argument means nothing on
 * Windows. */
static int
limit_of(const fd_set *reads, const fd_set *writes, const fd_set *exceptions)
{
	const fd_set *const sets[] = {reads, writes, exceptions};
	int limit = 0;

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		for (int s = limit; sets[i] && s < FD_SETSIZE; s++)
			if (FD_ISSET(s, sets[i]))
				limit = s + 1;
	return limit;
}

CALL(int, select, int unused, fd_set *reads, fd_set *writes, fd_set *exceptions,
     struct timeval *timeout)
{
	struct timeval copy = timeout ? *timeout : (struct timeval){0, 0};
	int limit = limit_of(reads, writes, exceptions);

	(void)unused;
	if (!limit)
		return fail_as(WSAEINVAL, EINVAL);
	return checked(-1, select(limit, reads, writes, exceptions, timeout ? &copy : NULL));
}

/* ---- options ---- */

/* Timeouts are milliseconds on Windows; this system's type has another size. */
static bool
is_in_ms(int level, int option, socklen_t bytes)
{
	return level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO) &&
	       bytes == sizeof(DWORD);
}

CALL(int, setsockopt, int s, int level, int option, const void *value, socklen_t bytes)
{
	struct timeval time;
	DWORD ms;

	if (!value || !is_in_ms(level, option, bytes))
		return checked(s, setsockopt(s, level, option, value, bytes));
	memcpy(&ms, value, sizeof(ms));
	time.tv_sec = ms / MS_PER_SECOND;
	time.tv_usec = (suseconds_t)(ms % MS_PER_SECOND) * US_PER_MS;
	return checked(s, setsockopt(s, level, option, &time, sizeof(time)));
}

CALL(int, getsockopt, int s, int level, int option, void *value, socklen_t *bytes)
{
	struct timeval time;
	socklen_t time_bytes = sizeof(time);
	DWORD ms;
	int error;

	if (value && bytes && is_in_ms(level, option, *bytes)) {
		if (getsockopt(s, level, option, &time, &time_bytes))
			return win_socket_fail(s, 0);
		ms = (DWORD)time.tv_sec * MS_PER_SECOND + (DWORD)(time.tv_usec / US_PER_MS);
		memcpy(value, &ms, sizeof(ms));
		return 0;
	}
	if (getsockopt(s, level, option, value, bytes))
		return win_socket_fail(s, 0);
	/* the error becomes a number of Windows, too */
	if (level == SOL_SOCKET && option == SO_ERROR && *bytes == sizeof(error)) {
		memcpy(&error, value, sizeof(error));
		error = win_wsa_of_errno(error);
		memcpy(value, &error, sizeof(error));
	}
	return 0;
}
