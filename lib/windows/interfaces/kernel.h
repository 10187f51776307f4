/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel's part of plx_route_find().
 */
#ifndef PLX_INTERFACES_KERNEL_H
#define PLX_INTERFACES_KERNEL_H

#include "plx_interfaces.h"

/** Query the kernel by rtnetlink.
 * @param by index of the interface that the route must use; 0: any */
int kernel_route(const struct plx_ip *to, uint32_t by, struct plx_route *out);

#endif
