/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The routing table given by the adapters of the configuration file: their networks and routes,
 * longest prefix first, as each adapter's engine has it. Adapters are not opened. Start with
 * plx_route_find().
 */
#include "kernel.h"

#include "plx_base.h"
#include "plx_verbs.h"

#include <errno.h>
#include <string.h>

enum {
	OWN_BITS = 129, /* a local address precedes every network */
};

static bool
is_loopback(const struct plx_ip *ip)
{
	static const uint8_t one[16] = {[15] = 1};

	return ip->version == 4 ? ip->v[0] == 127 : memcmp(ip->v, one, sizeof(one)) == 0;
}

static struct plx_ip
network_of(const struct plx_ip *ip, uint32_t bits)
{
	struct plx_ip net = plx_ip_canonical(ip);

	for (uint32_t bit = bits; bit < plx_ip_bits(ip); bit++)
		net.v[bit / 8] &= (uint8_t) ~(0x80u >> (bit % 8));
	return net;
}

/* The index of the adapter's address whose network contains `ip`, by the longest prefix. Returns:
 * -1: none */
static int
own_network(const struct plx_adapter_options *options, const struct plx_ip *ip)
{
	int best = -1;

	for (uint32_t i = 0; i < options->addresses; i++)
		if (plx_ip_same_prefix(ip, &options->address[i].ip,
				       options->address[i].prefix_bits) &&
		    (best < 0 ||
		     options->address[i].prefix_bits > options->address[best].prefix_bits))
			best = (int)i;
	return best;
}

/* How an adapter reaches `to`. Returns: bits of the prefix; -1: unreachable */
static int
match(const struct plx_adapter_options *options, const struct plx_ip *to, struct plx_route *out)
{
	int bits = -1, own = own_network(options, to);

	*out = (struct plx_route){.interface_index = options->interface_index};
	for (uint32_t i = 0; i < options->addresses; i++)
		if (plx_ip_same_prefix(&options->address[i].ip, to, plx_ip_bits(to))) {
			out->local = out->net = plx_ip_canonical(to);
			out->prefix_bits = (uint8_t)plx_ip_bits(to);
			return OWN_BITS;
		}
	if (own >= 0) {
		out->local = options->address[own].ip;
		out->prefix_bits = options->address[own].prefix_bits;
		out->net = network_of(&out->local, out->prefix_bits);
		bits = out->prefix_bits;
	}
	for (uint32_t i = 0; i < options->routes; i++) {
		int via = own_network(options, &options->route[i].via);

		if (via < 0 || options->route[i].prefix_bits <= bits ||
		    !plx_ip_same_prefix(to, &options->route[i].net, options->route[i].prefix_bits))
			continue;
		bits = options->route[i].prefix_bits;
		out->local = options->address[via].ip;
		out->net = options->route[i].net;
		out->prefix_bits = options->route[i].prefix_bits;
		out->via = options->route[i].via;
	}
	return bits;
}

/* @param has_only [out] is there an adapter of this index?
 * Returns: bits of the prefix by which an adapter reaches `to`; -1: none does */
static int
find_adapter(const struct plx_ip *to, uint32_t only, bool *has_only, struct plx_route *out)
{
	char names[PLX_ADAPTERS_MAX][PLX_ADAPTER_NAME_MAX + 1];
	int n = plx_adapter_list(names, PLX_ADAPTERS_MAX, NULL), best = -1;
	struct plx_adapter_options options;
	struct plx_route route;

	*has_only = false;
	/* an invalid file has no adapters; plx_ndsupport_check() reports it */
	for (int i = 0; i < n && i < PLX_ADAPTERS_MAX; i++) {
		int bits;

		if (plx_adapter_options_load(names[i], &options, NULL) != PLX_OK ||
		    (only && only != options.interface_index))
			continue;
		*has_only |= only != 0;
		bits = match(&options, to, &route);
		if (bits <= best)
			continue;
		best = bits;
		*out = route;
	}
	return best;
}

int
plx_route_find(const struct plx_ip *to, uint32_t scope, uint32_t only, struct plx_route *out)
{
	bool has_only;

	if (find_adapter(to, only, &has_only, out) >= 0 && !is_loopback(to))
		return 0;
	if (has_only || (scope && only && scope != only))
		return ENETUNREACH;
	return kernel_route(to, only ? only : scope, out);
}
