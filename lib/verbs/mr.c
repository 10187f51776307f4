/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions: registering and deregistering memory. The host of the adapter keeps the keys.
 * Start with plx_mr_register().
 */
#include <stdlib.h>
#include <string.h>

#include "plx_engine.h"
#include "plx_mem.h"
#include "plx_objects.h"

static struct plx_location
place_of(const struct plx_pd *pd, const void *memory, size_t bytes)
{
	struct plx_seat *seat = pd->adapter->seat;

	return seat->ops->place(seat, memory, bytes);
}

/* @param op MR_REGISTER, MR_PAGES */
static enum plx_status
register_by(struct plx_pd *pd, enum plx_ipc_op op, const struct plx_ipc_mr_register *request,
	    struct plx_mr **mr)
{
	struct plx_mr *made = calloc(1, sizeof(*made));
	struct plx_ipc_mr_registered reply;
	enum plx_status status;

	if (made == NULL)
		return PLX_NO_MEMORY;
	status = adapter_call(pd->adapter, op, request, &reply, NULL);
	if (status != PLX_OK) {
		free(made);
		return status;
	}
	*made = (struct plx_mr){.pd = pd, .object = reply.object, .key = reply.key};
	*mr = made;
	return PLX_OK;
}

enum plx_status
plx_mr_register(struct plx_pd *pd, void *memory, size_t length, uint32_t access, struct plx_mr **mr)
{
	const struct plx_ipc_mr_register request = {
		.pd = pd->object,
		.place = place_of(pd, memory, length),
		.va = (uintptr_t)memory,
		.length = length,
		.access = access,
	};

	return register_by(pd, PLX_IPC_MR_REGISTER, &request, mr);
}

/* A host in another process reads a list in memory that it shares. */
static bool
is_remote(const struct plx_pd *pd)
{
	return pd->adapter->seat->ops->remote;
}

static enum plx_status
register_list(struct plx_pd *pd, struct plx_ipc_mr_register *request, const uint64_t *page,
	      size_t bytes, struct plx_mr **mr)
{
	request->place = place_of(pd, page, bytes);
	return register_by(pd, PLX_IPC_MR_PAGES, request, mr);
}

enum plx_status
plx_mr_register_pages(struct plx_pd *pd, uint64_t va, const uint64_t *page, uint64_t length,
		      uint32_t access, struct plx_mr **mr)
{
	struct plx_ipc_mr_register request = {
		.pd = pd->object,
		.va = va,
		.length = length,
		.access = access,
	};
	enum plx_status status;
	uint64_t *copy;
	size_t bytes;

	if (!is_remote(pd) || page == NULL || !plx_is_range(va, length))
		return register_list(pd, &request, page, sizeof(*page), mr);
	bytes = plx_pages_spanned(va, length) * sizeof(*page);
	copy = plx_mem_alloc(bytes, -1, NULL);
	if (copy == NULL)
		return PLX_NO_MEMORY;
	memcpy(copy, page, bytes);
	status = register_list(pd, &request, copy, bytes, mr);
	plx_mem_free(copy);
	return status;
}

/* ---- fast registration ---- */

static void
free_mr(struct plx_mr *mr)
{
	plx_mem_free(mr->list);
	free(mr);
}

enum plx_status
plx_mr_create_fast(struct plx_pd *pd, uint32_t pages, struct plx_mr **mr)
{
	const struct plx_ipc_mr_fast request = {.pd = pd->object, .pages = pages};
	struct plx_mr *made = calloc(1, sizeof(*made));
	struct plx_ipc_object reply;
	enum plx_status status;

	if (made == NULL)
		return PLX_NO_MEMORY;
	if (is_remote(pd) && pages > 0 && pages <= PLX_FAST_PAGES_MAX) {
		made->list = plx_mem_alloc(pages * sizeof(*made->list), -1, NULL);
		if (made->list == NULL) {
			free(made);
			return PLX_NO_MEMORY;
		}
	}
	status = adapter_call(pd->adapter, PLX_IPC_MR_FAST, &request, &reply, NULL);
	if (status != PLX_OK) {
		free_mr(made);
		return status;
	}
	made->pd = pd;
	made->object = reply.object;
	made->fast = true;
	made->pages = pages;
	*mr = made;
	return PLX_OK;
}

/* The post was refused: the promised key will not be made. */
static void
withdraw(const struct plx_mr *mr, const struct plx_ipc_reg_promised *promised)
{
	const struct plx_ipc_reg_void request = {
		.mr = mr->object,
		.slot = promised->slot,
		.life = promised->life,
		.key = promised->key,
		.list = promised->list,
	};
	struct plx_ipc_nothing none;

	(void)!adapter_call(mr->pd->adapter, PLX_IPC_REG_VOID, &request, &none, NULL);
}

enum plx_status
plx_post_reg(struct plx_qp *qp, const struct plx_reg *reg, struct plx_key *key)
{
	const struct plx_mr *mr = reg->mr;
	struct plx_ipc_reg_promise request = {
		.mr = mr->object,
		.qp = {qp->object},
		.va = reg->va,
		.length = reg->length,
		.access = reg->access,
	};
	struct plx_ipc_reg_promised promised;
	struct plx_wqe_region region;
	enum plx_status status;

	if (!mr->fast)
		return PLX_NO_KEY;
	if (mr->pd != qp->pd)
		return PLX_DENIED;
	if (reg->page != NULL && reg->pages == 0)
		return PLX_INVALID;
	if (reg->page != NULL && mr->list != NULL && reg->pages > mr->pages)
		return PLX_INVALID;
	if (reg->page != NULL) {
		const uint64_t *page = reg->page;

		if (mr->list != NULL)
			page = memcpy(mr->list, reg->page, reg->pages * sizeof(*page));
		request.place = place_of(mr->pd, page, reg->pages * sizeof(*page));
		request.pages = reg->pages;
	} else {
		request.place = place_of(mr->pd, reg->memory, reg->length);
	}
	status = adapter_call(mr->pd->adapter, PLX_IPC_REG_PROMISE, &request, &promised, NULL);
	if (status != PLX_OK)
		return status;
	region = (struct plx_wqe_region){
		.va = reg->va,
		.length = reg->length,
		.host = promised.host,
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
		withdraw(mr, &promised);
	return status;
}

/* ---- deregistration ---- */

static enum plx_status
deregister(struct plx_mr *mr, uint64_t timeout_ns)
{
	const struct plx_ipc_mr_deregister request = {mr->object, timeout_ns};
	struct plx_ipc_nothing none;
	enum plx_status status =
		adapter_call(mr->pd->adapter, PLX_IPC_MR_DEREGISTER, &request, &none, NULL);

	if (status == PLX_OK)
		free_mr(mr);
	return status;
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
