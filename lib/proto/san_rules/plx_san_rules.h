/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which connections of programs of sockets go over RDMA. It keeps nothing. Start with
 * plx_san_rules_say_rdma().
 */
#ifndef PLX_SAN_RULES_H
#define PLX_SAN_RULES_H

#include "plx_types.h"

enum {
	PLX_SAN_RULES_MAX = 256,
};

struct plx_san_rule {
	struct plx_ip ip;     /* version 0: any */
	uint8_t bits;         /* of its prefix */
	uint16_t first, last; /* ports */
	bool rdma;            /* false: TCP */
};

/** The first rule that fits says it; without one it is TCP.
 * @param ip, port the peer's address; a listener's own */
bool plx_san_rules_say_rdma(const struct plx_san_rule *rule, uint32_t rules,
			    const struct plx_ip *ip, uint16_t port);

#endif
