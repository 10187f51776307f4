/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A SAN service provider of each process, the queue pairs of both hosts, and the network between
 * them. What a process has of a connection ends with it; its queue pair may stay, as the loans of
 * lib/host do (decisions 56 and 59). Start with network_step().
 */
#include <plx_sanqp.h>

#include "system.h"

enum {
	HANDLES = 32,
	BUSY_ONE_IN = 8,
	ACK_NS = 1000,
	UNTOLD_NS = 2000000000, /* until an end learns that its connection has failed */
};

#define LENT_NS (5 * PLX_SEC)

/* What a process has of a queue pair, in its own memory. */
struct handle {
	uint16_t qp; /* place + 1; 0: none */
	uint32_t generation;
	int wake; /* its descriptor that completions are waited for with */
	LPWSAOVERLAPPED send[REQUESTS], receive[REQUESTS];
	uint32_t sends_posted, sends_seen, receives_posted, receives_seen;
};

static struct handle handles[HANDLES];
static WSPUPCALLTABLEEX upcalls;
static uint32_t heir;
static int gone = -1;

static struct qp *
qp_at(uint16_t qp)
{
	return &sys->qp[qp - 1];
}

/* ---- events of the network ---- */

static void
later(enum event_kind kind, uint16_t qp, uint64_t due, int error)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		if (sys->event[i].kind == EVENT_NONE) {
			sys->event[i] = (struct event){.kind = (uint8_t)kind,
						       .qp = qp,
						       .life = qp_at(qp)->life,
						       .due = due,
						       .error = error};
			return;
		}
	sys_fail("no more than %d events", EVENTS);
}

static uint64_t
delay(void)
{
	return sys->knobs.delay + sys_draw((uint32_t)sys->knobs.jitter + 1);
}

static uint16_t
number_of(const struct qp *qp)
{
	return (uint16_t)(qp - sys->qp + 1);
}

static void
fire(struct qp *qp)
{
	if (qp->armed && qp->event != 0)
		kernel_set_event(qp->event, 1);
	qp->armed = false;
}

static void
happen(struct qp *qp, long what)
{
	qp->happened |= what;
	if (qp->process != 0)
		sys->process[qp->process - 1].has_events = true;
}

static bool
is_parked(const struct qp *qp)
{
	return qp->process == 0;
}

static void
free_qp(struct qp *qp)
{
	qp->state = QP_NONE;
	qp->event = 0;
}

static void
end_connection(struct qp *qp)
{
	if (qp->state != QP_CONNECTED)
		return;
	qp->state = QP_OVER;
	sys_log("  queue pair %u has ended", number_of(qp));
	fire(qp);
	if (is_parked(qp) || qp->left) /* none can take it any more */
		free_qp(qp);
}

/* This end closes, and is gone: what has not arrived yet does not. */
static void
hang_up(struct qp *qp)
{
	if (qp->peer != 0) {
		later(EVENT_OVER, qp->peer, sys->now + delay(), 0);
		qp_at(qp->peer)->peer = 0;
	}
	free_qp(qp);
}

/* ---- messages ---- */

static bool
can_arrive(const struct qp *qp)
{
	const struct qp *peer;

	if (qp->state != QP_CONNECTED || qp->peer == 0 || qp->sends_arrived == qp->sends_posted)
		return false;
	peer = qp_at(qp->peer);
	return peer->state == QP_CONNECTED && !is_parked(peer) &&
	       peer->receives_done < peer->receives_posted;
}

static void
arrive(struct qp *qp)
{
	struct send *send = &qp->send[qp->sends_arrived % REQUESTS];
	struct qp *peer = qp_at(qp->peer);
	struct receive *receive = &peer->receive[peer->receives_done % REQUESTS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < PARTS && send->part[i].bytes > 0; i++) {
		SYS_MUST(n + send->part[i].bytes <= receive->part.bytes);
		memcpy(receive->part.at + n, send->part[i].at, send->part[i].bytes);
		n += send->part[i].bytes;
	}
	receive->bytes = n;
	peer->receives_done++;
	peer->past_receives++;
	qp->sends_arrived++;
	send->due = sys->now + ACK_NS + sys_draw((uint32_t)sys->knobs.jitter + 1);
	sys->hash = (sys->hash ^ n ^ sys->now) * 0x100000001b3u;
	fire(peer);
}

static void
acknowledge(struct qp *qp)
{
	qp->sends_done++;
	fire(qp);
}

/* ---- the network ---- */

static uint64_t
due_of(const struct qp *qp)
{
	uint64_t at = UINT64_MAX;

	if (qp->state != QP_CONNECTED)
		return at;
	if (qp->sends_done < qp->sends_arrived)
		at = qp->send[qp->sends_done % REQUESTS].due;
	if (can_arrive(qp) && qp->send[qp->sends_arrived % REQUESTS].due < at)
		at = qp->send[qp->sends_arrived % REQUESTS].due;
	return at;
}

/* A program that was killed had lent it: its host keeps it so long. */
static uint64_t
limit_of(const struct qp *qp)
{
	return qp->state == QP_CONNECTED && qp->left && !is_parked(qp) ? qp->left_at + LENT_NS
								       : UINT64_MAX;
}

uint64_t
network_due(void)
{
	uint64_t at = UINT64_MAX;

	for (uint32_t i = 0; i < EVENTS; i++)
		if (sys->event[i].kind != EVENT_NONE && sys->event[i].due < at)
			at = sys->event[i].due;
	for (uint32_t i = 0; i < QPS; i++) {
		uint64_t due = due_of(&sys->qp[i]), limit = limit_of(&sys->qp[i]);

		at = due < at ? due : at;
		at = limit < at ? limit : at;
	}
	return at;
}

/* Where a socket listens. */
static struct qp *
find_listener(const struct name *name)
{
	for (uint32_t i = 0; i < QPS; i++) {
		struct qp *qp = &sys->qp[i];

		if (qp->state == QP_LISTENS && qp->local.port == name->port)
			return qp;
	}
	return NULL;
}

static void
ask(struct qp *qp)
{
	struct qp *listener = find_listener(&qp->remote);

	if (listener == NULL || listener->host == qp->host || listener->backlog_count == BACKLOG) {
		later(EVENT_ANSWERED, number_of(qp), sys->now + delay(), WSAECONNRESET);
		return;
	}
	listener->backlog[listener->backlog_count++] = number_of(qp);
	happen(listener, FD_ACCEPT);
}

static void
take_event(const struct event *event)
{
	struct qp *qp = qp_at(event->qp);

	if (qp->life != event->life)
		return;
	if (event->kind == EVENT_OVER && qp->state == QP_CONNECTING) {
		later(EVENT_OVER, event->qp, sys->now + delay(), 0); /* it has its answer first */
		return;
	}
	if (event->kind == EVENT_OVER) {
		end_connection(qp);
		return;
	}
	if (qp->state != QP_CONNECTING)
		return;
	if (event->kind == EVENT_ASKED) {
		ask(qp);
		return;
	}
	qp->connect_error = event->error;
	if (event->error == 0)
		qp->state = QP_CONNECTED;
	happen(qp, FD_CONNECT);
}

/* What its program had posted is done: it waits for its heir. */
static void
look_after(struct qp *qp)
{
	if (qp->state != QP_CONNECTED || !qp->left || is_parked(qp))
		return;
	if (qp->sends_done == qp->sends_posted) {
		qp->process = 0;
		qp->to = qp->heir;
		qp->left = false;
		sys_log("  queue pair %u waits for its heir", number_of(qp));
	} else if (sys->now >= limit_of(qp)) {
		hang_up(qp);
	}
}

void
network_step(void)
{
	uint32_t from = sys_draw(QPS);

	for (uint32_t i = 0; i < EVENTS; i++) {
		struct event event = sys->event[i];

		if (event.kind == EVENT_NONE || event.due > sys->now)
			continue;
		sys->event[i].kind = EVENT_NONE;
		take_event(&event);
		return;
	}
	for (uint32_t i = 0; i < QPS; i++) {
		struct qp *qp = &sys->qp[(from + i) % QPS];

		if (due_of(qp) > sys->now && limit_of(qp) > sys->now)
			continue;
		if (qp->sends_done < qp->sends_arrived &&
		    qp->send[qp->sends_done % REQUESTS].due <= sys->now)
			acknowledge(qp);
		else if (can_arrive(qp) && qp->send[qp->sends_arrived % REQUESTS].due <= sys->now)
			arrive(qp);
		look_after(qp);
		return;
	}
}

bool
provider_break(void)
{
	for (uint32_t i = 0; i < QPS; i++) {
		struct qp *qp = &sys->qp[i];

		if (qp->state != QP_CONNECTED || qp->peer == 0)
			continue;
		sys_log("  the path between queue pairs %u and %u is broken", number_of(qp),
			qp->peer);
		later(EVENT_OVER, qp->peer, sys->now + sys_draw(UNTOLD_NS), 0);
		later(EVENT_OVER, number_of(qp), sys->now + sys_draw(UNTOLD_NS), 0);
		qp_at(qp->peer)->peer = 0;
		qp->peer = 0;
		return true;
	}
	return false;
}

/* Whom nobody is to have: an heir has ended. */
static void
disinherit(uint32_t seat)
{
	for (uint32_t i = 0; i < QPS; i++) {
		struct qp *qp = &sys->qp[i];

		if (qp->state == QP_NONE || qp->heir != seat)
			continue;
		qp->heir = 0;
		if (is_parked(qp) || qp->left)
			hang_up(qp);
	}
}

void
provider_end(int process)
{
	disinherit(sys->process[process].number);
	for (uint32_t i = 0; i < QPS; i++) {
		struct qp *qp = &sys->qp[i];
		uint32_t seat = sys->process[process].number;

		if (qp->state == QP_NONE)
			continue;
		if (is_parked(qp) && qp->from == seat && qp->heir == 0)
			hang_up(qp);
		if (qp->process != (uint32_t)process + 1)
			continue;
		qp->event = 0;
		if (qp->state == QP_CONNECTED && qp->heir != 0) {
			qp->left = true;
			qp->left_at = sys->now;
			look_after(qp);
		} else {
			hang_up(qp);
		}
	}
}

uint32_t
provider_left(void)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < QPS; i++)
		left += sys->qp[i].state != QP_NONE;
	return left;
}

void
provider_upcalls(void)
{
	int ignored;

	if (!sys->process[self].has_events)
		return;
	sys->process[self].has_events = false;
	if (upcalls.lpWPUSetEvent != NULL)
		(void)upcalls.lpWPUSetEvent(NULL, &ignored);
}

/* ---- sockets of a process ---- */

static int
refuse(int error, LPINT lpErrno)
{
	*lpErrno = error;
	return SOCKET_ERROR;
}

static struct handle *
find(SOCKET s)
{
	return s >= 1 && s <= HANDLES && handles[s - 1].qp != 0 ? &handles[s - 1] : NULL;
}

/* Is the queue pair this process's? The host, or another process, may have it. */
static struct qp *
own(const struct handle *handle)
{
	struct qp *qp = qp_at(handle->qp);

	return qp->state != QP_NONE && qp->generation == handle->generation &&
			       qp->process == (uint32_t)self + 1
		       ? qp
		       : NULL;
}

static struct qp *
own_of(SOCKET s)
{
	struct handle *handle = find(s);

	return handle != NULL ? own(handle) : NULL;
}

static struct qp *
connected(const struct handle *handle)
{
	struct qp *qp = handle != NULL ? own(handle) : NULL;

	return qp != NULL && qp->state == QP_CONNECTED ? qp : NULL;
}

/* A handle for a queue pair that is this process's from now on. */
static SOCKET
make_handle(struct qp *qp)
{
	for (uint32_t i = 0; i < HANDLES; i++) {
		struct handle *handle = &handles[i];

		if (handle->qp != 0)
			continue;
		*handle = (struct handle){.qp = number_of(qp), .generation = ++qp->generation};
		handle->wake = kernel_fd(kernel_file(FILE_EVENT));
		qp->event = kernel_of(self, handle->wake);
		qp->process = (uint32_t)self + 1;
		qp->armed = qp->left = false;
		return i + 1;
	}
	sys_fail("no more than %d sockets in a process", HANDLES);
	return INVALID_SOCKET;
}

static struct qp *
make_qp(void)
{
	for (uint32_t i = 0; i < QPS; i++) {
		struct qp *qp = &sys->qp[i];

		if (qp->state != QP_NONE)
			continue;
		*qp = (struct qp){.state = QP_FRESH,
				  .host = sys->process[self].host,
				  .generation = qp->generation,
				  .life = qp->life + 1};
		return qp;
	}
	sys_fail("no more than %d queue pairs", QPS);
	return NULL;
}

static SOCKET
take(uint32_t token, LPINT lpErrno)
{
	uint32_t seat = sys->process[self].number;

	*lpErrno = WSAEINVAL;
	for (uint32_t i = 0; i < QPS; i++) {
		struct qp *qp = &sys->qp[i];
		bool is_lent = qp->heir == seat && qp->process != (uint32_t)self + 1;

		if (qp->state == QP_NONE || qp->token != token || token == 0 ||
		    qp->host != sys->process[self].host ||
		    !((is_parked(qp) && (qp->to == seat || qp->from == seat)) || is_lent))
			continue;
		*lpErrno = WSAECONNRESET;
		if (qp->state != QP_CONNECTED) {
			if (is_parked(qp) || qp->left)
				free_qp(qp);
			return INVALID_SOCKET;
		}
		*lpErrno = WSAEALREADY;
		if (!is_parked(qp) &&
		    (qp->sends_done < qp->sends_posted || sys_one_in(BUSY_ONE_IN)))
			return INVALID_SOCKET;
		qp->sends_posted = qp->sends_arrived = qp->sends_done = 0;
		qp->receives_posted = qp->receives_done = 0;
		qp->from = qp->to = 0;
		qp->heir = heir;
		if (heir == 0)
			qp->token = 0;
		return make_handle(qp);
	}
	return INVALID_SOCKET;
}

static SOCKET WSPAPI
sim_socket(int af, int type, int protocol, LPWSAPROTOCOL_INFOW info, GROUP g, DWORD flags,
	   LPINT lpErrno)
{
	(void)af;
	(void)type;
	(void)protocol;
	(void)g;
	(void)flags;
	sys_yield();
	return info == NULL ? make_handle(make_qp()) : take(info->dwProviderReserved, lpErrno);
}

static int WSPAPI
sim_bind(SOCKET s, const struct sockaddr *address, int bytes, LPINT lpErrno)
{
	struct sockaddr_in in;

	(void)bytes;
	(void)lpErrno;
	memcpy(&in, address, sizeof(in));
	own_of(s)->local = (struct name){in.sin_addr.s_addr, ntohs(in.sin_port)};
	return 0;
}

static int WSPAPI
sim_listen(SOCKET s, int backlog, LPINT lpErrno)
{
	(void)backlog;
	(void)lpErrno;
	own_of(s)->state = QP_LISTENS;
	return 0;
}

static int WSPAPI
sim_connect(SOCKET s, const struct sockaddr *address, int bytes, LPWSABUF caller, LPWSABUF callee,
	    LPQOS sqos, LPQOS gqos, LPINT lpErrno)
{
	struct qp *qp = own_of(s);
	struct sockaddr_in in;

	(void)bytes;
	(void)caller;
	(void)callee;
	(void)sqos;
	(void)gqos;
	memcpy(&in, address, sizeof(in));
	qp->remote = (struct name){in.sin_addr.s_addr, ntohs(in.sin_port)};
	if (qp->local.port == 0)
		qp->local.port = (uint16_t)(40000 + sys->ports++ % 20000);
	qp->local.ip = HOST_ADDRESS(qp->host);
	qp->state = QP_CONNECTING;
	later(EVENT_ASKED, number_of(qp), sys->now + delay(), 0);
	return refuse(WSAEWOULDBLOCK, lpErrno);
}

static void
answer(struct qp *caller, struct qp *accepted)
{
	if (accepted == NULL) {
		later(EVENT_ANSWERED, number_of(caller), sys->now + delay(), WSAECONNREFUSED);
		return;
	}
	accepted->state = QP_CONNECTED;
	accepted->local = caller->remote;
	accepted->remote = caller->local;
	accepted->peer = number_of(caller);
	caller->peer = number_of(accepted);
	later(EVENT_ANSWERED, number_of(caller), sys->now + delay(), 0);
}

static SOCKET WSPAPI
sim_accept(SOCKET s, struct sockaddr *address, LPINT bytes, LPCONDITIONPROC condition,
	   DWORD_PTR context, LPINT lpErrno)
{
	struct qp *listener = own_of(s), *caller, *accepted;

	(void)address;
	(void)bytes;
	*lpErrno = WSAEWOULDBLOCK;
	if (listener->backlog_count == 0)
		return INVALID_SOCKET;
	caller = qp_at(listener->backlog[0]);
	memmove(listener->backlog, listener->backlog + 1,
		--listener->backlog_count * sizeof(listener->backlog[0]));
	*lpErrno = WSAECONNREFUSED;
	if (caller->state != QP_CONNECTING)
		return INVALID_SOCKET;
	if (condition(NULL, NULL, NULL, NULL, NULL, NULL, NULL, context) != CF_ACCEPT) {
		answer(caller, NULL);
		return INVALID_SOCKET;
	}
	accepted = make_qp();
	answer(caller, accepted);
	return make_handle(accepted);
}

static int WSPAPI
sim_event_select(SOCKET s, WSAEVENT event, long events, LPINT lpErrno)
{
	(void)event;
	(void)lpErrno;
	own_of(s)->selected = events;
	return 0;
}

static int WSPAPI
sim_enum_events(SOCKET s, WSAEVENT event, LPWSANETWORKEVENTS out, LPINT lpErrno)
{
	struct qp *qp = own_of(s);

	(void)event;
	if (qp == NULL)
		return refuse(WSAENOTSOCK, lpErrno);
	*out = (WSANETWORKEVENTS){.lNetworkEvents = qp->happened & qp->selected};
	out->iErrorCode[FD_CONNECT_BIT] = qp->connect_error;
	qp->happened &= ~qp->selected;
	return 0;
}

/* ---- requests ---- */

static void
complete(LPWSAOVERLAPPED overlapped, uint32_t error, uint32_t bytes)
{
	overlapped->InternalHigh = bytes;
	overlapped->Internal = error;
}

/* What has completed, and, if the connection is over or another's, all that has not. */
static void
progress(struct handle *handle)
{
	struct qp *qp = own(handle);
	bool over = qp == NULL || qp->state != QP_CONNECTED;

	while (qp != NULL && handle->receives_seen < qp->receives_done) {
		uint32_t i = handle->receives_seen++ % REQUESTS;

		complete(handle->receive[i], 0, qp->receive[i].bytes);
	}
	while (qp != NULL && handle->sends_seen < qp->sends_done)
		complete(handle->send[handle->sends_seen++ % REQUESTS], 0, 0);
	while (over && handle->receives_seen < handle->receives_posted)
		complete(handle->receive[handle->receives_seen++ % REQUESTS], WSAECONNRESET, 0);
	while (over && handle->sends_seen < handle->sends_posted)
		complete(handle->send[handle->sends_seen++ % REQUESTS], WSAECONNRESET, 0);
}

static int WSPAPI
sim_send(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD sent, DWORD flags, LPWSAOVERLAPPED overlapped,
	 LPWSAOVERLAPPED_COMPLETION_ROUTINE routine, LPWSATHREADID thread, LPINT lpErrno)
{
	struct handle *handle = find(s);
	struct qp *qp;
	struct send *send;

	(void)sent;
	(void)flags;
	(void)routine;
	(void)thread;
	sys_yield();
	SYS_MUST(handle != NULL && n <= PARTS);
	qp = connected(handle);
	if (qp == NULL)
		return refuse(WSAENOTCONN, lpErrno);
	SYS_MUST(qp->sends_posted - qp->sends_done < REQUESTS);
	send = &qp->send[qp->sends_posted % REQUESTS];
	*send = (struct send){.due = sys->now + delay()};
	if (send->due < qp->busy_until)
		send->due = qp->busy_until;
	qp->busy_until = send->due;
	for (DWORD i = 0; i < n; i++)
		send->part[i] = (struct part){(uint8_t *)buffers[i].buf, buffers[i].len};
	overlapped->Internal = STATUS_PENDING;
	handle->send[handle->sends_posted++ % REQUESTS] = overlapped;
	qp->sends_posted++;
	qp->past_requests++;
	return refuse(WSA_IO_PENDING, lpErrno);
}

static int WSPAPI
sim_recv(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD received, LPDWORD flags,
	 LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine,
	 LPWSATHREADID thread, LPINT lpErrno)
{
	struct handle *handle = find(s);
	struct qp *qp;

	(void)received;
	(void)flags;
	(void)routine;
	(void)thread;
	SYS_MUST(handle != NULL && n == 1);
	if (sys_one_in(4))
		sys_yield();
	qp = connected(handle);
	if (qp == NULL)
		return refuse(WSAENOTCONN, lpErrno);
	qp->receive[qp->receives_posted++ % REQUESTS] =
		(struct receive){.part = {(uint8_t *)buffers->buf, buffers->len}};
	overlapped->Internal = STATUS_PENDING;
	handle->receive[handle->receives_posted++ % REQUESTS] = overlapped;
	return refuse(WSA_IO_PENDING, lpErrno);
}

static BOOL WSPAPI
sim_result(SOCKET s, LPWSAOVERLAPPED overlapped, LPDWORD bytes, BOOL wait, LPDWORD flags,
	   LPINT lpErrno)
{
	struct handle *handle = find(s);

	(void)wait;
	if (handle != NULL)
		progress(handle);
	if (!HasOverlappedIoCompleted(overlapped)) {
		*lpErrno = WSA_IO_INCOMPLETE;
		return FALSE;
	}
	*bytes = (DWORD)overlapped->InternalHigh;
	*flags = 0;
	*lpErrno = (INT)overlapped->Internal;
	return overlapped->Internal == 0;
}

/* Receives that are pending come back with nothing. */
static void
flush(struct handle *handle)
{
	progress(handle);
	while (handle->receives_seen < handle->receives_posted)
		complete(handle->receive[handle->receives_seen++ % REQUESTS], 0, 0);
}

static int WSPAPI
sim_duplicate(SOCKET s, DWORD process, LPWSAPROTOCOL_INFOW out, LPINT lpErrno)
{
	struct handle *handle = find(s);
	struct qp *qp;

	sys_yield();
	SYS_MUST(handle != NULL);
	qp = connected(handle);
	if (qp == NULL)
		return refuse(WSAENOTCONN, lpErrno);
	if (qp->sends_done < qp->sends_posted)
		return refuse(WSAEINVAL, lpErrno);
	if (qp->token == 0)
		qp->token = ++sys->tokens;
	flush(handle);
	qp->process = 0;
	qp->from = sys->process[self].number;
	qp->to = process;
	qp->event = 0;
	*out = (WSAPROTOCOL_INFOW){.iAddressFamily = AF_INET,
				   .iSocketType = SOCK_STREAM,
				   .iProtocol = IPPROTO_TCP,
				   .dwProviderReserved = qp->token};
	sys_yield();
	return 0;
}

static int WSPAPI
sim_close(SOCKET s, LPINT lpErrno)
{
	struct handle *handle = find(s);
	struct qp *qp;

	sys_yield();
	if (handle == NULL)
		return refuse(WSAENOTSOCK, lpErrno);
	qp = own(handle);
	if (qp != NULL) {
		for (uint32_t i = 0; i < qp->backlog_count; i++)
			answer(qp_at(qp->backlog[i]), NULL);
		hang_up(qp);
	}
	kernel_drop(kernel_of(self, handle->wake));
	sys->process[self].fd[handle->wake] = 0;
	handle->qp = 0;
	return 0;
}

/* ---- memory, options ---- */

static HANDLE WSPAPI
sim_register(SOCKET s, PVOID base, DWORD bytes, DWORD flags, LPINT lpErrno)
{
	(void)bytes;
	(void)flags;
	*lpErrno = WSAENOTCONN;
	return connected(find(s)) != NULL ? base : NULL;
}

static int WSPAPI
sim_deregister(SOCKET s, HANDLE handle, LPINT lpErrno)
{
	(void)s;
	(void)handle;
	(void)lpErrno;
	return 0;
}

/* The switch offers no large transfers for programs. */
static int WSPAPI
sim_never(void)
{
	sys_fail("RDMA is asked for");
	return SOCKET_ERROR;
}

static int WSPAPI
sim_ioctl(SOCKET s, DWORD code, LPVOID in, DWORD in_bytes, LPVOID out, DWORD out_bytes,
	  LPDWORD returned, LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine,
	  LPWSATHREADID thread, LPINT lpErrno)
{
	const GUID registers = WSAID_REGISTERMEMORY, deregisters = WSAID_DEREGISTERMEMORY;
	SAN_NEVER_CALLED function = (SAN_NEVER_CALLED)sim_never;

	(void)code;
	(void)overlapped;
	(void)routine;
	(void)thread;
	if (find(s) == NULL)
		return refuse(WSAENOTSOCK, lpErrno);
	SYS_MUST(in_bytes == sizeof(GUID) && out_bytes == sizeof(function));
	if (memcmp(in, &registers, sizeof(registers)) == 0)
		function = (SAN_NEVER_CALLED)sim_register;
	else if (memcmp(in, &deregisters, sizeof(deregisters)) == 0)
		function = (SAN_NEVER_CALLED)sim_deregister;
	memcpy(out, &function, sizeof(function));
	*returned = sizeof(function);
	return 0;
}

static int WSPAPI
sim_cleanup(LPINT lpErrno)
{
	(void)lpErrno;
	return 0;
}

int WSPAPI
WSPStartupEx(WORD version, LPWSPDATA data, LPWSAPROTOCOL_INFOW info, LPWSPUPCALLTABLEEX calls,
	     LPWSPPROC_TABLE out)
{
	(void)version;
	(void)data;
	(void)info;
	memset(handles, 0, sizeof(handles));
	upcalls = *calls;
	gone = kernel_fd(kernel_file(FILE_EVENT));
	*out = (WSPPROC_TABLE){
		.lpWSPSocket = sim_socket,
		.lpWSPBind = sim_bind,
		.lpWSPListen = sim_listen,
		.lpWSPConnect = sim_connect,
		.lpWSPAccept = sim_accept,
		.lpWSPEventSelect = sim_event_select,
		.lpWSPEnumNetworkEvents = sim_enum_events,
		.lpWSPSend = sim_send,
		.lpWSPRecv = sim_recv,
		.lpWSPGetOverlappedResult = sim_result,
		.lpWSPDuplicateSocket = sim_duplicate,
		.lpWSPCloseSocket = sim_close,
		.lpWSPIoctl = sim_ioctl,
		.lpWSPCleanup = sim_cleanup,
	};
	return 0;
}

/* ---- what Pollux's provider has beside ---- */

bool
plx_sanqp_arm(SOCKET s, int fds[PLX_SANQP_FDS])
{
	struct handle *handle = find(s);
	struct qp *qp = connected(handle);

	if (qp == NULL)
		return false;
	kernel_set_event(qp->event, 0);
	qp->armed = true;
	fds[0] = handle->wake;
	fds[1] = gone;
	return true;
}

bool
plx_sanqp_adapter_name(uint32_t i, char name[PLX_ADAPTER_NAME_MAX + 1])
{
	memcpy(name, "a", 2);
	return i == 0;
}

const char *
plx_sanqp_open(uint32_t i)
{
	(void)i;
	return NULL;
}

bool
plx_sanqp_adapter(SOCKET s, char name[PLX_ADAPTER_NAME_MAX + 1])
{
	memcpy(name, "a", 2);
	return connected(find(s)) != NULL;
}

DWORD
plx_sanqp_process(const char *adapter)
{
	(void)adapter;
	return sys->process[self].number;
}

void
plx_sanqp_host(const char *adapter, char *out, size_t n)
{
	(void)adapter;
	snprintf(out, n, "/host");
}

void
plx_sanqp_heir(const char *adapter, DWORD process)
{
	(void)adapter;
	heir = process;
}

void
plx_sanqp_past(SOCKET s, uint32_t *requests, uint32_t *receives)
{
	*requests = own_of(s)->past_requests;
	*receives = own_of(s)->past_receives;
}

bool
plx_sanqp_addresses(SOCKET s, struct plx_connector_info *out)
{
	const struct qp *qp = connected(find(s));

	if (qp == NULL)
		return false;
	*out = (struct plx_connector_info){.local_port = qp->local.port,
					   .remote_port = qp->remote.port};
	out->local.version = out->remote.version = 4;
	memcpy(out->local.v, &qp->local.ip, 4);
	memcpy(out->remote.v, &qp->remote.ip, 4);
	return true;
}

void
plx_sanqp_without_file(void)
{
}

bool
plx_sanqp_add(const char *name, const char *host)
{
	(void)name;
	(void)host;
	return true;
}

void
plx_sanqp_forget(void)
{
	memset(handles, 0, sizeof(handles));
}
