/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections that arrive for programs of this host: each becomes one of the kernel, between the
 * broker and the socket that listens, so that any process that has it accepts it. Start with
 * listen_begin().
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"
#include "plx_session.h"

enum {
	ANSWER_MS = 1,
};

/* ---- listening ---- */

static struct listener *
find_listener(struct san_broker *broker, const struct san_address *local)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &broker->listeners) {
		struct listener *listener = plx_list_entry(node, struct listener, link);

		if (listener->s != INVALID_SOCKET && listener->local.port == local->port &&
		    plx_session_ip_equal(&listener->local.ip, &local->ip))
			return listener;
	}
	return NULL;
}

static int
start(struct san_broker *broker, const struct san_control *question, SOCKET *out)
{
	const WSPPROC_TABLE *call = &broker->call;
	struct sockaddr_storage address;
	int error = 0;

	*out = call->lpWSPSocket(question->local.ip.version == 6 ? AF_INET6 : AF_INET, SOCK_STREAM,
				 IPPROTO_TCP, NULL, 0, WSA_FLAG_OVERLAPPED, &error);
	if (*out == INVALID_SOCKET)
		return error;
	plx_session_sockaddr_write(&question->local.ip, question->local.port, &address);
	if (call->lpWSPBind(*out, (struct sockaddr *)&address,
			    (int)plx_session_sockaddr_bytes(&question->local.ip), &error) == 0 &&
	    call->lpWSPListen(*out, (int)question->backlog, &error) == 0 &&
	    call->lpWSPEventSelect(*out, broker, FD_ACCEPT, &error) == 0)
		return 0;
	call->lpWSPCloseSocket(*out, &(int){0});
	return error;
}

/* Returns: false: it is the kernel's alone, and why is noted */
static bool
add_listener(struct san_broker *broker, const struct san_control *question)
{
	struct listener *listener;
	int error;

	if (!broker_is_rdma(broker, &question->local)) {
		broker_fall_back(broker, &question->local, true, FALLBACK_NO_RULE, 0);
		return false;
	}
	listener = calloc(1, sizeof(*listener));
	error = listener != NULL ? start(broker, question, &listener->s) : WSAENOBUFS;
	if (error != 0) {
		free(listener);
		broker_fall_back(broker, &question->local, true, FALLBACK_NO_ADAPTER, error);
		return false;
	}
	listener->broker = broker;
	listener->local = question->local;
	plx_list_append(&broker->listeners, &listener->link);
	broker->count.listeners++;
	return true;
}

void
listen_begin(struct program *program, const struct san_control *question, int socket)
{
	struct san_broker *broker = program->broker;
	bool rdma =
		find_listener(broker, &question->local) != NULL || add_listener(broker, question);

	close(socket);
	program_answer(program, question->number, NULL, rdma ? 0 : SAN_USE_TCP);
}

void
listen_end(struct listener *listener)
{
	struct san_broker *broker = listener->broker;
	SOCKET s = listener->s;
	int ignored;

	if (s == INVALID_SOCKET)
		return;
	listener->s = INVALID_SOCKET;
	broker->count.listeners--;
	broker->call.lpWSPCloseSocket(s, &ignored);
}

void
listen_clean(struct san_broker *broker)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &broker->listeners) {
		struct listener *listener = plx_list_entry(node, struct listener, link);

		if (listener->s != INVALID_SOCKET)
			continue;
		plx_list_remove(&listener->link);
		free(listener);
	}
}

/* ---- arriving ---- */

/* Where the kernel's socket listens: at the loopback address, too, if it does at all of them. */
static socklen_t
kernel_address(const struct san_address *local, struct sockaddr_storage *out)
{
	struct plx_ip ip = local->ip;

	if (plx_session_ip_is_any(&ip) && ip.version == 4)
		memcpy(ip.v, (const uint8_t[]){127, 0, 0, 1}, 4);
	else if (plx_session_ip_is_any(&ip))
		ip.v[15] = 1;
	plx_session_sockaddr_write(&ip, local->port, out);
	return (socklen_t)plx_session_sockaddr_bytes(&ip);
}

/* Within the machine the answer is there at once, unless the listener's queue is full. */
static bool
is_refused(int fd)
{
	struct pollfd answer = {.fd = fd, .events = POLLOUT};
	socklen_t bytes = sizeof(int);
	int error = 0;

	(void)poll(&answer, 1, ANSWER_MS);
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error != 0;
}

/* Without it the kernel may choose another address of the machine, and nobody would take the
 * connection for one within it. */
static bool
leave_from(int fd, const struct sockaddr_storage *to, socklen_t bytes)
{
	struct sockaddr_storage from = *to;
	const int on = 1;

	((struct sockaddr_in *)&from)->sin_port = 0;
	/* the port is chosen with the connection: each listener may have as many as there are */
	(void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	return bind(fd, (struct sockaddr *)&from, bytes) == 0;
}

/* Connect to the program's socket, from the address that it has.
 * Returns: the anchor; -1: nobody listens any more */
static int
drop_anchor(const struct listener *listener)
{
	struct sockaddr_storage to;
	socklen_t bytes = kernel_address(&listener->local, &to);
	int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (leave_from(fd, &to, bytes) && (connect(fd, (struct sockaddr *)&to, bytes) == 0 ||
					   (errno == EINPROGRESS && !is_refused(fd))))
		return fd;
	close(fd);
	return -1;
}

struct arrival {
	const struct listener *listener;
	int anchor;
};

/* The peer has no answer yet: it is refused as TCP would refuse it. */
static int CALLBACK
judge(LPWSABUF id, LPWSABUF data, LPQOS sqos, LPQOS gqos, LPWSABUF to, LPWSABUF answer, GROUP *g,
      DWORD_PTR context)
{
	struct arrival *arrival = (struct arrival *)context;

	(void)id;
	(void)data;
	(void)sqos;
	(void)gqos;
	(void)to;
	(void)answer;
	(void)g;
	arrival->anchor = drop_anchor(arrival->listener);
	return arrival->anchor >= 0 ? CF_ACCEPT : CF_REJECT;
}

static void
arrive(struct san_broker *broker, SOCKET s, int anchor)
{
	struct session *session = session_make(broker, s, false);
	int ignored;

	if (session == NULL ||
	    !broker_watch(broker, &session->anchor, anchor, session_released, session)) {
		close(anchor);
		broker->call.lpWSPCloseSocket(s, &ignored);
		if (session != NULL)
			session_end(session, ECONNRESET);
		return;
	}
	session_begin(session);
}

void
listen_on_event(struct listener *listener)
{
	struct san_broker *broker = listener->broker;

	while (listener->s != INVALID_SOCKET) {
		struct arrival arrival = {listener, -1};
		int error = 0;
		SOCKET s = broker->call.lpWSPAccept(listener->s, NULL, NULL, judge,
						    (DWORD_PTR)&arrival, &error);

		if (s != INVALID_SOCKET) {
			arrive(broker, s, arrival.anchor);
			continue;
		}
		if (arrival.anchor >= 0)
			close(arrival.anchor);
		else if (error == WSAECONNREFUSED)
			listen_end(listener);
		if (error == WSAEWOULDBLOCK || error == WSAENOTSOCK)
			return;
	}
}

/* ---- the session of a descriptor ---- */

/* An address of the kernel, of either end. A socket of both families says mapped ones. */
static bool
read_name(int socket, bool peers, struct san_address *out)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct sockaddr_storage name;
	socklen_t bytes = sizeof(name);
	int failed = peers ? getpeername(socket, (struct sockaddr *)&name, &bytes)
			   : getsockname(socket, (struct sockaddr *)&name, &bytes);

	if (failed != 0 || plx_session_sockaddr_read((struct sockaddr *)&name, bytes, &out->ip,
						     &out->port) != PLX_OK)
		return false;
	if (out->ip.version == 6 && memcmp(out->ip.v, mapped, sizeof(mapped)) == 0) {
		struct plx_ip v4 = {.version = 4};

		memcpy(v4.v, out->ip.v + sizeof(mapped), 4);
		out->ip = v4;
	}
	return true;
}

static bool
is_address(const struct san_address *a, const struct san_address *b)
{
	return a->port == b->port && plx_session_ip_equal(&a->ip, &b->ip);
}

/* Its names stay what they are once it is connected. */
bool
listen_knows_anchor(struct session *session)
{
	return session->anchor_peer.port != 0 ||
	       (session->anchor.fd >= 0 &&
		read_name(session->anchor.fd, false, &session->anchor_local) &&
		read_name(session->anchor.fd, true, &session->anchor_peer));
}

static bool
is_anchor_of(struct session *session, const struct san_address *local,
	     const struct san_address *peer)
{
	return listen_knows_anchor(session) && is_address(&session->anchor_local, peer) &&
	       is_address(&session->anchor_peer, local);
}

struct session *
listen_find(struct san_broker *broker, int socket)
{
	struct san_address local, peer;
	struct plx_list *node, *after;

	if (socket < 0 || !read_name(socket, false, &local) || !read_name(socket, true, &peer))
		return NULL;
	plx_list_for_each (node, after, &broker->sessions) {
		struct session *session = plx_list_entry(node, struct session, link);

		if (session->state != SESSION_OVER && is_anchor_of(session, &local, &peer))
			return session;
	}
	return NULL;
}
