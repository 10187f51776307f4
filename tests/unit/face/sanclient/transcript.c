/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A dialogue of two programs over sockets, which knows nothing of Pollux and prints what each call
 * returns: over the kernel's TCP and over RDMA it has to be the same. One program leads and has the
 * script; the other one carries out what it is told over a socket of AF_UNIX.
 *
 *   transcript lead CHANNEL ADDRESS
 *   transcript follow CHANNEL
 *
 * Start with `script`.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	FILES = 10, /* descriptors by name: 0 .. 9 */
	LINE = 200,
	BYTES = 70000,
	CONNECT_TRIES = 400,
};

static int file[FILES];
static const char *address;
static volatile sig_atomic_t signals;
static unsigned char bytes[BYTES];

static void
on_signal(int number)
{
	(void)number;
	signals++;
}

/* ---- results ---- */

static void
say(char *out, long result)
{
	if (result >= 0)
		snprintf(out, LINE, "%ld", result);
	else
		snprintf(out, LINE, "-1 %s", strerrorname_np(errno));
}

static unsigned
sum(long n)
{
	unsigned s = 0;

	for (long i = 0; i < n; i++)
		s = s * 31 + bytes[i];
	return s;
}

static void
say_bytes(char *out, long n)
{
	if (n > 0)
		snprintf(out, LINE, "%ld, sum %08x", n, sum(n));
	else
		say(out, n);
}

static const char *
events_text(short events, char *out)
{
	static const struct {
		short bit;
		const char *name;
	} names[] = {{POLLIN, "IN "},   {POLLPRI, "PRI "}, {POLLOUT, "OUT "},
		     {POLLERR, "ERR "}, {POLLHUP, "HUP "}, {POLLRDHUP, "RDHUP "}};

	out[0] = '\0';
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (events & names[i].bit)
			strcat(out, names[i].name);
	return out;
}

static void
fill(long n)
{
	static unsigned seed = 1;

	for (long i = 0; i < n; i++)
		bytes[i] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
}

/* ---- calls, with up to three numbers ---- */

static void
do_listen(char *out, const long *a)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)a[1])};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	file[a[0]] = fd;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	say(out, bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 ? listen(fd, 8) : -1);
}

static void
do_socket(char *out, const long *a)
{
	file[a[0]] = socket(AF_INET, SOCK_STREAM, 0);
	say(out, file[a[0]] < 0 ? -1 : 0);
}

static void
do_accept(char *out, const long *a)
{
	file[a[1]] = accept(file[a[0]], NULL, NULL);
	say(out, file[a[1]] < 0 ? -1 : 0);
}

/* Nobody may listen yet. */
static void
do_connect(char *out, const long *a)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)a[1])};
	int tries = CONNECT_TRIES, result;

	(void)inet_pton(AF_INET, address, &to.sin_addr);
	file[a[0]] = socket(AF_INET, SOCK_STREAM, 0);
	while ((result = connect(file[a[0]], (struct sockaddr *)&to, sizeof(to))) != 0 &&
	       tries-- > 0)
		usleep(20000);
	say(out, result);
}

static void
do_connect_again(char *out, const long *a)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)a[1])};

	(void)inet_pton(AF_INET, address, &to.sin_addr);
	say(out, connect(file[a[0]], (struct sockaddr *)&to, sizeof(to)));
}

static void
do_send(char *out, const long *a)
{
	fill(a[1]);
	say_bytes(out, send(file[a[0]], bytes, (size_t)a[1], (int)a[2]));
}

static void
do_recv(char *out, const long *a)
{
	say_bytes(out, recv(file[a[0]], bytes, (size_t)a[1], (int)a[2]));
}

static void
do_write(char *out, const long *a)
{
	fill(a[1]);
	say_bytes(out, write(file[a[0]], bytes, (size_t)a[1]));
}

static void
do_read(char *out, const long *a)
{
	say_bytes(out, read(file[a[0]], bytes, (size_t)a[1]));
}

static void
do_writev(char *out, const long *a)
{
	struct iovec part[3] = {{bytes, 3}, {bytes + 3, 0}, {bytes + 3, (size_t)a[1] - 3}};

	fill(a[1]);
	say_bytes(out, writev(file[a[0]], part, 3));
}

static void
do_readv(char *out, const long *a)
{
	struct iovec part[3] = {{bytes, 2}, {bytes + 2, 5}, {bytes + 7, (size_t)a[1] - 7}};

	say_bytes(out, readv(file[a[0]], part, 3));
}

static void
do_sendmsg(char *out, const long *a)
{
	struct iovec part[2] = {{bytes, 4}, {bytes + 4, (size_t)a[1] - 4}};
	struct msghdr m = {.msg_iov = part, .msg_iovlen = 2};

	fill(a[1]);
	say_bytes(out, sendmsg(file[a[0]], &m, (int)a[2]));
}

static void
do_recvmsg(char *out, const long *a)
{
	struct sockaddr_storage name;
	struct iovec part[2] = {{bytes, 4}, {bytes + 4, (size_t)a[1] - 4}};
	struct msghdr m = {
		.msg_iov = part, .msg_iovlen = 2, .msg_name = &name, .msg_namelen = sizeof(name)};
	long got = recvmsg(file[a[0]], &m, (int)a[2]);
	size_t end;

	say_bytes(out, got);
	end = strlen(out);
	snprintf(out + end, LINE - end, ", flags %x, name of %u", (unsigned)m.msg_flags,
		 m.msg_namelen);
}

static void
do_recvfrom(char *out, const long *a)
{
	struct sockaddr_storage name;
	socklen_t length = sizeof(name);

	say_bytes(out, recvfrom(file[a[0]], bytes, (size_t)a[1], (int)a[2],
				(struct sockaddr *)&name, &length));
}

static void
do_sendto(char *out, const long *a)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};

	fill(a[1]);
	say_bytes(out,
		  sendto(file[a[0]], bytes, (size_t)a[1], 0, (struct sockaddr *)&to, sizeof(to)));
}

static void
do_shutdown(char *out, const long *a)
{
	say(out, shutdown(file[a[0]], (int)a[1]));
}

static void
do_close(char *out, const long *a)
{
	say(out, close(file[a[0]]));
}

static void
do_dup(char *out, const long *a)
{
	file[a[1]] = dup(file[a[0]]);
	say(out, file[a[1]] < 0 ? -1 : 0);
}

static void
do_dup2(char *out, const long *a)
{
	say(out, dup2(file[a[0]], file[a[1]]) < 0 ? -1 : 0);
}

static void
do_nonblock(char *out, const long *a)
{
	int flags = fcntl(file[a[0]], F_GETFL);

	say(out, fcntl(file[a[0]], F_SETFL, a[1] ? flags | O_NONBLOCK : flags & ~O_NONBLOCK));
}

static void
do_poll(char *out, const long *a)
{
	struct pollfd fd = {.fd = file[a[0]], .events = (short)a[1]};
	int ready = poll(&fd, 1, (int)a[2]);
	char text[LINE / 2];

	snprintf(out, LINE, "%d %s", ready, events_text(fd.revents, text));
}

static void
do_select(char *out, const long *a)
{
	struct timeval span = {.tv_sec = a[2] / 1000, .tv_usec = a[2] % 1000 * 1000};
	int fd = file[a[0]], ready;
	fd_set in, to;

	FD_ZERO(&in);
	FD_ZERO(&to);
	if (a[1] & POLLIN)
		FD_SET(fd, &in);
	if (a[1] & POLLOUT)
		FD_SET(fd, &to);
	ready = select(fd + 1, &in, &to, NULL, &span);
	snprintf(out, LINE, "%d %s%s", ready, FD_ISSET(fd, &in) ? "in " : "",
		 FD_ISSET(fd, &to) ? "out" : "");
}

static void
do_epoll(char *out, const long *a)
{
	file[a[0]] = epoll_create1(0);
	say(out, file[a[0]] < 0 ? -1 : 0);
}

static void
control(char *out, int operation, const long *a)
{
	struct epoll_event event = {.events = (uint32_t)a[2], .data.u64 = 77};

	say(out, epoll_ctl(file[a[0]], operation, file[a[1]], &event));
}

static void
do_add(char *out, const long *a)
{
	control(out, EPOLL_CTL_ADD, a);
}

static void
do_mod(char *out, const long *a)
{
	control(out, EPOLL_CTL_MOD, a);
}

static void
do_del(char *out, const long *a)
{
	control(out, EPOLL_CTL_DEL, a);
}

static void
do_wait(char *out, const long *a)
{
	struct epoll_event event[4] = {{.events = 0}};
	int n = epoll_wait(file[a[0]], event, 4, (int)a[1]);
	char text[LINE / 2];

	snprintf(out, LINE, "%d %s%s", n, n > 0 ? events_text((short)event[0].events, text) : "",
		 n > 0 && event[0].data.u64 != 77 ? "wrong data" : "");
}

static void
do_error(char *out, const long *a)
{
	int error = -1;
	socklen_t length = sizeof(error);
	int result = getsockopt(file[a[0]], SOL_SOCKET, SO_ERROR, &error, &length);

	snprintf(out, LINE, "%d, %s", result, error == 0 ? "none" : strerrorname_np(error));
}

static void
do_option(char *out, const long *a)
{
	int value = (int)a[2];

	say(out, setsockopt(file[a[0]], IPPROTO_TCP, (int)a[1], &value, sizeof(value)));
}

static void
do_timeout(char *out, const long *a)
{
	struct timeval limit = {.tv_usec = a[2] * 1000};

	say(out, setsockopt(file[a[0]], SOL_SOCKET, (int)a[1], &limit, sizeof(limit)));
}

static void
do_pending(char *out, const long *a)
{
	int n = -1, result = ioctl(file[a[0]], FIONREAD, &n);

	snprintf(out, LINE, "%d, %d", result, n);
}

/* Connects and sends at once. */
static void
do_fastopen(char *out, const long *a)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)a[1])};

	inet_pton(AF_INET, address, &to.sin_addr);
	file[a[0]] = socket(AF_INET, SOCK_STREAM, 0);
	fill(a[2]);
	say(out, sendto(file[a[0]], bytes, (size_t)a[2], MSG_FASTOPEN, (struct sockaddr *)&to,
			sizeof(to)));
}

static void
do_dprintf(char *out, const long *a)
{
	say(out, dprintf(file[a[0]], "%ld and %ld\n", a[1], a[2]));
}

/* At no place, and at one, which no socket has. */
static void
do_readv2(char *out, const long *a)
{
	struct iovec part = {bytes, (size_t)a[1]};

	say_bytes(out, preadv2(file[a[0]], &part, 1, a[2], RWF_NOWAIT));
}

static void
do_writev2(char *out, const long *a)
{
	struct iovec part = {bytes, (size_t)a[1]};

	fill(a[1]);
	say(out, pwritev2(file[a[0]], &part, 1, a[2], 0));
}

/* Bytes that go nowhere. */
static void
do_drop(char *out, const long *a)
{
	say(out, recv(file[a[0]], NULL, (size_t)a[1], MSG_TRUNC | (int)a[2]));
}

static void
do_mark(char *out, const long *a)
{
	say(out, sockatmark(file[a[0]]));
}

/* Bytes that the peer has not confirmed, and those that are not sent. */
static void
do_outq(char *out, const long *a)
{
	int unconfirmed = -1, unsent = -1;
	int result =
		ioctl(file[a[0]], SIOCOUTQ, &unconfirmed) + ioctl(file[a[0]], SIOCOUTQNSD, &unsent);

	snprintf(out, LINE, "%d, %d, %d", result, unconfirmed, unsent);
}

/* A signal for what arrives, which was_signaled tells of. */
static void
do_async(char *out, const long *a)
{
	signal(SIGIO, on_signal);
	say(out, fcntl(file[a[0]], F_SETOWN, getpid()) +
			 fcntl(file[a[0]], F_SETFL, fcntl(file[a[0]], F_GETFL) | O_ASYNC));
	signals = 0;
}

static void
do_was_signaled(char *out, const long *a)
{
	(void)a;
	snprintf(out, LINE, "%d", signals > 0);
	signals = 0;
}

/* Of the port that the script knows: the other one is any. */
static void
do_names(char *out, const long *a)
{
	struct sockaddr_in local, peer;
	socklen_t n = sizeof(local), m = sizeof(peer);
	int first = getsockname(file[a[0]], (struct sockaddr *)&local, &n);
	int second = getpeername(file[a[0]], (struct sockaddr *)&peer, &m);

	snprintf(out, LINE, "%d %d, %u %u bytes, port %s", first, second, n, m,
		 first == 0 && second == 0 &&
				 (ntohs(local.sin_port) == a[1] || ntohs(peer.sin_port) == a[1])
			 ? "known"
			 : "unknown");
}

/* accept4() with SOCK_NONBLOCK. */
static void
do_accept4(char *out, const long *a)
{
	struct sockaddr_in from = {.sin_family = 0};
	socklen_t length = sizeof(from);

	file[a[1]] = accept4(file[a[0]], (struct sockaddr *)&from, &length, SOCK_NONBLOCK);
	snprintf(out, LINE, "%s, family %d of %u", file[a[1]] < 0 ? strerrorname_np(errno) : "0",
		 from.sin_family, length);
}

static void
do_sendfile(char *out, const long *a)
{
	char path[] = "/tmp/transcript-XXXXXX";
	int from = mkstemp(path);
	off_t at = 10;

	unlink(path);
	fill(a[1]);
	if (write(from, bytes, (size_t)a[1]) != a[1]) {
		say(out, -1);
		return;
	}
	/* By its own place, and by a place of the caller's, which it moves. */
	if (a[2])
		say(out, sendfile(file[a[0]], from, &at, (size_t)a[1]));
	else if (lseek(from, 5, SEEK_SET) == 5)
		say(out, sendfile(file[a[0]], from, NULL, (size_t)a[1]));
	snprintf(out + strlen(out), LINE - strlen(out), ", at %ld %ld", (long)at,
		 (long)lseek(from, 0, SEEK_CUR));
	close(from);
}

/* Between two descriptors, one of which is a pipe. The third number: SPLICE_F_NONBLOCK or not, and
 * 100 times the bytes. */
static void
do_splice(char *out, const long *a)
{
	say(out, splice(file[a[0]], NULL, file[a[1]], NULL, (size_t)(a[2] / 100),
			(unsigned)(a[2] % 100)));
}

/* ... from a place, to a place. */
static void
do_splice_at(char *out, const long *a)
{
	off_t from = 1, to = 1;

	say(out,
	    splice(file[a[0]], a[2] & 1 ? &from : NULL, file[a[1]], a[2] & 2 ? &to : NULL, 10, 0));
}

static void
do_ppoll(char *out, const long *a)
{
	const struct timespec span = {.tv_sec = a[2] / 1000, .tv_nsec = a[2] % 1000 * 1000000};
	struct pollfd fd = {.fd = file[a[0]], .events = (short)a[1]};
	int ready = ppoll(&fd, 1, &span, NULL);
	char text[LINE / 2];

	snprintf(out, LINE, "%d %s", ready, events_text(fd.revents, text));
}

/* Two descriptors at once, one of which may be no socket. */
static void
do_poll_two(char *out, const long *a)
{
	struct pollfd fds[2] = {{.fd = file[a[0]], .events = POLLIN | POLLOUT},
				{.fd = file[a[1]], .events = POLLIN}};
	int ready = poll(fds, 2, (int)a[2]);
	char one[LINE / 4], two[LINE / 4];

	snprintf(out, LINE, "%d %s, %s", ready, events_text(fds[0].revents, one),
		 events_text(fds[1].revents, two));
}

static void
do_pipe(char *out, const long *a)
{
	int ends[2] = {-1, -1};
	int result = pipe(ends);

	file[a[0]] = ends[0];
	file[a[1]] = ends[1];
	say(out, result);
}

/* Until it holds no more. */
static void
do_fill_pipe(char *out, const long *a)
{
	const int flags = fcntl(file[a[0]], F_GETFL);
	long done = 0;
	ssize_t n;

	fill(BYTES);
	(void)fcntl(file[a[0]], F_SETFL, flags | O_NONBLOCK);
	while ((n = write(file[a[0]], bytes, 4096)) > 0)
		done += n;
	(void)fcntl(file[a[0]], F_SETFL, flags);
	say(out, done);
}

/* An option of SOL_SOCKET, set and got. */
static void
do_set(char *out, const long *a)
{
	int value = (int)a[2], got = -1;
	socklen_t length = sizeof(got);
	int set = setsockopt(file[a[0]], SOL_SOCKET, (int)a[1], &value, sizeof(value));
	int error = set == 0 ? 0 : errno;

	(void)getsockopt(file[a[0]], SOL_SOCKET, (int)a[1], &got, &length);
	snprintf(out, LINE, "%d %s, %d", set, error == 0 ? "" : strerrorname_np(error), got);
}

static void
do_linger(char *out, const long *a)
{
	const struct linger linger = {.l_onoff = (int)a[1], .l_linger = (int)a[2]};

	say(out, setsockopt(file[a[0]], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
}

static void
do_get(char *out, const long *a)
{
	int got = -1;
	socklen_t length = sizeof(got);
	int result = getsockopt(file[a[0]], (int)a[1], (int)a[2], &got, &length);

	snprintf(out, LINE, "%d, %d of %u", result, got, length);
}

static void
do_flags(char *out, const long *a)
{
	snprintf(out, LINE, "%x %x", (unsigned)fcntl(file[a[0]], F_GETFL),
		 (unsigned)fcntl(file[a[0]], F_GETFD));
}

/* A child makes the call, with what it has from its parent. */
static void
do_child(char *out, const long *a)
{
	int ends[2];
	pid_t pid;

	out[0] = '\0';
	if (pipe(ends) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		if (a[1] > 0)
			do_send(out, (long[]){a[0], a[1], 0});
		else
			do_recv(out, (long[]){a[0], -a[1], MSG_WAITALL});
		_exit(write(ends[1], out, strlen(out) + 1) > 0 ? 0 : 1);
	}
	if (read(ends[0], out, LINE) <= 0 || waitpid(pid, NULL, 0) != pid)
		snprintf(out, LINE, "the child has not said");
	close(ends[0]);
	close(ends[1]);
}

/* Several messages by one call. */
static void
do_sendmmsg(char *out, const long *a)
{
	struct iovec part[2] = {{bytes, 5}, {bytes + 5, (size_t)a[1] - 5}};
	struct mmsghdr m[2] = {{.msg_hdr = {.msg_iov = &part[0], .msg_iovlen = 1}},
			       {.msg_hdr = {.msg_iov = &part[1], .msg_iovlen = 1}}};
	int n;

	fill(a[1]);
	n = sendmmsg(file[a[0]], m, 2, 0);
	snprintf(out, LINE, "%d: %u %u", n, m[0].msg_len, m[1].msg_len);
}

static void
do_signals(char *out, const long *a)
{
	(void)a;
	snprintf(out, LINE, "%d", (int)signals);
	signals = 0;
}

/* What the queue of errors has: of calls with MSG_ZEROCOPY. */
static void
do_notice(char *out, const long *a)
{
	_Alignas(struct cmsghdr) char control[200];
	struct msghdr m = {.msg_control = control, .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(file[a[0]], &m, MSG_ERRQUEUE);
	struct cmsghdr *head = got == 0 ? CMSG_FIRSTHDR(&m) : NULL;
	struct sock_extended_err notice;

	if (head == NULL) {
		say(out, got);
		return;
	}
	memcpy(&notice, CMSG_DATA(head), sizeof(notice));
	snprintf(out, LINE, "%zd %#x, %zu bytes of %d %d: %u %d %d, calls %u to %u", got,
		 m.msg_flags & (MSG_ERRQUEUE | MSG_CTRUNC), head->cmsg_len, head->cmsg_level,
		 head->cmsg_type, notice.ee_errno, notice.ee_origin, notice.ee_code, notice.ee_info,
		 notice.ee_data);
}

static void
do_settle(char *out, const long *a)
{
	usleep((useconds_t)a[0] * 1000);
	out[0] = '\0';
}

static const struct {
	const char *name;
	void (*run)(char *out, const long *a);
} calls[] = {
	{"socket", do_socket},
	{"listen", do_listen},
	{"accept", do_accept},
	{"connect", do_connect},
	{"connect-again", do_connect_again},
	{"send", do_send},
	{"recv", do_recv},
	{"write", do_write},
	{"read", do_read},
	{"writev", do_writev},
	{"readv", do_readv},
	{"sendmsg", do_sendmsg},
	{"recvmsg", do_recvmsg},
	{"recvfrom", do_recvfrom},
	{"sendto", do_sendto},
	{"shutdown", do_shutdown},
	{"close", do_close},
	{"dup", do_dup},
	{"dup2", do_dup2},
	{"nonblock", do_nonblock},
	{"poll", do_poll},
	{"select", do_select},
	{"epoll", do_epoll},
	{"add", do_add},
	{"mod", do_mod},
	{"del", do_del},
	{"wait", do_wait},
	{"error", do_error},
	{"option", do_option},
	{"timeout", do_timeout},
	{"pending", do_pending},
	{"drop", do_drop},
	{"fastopen", do_fastopen},
	{"dprintf", do_dprintf},
	{"readv2", do_readv2},
	{"writev2", do_writev2},
	{"mark", do_mark},
	{"outq", do_outq},
	{"async", do_async},
	{"was-signaled", do_was_signaled},
	{"names", do_names},
	{"accept4", do_accept4},
	{"sendfile", do_sendfile},
	{"splice", do_splice},
	{"splice-at", do_splice_at},
	{"ppoll", do_ppoll},
	{"poll-two", do_poll_two},
	{"pipe", do_pipe},
	{"fill-pipe", do_fill_pipe},
	{"set", do_set},
	{"linger", do_linger},
	{"get", do_get},
	{"flags", do_flags},
	{"child", do_child},
	{"sendmmsg", do_sendmmsg},
	{"signals", do_signals},
	{"notice", do_notice},
	{"settle", do_settle},
};

static void
run(const char *line, char *out)
{
	char name[32] = "";
	long a[3] = {0};

	sscanf(line, "%31s %li %li %li", name, &a[0], &a[1], &a[2]);
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0) {
			calls[i].run(out, a);
			return;
		}
	snprintf(out, LINE, "there is no such call");
}

/* ---- the script: whose turn, and what; > leads, < follows ---- */

#include "transcript.h"

/* ---- the two programs ---- */

static int
open_channel(const char *path, int follows)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), tries = CONNECT_TRIES, channel;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (!follows) {
		while (connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0 && tries-- > 0)
			usleep(20000);
		return fd;
	}
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, 1) != 0)
		return -1;
	channel = accept(fd, NULL, NULL);
	close(fd);
	unlink(path);
	return channel;
}

static int
follow(int channel)
{
	char line[LINE], out[LINE];
	ssize_t n;

	while ((n = recv(channel, line, sizeof(line) - 1, 0)) > 0) {
		line[n] = '\0';
		run(line, out);
		if (send(channel, out, strlen(out) + 1, 0) < 0)
			return 1;
	}
	return 0;
}

static int
lead(int channel)
{
	char out[LINE];

	for (unsigned i = 0; i < sizeof(script) / sizeof(script[0]); i++) {
		const char *line = script[i] + 2;

		out[0] = '\0';
		if (script[i][0] == '>')
			run(line, out);
		else if (send(channel, line, strlen(line) + 1, 0) < 0 ||
			 recv(channel, out, sizeof(out), 0) <= 0)
			return 1;
		printf("%3u %s = %s\n", i, script[i], out);
		fflush(stdout);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	int follows = argc == 3 && strcmp(argv[1], "follow") == 0, channel;

	if (!follows && !(argc == 4 && strcmp(argv[1], "lead") == 0))
		return 2;
	for (unsigned i = 0; i < FILES; i++)
		file[i] = -1;
	alarm(120);
	signal(SIGPIPE, on_signal);
	channel = open_channel(argv[2], follows);
	if (channel < 0)
		return 1;
	address = argv[3];
	return follows ? follow(channel) : lead(channel);
}
