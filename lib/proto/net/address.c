/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which addresses are ours, which network or route leads to an address, and whether a configuration
 * is valid. It never changes anything, and does not know neighbours.
 * Start with plx_address_next_hop(); it searches at most PLX_NET_ADDRESSES_MAX and
 * PLX_NET_ROUTES_MAX entries.
 */
#include "address.h"

static bool
same_address(const struct plx_ip *a, const struct plx_ip *b)
{
	return plx_ip_same_prefix(a, b, plx_ip_bits(a));
}

const struct plx_net_address *
plx_address_of_network(const struct plx_net_config *config, const struct plx_ip *ip)
{
	const struct plx_net_address *best = NULL;

	for (uint32_t i = 0; i < config->addresses; i++) {
		const struct plx_net_address *own = &config->address[i];

		if (plx_ip_same_prefix(&own->ip, ip, own->prefix_bits) &&
		    (!best || own->prefix_bits > best->prefix_bits))
			best = own;
	}
	return best;
}

/*
 * The route with the longest prefix that contains `ip`, the first if there are several; NULL if
 * none does.
 */
static const struct plx_net_route *
route_of(const struct plx_net_config *config, const struct plx_ip *ip)
{
	const struct plx_net_route *best = NULL;

	for (uint32_t i = 0; i < config->routes; i++) {
		const struct plx_net_route *route = &config->route[i];

		if (plx_ip_same_prefix(&route->net, ip, route->prefix_bits) &&
		    (!best || route->prefix_bits > best->prefix_bits))
			best = route;
	}
	return best;
}

bool
plx_address_next_hop(const struct plx_net_config *config, const struct plx_ip *ip,
		     struct plx_next_hop *next_hop)
{
	const struct plx_net_address *own = plx_address_of_network(config, ip);
	const struct plx_net_route *route = route_of(config, ip);

	if (route && (!own || route->prefix_bits > own->prefix_bits)) {
		next_hop->from = plx_address_of_network(config, &route->via);
		next_hop->ip = plx_ip_canonical(&route->via);
		return true;
	}
	if (!own)
		return false;
	next_hop->from = own;
	next_hop->ip = plx_ip_canonical(ip);
	return true;
}

const struct plx_net_address *
plx_address_own(const struct plx_net_config *config, const struct plx_ip *ip)
{
	for (uint32_t i = 0; i < config->addresses; i++)
		if (same_address(&config->address[i].ip, ip))
			return &config->address[i];
	return NULL;
}

bool
plx_address_is_our_group(const struct plx_net_config *config, const struct plx_ip *group)
{
	struct plx_ip joined = plx_nd_all_nodes();

	if (same_address(&joined, group))
		return true;
	for (uint32_t i = 0; i < config->addresses; i++) {
		joined = plx_nd_solicited_node(&config->address[i].ip);
		if (config->address[i].ip.version == 6 && same_address(&joined, group))
			return true;
	}
	return false;
}

static bool
is_listed(const uint8_t *macs, uint32_t n, const uint8_t *mac)
{
	for (uint32_t i = 0; i < n; i++)
		if (memcmp(macs + (size_t)i * PLX_MAC_BYTES, mac, PLX_MAC_BYTES) == 0)
			return true;
	return false;
}

uint32_t
plx_net_groups(const struct plx_net_address *addresses, uint32_t n, uint8_t *macs)
{
	struct plx_ip group = plx_nd_all_nodes();
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *next;

		if (addresses[i].ip.version != 6)
			continue;
		if (found == 0)
			plx_nd_group_mac(&group, macs + (size_t)found++ * PLX_MAC_BYTES);
		group = plx_nd_solicited_node(&addresses[i].ip);
		next = macs + (size_t)found * PLX_MAC_BYTES;
		plx_nd_group_mac(&group, next);
		found += !is_listed(macs, found, next);
	}
	return found;
}

bool
plx_address_is_unicast(const struct plx_net_config *config, const struct plx_ip *ip)
{
	const struct plx_net_address *own = plx_address_of_network(config, ip);
	uint32_t mask, host;

	if (!plx_ip_is_station(ip))
		return false;
	if (!own || ip->version != 4 || own->prefix_bits > 30)
		return true;
	mask = UINT32_MAX >> own->prefix_bits;
	host = ((uint32_t)plx_get16(ip->v) << 16 | plx_get16(ip->v + 2)) & mask;
	return host != 0 && host != mask;
}

static bool
address_is_good(const struct plx_net_config *config, uint32_t index)
{
	const struct plx_net_address *own = &config->address[index];

	if (own->ip.version != 4 && own->ip.version != 6)
		return false;
	if (own->prefix_bits > plx_ip_bits(&own->ip))
		return false;
	for (uint32_t i = 0; i < index; i++)
		if (same_address(&config->address[i].ip, &own->ip))
			return false;
	return true;
}

/* The gateway is a neighbour like any other, resolved by our address in its network. */
static bool
route_is_good(const struct plx_net_config *config, uint32_t index)
{
	const struct plx_net_route *route = &config->route[index];
	const struct plx_ip nothing = {.version = route->net.version};
	uint32_t bits = plx_ip_bits(&route->net);
	struct plx_ip behind = route->net;

	if ((route->net.version != 4 && route->net.version != 6) || route->prefix_bits > bits)
		return false;
	for (unsigned bit = 0; bit < route->prefix_bits; bit++)
		behind.v[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
	if (!same_address(&behind, &nothing))
		return false;
	for (uint32_t i = 0; i < index; i++)
		if (config->route[i].prefix_bits == route->prefix_bits &&
		    plx_ip_same_prefix(&config->route[i].net, &route->net, route->prefix_bits))
			return false;
	return route->via.version == route->net.version &&
	       plx_address_of_network(config, &route->via) &&
	       plx_address_is_unicast(config, &route->via) && !plx_address_own(config, &route->via);
}

static bool
sizes_are_good(const struct plx_net_config *config)
{
	if (config->addresses < 1 || config->addresses > PLX_NET_ADDRESSES_MAX)
		return false;
	if (config->neighbours < 1 || config->neighbours > PLX_NET_NEIGHBOURS_MAX)
		return false;
	if (config->frame_max != 0 &&
	    (config->frame_max < PLX_NET_FRAME_MIN || config->frame_max > PLX_NET_FRAME_MAX))
		return false;
	if (config->vlan > PLX_VLAN_MAX)
		return false;
	return config->routes <= PLX_NET_ROUTES_MAX && config->announce <= PLX_NET_ANNOUNCE_MAX;
}

bool
plx_address_config_is_good(const struct plx_net_config *config)
{
	if (!sizes_are_good(config))
		return false;
	for (uint32_t i = 0; i < config->addresses; i++)
		if (!address_is_good(config, i))
			return false;
	/*
	 * Only now are all prefixes known to be in range, and with them the last address of a
	 * network.
	 */
	for (uint32_t i = 0; i < config->addresses; i++)
		if (!plx_address_is_unicast(config, &config->address[i].ip))
			return false;
	for (uint32_t i = 0; i < config->routes; i++)
		if (!route_is_good(config, i))
			return false;
	return plx_mac_is_station(config->mac);
}
