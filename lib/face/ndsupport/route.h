/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Routes to an address: through the adapters of the configuration file, which the kernel does not
 * know, and through the kernel. It owns no state; both are read anew each time. Start with
 * route_find().
 */
#ifndef PLX_NDSUPPORT_ROUTE_H
#define PLX_NDSUPPORT_ROUTE_H

#include "plx_types.h"

#include <stdbool.h>
#include <stdint.h>

struct route {
	struct plx_ip local;      /* source address; version 0: the kernel did not return one */
	uint32_t interface_index; /* of the adapter, or the kernel's */
};

/**
 * Find the route with the longest prefix among all adapters of the configuration file; a local
 * address of theirs is the longest. If no adapter has a route, the kernel is queried.
 *
 * @param scope of a link-local IPv6 address, as the kernel numbers interfaces; else 0
 * Returns: 0, or errno: ENETUNREACH, EHOSTUNREACH, or the reason why the kernel cannot answer
 */
int route_find(const struct plx_ip *to, uint32_t scope, struct route *out);

/* ---- kernel.c ---- */

/** Query the kernel by rtnetlink. */
int kernel_route(const struct plx_ip *to, uint32_t scope, struct route *out);

#endif
