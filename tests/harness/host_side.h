/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One end of a connection at a host in another process (host_process.h), which offers two adapters,
 * "a" and "b", that are joined. Start with host_side_open().
 */
#ifndef PLX_TEST_HOST_SIDE_H
#define PLX_TEST_HOST_SIDE_H

#include "test.h"

#include "host_process.h"
#include "plx_verbs.h"

enum {
	HOST_SIDE_BYTES = 64 * 1024,
};

struct host_side {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	uint8_t *memory; /* [HOST_SIDE_BYTES] */
	struct plx_mr *mr;
	struct plx_cq *cq;
	struct plx_qp *qp;
};

/** For host_process_fork(): the adapters; their addresses are host_side_ip(1) and (2). */
bool host_side_offer(unsigned i, char name[PLX_ADAPTER_NAME_MAX + 1],
		     struct plx_adapter_options *options);
struct plx_ip host_side_ip(unsigned last);
/** Wait until there are no objects of programs at the host. */
void host_side_await_nothing(struct host_process *host);
/** Run tests, with a host that begins before the first and ends after the last, where nothing may
 * be left at it. Returns: as cmocka: how many failed */
int host_side_run(struct host_process *host, const struct CMUnitTest *tests, size_t n);

/** A seat at an adapter, with one of each object. @param name "a" or "b" */
void host_side_open(struct host_side *side, const char *name);
void host_side_close(struct host_side *side);
/** Connect their queue pairs. */
void host_side_join(struct host_side *a, struct host_side *b);
/** Descriptors that this process has. */
unsigned host_side_descriptors(void);
/** WRITE bytes of this value from `a` to `b`, poll for the completion, and compare. */
void host_side_write(struct host_side *a, struct host_side *b, uint8_t seed);

#endif
