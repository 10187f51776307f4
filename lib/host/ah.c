/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Address handles of a seat, by which its datagrams name their receivers.
 * It never resolves a neighbour itself: the engine's half of a handle does (lib/engine/link/ah.c).
 * Start with host_ah_create().
 */
#include <stdlib.h>
#include <string.h>

#include "host.h"

_Static_assert((int)PLX_ENGINES_MAX == (int)PLX_IPC_ENGINES_MAX &&
		       (int)PLX_ENGINES_MAX == (int)AH_ENGINES_MAX,
	       "a handle has a number at each engine");

enum {
	DSCP_MAX = 63,
	DSCP_OF_ADAPTER = 0xff,
};

static enum plx_status
check_options(const struct host_adapter *adapter, const struct plx_ah_options *options,
	      struct plx_why *why)
{
	const struct plx_ip *remote = &options->remote, *local = &options->local;

	if (remote->version != 4 && remote->version != 6) {
		plx_why_set(why, "the peer's address has version %u; give an IPv4 or IPv6 address",
			    remote->version);
		return PLX_INVALID;
	}
	if (local->version != 0 &&
	    (local->version != remote->version || !plx_net_is_own(adapter->net[0], local))) {
		plx_why_set(why,
			    "%s cannot be where %s is reached from; give an address of adapter %s "
			    "of the same version, or none",
			    plx_address_text(local).s, plx_address_text(remote).s,
			    adapter->info.name);
		return PLX_INVALID;
	}
	if (options->dscp > DSCP_MAX && options->dscp != DSCP_OF_ADAPTER) {
		plx_why_set(why, "dscp is %u; give 0 to %d, or 255 for the adapter's",
			    options->dscp, DSCP_MAX);
		return PLX_INVALID;
	}
	return PLX_OK;
}

/* Write the sentence for a status from the engine. */
static void
explain(const struct host_adapter *adapter, const struct plx_ah_options *options,
	enum plx_status status, struct plx_why *why)
{
	if (status == PLX_UNREACHABLE)
		plx_why_set(why,
			    "%s is in no network of adapter %s, or not the address of one station; "
			    "check addresses and prefixes",
			    plx_address_text(&options->remote).s, adapter->info.name);
	else if (status == PLX_FULL)
		plx_why_set(why, "adapter %s has all of its %d address handles; destroy one",
			    adapter->info.name, PLX_ENGINE_AHS_MAX);
	else if (status == PLX_NO_MEMORY)
		plx_why_set(why, "there is no memory for address handles; give the EAL more");
	else if (status == PLX_TIMEOUT)
		plx_why_set(why,
			    "the engine of adapter %s has not answered for %d s; in worker mode "
			    "see whether its core is free",
			    adapter->info.name, (int)(PLX_COMMAND_TIMEOUT_NS / PLX_SEC));
	else
		plx_why_set(why, "adapter %s cannot make the address handle: %s",
			    adapter->info.name, plx_status_text(status));
}

/* Give it back at all engines that have it; a call after TIMEOUT goes on where that stopped. */
static enum plx_status
destroy_everywhere(struct host_adapter *adapter, struct host_ah *ah)
{
	enum plx_status status = PLX_OK;

	while (ah->engines > 0 && status == PLX_OK) {
		uint32_t last = ah->engines - 1;

		status = plx_ah_back_destroy(adapter->engine[last], ah->number[last]);
		if (status == PLX_OK)
			ah->engines = last;
	}
	return status;
}

/* Any engine may have a queue pair that sends with it. */
static enum plx_status
create_everywhere(struct host_adapter *adapter, struct host_ah *ah,
		  const struct plx_engine_path *path)
{
	enum plx_status status = PLX_OK;

	while (ah->engines < adapter->engines && status == PLX_OK) {
		uint32_t next = ah->engines;

		status = plx_ah_back_create(adapter->engine[next], ah->domain, path,
					    &ah->number[next]);
		if (status == PLX_OK)
			ah->engines = next + 1;
	}
	return status;
}

/* Create the handle, with a hold on the domain. On errors the caller destroys it. */
static enum plx_status
create(struct host_adapter *adapter, struct host_ah *ah, const struct plx_ah_options *options)
{
	const struct plx_engine_path path = {
		.local = options->local,
		.remote = options->remote,
		.dscp = options->dscp == DSCP_OF_ADAPTER ? adapter->options.dscp : options->dscp,
		.hop_limit = options->hop_limit,
	};
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	status = plx_domain_hold(adapter->mem, ah->domain);
	if (status == PLX_OK) {
		ah->held = true;
		adapter->count.ahs++;
	}
	pthread_mutex_unlock(&adapter->lock);
	return status == PLX_OK ? create_everywhere(adapter, ah, &path) : status;
}

HOST_FN(host_ah_create)
{
	const struct plx_ipc_ah_create *request = arg;
	const struct host_pd *pd = host_find(seat, request->pd, HOST_PD);
	enum plx_status status = check_options(seat->adapter, &request->options, why);
	struct plx_ipc_ah_created *made = reply;
	struct host_ah *ah;

	if (pd == NULL)
		return PLX_NO_KEY;
	if (status != PLX_OK)
		return status;
	ah = calloc(1, sizeof(*ah));
	if (ah == NULL)
		return PLX_NO_MEMORY;
	ah->domain = pd->domain;
	status = host_enter(seat, &ah->object, HOST_AH, why);
	if (status != PLX_OK) {
		free(ah);
		return status;
	}
	status = create(seat->adapter, ah, &request->options);
	if (status != PLX_OK) {
		explain(seat->adapter, &request->options, status, why);
		/* If an engine has stopped meanwhile, it stays until the seat ends. */
		(void)host_ah_destroy(seat, &ah->object);
		return status;
	}
	*made = (struct plx_ipc_ah_created){
		.object = {ah->object.number},
		.domain = ah->domain.id,
	};
	memcpy(made->number, ah->number, sizeof(made->number));
	return PLX_OK;
}

enum plx_status
host_ah_destroy(struct host_seat *seat, struct host_object *object)
{
	struct host_ah *ah = (struct host_ah *)object;
	struct host_adapter *adapter = seat->adapter;
	enum plx_status status = destroy_everywhere(adapter, ah);

	if (status != PLX_OK)
		return status;
	if (ah->held) {
		pthread_mutex_lock(&adapter->lock);
		plx_domain_unhold(adapter->mem, ah->domain);
		adapter->count.ahs--;
		pthread_mutex_unlock(&adapter->lock);
	}
	host_leave(seat, object);
	free(ah);
	return PLX_OK;
}
