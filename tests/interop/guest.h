/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of the guest's end of an interoperability test share: one verbs device, its memory
 * and its queue pairs, each known to the driver by a small number.
 * Declarations only. Start with struct guest.
 */
#ifndef INTEROP_GUEST_H
#define INTEROP_GUEST_H

#include <infiniband/verbs.h>

#include "lines.h"
#include "memory.h"

enum {
	GUEST_QPS = 64,
	GUEST_MWS = 16,
};

struct guest {
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct guest_qp {
		struct ibv_qp *qp;
		struct ibv_cq *send_cq, *recv_cq;
		int gid; /* its index, of the family of the peer */
		uint32_t psn;
	} qp[GUEST_QPS];
	struct ibv_mr *mr[AREAS];
	struct ibv_mw *mw[GUEST_MWS];
};

extern struct guest guest;

/** The queue pair that the command names; NULL: it names none, and was answered so. */
struct guest_qp *guest_qp_of(const struct line *line);

/** Answer "ok", or with an error: what an error number means. */
void guest_answer(int number);

/** IBV_ACCESS_* of the bits that the driver speaks in (PLX_ACCESS_*). */
unsigned int guest_access(uint64_t bits);

/* work */
void guest_send(const struct line *line);
void guest_recv(const struct line *line);
void guest_bind(const struct line *line);
void guest_reap(const struct line *line);

#endif
