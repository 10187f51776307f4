/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host in a process of its own, for tests of attached programs. It is forked before the test
 * starts an EAL or a thread, and waits until it is wanted. Start with host_process_fork().
 */
#ifndef PLX_TEST_HOST_PROCESS_H
#define PLX_TEST_HOST_PROCESS_H

#include <sys/types.h>

#include "plx_adapter.h"

struct host_process {
	pid_t pid; /* 0: it has ended */
	int go;    /* a byte: begin, then: count; closed: end */
	int ready; /* a byte: it has begun; closed: it could not; then its counts */
	char path[64];
	uint32_t user; /* who else may attach; 0: only ours */
};

/* Options of adapter `i`, and its name. Called in the host. Returns: false: there is none */
typedef bool (*host_adapter_fn)(unsigned i, char name[PLX_ADAPTER_NAME_MAX + 1],
				struct plx_adapter_options *options);

void host_process_fork(struct host_process *host, host_adapter_fn adapter);
/** It opens its adapters, and programs may attach from now on: POLLUX_HOST is set.
 * Returns: false: it could not; it has said why on stderr */
bool host_process_begin(struct host_process *host);
/** How many objects there are at its adapters. */
uint32_t host_process_objects(struct host_process *host);
/** It stops and exits. POLLUX_HOST is not set any more.
 * Returns: whether nothing was left at its adapters */
bool host_process_end(struct host_process *host);

#endif
