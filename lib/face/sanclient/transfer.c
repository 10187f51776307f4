/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes. Start with san_client_recv().
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

#include "client.h"
#include "plx_session.h"

enum {
	NOW_MS = 1000, /* longest wait for control of a call that does not wait for bytes */
};

static int
fail(int error)
{
	errno = error;
	return -1;
}

/* Asked when there is nothing: it is a system call. */
static bool
waits(struct session *session, int fd, int flags)
{
	if (flags & MSG_DONTWAIT)
		return false;
	session->blocks = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
	return session->blocks;
}

/* Before that: nobody else waits for control, and one that has waited will again. */
static bool
may_spin(const struct session *session, int flags)
{
	return session->blocks && !(flags & MSG_DONTWAIT) && session->controls &&
	       !session->wanted && !session->turn;
}

static int
acquire(struct session *session, int fd, int flags)
{
	int error = control_acquire(session, 0);

	return error == EAGAIN ? control_acquire(session, waits(session, fd, flags) ? -1 : NOW_MS)
			       : error;
}

static bool
is_ended(const struct session *session)
{
	return session->over ||
	       (session->controls && session->companion.stream.end != PLX_SAN_END_NOT);
}

/* How the connection has ended; 0: it has not, or well */
static int
error_of(const struct session *session)
{
	if (session->over && session->error != 0)
		return session->error;
	if (session->controls && session->companion.stream.end != PLX_SAN_END_NOT &&
	    !san_companion_has_ended_well(&session->companion))
		return session->companion.stream.end == PLX_SAN_END_TIMEOUT ? ETIMEDOUT
									    : ECONNRESET;
	return 0;
}

/* ... for who asks first: a call that has bytes to return leaves it to the next one. */
static int
pending_error(const struct session *session)
{
	return session->error_told ? 0 : error_of(session);
}

/* Returns: the error below 0 */
static int
tell(struct session *session, int error)
{
	session->error_told |= error == pending_error(session);
	return -error;
}

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* When a call that waits now is to stop: SO_RCVTIMEO, SO_SNDTIMEO of the kernel's socket. */
static uint64_t
end_of(int fd, int option)
{
	struct timeval limit = {0};
	socklen_t bytes = sizeof(limit);

	if (getsockopt(fd, SOL_SOCKET, option, &limit, &bytes) != 0 ||
	    (limit.tv_sec == 0 && limit.tv_usec == 0))
		return UINT64_MAX;
	/* Not before it: the millisecond that has begun does not count. */
	return now_ms() + 1 + (uint64_t)limit.tv_sec * 1000 +
	       ((uint64_t)limit.tv_usec + 999) / 1000;
}

static int
ms_until(uint64_t end)
{
	uint64_t now = now_ms();

	return end == UINT64_MAX ? -1
	       : now >= end      ? 0
				 : (int)(end - now < INT_MAX ? end - now : INT_MAX);
}

/* Wait for bytes or for room: others may have control meanwhile.
 * @param end [in, out] 0: `option` says. Returns: false: the time is over */
static bool
park(struct session *session, uint32_t what, int fd, int option, uint64_t *end)
{
	if (*end == 0)
		*end = end_of(fd, option);
	control_park(session);
	control_release(session);
	do {
		control_doze(session, ms_until(*end));
		control_attend(session);
		if (session->controls && session->wanted && !session->over)
			control_release(session);
	} while (!session->controls && !session->over && !session->relayed && ms_until(*end) != 0 &&
		 !(atomic_load(&session->segment.shared->ready) & (what | SAN_READY_END)));
	control_unpark(session);
	return ms_until(*end) != 0;
}

/* ---- reading ---- */

/* What arrives meanwhile is the program's at once. Returns: bytes */
static uint32_t
run_into(struct session *session, void *bytes, uint32_t most, bool spins)
{
	struct plx_san_sink sink = {bytes, most};

	session->companion.rings.sink = &sink;
	if (spins)
		(void)control_spin(session);
	else
		control_run(session);
	session->companion.rings.sink = NULL;
	return most - sink.room;
}

static ssize_t
read_urgent(struct session *session, void *bytes, size_t n, bool peek, int *error)
{
	uint8_t byte;

	control_run(session);
	if (!plx_san_read_urgent(&session->companion.stream, &byte, peek)) {
		*error = EINVAL;
		return -1;
	}
	memcpy(bytes, &byte, n > 0);
	control_changed(session);
	return n > 0;
}

/* Returns: bytes; -1: none yet, or an error: 0 in *error: wait */
static ssize_t
read_some(struct session *session, void *bytes, size_t n, int flags, bool spins, int *error)
{
	struct plx_san_stream *stream = &session->companion.stream;
	uint32_t most = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n, got;
	bool peek = flags & MSG_PEEK;

	*error = 0;
	if (flags & MSG_OOB)
		return read_urgent(session, bytes, n, peek, error);
	got = run_into(session, bytes, peek ? 0 : most, spins);
	if (got == 0)
		got = plx_san_read(stream, &session->segment.rings, bytes, most, peek);
	if (got > 0 || n == 0) {
		control_changed(session); /* there is room again: the other end hears so */
		return got;
	}
	if (plx_san_is_at_end(stream))
		return 0;
	*error = pending_error(session);
	return *error == 0 && is_ended(session) ? 0 : -1;
}

/* Returns: bytes, or an error below 0 */
static ssize_t
receive(struct session *session, int fd, uint8_t *bytes, size_t n, int flags)
{
	bool all = (flags & MSG_WAITALL) && !(flags & MSG_PEEK), spins = false;
	uint64_t end = 0;
	size_t done = 0;
	int error;

	for (;;) {
		uint64_t completed = session->companion.completed;
		ssize_t got = -1;

		if (session->reads_shut)
			return (ssize_t)done;
		error = acquire(session, fd, flags);
		if (error == 0)
			got = read_some(session, bytes + done, n - done, flags, spins, &error);
		else if (error == ESHUTDOWN)
			got = (error = pending_error(session)) == 0 ? 0 : -1;
		if (got >= 0) {
			done += (size_t)got;
			if (got == 0 || !all || done == n)
				return (ssize_t)done;
			spins = false;
		} else if (done > 0 && error != 0) {
			return (ssize_t)done;
		} else if (error != 0) {
			return tell(session, error);
		} else if (may_spin(session, flags) &&
			   (!spins || session->companion.completed != completed)) {
			spins = true;
		} else if (!waits(session, fd, flags) ||
			   !park(session, SAN_READY_IN, fd, SO_RCVTIMEO, &end)) {
			return done > 0 ? (ssize_t)done : -EAGAIN;
		} else {
			spins = false;
		}
	}
}

ssize_t
san_client_recv(int fd, void *bytes, size_t n, int flags)
{
	struct session *session = client_session(fd);
	ssize_t got;

	if (session == NULL)
		return fail(EBADF);
	control_lock(session);
	got = receive(session, fd, bytes, n, flags);
	control_leave(session);
	control_unlock(session);
	client_put(session);
	return got >= 0 ? got : got == -EREMOTE ? SAN_RELAYED : fail((int)-got);
}

/* ---- writing ---- */

static ssize_t
write_some(struct session *session, const uint8_t *bytes, size_t n, int flags, int *error)
{
	struct plx_san_stream *stream = &session->companion.stream;
	uint32_t most = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n, put = 0;

	*error = pending_error(session);
	if (*error == 0 && (is_ended(session) || stream->out.fin_wanted))
		*error = EPIPE;
	if (*error != 0)
		return -1;
	/* The last byte goes out of band. */
	if (flags & MSG_OOB)
		most--;
	put = plx_san_write(stream, &session->segment.rings, bytes, most);
	if ((flags & MSG_OOB) && put + 1 == n && plx_san_write_urgent(stream, bytes[put]))
		put++;
	control_changed(session);
	return put;
}

static ssize_t
transmit(struct session *session, int fd, const uint8_t *bytes, size_t n, int flags)
{
	uint64_t end = 0;
	size_t done = 0;
	int error;

	for (;;) {
		ssize_t put = -1;

		error = acquire(session, fd, flags);
		if (error == 0) {
			control_run(session);
			put = write_some(session, bytes + done, n - done, flags, &error);
		} else if (error == ESHUTDOWN) {
			error = pending_error(session);
			error = error != 0 ? error : EPIPE;
		}
		if (put > 0)
			done += (size_t)put;
		if (done == n || (put < 0 && done > 0))
			return (ssize_t)done;
		if (put < 0)
			return tell(session, error);
		if (put == 0 && !(may_spin(session, flags) && control_spin(session)) &&
		    (!waits(session, fd, flags) ||
		     !park(session, SAN_READY_OUT, fd, SO_SNDTIMEO, &end)))
			return done > 0 ? (ssize_t)done : -EAGAIN;
	}
}

ssize_t
san_client_send(int fd, const void *bytes, size_t n, int flags)
{
	struct session *session = client_session(fd);
	ssize_t put;

	if (session == NULL)
		return fail(EBADF);
	control_lock(session);
	put = n == 0 ? 0 : transmit(session, fd, bytes, n, flags);
	control_leave(session);
	control_unlock(session);
	client_put(session);
	if (put == -EPIPE && !(flags & MSG_NOSIGNAL))
		raise(SIGPIPE);
	return put >= 0 ? put : put == -EREMOTE ? SAN_RELAYED : fail((int)-put);
}

/* ---- what MSG_ZEROCOPY tells ---- */

enum {
	MADE = 32, /* the shift of the half of `copies` that counts calls */
};

void
san_client_copied(int fd)
{
	struct session *session = client_session(fd);

	if (session == NULL)
		return;
	atomic_fetch_add(&session->segment.shared->copies, UINT64_C(1) << MADE);
	client_put(session);
}

bool
san_client_take_copies(int fd, uint32_t *first, uint32_t *last)
{
	struct session *session = client_session(fd);
	uint64_t copies;

	if (session == NULL)
		return false;
	copies = atomic_load(&session->segment.shared->copies);
	do {
		*first = (uint32_t)copies;
		*last = (uint32_t)(copies >> MADE) - 1;
	} while (!atomic_compare_exchange_weak(&session->segment.shared->copies, &copies,
					       (copies >> MADE << MADE) | copies >> MADE));
	client_put(session);
	return *last + 1 != *first;
}

static bool
has_copies(const struct session *session)
{
	uint64_t copies = atomic_load(&session->segment.shared->copies);

	return copies >> MADE != (uint32_t)copies;
}

/* ---- readiness ---- */

bool
san_client_ready(int fd, struct san_client_ready *out)
{
	struct session *session = client_session(fd);
	struct san_shared *shared;
	uint32_t ready;

	if (session == NULL)
		return false;
	control_lock(session);
	control_attend(session);
	if (session->relayed) {
		if (!san_client_is_relayed(fd)) /* it was duplicated at that moment */
			client_relayed(session);
		control_unlock(session);
		client_put(session);
		return false;
	}
	control_run(session);
	if (session->wanted)
		control_release(session);
	shared = session->segment.shared;
	ready = atomic_load(&shared->ready);
	*out = (struct san_client_ready){
		.in = (ready & (SAN_READY_IN | SAN_READY_END)) || session->reads_shut,
		.out = ready & SAN_READY_OUT,
		.end = (ready & SAN_READY_END) || session->reads_shut,
		.shut = ready & SAN_READY_SHUT,
		.urgent = ready & SAN_READY_URGENT,
		.ended = is_ended(session),
		.error = pending_error(session) != 0 || has_copies(session),
		.arrived = atomic_load(&shared->arrived),
		.released = atomic_load(&shared->released),
	};
	control_unlock(session);
	client_put(session);
	return true;
}

bool
san_client_pending(int fd, struct san_client_pending *out)
{
	struct session *session = client_session(fd);
	const struct plx_san_stream *stream;
	int error;

	*out = (struct san_client_pending){.readable = 0};
	if (session == NULL)
		return false;
	stream = &session->companion.stream;
	control_lock(session);
	error = acquire(session, fd, MSG_DONTWAIT);
	if (error == 0) {
		control_run(session);
		out->at_mark = plx_san_is_at_mark(stream);
		out->readable = out->at_mark ? 0 : plx_san_readable(stream);
		out->unconfirmed = (uint32_t)(stream->out.put - stream->out.released);
		out->unsent = (uint32_t)(stream->out.put - stream->out.sent);
	}
	control_leave(session);
	control_unlock(session);
	client_put(session);
	return error == 0 || error == ESHUTDOWN;
}

int
san_client_error(int fd)
{
	struct session *session = client_session(fd);
	int error;

	if (session == NULL)
		return 0;
	control_lock(session);
	control_attend(session);
	control_run(session);
	error = -tell(session, pending_error(session));
	control_unlock(session);
	client_put(session);
	return error;
}

int
san_client_sleep(int fd, int fds[SAN_SLEEP_FDS])
{
	struct session *session = client_session(fd);
	int n = 2;

	fds[0] = client.control;
	fds[1] = session != NULL ? session->kick : client_connecting(fd);
	if (session == NULL)
		return fds[1] >= 0 ? n : 0;
	control_lock(session);
	if (session->controls && plx_sanqp_arm(session->companion.s, fds + n))
		n += PLX_SANQP_FDS;
	control_park(session);
	__atomic_add_fetch(&session->sleepers, 1, __ATOMIC_SEQ_CST);
	control_unlock(session);
	client_put(session);
	return n;
}

void
san_client_slept(int fd)
{
	struct session *session = client_session(fd);
	eventfd_t ignored;

	if (session == NULL)
		return;
	control_lock(session);
	(void)eventfd_read(session->kick, &ignored);
	__atomic_sub_fetch(&session->sleepers, 1, __ATOMIC_SEQ_CST);
	control_unpark(session);
	control_unlock(session);
	client_put(session);
}

/* ---- the rest ---- */

int
san_client_shutdown(int fd, int how)
{
	struct session *session = client_session(fd);
	int error = 0;

	if (session == NULL)
		return fail(EBADF);
	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR) {
		client_put(session);
		return fail(EINVAL);
	}
	control_lock(session);
	if (how != SHUT_RD) {
		error = control_acquire(session, -1);
		if (error == 0) {
			plx_san_shut(&session->companion.stream);
			control_changed(session);
		}
	}
	control_attend(session);
	session->reads_shut |= how != SHUT_WR && !session->relayed;
	control_kick(session);
	control_leave(session);
	if (session->relayed)
		error = EREMOTE;
	control_unlock(session);
	client_put(session);
	return error == 0 ? 0 : error == EREMOTE ? SAN_RELAYED : fail(ENOTCONN);
}

/* A socket of both families has IPv4 addresses mapped. */
static struct plx_ip
as_family_of(int fd, const struct plx_ip *ip)
{
	struct plx_ip mapped = {.version = 6, .v = {[10] = 0xff, [11] = 0xff}};
	socklen_t bytes = sizeof(int);
	int family = AF_INET;

	if (ip->version == 6 || getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &bytes) != 0 ||
	    family != AF_INET6)
		return *ip;
	memcpy(mapped.v + 12, ip->v, 4);
	return mapped;
}

int
san_client_name(int fd, bool peers, struct sockaddr *address, socklen_t *bytes)
{
	struct session *session = client_session(fd);
	struct sockaddr_storage name;
	struct plx_ip ip;
	uint16_t port;
	socklen_t n;

	if (session == NULL)
		return fail(EBADF);
	ip = as_family_of(fd, peers ? &session->peer.ip : &session->local.ip);
	port = peers ? session->peer.port : session->local.port;
	client_put(session);
	n = (socklen_t)plx_session_sockaddr_bytes(&ip);
	plx_session_sockaddr_write(&ip, port, &name);
	memcpy(address, &name, *bytes < n ? *bytes : n);
	*bytes = n;
	return 0;
}
