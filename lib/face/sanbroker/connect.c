/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections that programs of this host ask for. Start with connect_begin().
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"
#include "plx_session.h"

/* ---- the provider's part ---- */

static int
write_address(const struct san_address *address, struct sockaddr_storage *out)
{
	plx_session_sockaddr_write(&address->ip, address->port, out);
	return (int)plx_session_sockaddr_bytes(&address->ip);
}

/* INVALID_SOCKET: RDMA has no way there
 * @param error [out] why */
static SOCKET
start(struct san_broker *broker, const struct san_control *question, int *error)
{
	const WSPPROC_TABLE *call = &broker->call;
	struct sockaddr_storage address;
	int bytes;
	SOCKET s;

	s = call->lpWSPSocket(question->peer.ip.version == 6 ? AF_INET6 : AF_INET, SOCK_STREAM,
			      IPPROTO_TCP, NULL, 0, WSA_FLAG_OVERLAPPED, error);
	if (s == INVALID_SOCKET)
		return s;
	if (question->local.ip.version != 0 || question->local.port != 0) {
		bytes = write_address(&question->local, &address);
		if (call->lpWSPBind(s, (struct sockaddr *)&address, bytes, error) != 0)
			goto failed;
	}
	bytes = write_address(&question->peer, &address);
	if (call->lpWSPEventSelect(s, broker, FD_CONNECT, error) == 0 &&
	    call->lpWSPConnect(s, (struct sockaddr *)&address, bytes, NULL, NULL, NULL, NULL,
			       error) != 0 &&
	    *error == WSAEWOULDBLOCK)
		return s;
failed:
	call->lpWSPCloseSocket(s, &(int){0});
	return INVALID_SOCKET;
}

/* NULL: the kernel connects, and why is noted */
static struct session *
make_session(struct san_broker *broker, const struct san_control *question)
{
	struct session *session;
	int error = 0;
	SOCKET s;

	if (!broker_is_rdma(broker, &question->peer)) {
		broker_fall_back(broker, &question->peer, false, FALLBACK_NO_RULE, 0);
		return NULL;
	}
	s = start(broker, question, &error);
	if (s == INVALID_SOCKET) {
		broker_fall_back(broker, &question->peer, false, FALLBACK_NO_ADAPTER, error);
		return NULL;
	}
	session = session_make(broker, s, true);
	if (session == NULL) {
		broker->call.lpWSPCloseSocket(s, &error);
		broker_fall_back(broker, &question->peer, false, FALLBACK_NO_ROOM, 0);
	}
	return session;
}

void
connect_begin(struct program *program, const struct san_control *question, int socket)
{
	struct session *session = make_session(program->broker, question);

	if (session == NULL) {
		program_answer(program, question->number, NULL, SAN_USE_TCP);
		close(socket);
		return;
	}
	session->peer = question->peer;
	session->asker = program;
	session->question = question->number;
	session->socket = socket;
	connect_on_event(session);
}

/* TCP would fail as well after these. That nobody listens the kernel says itself: a program that
 * does may not have the switch. Returns: SAN_USE_TCP, or an error */
static int
error_of(int error)
{
	return error == WSAECONNREFUSED   ? ECONNREFUSED
	       : error == WSAEHOSTUNREACH ? EHOSTUNREACH
					  : SAN_USE_TCP;
}

void
connect_on_event(struct session *session)
{
	const WSPPROC_TABLE *call = &session->broker->call;
	WSANETWORKEVENTS events;
	int error;

	if (call->lpWSPEnumNetworkEvents(session->s, NULL, &events, &error) != 0 ||
	    !(events.lNetworkEvents & FD_CONNECT))
		return;
	if (events.iErrorCode[FD_CONNECT_BIT] == 0) {
		session_begin(session);
		return;
	}
	error = error_of(events.iErrorCode[FD_CONNECT_BIT]);
	if (error == SAN_USE_TCP)
		broker_fall_back(session->broker, &session->peer, false, FALLBACK_NO_PEER,
				 events.iErrorCode[FD_CONNECT_BIT]);
	call->lpWSPCloseSocket(session->s, &(int){0});
	session_end(session, error);
}

/* ---- the anchor ---- */

static bool
is_same_port(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	return a->ss_family == b->ss_family && ((const struct sockaddr_in *)a)->sin_port ==
						       ((const struct sockaddr_in *)b)->sin_port;
}

/* The broker's end of a connection that it has made itself; others are not wanted here. */
static int
accept_from(int listener, const struct sockaddr_storage *local)
{
	for (;;) {
		struct sockaddr_storage from;
		socklen_t bytes = sizeof(from);
		int fd = accept4(listener, (struct sockaddr *)&from, &bytes,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 || is_same_port(&from, local))
			return fd;
		close(fd);
	}
}

/* Connect the program's socket to the broker. Returns: our end, or -1 */
static int
drop_anchor(const struct san_broker *broker, int socket)
{
	struct sockaddr_storage to, local;
	socklen_t bytes = sizeof(local);
	int listener;

	if (getsockname(socket, (struct sockaddr *)&local, &bytes) != 0)
		return -1;
	listener = broker->anchors[local.ss_family == AF_INET6];
	bytes = sizeof(to);
	if (listener < 0 || getsockname(listener, (struct sockaddr *)&to, &bytes) != 0)
		return -1;
	/* It is connected at once, even where it says that this takes its time. */
	if (connect(socket, (struct sockaddr *)&to, bytes) != 0 && errno != EINPROGRESS)
		return -1;
	bytes = sizeof(local);
	if (getsockname(socket, (struct sockaddr *)&local, &bytes) != 0)
		return -1;
	return accept_from(listener, &local);
}

bool
connect_finish(struct session *session)
{
	struct program *program = session->asker;
	int anchor = drop_anchor(session->broker, session->socket);

	close(session->socket);
	session->socket = -1;
	if (!broker_watch(session->broker, &session->anchor, anchor, session_released, session)) {
		if (anchor >= 0)
			close(anchor);
		return false;
	}
	session->asker = NULL;
	if (program == NULL)
		return true; /* it has gone, and its socket with it, or another one has that */
	if (session_add_holder(session, program) == NULL)
		return false;
	program_answer(program, session->question, session, 0);
	return true;
}
