/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What tests of SAN service providers stand on: processes of two hosts, all in this process, each
 * with a provider loaded, and a network. There are two: fake.c, in memory, and
 * ../sanqp/queue_pairs.c, with Pollux's provider. Start with world_begin().
 */
#ifndef PLX_TEST_SAN_WORLD_H
#define PLX_TEST_SAN_WORLD_H

#include <stdbool.h>

#include "plx_base.h"
#include "test.h"

#include <san_provider.h>

enum {
	WORLD_DESCRIPTOR_MAX = 32, /* [bytes] of RDMA memory */
};

/* Network order. */
#define WORLD_HOST_A    0x01004f0au /* 10.79.0.1 */
#define WORLD_HOST_B    0x02004f0au
#define WORLD_HOST_NONE 0x63004f0au /* of the same network, where nobody is */

struct world_options {
	bool reads;           /* the provider has WSPRdmaRead() */
	bool same_descriptor; /* what comes back to a process has the descriptor that it had */
};

/** @param options the provider in memory alone has others than both */
void world_begin(const struct world_options *options);
/** Fails the test if a socket, memory or a token is left. */
void world_end(void);

/** Load the provider into a process of a host. */
void world_process(DWORD process, ULONG host, const WSPUPCALLTABLEEX *upcalls, WSPPROC_TABLE *out);
/** Calls from now on are of this process. */
void world_as(DWORD process);
/** How WSPDuplicateSocket() names it. */
DWORD world_id(DWORD process);

/** Let the network have its turn. Returns: false: it has nothing to do, and all has completed that
 * can */
bool world_run(void);
/** ... until then. */
void world_settle(void);

/** Run tests in it. Returns: as cmocka: how many failed */
#define WORLD_RUN(tests) world_run_tests(tests, PLX_COUNT_OF(tests))
int world_run_tests(const struct CMUnitTest *tests, size_t n);

#endif
