/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A SAN service provider in memory: any number of processes in this one, with their hosts and the
 * network between them. It records each call, and fails the test when a call breaks the contract of
 * san_provider.h. Nothing completes within a call: fake_run() is the network.
 * Start with fake_begin(), then fake_process() and fake_as().
 */
#ifndef PLX_TEST_SAN_FAKE_H
#define PLX_TEST_SAN_FAKE_H

#include <stdbool.h>

#include "test.h"

#include "san_provider.h"

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

struct fake_options {
	bool reads;           /* it has WSPRdmaRead() */
	bool same_descriptor; /* what comes back to a process has the descriptor that it had */
};

void fake_begin(const struct fake_options *options);
/** Fails the test if a socket, memory or a token is left. */
void fake_end(void);

/** An address of the network: others are WSAEHOSTUNREACH. */
void fake_host(ULONG address);

/** Load the provider into a process. */
void fake_process(DWORD process, const WSPUPCALLTABLEEX *upcalls, WSPPROC_TABLE *out);
/** Calls from now on are of this process. */
void fake_as(DWORD process);
/** End a process without a call: all that it has is gone, and peers are told. What it calls later
 * returns WSAENETDOWN: a test need not stop it in the midst. */
void fake_kill(DWORD process);
/** ... right after its n-th call from now that is recorded. n: 1 .. */
void fake_kill_after(DWORD process, uint32_t n);
bool fake_is_killed(DWORD process);

/** Complete what can be. Returns: false: nothing could */
bool fake_run(void);
/** ... until nothing can be. */
void fake_settle(void);

/** What was called, in order. */
const struct fake_call *fake_calls(uint32_t *n);
void fake_forget_calls(void);

#endif
