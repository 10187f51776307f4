/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes between sockets, files and pipes. There is no way from the kernel to RDMA: they are copied.
 * Start with splice().
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "preload.h"

enum {
	CHUNK = 65536, /* bytes at a time: what a pipe holds unless it is told otherwise */
};

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ---- files ---- */

/* The file's place moves by what was sent. */
static ssize_t
put_file(int fd, int file, off_t *from, size_t n)
{
	off_t at = from != NULL ? *from : lseek(file, 0, SEEK_CUR);
	uint8_t *bytes = malloc(CHUNK);
	size_t done = 0;
	ssize_t sent = 0;

	if (bytes == NULL || at < 0) {
		free(bytes);
		return -1;
	}
	while (done < n) {
		ssize_t got = pread(file, bytes, least(n - done, CHUNK), at);

		sent = got > 0 ? write(fd, bytes, (size_t)got) : got;
		if (sent <= 0)
			break;
		done += (size_t)sent;
		at += sent;
		if (sent < got)
			break;
	}
	free(bytes);
	if (from != NULL)
		*from = at;
	else
		(void)lseek(file, at, SEEK_SET);
	return done > 0 ? (ssize_t)done : sent;
}

PRELOAD_CALL ssize_t
sendfile(int fd, int file, off_t *from, size_t n)
{
	return preload_has(fd) ? put_file(fd, file, from, n) : REAL(sendfile)(fd, file, from, n);
}

/* Here sendfile() is sendfile64(); on machines of 64 bits both are one. */
PRELOAD_CALL ssize_t preload_sendfile_of_others(int fd, int file, off_t *from,
						size_t n) __asm__("sendfile");

ssize_t
preload_sendfile_of_others(int fd, int file, off_t *from, size_t n)
{
	return sendfile(fd, file, from, n);
}

/* ---- pipes ---- */

/* @param not_for O_RDONLY, O_WRONLY: the end that it must not be. Returns: 0; EBADF, EINVAL */
static int
check_pipe(int fd, int not_for)
{
	const int flags = REAL(fcntl)(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == not_for)
		return EBADF;
	return REAL(fcntl)(fd, F_GETPIPE_SZ) > 0 ? 0 : EINVAL;
}

/* As the kernel says it: the socket has no place, nor has the pipe. */
static int
check_splice(int pipe, int not_for, const off_t *socket_at, const off_t *pipe_at, unsigned flags)
{
	const unsigned known = SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT;
	const int error = flags & ~known ? EINVAL : check_pipe(pipe, not_for);

	if (error == 0 && pipe_at != NULL)
		return ESPIPE;
	return error == 0 && socket_at != NULL ? EINVAL : error;
}

/* Only the pipe is asked whether to wait: the socket has its own O_NONBLOCK.
 * Returns: its events; 0, with errno: EAGAIN, EINTR */
static short
await_pipe(int pipe, short events, unsigned flags)
{
	bool waits = !(flags & SPLICE_F_NONBLOCK) && !(REAL(fcntl)(pipe, F_GETFL) & O_NONBLOCK);
	struct pollfd fd = {.fd = pipe, .events = events};
	int ready = REAL(poll)(&fd, 1, waits ? -1 : 0);

	if (ready == 0)
		errno = EAGAIN;
	return ready > 0 ? fd.revents : 0;
}

/* What it takes at once. One that can be written has room for PIPE_BUF bytes: the rest of its room
 * may be many short pieces. */
static size_t
room_of(int pipe)
{
	int held = 0, size = REAL(fcntl)(pipe, F_GETPIPE_SZ);

	if (REAL(ioctl)(pipe, FIONREAD, &held) != 0 || held > 0 || size < PIPE_BUF)
		return PIPE_BUF;
	return (size_t)size;
}

/* If somebody else has filled it meanwhile, it takes longer. */
static bool
put_all(int pipe, const uint8_t *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = REAL(write)(pipe, bytes, n);
		struct pollfd fd = {.fd = pipe, .events = POLLOUT};

		if (done < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (done < 0) {
			(void)REAL(poll)(&fd, 1, -1);
			continue;
		}
		bytes += done;
		n -= (size_t)done;
	}
	return true;
}

static ssize_t
into_pipe(int fd, int pipe, size_t n, unsigned flags)
{
	short events = await_pipe(pipe, POLLOUT, flags);
	uint8_t *bytes;
	ssize_t got;

	if (events == 0)
		return -1;
	if (events & POLLERR) { /* nobody reads it */
		raise(SIGPIPE);
		errno = EPIPE;
		return -1;
	}
	n = least(least(n, room_of(pipe)), CHUNK);
	bytes = malloc(n);
	if (bytes == NULL)
		return -1;
	got = read(fd, bytes, n);
	if (got > 0 && !put_all(pipe, bytes, (size_t)got))
		got = -1;
	free(bytes);
	return got;
}

/* What a pipe holds, which goes on holding it. */
static ssize_t
look_into(int pipe, uint8_t *bytes, size_t n)
{
	int copy[2];
	ssize_t held;

	preload_enter();
	if (pipe2(copy, O_CLOEXEC) != 0) {
		preload_leave();
		return -1;
	}
	copy[0] = preload_keep(copy[0]);
	copy[1] = preload_keep(copy[1]);
	held = tee(pipe, copy[1], n, SPLICE_F_NONBLOCK);
	if (held > 0)
		held = REAL(read)(copy[0], bytes, (size_t)held);
	close(copy[0]);
	close(copy[1]);
	preload_leave();
	return held;
}

static void
skip(int pipe, uint8_t *bytes, size_t n)
{
	while (n > 0) {
		ssize_t got = REAL(read)(pipe, bytes, n);

		if (got <= 0 && !(got < 0 && errno == EINTR))
			return;
		n -= got > 0 ? (size_t)got : 0;
	}
}

/* What the socket does not take stays in the pipe. */
static ssize_t
out_of_pipe(int pipe, int fd, size_t n, unsigned flags)
{
	short events = await_pipe(pipe, POLLIN, flags);
	size_t done = 0, held = 1, sent = 1;
	uint8_t *bytes;

	if (!(events & POLLIN)) /* nobody writes it any more, or it is to be waited for */
		return events != 0 ? 0 : -1;
	bytes = malloc(CHUNK);
	if (bytes == NULL)
		return -1;
	while (done < n && held > 0 && sent == held) {
		ssize_t got = look_into(pipe, bytes, least(n - done, CHUNK));
		ssize_t put = got > 0 ? write(fd, bytes, (size_t)got) : got;

		if (put < 0 && done == 0) {
			free(bytes);
			return -1;
		}
		held = got > 0 ? (size_t)got : 0;
		sent = put > 0 ? (size_t)put : 0;
		skip(pipe, bytes, sent);
		done += sent;
	}
	free(bytes);
	return (ssize_t)done;
}

PRELOAD_CALL ssize_t
splice(int from, off_t *from_at, int to, off_t *to_at, size_t n, unsigned flags)
{
	const bool reads = preload_has(from), writes = !reads && preload_has(to);
	int error;

	if (!reads && !writes)
		return REAL(splice)(from, from_at, to, to_at, n, flags);
	if (n == 0)
		return 0;
	error = reads ? check_splice(to, O_RDONLY, from_at, to_at, flags)
		      : check_splice(from, O_WRONLY, to_at, from_at, flags);
	if (error != 0) {
		errno = error;
		return -1;
	}
	return reads ? into_pipe(from, to, n, flags) : out_of_pipe(from, to, n, flags);
}
