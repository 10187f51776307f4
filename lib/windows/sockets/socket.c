/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Socket calls that only Windows has, implemented on this system's sockets. It owns nothing: a
 * SOCKET is a descriptor.
 * Start with WSASendTo().
 */
#define PLX_WIN_PLAIN_SOCKETS
#include "plx_crt.h"
#include "sockets.h"

#include <winsock2.h>
#include <ws2tcpip.h>
#include <mstcpip.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	MS_PER_SECOND = 1000,
};

static int
fail(int error)
{
	WSASetLastError(error);
	return SOCKET_ERROR;
}

static int
fail_of_errno(void)
{
	return fail(win_wsa_of_errno(errno));
}

/* Returns: the descriptor; -1: no descriptor can have this number */
static int
fd_of(SOCKET s)
{
	return s <= INT_MAX ? (int)s : -1;
}

int
closesocket(SOCKET s)
{
	int fd = fd_of(s), type;
	socklen_t bytes = sizeof(type);

	/* Do not close what is not a socket. */
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes))
		return fail(WSAENOTSOCK);
	return close(fd) ? fail_of_errno() : 0;
}

int(ioctlsocket)(SOCKET s, int command, ULONG *argument)
{
	int value;

	if (!argument)
		return fail(WSAEFAULT);
	if (command != (int)FIONBIO && command != (int)FIONREAD && command != (int)SIOCATMARK)
		return fail(WSAEOPNOTSUPP);
	value = *argument != 0;
	if (ioctl(fd_of(s), (unsigned long)(unsigned)command, &value))
		return fail_of_errno();
	if (command != (int)FIONBIO)
		*argument = (ULONG)value;
	return 0;
}

static SOCKET
create(int family, int type, int protocol, bool with_info, DWORD flags)
{
	const DWORD known = WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT;
	int fd;

	if (with_info || flags & ~known) {
		fail(WSAEINVAL);
		return INVALID_SOCKET;
	}
	fd = socket(family, type | (flags & WSA_FLAG_NO_HANDLE_INHERIT ? SOCK_CLOEXEC : 0),
		    protocol);
	if (fd < 0) {
		fail_of_errno();
		return INVALID_SOCKET;
	}
	return (SOCKET)fd;
}

SOCKET
WSASocketA(int family, int type, int protocol, LPWSAPROTOCOL_INFOA info, UINT group, DWORD flags)
{
	(void)group;
	return create(family, type, protocol, info != NULL, flags);
}

SOCKET
WSASocketW(int family, int type, int protocol, LPWSAPROTOCOL_INFOW info, UINT group, DWORD flags)
{
	(void)group;
	return create(family, type, protocol, info != NULL, flags);
}

static int
seconds(ULONG milliseconds)
{
	return milliseconds < MS_PER_SECOND ? 1 : (int)(milliseconds / MS_PER_SECOND);
}

static int
keep_alive(int fd, const struct tcp_keepalive *wanted)
{
	int on = wanted->onoff != 0, idle = seconds(wanted->keepalivetime);
	int interval = seconds(wanted->keepaliveinterval);

	if (on && (setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle)) ||
		   setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval))))
		return fail_of_errno();
	return setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) ? fail_of_errno() : 0;
}

int
WSAIoctl(SOCKET s, DWORD code, LPVOID in, DWORD in_bytes, LPVOID out, DWORD out_bytes,
	 LPDWORD returned, LPWSAOVERLAPPED o, LPWSAOVERLAPPED_COMPLETION_ROUTINE run)
{
	bool asks = code == FIONREAD || code == SIOCATMARK;
	ULONG value = 0;

	if (o || run)
		return fail(WSAEOPNOTSUPP);
	if (!returned)
		return fail(WSAEFAULT);
	*returned = 0;
	if (code == SIO_KEEPALIVE_VALS)
		return in && in_bytes >= sizeof(struct tcp_keepalive) ? keep_alive(fd_of(s), in)
								      : fail(WSAEFAULT);
	if (code == FIONBIO && in && in_bytes >= sizeof(value))
		value = *(const ULONG *)in;
	else if (code == FIONBIO || (asks && (!out || out_bytes < sizeof(value))))
		return fail(WSAEFAULT);
	if (ioctlsocket(s, (int)code, &value))
		return SOCKET_ERROR;
	if (asks) {
		*(ULONG *)out = value;
		*returned = sizeof(value);
	}
	return 0;
}

/* ---- data ---- */

/* Returns: 0: the parts of `message` are the buffers; SOCKET_ERROR */
static int
gather(LPWSABUF buffers, DWORD n, bool asynchronous, struct iovec *parts, struct msghdr *message)
{
	if (asynchronous)
		return fail(WSAEOPNOTSUPP);
	if (!buffers || !n || n > WSA_BUFFERS_MAX)
		return fail(buffers ? WSAEINVAL : WSAEFAULT);
	for (DWORD i = 0; i < n; i++)
		parts[i] = (struct iovec){buffers[i].buf, buffers[i].len};
	*message = (struct msghdr){.msg_iov = parts, .msg_iovlen = n};
	return 0;
}

int
WSASendTo(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD bytes, DWORD flags,
	  const struct sockaddr *to, int to_bytes, LPWSAOVERLAPPED o,
	  LPWSAOVERLAPPED_COMPLETION_ROUTINE run)
{
	struct iovec parts[WSA_BUFFERS_MAX];
	struct msghdr message;
	ssize_t sent;

	if (gather(buffers, n, o || run, parts, &message))
		return SOCKET_ERROR;
	if (!bytes || to_bytes < 0)
		return fail(WSAEFAULT);
	message.msg_name = (void *)(uintptr_t)to;
	message.msg_namelen = to ? (socklen_t)to_bytes : 0;
	/* Windows has no SIGPIPE. */
	sent = sendmsg(fd_of(s), &message, (int)flags | MSG_NOSIGNAL);
	if (sent < 0)
		return win_socket_fail(fd_of(s), (int)flags);
	*bytes = (DWORD)sent;
	return 0;
}

int
WSASend(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD bytes, DWORD flags, LPWSAOVERLAPPED o,
	LPWSAOVERLAPPED_COMPLETION_ROUTINE run)
{
	return WSASendTo(s, buffers, n, bytes, flags, NULL, 0, o, run);
}

int
WSARecvFrom(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD bytes, LPDWORD flags,
	    struct sockaddr *from, LPINT from_bytes, LPWSAOVERLAPPED o,
	    LPWSAOVERLAPPED_COMPLETION_ROUTINE run)
{
	struct iovec parts[WSA_BUFFERS_MAX];
	struct msghdr message;
	ssize_t received;

	if (gather(buffers, n, o || run, parts, &message))
		return SOCKET_ERROR;
	if (!bytes || !flags || (from && (!from_bytes || *from_bytes < 0)))
		return fail(WSAEFAULT);
	message.msg_name = from;
	message.msg_namelen = from ? (socklen_t)*from_bytes : 0;
	received = recvmsg(fd_of(s), &message, (int)*flags);
	if (received < 0)
		return win_socket_fail(fd_of(s), (int)*flags);
	*bytes = (DWORD)received;
	*flags = 0;
	if (from)
		*from_bytes = (INT)message.msg_namelen;
	if (message.msg_flags & MSG_TRUNC) {
		*flags = MSG_PARTIAL;
		return fail(WSAEMSGSIZE);
	}
	return 0;
}

int
WSARecv(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD bytes, LPDWORD flags, LPWSAOVERLAPPED o,
	LPWSAOVERLAPPED_COMPLETION_ROUTINE run)
{
	return WSARecvFrom(s, buffers, n, bytes, flags, NULL, NULL, o, run);
}

int
WSAPoll(LPWSAPOLLFD sockets, ULONG n, INT milliseconds)
{
	struct pollfd fds[WSA_POLL_MAX];
	int ready;

	if (!sockets)
		return fail(WSAEFAULT);
	if (!n || n > WSA_POLL_MAX)
		return fail(WSAEINVAL);
	for (ULONG i = 0; i < n; i++)
		fds[i] = (struct pollfd){fd_of(sockets[i].fd), sockets[i].events, 0};
	ready = poll(fds, n, milliseconds);
	if (ready < 0)
		return fail_of_errno();
	for (ULONG i = 0; i < n; i++)
		sockets[i].revents = fds[i].revents;
	return ready;
}
