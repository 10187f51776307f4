/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A queue pair for a few messages, with its own registered memory. It knows nothing about the peer.
 * Start with message_qp_create().
 */
#ifndef COMMON_MESSAGE_QP_H
#define COMMON_MESSAGE_QP_H

#include "plx_verbs.h"

struct message_qp {
	struct plx_qp *qp; /* NULL: not created */
	struct plx_cq *cq; /* used by both queues */
	struct plx_mr *mr;
	uint8_t *memory;
	bool has_shared_cq;
};

struct message_qp_options {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_cq *cq; /* shared with others; NULL: create one */
	size_t bytes;      /* size of the memory */
	uint32_t sq_depth, rq_depth;
	uint64_t context;
};

/** Create all parts; the queue pair then accepts receives (INIT).
 * Errors: `why` has the sentence; call message_qp_destroy() even then */
bool message_qp_create(struct message_qp *m, const struct message_qp_options *options,
		       struct plx_why *why);
void message_qp_destroy(struct message_qp *m);

/** Post a receive into part of the memory.
 * @param offset [bytes] */
enum plx_status message_qp_post_recv(struct message_qp *m, uint64_t wr_id, size_t offset,
				     uint32_t bytes);
enum plx_status message_qp_post_send(struct message_qp *m, uint64_t wr_id, size_t offset,
				     uint32_t bytes);

/** Report a failed destroy on stderr.
 * @param what "a queue pair" */
void check_destroyed(enum plx_status status, const char *what);

#endif
