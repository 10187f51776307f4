/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Address handles, by which a program names the peer of a datagram.
 * It never resolves a neighbour itself: the half of a handle that is the engine's does
 * (lib/engine/link/ah.c).
 * Start with plx_ah_create().
 */
#include "objects.h"

enum {
	DSCP_MAX = 63,
	DSCP_OF_ADAPTER = 0xff,
};

static enum plx_status
check_options(const struct plx_adapter *adapter, const struct plx_ah_options *options,
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
explain(const struct plx_adapter *adapter, const struct plx_ah_options *options,
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

/* Create the handle, with a hold on the domain. */
static enum plx_status
create(struct plx_pd *pd, const struct plx_ah_options *options, struct plx_ah **ah)
{
	struct plx_adapter *adapter = pd->adapter;
	const struct plx_engine_path path = {
		.local = options->local,
		.remote = options->remote,
		.dscp = options->dscp == DSCP_OF_ADAPTER ? adapter->options.dscp : options->dscp,
		.hop_limit = options->hop_limit,
	};
	enum plx_status status;

	pthread_mutex_lock(&adapter->lock);
	status = plx_domain_hold(adapter->mem, pd->domain);
	pthread_mutex_unlock(&adapter->lock);
	if (status != PLX_OK)
		return status;
	status = plx_link_ah_create(plx_adapter_home(adapter), pd, pd->domain, &path, ah);
	pthread_mutex_lock(&adapter->lock);
	if (status == PLX_OK)
		adapter->count.ahs++;
	else
		plx_domain_unhold(adapter->mem, pd->domain);
	pthread_mutex_unlock(&adapter->lock);
	return status;
}

enum plx_status
plx_ah_create(struct plx_pd *pd, const struct plx_ah_options *options, struct plx_ah **ah,
	      struct plx_why *why)
{
	enum plx_status status = check_options(pd->adapter, options, why);

	if (status != PLX_OK)
		return status;
	status = create(pd, options, ah);
	if (status != PLX_OK)
		explain(pd->adapter, options, status, why);
	return status;
}

enum plx_status
plx_ah_destroy(struct plx_ah *ah)
{
	struct plx_pd *pd = plx_link_ah_pd(ah);
	enum plx_status status = plx_link_ah_destroy(ah);

	if (status != PLX_OK)
		return status;
	pthread_mutex_lock(&pd->adapter->lock);
	plx_domain_unhold(pd->adapter->mem, pd->domain);
	pd->adapter->count.ahs--;
	pthread_mutex_unlock(&pd->adapter->lock);
	return PLX_OK;
}
