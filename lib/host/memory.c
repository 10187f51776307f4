/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Domains, regions and windows of a seat.
 * It never holds the adapter's lock while it waits for an engine.
 * Start with host_mr_register().
 */
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define BIND_ACCESS \
	(uint32_t)(PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC)

/* ---- domains ---- */

HOST_FN(host_pd_create)
{
	struct host_adapter *adapter = seat->adapter;
	struct host_pd *pd = calloc(1, sizeof(*pd));
	struct plx_ipc_object *made = reply;
	enum plx_status status;

	(void)arg;
	(void)why;
	if (pd == NULL)
		return PLX_NO_MEMORY;
	pthread_mutex_lock(&adapter->lock);
	status = plx_domain_create(adapter->mem, &pd->domain);
	pthread_mutex_unlock(&adapter->lock);
	if (status == PLX_OK) {
		status = host_enter(seat, &pd->object, HOST_PD, why);
		if (status != PLX_OK) {
			pthread_mutex_lock(&adapter->lock);
			(void)!plx_domain_destroy(adapter->mem, pd->domain);
			pthread_mutex_unlock(&adapter->lock);
		}
	}
	if (status != PLX_OK) {
		free(pd);
		return status;
	}
	adapter->count.pds++;
	made->object.v = pd->object.number;
	return PLX_OK;
}

enum plx_status
host_pd_destroy(struct host_seat *seat, struct host_object *object)
{
	struct host_pd *pd = (struct host_pd *)object;
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	status = plx_domain_destroy(adapter->mem, pd->domain);
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK)
		return status;
	adapter->count.pds--;
	host_leave(seat, object);
	free(pd);
	return PLX_OK;
}

/* ---- regions ---- */

void
host_mr_free(struct host_mr *mr)
{
	free(mr->lists);
	free(mr);
}

struct host_mr *
host_mr_alloc(const struct host_pd *pd, size_t bytes)
{
	struct host_mr *mr = calloc(1, sizeof(*mr));

	if (mr == NULL)
		return NULL;
	mr->domain = pd->domain;
	if (bytes == 0)
		return mr;
	mr->lists = malloc(bytes);
	if (mr->lists != NULL)
		return mr;
	free(mr);
	return NULL;
}

/* Insert it into the key table; the key is valid from here on. */
static enum plx_status
publish(struct host_seat *seat, struct host_mr *mr, const struct plx_region_attr *attr,
	struct plx_ipc_mr_registered *reply, struct plx_why *why)
{
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status = host_enter(seat, &mr->object, HOST_MR, why);

	if (status != PLX_OK)
		return status;
	pthread_mutex_lock(&adapter->lock);
	status = plx_region_register(adapter->mem, mr->domain, attr, &mr->region, &mr->key);
	if (status == PLX_OK)
		adapter->count.mrs++;
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK) {
		host_leave(seat, &mr->object);
		return status;
	}
	reply->object.v = mr->object.number;
	reply->key = mr->key;
	return PLX_OK;
}

/* Register contiguous memory. */
static enum plx_status
register_at(struct host_seat *seat, const struct host_pd *pd,
	    const struct plx_ipc_mr_register *request, void *memory,
	    struct plx_ipc_mr_registered *reply, struct plx_why *why)
{
	const struct plx_region_attr attr = {
		.va = request->va,
		.host = memory,
		.length = request->length,
		.access = {(uint8_t)request->access},
	};
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status;
	struct host_mr *made;

	/* The device must not be asked to map what the table would refuse. */
	if (!plx_is_range((uintptr_t)memory, request->length))
		return PLX_INVALID;
	made = host_mr_alloc(pd, 0);
	if (made == NULL)
		return PLX_NO_MEMORY;
	made->memory = memory;
	made->length = request->length;
	made->segment = request->place.segment;
	made->mapped = plx_host_map_memory(adapter, memory, request->length);
	status = publish(seat, made, &attr, reply, why);
	if (status != PLX_OK) {
		if (made->mapped)
			plx_host_unmap_memory(adapter, memory, request->length);
		free(made);
	} else if (made->segment != 0) {
		seat->segment[made->segment].users++;
	}
	return status;
}

bool
host_may_copy(const struct host_seat *seat, struct plx_why *why)
{
	if (!seat->has_private_memory)
		plx_why_set(why, "the host may not read and write this memory: the program could "
				 "not open its /proc/self/mem; allocate it by plx_mem_alloc()");
	return seat->has_private_memory;
}

/* Register what a shadow stands for: by a list of the shadow's pages. An atomic could not be
 * executed there.
 * @param make the shadow */
static enum plx_status
register_shadow(struct host_seat *seat, const struct host_pd *pd,
		const struct plx_ipc_mr_register *request,
		enum plx_status (*make)(struct host_seat *seat,
					const struct plx_ipc_mr_register *request,
					struct host_mr *mr, struct plx_why *why),
		struct plx_ipc_mr_registered *reply, struct plx_why *why)
{
	uint64_t pages = plx_pages_spanned(request->va, request->length);
	struct plx_region_attr attr = {
		.va = request->va,
		.length = request->length,
		.access = {(uint8_t)(request->access & ~(uint32_t)PLX_ACCESS_STABLE)},
	};
	struct host_mr *made;
	enum plx_status status;

	if (!host_may_copy(seat, why))
		return PLX_INVALID;
	if (request->access & PLX_ACCESS_REMOTE_ATOMIC) {
		plx_why_set(why, "atomics need memory that the host can map; allocate it by "
				 "plx_mem_alloc(), or leave out PLX_ACCESS_REMOTE_ATOMIC");
		return PLX_INVALID;
	}
	status = host_quota(seat, PLX_HOST_MEMORY, pages << PLX_PAGE_SHIFT, why);
	if (status != PLX_OK)
		return status;
	made = host_mr_alloc(pd, pages * sizeof(uint64_t));
	if (made == NULL)
		return PLX_NO_MEMORY;
	status = make(seat, request, made, why);
	if (status == PLX_OK) {
		made->length = request->length;
		private_pages(made->shadow, pages, made->lists);
		attr.page = made->lists;
		status = publish(seat, made, &attr, reply, why);
	}
	if (status != PLX_OK) {
		if (made->shadow != NULL)
			private_unshadow(seat->private_memory, made->shadow);
		host_mr_free(made);
		return status;
	}
	made->charged = pages << PLX_PAGE_SHIFT;
	seat->used[PLX_HOST_MEMORY] += made->charged;
	return PLX_OK;
}

/* Register all memory that the program can have, for its own use. */
static enum plx_status
register_space(struct host_seat *seat, const struct host_pd *pd,
	       const struct plx_ipc_mr_register *request, struct plx_ipc_mr_registered *reply,
	       struct plx_why *why)
{
	struct plx_region_attr attr = {
		.va = request->va,
		.length = request->length,
		.access = {(uint8_t)request->access},
	};
	enum plx_status status;
	struct host_mr *made;

	if (!host_may_copy(seat, why))
		return PLX_INVALID;
	if (request->access & ~(uint32_t)PLX_ACCESS_LOCAL_WRITE ||
	    request->place.at != request->va) {
		plx_why_set(why, "a region of all memory is for the program's own requests: it has "
				 "no rights but PLX_ACCESS_LOCAL_WRITE");
		return PLX_INVALID;
	}
	made = host_mr_alloc(pd, 0);
	if (made == NULL)
		return PLX_NO_MEMORY;
	made->length = request->length;
	made->space = true;
	status = host_space_use(seat, &attr.map, why);
	if (status != PLX_OK) {
		host_mr_free(made);
		return status;
	}
	status = publish(seat, made, &attr, reply, why);
	if (status != PLX_OK) {
		host_space_unuse(seat);
		host_mr_free(made);
	}
	return status;
}

static enum plx_status
make_shadow(struct host_seat *seat, const struct plx_ipc_mr_register *request, struct host_mr *mr,
	    struct plx_why *why)
{
	(void)why;
	return private_shadow(seat->private_memory, request->place.at, request->va, request->length,
			      &mr->shadow);
}

static enum plx_status
make_shadow_of_pages(struct host_seat *seat, const struct plx_ipc_mr_register *request,
		     struct host_mr *mr, struct plx_why *why)
{
	uint64_t pages = plx_pages_spanned(request->va, request->length);
	enum plx_status status = host_list_read(seat, request->place, pages, mr->lists, why);

	if (status == PLX_OK)
		status = private_shadow_list(seat->private_memory, pages, &mr->shadow);
	if (status == PLX_OK)
		private_assign(seat->private_memory, mr->shadow, mr->lists, pages);
	return status;
}

/* The table stores rights in eight bits; higher bits must not be lost silently. */
static enum plx_status
check_register(const struct plx_ipc_mr_register *request)
{
	return request->access & ~(uint32_t)PLX_ACCESS_ALL ||
			       !plx_is_range(request->va, request->length)
		       ? PLX_INVALID
		       : PLX_OK;
}

HOST_FN(host_mr_register)
{
	const struct plx_ipc_mr_register *request = arg;
	const struct host_pd *pd = host_find(seat, request->pd, HOST_PD);
	enum plx_status status = check_register(request);
	void *memory;

	if (pd == NULL)
		return PLX_NO_KEY;
	if (status != PLX_OK)
		return status;
	memory = host_memory_at(seat, request->place, request->length);
	if (memory != NULL)
		return register_at(seat, pd, request, memory, reply, why);
	if (!seat->foreign || request->place.segment != 0 || request->place.at == 0)
		return PLX_INVALID;
	if (host_is_space(request))
		return register_space(seat, pd, request, reply, why);
	return register_shadow(seat, pd, request, make_shadow, reply, why);
}

/* ---- pages ---- */

HOST_FN(host_mr_pages)
{
	const struct plx_ipc_mr_register *request = arg;
	const struct host_pd *pd = host_find(seat, request->pd, HOST_PD);
	struct plx_region_attr attr = {
		.va = request->va, .length = request->length, .access = {(uint8_t)request->access}};
	enum plx_status status = check_register(request);
	const uint64_t *page;
	struct host_mr *made;
	uint64_t pages;
	void *memory;

	(void)why;
	if (pd == NULL)
		return PLX_NO_KEY;
	if (status != PLX_OK)
		return status;
	if (seat->foreign)
		return register_shadow(seat, pd, request, make_shadow_of_pages, reply, why);
	pages = plx_pages_spanned(request->va, request->length);
	page = host_memory_at(seat, request->place, pages * sizeof(*page));
	if (page == NULL || !host_pages_are_shared(page, pages))
		return PLX_INVALID;
	memory = host_memory_of(request->va, page, pages);
	if (memory != NULL)
		return register_at(seat, pd, request, memory, reply, why);
	made = host_mr_alloc(pd, pages * sizeof(*page));
	if (made == NULL)
		return PLX_NO_MEMORY;
	attr.page = memcpy(made->lists, page, pages * sizeof(*page));
	status = publish(seat, made, &attr, reply, why);
	if (status != PLX_OK)
		host_mr_free(made);
	return status;
}

/* ---- deregistration ---- */

/* The first step, done once: a deregister that timed out does not retire the region again. The
 * table needs no lock for this. */
static enum plx_status
retire(struct host_seat *seat, struct host_mr *mr)
{
	enum plx_status status;

	if (mr->retired)
		return PLX_OK;
	status = plx_region_retire(seat->adapter->mem, mr->region);
	if (status == PLX_OK) {
		mr->retired = true;
		mr->token = plx_engines_token(seat->adapter);
	}
	return status;
}

static enum plx_status
deregister(struct host_seat *seat, struct host_mr *mr, uint64_t timeout_ns)
{
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status = retire(seat, mr);

	if (status == PLX_OK)
		status = plx_engines_wait(adapter, mr->token, timeout_ns);
	if (status != PLX_OK)
		return status;
	pthread_mutex_lock(&adapter->lock);
	status = plx_region_release(adapter->mem, mr->region);
	adapter->count.mrs--;
	pthread_mutex_unlock(&adapter->lock);
	PLX_ASSERT(status == PLX_OK);
	if (mr->mapped)
		plx_host_unmap_memory(adapter, mr->memory, mr->length);
	if (mr->segment != 0)
		seat->segment[mr->segment].users--;
	if (mr->shadow != NULL)
		private_unshadow(seat->private_memory, mr->shadow);
	if (mr->space)
		host_space_unuse(seat);
	host_fast_end(seat, mr);
	seat->used[PLX_HOST_MEMORY] -= mr->charged;
	host_leave(seat, &mr->object);
	host_mr_free(mr);
	return PLX_OK;
}

HOST_FN(host_mr_deregister)
{
	const struct plx_ipc_mr_deregister *request = arg;
	struct host_mr *mr = host_find(seat, request->object, HOST_MR);

	(void)reply;
	(void)why;
	return mr != NULL ? deregister(seat, mr, request->timeout_ns) : PLX_NO_KEY;
}

enum plx_status
host_mr_destroy(struct host_seat *seat, struct host_object *object)
{
	return deregister(seat, (struct host_mr *)object, PLX_COMMAND_TIMEOUT_NS);
}

/* ---- windows ----
 *
 * A window is bound before its request is put into the queue. So the key is valid when the post
 * returns, and requests posted later may carry it. If the post is refused, the window does not stay
 * bound. */

HOST_FN(host_mw_create)
{
	const struct plx_ipc_object *request = arg;
	const struct host_pd *pd = host_find(seat, request->object, HOST_PD);
	struct host_adapter *adapter = seat->adapter;
	struct plx_ipc_object *made = reply;
	enum plx_status status;
	struct host_mw *mw;

	(void)why;
	if (pd == NULL)
		return PLX_NO_KEY;
	mw = calloc(1, sizeof(*mw));
	if (mw == NULL)
		return PLX_NO_MEMORY;
	mw->domain = pd->domain;
	status = host_enter(seat, &mw->object, HOST_MW, why);
	if (status != PLX_OK) {
		free(mw);
		return status;
	}
	pthread_mutex_lock(&adapter->lock);
	status = plx_window_create(adapter->mem, mw->domain, &mw->window);
	if (status == PLX_OK)
		adapter->count.mws++;
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK) {
		host_leave(seat, &mw->object);
		free(mw);
		return status;
	}
	made->object.v = mw->object.number;
	return PLX_OK;
}

enum plx_status
host_mw_destroy(struct host_seat *seat, struct host_object *object)
{
	struct host_mw *mw = (struct host_mw *)object;
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	if (!mw->retired) {
		status = plx_window_retire(adapter->mem, mw->window);
		PLX_ASSERT(status == PLX_OK);
		mw->retired = true;
		mw->token = plx_engines_token(adapter);
	}
	pthread_mutex_unlock(&adapter->lock);
	status = plx_engines_wait(adapter, mw->token, PLX_COMMAND_TIMEOUT_NS);
	if (status != PLX_OK)
		return status;
	pthread_mutex_lock(&adapter->lock);
	status = plx_window_release(adapter->mem, mw->window);
	adapter->count.mws--;
	pthread_mutex_unlock(&adapter->lock);
	PLX_ASSERT(status == PLX_OK);
	host_leave(seat, object);
	free(mw);
	return PLX_OK;
}

HOST_FN(host_mw_bind)
{
	const struct plx_ipc_mw_bind *request = arg;
	const struct host_mw *mw = host_find(seat, request->mw, HOST_MW);
	const struct host_mr *mr = host_find(seat, request->mr, HOST_MR);
	const struct host_queue_pair *qp = host_find(seat, request->qp, HOST_QP);
	struct host_adapter *adapter = seat->adapter;
	struct plx_ipc_mw_bound *bound = reply;
	struct plx_window_attr attr;
	enum plx_status status;

	(void)why;
	if (mw == NULL || mr == NULL || qp == NULL)
		return PLX_NO_KEY;
	if (request->access & ~BIND_ACCESS)
		return PLX_INVALID;
	if (mw->domain.id != qp->domain.id || mr->domain.id != qp->domain.id ||
	    (mr->shadow != NULL && request->access & PLX_ACCESS_REMOTE_ATOMIC))
		return PLX_DENIED;
	attr = (struct plx_window_attr){
		.region = mr->region,
		.va = request->va,
		.length = request->length,
		.access = {(uint8_t)request->access},
		.qpn = qp->made.qpn,
	};
	pthread_mutex_lock(&adapter->lock);
	status = plx_window_bind(adapter->mem, mw->window, &attr, &bound->key);
	pthread_mutex_unlock(&adapter->lock);
	/* not the queue pair's state */
	return status == PLX_STATE ? PLX_BUSY : status;
}

/* The post was refused. The only change left is that the window's next key differs. Nobody has been
 * given the key. A peer that guessed it may have invalidated it, with the same result. */
HOST_FN(host_mw_unbind)
{
	const struct plx_ipc_mw_unbind *request = arg;
	const struct host_queue_pair *qp = host_find(seat, request->qp, HOST_QP);
	struct host_adapter *adapter = seat->adapter;
	struct plx_asker asker;

	(void)reply;
	(void)why;
	if (qp == NULL)
		return PLX_NO_KEY;
	asker = (struct plx_asker){.domain = qp->domain, .qpn = qp->made.qpn};
	pthread_mutex_lock(&adapter->lock);
	(void)!plx_key_invalidate(adapter->mem, request->key, &asker);
	pthread_mutex_unlock(&adapter->lock);
	return PLX_OK;
}
