/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel of the simulated hosts, as far as the switch uses it: the linker has its calls come
 * here (--wrap). Connections of TCP are within a host, and carry no bytes. Start with
 * kernel_ready().
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "plx_adapter.h"
#include "system.h"

#define WRAP(type, name, ...)            \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

/* By which name the C library calls it depends on how it was built. */
#define SAME(type, name, as, ...)        \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__) __attribute__((alias("__wrap_" #as)))

enum {
	FIRST_PORT = 32768,
	CLOCK_NS = 40,
	YIELD_NS = 1000,
	CALL_US = 20000,
	EFD_ALL = EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE,
};

/* ---- files ---- */

static struct file *
file_at(uint16_t file)
{
	return &sys->file[file];
}

uint16_t
kernel_file(enum file_kind kind)
{
	for (uint16_t i = 1; i < FILES; i++)
		if (sys->file[i].kind == FILE_NONE) {
			sys->file[i] = (struct file){.kind = (uint8_t)kind,
						     .host = sys->process[self].host,
						     .refs = 1,
						     .message = sys->messages[i]};
			return i;
		}
	sys_fail("no more than %d files", FILES);
	return 0;
}

int
kernel_fd(uint16_t file)
{
	struct process *me = &sys->process[self];

	for (int fd = 3; fd < FDS; fd++)
		if (me->fd[fd] == 0) {
			me->fd[fd] = file;
			return fd;
		}
	sys_fail("no more than %d descriptors", FDS);
	return -1;
}

uint16_t
kernel_of(int process, int fd)
{
	return fd >= 0 && fd < FDS ? sys->process[process].fd[fd] : 0;
}

/* NULL, with EBADF */
static struct file *
mine(int fd)
{
	uint16_t file = kernel_of(self, fd);

	errno = EBADF;
	return file != 0 ? file_at(file) : NULL;
}

void
kernel_hold(uint16_t file)
{
	file_at(file)->refs++;
}

static void
forget_watched(uint16_t file)
{
	for (uint16_t i = 1; i < FILES; i++) {
		struct file *epoll = file_at(i);
		uint32_t kept = 0;

		for (uint32_t k = 0; k < epoll->watches; k++)
			if (epoll->watched[k].file != file)
				epoll->watched[kept++] = epoll->watched[k];
		epoll->watches = kept;
	}
}

/* Nobody has it any more. */
static void
end(uint16_t number)
{
	struct file *file = file_at(number);

	forget_watched(number);
	for (uint32_t i = 0; i < file->messages; i++) {
		uint16_t along = file->message[(file->first + i) % MESSAGES].file;

		if (along != 0)
			kernel_drop(along);
	}
	for (uint32_t i = 0; i < file->backlog_count; i++)
		kernel_drop(file->backlog[i]);
	if (file->peer != 0) {
		file_at(file->peer)->peer = 0;
		file_at(file->peer)->reset |= file->linger_zero;
	}
	file->kind = FILE_NONE;
}

void
kernel_drop(uint16_t file)
{
	if (--file_at(file)->refs == 0)
		end(file);
}

void
kernel_end(int process)
{
	for (int fd = 0; fd < FDS; fd++) {
		uint16_t file = sys->process[process].fd[fd];

		sys->process[process].fd[fd] = 0;
		if (file != 0)
			kernel_drop(file);
	}
	for (uint32_t i = 0; i < sys->process[process].mails; i++)
		kernel_drop(sys->process[process].mail[i]);
	sys->process[process].mails = 0;
}

void
kernel_inherit(int from, int to)
{
	for (int fd = 0; fd < FDS; fd++) {
		uint16_t file = sys->process[from].fd[fd];

		sys->process[to].fd[fd] = file;
		if (file != 0)
			kernel_hold(file);
	}
}

uint32_t
kernel_left(void)
{
	uint32_t left = 0;

	for (uint16_t i = 1; i < FILES; i++)
		left += file_at(i)->kind != FILE_NONE;
	return left;
}

/* ---- what is ready ---- */

static bool
any_watched(const struct file *epoll)
{
	for (uint32_t i = 0; i < epoll->watches; i++)
		if (kernel_ready(epoll->watched[i].file) &
		    (short)(epoll->watched[i].events | EPOLLHUP | EPOLLERR))
			return true;
	return false;
}

short
kernel_ready(uint16_t number)
{
	const struct file *file = file_at(number);
	bool ended = file->was_connected && file->peer == 0;

	switch ((enum file_kind)file->kind) {
	case FILE_EVENT:
		return file->count > 0 ? POLLIN | POLLOUT : POLLOUT;
	case FILE_CHANNEL:
		return (file->messages > 0 || ended ? POLLIN : 0) |
		       (ended ? POLLHUP | POLLRDHUP : 0) |
		       (!ended && file_at(file->peer)->messages < MESSAGES ? POLLOUT : 0);
	case FILE_CHANNELS:
	case FILE_TCP_LISTENER:
		return file->backlog_count > 0 ? POLLIN : 0;
	case FILE_TCP:
		return (ended ? POLLIN | POLLRDHUP | POLLHUP : 0) | (file->reset ? POLLERR : 0) |
		       (file->was_connected ? POLLOUT : 0);
	case FILE_EPOLL:
		return any_watched(file) ? POLLIN : 0;
	case FILE_MEMORY:
	case FILE_NONE:
		break;
	}
	return 0;
}

static bool
wait_for(uint16_t file, short events)
{
	const struct waited wait = {file, events};

	return sys_wait(&wait, 1, UINT64_MAX);
}

static uint64_t
end_of(int ms)
{
	return ms < 0 ? UINT64_MAX : sys->now + (uint64_t)ms * PLX_MSEC;
}

/* A call: others may have the turn before. */
static void
enter(void)
{
	if (sys_one_in(4))
		sys_yield();
}

/* ---- the process ---- */

WRAP(int, clock_gettime, clockid_t clock, struct timespec *out)
{
	(void)clock;
	sys->now += CLOCK_NS;
	out->tv_sec = (time_t)(sys->now / PLX_SEC);
	out->tv_nsec = (long)(sys->now % PLX_SEC);
	return 0;
}

WRAP(int, sched_yield, void)
{
	sys->now += YIELD_NS;
	sys_yield();
	return 0;
}

WRAP(int, raise, int number)
{
	return number == SIGPIPE ? 0 : (sys_fail("signal %d", number), -1);
}

WRAP(int, chmod, const char *path, mode_t mode)
{
	(void)path;
	(void)mode;
	return 0;
}

WRAP(int, unlink, const char *path)
{
	(void)path;
	return 0;
}

WRAP(int, close, int fd)
{
	uint16_t file = kernel_of(self, fd);

	enter();
	if (file == 0)
		sys_fail("descriptor %d is closed, which is none", fd);
	sys->process[self].fd[fd] = 0;
	kernel_drop(file);
	return 0;
}

/* ---- events ---- */

WRAP(int, eventfd, unsigned count, int flags)
{
	uint16_t file = kernel_file(FILE_EVENT);

	SYS_MUST((flags & ~EFD_ALL) == 0);
	file_at(file)->count = count;
	file_at(file)->semaphore = flags & EFD_SEMAPHORE;
	return kernel_fd(file);
}

WRAP(int, eventfd_write, int fd, eventfd_t count)
{
	struct file *file;

	enter();
	file = mine(fd);
	SYS_MUST(file != NULL && file->kind == FILE_EVENT);
	file->count += count;
	return 0;
}

WRAP(int, eventfd_read, int fd, eventfd_t *out)
{
	struct file *file;

	enter();
	file = mine(fd);
	SYS_MUST(file != NULL && file->kind == FILE_EVENT);
	errno = EAGAIN;
	if (file->count == 0)
		return -1;
	*out = file->semaphore ? 1 : file->count;
	file->count -= *out;
	return 0;
}

void
kernel_set_event(uint16_t file, uint64_t count)
{
	file_at(file)->count = count;
}

WRAP(int, poll, struct pollfd *fds, nfds_t n, int ms)
{
	struct waited waits[FDS] = {{0}};
	bool invalid = false;
	int ready = 0;

	for (nfds_t i = 0; i < n; i++) {
		waits[i] = (struct waited){kernel_of(self, fds[i].fd), fds[i].events};
		invalid |= waits[i].file == 0;
	}
	if (ms == 0 || invalid)
		enter();
	else
		(void)sys_wait(waits, (uint32_t)n, end_of(ms));
	for (nfds_t i = 0; i < n; i++) {
		fds[i].revents = waits[i].file == 0 ? POLLNVAL
						    : kernel_ready(waits[i].file) &
							      (fds[i].events | POLLHUP | POLLERR);
		ready += fds[i].revents != 0;
	}
	return ready;
}

WRAP(int, epoll_create1, int flags)
{
	(void)flags;
	return kernel_fd(kernel_file(FILE_EPOLL));
}

static struct watched *
find_watched(struct file *epoll, uint16_t file)
{
	for (uint32_t i = 0; i < epoll->watches; i++)
		if (epoll->watched[i].file == file)
			return &epoll->watched[i];
	return NULL;
}

WRAP(int, epoll_ctl, int fd, int what, int of, struct epoll_event *event)
{
	struct file *epoll = mine(fd);
	uint16_t file = kernel_of(self, of);
	struct watched *watched;

	SYS_MUST(epoll != NULL && epoll->kind == FILE_EPOLL);
	errno = EBADF;
	if (file == 0)
		return -1;
	watched = find_watched(epoll, file);
	errno = what == EPOLL_CTL_ADD ? EEXIST : ENOENT;
	if ((watched != NULL) == (what == EPOLL_CTL_ADD))
		return -1;
	if (what == EPOLL_CTL_DEL) {
		*watched = epoll->watched[--epoll->watches];
		return 0;
	}
	if (watched == NULL) {
		SYS_MUST(epoll->watches < WATCHES);
		watched = &epoll->watched[epoll->watches++];
	}
	*watched = (struct watched){file, event->events, event->data.ptr};
	return 0;
}

WRAP(int, epoll_wait, int fd, struct epoll_event *out, int most, int ms)
{
	struct waited wait = {kernel_of(self, fd), POLLIN};
	struct file *epoll = mine(fd);
	int n = 0;

	(void)sys_wait(&wait, 1, end_of(ms));
	provider_upcalls();
	for (uint32_t i = 0; i < epoll->watches && n < most; i++) {
		const struct watched *watched = &epoll->watched[i];
		uint32_t ready = (uint32_t)kernel_ready(watched->file) &
				 (watched->events | EPOLLHUP | EPOLLERR);

		if (ready != 0)
			out[n++] =
				(struct epoll_event){.events = ready, .data.ptr = watched->context};
	}
	return n;
}

/* ---- memory ---- */

WRAP(int, memfd_create, const char *name, unsigned flags)
{
	(void)name;
	(void)flags;
	return kernel_fd(kernel_file(FILE_MEMORY));
}

WRAP(int, ftruncate, int fd, off_t bytes)
{
	struct file *file = mine(fd);

	SYS_MUST(file != NULL && file->kind == FILE_MEMORY);
	SYS_MUST(sys->memory_used + (uint64_t)bytes <= MEMORY);
	file->memory = sys->memory + sys->memory_used;
	file->bytes = (size_t)bytes;
	sys->memory_used += (uint32_t)bytes;
	return 0;
}
SAME(int, ftruncate64, ftruncate, int fd, off_t bytes);

WRAP(int, fstat, int fd, struct stat *out)
{
	const struct file *file = mine(fd);

	SYS_MUST(file != NULL);
	*out = (struct stat){.st_size = (off_t)file->bytes};
	return 0;
}
SAME(int, fstat64, fstat, int fd, struct stat *out);

/* Memory has a descriptor of its own. */
void *
plx_mem_map(int fd, struct plx_why *why)
{
	const uint16_t file = kernel_of(self, fd);

	(void)why;
	if (file == 0)
		return NULL;
	kernel_hold(file);
	(void)kernel_fd(file);
	return file_at(file)->memory;
}

int
plx_mem_file(const void *memory)
{
	for (int fd = 3; memory != NULL && fd < FDS; fd++)
		if (kernel_of(self, fd) != 0 && mine(fd)->memory == memory)
			return fd;
	return -1;
}

void
plx_mem_free(void *memory)
{
	const int fd = plx_mem_file(memory);

	if (fd < 0)
		return;
	kernel_drop(kernel_of(self, fd));
	sys->process[self].fd[fd] = 0;
}

WRAP(int, fcntl, int fd, int what, ...)
{
	struct file *file = mine(fd);
	va_list arguments;

	SYS_MUST(file != NULL);
	va_start(arguments, what);
	if (what == F_SETFL)
		file->nonblocking = va_arg(arguments, long) & O_NONBLOCK;
	va_end(arguments);
	return what == F_GETFL       ? (file->nonblocking ? O_RDWR | O_NONBLOCK : O_RDWR)
	       : what == F_GET_SEALS ? F_SEAL_SHRINK
				     : 0;
}
SAME(int, fcntl64, fcntl, int fd, int what, ...);

/* ---- sockets ---- */

static void
pair(uint16_t a, uint16_t b)
{
	file_at(a)->peer = b;
	file_at(b)->peer = a;
	file_at(a)->was_connected = file_at(b)->was_connected = true;
}

WRAP(int, socket, int family, int type, int protocol)
{
	uint16_t file = kernel_file(family == AF_UNIX ? FILE_CHANNEL : FILE_TCP);

	(void)protocol;
	file_at(file)->nonblocking = type & SOCK_NONBLOCK;
	return kernel_fd(file);
}

static struct name
name_from(const struct sockaddr *address)
{
	struct sockaddr_in in;

	memcpy(&in, address, sizeof(in));
	return (struct name){in.sin_addr.s_addr, ntohs(in.sin_port)};
}

WRAP(int, bind, int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct file *file = mine(fd);

	(void)bytes;
	SYS_MUST(file != NULL);
	if (address->sa_family == AF_UNIX) {
		file->kind = FILE_CHANNELS;
		return 0;
	}
	errno = EADDRNOTAVAIL;
	if (address->sa_family != AF_INET)
		return -1;
	file->local = name_from(address);
	return 0;
}

static uint16_t
choose_port(void)
{
	return (uint16_t)(FIRST_PORT + sys->ports++ % 20000);
}

WRAP(int, listen, int fd, int backlog)
{
	struct file *file = mine(fd);

	(void)backlog;
	SYS_MUST(file != NULL);
	if (file->kind == FILE_CHANNELS)
		return 0;
	file->kind = FILE_TCP_LISTENER;
	if (file->local.port == 0)
		file->local.port = choose_port();
	return 0;
}

static uint16_t
find_listener(enum file_kind kind, const struct name *to)
{
	for (uint16_t i = 1; i < FILES; i++) {
		const struct file *file = file_at(i);

		if (file->kind == kind && file->host == sys->process[self].host &&
		    (kind == FILE_CHANNELS ||
		     (file->local.port == to->port &&
		      (file->local.ip == INADDR_ANY || file->local.ip == to->ip))))
			return i;
	}
	return 0;
}

WRAP(int, connect, int fd, const struct sockaddr *address, socklen_t bytes)
{
	bool local = address->sa_family == AF_UNIX;
	struct name to = {0, 0};
	struct file *file = mine(fd), *listens;
	uint16_t number = kernel_of(self, fd), listener, other;

	(void)bytes;
	enter();
	SYS_MUST(file != NULL);
	if (!local)
		to = name_from(address);
	listener = find_listener(local ? FILE_CHANNELS : FILE_TCP_LISTENER, &to);
	errno = ECONNREFUSED;
	if (listener == 0)
		return -1;
	listens = file_at(listener);
	if (listens->backlog_count == BACKLOG)
		return -1;
	other = kernel_file(local ? FILE_CHANNEL : FILE_TCP);
	if (file->local.ip == 0)
		file->local.ip = to.ip;
	if (file->local.port == 0)
		file->local.port = choose_port();
	file->remote = to;
	file_at(other)->local = to;
	file_at(other)->remote = file->local;
	pair(number, other);
	listens->backlog[listens->backlog_count++] = other;
	return 0;
}

static int
say_name(const struct name *name, struct sockaddr *address, socklen_t *bytes)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(name->port), .sin_addr.s_addr = name->ip};

	memcpy(address, &in, sizeof(in));
	*bytes = sizeof(in);
	return 0;
}

WRAP(int, accept4, int fd, struct sockaddr *address, socklen_t *bytes, int flags)
{
	struct file *file = mine(fd);
	uint16_t other;

	SYS_MUST(file != NULL);
	if (file->backlog_count == 0 && !file->nonblocking && !(flags & SOCK_NONBLOCK))
		(void)wait_for(kernel_of(self, fd), POLLIN);
	errno = EAGAIN;
	if (file->backlog_count == 0)
		return -1;
	other = file->backlog[0];
	memmove(file->backlog, file->backlog + 1, --file->backlog_count * sizeof(other));
	file_at(other)->nonblocking = flags & SOCK_NONBLOCK;
	if (address != NULL)
		(void)say_name(&file_at(other)->remote, address, bytes);
	return kernel_fd(other);
}

WRAP(int, getsockname, int fd, struct sockaddr *address, socklen_t *bytes)
{
	struct file *file = mine(fd);

	return file != NULL ? say_name(&file->local, address, bytes) : -1;
}

WRAP(int, getpeername, int fd, struct sockaddr *address, socklen_t *bytes)
{
	struct file *file = mine(fd);

	errno = ENOTCONN;
	return file != NULL && file->was_connected ? say_name(&file->remote, address, bytes) : -1;
}

WRAP(int, getsockopt, int fd, int level, int name, void *out, socklen_t *bytes)
{
	const struct timeval limit = {.tv_usec = CALL_US};

	SYS_MUST(mine(fd) != NULL);
	memset(out, 0, *bytes);
	/* So no program waits for ever for bytes that it would have to send itself. */
	if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO))
		memcpy(out, &limit, sizeof(limit));
	return 0;
}

WRAP(int, setsockopt, int fd, int level, int name, const void *value, socklen_t bytes)
{
	struct file *file = mine(fd);

	(void)bytes;
	SYS_MUST(file != NULL);
	if (level == SOL_SOCKET && name == SO_LINGER)
		file->linger_zero = ((const struct linger *)value)->l_onoff;
	return 0;
}

WRAP(int, shutdown, int fd, int how)
{
	struct file *file = mine(fd);

	(void)how;
	SYS_MUST(file != NULL && file->kind == FILE_CHANNEL);
	if (file->peer != 0)
		file_at(file->peer)->peer = 0;
	file->peer = 0;
	return 0;
}

WRAP(ssize_t, recv, int fd, void *bytes, size_t n, int flags)
{
	struct file *file = mine(fd);

	(void)bytes;
	(void)n;
	SYS_MUST(file != NULL && file->kind == FILE_TCP && (flags & MSG_DONTWAIT));
	errno = file->reset ? ECONNRESET : EAGAIN;
	return file->was_connected && file->peer == 0 && !file->reset ? 0 : -1;
}

WRAP(ssize_t, send, int fd, const void *bytes, size_t n, int flags)
{
	(void)fd;
	(void)bytes;
	(void)n;
	(void)flags;
	sys_fail("bytes are sent past the switch");
	return -1;
}

WRAP(ssize_t, write, int fd, const void *bytes, size_t n)
{
	return __wrap_send(fd, bytes, n, 0);
}

/* ---- channels ---- */

WRAP(ssize_t, sendmsg, int fd, const struct msghdr *m, int flags)
{
	struct file *file = mine(fd), *peer;
	struct cmsghdr *head = CMSG_FIRSTHDR(m);
	struct message *message;
	int along = -1;

	(void)flags;
	enter();
	SYS_MUST(file != NULL && file->kind == FILE_CHANNEL);
	SYS_MUST(m->msg_iovlen == 1 && m->msg_iov->iov_len == sizeof(message->bytes));
	if (file->peer != 0 && file_at(file->peer)->messages == MESSAGES && !file->nonblocking)
		(void)wait_for(kernel_of(self, fd), POLLOUT);
	errno = EPIPE;
	if (file->peer == 0)
		return -1;
	peer = file_at(file->peer);
	errno = EAGAIN;
	if (peer->messages == MESSAGES)
		return -1;
	if (head != NULL)
		memcpy(&along, CMSG_DATA(head), sizeof(along));
	message = &peer->message[(peer->first + peer->messages++) % MESSAGES];
	memcpy(&message->bytes, m->msg_iov->iov_base, sizeof(message->bytes));
	message->file = kernel_of(self, along);
	if (message->file != 0)
		kernel_hold(message->file);
	sys_log("  says %u of session %llu: process %u token %x error %d", message->bytes.kind,
		(unsigned long long)message->bytes.session, message->bytes.process,
		message->bytes.token, message->bytes.error);
	return (ssize_t)sizeof(message->bytes);
}

WRAP(ssize_t, recvmsg, int fd, struct msghdr *m, int flags)
{
	struct file *file = mine(fd);
	struct message *message;
	struct cmsghdr *head;
	int along;

	SYS_MUST(file != NULL && file->kind == FILE_CHANNEL && (flags & MSG_DONTWAIT));
	enter();
	errno = EAGAIN;
	if (file->messages == 0) {
		m->msg_controllen = 0;
		return file->was_connected && file->peer == 0 ? 0 : -1;
	}
	message = &file->message[file->first];
	file->first = (file->first + 1) % MESSAGES;
	file->messages--;
	memcpy(m->msg_iov->iov_base, &message->bytes, sizeof(message->bytes));
	if (message->file == 0) {
		m->msg_controllen = 0;
		return (ssize_t)sizeof(message->bytes);
	}
	along = kernel_fd(message->file);
	head = CMSG_FIRSTHDR(m);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(along));
	memcpy(CMSG_DATA(head), &along, sizeof(along));
	return (ssize_t)sizeof(message->bytes);
}
