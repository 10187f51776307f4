/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A SAN service provider in memory: any number of processes in this one, with their hosts and the
 * network between them (world.h). It records each call, and fails the test when a call breaks the
 * contract of san_provider.h. Nothing completes within a call: world_run() is the network.
 * Start with world_begin(), then fake_calls().
 */
#ifndef PLX_TEST_SAN_FAKE_H
#define PLX_TEST_SAN_FAKE_H

#include "world.h"

enum {
	FAKE_CALLS_MAX = 4096,
	FAKE_DESCRIPTOR_BYTES = 12, /* of RDMA memory */
	FAKE_MESSAGE_MAX = 4096,    /* SO_MAX_MSG_SIZE */
};

enum fake_call_kind {
	FAKE_SOCKET,
	FAKE_BIND,
	FAKE_LISTEN,
	FAKE_CONNECT,
	FAKE_ACCEPT,
	FAKE_CLOSE,
	FAKE_SEND,
	FAKE_RECV,
	FAKE_RDMA_READ,
	FAKE_RDMA_WRITE,
	FAKE_REGISTER,
	FAKE_DEREGISTER,
	FAKE_REGISTER_RDMA,
	FAKE_DEREGISTER_RDMA,
	FAKE_DUPLICATE,
};

/* A call that did not fail at once. */
struct fake_call {
	enum fake_call_kind kind;
	DWORD process;
	SOCKET s;
};

/** End a process without a call: all that it has is gone, and peers are told. What it calls later
 * returns WSAENETDOWN: a test need not stop it in the midst. */
void fake_kill(DWORD process);
/** ... right after its n-th call from now that is recorded. n: 1 .. */
void fake_kill_after(DWORD process, uint32_t n);
bool fake_is_killed(DWORD process);

/** What was called, in order. */
const struct fake_call *fake_calls(uint32_t *n);
void fake_forget_calls(void);

#endif
