/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Address handles, by which a program names the peer of a datagram.
 * It never resolves a neighbour itself: the half of a handle that is the engine's does
 * (lib/engine/link/ah.c).
 * Start with plx_ah_create().
 */
#include "plx_objects.h"

enum plx_status
plx_ah_create(struct plx_pd *pd, const struct plx_ah_options *options, struct plx_ah **out,
	      struct plx_why *why)
{
	const struct plx_ipc_ah_create request = {.pd = pd->object, .options = *options};
	struct plx_adapter *adapter = pd->adapter;
	struct plx_ah *ah = plx_object_alloc(sizeof(*ah));
	struct plx_ipc_ah_created reply;
	enum plx_status status;

	if (ah == NULL) {
		plx_why_set(why, "there is no memory for an address handle");
		return PLX_NO_MEMORY;
	}
	status = adapter_call(adapter, PLX_IPC_AH_CREATE, &request, &reply, why);
	if (status != PLX_OK) {
		free(ah);
		return status;
	}
	*ah = (struct plx_ah){
		.owner = adapter,
		.domain = {reply.domain},
		.object = reply.object.v,
		.pd = pd,
	};
	memcpy(ah->number, reply.number, sizeof(ah->number));
	*out = ah;
	return PLX_OK;
}

enum plx_status
plx_ah_destroy(struct plx_ah *ah)
{
	enum plx_status status = adapter_call_on(ah->pd->adapter, PLX_IPC_DESTROY, ah->object);

	if (status == PLX_OK)
		free(ah);
	return status;
}
