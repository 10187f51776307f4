/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The processes of a test of providers. Start with stage_connect().
 */
#include "stage.h"

enum {
	HANDLE_OF = 5000, /* the switch's handle of a descriptor */
	PORT = 4000,
};

struct stage stage;
const struct fake_options stage_with_reads = {.reads = true};

/* ---- the switch's upcalls ---- */

static SOCKET WSPAPI
create_handle(DWORD entry, DWORD_PTR context, LPINT lpErrno)
{
	(void)entry;
	*lpErrno = WSAENOBUFS;
	if (stage.no_handles)
		return INVALID_SOCKET;
	stage.handles_made++;
	return HANDLE_OF + context;
}

static int WSPAPI
close_handle(SOCKET s, LPINT lpErrno)
{
	(void)s;
	(void)lpErrno;
	stage.handles_closed++;
	return 0;
}

static int WSPAPI
completed(SOCKET s, LPWSAOVERLAPPED overlapped, DWORD status, DWORD bytes, LPINT lpErrno)
{
	(void)lpErrno;
	assert_true(stage.completions < STAGE_COMPLETIONS);
	stage.completion[stage.completions++] = (struct completion){s, overlapped, status, bytes};
	return 0;
}

static BOOL WSPAPI
set_event(WSAEVENT event, LPINT lpErrno)
{
	(void)event;
	(void)lpErrno;
	stage.events_set++;
	return TRUE;
}

static const WSPUPCALLTABLEEX upcalls = {
	.lpWPUCreateSocketHandle = create_handle,
	.lpWPUCloseSocketHandle = close_handle,
	.lpWPUCompleteOverlappedRequest = completed,
	.lpWPUSetEvent = set_event,
	.lpWPUResetEvent = set_event,
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
stage_begin(const struct fake_options *options)
{
	static const DWORD processes[] = {A, A2, B};

	fake_begin(options);
	fake_host(HOST_B);
	stage.completions = stage.handles_made = stage.handles_closed = stage.events_set = 0;
	stage.no_handles = false;
	for (uint32_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++)
		fake_process(processes[i], &upcalls, &stage.call);
}

void
stage_listen(int backlog)
{
	struct sockaddr_in address = address_of(HOST_B);

	fake_as(B);
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

	fake_as(A);
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

	fake_as(A);
	assert_int_equal(stage.call.lpWSPEnumNetworkEvents(s, NULL, &events, &stage.error), 0);
	return events.lNetworkEvents & FD_CONNECT ? events.iErrorCode[FD_CONNECT_BIT]
						  : WSAEWOULDBLOCK;
}

void
stage_connect(const struct fake_options *options)
{
	stage_begin(options);
	stage_listen(2);
	stage.a = stage_connect_to(HOST_B);
	assert_int_equal(stage_result_of(stage.a), WSAEWOULDBLOCK);
	fake_as(B);
	stage.b = stage.call.lpWSPAccept(stage.listener, NULL, NULL, NULL, 0, &stage.error);
	assert_int_not_equal(stage.b, INVALID_SOCKET);
	assert_int_equal(stage_result_of(stage.a), 0);
}

void
stage_close(DWORD process, SOCKET s)
{
	fake_as(process);
	assert_int_equal(stage.call.lpWSPCloseSocket(s, &stage.error), 0);
}

void
stage_end(void)
{
	stage_close(B, stage.listener);
	fake_end();
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

	fake_as(process);
	do_register = (LPFN_WSPREGISTERMEMORY)stage_extension(s, (GUID)WSAID_REGISTERMEMORY);
	return do_register(s, memory, BUFFER, flags, &stage.error);
}

int
stage_recv(DWORD process, SOCKET s, char *memory, ULONG bytes, WSAOVERLAPPED *overlapped)
{
	WSABUF buffer = {.len = bytes, .buf = memory};
	DWORD flags = 0;

	fake_as(process);
	return stage_refused(stage.call.lpWSPRecv(s, &buffer, 1, NULL, &flags, overlapped, NULL,
						  NULL, &stage.error));
}

int
stage_send(DWORD process, SOCKET s, char *memory, ULONG bytes, WSAOVERLAPPED *overlapped)
{
	WSABUF buffer = {.len = bytes, .buf = memory};

	fake_as(process);
	return stage_refused(
		stage.call.lpWSPSend(s, &buffer, 1, NULL, 0, overlapped, NULL, NULL, &stage.error));
}

void
stage_assert_completed(const WSAOVERLAPPED *overlapped, DWORD status, DWORD bytes)
{
	for (uint32_t i = 0; i < stage.completions; i++) {
		if (stage.completion[i].overlapped != overlapped)
			continue;
		assert_int_equal(stage.completion[i].error, status);
		assert_int_equal(stage.completion[i].bytes, bytes);
		stage.completion[i].overlapped = NULL; /* once */
		return;
	}
	fail_msg("it has not completed");
}
