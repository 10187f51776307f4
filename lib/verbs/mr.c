/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Regions: registering and deregistering memory.
 * It never holds the adapter's lock while it waits for an engine.
 * Start with plx_mr_register().
 */
#include <stdlib.h>

#include "objects.h"

/* Is it memory, with a first and a last byte? */
static bool
is_memory(const void *memory, uint64_t length)
{
	return memory != NULL && length != 0 && length - 1 <= UINTPTR_MAX - (uintptr_t)memory;
}

/* Insert it into the key table; the key is valid from here on. */
static enum plx_status
publish(struct plx_mr *mr, uint32_t access)
{
	struct plx_adapter *adapter = mr->pd->adapter;
	const struct plx_region_attr attr = {
		.va = (uintptr_t)mr->memory,
		.host = mr->memory,
		.length = mr->length,
		.access = {(uint8_t)access},
	};
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	status = plx_region_register(adapter->mem, mr->pd->domain, &attr, &mr->region, &mr->key);
	if (status == PLX_OK)
		adapter->count.mrs++;
	pthread_mutex_unlock(&adapter->lock);
	return status;
}

enum plx_status
plx_mr_register(struct plx_pd *pd, void *memory, size_t length, uint32_t access, struct plx_mr **mr)
{
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
	status = publish(made, access);
	if (status != PLX_OK) {
		if (made->mapped)
			plx_adapter_unmap_memory(adapter, memory, length);
		free(made);
		return status;
	}
	*mr = made;
	return PLX_OK;
}

/* ---- fast registration ---- */

enum plx_status
plx_mr_create_fast(struct plx_pd *pd, struct plx_mr **mr)
{
	struct plx_adapter *adapter = pd->adapter;
	struct plx_mr *made = calloc(1, sizeof(*made));
	enum plx_status status;

	if (made == NULL)
		return PLX_NO_MEMORY;
	made->pd = pd;
	made->fast = true;
	pthread_mutex_lock(&adapter->lock);
	status = plx_region_reserve(adapter->mem, pd->domain, &made->region);
	if (status == PLX_OK)
		adapter->count.mrs++;
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK) {
		free(made);
		return status;
	}
	*mr = made;
	return PLX_OK;
}

enum plx_status
plx_post_reg(struct plx_qp *qp, const struct plx_reg *reg, struct plx_key *key)
{
	const uint32_t rights = PLX_ACCESS_ALL & ~(PLX_ACCESS_BIND | PLX_ACCESS_STABLE);
	const struct plx_mr *mr = reg->mr;
	struct plx_promise promise;
	struct plx_wqe_region region;
	enum plx_status status;

	if (!mr->fast)
		return PLX_NO_KEY;
	if (mr->pd != pd_of(qp))
		return PLX_DENIED;
	if (reg->access & ~rights || !is_memory(reg->memory, reg->length) ||
	    reg->length - 1 > UINT64_MAX - reg->va)
		return PLX_INVALID;
	status = plx_region_promise(mr->pd->adapter->mem, mr->region, &promise);
	if (status != PLX_OK)
		return status;
	region = (struct plx_wqe_region){
		.va = reg->va,
		.length = reg->length,
		.host = (uintptr_t)reg->memory,
		.slot = promise.slot,
		.life = promise.life,
		.key = promise.key,
		.access = {(uint8_t)(reg->access | PLX_ACCESS_INVALIDATE)},
	};
	status = plx_engine_qp_post_reg(qp, reg->wr_id, reg->flags, &region);
	if (status == PLX_OK)
		*key = promise.key;
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
	free(mr);
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
