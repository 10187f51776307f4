/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fake's data: requests, registered memory, options. Start with post().
 */
#include "fake_state.h"

/* ---- data ---- */

static bool
is_registered(const struct endpoint *endpoint, const uint8_t *at, ULONG bytes, DWORD flags)
{
	for (uint32_t i = 0; i < MEMORIES; i++) {
		const struct memory *m = &fake.memory[i];

		if (m->of == endpoint && !m->rdma && (m->flags & flags) == flags && at >= m->base &&
		    at + bytes <= m->base + m->bytes)
			return true;
	}
	return false;
}

/* Returns: the error of the call: WSA_IO_PENDING */
static int
post(struct endpoint *endpoint, struct queue *queue, const struct request *request, DWORD flags)
{
	struct request *slot;

	if (endpoint->state != CONNECTED)
		return WSAENOTCONN;
	if (request->overlapped == NULL || request->buffers > BUFFERS_MAX)
		return WSAEINVAL;
	if (queue->count == REQUESTS)
		return WSAENOBUFS;
	for (DWORD i = 0; i < request->buffers; i++)
		if (!is_registered(endpoint, (const uint8_t *)request->buffer[i].buf,
				   request->buffer[i].len, flags))
			return WSAEINVAL;
	slot = &queue->request[(queue->first + queue->count++) % REQUESTS];
	*slot = *request;
	slot->bytes = 0;
	for (DWORD i = 0; i < request->buffers; i++)
		slot->bytes += request->buffer[i].len;
	request->overlapped->Internal = STATUS_PENDING;
	return WSA_IO_PENDING;
}

static int
post_data(SOCKET s, enum fake_call_kind kind, LPWSABUF buffers, DWORD n, LPWSAOVERLAPPED overlapped,
	  LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);
	struct request request = {.kind = kind, .overlapped = overlapped, .buffers = n};
	int error;

	if (endpoint == NULL)
		return SOCKET_ERROR;
	for (DWORD i = 0; i < n && i < BUFFERS_MAX; i++)
		request.buffer[i] = buffers[i];
	error = post(endpoint, kind == FAKE_SEND ? &endpoint->work : &endpoint->recvs, &request,
		     kind == FAKE_SEND ? MEM_READ : MEM_WRITE);
	if (error == WSA_IO_PENDING)
		fake_record(kind, s);
	return fake_refuse(error, lpErrno);
}

static int WSPAPI
fake_send(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD sent, DWORD flags,
	  LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine,
	  LPWSATHREADID thread, LPINT lpErrno)
{
	ULONG bytes = 0;

	(void)sent;
	(void)thread;
	assert_true(routine == NULL && flags == 0);
	for (DWORD i = 0; i < n; i++)
		bytes += buffers[i].len;
	if (bytes > FAKE_MESSAGE_MAX)
		return fake_refuse(WSAEMSGSIZE, lpErrno);
	return post_data(s, FAKE_SEND, buffers, n, overlapped, lpErrno);
}

static int WSPAPI
fake_recv(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD received, LPDWORD flags,
	  LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine,
	  LPWSATHREADID thread, LPINT lpErrno)
{
	(void)received;
	(void)thread;
	assert_true(routine == NULL && (flags == NULL || *flags == 0));
	return post_data(s, FAKE_RECV, buffers, n, overlapped, lpErrno);
}

static int
post_rdma(SOCKET s, enum fake_call_kind kind, LPWSABUFEX buffers, DWORD n, const void *descriptor,
	  DWORD bytes, DWORD offset, LPWSAOVERLAPPED overlapped, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);
	struct request request = {
		.kind = kind, .overlapped = overlapped, .buffers = n, .offset = offset};
	int error;

	if (endpoint == NULL)
		return SOCKET_ERROR;
	if (bytes != FAKE_DESCRIPTOR_BYTES)
		return fake_refuse(WSAEINVAL, lpErrno);
	memcpy(request.descriptor, descriptor, bytes);
	for (DWORD i = 0; i < n && i < BUFFERS_MAX; i++)
		request.buffer[i] = (WSABUF){.len = buffers[i].len, .buf = buffers[i].buf};
	error = post(endpoint, &endpoint->work, &request,
		     kind == FAKE_RDMA_READ ? MEM_WRITE : MEM_READ);
	if (error == WSA_IO_PENDING)
		fake_record(kind, s);
	return fake_refuse(error, lpErrno);
}

static int WSPAPI
fake_rdma_write(SOCKET s, LPWSABUFEX buffers, DWORD n, LPVOID descriptor, DWORD bytes, DWORD offset,
		LPDWORD written, DWORD flags, LPWSAOVERLAPPED overlapped,
		LPWSAOVERLAPPED_COMPLETION_ROUTINE routine, LPWSATHREADID thread, LPINT lpErrno)
{
	(void)written;
	(void)thread;
	assert_true(routine == NULL && flags == 0);
	return post_rdma(s, FAKE_RDMA_WRITE, buffers, n, descriptor, bytes, offset, overlapped,
			 lpErrno);
}

static int WSPAPI
fake_rdma_read(SOCKET s, LPWSABUFEX buffers, DWORD n, LPVOID descriptor, DWORD bytes, DWORD offset,
	       LPDWORD read, DWORD flags, LPWSAOVERLAPPED overlapped,
	       LPWSAOVERLAPPED_COMPLETION_ROUTINE routine, LPWSATHREADID thread, LPINT lpErrno)
{
	(void)read;
	(void)thread;
	assert_true(routine == NULL && flags == 0);
	return post_rdma(s, FAKE_RDMA_READ, buffers, n, descriptor, bytes, offset, overlapped,
			 lpErrno);
}

static BOOL WSPAPI
fake_result(SOCKET s, LPWSAOVERLAPPED overlapped, LPDWORD bytes, BOOL wait, LPDWORD flags,
	    LPINT lpErrno)
{
	(void)s; /* it may be closed */
	assert_false(wait);
	if (!HasOverlappedIoCompleted(overlapped)) {
		*lpErrno = WSA_IO_INCOMPLETE;
		return FALSE;
	}
	*bytes = (DWORD)overlapped->InternalHigh;
	*flags = 0;
	*lpErrno = (INT)overlapped->Internal;
	return overlapped->Internal == 0;
}

/* ---- memory ---- */

void
fake_drop_memory(const struct endpoint *endpoint)
{
	for (uint32_t i = 0; i < MEMORIES; i++)
		if (fake.memory[i].of == endpoint)
			fake.memory[i].of = NULL;
}

static struct memory *
make_memory(struct endpoint *endpoint, void *base, DWORD bytes, DWORD flags, bool rdma, int *error)
{
	*error = base == NULL                                    ? WSAEFAULT
		 : flags == 0 || (flags & ~(DWORD)MEM_READWRITE) ? WSAEINVAL
		 : endpoint->state != CONNECTED                  ? WSAENOTCONN
								 : WSAENOBUFS;
	if (*error != WSAENOBUFS)
		return NULL;
	for (uint32_t i = 0; i < MEMORIES; i++)
		if (fake.memory[i].of == NULL) {
			fake.memory[i] =
				(struct memory){endpoint, base, bytes, flags, rdma, ++fake.numbers};
			return &fake.memory[i];
		}
	return NULL;
}

static bool
is_used(struct queue *queue, const struct memory *m)
{
	for (uint32_t i = 0; i < queue->count; i++) {
		const struct request *r = &queue->request[(queue->first + i) % REQUESTS];

		for (DWORD k = 0; k < r->buffers; k++)
			if ((uint8_t *)r->buffer[k].buf >= m->base &&
			    (uint8_t *)r->buffer[k].buf < m->base + m->bytes)
				return true;
	}
	return false;
}

static HANDLE WSPAPI
fake_register(SOCKET s, PVOID base, DWORD bytes, DWORD flags, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);
	struct memory *m;

	if (endpoint == NULL)
		return NULL;
	m = make_memory(endpoint, base, bytes, flags, false, lpErrno);
	if (m == NULL)
		return NULL;
	fake_record(FAKE_REGISTER, s);
	return m;
}

static int WSPAPI
fake_deregister(SOCKET s, HANDLE handle, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);
	struct memory *m = handle;

	if (endpoint == NULL)
		return SOCKET_ERROR;
	if (m < fake.memory || m >= fake.memory + MEMORIES || m->of != endpoint || m->rdma ||
	    is_used(&endpoint->work, m) || is_used(&endpoint->recvs, m))
		return fake_refuse(WSAEINVAL, lpErrno);
	m->of = NULL;
	fake_record(FAKE_DEREGISTER, s);
	return 0;
}

static int WSPAPI
fake_register_rdma(SOCKET s, PVOID base, DWORD bytes, DWORD flags, LPVOID descriptor,
		   LPDWORD length, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);
	struct memory *m;

	if (endpoint == NULL)
		return SOCKET_ERROR;
	if (*length < FAKE_DESCRIPTOR_BYTES) {
		*length = FAKE_DESCRIPTOR_BYTES;
		return fake_refuse(WSAEFAULT, lpErrno);
	}
	m = make_memory(endpoint, base, bytes, flags, true, lpErrno);
	if (m == NULL)
		return SOCKET_ERROR;
	*length = FAKE_DESCRIPTOR_BYTES;
	memset(descriptor, 0xfa, FAKE_DESCRIPTOR_BYTES);
	memcpy(descriptor, &m->number, sizeof(m->number));
	fake_record(FAKE_REGISTER_RDMA, s);
	return 0;
}

static bool
is_target(struct endpoint *peer, const struct memory *m)
{
	if (peer == NULL)
		return false;
	for (uint32_t i = 0; i < peer->work.count; i++) {
		const struct request *r = &peer->work.request[(peer->work.first + i) % REQUESTS];

		if (r->kind != FAKE_SEND &&
		    memcmp(r->descriptor, &m->number, sizeof(m->number)) == 0)
			return true;
	}
	return false;
}

static int WSPAPI
fake_deregister_rdma(SOCKET s, LPVOID descriptor, DWORD length, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);
	struct memory *m;

	if (endpoint == NULL)
		return SOCKET_ERROR;
	m = length == FAKE_DESCRIPTOR_BYTES ? fake_rdma_memory(endpoint, descriptor) : NULL;
	if (m == NULL || is_target(endpoint->peer, m))
		return fake_refuse(WSAEINVAL, lpErrno);
	m->of = NULL;
	fake_record(FAKE_DEREGISTER_RDMA, s);
	return 0;
}

/* ---- options ---- */

static int WSPAPI
fake_getsockopt(SOCKET s, int level, int name, char *value, LPINT bytes, LPINT lpErrno)
{
	DWORD number = name == SO_MAX_MSG_SIZE    ? FAKE_MESSAGE_MAX
		       : name == SO_MAX_RDMA_SIZE ? RDMA_MAX
						  : RDMA_THRESHOLD;

	if (fake_endpoint(s, lpErrno) == NULL)
		return SOCKET_ERROR;
	if (level != SOL_SOCKET ||
	    (name != SO_MAX_MSG_SIZE && name != SO_MAX_RDMA_SIZE && name != SO_RDMA_THRESHOLD_SIZE))
		return fake_refuse(WSAENOPROTOOPT, lpErrno);
	if (*bytes < (INT)sizeof(number))
		return fake_refuse(WSAEFAULT, lpErrno);
	memcpy(value, &number, sizeof(number));
	*bytes = sizeof(number);
	return 0;
}

static int WSPAPI
fake_setsockopt(SOCKET s, int level, int name, const char *value, int bytes, LPINT lpErrno)
{
	(void)level;
	(void)name;
	(void)value;
	(void)bytes;
	return fake_endpoint(s, lpErrno) != NULL ? 0 : SOCKET_ERROR;
}

static BOOL WSPAPI
fake_qos(SOCKET s, LPWSABUF name, LPQOS qos, LPINT lpErrno)
{
	(void)s;
	(void)name;
	(void)qos;
	*lpErrno = WSAEOPNOTSUPP;
	return FALSE;
}

/* The addresses of functions as an extension's caller has them: any function pointer. */
static SAN_NEVER_CALLED
extension(const GUID *id)
{
	static const struct {
		GUID id;
		SAN_NEVER_CALLED function;
	} extensions[] = {
		{WSAID_REGISTERMEMORY, (SAN_NEVER_CALLED)fake_register},
		{WSAID_DEREGISTERMEMORY, (SAN_NEVER_CALLED)fake_deregister},
		{WSAID_REGISTERRDMAMEMORY, (SAN_NEVER_CALLED)fake_register_rdma},
		{WSAID_DEREGISTERRDMAMEMORY, (SAN_NEVER_CALLED)fake_deregister_rdma},
		{WSAID_RDMAWRITE, (SAN_NEVER_CALLED)fake_rdma_write},
		{WSAID_RDMAREAD, (SAN_NEVER_CALLED)fake_rdma_read}, /* the last one: optional */
	};
	uint32_t n = (uint32_t)(sizeof(extensions) / sizeof(extensions[0]));

	for (uint32_t i = 0; i < (fake.options.reads ? n : n - 1); i++)
		if (memcmp(&extensions[i].id, id, sizeof(*id)) == 0)
			return extensions[i].function;
	return NULL;
}

static int WSPAPI
fake_ioctl(SOCKET s, DWORD code, LPVOID in, DWORD in_bytes, LPVOID out, DWORD out_bytes,
	   LPDWORD returned, LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine,
	   LPWSATHREADID thread, LPINT lpErrno)
{
	SAN_NEVER_CALLED function;

	(void)overlapped;
	(void)routine;
	(void)thread;
	if (fake_endpoint(s, lpErrno) == NULL)
		return SOCKET_ERROR;
	if (code != SIO_GET_EXTENSION_FUNCTION_POINTER)
		return fake_refuse(WSAEOPNOTSUPP, lpErrno);
	if (in_bytes < sizeof(GUID) || out_bytes < sizeof(function))
		return fake_refuse(WSAEFAULT, lpErrno);
	function = extension(in);
	if (function == NULL)
		return fake_refuse(WSAEOPNOTSUPP, lpErrno);
	memcpy(out, &function, sizeof(function));
	*returned = sizeof(function);
	return 0;
}

static int WSPAPI
fake_cleanup(LPINT lpErrno)
{
	(void)lpErrno;
	return 0;
}

/* ---- the table ---- */

void
fake_fill_data(WSPPROC_TABLE *out)
{
	out->lpWSPCleanup = fake_cleanup;
	out->lpWSPGetOverlappedResult = fake_result;
	out->lpWSPGetSockOpt = fake_getsockopt;
	out->lpWSPGetQOSByName = fake_qos;
	out->lpWSPIoctl = fake_ioctl;
	out->lpWSPRecv = fake_recv;
	out->lpWSPSend = fake_send;
	out->lpWSPSetSockOpt = fake_setsockopt;
}
