/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The processes of a test of providers. Start with stage_connect().
 */
#include <pthread.h>

#include "clock.h"
#include "stage.h"

enum {
	HANDLE_OF = 5000, /* the switch's handle of a descriptor */
	PORT = 4000,
	DUPLICATIONS = 20,
};

struct stage stage;
/* Of what upcalls change, which a provider may make from a thread of its own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
const struct world_options stage_with_reads = {.reads = true};

/* ---- the switch's upcalls ---- */

static SOCKET WSPAPI
create_handle(DWORD entry, DWORD_PTR context, LPINT lpErrno)
{
	(void)entry;
	*lpErrno = WSAENOBUFS;
	if (stage.no_handles)
		return INVALID_SOCKET;
	pthread_mutex_lock(&lock);
	stage.handles_made++;
	pthread_mutex_unlock(&lock);
	return HANDLE_OF + context;
}

static int WSPAPI
close_handle(SOCKET s, LPINT lpErrno)
{
	(void)s;
	(void)lpErrno;
	pthread_mutex_lock(&lock);
	stage.handles_closed++;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int WSPAPI
completed(SOCKET s, LPWSAOVERLAPPED overlapped, DWORD status, DWORD bytes, LPINT lpErrno)
{
	(void)lpErrno;
	pthread_mutex_lock(&lock);
	PLX_ASSERT(stage.completions < STAGE_COMPLETIONS);
	stage.completion[stage.completions++] = (struct completion){s, overlapped, status, bytes};
	pthread_mutex_unlock(&lock);
	return 0;
}

static BOOL WSPAPI
set_event(WSAEVENT event, LPINT lpErrno)
{
	(void)event;
	(void)lpErrno;
	pthread_mutex_lock(&lock);
	stage.events_set++;
	pthread_mutex_unlock(&lock);
	return TRUE;
}

static BOOL WSPAPI
reset_event(WSAEVENT event, LPINT lpErrno)
{
	(void)event;
	(void)lpErrno;
	return TRUE;
}

static const WSPUPCALLTABLEEX upcalls = {
	.lpWPUCreateSocketHandle = create_handle,
	.lpWPUCloseSocketHandle = close_handle,
	.lpWPUCompleteOverlappedRequest = completed,
	.lpWPUSetEvent = set_event,
	.lpWPUResetEvent = reset_event,
};

/* ---- set-up ---- */

SOCKET
stage_make(WSAPROTOCOL_INFOW *info)
{
	return stage.call.lpWSPSocket(AF_INET, SOCK_STREAM, IPPROTO_TCP, info, 0,
				      WSA_FLAG_OVERLAPPED, &stage.error);
}

int
stage_refused(int returned)
{
	assert_int_equal(returned, SOCKET_ERROR);
	return stage.error;
}

static struct sockaddr_in
address_of(ULONG host)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = PORT};

	address.sin_addr.s_addr = host;
	return address;
}

void
stage_begin(const struct world_options *options)
{
	world_begin(options);
	stage.completions = stage.handles_made = stage.handles_closed = stage.events_set = 0;
	stage.no_handles = false;
	world_process(A, WORLD_HOST_A, &upcalls, &stage.call);
	world_process(A2, WORLD_HOST_A, &upcalls, &stage.call);
	world_process(B, WORLD_HOST_B, &upcalls, &stage.call);
}

void
stage_listen(int backlog)
{
	struct sockaddr_in address = address_of(WORLD_HOST_B);

	world_as(B);
	stage.listener = stage_make(NULL);
	assert_int_equal(stage.call.lpWSPBind(stage.listener, (struct sockaddr *)&address,
					      sizeof(address), &stage.error),
			 0);
	assert_int_equal(stage.call.lpWSPListen(stage.listener, backlog, &stage.error), 0);
	assert_int_equal(stage.call.lpWSPEventSelect(stage.listener, (WSAEVENT)&stage.listener,
						     FD_ACCEPT, &stage.error),
			 0);
}

SOCKET
stage_connect_to(ULONG host)
{
	struct sockaddr_in address = address_of(host);
	SOCKET s;

	world_as(A);
	s = stage_make(NULL);
	assert_int_equal(
		stage.call.lpWSPEventSelect(s, (WSAEVENT)&stage.a, FD_CONNECT, &stage.error), 0);
	assert_int_equal(stage_refused(stage.call.lpWSPConnect(s, (struct sockaddr *)&address,
							       sizeof(address), NULL, NULL, NULL,
							       NULL, &stage.error)),
			 WSAEWOULDBLOCK);
	return s;
}

int
stage_result_of(SOCKET s)
{
	WSANETWORKEVENTS events;

	world_as(A);
	assert_int_equal(stage.call.lpWSPEnumNetworkEvents(s, NULL, &events, &stage.error), 0);
	return events.lNetworkEvents & FD_CONNECT ? events.iErrorCode[FD_CONNECT_BIT]
						  : WSAEWOULDBLOCK;
}

int
stage_await_result(SOCKET s)
{
	int error = WSAEWOULDBLOCK;

	test_until((error = stage_result_of(s)) != WSAEWOULDBLOCK, world_run());
	return error;
}

SOCKET
stage_accept_if(LPCONDITIONPROC condition, DWORD_PTR context)
{
	SOCKET s = INVALID_SOCKET;

	world_as(B);
	stage.error = WSAEWOULDBLOCK;
	test_until((s = stage.call.lpWSPAccept(stage.listener, NULL, NULL, condition, context,
					       &stage.error)) != INVALID_SOCKET ||
			   stage.error != WSAEWOULDBLOCK,
		   world_run());
	return s;
}

SOCKET
stage_accept(void)
{
	return stage_accept_if(NULL, 0);
}

uint32_t
stage_events_set(void)
{
	uint32_t n;

	pthread_mutex_lock(&lock);
	n = stage.events_set;
	pthread_mutex_unlock(&lock);
	return n;
}

void
stage_connect(const struct world_options *options)
{
	stage_begin(options);
	stage_listen(2);
	stage.a = stage_connect_to(WORLD_HOST_B);
	assert_int_equal(stage_result_of(stage.a), WSAEWOULDBLOCK);
	stage.b = stage_accept();
	assert_int_not_equal(stage.b, INVALID_SOCKET);
	assert_int_equal(stage_await_result(stage.a), 0);
}

void
stage_close(DWORD process, SOCKET s)
{
	world_as(process);
	assert_int_equal(stage.call.lpWSPCloseSocket(s, &stage.error), 0);
}

void
stage_end(void)
{
	stage_close(B, stage.listener);
	world_end();
	assert_int_equal(stage.handles_made, stage.handles_closed);
}

/* ---- requests ---- */

SAN_NEVER_CALLED
stage_extension(SOCKET s, GUID id)
{
	SAN_NEVER_CALLED function = NULL;
	DWORD bytes;

	if (stage.call.lpWSPIoctl(s, SIO_GET_EXTENSION_FUNCTION_POINTER, &id, sizeof(id), &function,
				  sizeof(function), &bytes, NULL, NULL, NULL, &stage.error) != 0) {
		assert_int_equal(stage.error, WSAEOPNOTSUPP);
		return NULL;
	}
	return function;
}

HANDLE
stage_register(DWORD process, SOCKET s, char *memory, DWORD flags)
{
	LPFN_WSPREGISTERMEMORY do_register;

	world_as(process);
	do_register = (LPFN_WSPREGISTERMEMORY)stage_extension(s, (GUID)WSAID_REGISTERMEMORY);
	return do_register(s, memory, BUFFER, flags, &stage.error);
}

int
stage_recv(DWORD process, SOCKET s, char *memory, ULONG bytes, WSAOVERLAPPED *overlapped)
{
	WSABUF buffer = {.len = bytes, .buf = memory};
	DWORD flags = 0;

	world_as(process);
	return stage_refused(stage.call.lpWSPRecv(s, &buffer, 1, NULL, &flags, overlapped, NULL,
						  NULL, &stage.error));
}

int
stage_send(DWORD process, SOCKET s, char *memory, ULONG bytes, WSAOVERLAPPED *overlapped)
{
	WSABUF buffer = {.len = bytes, .buf = memory};

	world_as(process);
	return stage_refused(
		stage.call.lpWSPSend(s, &buffer, 1, NULL, 0, overlapped, NULL, NULL, &stage.error));
}

static bool
take(const WSAOVERLAPPED *overlapped, struct completion *out)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < stage.completions && !found; i++) {
		found = stage.completion[i].overlapped == overlapped;
		*out = stage.completion[i];
		if (found)
			stage.completion[i].overlapped = NULL; /* once */
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void
stage_await(const WSAOVERLAPPED *overlapped, DWORD status, DWORD bytes)
{
	struct completion completion;

	test_until(take(overlapped, &completion), world_run());
	assert_int_equal(completion.error, status);
	assert_int_equal(completion.bytes, bytes);
}

/* ---- from process to process ---- */

WSAPROTOCOL_INFOW
stage_give(DWORD from, SOCKET s, DWORD to)
{
	WSAPROTOCOL_INFOW info;

	world_as(from);
	assert_int_equal(stage.call.lpWSPDuplicateSocket(s, world_id(to), &info, &stage.error), 0);
	assert_int_not_equal(info.dwProviderReserved, 0);
	return info;
}

SOCKET
stage_take(DWORD process, WSAPROTOCOL_INFOW *info)
{
	world_as(process);
	return stage_make(info);
}

void
stage_come_and_go(bool same_descriptor)
{
	const struct world_options options = {.reads = true, .same_descriptor = same_descriptor};
	SOCKET mine, theirs = INVALID_SOCKET, other;
	WSAPROTOCOL_INFOW info;
	uint32_t made;

	stage_connect(&options);
	mine = stage.a;
	made = stage.handles_made;
	for (uint32_t i = 0; i < DUPLICATIONS; i++) {
		SOCKET before = theirs;

		info = stage_give(A, mine, A2);
		world_as(A);
		other = stage_make(NULL);
		assert_int_not_equal(other, mine);
		stage_close(A, other);
		theirs = stage_take(A2, &info);
		if (i > 0 && same_descriptor)
			assert_int_equal(theirs, before);
		if (i > 0 && !same_descriptor)
			stage_close(A2, before);
		info = stage_give(A2, theirs, A);
		before = mine;
		mine = stage_take(A, &info);
		if (same_descriptor)
			assert_int_equal(mine, stage.a);
		else
			stage_close(A, before);
	}
	made = stage.handles_made - made - DUPLICATIONS; /* without those of the other sockets */
	assert_int_equal(made, same_descriptor ? 1 : 2 * DUPLICATIONS);
	stage_close(A, mine);
	stage_close(A2, theirs);
	stage_close(B, stage.b);
	stage_end();
}
