/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections are made: WSPConnect(), WSPListen(), WSPAccept(), and what happens to them. Start
 * with sanqp_run_events().
 */
#include <stdlib.h>

#include "provider.h"

enum {
	FOR_EVER = PLX_RNR_RETRY_FOREVER,
	RNR_TIMER = 6, /* 80 us: of a message that finds no receive */
};

/* Something has happened that the switch may want to know. The lock is held. */
static void
happen(struct sanqp_socket *socket, long what)
{
	socket->happened |= what;
	socket->event_due |= (socket->selected & what) != 0;
}

uint64_t
sanqp_context(struct sanqp_socket *socket)
{
	socket->serial = atomic_fetch_add(&socket->process->serials, 1) + 1;
	return (uint64_t)socket->serial << 32 | socket->number;
}

static bool
is_of_connection(const struct sanqp_socket *socket, const struct plx_connector_event *event)
{
	return socket->connection != NULL && socket->serial == event->context >> 32 &&
	       socket->connection->connector == event->connector;
}

static void
init_options(struct plx_connect_options *options)
{
	plx_connect_options_init(options);
	options->rnr_retry = FOR_EVER;
	options->rnr_timer = RNR_TIMER;
}

/* ---- WSPConnect ---- */

static int
error_of_status(enum plx_status status)
{
	return status == PLX_UNREACHABLE ? WSAENETUNREACH
	       : status == PLX_INVALID   ? WSAEADDRNOTAVAIL
					 : WSAENOBUFS;
}

/* Through one adapter. Returns: 0: it has begun; or an error, and nothing is left */
static int
connect_through(struct sanqp_socket *socket, struct sanqp_adapter *adapter,
		const struct plx_connect_options *options)
{
	struct sanqp_connection *connection;
	struct plx_qp_options queues;
	enum plx_status status;
	int error;

	connection = sanqp_connection_make(adapter, &error);
	if (connection == NULL)
		return error;
	sanqp_connection_options(connection, &queues);
	status = plx_connector_create(adapter->channel, sanqp_context(socket),
				      &connection->connector);
	if (status == PLX_OK)
		status = plx_qp_create(connection->pd, &queues, &connection->qp, NULL);
	if (status == PLX_OK)
		status = plx_connect(connection->connector, connection->qp, options, NULL);
	if (status == PLX_OK) {
		socket->connection = connection;
		socket->state = SANQP_CONNECTING;
		return 0;
	}
	(void)sanqp_connection_end(connection);
	sanqp_connection_free(connection);
	return error_of_status(status);
}

/* The first adapter that has a way there. */
static int
connect_to(struct sanqp_socket *socket, const struct plx_ip *ip, uint16_t port)
{
	struct plx_connect_options options;
	int error = WSAENETUNREACH;

	init_options(&options);
	options.remote = *ip;
	options.remote_port = port;
	options.local_port = socket->port;
	if (socket->local.version != 0 && !plx_session_ip_is_any(&socket->local))
		options.local = socket->local;
	for (uint32_t i = 0; i < socket->process->adapters && error == WSAENETUNREACH; i++) {
		struct sanqp_adapter *adapter = sanqp_adapter_at(socket->process, i);

		if (adapter == NULL ||
		    (options.local.version != 0 && !sanqp_adapter_has(adapter, &options.local)))
			continue;
		error = connect_through(socket, adapter, &options);
	}
	return error;
}

static int WSPAPI
wsp_connect(SOCKET s, const struct sockaddr *name, int bytes, LPWSABUF caller_data,
	    LPWSABUF callee_data, LPQOS sqos, LPQOS gqos, LPINT lpErrno)
{
	struct sanqp_socket *socket;
	struct plx_ip ip;
	uint16_t port;
	int error;

	(void)caller_data;
	(void)callee_data;
	(void)sqos;
	(void)gqos;
	if (bytes < 0 || plx_session_sockaddr_read(name, (size_t)bytes, &ip, &port) != PLX_OK)
		return sanqp_error(WSAEFAULT, lpErrno);
	socket = sanqp_find(s, lpErrno);
	if (socket == NULL)
		return SOCKET_ERROR;
	if (socket->state != SANQP_MADE && socket->state != SANQP_BOUND)
		error = socket->state == SANQP_CONNECTED ? WSAEISCONN : WSAEINVAL;
	else
		error = connect_to(socket, &ip, port);
	sanqp_leave(socket);
	return sanqp_error(error == 0 ? WSAEWOULDBLOCK : error, lpErrno);
}

/* ---- WSPListen ---- */

void
sanqp_stop_listening(struct sanqp_socket *socket)
{
	struct sanqp_listening *listening = socket->listening;

	if (listening == NULL)
		return;
	for (uint32_t i = 0; i < SANQP_ADAPTERS_MAX; i++)
		if (listening->listener[i] != NULL)
			sanqp_ignore(plx_listener_destroy(listening->listener[i]));
	for (uint32_t i = 0; i < listening->arrivals; i++)
		sanqp_ignore(plx_connector_destroy(listening->arrival[i].connector));
	socket->listening = NULL;
	free(listening);
}

static int
listen_at(struct sanqp_socket *socket, uint32_t i)
{
	const struct sanqp_adapter *adapter = sanqp_adapter_at(socket->process, i);
	const struct plx_listen_options options = {
		/* an unspecified address of a family is none here: every address */
		.local = plx_session_ip_is_any(&socket->local) ? (struct plx_ip){0} : socket->local,
		.port = socket->port,
		.context = socket->number,
	};
	enum plx_status status;

	if (adapter == NULL || !sanqp_adapter_has(adapter, &socket->local))
		return 0;
	status = plx_listen(adapter->channel, &options, &socket->listening->listener[i], NULL);
	if (status == PLX_OK)
		return 0;
	socket->listening->listener[i] = NULL;
	return status == PLX_BUSY ? WSAEADDRINUSE : status == PLX_INVALID ? WSAEINVAL : WSAENOBUFS;
}

static int
listen_at_all(struct sanqp_socket *socket, int backlog)
{
	bool any = false;
	int error = 0;

	socket->listening = calloc(1, sizeof(*socket->listening));
	if (socket->listening == NULL)
		return WSAENOBUFS;
	socket->listening->backlog = backlog < 1                   ? 1
				     : backlog > SANQP_BACKLOG_MAX ? SANQP_BACKLOG_MAX
								   : (uint32_t)backlog;
	for (uint32_t i = 0; i < socket->process->adapters && error == 0; i++) {
		error = listen_at(socket, i);
		any |= socket->listening->listener[i] != NULL;
	}
	if (error == 0 && !any)
		error = WSAEADDRNOTAVAIL; /* no adapter can be opened */
	if (error == 0)
		socket->state = SANQP_LISTENING;
	else
		sanqp_stop_listening(socket);
	return error;
}

static int WSPAPI
wsp_listen(SOCKET s, int backlog, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	int error;

	if (socket == NULL)
		return SOCKET_ERROR;
	if (socket->state == SANQP_BOUND)
		error = listen_at_all(socket, backlog);
	else
		error = socket->connection != NULL ? WSAEISCONN : WSAEINVAL;
	sanqp_leave(socket);
	return error == 0 ? 0 : sanqp_error(error, lpErrno);
}

/* ---- WSPAccept ---- */

/* NULL: none has arrived. The event is reset: if more have, it is set again. */
static bool
next_arrival(struct sanqp_socket *socket, struct sanqp_arrival *out)
{
	struct sanqp_listening *listening = socket->listening;

	if (listening->arrivals == 0)
		return false;
	*out = listening->arrival[0];
	listening->arrivals--;
	memmove(&listening->arrival[0], &listening->arrival[1],
		listening->arrivals * sizeof(listening->arrival[0]));
	socket->happened &= ~FD_ACCEPT;
	return true;
}

static void
refuse(const struct sanqp_arrival *arrival)
{
	sanqp_ignore(plx_reject(arrival->connector, NULL, 0));
	sanqp_ignore(plx_connector_destroy(arrival->connector));
}

static int
ask(LPCONDITIONPROC condition, DWORD_PTR context, const struct sanqp_arrival *arrival)
{
	char remote[sizeof(struct sockaddr_in6)], local[sizeof(struct sockaddr_in6)];
	WSABUF caller = {.len = (ULONG)plx_session_sockaddr_bytes(&arrival->info.remote),
			 .buf = remote};
	WSABUF callee = {.len = (ULONG)plx_session_sockaddr_bytes(&arrival->info.local),
			 .buf = local};
	GROUP group = 0;

	if (condition == NULL)
		return CF_ACCEPT;
	plx_session_sockaddr_write(&arrival->info.remote, arrival->info.remote_port, remote);
	plx_session_sockaddr_write(&arrival->info.local, arrival->info.local_port, local);
	return condition(&caller, NULL, NULL, NULL, &callee, NULL, &group, context);
}

/* A socket of the connection. Its lock is held; the connector is its own, or not taken. */
static int
connect_arrival(struct sanqp_socket *socket, struct sanqp_arrival *arrival)
{
	struct plx_connect_options options;
	struct plx_qp_options queues;
	int error;

	socket->connection = sanqp_connection_make(arrival->adapter, &error);
	if (socket->connection == NULL)
		return error;
	sanqp_connection_options(socket->connection, &queues);
	if (plx_qp_create(socket->connection->pd, &queues, &socket->connection->qp, NULL) != PLX_OK)
		return WSAENOBUFS;
	init_options(&options);
	plx_connector_set_context(arrival->connector, sanqp_context(socket));
	if (plx_accept(arrival->connector, socket->connection->qp, &options, NULL) != PLX_OK)
		return WSAECONNRESET;
	socket->connection->connector = arrival->connector;
	socket->info = arrival->info;
	socket->state = SANQP_ACCEPTED;
	return 0;
}

static SOCKET
accept_arrival(struct sanqp *process, struct sanqp_arrival *arrival, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_new(process, lpErrno);
	SOCKET handle, s;
	int error, ignored;

	if (socket == NULL) {
		refuse(arrival);
		return INVALID_SOCKET;
	}
	if (!sanqp_new_handle(socket, lpErrno)) {
		refuse(arrival);
		sanqp_forget(socket);
		return INVALID_SOCKET;
	}
	error = connect_arrival(socket, arrival);
	if (error == 0) {
		s = socket->number;
		sanqp_leave(socket);
		return s;
	}
	if (socket->connection != NULL) {
		(void)sanqp_connection_end(socket->connection);
		sanqp_connection_free(socket->connection);
		socket->connection = NULL; /* events and the thread find the place still */
	}
	refuse(arrival);
	handle = socket->handle;
	sanqp_forget(socket);
	process->upcalls.lpWPUCloseSocketHandle(handle, &ignored);
	*lpErrno = error;
	return INVALID_SOCKET;
}

static SOCKET WSPAPI
wsp_accept(SOCKET s, struct sockaddr *addr, LPINT addrlen, LPCONDITIONPROC condition,
	   DWORD_PTR context, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	struct sanqp_arrival arrival;
	struct sanqp *process;
	WSAEVENT event;
	int error = 0, ignored;

	if (socket == NULL)
		return INVALID_SOCKET;
	process = socket->process;
	pthread_mutex_unlock(&socket->lock);
	sanqp_run_all_events(process);
	socket = sanqp_find(s, lpErrno);
	if (socket == NULL)
		return INVALID_SOCKET;
	if (socket->state != SANQP_LISTENING)
		error = WSAEINVAL;
	else if (addr != NULL && (addrlen == NULL || *addrlen < (INT)sizeof(struct sockaddr_in6)) &&
		 (addrlen == NULL || socket->family != AF_INET ||
		  *addrlen < (INT)sizeof(struct sockaddr_in)))
		error = WSAEFAULT;
	else if (!next_arrival(socket, &arrival))
		error = WSAEWOULDBLOCK;
	event = socket->event;
	if (error == 0 && event != NULL && socket->listening->arrivals > 0)
		happen(socket, FD_ACCEPT);
	pthread_mutex_unlock(&socket->lock);
	if (error != 0) {
		*lpErrno = error;
		return INVALID_SOCKET;
	}
	if (event != NULL)
		process->upcalls.lpWPUResetEvent(event, &ignored);
	if (ask(condition, context, &arrival) != CF_ACCEPT) {
		refuse(&arrival);
		*lpErrno = WSAECONNREFUSED;
		return INVALID_SOCKET;
	}
	if (addr != NULL) {
		*addrlen = (INT)plx_session_sockaddr_bytes(&arrival.info.remote);
		plx_session_sockaddr_write(&arrival.info.remote, arrival.info.remote_port, addr);
	}
	return accept_arrival(process, &arrival, lpErrno);
}

/* ---- events of connections ---- */

static void
arrive(struct sanqp_socket *socket, struct sanqp_adapter *adapter,
       const struct plx_connector_event *event)
{
	struct sanqp_listening *listening = socket != NULL ? socket->listening : NULL;
	const struct sanqp_arrival arrival = {event->connector, adapter, event->info};

	if (listening == NULL || listening->arrivals == listening->backlog) {
		refuse(&arrival);
		return;
	}
	plx_connector_set_context(event->connector, socket->number);
	listening->arrival[listening->arrivals++] = arrival;
	happen(socket, FD_ACCEPT);
}

/* A peer has given up before it was accepted. */
static void
depart(struct sanqp_listening *listening, const struct plx_connector *connector)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < listening->arrivals; i++)
		if (listening->arrival[i].connector == connector)
			sanqp_ignore(plx_connector_destroy(listening->arrival[i].connector));
		else
			listening->arrival[kept++] = listening->arrival[i];
	listening->arrivals = kept;
}

static void
finish_connect(struct sanqp_socket *socket, int error)
{
	socket->connect_error = error;
	socket->state = error == 0 ? SANQP_CONNECTED : SANQP_BROKEN;
	happen(socket, FD_CONNECT);
}

static int
error_of_rejection(uint16_t reason)
{
	/* Nobody listens; nobody wants it: so would TCP's end. Of anything else TCP may know more.
	 */
	return reason == PLX_CM_REASON_INVALID_SERVICE_ID ? WSAECONNRESET
	       : reason == PLX_CM_REASON_CONSUMER         ? WSAECONNREFUSED
							  : WSAETIMEDOUT;
}

static void
on_event_connecting(struct sanqp_socket *socket, const struct plx_connector_event *event)
{
	switch (event->kind) {
	case PLX_CM_EVENT_REPLIED:
		socket->info = event->info;
		finish_connect(socket, plx_establish(socket->connection->connector, NULL) == PLX_OK
					       ? 0
					       : WSAETIMEDOUT);
		break;
	case PLX_CM_EVENT_REJECTED:
		finish_connect(socket, error_of_rejection(event->reason));
		break;
	case PLX_CM_EVENT_UNREACHABLE:
		finish_connect(socket, WSAEHOSTUNREACH);
		break;
	default:
		finish_connect(socket, WSAETIMEDOUT);
		break;
	}
}

/* The end of a connection ends its receives: they are flushed. */
static void
on_event_connected(struct sanqp_socket *socket, const struct plx_connector_event *event)
{
	if (event->kind == PLX_CM_EVENT_ESTABLISHED) {
		if (socket->state == SANQP_ACCEPTED)
			socket->state = SANQP_CONNECTED;
		sanqp_post_sends(socket);
		return;
	}
	if (event->kind == PLX_CM_EVENT_DISCONNECTED && socket->connection->connector != NULL)
		sanqp_ignore(plx_disconnect(socket->connection->connector));
	if (socket->state != SANQP_GIVING)
		socket->state = SANQP_BROKEN;
	sanqp_progress(socket);
}

static void
on_event(struct sanqp *process, struct sanqp_adapter *adapter,
	 const struct plx_connector_event *event)
{
	struct sanqp_socket *socket = sanqp_place(process, (uint32_t)event->context);

	if (socket == NULL)
		return;
	pthread_mutex_lock(&socket->lock);
	if (event->kind == PLX_CM_EVENT_REQUESTED)
		arrive(socket, adapter, event);
	else if (socket->listening != NULL)
		depart(socket->listening, event->connector);
	else if (is_of_connection(socket, event)) {
		if (socket->state == SANQP_CONNECTING)
			on_event_connecting(socket, event);
		else
			on_event_connected(socket, event);
	}
	sanqp_leave(socket);
}

void
sanqp_run_events(struct sanqp *process, struct sanqp_adapter *adapter)
{
	struct plx_connector_event event;
	struct plx_async_event async;

	if (pthread_mutex_trylock(&adapter->events) != 0)
		return;
	while (plx_event_channel_next(adapter->channel, &event))
		on_event(process, adapter, &event);
	while (plx_adapter_next_async_event(adapter->adapter, &async))
		if (async.kind == PLX_EVENT_HOST_GONE)
			atomic_store(&adapter->gone, true);
	pthread_mutex_unlock(&adapter->events);
}

void
sanqp_run_all_events(struct sanqp *process)
{
	for (uint32_t i = 0; i < process->adapters; i++)
		if (process->adapter[i].channel != NULL)
			sanqp_run_events(process, &process->adapter[i]);
}

/* ---- WSPEventSelect, WSPEnumNetworkEvents ---- */

static int WSPAPI
event_select(SOCKET s, WSAEVENT event, long events, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	bool told;

	if (socket == NULL)
		return SOCKET_ERROR;
	told = events == 0 || event == NULL || sanqp_thread_start(socket->process);
	if (told) {
		socket->selected = events;
		socket->event = event;
		socket->event_due = (socket->happened & events) != 0;
	}
	sanqp_leave(socket);
	return told ? 0 : sanqp_error(WSAENETDOWN, lpErrno);
}

static int WSPAPI
enum_events(SOCKET s, WSAEVENT event, LPWSANETWORKEVENTS out, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	struct sanqp *process;
	int ignored;

	if (socket == NULL)
		return SOCKET_ERROR;
	process = socket->process;
	pthread_mutex_unlock(&socket->lock);
	sanqp_run_all_events(process);
	if (event != NULL)
		process->upcalls.lpWPUResetEvent(event, &ignored);
	socket = sanqp_find(s, lpErrno);
	if (socket == NULL)
		return SOCKET_ERROR;
	*out = (WSANETWORKEVENTS){.lNetworkEvents = socket->happened};
	out->iErrorCode[FD_CONNECT_BIT] = socket->connect_error;
	socket->happened = 0;
	sanqp_leave(socket);
	return 0;
}

void
sanqp_fill_connect(WSPPROC_TABLE *out)
{
	out->lpWSPConnect = wsp_connect;
	out->lpWSPListen = wsp_listen;
	out->lpWSPAccept = wsp_accept;
	out->lpWSPEventSelect = event_select;
	out->lpWSPEnumNetworkEvents = enum_events;
}
