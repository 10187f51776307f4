/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of pages, and fast registration: the host promises a key when a request is posted, and the
 * engine that executes it fulfils the promise (lib/proto/mem). What a program in another process
 * has not in an arena is copied there, too (decision 48). Start with host_reg_promise().
 */
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* ---- lists ---- */

bool
host_pages_are_shared(const uint64_t *page, uint64_t pages)
{
	for (uint64_t i = 0; i < pages; i++)
		if (page[i] & PLX_PAGE_PRIVATE)
			return false;
	return true;
}

void *
host_memory_of(uint64_t va, const uint64_t *page, uint64_t pages)
{
	if (page[0] == 0 || page[0] % PLX_PAGE_BYTES != 0 || !plx_pages_are_contiguous(page, pages))
		return NULL;
	return (void *)(uintptr_t)(page[0] + va % PLX_PAGE_BYTES);
}

/* It is copied before it is judged: the program may write it meanwhile. */
enum plx_status
host_list_read(const struct host_seat *seat, struct plx_location place, uint64_t pages,
	       uint64_t *out, struct plx_why *why)
{
	const uint64_t *page = host_memory_at(seat, place, pages * sizeof(*page));

	if (page == NULL || (uintptr_t)page % sizeof(*page) != 0) {
		plx_why_set(why, "the list of pages is not in memory of plx_mem_alloc()");
		return PLX_INVALID;
	}
	memcpy(out, page, pages * sizeof(*page));
	for (uint64_t i = 0; i < pages; i++)
		if (out[i] == 0 || out[i] % PLX_PAGE_BYTES != 0)
			return PLX_INVALID;
	return PLX_OK;
}

/* ---- fast registration ---- */

HOST_FN(host_mr_fast)
{
	const struct plx_ipc_mr_fast *request = arg;
	const struct host_pd *pd = host_find(seat, request->pd, HOST_PD);
	struct host_adapter *adapter = seat->adapter;
	struct plx_ipc_object *made = reply;
	uint32_t pages = request->pages;
	struct plx_page_lists *lists;
	enum plx_status status;
	struct host_mr *mr;

	if (pd == NULL)
		return PLX_NO_KEY;
	if (request->pages > PLX_FAST_PAGES_MAX)
		return PLX_INVALID;
	/* A request of another process must not tell the engine where memory is: a list does. */
	if (seat->foreign && pages == 0)
		pages = PLX_FAST_PAGES_MAX;
	mr = host_mr_alloc(pd, plx_page_lists_bytes(pages));
	if (mr == NULL)
		return PLX_NO_MEMORY;
	mr->fast = true;
	mr->pages = pages;
	lists = mr->pages > 0 ? plx_page_lists_init(mr->lists, mr->pages) : NULL;
	status = host_enter(seat, &mr->object, HOST_MR, why);
	if (status != PLX_OK) {
		host_mr_free(mr);
		return status;
	}
	pthread_mutex_lock(&adapter->lock);
	status = plx_region_reserve(adapter->mem, mr->domain, lists, &mr->region);
	if (status == PLX_OK)
		adapter->count.mrs++;
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK) {
		host_leave(seat, &mr->object);
		host_mr_free(mr);
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

	if (!plx_is_range(request->va, request->length))
		return PLX_INVALID;
	if (request->pages == 0) {
		*memory = host_memory_at(seat, request->place, request->length);
		return *memory != NULL ? plx_region_promise(mem, mr->region, out) : PLX_INVALID;
	}
	pages = plx_pages_spanned(request->va, request->length);
	if (pages > request->pages || pages > mr->pages)
		return PLX_INVALID;
	page = host_memory_at(seat, request->place, pages * sizeof(*page));
	if (page == NULL || !host_pages_are_shared(page, pages))
		return PLX_INVALID;
	*memory = host_memory_of(request->va, page, pages);
	if (*memory == NULL)
		return plx_region_promise_pages(mem, mr->region, page, (uint32_t)pages, out);
	return plx_is_range((uintptr_t)*memory, request->length)
		       ? plx_region_promise(mem, mr->region, out)
		       : PLX_INVALID;
}

/* ---- promises to another process ----
 *
 * Each list of a region has a shadow, of which the pages stand for those of the life that has the
 * list. Memory in an arena needs none: its pages are the list. */

/* The arena's pages that a range is in. Returns: false: it is in none, or not at the same offset */
static bool
find_arena(const struct host_seat *seat, const struct plx_ipc_reg_promise *request, uint64_t pages,
	   uint64_t *page)
{
	const uint8_t *memory = request->place.segment != 0
					? host_memory_at(seat, request->place, request->length)
					: NULL;
	uint64_t first = (uintptr_t)memory - request->va % PLX_PAGE_BYTES;

	if (memory == NULL || first % PLX_PAGE_BYTES != 0)
		return false;
	for (uint64_t i = 0; i < pages; i++)
		page[i] = first + (i << PLX_PAGE_SHIFT);
	return true;
}

/* Where the program has its pages. */
static enum plx_status
find_pages(const struct host_seat *seat, const struct plx_ipc_reg_promise *request, uint64_t pages,
	   uint64_t *page, struct plx_why *why)
{
	if (request->pages > 0)
		return host_list_read(seat, request->place, pages, page, why);
	if (request->place.segment != 0 || request->place.at == 0)
		return PLX_INVALID;
	for (uint64_t i = 0; i < pages; i++)
		page[i] = request->place.at - request->va % PLX_PAGE_BYTES + (i << PLX_PAGE_SHIFT);
	return PLX_OK;
}

/* Charge what a shadow has more of its memory than before. */
static enum plx_status
charge(struct host_seat *seat, struct host_mr *mr, uint32_t list, uint64_t pages,
       struct plx_why *why)
{
	uint64_t more = pages > mr->list_pages[list] ? pages - mr->list_pages[list] : 0;
	enum plx_status status = host_quota(seat, PLX_HOST_MEMORY, more << PLX_PAGE_SHIFT, why);

	if (status != PLX_OK)
		return status;
	mr->list_pages[list] += more;
	mr->charged += more << PLX_PAGE_SHIFT;
	seat->used[PLX_HOST_MEMORY] += more << PLX_PAGE_SHIFT;
	return PLX_OK;
}

/* Let the shadow of the next list stand for these pages. The life that had it before has ended, and
 * nothing is on its way there any more.
 * @param page [in] the program's; [out] the shadow's */
static enum plx_status
shadow_pages(struct host_seat *seat, struct host_mr *mr, uint64_t *page, uint64_t pages,
	     struct plx_why *why)
{
	struct host_adapter *adapter = seat->adapter;
	uint32_t list = plx_region_next_list(adapter->mem, mr->region);
	enum plx_status status;

	if (list == 0)
		return PLX_FULL;
	list--;
	if (!host_may_copy(seat, why))
		return PLX_INVALID;
	status = charge(seat, mr, list, pages, why);
	if (status == PLX_OK && mr->list_shadow[list] == NULL)
		status = private_shadow_list(seat->private_memory, mr->pages,
					     &mr->list_shadow[list]);
	if (status == PLX_OK)
		status = plx_engines_wait(adapter, plx_engines_token(adapter),
					  PLX_COMMAND_TIMEOUT_NS);
	if (status != PLX_OK)
		return status;
	private_assign(seat->private_memory, mr->list_shadow[list], page, pages);
	private_pages(mr->list_shadow[list], pages, page);
	return PLX_OK;
}

static enum plx_status
promise_foreign(struct host_seat *seat, struct host_mr *mr,
		const struct plx_ipc_reg_promise *request, struct plx_promise *out,
		struct plx_why *why)
{
	enum plx_status status = PLX_OK;
	uint64_t pages, *page;

	if (!plx_is_range(request->va, request->length))
		return PLX_INVALID;
	pages = plx_pages_spanned(request->va, request->length);
	if (pages > mr->pages || (request->pages > 0 && pages > request->pages))
		return PLX_INVALID;
	page = malloc(pages * sizeof(*page));
	if (page == NULL)
		return PLX_NO_MEMORY;
	if (request->pages > 0 || !find_arena(seat, request, pages, page)) {
		status = find_pages(seat, request, pages, page, why);
		if (status == PLX_OK)
			status = shadow_pages(seat, mr, page, pages, why);
	}
	if (status == PLX_OK)
		status = plx_region_promise_pages(seat->adapter->mem, mr->region, page,
						  (uint32_t)pages, out);
	free(page);
	return status;
}

void
host_fast_end(struct host_seat *seat, struct host_mr *mr)
{
	for (uint32_t i = 0; i < PLX_FAST_LISTS; i++)
		if (mr->list_shadow[i] != NULL)
			private_unshadow(seat->private_memory, mr->list_shadow[i]);
}

HOST_FN(host_reg_promise)
{
	const uint32_t rights = PLX_ACCESS_ALL & ~(PLX_ACCESS_BIND | PLX_ACCESS_STABLE);
	const struct plx_ipc_reg_promise *request = arg;
	struct host_mr *mr = host_find(seat, request->mr, HOST_MR);
	const struct host_queue_pair *qp = host_find(seat, request->qp, HOST_QP);
	struct plx_ipc_reg_promised *promised = reply;
	struct plx_promise given;
	enum plx_status status;
	void *memory = NULL;

	if (mr == NULL || qp == NULL || !mr->fast)
		return PLX_NO_KEY;
	if (mr->domain.id != qp->domain.id)
		return PLX_DENIED;
	if (request->access & ~rights)
		return PLX_INVALID;
	status = seat->foreign ? promise_foreign(seat, mr, request, &given, why)
			       : promise(seat, mr, request, &memory, &given);
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
