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

/* Is it a range, with a first and a last address? */
static bool
is_range(uint64_t va, uint64_t length)
{
	return length != 0 && length - 1 <= UINT64_MAX - va;
}

static void
free_mr(struct host_mr *mr)
{
	free(mr->lists);
	free(mr);
}

/* A region with room for lists of pages; the caller publishes or reserves it. */
static struct host_mr *
alloc_mr(const struct host_pd *pd, size_t bytes)
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
	if (!is_range((uintptr_t)memory, request->length))
		return PLX_INVALID;
	made = alloc_mr(pd, 0);
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

/* Register private memory: by a list of the pages of its shadow. An atomic could not be executed
 * there. */
static enum plx_status
register_private(struct host_seat *seat, const struct host_pd *pd,
		 const struct plx_ipc_mr_register *request, struct plx_ipc_mr_registered *reply,
		 struct plx_why *why)
{
	uint64_t pages = plx_pages_spanned(request->va, request->length);
	uint64_t bytes = pages << PLX_PAGE_SHIFT;
	struct plx_region_attr attr = {
		.va = request->va,
		.length = request->length,
		.access = {(uint8_t)(request->access & ~(uint32_t)PLX_ACCESS_STABLE)},
	};
	struct host_mr *made;
	enum plx_status status;

	if (request->access & PLX_ACCESS_REMOTE_ATOMIC) {
		plx_why_set(why, "atomics need memory that the host can map; allocate it by "
				 "plx_mem_alloc(), or leave out PLX_ACCESS_REMOTE_ATOMIC");
		return PLX_INVALID;
	}
	status = host_quota(seat, PLX_HOST_MEMORY, bytes, why);
	if (status != PLX_OK)
		return status;
	made = alloc_mr(pd, pages * sizeof(uint64_t));
	if (made == NULL)
		return PLX_NO_MEMORY;
	status = private_shadow(seat->private_memory, request->place.at, request->va,
				request->length, made->lists, &made->shadow);
	if (status == PLX_OK) {
		made->length = request->length;
		attr.page = made->lists;
		status = publish(seat, made, &attr, reply, why);
	}
	if (status != PLX_OK) {
		if (made->shadow != NULL)
			private_unshadow(seat->private_memory, made->shadow);
		free_mr(made);
		return status;
	}
	made->charged = bytes;
	seat->used[PLX_HOST_MEMORY] += bytes;
	return PLX_OK;
}

/* The table stores rights in eight bits; higher bits must not be lost silently. */
static enum plx_status
check_register(const struct plx_ipc_mr_register *request)
{
	return request->access & ~(uint32_t)PLX_ACCESS_ALL ||
			       !is_range(request->va, request->length)
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
	if (seat->has_private_memory)
		return register_private(seat, pd, request, reply, why);
	plx_why_set(why,
		    "the host may not read and write this memory: the program could not open its "
		    "/proc/self/mem; allocate it by plx_mem_alloc()");
	return PLX_INVALID;
}

/* ---- pages ---- */

/* Programs have no private pages: only the host makes them. */
static bool
are_shared(const uint64_t *page, uint64_t pages)
{
	for (uint64_t i = 0; i < pages; i++)
		if (page[i] & PLX_PAGE_PRIVATE)
			return false;
	return true;
}

/* The memory of pages that follow each other; NULL if they do not. */
static void *
memory_of(uint64_t va, const uint64_t *page, uint64_t pages)
{
	if (page[0] == 0 || page[0] % PLX_PAGE_BYTES != 0 || !plx_pages_are_contiguous(page, pages))
		return NULL;
	return (void *)(uintptr_t)(page[0] + va % PLX_PAGE_BYTES);
}

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
	/* Pages are addresses of the program's, which the host cannot reach. */
	if (seat->foreign)
		return PLX_NO_DEVICE;
	if (status != PLX_OK)
		return status;
	pages = plx_pages_spanned(request->va, request->length);
	page = host_memory_at(seat, request->place, pages * sizeof(*page));
	if (page == NULL || !are_shared(page, pages))
		return PLX_INVALID;
	memory = memory_of(request->va, page, pages);
	if (memory != NULL)
		return register_at(seat, pd, request, memory, reply, why);
	made = alloc_mr(pd, pages * sizeof(*page));
	if (made == NULL)
		return PLX_NO_MEMORY;
	attr.page = memcpy(made->lists, page, pages * sizeof(*page));
	status = publish(seat, made, &attr, reply, why);
	if (status != PLX_OK)
		free_mr(made);
	return status;
}

/* ---- fast registration ---- */

HOST_FN(host_mr_fast)
{
	const struct plx_ipc_mr_fast *request = arg;
	const struct host_pd *pd = host_find(seat, request->pd, HOST_PD);
	struct host_adapter *adapter = seat->adapter;
	struct plx_ipc_object *made = reply;
	struct plx_page_lists *lists;
	enum plx_status status;
	struct host_mr *mr;

	(void)why;
	if (pd == NULL)
		return PLX_NO_KEY;
	/* A request would tell the engine where the memory is. */
	if (seat->foreign)
		return PLX_NO_DEVICE;
	if (request->pages > PLX_FAST_PAGES_MAX)
		return PLX_INVALID;
	mr = alloc_mr(pd, plx_page_lists_bytes(request->pages));
	if (mr == NULL)
		return PLX_NO_MEMORY;
	mr->fast = true;
	mr->pages = request->pages;
	lists = mr->pages > 0 ? plx_page_lists_init(mr->lists, mr->pages) : NULL;
	status = host_enter(seat, &mr->object, HOST_MR, why);
	if (status != PLX_OK) {
		free_mr(mr);
		return status;
	}
	pthread_mutex_lock(&adapter->lock);
	status = plx_region_reserve(adapter->mem, mr->domain, lists, &mr->region);
	if (status == PLX_OK)
		adapter->count.mrs++;
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK) {
		host_leave(seat, &mr->object);
		free_mr(mr);
		return status;
	}
	made->object.v = mr->object.number;
	return PLX_OK;
}

/* Promise a key for what is to be registered.
 * @param memory [out] NULL: the promise has a list of pages */
static enum plx_status
promise(const struct host_seat *seat, const struct host_mr *mr,
	const struct plx_ipc_reg_promise *request, void **memory, struct plx_promise *out)
{
	struct plx_mem *mem = seat->adapter->mem;
	const uint64_t *page;
	uint64_t pages;

	if (!is_range(request->va, request->length))
		return PLX_INVALID;
	if (request->pages == 0) {
		*memory = host_memory_at(seat, request->place, request->length);
		return *memory != NULL ? plx_region_promise(mem, mr->region, out) : PLX_INVALID;
	}
	pages = plx_pages_spanned(request->va, request->length);
	if (pages > request->pages || pages > mr->pages)
		return PLX_INVALID;
	page = host_memory_at(seat, request->place, pages * sizeof(*page));
	if (page == NULL || !are_shared(page, pages))
		return PLX_INVALID;
	*memory = memory_of(request->va, page, pages);
	if (*memory == NULL)
		return plx_region_promise_pages(mem, mr->region, page, (uint32_t)pages, out);
	return is_range((uintptr_t)*memory, request->length)
		       ? plx_region_promise(mem, mr->region, out)
		       : PLX_INVALID;
}

HOST_FN(host_reg_promise)
{
	const uint32_t rights = PLX_ACCESS_ALL & ~(PLX_ACCESS_BIND | PLX_ACCESS_STABLE);
	const struct plx_ipc_reg_promise *request = arg;
	const struct host_mr *mr = host_find(seat, request->mr, HOST_MR);
	const struct host_queue_pair *qp = host_find(seat, request->qp, HOST_QP);
	struct plx_ipc_reg_promised *promised = reply;
	struct plx_promise given;
	enum plx_status status;
	void *memory;

	(void)why;
	if (mr == NULL || qp == NULL || !mr->fast)
		return PLX_NO_KEY;
	if (mr->domain.id != qp->domain.id)
		return PLX_DENIED;
	if (request->access & ~rights)
		return PLX_INVALID;
	status = promise(seat, mr, request, &memory, &given);
	if (status != PLX_OK)
		return status;
	*promised = (struct plx_ipc_reg_promised){
		.host = (uintptr_t)memory,
		.slot = given.slot,
		.life = given.life,
		.key = given.key,
		.list = given.list,
	};
	return PLX_OK;
}

HOST_FN(host_reg_void)
{
	const struct plx_ipc_reg_void *request = arg;
	const struct host_mr *mr = host_find(seat, request->mr, HOST_MR);
	const struct plx_promise promised = {
		.slot = request->slot,
		.life = request->life,
		.key = request->key,
		.list = request->list,
	};

	(void)reply;
	(void)why;
	if (mr == NULL || !mr->fast || mr->region.slot != request->slot)
		return PLX_NO_KEY;
	plx_region_void(seat->adapter->mem, &promised);
	return PLX_OK;
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
	seat->used[PLX_HOST_MEMORY] -= mr->charged;
	host_leave(seat, &mr->object);
	free_mr(mr);
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
