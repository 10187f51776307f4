/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A session whose programs use the kernel's socket: the broker carries bytes between that, by the
 * other end of the anchor, and the stream. It begins when a program asks for it, or when one has
 * written to the socket past the switch, and never ends: bytes in the kernel's buffers cannot be
 * taken back. Start with relay_run().
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "broker.h"

enum {
	PIECE = 65536, /* [bytes] carried at once */
	PIECES = 16,   /* ... before others have their turn */
};

static uint8_t piece[PIECE]; /* a broker is one thread, and one in a process */

/* The kernel takes or has nothing now; or its side has failed, as by a reset. */
static void
on_error(struct session *session)
{
	if (errno != EAGAIN && errno != EINTR)
		session_end(session, ECONNRESET);
}

/* ---- to programs ---- */

/* In its place: behind all that was sent before it. Returns: false: it waits for room */
static bool
carry_urgent_in(struct session *session)
{
	struct plx_san_stream *stream = &session->companion.stream;
	uint8_t byte;

	if (!plx_san_is_at_mark(stream) || !plx_san_read_urgent(stream, &byte, true))
		return true;
	if (send(session->anchor.fd, &byte, 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL) != 1) {
		on_error(session);
		return false;
	}
	return plx_san_read_urgent(stream, &byte, false);
}

/* Returns: whether something was carried */
static bool
carry_in(struct session *session)
{
	struct plx_san_stream *stream = &session->companion.stream;
	uint32_t n;
	ssize_t sent;

	if (!carry_urgent_in(session))
		return false;
	n = plx_san_read(stream, &session->segment.rings, piece, PIECE, true);
	if (n == 0 && plx_san_is_at_end(stream) && !session->told_end) {
		session->told_end = true;
		(void)shutdown(session->anchor.fd, SHUT_WR);
	}
	if (n == 0)
		return false;
	sent = send(session->anchor.fd, piece, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0) {
		on_error(session);
		return false;
	}
	(void)plx_san_read(stream, &session->segment.rings, piece, (uint32_t)sent, false);
	return sent > 0;
}

/* ---- from programs ---- */

/* The kernel's socket does not read past the place of an urgent byte at once. One that the stream
 * does not take yet stays there. */
static void
carry_urgent_out(struct session *session)
{
	uint8_t byte;

	if (sockatmark(session->anchor.fd) == 1 &&
	    recv(session->anchor.fd, &byte, 1, MSG_OOB | MSG_DONTWAIT | MSG_PEEK) == 1 &&
	    plx_san_write_urgent(&session->companion.stream, byte))
		(void)recv(session->anchor.fd, &byte, 1, MSG_OOB | MSG_DONTWAIT);
}

static bool
carry_out(struct session *session)
{
	struct plx_san_stream *stream = &session->companion.stream;
	uint32_t room = plx_san_room(stream);
	ssize_t got;

	if (room == 0 || stream->out.fin_wanted)
		return false;
	carry_urgent_out(session);
	got = recv(session->anchor.fd, piece, room < PIECE ? room : PIECE, MSG_DONTWAIT);
	if (got < 0) {
		on_error(session);
		return false;
	}
	if (got == 0)
		plx_san_shut(stream);
	else
		(void)plx_san_write(stream, &session->segment.rings, piece, (uint32_t)got);
	return true;
}

/* ---- both ---- */

/* What it waits for of the kernel. */
static void
wait_for_anchor(struct session *session)
{
	const struct plx_san_stream *stream = &session->companion.stream;
	bool reads = plx_san_room(stream) > 0 && !stream->out.fin_wanted;
	bool urgent = reads && !stream->out.urgent;
	bool writes = plx_san_readable(stream) > 0 || stream->in.urgent;

	broker_watch_for(session->broker, &session->anchor,
			 (reads ? EPOLLIN : 0) | (urgent ? EPOLLPRI : 0) | (writes ? EPOLLOUT : 0));
}

void
relay_run(struct session *session)
{
	bool more = true;

	for (int i = 0; i < PIECES && more && session->state == SESSION_UP; i++) {
		more = carry_in(session);
		if (session->state == SESSION_UP)
			more |= carry_out(session);
		if (session->state == SESSION_UP)
			san_companion_run(&session->companion, broker_now());
	}
	if (session->state != SESSION_UP)
		return;
	if (session_is_complete(session))
		session_end(session, 0);
	else if (session->told_end && session->companion.stream.out.fin_wanted)
		broker_unwatch(session->broker, &session->anchor, true); /* it has no more to say */
	else
		wait_for_anchor(session);
}
