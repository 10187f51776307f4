/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections and bytes. Start with recv().
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "preload.h"

enum {
	ALL_BYTES = 1 << 20, /* more than a connection holds */
};

/* ---- connections ---- */

static bool
is_tcp(int fd)
{
	int type = 0, protocol = 0;
	socklen_t bytes = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM &&
	       getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &bytes) == 0 &&
	       protocol == IPPROTO_TCP;
}

/* As Linux says: of what did not wait once that it is connected. */
static int
connect_again(int fd)
{
	if (san_client_is_connecting(fd)) {
		errno = EALREADY;
		return -1;
	}
	if (preload_outcome(fd) != 0)
		return 0;
	errno = EISCONN;
	return -1;
}

static enum san_verdict
ask_for(int fd, const struct sockaddr *address, socklen_t bytes)
{
	bool waits = !(REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK);
	enum san_verdict verdict;

	preload_enter();
	verdict = waits ? san_client_connect(fd, address, bytes)
			: san_client_connect_soon(fd, address, bytes);
	preload_leave();
	if (waits || verdict == SAN_IS_TCP)
		return verdict;
	/* A connection to another machine is never there at once. If another thread has settled it
	 * already, that one knows. */
	if (verdict == SAN_IS_RDMA)
		preload_is_connected(fd);
	return SAN_IS_PENDING;
}

PRELOAD_CALL int
connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
	enum san_verdict verdict = SAN_IS_TCP;
	int error = errno, late;

	if (preload_has(fd))
		return connect_again(fd);
	late = preload_outcome(fd);
	if (late > 0) {
		errno = late;
		return -1;
	}
	if (address != NULL && bytes >= (socklen_t)sizeof(struct sockaddr_in) &&
	    (address->sa_family == AF_INET || address->sa_family == AF_INET6) && is_tcp(fd) &&
	    preload_runs())
		verdict = ask_for(fd, address, bytes);
	if (verdict == SAN_IS_TCP) {
		errno = error;
		return REAL(connect)(fd, address, bytes);
	}
	if (verdict == SAN_FAILED)
		return -1;
	preload_epoll_adopt(fd);
	if (verdict == SAN_IS_RDMA)
		preload_comply(fd);
	errno = verdict == SAN_IS_PENDING ? EINPROGRESS : error;
	return verdict == SAN_IS_PENDING ? -1 : 0;
}

/* The kernel listens as well, for who comes by TCP and for the broker. */
PRELOAD_CALL int
listen(int fd, int backlog)
{
	int result = REAL(listen)(fd, backlog), error = errno;

	if (result == 0 && is_tcp(fd) && preload_runs()) {
		preload_enter();
		(void)san_client_listen(fd, backlog);
		preload_leave();
	}
	errno = error;
	return result;
}

PRELOAD_CALL int
accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags)
{
	int new = REAL(accept4)(fd, address, bytes, flags), error = errno;

	if (new < 0)
		return new;
	preload_forget(new);
	/* Asked at once: of who never asks the broker thinks that it passes by the switch. */
	(void)preload_has(new);
	if (address != NULL && preload_has_name(new)) {
		preload_enter();
		(void)san_client_name(new, true, address, bytes);
		preload_leave();
	}
	errno = error;
	return new;
}

PRELOAD_CALL int
accept(int fd, struct sockaddr *address, socklen_t *bytes)
{
	return accept4(fd, address, bytes, 0);
}

static int
name_of(int fd, bool peers, struct sockaddr *address, socklen_t *bytes)
{
	int result;

	preload_enter();
	result = san_client_name(fd, peers, address, bytes);
	preload_leave();
	return result;
}

PRELOAD_CALL int
getsockname(int fd, struct sockaddr *address, socklen_t *bytes)
{
	return preload_has_name(fd) ? name_of(fd, false, address, bytes)
				    : REAL(getsockname)(fd, address, bytes);
}

PRELOAD_CALL int
getpeername(int fd, struct sockaddr *address, socklen_t *bytes)
{
	return preload_has_name(fd) ? name_of(fd, true, address, bytes)
				    : REAL(getpeername)(fd, address, bytes);
}

PRELOAD_CALL int
shutdown(int fd, int how)
{
	int result;

	if (!preload_has_connected(fd))
		return REAL(shutdown)(fd, how);
	preload_enter();
	result = san_client_shutdown(fd, how);
	preload_leave();
	return result == SAN_RELAYED ? REAL(shutdown)(fd, how) : result;
}

/* ---- reading ---- */

/* One that connects is waited for, if it may be. Returns: false: EAGAIN */
static bool
waits_for_connection(int fd, int flags)
{
	if ((flags & MSG_DONTWAIT) || (REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK)) {
		errno = EAGAIN;
		return false;
	}
	(void)preload_await(fd);
	return true;
}

/* The bytes go nowhere: what is there, at most. */
static ssize_t
discard(int fd, size_t n, int flags)
{
	const size_t most = n < ALL_BYTES ? n : ALL_BYTES;
	void *bytes = malloc(most);
	ssize_t got = -1;

	if (bytes != NULL)
		got = recv(fd, bytes, most, flags & ~MSG_TRUNC);
	free(bytes);
	return got;
}

static ssize_t
take(int fd, void *bytes, size_t n, int flags)
{
	ssize_t got;

	if (flags & MSG_TRUNC)
		return discard(fd, n, flags);
	if (san_client_is_connecting(fd))
		return waits_for_connection(fd, flags) ? recv(fd, bytes, n, flags) : -1;
	if (flags & MSG_ERRQUEUE)
		return recvmsg(fd, &(struct msghdr){.msg_control = NULL}, flags);
	preload_enter();
	got = san_client_recv(fd, bytes, n, flags);
	preload_leave();
	return got == SAN_RELAYED ? REAL(recv)(fd, bytes, n, flags) : got;
}

PRELOAD_CALL ssize_t
recv(int fd, void *bytes, size_t n, int flags)
{
	return preload_has(fd) ? take(fd, bytes, n, flags) : REAL(recv)(fd, bytes, n, flags);
}

PRELOAD_CALL ssize_t
read(int fd, void *bytes, size_t n)
{
	return preload_has(fd) ? take(fd, bytes, n, 0) : REAL(read)(fd, bytes, n);
}

/* The checked forms of programs that are built with _FORTIFY_SOURCE: who overflows ends. */
PRELOAD_CALL ssize_t __recv_chk(int fd, void *bytes, size_t n, size_t room, int flags);
PRELOAD_CALL ssize_t __read_chk(int fd, void *bytes, size_t n, size_t room);
PRELOAD_CALL ssize_t __recvfrom_chk(int fd, void *bytes, size_t n, size_t room, int flags,
				    struct sockaddr *address, socklen_t *length);

ssize_t
__recv_chk(int fd, void *bytes, size_t n, size_t room, int flags)
{
	if (n > room)
		abort();
	return recv(fd, bytes, n, flags);
}

ssize_t
__read_chk(int fd, void *bytes, size_t n, size_t room)
{
	if (n > room)
		abort();
	return read(fd, bytes, n);
}

ssize_t
__recvfrom_chk(int fd, void *bytes, size_t n, size_t room, int flags, struct sockaddr *address,
	       socklen_t *length)
{
	if (n > room)
		abort();
	return recvfrom(fd, bytes, n, flags, address, length);
}

/* A stream has no address with its bytes. */
PRELOAD_CALL ssize_t
recvfrom(int fd, void *bytes, size_t n, int flags, struct sockaddr *address, socklen_t *length)
{
	if (!preload_has(fd))
		return REAL(recvfrom)(fd, bytes, n, flags, address, length);
	if (address != NULL && length != NULL)
		*length = 0;
	return take(fd, bytes, n, flags);
}

/* Only the first part waits: what is there at once is one read. */
static ssize_t
take_parts(int fd, const struct iovec *part, size_t parts, int flags)
{
	ssize_t done = 0;

	for (size_t i = 0; i < parts; i++) {
		int now = done > 0 && !(flags & MSG_WAITALL) ? MSG_DONTWAIT : 0;
		ssize_t got;

		if (part[i].iov_len == 0)
			continue;
		got = take(fd, part[i].iov_base, part[i].iov_len, flags | now);
		if (got < 0)
			return done > 0 ? done : got;
		done += got;
		if ((size_t)got < part[i].iov_len || (flags & (MSG_PEEK | MSG_OOB)))
			break;
	}
	return done;
}

/* ... of a socket, which has no place. */
PRELOAD_CALL ssize_t
preadv2(int fd, const struct iovec *part, int parts, off_t at, int flags)
{
	return at == -1 && parts >= 0 && preload_has(fd)
		       ? take_parts(fd, part, (size_t)parts, flags & RWF_NOWAIT ? MSG_DONTWAIT : 0)
		       : REAL(preadv2)(fd, part, parts, at, flags);
}

PRELOAD_CALL ssize_t
readv(int fd, const struct iovec *part, int parts)
{
	return preload_has(fd) && parts >= 0 ? take_parts(fd, part, (size_t)parts, 0)
					     : REAL(readv)(fd, part, parts);
}

/* The queue of errors has what became of calls with MSG_ZEROCOPY, and nothing else. */
static bool
take_copies(int fd, struct sock_extended_err *out)
{
	uint32_t first, last;
	bool taken;

	preload_enter();
	taken = san_client_take_copies(fd, &first, &last);
	preload_leave();
	if (taken)
		*out = (struct sock_extended_err){.ee_origin = SO_EE_ORIGIN_ZEROCOPY,
						  .ee_code = SO_EE_CODE_ZEROCOPY_COPIED,
						  .ee_info = first,
						  .ee_data = last};
	else
		errno = EAGAIN;
	return taken;
}

/* As the kernel writes it: who is to blame is nobody. */
static ssize_t
take_notice(int fd, struct msghdr *m)
{
	struct {
		struct sock_extended_err error;
		union {
			struct sockaddr_in v4;
			struct sockaddr_in6 v6;
		} offender;
	} notice = {.offender.v6.sin6_family = 0};
	size_t bytes = sizeof(notice.error);
	int family = AF_INET;
	struct cmsghdr *head;

	if (!take_copies(fd, &notice.error))
		return -1;
	(void)REAL(getsockopt)(fd, SOL_SOCKET, SO_DOMAIN, &family, &(socklen_t){sizeof(family)});
	bytes += family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	m->msg_namelen = 0;
	m->msg_flags = MSG_ERRQUEUE;
	if (m->msg_control == NULL || m->msg_controllen < CMSG_LEN(bytes)) {
		m->msg_controllen = 0;
		m->msg_flags |= MSG_CTRUNC;
		return 0;
	}
	head = m->msg_control;
	*head = (struct cmsghdr){.cmsg_len = CMSG_LEN(bytes),
				 .cmsg_level = family == AF_INET6 ? SOL_IPV6 : SOL_IP,
				 .cmsg_type = family == AF_INET6 ? IPV6_RECVERR : IP_RECVERR};
	memcpy(CMSG_DATA(head), &notice, bytes);
	m->msg_controllen =
		m->msg_controllen < CMSG_SPACE(bytes) ? m->msg_controllen : CMSG_SPACE(bytes);
	return 0;
}

PRELOAD_CALL ssize_t
recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t got;

	if (!preload_has(fd)) {
		got = REAL(recvmsg)(fd, m, flags);
		if (got >= 0 && preload_is_within())
			preload_keep_all(m);
		return got;
	}
	if (flags & MSG_ERRQUEUE)
		return take_notice(fd, m);
	got = take_parts(fd, m->msg_iov, m->msg_iovlen, flags);
	if (got >= 0) {
		m->msg_namelen = 0;
		m->msg_controllen = 0;
		m->msg_flags = flags & MSG_OOB;
	}
	return got;
}

/* ---- writing ---- */

static ssize_t
put(int fd, const void *bytes, size_t n, int flags)
{
	ssize_t done;

	if (san_client_is_connecting(fd))
		return waits_for_connection(fd, flags) ? send(fd, bytes, n, flags) : -1;
	preload_enter();
	done = san_client_send(fd, bytes, n, flags);
	preload_leave();
	return done == SAN_RELAYED ? REAL(send)(fd, bytes, n, flags) : done;
}

/* Its bytes are copied, as by loopback TCP, and may change at once. One call is told of once. */
static ssize_t
with_notice(int fd, int flags, ssize_t done)
{
	int wanted = 0;
	socklen_t bytes = sizeof(wanted);

	if (done <= 0 || !(flags & MSG_ZEROCOPY) ||
	    REAL(getsockopt)(fd, SOL_SOCKET, SO_ZEROCOPY, &wanted, &bytes) != 0 || wanted == 0)
		return done;
	preload_enter();
	san_client_copied(fd);
	preload_leave();
	return done;
}

PRELOAD_CALL ssize_t
send(int fd, const void *bytes, size_t n, int flags)
{
	return preload_has(fd) ? with_notice(fd, flags, put(fd, bytes, n, flags))
			       : REAL(send)(fd, bytes, n, flags);
}

PRELOAD_CALL ssize_t
write(int fd, const void *bytes, size_t n)
{
	return preload_has(fd) ? put(fd, bytes, n, 0) : REAL(write)(fd, bytes, n);
}

/* Bytes that go with the first packet: the library connects, and sends then, whichever way. */
static bool
opens_fast(int fd, int flags, const struct sockaddr *address)
{
	return (flags & MSG_FASTOPEN) && address != NULL && preload_is_active() &&
	       !preload_has(fd) && is_tcp(fd);
}

PRELOAD_CALL ssize_t
sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *address,
       socklen_t length)
{
	if (opens_fast(fd, flags, address))
		return connect(fd, address, length) == 0
			       ? sendto(fd, bytes, n, flags & ~MSG_FASTOPEN, NULL, 0)
			       : -1;
	/* A stream that is connected has no use for an address. */
	return preload_has(fd) ? with_notice(fd, flags, put(fd, bytes, n, flags))
			       : REAL(sendto)(fd, bytes, n, flags, address, length);
}

static ssize_t
put_parts(int fd, const struct iovec *part, size_t parts, int flags)
{
	ssize_t done = 0;

	for (size_t i = 0; i < parts; i++) {
		ssize_t n;

		if (part[i].iov_len == 0)
			continue;
		n = put(fd, part[i].iov_base, part[i].iov_len, flags);
		if (n < 0)
			return done > 0 ? done : n;
		done += n;
		if ((size_t)n < part[i].iov_len)
			break;
	}
	return done;
}

PRELOAD_CALL ssize_t
pwritev2(int fd, const struct iovec *part, int parts, off_t at, int flags)
{
	return at == -1 && parts >= 0 && preload_has(fd)
		       ? put_parts(fd, part, (size_t)parts, flags & RWF_NOWAIT ? MSG_DONTWAIT : 0)
		       : REAL(pwritev2)(fd, part, parts, at, flags);
}

PRELOAD_CALL ssize_t
writev(int fd, const struct iovec *part, int parts)
{
	return preload_has(fd) && parts >= 0 ? put_parts(fd, part, (size_t)parts, 0)
					     : REAL(writev)(fd, part, parts);
}

/* These are preadv64v2() and pwritev64v2() here; on machines of 64 bits both are one. */
PRELOAD_CALL ssize_t preload_preadv2_of_others(int fd, const struct iovec *part, int parts,
					       off_t at, int flags) __asm__("preadv2");
PRELOAD_CALL ssize_t preload_pwritev2_of_others(int fd, const struct iovec *part, int parts,
						off_t at, int flags) __asm__("pwritev2");

ssize_t
preload_preadv2_of_others(int fd, const struct iovec *part, int parts, off_t at, int flags)
{
	return preadv2(fd, part, parts, at, flags);
}

ssize_t
preload_pwritev2_of_others(int fd, const struct iovec *part, int parts, off_t at, int flags)
{
	return pwritev2(fd, part, parts, at, flags);
}

/* The C library writes these by itself. */
PRELOAD_CALL __attribute__((format(printf, 2, 0))) int
vdprintf(int fd, const char *format, va_list arguments)
{
	char *text;
	int n, done = 0;

	if (!preload_has(fd))
		return REAL(vdprintf)(fd, format, arguments);
	n = vasprintf(&text, format, arguments);
	if (n < 0)
		return -1;
	while (done < n) {
		ssize_t put = write(fd, text + done, (size_t)(n - done));

		if (put < 0)
			break;
		done += (int)put;
	}
	free(text);
	return done == n ? n : -1;
}

PRELOAD_CALL int
dprintf(int fd, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vdprintf(fd, format, arguments);
	va_end(arguments);
	return n;
}

PRELOAD_CALL __attribute__((format(printf, 3, 0))) int
__vdprintf_chk(int fd, int level, const char *format, va_list arguments);
PRELOAD_CALL __attribute__((format(printf, 3, 4))) int __dprintf_chk(int fd, int level,
								     const char *format, ...);

int
__vdprintf_chk(int fd, int level, const char *format, va_list arguments)
{
	(void)level;
	return vdprintf(fd, format, arguments);
}

int
__dprintf_chk(int fd, int level, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = __vdprintf_chk(fd, level, format, arguments);
	va_end(arguments);
	return n;
}

static bool
brings_descriptors(const struct msghdr *m)
{
	struct msghdr copy = *m; /* CMSG_NXTHDR() wants one that can be written */
	struct cmsghdr *head;

	for (head = CMSG_FIRSTHDR(&copy); head != NULL; head = CMSG_NXTHDR(&copy, head))
		if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
			return true;
	return false;
}

PRELOAD_CALL ssize_t
sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct msghdr rest;

	if (opens_fast(fd, flags, m->msg_name)) {
		rest = *m;
		rest.msg_name = NULL;
		rest.msg_namelen = 0;
		return connect(fd, m->msg_name, m->msg_namelen) == 0
			       ? sendmsg(fd, &rest, flags & ~MSG_FASTOPEN)
			       : -1;
	}
	if (preload_has(fd))
		return with_notice(fd, flags, put_parts(fd, m->msg_iov, m->msg_iovlen, flags));
	/* What another process is to have must not be kept by this one. */
	if (brings_descriptors(m) && preload_runs()) {
		preload_enter();
		san_client_share();
		preload_leave();
	}
	return REAL(sendmsg)(fd, m, flags);
}

PRELOAD_CALL int
sendmmsg(int fd, struct mmsghdr *m, unsigned n, int flags)
{
	unsigned done = 0;

	if (!preload_has(fd))
		return REAL(sendmmsg)(fd, m, n, flags);
	for (; done < n; done++) {
		ssize_t put = sendmsg(fd, &m[done].msg_hdr, flags);

		if (put < 0)
			break;
		m[done].msg_len = (unsigned)put;
	}
	return done > 0 || n == 0 ? (int)done : -1;
}

/* A stream fills the first, and the others with what is there then. */
PRELOAD_CALL int
recvmmsg(int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *span)
{
	unsigned done = 0;

	if (!preload_has(fd))
		return REAL(recvmmsg)(fd, m, n, flags, span);
	for (; done < n; done++) {
		int now = done > 0 && (flags & MSG_WAITFORONE) ? MSG_DONTWAIT : 0;
		ssize_t got = recvmsg(fd, &m[done].msg_hdr, (flags & ~MSG_WAITFORONE) | now);

		if (got < 0)
			break;
		m[done].msg_len = (unsigned)got;
	}
	return done > 0 || n == 0 ? (int)done : -1;
}

/* ---- options and ioctl ---- */

/* What the kernel's socket would take and the switch would not do is refused, as by a kernel that
 * has it not. */
PRELOAD_CALL int
setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	bool refused = level == IPPROTO_TCP && option == TCP_ULP;

	int result;

	if (refused && preload_has(fd)) {
		errno = ENOPROTOOPT;
		return -1;
	}
	/* A connection over RDMA has its bytes elsewhere: the kernel would wait for them. */
	if (level == IPPROTO_TCP && option == TCP_DEFER_ACCEPT && preload_runs())
		return 0;
	result = REAL(setsockopt)(fd, level, option, value, bytes);
	if (result == 0 && level == SOL_SOCKET && (option == SO_OOBINLINE || option == SO_RCVLOWAT))
		preload_comply(fd);
	return result;
}

PRELOAD_CALL int
getsockopt(int fd, int level, int option, void *value, socklen_t *bytes)
{
	int error;

	if (level != SOL_SOCKET || option != SO_ERROR)
		return REAL(getsockopt)(fd, level, option, value, bytes);
	if (preload_has(fd)) {
		preload_enter();
		error = san_client_error(fd);
		preload_leave();
	} else {
		error = preload_outcome(fd);
		if (error <= 0)
			return REAL(getsockopt)(fd, level, option, value, bytes);
	}
	memcpy(value, &error, *bytes < sizeof(error) ? *bytes : sizeof(error));
	*bytes = sizeof(error);
	return 0;
}

static bool
look(int fd, struct san_client_pending *pending)
{
	bool looked;

	if (!preload_has_connected(fd))
		return false;
	preload_enter();
	looked = san_client_pending(fd, pending);
	preload_leave();
	return looked;
}

PRELOAD_CALL int
sockatmark(int fd)
{
	int at;

	return ioctl(fd, SIOCATMARK, &at) == 0 ? at : -1;
}

/* Returns: false: it is the kernel's to answer */
static bool
answer(int fd, unsigned long request, int *out)
{
	struct san_client_pending pending;

	if ((request != FIONREAD && request != SIOCATMARK && request != SIOCOUTQ &&
	     request != SIOCOUTQNSD) ||
	    !look(fd, &pending))
		return false;
	*out = request == FIONREAD     ? (int)pending.readable
	       : request == SIOCATMARK ? pending.at_mark
	       : request == SIOCOUTQ   ? (int)pending.unconfirmed
				       : (int)pending.unsent;
	return true;
}

PRELOAD_CALL int
ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	void *argument;
	int result;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (answer(fd, request, argument))
		return 0;
	result = REAL(ioctl)(fd, request, argument);
	if (result == 0 && (request == FIOASYNC || request == FIOSETOWN || request == SIOCSPGRP))
		preload_comply(fd);
	return result;
}
