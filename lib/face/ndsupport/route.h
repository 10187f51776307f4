/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ways to an address: by the adapters of the configuration file, which the kernel does not know,
 * and by the kernel. It owns no state: both are asked anew each time. Start with route_find().
 */
#ifndef PLX_NDSUPPORT_ROUTE_H
#define PLX_NDSUPPORT_ROUTE_H

#include "plx_types.h"

#include <stdbool.h>
#include <stdint.h>

struct route {
	struct plx_ip local;      /* what to send from; version 0: the kernel did not say */
	uint32_t interface_index; /* PLX_INTERFACE_FIRST + place of the adapter, or the kernel's */
};

/**
 * The longest prefix of all adapters of the configuration file, an address of theirs being the
 * longest; when none has one, the kernel's answer.
 *
 * @param scope of a link-local IPv6 address, as the kernel numbers interfaces; else 0
 * Returns: 0, or errno: ENETUNREACH, EHOSTUNREACH, or what keeps the kernel from answering
 */
int route_find(const struct plx_ip *to, uint32_t scope, struct route *out);

/* ---- kernel.c
 * ------------------------------------------------------------------------------------
 */

/** The kernel's part of it, by rtnetlink. */
int kernel_route(const struct plx_ip *to, uint32_t scope, struct route *out);

#endif
