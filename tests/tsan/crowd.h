/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The crowd's fixture: two engines, two workers, ports and a buffer pool on our own rings, 64 queue
 * pairs, and memory registered for the peer. Start with crowd_open().
 */
#ifndef PLX_TEST_CROWD_H
#define PLX_TEST_CROWD_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine_pair.h"
#include "plx_ring.h"

enum {
	QPS = 64,
	RESIDENTS = 4,
	CQ_DEPTH = 1 << 16,
	SHARED_AT = 4096, /* where all write to */
	INBOX_AT = 8192,  /* where all receives end */
	LENT_BYTES = 3000,
};

/* One application thread, with a connection that only it uses. */
struct resident {
	pthread_t thread;
	uint32_t number;
	struct plx_cq *cq[2];
	struct plx_qp *qp[2];
	uint8_t *lent; /* [LENT_BYTES] on side 1 */
};

struct crowd {
	struct pair pair;
	struct rte_ring *wire[2]; /* towards each side */
	struct rte_rcu_qsbr *rcu[2];
	enum plx_idle idle;
	struct plx_worker *worker[2];
	struct plx_qp *qp[2][QPS];
	pthread_mutex_t table; /* serialises registrations */
	uint64_t end;
	atomic_uint posted, reaped, fired, lent, wrong;
};

void crowd_open(struct crowd *crowd);
void crowd_close(struct crowd *crowd);
void crowd_settle_in(struct crowd *crowd, struct resident *me);
void crowd_move_out(struct crowd *crowd, struct resident *me);

/** Register memory at side 1, have it written from side 0, deregister it, and see that nobody
 * touches it any more. Returns: whether all went well */
bool crowd_lend_memory(struct crowd *crowd, struct resident *me, struct plx_prng *prng);

#endif
