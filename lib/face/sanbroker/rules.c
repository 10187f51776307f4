/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What goes over RDMA.
 */
#include "broker.h"

static bool
has_prefix(const struct plx_ip *prefix, uint8_t bits, const struct plx_ip *ip)
{
	uint32_t whole = bits / 8, rest = bits % 8;

	if (prefix->version == 0)
		return true;
	if (prefix->version != ip->version || memcmp(prefix->v, ip->v, whole) != 0)
		return false;
	return rest == 0 || ((prefix->v[whole] ^ ip->v[whole]) >> (8 - rest)) == 0;
}

bool
broker_is_rdma(const struct san_broker *broker, const struct san_address *address)
{
	for (uint32_t i = 0; i < broker->options.rules; i++) {
		const struct san_rule *rule = &broker->rule[i];

		if (has_prefix(&rule->ip, rule->bits, &address->ip) &&
		    address->port >= rule->first && address->port <= rule->last)
			return rule->rdma;
	}
	return false;
}
