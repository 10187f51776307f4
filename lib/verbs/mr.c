/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions: registering and deregistering memory.
 * It never holds the adapter's lock while it waits for an engine.
 * Start with plx_mr_register().
 */
#include <stdlib.h>
#include <string.h>

#include "objects.h"

/* Is it memory, with a first and a last byte? */
static bool
is_memory(const void *memory, uint64_t length)
{
	return memory != NULL && length != 0 && length - 1 <= UINTPTR_MAX - (uintptr_t)memory;
}

/* Is it a range, with a first and a last address? */
static bool
is_range(uint64_t va, uint64_t length)
{
	return length != 0 && length - 1 <= UINT64_MAX - va;
}

/* Insert it into the key table; the key is valid from here on. */
static enum plx_status
publish(struct plx_mr *mr, const struct plx_region_attr *attr)
{
	struct plx_adapter *adapter = mr->pd->adapter;
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	status = plx_region_register(adapter->mem, mr->pd->domain, attr, &mr->region, &mr->key);
	if (status == PLX_OK)
		adapter->count.mrs++;
	pthread_mutex_unlock(&adapter->lock);
	return status;
}

/* Register contiguous memory. */
static enum plx_status
register_at(struct plx_pd *pd, uint64_t va, void *memory, size_t length, uint32_t access,
	    struct plx_mr **mr)
{
	const struct plx_region_attr attr = {
		.va = va,
		.host = memory,
		.length = length,
		.access = {(uint8_t)access},
	};
	struct plx_adapter *adapter = pd->adapter;
	enum plx_status status;
	struct plx_mr *made;

	/* The table stores rights in eight bits; higher bits must not be lost silently. The device
	 * must not be asked to map what the table would refuse. */
	if (access & ~(uint32_t)PLX_ACCESS_ALL || !is_memory(memory, length))
		return PLX_INVALID;
	made = malloc(sizeof(*made));
	if (made == NULL)
		return PLX_NO_MEMORY;
	*made = (struct plx_mr){
		.pd = pd,
		.memory = memory,
		.length = length,
		.mapped = plx_adapter_map_memory(adapter, memory, length),
	};
	status = publish(made, &attr);
	if (status != PLX_OK) {
		if (made->mapped)
			plx_adapter_unmap_memory(adapter, memory, length);
		free(made);
		return status;
	}
	*mr = made;
	return PLX_OK;
}

enum plx_status
plx_mr_register(struct plx_pd *pd, void *memory, size_t length, uint32_t access, struct plx_mr **mr)
{
	return register_at(pd, (uintptr_t)memory, memory, length, access, mr);
}

/* ---- pages ---- */

/* The memory of pages that follow each other; NULL if they do not. */
static void *
memory_of(uint64_t va, const uint64_t *page, uint64_t pages)
{
	if (page[0] == 0 || page[0] % PLX_PAGE_BYTES != 0 || !plx_pages_are_contiguous(page, pages))
		return NULL;
	return (void *)(uintptr_t)(page[0] + va % PLX_PAGE_BYTES);
}

/* A region with room for pages; the caller publishes or reserves it. */
static struct plx_mr *
alloc_with_lists(struct plx_pd *pd, size_t bytes)
{
	struct plx_mr *mr = calloc(1, sizeof(*mr));

	if (mr == NULL)
		return NULL;
	mr->pd = pd;
	if (bytes == 0)
		return mr;
	mr->lists = malloc(bytes);
	if (mr->lists != NULL)
		return mr;
	free(mr);
	return NULL;
}

static void
free_mr(struct plx_mr *mr)
{
	free(mr->lists);
	free(mr);
}

enum plx_status
plx_mr_register_pages(struct plx_pd *pd, uint64_t va, const uint64_t *page, uint64_t length,
		      uint32_t access, struct plx_mr **mr)
{
	struct plx_region_attr attr = {.va = va, .length = length, .access = {(uint8_t)access}};
	enum plx_status status;
	struct plx_mr *made;
	uint64_t pages;
	void *memory;

	if (access & ~(uint32_t)PLX_ACCESS_ALL || !is_range(va, length))
		return PLX_INVALID;
	pages = plx_pages_spanned(va, length);
	memory = memory_of(va, page, pages);
	if (memory != NULL)
		return register_at(pd, va, memory, length, access, mr);
	made = alloc_with_lists(pd, pages * sizeof(*page));
	if (made == NULL)
		return PLX_NO_MEMORY;
	attr.page = memcpy(made->lists, page, pages * sizeof(*page));
	status = publish(made, &attr);
	if (status != PLX_OK) {
		free_mr(made);
		return status;
	}
	*mr = made;
	return PLX_OK;
}

/* ---- fast registration ---- */

enum plx_status
plx_mr_create_fast(struct plx_pd *pd, uint32_t pages, struct plx_mr **mr)
{
	struct plx_adapter *adapter = pd->adapter;
	struct plx_page_lists *lists;
	enum plx_status status;
	struct plx_mr *made;

	if (pages > PLX_FAST_PAGES_MAX)
		return PLX_INVALID;
	made = alloc_with_lists(pd, plx_page_lists_bytes(pages));
	if (made == NULL)
		return PLX_NO_MEMORY;
	made->fast = true;
	made->pages = pages;
	lists = pages > 0 ? plx_page_lists_init(made->lists, pages) : NULL;
	pthread_mutex_lock(&adapter->lock);
	status = plx_region_reserve(adapter->mem, pd->domain, lists, &made->region);
	if (status == PLX_OK)
		adapter->count.mrs++;
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK) {
		free_mr(made);
		return status;
	}
	*mr = made;
	return PLX_OK;
}

/* Promise a key for what is to be registered.
 * @param memory [out] NULL: the promise has a list of pages */
static enum plx_status
promise(const struct plx_reg *reg, void **memory, struct plx_promise *out)
{
	const struct plx_mr *mr = reg->mr;
	struct plx_mem *mem = mr->pd->adapter->mem;
	uint64_t pages;

	if (!is_range(reg->va, reg->length))
		return PLX_INVALID;
	*memory = reg->memory;
	if (reg->page != NULL) {
		pages = plx_pages_spanned(reg->va, reg->length);
		if (pages > reg->pages || pages > mr->pages)
			return PLX_INVALID;
		*memory = memory_of(reg->va, reg->page, pages);
		if (*memory == NULL)
			return plx_region_promise_pages(mem, mr->region, reg->page, (uint32_t)pages,
							out);
	}
	return is_memory(*memory, reg->length) ? plx_region_promise(mem, mr->region, out)
					       : PLX_INVALID;
}

enum plx_status
plx_post_reg(struct plx_qp *qp, const struct plx_reg *reg, struct plx_key *key)
{
	const uint32_t rights = PLX_ACCESS_ALL & ~(PLX_ACCESS_BIND | PLX_ACCESS_STABLE);
	const struct plx_mr *mr = reg->mr;
	struct plx_wqe_region region;
	struct plx_promise promised;
	enum plx_status status;
	void *memory;

	if (!mr->fast)
		return PLX_NO_KEY;
	if (mr->pd != pd_of(qp))
		return PLX_DENIED;
	if (reg->access & ~rights)
		return PLX_INVALID;
	status = promise(reg, &memory, &promised);
	if (status != PLX_OK)
		return status;
	region = (struct plx_wqe_region){
		.va = reg->va,
		.length = reg->length,
		.host = (uintptr_t)memory,
		.slot = promised.slot,
		.life = promised.life,
		.key = promised.key,
		.access = {(uint8_t)(reg->access | PLX_ACCESS_INVALIDATE)},
		.list = promised.list,
	};
	status = plx_engine_qp_post_reg(qp, reg->wr_id, reg->flags, &region);
	if (status == PLX_OK)
		*key = promised.key;
	else
		plx_region_void(mr->pd->adapter->mem, &promised);
	return status;
}

/* ---- deregistration ---- */

/* The first step, done once: a deregister that timed out does not retire the region again. The
 * table needs no lock for this. */
static enum plx_status
retire(struct plx_mr *mr)
{
	struct plx_adapter *adapter = mr->pd->adapter;
	enum plx_status status;

	if (mr->retired)
		return PLX_OK;
	status = plx_region_retire(adapter->mem, mr->region);
	if (status == PLX_OK) {
		mr->retired = true;
		mr->token = plx_engines_token(adapter);
	}
	return status;
}

static enum plx_status
deregister(struct plx_mr *mr, uint64_t timeout_ns)
{
	struct plx_adapter *adapter = mr->pd->adapter;
	enum plx_status status = retire(mr);

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
		plx_adapter_unmap_memory(adapter, mr->memory, mr->length);
	free_mr(mr);
	return PLX_OK;
}

enum plx_status
plx_mr_deregister(struct plx_mr *mr)
{
	return deregister(mr, PLX_COMMAND_TIMEOUT_NS);
}

enum plx_status
plx_mr_deregister_within(struct plx_mr *mr, uint32_t timeout_ms)
{
	return deregister(mr, timeout_ms * PLX_MSEC);
}

struct plx_key
plx_mr_key(const struct plx_mr *mr)
{
	return mr->key;
}
