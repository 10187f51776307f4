/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our own addresses, the networks that they reach, and the routes beyond. Private to lib/proto/net.
 * It never changes anything: an answer follows from the configuration alone.
 * Start with plx_address_next_hop().
 */
#ifndef PLX_ADDRESS_H
#define PLX_ADDRESS_H

#include "message.h"

/** Is everything in range? */
bool plx_address_config_is_good(const struct plx_net_config *config);

/** The same address with zeros behind its bytes, as the table keeps it. */
struct plx_ip plx_ip_canonical(const struct plx_ip *ip);

/** Our address with the longest prefix that holds `ip`, the first of those; NULL: none does. */
const struct plx_net_address *plx_address_of_network(const struct plx_net_config *config,
						     const struct plx_ip *ip);

/* How an address is reached. */
struct plx_next_hop {
	const struct plx_net_address *from; /* ours */
	struct plx_ip ip;                   /* by this neighbour, canonical */
};

/** How an address that is not ours is reached; false: it is not. */
bool plx_address_next_hop(const struct plx_net_config *config, const struct plx_ip *ip,
			  struct plx_next_hop *next_hop);

/** Is this a group that we are in: all nodes, or the solicited-node group of an address of ours? */
bool plx_address_is_our_group(const struct plx_net_config *config, const struct plx_ip *group);

/** Our address that is `ip`; NULL: none is. */
const struct plx_net_address *plx_address_own(const struct plx_net_config *config,
					      const struct plx_ip *ip);

/** Can `ip` be one station, as far as we know its network? Not its first or last address, in IPv4
 * with more than two. */
bool plx_address_is_unicast(const struct plx_net_config *config, const struct plx_ip *ip);

#endif
