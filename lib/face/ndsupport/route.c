/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The routing table given by the adapters of the configuration file: their networks and routes,
 * longest prefix first, as each adapter's engine has it. Adapters are not opened. Start with
 * route_find().
 */
#include "route.h"

#include "address.h"
#include "plx_verbs.h"

#include <iphlpapi.h>

enum {
	OWN_BITS = 129, /* a local address precedes every network */
};

static bool
is_within(const struct plx_ip *ip, const struct plx_ip *net, uint32_t bits)
{
	if (ip->version != net->version)
		return false;
	for (uint32_t i = 0; i < bits; i++)
		if ((ip->v[i / 8] ^ net->v[i / 8]) & (0x80u >> (i % 8)))
			return false;
	return true;
}

/* The index of the adapter's address whose network contains `ip`, by the longest prefix. Returns:
 * -1: none */
static int
own_network(const struct plx_adapter_options *options, const struct plx_ip *ip)
{
	int best = -1;

	for (uint32_t i = 0; i < options->addresses; i++)
		if (is_within(ip, &options->address[i].ip, options->address[i].prefix_bits) &&
		    (best < 0 ||
		     options->address[i].prefix_bits > options->address[best].prefix_bits))
			best = (int)i;
	return best;
}

/* The prefix by which an adapter reaches `to`, and the local address to use. Returns: bits of the
 * prefix; -1: unreachable */
static int
match(const struct plx_adapter_options *options, const struct plx_ip *to, struct plx_ip *local)
{
	int bits = -1, own = own_network(options, to);

	for (uint32_t i = 0; i < options->addresses; i++)
		if (address_same(&options->address[i].ip, to)) {
			*local = *to;
			return OWN_BITS;
		}
	if (own >= 0) {
		*local = options->address[own].ip;
		bits = options->address[own].prefix_bits;
	}
	for (uint32_t i = 0; i < options->routes; i++) {
		int via = own_network(options, &options->route[i].via);

		if (via < 0 || options->route[i].prefix_bits <= bits ||
		    !is_within(to, &options->route[i].net, options->route[i].prefix_bits))
			continue;
		bits = options->route[i].prefix_bits;
		*local = options->address[via].ip;
	}
	return bits;
}

int
route_find(const struct plx_ip *to, uint32_t scope, struct route *out)
{
	char names[PLX_ADAPTERS_MAX][PLX_ADAPTER_NAME_MAX + 1];
	int n = plx_adapter_list(names, PLX_ADAPTERS_MAX, NULL), best = -1;
	struct plx_adapter_options options;
	struct plx_ip local;

	/* an invalid file has no adapters; plx_ndsupport_check() reports it */
	for (int i = 0; i < n && i < PLX_ADAPTERS_MAX && !address_is_loopback(to); i++) {
		int bits;

		if (plx_adapter_options_load(names[i], &options, NULL) != PLX_OK)
			continue;
		bits = match(&options, to, &local);
		if (bits <= best)
			continue;
		best = bits;
		out->local = local;
		out->interface_index = options.interface_index;
	}
	return best >= 0 ? 0 : kernel_route(to, scope, out);
}
