/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Start with plx_san_rules_say_rdma().
 */
#include <string.h>

#include "plx_san_rules.h"

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
plx_san_rules_say_rdma(const struct plx_san_rule *rule, uint32_t rules, const struct plx_ip *ip,
		       uint16_t port)
{
	for (uint32_t i = 0; i < rules; i++)
		if (has_prefix(&rule[i].ip, rule[i].bits, ip) && port >= rule[i].first &&
		    port <= rule[i].last)
			return rule[i].rdma;
	return false;
}
