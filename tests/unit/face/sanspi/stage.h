/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Three processes of two hosts (world.h): A and A2 of the one that connects, B of
 * the one that listens; and the switch's upcalls, which count. Start with stage_connect().
 */
#ifndef PLX_TEST_SAN_STAGE_H
#define PLX_TEST_SAN_STAGE_H

#include "world.h"

enum {
	A = 11,
	A2 = 12,
	B = 21,
	BUFFER = 4096, /* [bytes] of each memory */
	STAGE_COMPLETIONS = 64,
};

struct completion {
	SOCKET handle;
	LPWSAOVERLAPPED overlapped; /* NULL: it has been asserted */
	DWORD error, bytes;
};

struct stage {
	WSPPROC_TABLE call;
	SOCKET listener, a, b; /* of B; the two ends */
	char a_memory[BUFFER], b_memory[BUFFER];
	int error; /* of the last call */
	struct completion completion[STAGE_COMPLETIONS];
	uint32_t completions, handles_made, handles_closed, events_set;
	bool no_handles; /* WPUCreateSocketHandle() fails */
};
extern struct stage stage;

extern const struct world_options stage_with_reads;

/** Begin without a socket. */
void stage_begin(const struct world_options *options);
/** B listens. */
void stage_listen(int backlog);
/** A connects. Returns: its socket */
SOCKET stage_connect_to(ULONG host);
/** The result of a connection of A: an error, 0, or WSAEWOULDBLOCK: it is not known. */
int stage_result_of(SOCKET s);
/** ... once it is known. */
int stage_await_result(SOCKET s);
/** Begin with a connection. */
void stage_connect(const struct world_options *options);
void stage_close(DWORD process, SOCKET s);
/** Close B's listener; nothing must be left. */
void stage_end(void);

/** B accepts, once there is something to accept. */
SOCKET stage_accept(void);
SOCKET stage_accept_if(LPCONDITIONPROC condition, DWORD_PTR context);
/** How often an event was set. */
uint32_t stage_events_set(void);
SOCKET stage_make(WSAPROTOCOL_INFOW *info);
/** A call has failed. Returns: its error */
int stage_refused(int returned);
/** NULL: the provider does not have it. */
SAN_NEVER_CALLED stage_extension(SOCKET s, GUID id);
HANDLE stage_register(DWORD process, SOCKET s, char *memory, DWORD flags);
/** Returns: the error of the call: WSA_IO_PENDING */
int stage_recv(DWORD process, SOCKET s, char *memory, ULONG bytes, WSAOVERLAPPED *overlapped);
int stage_send(DWORD process, SOCKET s, char *memory, ULONG bytes, WSAOVERLAPPED *overlapped);
/** It completes by an upcall, once, and so. */
void stage_await(const WSAOVERLAPPED *overlapped, DWORD status, DWORD bytes);

/** From process to process: WSPDuplicateSocket(), WSPSocket(). */
WSAPROTOCOL_INFOW stage_give(DWORD from, SOCKET s, DWORD to);
SOCKET stage_take(DWORD process, WSAPROTOCOL_INFOW *info);
/** S7, S8: to and fro; the descriptor of a process is not another socket's meanwhile. */
void stage_come_and_go(bool same_descriptor);

#endif
