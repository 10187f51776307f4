/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connected sockets pass from process to process. Start with sanqp_duplicate().
 */
#include <stdlib.h>
#include <time.h>

#include "provider.h"

enum {
	BETWEEN_MS = 2000, /* longest wait for a moment between two messages */
	FLUSH_MS = 1000,   /* ... for the receives that were pending */
	PAUSE_NS = 50000,
};

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void
pause_a_moment(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* ---- giving ---- */

/* Messages of the peer go on to arrive until the moment is found. */
static enum plx_status
export_between(struct sanqp_socket *socket, DWORD seat, struct plx_qp_token *token)
{
	struct sanqp_connection *connection = socket->connection;
	uint64_t end = now_ms() + BETWEEN_MS;
	enum plx_status status;

	for (;;) {
		status = plx_qp_export(connection->qp, connection->connector, seat, token, NULL);
		if (status != PLX_BUSY || now_ms() >= end)
			return status;
		pause_a_moment();
		sanqp_progress(socket);
	}
}

static int
error_of(enum plx_status status)
{
	return status == PLX_STATE                             ? WSAENOTCONN
	       : status == PLX_FULL || status == PLX_NO_MEMORY ? WSAENOBUFS
	       : status == PLX_INVALID                         ? WSAEINVAL
							       : WSAENETDOWN;
}

/* The receives that were pending come back, with success and 0 bytes; then nothing of the
 * connection is in this process. */
static void
let_go(struct sanqp_socket *socket)
{
	struct sanqp_connection *connection = socket->connection;
	uint64_t end = now_ms() + FLUSH_MS;

	connection->connector = NULL;
	while (sanqp_is_pending(&connection->receives) && now_ms() < end) {
		sanqp_progress(socket);
		if (sanqp_is_pending(&connection->receives))
			pause_a_moment();
	}
	(void)sanqp_connection_end(connection);
	sanqp_thread_forget(socket->process, connection);
	sanqp_complete_all(socket, 0);
	sanqp_tell_all(socket);
	socket->connection = NULL;
	sanqp_connection_free(connection);
}

static int
give(struct sanqp_socket *socket, DWORD seat, struct plx_qp_token *token)
{
	struct plx_connector_info info;
	enum plx_status status;

	sanqp_progress(socket);
	if (socket->state != SANQP_CONNECTED)
		return WSAENOTCONN;
	if (sanqp_is_pending(&socket->connection->sends))
		return WSAEINVAL;
	if (plx_connector_query(socket->connection->connector, &info) != PLX_OK)
		return WSAENOTCONN;
	socket->info = info;
	socket->state = SANQP_GIVING;
	status = export_between(socket, seat, token);
	if (status != PLX_OK) {
		if (socket->state == SANQP_GIVING)
			socket->state = SANQP_CONNECTED;
		return error_of(status);
	}
	let_go(socket);
	socket->state = SANQP_GIVEN;
	return 0;
}

int WSPAPI
sanqp_duplicate(SOCKET s, DWORD process, LPWSAPROTOCOL_INFOW info, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	struct plx_qp_token token = {0};
	int error;

	if (socket == NULL)
		return SOCKET_ERROR;
	error = socket->state == SANQP_GIVEN ? WSAENOTSOCK : give(socket, process, &token);
	if (error == 0)
		*info = (WSAPROTOCOL_INFOW){
			.dwCatalogEntryId = SANQP_CATALOG_ENTRY,
			.iVersion = 2,
			.iAddressFamily = socket->info.local.version == 6 ? AF_INET6 : AF_INET,
			.iSocketType = SOCK_STREAM,
			.iProtocol = IPPROTO_TCP,
			.dwMessageSize = SANQP_MESSAGE_MAX,
			.dwProviderReserved = token.v,
		};
	sanqp_leave(socket);
	return error == 0 ? 0 : sanqp_error(error, lpErrno);
}

/* ---- taking ---- */

/* NULL, with WSAEINVAL: it is not for this adapter */
static struct sanqp_connection *
import(struct sanqp_adapter *adapter, DWORD token, LPINT lpErrno)
{
	const struct plx_qp_token of = {.v = token};
	struct sanqp_connection *connection = sanqp_connection_make(adapter, lpErrno);
	struct plx_qp_options queues;
	enum plx_status status;

	if (connection == NULL)
		return NULL;
	sanqp_connection_options(connection, &queues);
	queues.heir = atomic_load(&adapter->heir);
	status = plx_qp_import(connection->pd, &of, &queues, adapter->channel, &connection->qp,
			       &connection->connector, NULL);
	if (status == PLX_OK)
		return connection;
	connection->qp = NULL;
	connection->connector = NULL;
	sanqp_connection_free(connection);
	*lpErrno = status == PLX_NO_KEY  ? WSAEINVAL
		   : status == PLX_STATE ? WSAECONNRESET
		   : status == PLX_BUSY  ? WSAEALREADY
		   : status == PLX_GONE  ? WSAENETDOWN
					 : WSAENOBUFS;
	return NULL;
}

static bool
is_same(const struct plx_connector_info *a, const struct plx_connector_info *b)
{
	return plx_session_ip_equal(&a->local, &b->local) &&
	       plx_session_ip_equal(&a->remote, &b->remote) && a->local_port == b->local_port &&
	       a->remote_port == b->remote_port;
}

/* The descriptor of a connection that this process has given away before, its lock held. NULL:
 * there is none */
static struct sanqp_socket *
find_given(struct sanqp *process, const struct plx_connector_info *info)
{
	for (uint32_t i = 0; i < SANQP_SOCKETS_MAX; i++) {
		struct sanqp_socket *socket = sanqp_place(process, i + 1);

		if (socket == NULL)
			return NULL; /* places are made in their order */
		pthread_mutex_lock(&socket->lock);
		if (socket->state == SANQP_GIVEN && is_same(&socket->info, info))
			return socket;
		pthread_mutex_unlock(&socket->lock);
	}
	return NULL;
}

static struct sanqp_socket *
place_for(struct sanqp *process, const struct plx_connector_info *info, LPINT lpErrno)
{
	struct sanqp_socket *socket = find_given(process, info);

	if (socket != NULL)
		return socket;
	socket = sanqp_new(process, lpErrno);
	if (socket == NULL)
		return NULL;
	socket->family = info->local.version == 6 ? AF_INET6 : AF_INET;
	if (sanqp_new_handle(socket, lpErrno))
		return socket;
	sanqp_forget(socket);
	return NULL;
}

/* adapter->events is held: an event of the connection finds its socket. */
static SOCKET
settle(struct sanqp *process, struct sanqp_connection *connection, LPINT lpErrno)
{
	struct plx_connector_info info;
	struct sanqp_socket *socket = NULL;
	SOCKET s;

	*lpErrno = WSAECONNRESET;
	if (plx_connector_query(connection->connector, &info) == PLX_OK)
		socket = place_for(process, &info, lpErrno);
	if (socket == NULL) {
		(void)sanqp_connection_end(connection);
		sanqp_connection_free(connection);
		return INVALID_SOCKET;
	}
	plx_connector_set_context(connection->connector, sanqp_context(socket));
	socket->connection = connection;
	socket->info = info;
	socket->state = SANQP_CONNECTED;
	s = socket->number;
	pthread_mutex_unlock(&socket->lock);
	return s;
}

SOCKET
sanqp_take(struct sanqp *process, DWORD token, LPINT lpErrno)
{
	struct sanqp_connection *connection = NULL;

	*lpErrno = WSAEINVAL;
	for (uint32_t i = 0; i < process->adapters && *lpErrno == WSAEINVAL; i++) {
		struct sanqp_adapter *adapter = sanqp_adapter_at(process, i);
		SOCKET s;

		if (adapter == NULL)
			continue;
		pthread_mutex_lock(&adapter->events);
		connection = import(adapter, token, lpErrno);
		s = connection != NULL ? settle(process, connection, lpErrno) : INVALID_SOCKET;
		pthread_mutex_unlock(&adapter->events);
		if (connection != NULL)
			return s;
	}
	return INVALID_SOCKET;
}
