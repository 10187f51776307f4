/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues: creation, polling, resizing. Waiting for an entry is in notify.c.
 * Polling takes no lock, allocates nothing and makes no system call, with one exception: polling an
 * empty queue of an adapter set to yield. Start with get_results().
 */
#include "cq.h"
#include "plx_cq_look.h"

#include <sched.h>
#include <stdlib.h>

enum {
	LOOKS_PER_YIELD = 64, /* empty polls, as the worker does it */
	LOOKS_PER_PUMP = 256,
};

_Static_assert(LOOKS_PER_PUMP % LOOKS_PER_YIELD == 0, "look_again() comes by then");

/* ---- draining ---- */

static const uint8_t type_of[PLX_WR_OP_COUNT] = {
	[PLX_WR_NONE] = Nd2RequestTypeReceive, /* a flushed receive */
	[PLX_WR_SEND] = Nd2RequestTypeSend,       [PLX_WR_SEND_IMM] = Nd2RequestTypeSend,
	[PLX_WR_SEND_INV] = Nd2RequestTypeSend,   [PLX_WR_WRITE] = Nd2RequestTypeWrite,
	[PLX_WR_WRITE_IMM] = Nd2RequestTypeWrite, [PLX_WR_READ] = Nd2RequestTypeRead,
	[PLX_WR_CMP_SWAP] = Nd2RequestTypeRead, /* never posted here, nor is the next */
	[PLX_WR_FETCH_ADD] = Nd2RequestTypeRead,  [PLX_WR_LOCAL_INV] = Nd2RequestTypeInvalidate,
	[PLX_WR_BIND] = Nd2RequestTypeBind,
};

/* A completion has the size of a result, so it is polled straight into the result's place. */
_Static_assert(sizeof(struct plx_wc) == sizeof(ND2_RESULT), "it becomes one in its place");
_Static_assert(_Alignof(struct plx_wc) == _Alignof(ND2_RESULT), "any result's place will do");

/* Read all fields before writing any, because both share their memory. Returns: true: it failed */
static inline bool
convert(ND2_RESULT *result)
{
	const struct plx_wc *wc = (const struct plx_wc *)(const void *)result;
	uint64_t wr_id = wc->wr_id, context = wc->context;
	bool receive = wc->flags & PLX_WC_RECV;
	uint8_t status = wc->status, op = wc->op;
	uint32_t bytes = wc->bytes;

	result->BytesTransferred = bytes;
	result->QueuePairContext = (void *)(uintptr_t)context;
	result->RequestContext = (void *)(uintptr_t)wr_id;
	result->RequestType = receive ? Nd2RequestTypeReceive : (ND2_REQUEST_TYPE)type_of[op];
	if (plx_likely(status == PLX_WC_SUCCESS)) {
		result->Status = ND_SUCCESS;
		return false;
	}
	result->Status = nd2_completion_status(status, receive);
	return true;
}

/* One has failed. Handle events first, so that a disconnect is reported before the requests it has
 * flushed. */
static PLX_COLD ULONG
convert_rest(struct nd2_cq *cq, ND2_RESULT *results, ULONG from, ULONG n)
{
	for (; from < n; from++)
		(void)convert(&results[from]);
	plx_session_deliver_events(cq->object.adapter->session);
	return n;
}

static inline ULONG
poll_results(struct nd2_cq *cq, ND2_RESULT *results, ULONG n)
{
	ULONG got = plx_cq_poll(cq->cq, (struct plx_wc *)(void *)results, n);

	for (ULONG i = 0; i < got; i++)
		if (plx_unlikely(convert(&results[i])))
			return convert_rest(cq, results, i + 1, got);
	return got;
}

/* Count an empty poll. */
static inline bool
has_looked_enough(struct nd2_cq *cq)
{
	uint32_t looks = atomic_load_explicit(&cq->idle_looks, memory_order_relaxed) + 1;

	atomic_store_explicit(&cq->idle_looks, looks, memory_order_relaxed);
	return looks % LOOKS_PER_YIELD == 0;
}

/*
 * A client unaware of workers only polls, so an empty poll does the rest.
 * Inline mode: polling is all that makes the adapter progress. The poll itself was a duty cycle;
 * now and then pending requests are finished, too.
 * An adapter set to yield: the core may be needed by the worker or by the peer, without which no
 * completion will ever arrive.
 */
static __attribute__((noinline)) ULONG
look_again(struct nd2_cq *cq, ND2_RESULT *results, ULONG n)
{
	uint32_t looks = atomic_load_explicit(&cq->idle_looks, memory_order_relaxed);

	if (cq->pumps && looks % LOOKS_PER_PUMP == 0) {
		nd2_session_claim(cq->object.adapter->session);
		plx_session_pump(cq->object.adapter->session);
	}
	if (cq->yields)
		sched_yield();
	return poll_results(cq, results, n);
}

static __attribute__((noinline)) ULONG
take(struct nd2_cq *cq, ND2_RESULT *results, ULONG n)
{
	return poll_results(cq, results, n);
}

static __attribute__((noinline)) ULONG
take_or_help(struct nd2_cq *cq, ND2_RESULT *results, ULONG n)
{
	ULONG got = poll_results(cq, results, n);

	return plx_likely(got > 0 || !has_looked_enough(cq)) ? got : look_again(cq, results, n);
}

/* Most polls find nothing. They do nothing, either, if the adapter needs no help of its client. */
static PLX_HOT ULONG STDMETHODCALLTYPE
get_results(IND2CompletionQueue *face, ND2_RESULT *results, ULONG n)
{
	struct nd2_cq *cq = nd2_cq_of(face);

	if (cq->helps)
		return take_or_help(cq, results, n);
	return plx_cq_looks_empty(cq->cq) ? 0 : take(cq, results, n);
}

/* ---- size and affinity ---- */

static HRESULT STDMETHODCALLTYPE
resize(IND2CompletionQueue *face, ULONG depth)
{
	struct nd2_cq *cq = nd2_cq_of(face);
	enum plx_status status;

	if (depth == 0 || depth > nd2_limits(cq->object.adapter->session)->MaxCompletionQueueDepth)
		return ND_INVALID_PARAMETER;
	nd2_session_claim(cq->object.adapter->session);
	status = plx_cq_resize(cq->cq, depth);
	if (status == PLX_BUSY)
		return ND_BUFFER_OVERFLOW;
	if (status == PLX_NO_MEMORY)
		return ND_INSUFFICIENT_RESOURCES;
	return nd2_call_status(status);
}

static HRESULT STDMETHODCALLTYPE
get_notify_affinity(IND2CompletionQueue *face, USHORT *group, KAFFINITY *affinity)
{
	const struct nd2_cq *cq = nd2_cq_of(face);

	return nd2_affinity_get(cq->object.adapter->session, group, affinity);
}

/* ---- lifetime ---- */

static void
close_cq(struct nd2_object *object)
{
	struct nd2_cq *cq = plx_list_entry(object, struct nd2_cq, object);

	plx_session_queue_remove(cq->object.adapter->session, &cq->queue);
	notify_close(cq);
}

/* Never BUSY: queue pairs hold their queues. */
static enum plx_status
teardown_cq(struct plx_session_object *object)
{
	return plx_cq_destroy(plx_list_entry(object, struct nd2_cq, object.base)->cq);
}

static void
destroy_cq(struct plx_session_object *object)
{
	notify_free(plx_list_entry(object, struct nd2_cq, object.base)->notify);
	nd2_object_free(object);
}

ND2_IOVERLAPPED(cq, IND2CompletionQueue);

static const IND2CompletionQueueVtbl table = {
	.QueryInterface = cq_query_interface,
	.AddRef = cq_add_ref,
	.Release = cq_release,
	.CancelOverlappedRequests = notify_cancel,
	.GetOverlappedResult = cq_get_overlapped_result,
	.GetNotifyAffinity = get_notify_affinity,
	.Resize = resize,
	.Notify = notify_begin,
	.GetResults = get_results,
};

const struct nd2_kind nd2_cq_kind = {
	.table = &table,
	.iid = &IID_IND2CompletionQueue,
	.bytes = sizeof(struct nd2_cq),
	.overlapped = true,
	.close = close_cq,
	.base.teardown = teardown_cq,
	.base.destroy = destroy_cq,
};

/* The queue grows as needed, unless a test wants to provoke an overrun. */
static bool
overruns(void)
{
	return secure_getenv("POLLUX_ND2_STRICT_CQ") != NULL;
}

static HRESULT
make(struct nd2_cq *cq)
{
	const struct plx_cq_options options = {
		.depth = cq->depth,
		.strict = overruns(),
		.context = cq->queue.id,
	};
	enum plx_status status;

	cq->notify = notify_make(cq);
	if (cq->notify == NULL)
		return ND_NO_MEMORY;
	status = plx_cq_create(cq->object.adapter->session->adapter, &options, &cq->cq);
	if (status != PLX_OK)
		notify_free(cq->notify);
	return nd2_call_status(status);
}

HRESULT
nd2_cq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE handle, ULONG depth, void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2CompletionQueue, out);
	struct nd2_cq *cq;

	if (status != ND_SUCCESS)
		return status;
	if (depth == 0 || depth > nd2_limits(adapter->session)->MaxCompletionQueueDepth)
		return ND_INVALID_PARAMETER_3;
	cq = nd2_object_alloc(&nd2_cq_kind, adapter, handle, &status);
	if (cq == NULL)
		return status;
	cq->depth = depth;
	cq->queue.id = plx_session_queue_id(adapter->session);
	cq->queue.on_event = nd2_cq_overrun;
	cq->queue.on_host_gone = nd2_cq_lose_host;
	cq->pumps = adapter->session->inline_mode;
	cq->yields = adapter->session->info.idle >= PLX_IDLE_YIELD;
	cq->helps = cq->pumps || cq->yields;
	status = make(cq);
	if (status != ND_SUCCESS) {
		nd2_object_free(&cq->object.base);
		return status;
	}
	nd2_object_init(&cq->object, adapter->session);
	plx_session_queue_add(adapter->session, &adapter->session->cqs, &cq->queue);
	*out = cq;
	return ND_SUCCESS;
}
