/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion queues: the engine's, plus waiting. The engine alone decides when an armed queue
 * fires.
 * Polling takes no lock and makes no system call.
 * Start with plx_cq_poll(), then plx_cq_wait().
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>

#include "objects.h"
#include "plx_ring.h"

enum plx_status
plx_cq_create(struct plx_adapter *adapter, const struct plx_cq_options *options, struct plx_cq **cq)
{
	const struct plx_engine_cq_config config = {
		.depth = options->depth,
		.strict = options->strict,
		.cookie = options->context,
	};
	struct plx_cq *made;
	enum plx_status status;

	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return PLX_NO_MEMORY;
	made->adapter = adapter;
	made->inline_mode = adapter->inline_mode;
	status = plx_engine_cq_create(plx_adapter_home(adapter), &config, &made->engine_cq);
	if (status != PLX_OK) {
		free(made);
		return status;
	}
	made->ring = plx_engine_cq_ring(made->engine_cq);
	pthread_mutex_lock(&adapter->lock);
	adapter->count.cqs++;
	pthread_mutex_unlock(&adapter->lock);
	*cq = made;
	return PLX_OK;
}

enum plx_status
plx_cq_destroy(struct plx_cq *cq)
{
	struct plx_adapter *adapter = cq->adapter;
	enum plx_status status = plx_engine_cq_destroy(cq->engine_cq);

	if (status != PLX_OK)
		return status;
	pthread_mutex_lock(&adapter->lock);
	adapter->count.cqs--;
	pthread_mutex_unlock(&adapter->lock);
	free(cq);
	return PLX_OK;
}

PLX_HOT uint32_t
plx_cq_poll(struct plx_cq *cq, struct plx_wc *wc, uint32_t n)
{
	if (cq->inline_mode && plx_ring_empty(cq->ring)) {
		plx_adapter_run(cq->adapter);
		if (plx_ring_empty(cq->ring))
			return 0;
	}
	return plx_engine_cq_poll(cq->engine_cq, wc, n);
}

enum plx_status
plx_cq_arm(struct plx_cq *cq, uint32_t kinds, uint32_t *fired)
{
	return plx_engine_cq_arm(cq->engine_cq, kinds, fired);
}

uint32_t
plx_cq_disarm(struct plx_cq *cq, uint32_t kinds)
{
	return plx_engine_cq_disarm(cq->engine_cq, kinds);
}

uint32_t
plx_cq_get_event(struct plx_cq *cq)
{
	return plx_engine_cq_get_event(cq->engine_cq);
}

int
plx_cq_fd(struct plx_cq *cq)
{
	return plx_engine_cq_fd(cq->engine_cq);
}

/* The waiting thread also polls. */
static uint32_t
wait_inline(struct plx_cq *cq, uint64_t deadline)
{
	for (;;) {
		uint32_t done = plx_adapter_run(cq->adapter);
		uint32_t fired = plx_engine_cq_get_event(cq->engine_cq);

		if (fired || plx_steady_ns() >= deadline)
			return fired;
		if (done == 0 && cq->adapter->options.idle == PLX_IDLE_YIELD)
			sched_yield();
	}
}

/* -1 as descriptor: the system had no free one. */
void
sleep_on(int fd, uint64_t ns)
{
	struct pollfd entry = {.fd = fd, .events = POLLIN};
	uint64_t ms = fd < 0 ? 1 : (ns + PLX_MSEC - 1) / PLX_MSEC;

	/* An early or failed wakeup does no harm: the caller checks the queue and the time. */
	(void)!poll(&entry, 1, ms > INT_MAX ? INT_MAX : (int)ms);
}

uint32_t
plx_cq_wait(struct plx_cq *cq, uint32_t timeout_ms)
{
	uint64_t deadline = plx_steady_ns() + timeout_ms * PLX_MSEC;
	int fd;

	if (cq->inline_mode)
		return wait_inline(cq, deadline);
	fd = plx_engine_cq_fd(
		cq->engine_cq); /* before the first check, so that no event is missed */
	for (;;) {
		uint32_t fired = plx_engine_cq_get_event(cq->engine_cq);
		uint64_t now = plx_steady_ns();

		if (fired || now >= deadline)
			return fired;
		sleep_on(fd, deadline - now);
	}
}

enum plx_status
plx_cq_resize(struct plx_cq *cq, uint32_t depth)
{
	return plx_engine_cq_resize(cq->engine_cq, depth);
}
