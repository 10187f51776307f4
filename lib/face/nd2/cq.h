/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What cq.c and notify.c share, and the processor affinity that both kinds of queues report. It
 * owns no state. Start with struct nd2_notify.
 */
#ifndef PLX_ND2_CQ_H
#define PLX_ND2_CQ_H

#include "nd2.h"

/* The waiters and the kinds they wait for, in order of arrival. */
struct nd2_notify {
	pthread_mutex_t lock;
	struct plx_list waiters; /* struct waiter.node */
	uint32_t armed;          /* kinds armed in the engine that have not fired yet */
	bool watched;
	bool overrun; /* overrun: unusable */
};

struct nd2_notify *notify_make(struct nd2_cq *cq);
void notify_free(struct nd2_notify *notify);
/** On the last Release, finish all waiters with ND_CANCELED. When this returns, the dispatcher is
 * not in this queue. */
void notify_close(struct nd2_cq *cq);

HRESULT STDMETHODCALLTYPE notify_begin(IND2CompletionQueue *face, ULONG type,
				       OVERLAPPED *overlapped);
HRESULT STDMETHODCALLTYPE notify_cancel(IND2CompletionQueue *face);

/* ---- both kinds of receive queues ---- */

/** Raise a number of SGEs to what clients use that request fewer (docs/nd2.md, L14). */
static inline uint32_t
nd2_sges_for(ULONG wished, ULONG most)
{
	uint32_t sges = wished > ND2_MIN_SGES ? wished : ND2_MIN_SGES;

	return sges < most ? sges : most;
}

/* ---- affinity.c ---- */

/** GetNotifyAffinity of both kinds: where the thread that finishes waits may run. In inline mode
 * that is the calling thread. Errors: ND_INVALID_PARAMETER (no output) */
HRESULT nd2_affinity_get(struct plx_session *session, USHORT *group, KAFFINITY *affinity);

#endif
