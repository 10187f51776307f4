/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posts: translate an ND2 request into one of plx_verbs.h; the array of SGEs is passed on
 * unchanged.
 * A refused post changes nothing and has no completion. The engine checks tokens, bounds and
 * rights, and reports violations as completions (docs/nd2.md, Requests). Only Bind takes locks,
 * allocates or makes system calls. Start with post().
 */
#include "qp.h"

#include <arpa/inet.h>

/* An array of ND2_SGE is an array of struct plx_sge. */
_Static_assert(sizeof(ND2_SGE) == sizeof(struct plx_sge), "SGEs are as long");
_Static_assert(offsetof(ND2_SGE, Buffer) == offsetof(struct plx_sge, va), "where they begin");
_Static_assert(offsetof(ND2_SGE, BufferLength) == offsetof(struct plx_sge, length), "their length");
_Static_assert(offsetof(ND2_SGE, MemoryRegionToken) == offsetof(struct plx_sge, key), "their key");
_Static_assert(sizeof(((ND2_SGE *)NULL)->Buffer) == sizeof(((struct plx_sge *)NULL)->va),
	       "a pointer is an address");
_Static_assert(sizeof(UINT32) == sizeof(struct plx_key), "a token is a key");

#define QUEUE_FLAGS (ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE)
#define SEND_FLAGS  (QUEUE_FLAGS | ND_OP_FLAG_SEND_AND_SOLICIT_EVENT | ND_OP_FLAG_INLINE)
#define WRITE_FLAGS (QUEUE_FLAGS | ND_OP_FLAG_INLINE)
#define BIND_FLAGS  (QUEUE_FLAGS | ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)
#define INLINE_SGES PLX_INLINE_MAX

static inline const struct plx_sge *
sges_of(const ND2_SGE *sge)
{
	return (const struct plx_sge *)(const void *)sge;
}

#define UP_BY_ONE   (ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE)
#define DOWN_BY_TWO (ND_OP_FLAG_SEND_AND_SOLICIT_EVENT | ND_OP_FLAG_INLINE)
_Static_assert(ND_OP_FLAG_SILENT_SUCCESS << 1 == PLX_WR_UNSIGNALED, "a flag of ours, moved");
_Static_assert(ND_OP_FLAG_READ_FENCE << 1 == PLX_WR_FENCE, "so is this one");
_Static_assert(ND_OP_FLAG_SEND_AND_SOLICIT_EVENT >> 2 == PLX_WR_SOLICITED, "and this one");
_Static_assert(ND_OP_FLAG_INLINE >> 2 == PLX_WR_INLINE, "and the last");

/* Each flag is one of plx_verbs.h, shifted. */
static inline uint8_t
flags_of(ULONG flags)
{
	return (uint8_t)((flags & UP_BY_ONE) << 1 | (flags & DOWN_BY_TWO) >> 2);
}

/* ---- refusals ---- */

static inline bool
was_connected(struct nd2_qp *qp)
{
	return atomic_load_explicit(&qp->phase, memory_order_acquire) == ND2_QP_CONNECTED;
}

/* Enforce the queue's inline limit to the byte: the queue below may have more room. */
static bool
fits_inline(const struct nd2_qp *qp, const ND2_SGE *sge, ULONG n)
{
	uint64_t bytes = 0;

	for (ULONG i = 0; i < n; i++)
		bytes += sge[i].BufferLength;
	return bytes <= qp->inline_bytes;
}

static HRESULT
check_sges(const struct nd2_qp *qp, const ND2_SGE *sge, ULONG n, ULONG flags)
{
	if (plx_unlikely(n > 0 && sge == NULL))
		return ND_INVALID_PARAMETER_2;
	if (plx_likely(!(flags & ND_OP_FLAG_INLINE)))
		return plx_likely(n <= qp->max_initiator_sges) ? ND_SUCCESS : ND_DATA_OVERRUN;
	if (n > INLINE_SGES)
		return ND_DATA_OVERRUN;
	return fits_inline(qp, sge, n) ? ND_SUCCESS : ND_BUFFER_OVERFLOW;
}

/* Statuses that a post reports differently from other calls. */
static PLX_COLD HRESULT
refusal(enum plx_status why)
{
	switch (why) {
	case PLX_FULL:
		return ND_NO_MORE_ENTRIES;
	case PLX_STATE: /* accepted, but the peer has not confirmed it yet */
		return ND_CONNECTION_INVALID;
	case PLX_INVALID: /* a Read, but the peer allows none */
		return ND_INVALID_DEVICE_REQUEST;
	case PLX_OK:
	case PLX_TOO_LONG:
	case PLX_TOO_MANY_SGES:
	case PLX_NO_KEY:
	case PLX_DENIED:
	case PLX_BUSY:
	case PLX_AGAIN:
	case PLX_TIMEOUT:
	case PLX_UNREACHABLE:
	case PLX_NO_MEMORY:
	case PLX_NO_DEVICE:
	case PLX_CONFIG:
	case PLX_GONE:
	case PLX_STATUS_COUNT:
		break;
	}
	return nd2_call_status(why);
}

/* ---- requests of the initiator queue ---- */

/* The parameters in which the methods differ; keys as in plx_verbs.h. */
struct request {
	enum plx_wr_op op;
	void *context;
	UINT64 address;
	UINT32 rkey, inv_key;
};

/* A SEND or WRITE of one SGE is what most clients post. */
static inline bool
is_usual(const struct request *request, ULONG n)
{
	return (request->op == PLX_WR_SEND || request->op == PLX_WR_WRITE) && plx_likely(n == 1);
}

static inline HRESULT
post_usual(struct nd2_qp *qp, const struct request *request, const ND2_SGE *sge, ULONG flags)
{
	enum plx_status why = plx_post_one(qp->qp, PLX_WR(request->op, flags_of(flags)),
					   (uintptr_t)request->context, sges_of(sge),
					   request->address, (struct plx_key){request->rkey});

	return plx_likely(why == PLX_OK) ? ND_SUCCESS : refusal(why);
}

/* Store each field on its own: a load that spans two would wait until both stores have left the
 * core. */
static inline HRESULT
pass_on(struct nd2_qp *qp, const struct request *request, const ND2_SGE *sge, ULONG n, ULONG flags)
{
	const struct plx_send_wr wr = {
		.wr_id = (uintptr_t)request->context,
		.op = (uint8_t)request->op,
		.flags = flags_of(flags),
		.sges = (uint16_t)n,
		.inv_key = {request->inv_key},
		.sge = sges_of(sge),
		.remote_va = request->address,
		.rkey = {request->rkey},
	};
	enum plx_status why;

	return plx_likely(plx_post_send(qp->qp, &wr, 1, &why) == 1) ? ND_SUCCESS : refusal(why);
}

static inline HRESULT
post(struct nd2_qp *qp, const struct request *request, const ND2_SGE *sge, ULONG n, ULONG flags)
{
	HRESULT status = check_sges(qp, sge, n, flags);

	if (plx_unlikely(status != ND_SUCCESS))
		return status;
	if (plx_unlikely(!was_connected(qp)))
		return ND_CONNECTION_INVALID;
	return is_usual(request, n) ? post_usual(qp, request, sge, flags)
				    : pass_on(qp, request, sge, n, flags);
}

PLX_HOT HRESULT STDMETHODCALLTYPE
post_send(IND2QueuePair *face, void *context, const ND2_SGE *sge, ULONG n, ULONG flags)
{
	const struct request request = {.op = PLX_WR_SEND, .context = context};

	if (plx_unlikely(flags & ~(ULONG)SEND_FLAGS))
		return ND_INVALID_PARAMETER_4;
	return post(nd2_qp_of(face), &request, sge, n, flags);
}

PLX_HOT HRESULT STDMETHODCALLTYPE
post_read(IND2QueuePair *face, void *context, const ND2_SGE *sge, ULONG n, UINT64 address,
	  UINT32 token, ULONG flags)
{
	const struct request request = {
		.op = PLX_WR_READ,
		.context = context,
		.address = address,
		.rkey = ntohl(token),
	};

	if (plx_unlikely(flags & ~(ULONG)QUEUE_FLAGS))
		return ND_INVALID_PARAMETER_6;
	return post(nd2_qp_of(face), &request, sge, n, flags);
}

PLX_HOT HRESULT STDMETHODCALLTYPE
post_write(IND2QueuePair *face, void *context, const ND2_SGE *sge, ULONG n, UINT64 address,
	   UINT32 token, ULONG flags)
{
	const struct request request = {
		.op = PLX_WR_WRITE,
		.context = context,
		.address = address,
		.rkey = ntohl(token),
	};

	if (plx_unlikely(flags & ~(ULONG)WRITE_FLAGS))
		return ND_INVALID_PARAMETER_6;
	return post(nd2_qp_of(face), &request, sge, n, flags);
}

HRESULT STDMETHODCALLTYPE
post_invalidate(IND2QueuePair *face, void *context, IUnknown *window, ULONG flags)
{
	struct nd2_qp *qp = nd2_qp_of(face);
	struct nd2_mw *mw = nd2_object_find(&nd2_mw_kind, qp->object.adapter, window);
	struct request request = {.op = PLX_WR_LOCAL_INV, .context = context};

	if (mw == NULL)
		return ND_INVALID_PARAMETER_2;
	if (flags & ~(ULONG)QUEUE_FLAGS)
		return ND_INVALID_PARAMETER_3;
	/* 0 before the first Bind: a key that is never assigned. */
	request.inv_key = ntohl(atomic_load(&mw->token));
	return post(qp, &request, NULL, 0, flags);
}

/* ---- Bind ---- */

/* Is the connection accepted, but not yet completed by the peer? */
static bool
accepts_posts(struct nd2_qp *qp)
{
	struct plx_qp_info info;

	return plx_qp_query(qp->qp, &info) != PLX_OK ||
	       (info.state != PLX_QP_INIT && info.state != PLX_QP_RTR);
}

/* Both locks are held: the region's, so that it is not deregistered meanwhile, and the window's. */
static HRESULT
bind_locked(struct nd2_qp *qp, struct nd2_mr *mr, struct nd2_mw *mw, const struct plx_bind *wanted,
	    struct nd2_mr **before)
{
	struct plx_bind bind = *wanted;
	enum plx_status status;
	struct plx_key key;

	bind.mr = mr->mr;
	if (bind.mr == NULL)
		return ND_INVALID_DEVICE_STATE;
	status = plx_post_bind(qp->qp, mw->mw, &bind, &key);
	if (status == PLX_FULL)
		return ND_NO_MORE_ENTRIES;
	if (status == PLX_BUSY) /* bound already */
		status = PLX_STATE;
	if (status == PLX_STATE && !accepts_posts(qp))
		return ND_CONNECTION_INVALID;
	if (status != PLX_OK)
		return nd2_call_status(status);
	nd2_object_get(&mr->object);
	*before = mw->bound;
	mw->bound = mr;
	atomic_store(&mw->token, htonl(key.v));
	return ND_SUCCESS;
}

static HRESULT
bind_between(struct nd2_qp *qp, struct nd2_mr *mr, struct nd2_mw *mw, const struct plx_bind *wanted)
{
	struct nd2_mr *before = NULL;
	HRESULT status;

	pthread_mutex_lock(&mr->lock);
	pthread_mutex_lock(&mw->lock);
	status = bind_locked(qp, mr, mw, wanted, &before);
	pthread_mutex_unlock(&mw->lock);
	pthread_mutex_unlock(&mr->lock);
	if (before != NULL)
		nd2_object_put(&before->object);
	return status;
}

HRESULT STDMETHODCALLTYPE
post_bind(IND2QueuePair *face, void *context, IUnknown *region, IUnknown *window,
	  const void *buffer, SIZE_T bytes, ULONG flags)
{
	struct nd2_qp *qp = nd2_qp_of(face);
	struct nd2_mr *mr = nd2_object_find(&nd2_mr_kind, qp->object.adapter, region);
	struct nd2_mw *mw = nd2_object_find(&nd2_mw_kind, qp->object.adapter, window);
	struct plx_bind wanted = {
		.wr_id = (uintptr_t)context,
		.flags = flags_of(flags & QUEUE_FLAGS),
		.va = (uintptr_t)buffer,
		.length = bytes,
	};

	if (mr == NULL)
		return ND_INVALID_PARAMETER_2;
	if (mw == NULL)
		return ND_INVALID_PARAMETER_3;
	if (bytes == 0)
		return ND_INVALID_PARAMETER_5;
	if (flags & ~(ULONG)BIND_FLAGS)
		return ND_INVALID_PARAMETER_6;
	if (!was_connected(qp))
		return ND_CONNECTION_INVALID;
	if (flags & ND_OP_FLAG_ALLOW_READ)
		wanted.access |= PLX_ACCESS_REMOTE_READ;
	if (flags & ND_OP_FLAG_ALLOW_WRITE)
		wanted.access |= PLX_ACCESS_REMOTE_WRITE;
	return bind_between(qp, mr, mw, &wanted);
}

/* ---- the receive queue ---- */

PLX_HOT HRESULT STDMETHODCALLTYPE
post_receive(IND2QueuePair *face, void *context, const ND2_SGE *sge, ULONG n)
{
	struct nd2_qp *qp = nd2_qp_of(face);
	const struct plx_recv_wr wr = {
		.wr_id = (uintptr_t)context,
		.sge = sges_of(sge),
		.sges = n,
	};
	enum plx_status why;

	if (plx_unlikely(n > 0 && sge == NULL))
		return ND_INVALID_PARAMETER_2;
	if (plx_unlikely(n > qp->max_receive_sges))
		return qp->srq != NULL ? ND_INVALID_DEVICE_REQUEST : ND_DATA_OVERRUN;
	if (plx_likely(plx_post_recv(qp->qp, &wr, 1, &why) == 1))
		return ND_SUCCESS;
	/* Its state allows receives, so the reason is that it uses a shared receive queue. */
	return why == PLX_STATE ? ND_INVALID_DEVICE_REQUEST : refusal(why);
}
