/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What cq.c and notify.c ask of each other, and the affinity that both kinds of queues report.
 * It owns no state. Start with struct nd2_notify.
 */
#ifndef PLX_ND2_CQ_H
#define PLX_ND2_CQ_H

#include "nd2.h"

/* Who waits for what, in the order in which they came. */
struct nd2_notify {
	pthread_mutex_t lock;
	struct plx_list waiters; /* struct waiter.node */
	uint32_t armed;          /* kinds that the engine was asked for, and has not told of */
	bool watched;
	bool overrun; /* of no more use */
};

struct nd2_notify *notify_make(struct nd2_cq *cq);
void notify_free(struct nd2_notify *notify);
/** The last Release: who waits is told ND_CANCELED, and the dispatcher is not in here any more. */
void notify_close(struct nd2_cq *cq);

HRESULT STDMETHODCALLTYPE notify_begin(IND2CompletionQueue *face, ULONG type,
				       OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE notify_cancel(IND2CompletionQueue *face);

/* ---- both kinds of receive queues -------------------------------------------------------------
 */

/** As many SGEs as clients use that have asked for fewer (docs/nd2.md, L14). */
static inline uint32_t
nd2_sges_for(ULONG wished, ULONG most)
{
	uint32_t sges = wished > ND2_MIN_SGES ? wished : ND2_MIN_SGES;

	return sges < most ? sges : most;
}

/* ---- affinity.c -------------------------------------------------------------------------------
 */

/** GetNotifyAffinity of both kinds: where the thread may run that ends what waits. In inline mode
 * that is the client's, which asks. Errors: ND_INVALID_PARAMETER (no output) */
HRESULT nd2_affinity_get(struct plx_session *session, USHORT *group, KAFFINITY *affinity);

#endif
