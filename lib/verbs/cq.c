/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues of an adapter: creation, polling, waiting. The queue itself, and arming it, are
 * of lib/engine/front.
 * Polling takes no lock and makes no system call.
 * Start with plx_cq_poll(), then plx_cq_wait().
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>

#include "plx_objects.h"

enum plx_status
plx_cq_create(struct plx_adapter *adapter, const struct plx_cq_options *options,
	      struct plx_cq **out)
{
	const struct plx_ipc_cq_create request = {
		.depth = options->depth,
		.strict = options->strict,
		.engine = options->engine,
		.context = options->context,
	};
	struct plx_cq *cq = plx_object_alloc(sizeof(*cq));
	struct plx_ipc_cq_created reply;
	enum plx_status status;

	if (cq == NULL)
		return PLX_NO_MEMORY;
	status = adapter_call(adapter, PLX_IPC_CQ_CREATE, &request, &reply, NULL);
	if (status != PLX_OK) {
		free(cq);
		return status;
	}
	cq_open(cq, adapter_at(adapter, reply.front), options->depth, adapter->inline_mode,
		&adapter->owner, reply.object.v);
	cq->adapter = adapter;
	cq->engine = options->engine;
	*out = cq;
	return PLX_OK;
}

enum plx_status
plx_cq_destroy(struct plx_cq *cq)
{
	enum plx_status status = adapter_call_on(cq->adapter, PLX_IPC_DESTROY, cq->object);

	if (status != PLX_OK)
		return status;
	cq_close(cq);
	free(cq);
	return PLX_OK;
}

enum plx_status
plx_cq_resize(struct plx_cq *cq, uint32_t depth)
{
	const struct plx_ipc_cq_resize request = {.object = {cq->object}, .depth = depth};
	struct plx_ipc_nothing none;

	return adapter_call(cq->adapter, PLX_IPC_CQ_RESIZE, &request, &none, NULL);
}

void
plx_cq_query(const struct plx_cq *cq, struct plx_cq_info *out)
{
	struct plx_engine_cq_view view;

	plx_engine_cq_query(cq, &view);
	*out = (struct plx_cq_info){
		.depth = view.depth,
		.produced = view.produced,
		.polled = view.consumed,
		.overrun = view.overrun,
	};
}

/* Inline mode: who finds nothing runs the engine that the queue is pinned to, or all. */
static __attribute__((noinline)) bool
brings_nothing(struct plx_cq *cq)
{
	adapter_run(cq->adapter, cq->engine);
	return plx_ring_empty(cq->ring);
}

/* Most polls find nothing, so to look is all that they do: it costs less than to poll. */
static inline bool
is_empty(struct plx_cq *cq)
{
	/* In inline mode the writer is the same thread, so its index is in this cache. */
	if (cq->look.inline_mode)
		return plx_ring_empty(cq->ring) && brings_nothing(cq);
	return plx_cq_looks_empty(cq);
}

PLX_HOT uint32_t
plx_cq_poll(struct plx_cq *cq, struct plx_wc *wc, uint32_t n)
{
	return is_empty(cq) ? 0 : plx_engine_cq_poll(cq, wc, n);
}

PLX_HOT uint32_t
plx_cq_peek(struct plx_cq *cq, uint32_t n, struct plx_wc_span *span)
{
	return is_empty(cq) ? 0 : plx_engine_cq_peek(cq, n, span);
}

/* The waiting thread also polls. */
static uint32_t
wait_inline(struct plx_cq *cq, uint64_t deadline)
{
	for (;;) {
		uint32_t done = adapter_run(cq->adapter, cq->engine);
		uint32_t fired = plx_cq_get_event(cq);

		if (fired || plx_steady_ns() >= deadline)
			return fired;
		if (done == 0 && cq->adapter->idle >= PLX_IDLE_YIELD)
			sched_yield();
	}
}

bool
sleep_on(const struct plx_adapter *adapter, int fd, uint64_t ns)
{
	struct pollfd set[] = {{.fd = fd, .events = POLLIN}, {.fd = adapter->seat->host_fd}};
	uint64_t ms = fd < 0 ? 1 : (ns + PLX_MSEC - 1) / PLX_MSEC;

	/* An early or failed wakeup does no harm: the caller checks the queue and the time. */
	(void)!poll(set, PLX_COUNT_OF(set), ms > INT_MAX ? INT_MAX : (int)ms);
	return (set[1].revents & (POLLHUP | POLLERR)) == 0;
}

uint32_t
plx_cq_wait(struct plx_cq *cq, uint32_t timeout_ms)
{
	uint64_t deadline = plx_steady_ns() + timeout_ms * PLX_MSEC;
	int fd;

	if (cq->look.inline_mode)
		return wait_inline(cq, deadline);
	fd = plx_cq_fd(cq); /* before the first check, so that no event is missed */
	for (;;) {
		uint32_t fired = plx_cq_get_event(cq);
		uint64_t now = plx_steady_ns();

		if (fired || now >= deadline)
			return fired;
		if (!sleep_on(cq->adapter, fd, deadline - now))
			return plx_cq_get_event(cq);
	}
}
