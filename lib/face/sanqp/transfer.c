/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages and RDMA: requests are posted in their order, and complete in it. Start with post().
 */
#include "provider.h"

enum {
	COMPLETIONS = 16, /* fetched at once */
	LOOKS = 64, /* for completions, for each one for events: that is a system call or two */
};

/* Of WSAOVERLAPPED.Internal: the program reads it without the lock. */
static void
set_result(LPWSAOVERLAPPED overlapped, DWORD error, DWORD bytes)
{
	overlapped->InternalHigh = bytes;
	__atomic_store_n(&overlapped->Internal, error, __ATOMIC_RELEASE);
}

bool
sanqp_is_pending(const struct sanqp_ring *ring)
{
	return ring->complete != ring->made;
}

/* ---- completions ---- */

/* The oldest request ends. */
static void
complete(struct sanqp_ring *ring, DWORD error, DWORD bytes)
{
	struct sanqp_request *request = &ring->request[ring->complete & (ring->depth - 1)];

	for (uint32_t i = 0; i < request->buffers; i++)
		request->region[i]->uses--;
	request->error = error;
	request->bytes = bytes;
	/* A place is free at once if nothing is to be told. */
	if (request->polled && ring->told == ring->complete)
		ring->told++;
	ring->complete++;
	set_result(request->overlapped, error, bytes);
}

void
sanqp_complete_all(struct sanqp_socket *socket, DWORD error)
{
	struct sanqp_connection *connection = socket->connection;

	while (sanqp_is_pending(&connection->receives))
		complete(&connection->receives, error, 0);
	while (sanqp_is_pending(&connection->sends))
		complete(&connection->sends, error, 0);
}

static DWORD
error_of(uint8_t status)
{
	static const int errors[PLX_WC_COUNT] = {
		[PLX_WC_SUCCESS] = 0,
		[PLX_WC_LOCAL_LENGTH] = WSAEMSGSIZE,
		[PLX_WC_LOCAL_PROTECTION] = WSAEFAULT,
		[PLX_WC_LOCAL_INVALIDATE] = WSAEFAULT,
		[PLX_WC_FLUSHED] = WSAECONNRESET,
		[PLX_WC_BAD_RESPONSE] = WSAECONNRESET,
		[PLX_WC_REMOTE_INVALID_REQUEST] = WSAECONNRESET,
		[PLX_WC_REMOTE_ACCESS] = WSAEFAULT,
		[PLX_WC_REMOTE_OPERATION] = WSAECONNRESET,
		[PLX_WC_RETRY_EXCEEDED] = WSAETIMEDOUT,
		[PLX_WC_RNR_RETRY_EXCEEDED] = WSAETIMEDOUT,
	};

	return status < PLX_WC_COUNT ? (DWORD)errors[status] : WSAECONNRESET;
}

static void
take(struct sanqp_socket *socket, const struct plx_wc *wc)
{
	struct sanqp_connection *connection = socket->connection;
	bool received = wc->flags & PLX_WC_RECV;
	struct sanqp_ring *ring = received ? &connection->receives : &connection->sends;
	const struct sanqp_request *oldest = &ring->request[ring->complete & (ring->depth - 1)];
	DWORD error = error_of(wc->status);

	if (!sanqp_is_pending(ring))
		return;
	/* Receives of a socket that is given away end without a message. */
	if (wc->status == PLX_WC_FLUSHED && socket->state == SANQP_GIVING)
		error = 0;
	else if (error != 0)
		socket->state = SANQP_BROKEN;
	complete(ring, error,
		 error != 0 || wc->status != PLX_WC_SUCCESS ? 0
		 : received                                 ? wc->bytes
							    : oldest->bytes);
}

/* Sends that have waited for a connection that is over now: no completion comes of them. */
static void
end_unposted(struct sanqp_ring *ring)
{
	while (ring->complete == ring->posted && sanqp_is_pending(ring)) {
		ring->posted++;
		complete(ring, WSAECONNRESET, 0);
	}
}

void
sanqp_progress(struct sanqp_socket *socket)
{
	struct sanqp_connection *connection = socket->connection;
	struct plx_wc wc[COMPLETIONS];
	uint32_t n;

	if (connection == NULL || connection->cq == NULL)
		return;
	do {
		n = plx_cq_poll(connection->cq, wc, COMPLETIONS);
		for (uint32_t i = 0; i < n; i++)
			take(socket, &wc[i]);
	} while (n == COMPLETIONS);
	if (plx_unlikely(atomic_load(&connection->adapter->gone)) &&
	    socket->state != SANQP_BROKEN) {
		socket->state = SANQP_BROKEN;
		sanqp_complete_all(socket, WSAENETDOWN);
	}
	if (socket->state == SANQP_BROKEN)
		end_unposted(&connection->sends);
}

/* ---- requests ---- */

static bool
is_connected(const struct sanqp_socket *socket)
{
	return socket->state == SANQP_CONNECTED || socket->state == SANQP_ACCEPTED;
}

/* A place for a request. NULL, with an error: there is none */
static struct sanqp_request *
make(struct sanqp_socket *socket, struct sanqp_ring *ring, DWORD buffers,
     LPWSAOVERLAPPED overlapped, LPINT lpErrno)
{
	struct sanqp_request *request = &ring->request[ring->made & (ring->depth - 1)];

	*lpErrno = !is_connected(socket)                                               ? WSAENOTCONN
		   : overlapped == NULL || buffers == 0 || buffers > SANQP_BUFFERS_MAX ? WSAEINVAL
		   : ring->made - ring->told == ring->depth                            ? WSAENOBUFS
										       : 0;
	if (*lpErrno != 0)
		return NULL;
	*request = (struct sanqp_request){.overlapped = overlapped,
					  .polled = (uintptr_t)overlapped->hEvent & 1};
	return request;
}

/* Returns: false: it is not registered so, and is no part of the request */
static bool
add_buffer(struct sanqp_request *request, struct sanqp_region *region, const void *memory,
	   ULONG bytes)
{
	if (region == NULL)
		return false;
	request->region[request->buffers] = region;
	request->sge[request->buffers++] = (struct plx_sge){
		.va = (uintptr_t)memory, .length = bytes, .key = plx_mr_key(region->mr)};
	request->bytes += bytes;
	return true;
}

static int
add_buffers(struct sanqp_connection *connection, struct sanqp_request *request,
	    const WSABUF *buffers, DWORD n, DWORD flags)
{
	uint64_t bytes = 0;

	for (DWORD i = 0; i < n; i++)
		bytes += buffers[i].len;
	if (bytes > SANQP_MESSAGE_MAX)
		return WSAEMSGSIZE;
	for (DWORD i = 0; i < n; i++)
		if (!add_buffer(request,
				sanqp_region_of(connection, buffers[i].buf, buffers[i].len, flags),
				buffers[i].buf, buffers[i].len))
			return WSAEINVAL;
	return 0;
}

static void
pending(struct sanqp_ring *ring, struct sanqp_request *request)
{
	set_result(request->overlapped, WSA_IO_INCOMPLETE, 0);
	for (uint32_t i = 0; i < request->buffers; i++)
		request->region[i]->uses++;
	ring->made++;
}

/* The thread has to see what is told by an upcall. */
static bool
is_watched(struct sanqp_socket *socket, const struct sanqp_request *request)
{
	return request->polled || sanqp_thread_watch(socket);
}

static int
post_receive(struct sanqp_socket *socket, struct sanqp_request *request)
{
	const struct plx_recv_wr wr = {.sge = request->sge, .sges = request->buffers};
	struct sanqp_connection *connection = socket->connection;
	enum plx_status refused;

	if (!is_watched(socket, request))
		return WSAENOBUFS;
	if (plx_post_recv(connection->qp, &wr, 1, &refused) == 1) {
		pending(&connection->receives, request);
		connection->receives.posted++;
		return WSA_IO_PENDING;
	}
	return refused == PLX_STATE ? WSAENOTCONN : WSAENOBUFS;
}

void
sanqp_post_sends(struct sanqp_socket *socket)
{
	struct sanqp_connection *connection = socket->connection;
	struct sanqp_ring *ring = &connection->sends;

	while (socket->state == SANQP_CONNECTED && ring->posted != ring->made) {
		const struct sanqp_request *request =
			&ring->request[ring->posted & (ring->depth - 1)];
		const struct plx_send_wr wr = {
			.op = request->op,
			.sges = request->buffers,
			.sge = request->sge,
			.remote_va = request->remote_va,
			.rkey = request->rkey,
		};

		/* Only a queue pair that has failed refuses. */
		if (plx_post_send(connection->qp, &wr, 1, NULL) == 1)
			ring->posted++;
		else
			socket->state = SANQP_BROKEN;
	}
}

static int
post_send(struct sanqp_socket *socket, struct sanqp_request *request)
{
	if (!is_watched(socket, request))
		return WSAENOBUFS;
	pending(&socket->connection->sends, request);
	sanqp_post_sends(socket);
	return WSA_IO_PENDING;
}

/* ---- calls ---- */

static int
leave(struct sanqp_socket *socket, int error, LPINT lpErrno)
{
	sanqp_leave(socket);
	return sanqp_error(error, lpErrno);
}

static int WSPAPI
wsp_recv(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD received, LPDWORD flags,
	 LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine,
	 LPWSATHREADID thread, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	struct sanqp_request *request = NULL;
	int error;

	(void)received;
	(void)flags;
	(void)routine;
	(void)thread;
	if (socket == NULL)
		return SOCKET_ERROR;
	if (socket->connection == NULL)
		return leave(socket, WSAENOTCONN, lpErrno);
	request = make(socket, &socket->connection->receives, n, overlapped, &error);
	if (request != NULL)
		error = add_buffers(socket->connection, request, buffers, n, MEM_WRITE);
	if (error == 0)
		error = post_receive(socket, request);
	return leave(socket, error, lpErrno);
}

static int WSPAPI
wsp_send(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD sent, DWORD flags, LPWSAOVERLAPPED overlapped,
	 LPWSAOVERLAPPED_COMPLETION_ROUTINE routine, LPWSATHREADID thread, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	struct sanqp_request *request = NULL;
	int error;

	(void)sent;
	(void)routine;
	(void)thread;
	if (socket == NULL)
		return SOCKET_ERROR;
	if (socket->connection == NULL)
		return leave(socket, WSAENOTCONN, lpErrno);
	request = make(socket, &socket->connection->sends, n, overlapped, &error);
	if (request != NULL)
		error = flags != 0 ? WSAEINVAL
				   : add_buffers(socket->connection, request, buffers, n, MEM_READ);
	if (error == 0) {
		request->op = PLX_WR_SEND;
		error = post_send(socket, request);
	}
	return leave(socket, error, lpErrno);
}

/* The handle must be one of this socket, and have the bytes. */
static struct sanqp_region *
region_of(struct sanqp_connection *connection, const WSABUFEX *buffer, DWORD flags)
{
	struct sanqp_region *region = sanqp_region_with(connection, buffer->handle);

	return region != NULL && sanqp_region_has(region, buffer->buf, buffer->len, flags) ? region
											   : NULL;
}

static int
rdma(SOCKET s, enum plx_wr_op op, LPWSABUFEX buffers, DWORD n, LPVOID descriptor, DWORD length,
     DWORD offset, LPWSAOVERLAPPED overlapped, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	struct sanqp_request *request;
	int error;

	if (socket == NULL)
		return SOCKET_ERROR;
	if (socket->connection == NULL)
		return leave(socket, WSAENOTCONN, lpErrno);
	request = make(socket, &socket->connection->sends, n, overlapped, &error);
	if (request == NULL)
		return leave(socket, error, lpErrno);
	request->op = (uint8_t)op;
	if (!sanqp_descriptor_read(descriptor, length, &request->remote_va, &request->rkey))
		return leave(socket, WSAEINVAL, lpErrno);
	request->remote_va += offset;
	for (DWORD i = 0; i < n; i++)
		if (!add_buffer(request,
				region_of(socket->connection, &buffers[i],
					  op == PLX_WR_READ ? MEM_WRITE : MEM_READ),
				buffers[i].buf, buffers[i].len) ||
		    request->bytes > SANQP_RDMA_MAX)
			return leave(socket, WSAEINVAL, lpErrno);
	return leave(socket, post_send(socket, request), lpErrno);
}

static int WSPAPI
rdma_write(SOCKET s, LPWSABUFEX buffers, DWORD n, LPVOID descriptor, DWORD length, DWORD offset,
	   LPDWORD written, DWORD flags, LPWSAOVERLAPPED overlapped,
	   LPWSAOVERLAPPED_COMPLETION_ROUTINE routine, LPWSATHREADID thread, LPINT lpErrno)
{
	(void)written;
	(void)routine;
	(void)thread;
	return flags != 0 ? sanqp_error(WSAEINVAL, lpErrno)
			  : rdma(s, PLX_WR_WRITE, buffers, n, descriptor, length, offset,
				 overlapped, lpErrno);
}

static int WSPAPI
rdma_read(SOCKET s, LPWSABUFEX buffers, DWORD n, LPVOID descriptor, DWORD length, DWORD offset,
	  LPDWORD read, DWORD flags, LPWSAOVERLAPPED overlapped,
	  LPWSAOVERLAPPED_COMPLETION_ROUTINE routine, LPWSATHREADID thread, LPINT lpErrno)
{
	(void)read;
	(void)routine;
	(void)thread;
	return flags != 0 ? sanqp_error(WSAEINVAL, lpErrno)
			  : rdma(s, PLX_WR_READ, buffers, n, descriptor, length, offset, overlapped,
				 lpErrno);
}

SAN_NEVER_CALLED
sanqp_transfer_extension(const GUID *id)
{
	static const GUID write = WSAID_RDMAWRITE, read = WSAID_RDMAREAD;

	return memcmp(id, &write, sizeof(*id)) == 0  ? (SAN_NEVER_CALLED)rdma_write
	       : memcmp(id, &read, sizeof(*id)) == 0 ? (SAN_NEVER_CALLED)rdma_read
						     : NULL;
}

/* Whoever asks for what is not complete yet, takes what there is, on this socket and of events. */
static void
look_again(SOCKET s, LPINT lpErrno)
{
	struct sanqp_socket *socket = sanqp_find(s, lpErrno);
	struct sanqp_adapter *adapter = NULL;
	struct sanqp *process;

	if (socket == NULL)
		return;
	sanqp_progress(socket);
	if (socket->connection != NULL && ++socket->looks % LOOKS == 0)
		adapter = socket->connection->adapter;
	process = socket->process;
	sanqp_leave(socket);
	if (adapter != NULL)
		sanqp_run_events(process, adapter);
}

static BOOL WSPAPI
get_result(SOCKET s, LPWSAOVERLAPPED overlapped, LPDWORD bytes, BOOL wait, LPDWORD flags,
	   LPINT lpErrno)
{
	DWORD error;

	(void)wait;
	if (overlapped == NULL) {
		*lpErrno = WSAEINVAL;
		return FALSE;
	}
	if (__atomic_load_n(&overlapped->Internal, __ATOMIC_ACQUIRE) == WSA_IO_INCOMPLETE)
		look_again(s, lpErrno);
	error = (DWORD)__atomic_load_n(&overlapped->Internal, __ATOMIC_ACQUIRE);
	if (error != 0) {
		*lpErrno = (int)error;
		return FALSE;
	}
	*bytes = (DWORD)overlapped->InternalHigh;
	if (flags != NULL)
		*flags = 0;
	return TRUE;
}

void
sanqp_fill_transfer(WSPPROC_TABLE *out)
{
	out->lpWSPRecv = wsp_recv;
	out->lpWSPSend = wsp_send;
	out->lpWSPGetOverlappedResult = get_result;
}
