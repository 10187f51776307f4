/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fake's sockets: made, connected, closed, duplicated. Start with fake_duplicate().
 */
#include "fake_state.h"

/* ---- sockets ---- */

static struct endpoint *
make_endpoint(void)
{
	for (uint32_t i = 0; i < ENDPOINTS; i++)
		if (fake.endpoint[i].state == FREE) {
			memset(&fake.endpoint[i], 0, sizeof(fake.endpoint[i]));
			fake.endpoint[i].state = FRESH;
			fake.endpoint[i].controller = fake.current;
			return &fake.endpoint[i];
		}
	return NULL;
}

static SOCKET
make_descriptor(struct endpoint *endpoint, LPINT lpErrno)
{
	for (uint32_t i = 0; i < DESCRIPTORS; i++) {
		struct descriptor *d = &fake.descriptor[i];

		if (d->of != NULL)
			continue;
		*d = (struct descriptor){.of = endpoint, .process = fake.current};
		d->handle = fake_upcalls(fake.current)
				    ->lpWPUCreateSocketHandle(CATALOG_ENTRY, i + 1, lpErrno);
		if (d->handle == INVALID_SOCKET) {
			d->of = NULL;
			return INVALID_SOCKET;
		}
		endpoint->descriptors++;
		return i + 1;
	}
	*lpErrno = WSAEMFILE;
	return INVALID_SOCKET;
}

static SOCKET
take_over(DWORD token, LPINT lpErrno)
{
	for (uint32_t i = 0; i < TOKENS; i++) {
		struct endpoint *endpoint = fake.token[i].of;

		if (endpoint == NULL || fake.token[i].token != token ||
		    fake.token[i].process != fake.current)
			continue;
		fake.token[i].of = NULL;
		endpoint->controller = fake.current;
		for (uint32_t k = 0; fake.options.same_descriptor && k < DESCRIPTORS; k++) {
			struct descriptor *d = &fake.descriptor[k];

			if (d->of != endpoint || d->process != fake.current)
				continue;
			d->given = false;
			return k + 1;
		}
		return make_descriptor(endpoint, lpErrno);
	}
	*lpErrno = WSAEINVAL;
	return INVALID_SOCKET;
}

static SOCKET WSPAPI
fake_socket(int af, int type, int protocol, LPWSAPROTOCOL_INFOW info, GROUP g, DWORD flags,
	    LPINT lpErrno)
{
	struct endpoint *endpoint;
	SOCKET s;

	(void)g;
	(void)flags;
	if (af != AF_INET || type != SOCK_STREAM || protocol != IPPROTO_TCP) {
		*lpErrno = af != AF_INET         ? WSAEAFNOSUPPORT
			   : type != SOCK_STREAM ? WSAEPROTOTYPE
						 : WSAEPROTONOSUPPORT;
		return INVALID_SOCKET;
	}
	if (!fake_runs(fake.current)) {
		*lpErrno = WSAENETDOWN;
		return INVALID_SOCKET;
	}
	if (info != NULL && info->dwProviderReserved != 0) {
		s = take_over(info->dwProviderReserved, lpErrno);
	} else {
		endpoint = make_endpoint();
		*lpErrno = WSAENOBUFS;
		s = endpoint != NULL ? make_descriptor(endpoint, lpErrno) : INVALID_SOCKET;
		if (endpoint != NULL && s == INVALID_SOCKET)
			endpoint->state = FREE;
	}
	if (s != INVALID_SOCKET)
		fake_record(FAKE_SOCKET, s);
	return s;
}

static void
drop_tokens(const struct endpoint *endpoint)
{
	for (uint32_t i = 0; i < TOKENS; i++)
		if (fake.token[i].of == endpoint)
			fake.token[i].of = NULL;
}

static void
refuse_backlog(struct endpoint *listener)
{
	for (int i = 0; i < listener->backlog_count; i++) {
		listener->backlog[i]->connect_error = WSAECONNRESET;
		fake_happen(listener->backlog[i], FD_CONNECT);
	}
	listener->backlog_count = 0;
}

static void
leave_backlogs(const struct endpoint *endpoint)
{
	for (uint32_t i = 0; i < ENDPOINTS; i++) {
		struct endpoint *listener = &fake.endpoint[i];
		int kept = 0;

		for (int k = 0; k < listener->backlog_count; k++)
			if (listener->backlog[k] != endpoint)
				listener->backlog[kept++] = listener->backlog[k];
		listener->backlog_count = kept;
	}
}

/* The connection ends; what is left of it goes with the last descriptor. */
void
fake_end_connection(struct endpoint *endpoint)
{
	struct endpoint *peer = endpoint->peer;

	refuse_backlog(endpoint);
	leave_backlogs(endpoint);
	fake_drop_memory(endpoint);
	drop_tokens(endpoint);
	fake_break_off(endpoint, WSA_OPERATION_ABORTED);
	if (peer != NULL) {
		peer->peer = NULL;
		fake_break_off(peer, WSAECONNRESET);
	}
	endpoint->peer = NULL;
	endpoint->state = BROKEN;
}

void
fake_drop_descriptor(struct descriptor *d)
{
	if (--d->of->descriptors == 0)
		d->of->state = FREE;
	d->of = NULL;
}

static int WSPAPI
fake_close(SOCKET s, LPINT lpErrno)
{
	struct descriptor *d = fake_descriptor(s);
	int ignored;

	if (d == NULL)
		return fake_refuse(WSAENOTSOCK, lpErrno);
	fake_record(FAKE_CLOSE, s);
	if (!d->given)
		fake_end_connection(d->of);
	fake_upcalls(fake.current)->lpWPUCloseSocketHandle(d->handle, &ignored);
	fake_drop_descriptor(d);
	return 0;
}

/* ---- connections ---- */

static bool
is_host(ULONG address)
{
	for (uint32_t i = 0; i < fake.hosts; i++)
		if (fake.host[i] == address)
			return true;
	return false;
}

static bool
is_at(const struct endpoint *endpoint, const struct sockaddr_in *address)
{
	return endpoint->address.sin_port == address->sin_port &&
	       (endpoint->address.sin_addr.s_addr == address->sin_addr.s_addr ||
		endpoint->address.sin_addr.s_addr == INADDR_ANY);
}

static struct endpoint *
listener_at(const struct sockaddr_in *address)
{
	for (uint32_t i = 0; i < ENDPOINTS; i++)
		if (fake.endpoint[i].state == LISTENING && is_at(&fake.endpoint[i], address))
			return &fake.endpoint[i];
	return NULL;
}

static int WSPAPI
fake_bind(SOCKET s, const struct sockaddr *name, int bytes, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);
	struct sockaddr_in address;

	if (endpoint == NULL)
		return SOCKET_ERROR;
	if (bytes < (int)sizeof(address))
		return fake_refuse(WSAEFAULT, lpErrno);
	if (endpoint->state != FRESH)
		return fake_refuse(WSAEINVAL, lpErrno);
	memcpy(&address, name, sizeof(address));
	if (address.sin_addr.s_addr != INADDR_ANY && !is_host(address.sin_addr.s_addr))
		return fake_refuse(WSAEADDRNOTAVAIL, lpErrno);
	for (uint32_t i = 0; i < ENDPOINTS; i++)
		if (fake.endpoint[i].state == LISTENING && is_at(&fake.endpoint[i], &address))
			return fake_refuse(WSAEADDRINUSE, lpErrno);
	endpoint->address = address;
	endpoint->state = BOUND;
	fake_record(FAKE_BIND, s);
	return 0;
}

static int WSPAPI
fake_listen(SOCKET s, int backlog, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);

	if (endpoint == NULL)
		return SOCKET_ERROR;
	if (endpoint->state == CONNECTED)
		return fake_refuse(WSAEISCONN, lpErrno);
	if (endpoint->state != BOUND)
		return fake_refuse(WSAEINVAL, lpErrno);
	endpoint->state = LISTENING;
	endpoint->backlog_max = backlog < 1 ? 1 : backlog > BACKLOG_MAX ? BACKLOG_MAX : backlog;
	fake_record(FAKE_LISTEN, s);
	return 0;
}

static int WSPAPI
fake_connect(SOCKET s, const struct sockaddr *name, int bytes, LPWSABUF caller, LPWSABUF callee,
	     LPQOS sqos, LPQOS gqos, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno), *listener;
	struct sockaddr_in address;

	if (endpoint == NULL)
		return SOCKET_ERROR;
	assert_true(caller == NULL && callee == NULL && sqos == NULL && gqos == NULL);
	if (bytes < (int)sizeof(address))
		return fake_refuse(WSAEFAULT, lpErrno);
	if (endpoint->state != FRESH && endpoint->state != BOUND)
		return fake_refuse(endpoint->state == CONNECTED ? WSAEISCONN : WSAEINVAL, lpErrno);
	memcpy(&address, name, sizeof(address));
	fake_record(FAKE_CONNECT, s);
	endpoint->state = CONNECTING;
	listener = listener_at(&address);
	if (!is_host(address.sin_addr.s_addr) || listener == NULL ||
	    listener->backlog_count == listener->backlog_max) {
		endpoint->connect_error = !is_host(address.sin_addr.s_addr) ? WSAEHOSTUNREACH
					  : listener == NULL                ? WSAECONNRESET
									    : WSAECONNREFUSED;
		fake_happen(endpoint, FD_CONNECT);
	} else {
		listener->backlog[listener->backlog_count++] = endpoint;
		fake_happen(listener, FD_ACCEPT);
	}
	return fake_refuse(WSAEWOULDBLOCK, lpErrno);
}

/* The peer has its answer only now. */
static void
answer(struct endpoint *caller, struct endpoint *accepted)
{
	caller->connect_error = accepted != NULL ? 0 : WSAECONNREFUSED;
	if (accepted != NULL) {
		caller->state = accepted->state = CONNECTED;
		caller->peer = accepted;
		accepted->peer = caller;
	}
	fake_happen(caller, FD_CONNECT);
}

static SOCKET WSPAPI
fake_accept(SOCKET s, struct sockaddr *addr, LPINT bytes, LPCONDITIONPROC condition, DWORD_PTR data,
	    LPINT lpErrno)
{
	struct endpoint *listener = fake_endpoint(s, lpErrno), *caller, *accepted;
	SOCKET made = INVALID_SOCKET;

	if (listener == NULL)
		return INVALID_SOCKET;
	if (listener->state != LISTENING || listener->backlog_count == 0) {
		*lpErrno = listener->state != LISTENING ? WSAEINVAL : WSAEWOULDBLOCK;
		return INVALID_SOCKET;
	}
	caller = listener->backlog[0];
	listener->backlog_count--;
	memmove(listener->backlog, listener->backlog + 1,
		sizeof(listener->backlog[0]) * (size_t)listener->backlog_count);
	if (condition != NULL &&
	    condition(NULL, NULL, NULL, NULL, NULL, NULL, NULL, data) != CF_ACCEPT) {
		answer(caller, NULL);
		*lpErrno = WSAECONNREFUSED;
		return INVALID_SOCKET;
	}
	accepted = make_endpoint();
	*lpErrno = WSAENOBUFS;
	if (accepted != NULL)
		made = make_descriptor(accepted, lpErrno);
	if (accepted != NULL && made == INVALID_SOCKET)
		accepted->state = FREE;
	answer(caller, made != INVALID_SOCKET ? accepted : NULL);
	if (made == INVALID_SOCKET)
		return made;
	fake_record(FAKE_ACCEPT, s);
	if (addr != NULL && bytes != NULL && *bytes >= (INT)sizeof(caller->address))
		memcpy(addr, &caller->address, sizeof(caller->address));
	if (listener->backlog_count > 0)
		fake_happen(listener, FD_ACCEPT);
	return made;
}

static int WSPAPI
fake_event_select(SOCKET s, WSAEVENT event, long events, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);

	if (endpoint == NULL)
		return SOCKET_ERROR;
	if (events & ~(FD_CONNECT | FD_ACCEPT))
		return fake_refuse(WSAEINVAL, lpErrno);
	endpoint->selected = events;
	endpoint->event = event;
	if (endpoint->happened & events)
		fake_happen(endpoint, 0);
	return 0;
}

static int WSPAPI
fake_enum_events(SOCKET s, WSAEVENT event, LPWSANETWORKEVENTS out, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);
	int ignored;

	if (endpoint == NULL)
		return SOCKET_ERROR;
	*out = (WSANETWORKEVENTS){.lNetworkEvents = endpoint->happened & endpoint->selected};
	out->iErrorCode[FD_CONNECT_BIT] = endpoint->connect_error;
	endpoint->happened &= ~endpoint->selected;
	if (event != NULL)
		fake_upcalls(fake.current)->lpWPUResetEvent(event, &ignored);
	return 0;
}

/* ---- duplication ---- */

/* S4 */
static void
check_quiet(const struct endpoint *endpoint)
{
	if (endpoint->work.count > 0)
		fail_msg("WSPDuplicateSocket() with %u sends or RDMA under way",
			 endpoint->work.count);
	for (uint32_t i = 0; i < MEMORIES; i++)
		if (fake.memory[i].of == endpoint && fake.memory[i].rdma)
			fail_msg("WSPDuplicateSocket() with RDMA memory registered");
}

static DWORD
make_token(struct endpoint *endpoint, DWORD process)
{
	for (uint32_t i = 0; i < TOKENS; i++) {
		if (fake.token[i].of != NULL)
			continue;
		fake.token[i].of = endpoint;
		fake.token[i].process = process;
		return fake.token[i].token = ++fake.tokens;
	}
	return 0;
}

static int WSPAPI
fake_duplicate(SOCKET s, DWORD process, LPWSAPROTOCOL_INFOW out, LPINT lpErrno)
{
	struct endpoint *endpoint = fake_endpoint(s, lpErrno);
	DWORD token;

	if (endpoint == NULL)
		return SOCKET_ERROR;
	if (endpoint->state != CONNECTED && endpoint->state != LISTENING)
		return fake_refuse(WSAENOTCONN, lpErrno);
	if (!fake_runs(process))
		return fake_refuse(WSAEINVAL, lpErrno);
	check_quiet(endpoint);
	if (endpoint->peer != NULL)
		check_quiet(endpoint->peer);
	token = make_token(endpoint, process);
	if (token == 0)
		return fake_refuse(WSAENOBUFS, lpErrno);
	fake_complete_all(endpoint, &endpoint->recvs, 0);
	fake_drop_memory(endpoint);
	fake_descriptor(s)->given = true;
	endpoint->controller = 0;
	endpoint->selected = 0;
	*out = (WSAPROTOCOL_INFOW){.iAddressFamily = AF_INET,
				   .iSocketType = SOCK_STREAM,
				   .iProtocol = IPPROTO_TCP,
				   .dwProviderReserved = token};
	fake_record(FAKE_DUPLICATE, s);
	return 0;
}

/* ---- the table ---- */

void
fake_fill_sockets(WSPPROC_TABLE *out)
{
	out->lpWSPAccept = fake_accept;
	out->lpWSPBind = fake_bind;
	out->lpWSPCloseSocket = fake_close;
	out->lpWSPConnect = fake_connect;
	out->lpWSPDuplicateSocket = fake_duplicate;
	out->lpWSPEnumNetworkEvents = fake_enum_events;
	out->lpWSPEventSelect = fake_event_select;
	out->lpWSPListen = fake_listen;
	out->lpWSPSocket = fake_socket;
}
