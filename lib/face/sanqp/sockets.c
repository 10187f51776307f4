/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets: made, bound, closed, and their options. Start with sanqp_close().
 */
#include <stdlib.h>

#include "provider.h"

/* ---- WSPSocket ---- */

static SOCKET
make(struct sanqp *process, int af, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_new(process, lpErrno);
	SOCKET s;

	if (socket == NULL)
		return INVALID_SOCKET;
	socket->family = (ADDRESS_FAMILY)af;
	if (!sanqp_new_handle(socket, lpErrno)) {
		sanqp_forget(socket);
		return INVALID_SOCKET;
	}
	s = socket->number;
	pthread_mutex_unlock(&socket->lock);
	return s;
}

static SOCKET WSPAPI
wsp_socket(int af, int type, int protocol, LPWSAPROTOCOL_INFOW info, GROUP g, DWORD flags,
	   LPINT lpErrno)
{
	struct sanqp *process = sanqp_current();

	(void)g;
	(void)flags;
	*lpErrno = process == NULL                   ? WSAENETDOWN
		   : af != AF_INET && af != AF_INET6 ? WSAEAFNOSUPPORT
		   : type != SOCK_STREAM             ? WSAEPROTOTYPE
		   : protocol != IPPROTO_TCP         ? WSAEPROTONOSUPPORT
						     : 0;
	if (*lpErrno != 0)
		return INVALID_SOCKET;
	if (info != NULL && info->dwProviderReserved != 0)
		return sanqp_take(process, info->dwProviderReserved, lpErrno);
	return make(process, af, lpErrno);
}

/* ---- WSPBind ---- */

static bool
is_ours(struct sanqp *process, const struct plx_ip *ip)
{
	for (uint32_t i = 0; i < process->adapters; i++) {
		const struct sanqp_adapter *adapter = sanqp_adapter_at(process, i);

		if (adapter != NULL && sanqp_adapter_has(adapter, ip))
			return true;
	}
	return false;
}

static int WSPAPI
wsp_bind(SOCKET s, const struct sockaddr *name, int bytes, LPINT lpErrno)
{
	struct sanqp_socket *socket;
	struct plx_ip ip;
	uint16_t port;
	int error = 0;

	if (bytes < 0 || plx_session_sockaddr_read(name, (size_t)bytes, &ip, &port) != PLX_OK)
		return sanqp_error(WSAEFAULT, lpErrno);
	socket = sanqp_find(s, lpErrno);
	if (socket == NULL)
		return SOCKET_ERROR;
	if (socket->state != SANQP_MADE)
		error = WSAEINVAL;
	else if (!plx_session_ip_is_any(&ip) && !is_ours(socket->process, &ip))
		error = WSAEADDRNOTAVAIL;
	if (error == 0) {
		socket->local = ip;
		socket->port = port;
		socket->state = SANQP_BOUND;
	}
	sanqp_leave(socket);
	return error == 0 ? 0 : sanqp_error(error, lpErrno);
}

/* ---- WSPCloseSocket ---- */

/* Nothing of it is reached any more: what is pending ends, and its memory is free. */
static void
drop_connection(struct sanqp_socket *socket)
{
	struct sanqp_connection *connection = socket->connection;

	sanqp_thread_forget(socket->process, connection);
	sanqp_complete_all(socket, WSA_OPERATION_ABORTED);
	sanqp_regions_free(connection);
	sanqp_tell_all(socket);
	socket->connection = NULL;
	sanqp_connection_free(connection);
}

int WSPAPI
sanqp_close(SOCKET s, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	SOCKET handle;
	int ignored;

	if (socket == NULL)
		return SOCKET_ERROR;
	if (socket->connection != NULL && !sanqp_connection_end(socket->connection)) {
		sanqp_leave(socket);
		return sanqp_error(WSAENETDOWN, lpErrno);
	}
	socket->state = SANQP_CLOSING;
	socket->event_due = false;
	if (socket->connection != NULL)
		drop_connection(socket);
	sanqp_stop_listening(socket);
	sanqp_tell_all(socket); /* no upcall of another thread is under way */
	handle = socket->handle;
	pthread_mutex_unlock(&socket->lock);
	socket->process->upcalls.lpWPUCloseSocketHandle(handle, &ignored);
	pthread_mutex_lock(&socket->lock);
	sanqp_forget(socket);
	return 0;
}

/* ---- options ---- */

static int WSPAPI
get_option(SOCKET s, int level, int option, char *value, LPINT bytes, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	DWORD answer;

	if (socket == NULL)
		return SOCKET_ERROR;
	sanqp_leave(socket);
	answer = option == SO_MAX_MSG_SIZE          ? SANQP_MESSAGE_MAX
		 : option == SO_MAX_RDMA_SIZE       ? SANQP_RDMA_MAX
		 : option == SO_RDMA_THRESHOLD_SIZE ? SANQP_THRESHOLD
						    : 0;
	if (level != SOL_SOCKET || answer == 0)
		return sanqp_error(WSAENOPROTOOPT, lpErrno);
	if (value == NULL || bytes == NULL || *bytes < (INT)sizeof(answer))
		return sanqp_error(WSAEFAULT, lpErrno);
	memcpy(value, &answer, sizeof(answer));
	*bytes = sizeof(answer);
	return 0;
}

/* What is set on a TCP socket is carried out by the switch; nothing of it is the provider's. */
static int WSPAPI
set_option(SOCKET s, int level, int option, const char *value, int bytes, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);

	(void)level;
	(void)option;
	if (socket == NULL)
		return SOCKET_ERROR;
	sanqp_leave(socket);
	return value != NULL && bytes > 0 ? 0 : sanqp_error(WSAEFAULT, lpErrno);
}

static int
get_extension(const void *in, DWORD in_bytes, void *out, DWORD out_bytes, LPDWORD used)
{
	SAN_NEVER_CALLED function;
	GUID id;

	if (in == NULL || in_bytes < sizeof(id) || out == NULL || out_bytes < sizeof(function))
		return WSAEFAULT;
	memcpy(&id, in, sizeof(id));
	function = sanqp_memory_extension(&id);
	if (function == NULL)
		function = sanqp_transfer_extension(&id);
	if (function == NULL)
		return WSAEOPNOTSUPP;
	memcpy(out, &function, sizeof(function));
	*used = sizeof(function);
	return 0;
}

static int WSPAPI
wsp_ioctl(SOCKET s, DWORD code, LPVOID in, DWORD in_bytes, LPVOID out, DWORD out_bytes,
	  LPDWORD returned, LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine,
	  LPWSATHREADID thread, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	DWORD used = 0;
	int error = WSAEOPNOTSUPP;

	(void)overlapped;
	(void)routine;
	(void)thread;
	if (socket == NULL)
		return SOCKET_ERROR;
	sanqp_leave(socket);
	if (code == SIO_GET_EXTENSION_FUNCTION_POINTER)
		error = get_extension(in, in_bytes, out, out_bytes, &used);
	else if (code == SIO_ADDRESS_LIST_QUERY)
		error = sanqp_adapters_list(socket->process, out, out_bytes, &used);
	if (returned != NULL)
		*returned = used;
	return error == 0 ? 0 : sanqp_error(error, lpErrno);
}

static BOOL WSPAPI
get_qos(SOCKET s, LPWSABUF name, LPQOS qos, LPINT lpErrno)
{
	(void)s;
	(void)name;
	(void)qos;
	*lpErrno = WSAEOPNOTSUPP;
	return FALSE;
}

void
sanqp_fill_sockets(WSPPROC_TABLE *out)
{
	out->lpWSPSocket = wsp_socket;
	out->lpWSPBind = wsp_bind;
	out->lpWSPCloseSocket = sanqp_close;
	out->lpWSPGetSockOpt = get_option;
	out->lpWSPSetSockOpt = set_option;
	out->lpWSPIoctl = wsp_ioctl;
	out->lpWSPGetQOSByName = get_qos;
}
