/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Three processes of two hosts with the provider in memory: A and A2 of the one that connects, B of
 * the one that listens; and the switch's upcalls, which count. Start with stage_connect().
 */
#ifndef PLX_TEST_SAN_STAGE_H
#define PLX_TEST_SAN_STAGE_H

#include "fake.h"

enum {
	A = 11,
	A2 = 12,
	B = 21,
	BUFFER = 4096, /* [bytes] of each memory */
	STAGE_COMPLETIONS = 64,
};

#define HOST_B 0x0200000a /* 10.0.0.2 */

struct completion {
	SOCKET handle;
	LPWSAOVERLAPPED overlapped;
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

extern const struct fake_options stage_with_reads;

/** Begin without a socket. */
void stage_begin(const struct fake_options *options);
/** B listens. */
void stage_listen(int backlog);
/** A connects. Returns: its socket */
SOCKET stage_connect_to(ULONG host);
/** The result of a connection of A: an error, 0, or WSAEWOULDBLOCK: it is not known. */
int stage_result_of(SOCKET s);
/** Begin with a connection. */
void stage_connect(const struct fake_options *options);
void stage_close(DWORD process, SOCKET s);
/** Close B's listener; nothing must be left. */
void stage_end(void);

SOCKET stage_make(WSAPROTOCOL_INFOW *info);
/** A call has failed. Returns: its error */
int stage_refused(int returned);
/** NULL: the provider does not have it. */
SAN_NEVER_CALLED stage_extension(SOCKET s, GUID id);
HANDLE stage_register(DWORD process, SOCKET s, char *memory, DWORD flags);
/** Returns: the error of the call: WSA_IO_PENDING */
int stage_recv(DWORD process, SOCKET s, char *memory, ULONG bytes, WSAOVERLAPPED *overlapped);
int stage_send(DWORD process, SOCKET s, char *memory, ULONG bytes, WSAOVERLAPPED *overlapped);
/** It has completed by an upcall, once, and so. */
void stage_assert_completed(const WSAOVERLAPPED *overlapped, DWORD status, DWORD bytes);

#endif
