/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our own addresses, the networks that they reach, and routes to others. Private to lib/proto/net.
 * It never changes anything: results depend on the configuration alone.
 * Start with plx_address_next_hop().
 */
#ifndef PLX_ADDRESS_H
#define PLX_ADDRESS_H

#include "message.h"

/** Are all values in range? */
bool plx_address_config_is_good(const struct plx_net_config *config);

/**
 * Our address with the longest prefix that contains `ip`, the first if there are several; NULL if
 * none does.
 */
const struct plx_net_address *plx_address_of_network(const struct plx_net_config *config,
						     const struct plx_ip *ip);

/* How an address is reached. */
struct plx_next_hop {
	const struct plx_net_address *from; /* our own address */
	struct plx_ip ip;                   /* the neighbour, canonical */
};

/** Find the next hop of an address that is not ours. Returns false if it cannot be reached. */
bool plx_address_next_hop(const struct plx_net_config *config, const struct plx_ip *ip,
			  struct plx_next_hop *next_hop);

/** Is this a group that we are in: all nodes, or the solicited-node group of an address of ours? */
bool plx_address_is_our_group(const struct plx_net_config *config, const struct plx_ip *group);

/** Our address that equals `ip`; NULL if there is none. */
const struct plx_net_address *plx_address_own(const struct plx_net_config *config,
					      const struct plx_ip *ip);

/**
 * Can `ip` be the address of a station, as far as we know its network? In IPv4 networks of more
 * than two addresses, the first and the last one cannot.
 */
bool plx_address_is_unicast(const struct plx_net_config *config, const struct plx_ip *ip);

#endif
