/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a program at a host in another process, in small steps: every kind of object and of
 * call, from the open to the close. Tests end the program, or its host, after any of them. A step
 * that fails says where on stderr, and ends the process. Start with program_steps[].
 */
#ifndef PLX_TEST_PROGRAM_STEPS_H
#define PLX_TEST_PROGRAM_STEPS_H

#include <stdio.h>
#include <unistd.h>

#include "plx_verbs.h"

enum {
	PROGRAM_STEPS = 68,
	PROGRAM_PORT = 4242,     /* of the neighbour, at the adapter "b": host_side_ip(2) */
	PROGRAM_OWN_PORT = 4243, /* of the program, at the adapter "a" */
	PROGRAM_BYTES = 1 << 20,
	PROGRAM_DEPTH = 16,
};

/* What one program has. NULL: not made, or destroyed. */
struct program {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	uint8_t *memory;
	struct plx_mr *mr;
	struct plx_mw *mw;
	struct plx_cq *cq;
	struct plx_srq *srq;
	struct plx_qp *qp, *other, *ud;
	struct plx_ah *ah;
	struct plx_event_channel *channel;
	struct plx_connector *connector, *second;
	struct plx_listener *listener;
	struct plx_qp_token token; /* of its queue pair, while it is exported to itself */
};

struct program_step {
	const char *name;
	void (*run)(struct program *p);
};

/* In their order. The neighbour accepts two connections, and has receives for a few messages. */
extern const struct program_step program_steps[PROGRAM_STEPS];

/** A queue pair of the program's domain, on its completion queue. @param srq may be NULL */
struct plx_qp *program_create_qp(struct program *p, enum plx_qp_type type, struct plx_srq *srq);

/* What must hold in a process that is no test itself. */
#define PROGRAM_MUST(condition)                                                         \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

#endif
