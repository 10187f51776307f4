/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interfaces and routes as Windows reports them: the adapters of the configuration file, which the
 * kernel does not know, then the kernel's. It owns no state; both are read anew each time, and no
 * adapter is opened. Start with plx_interfaces_read() and plx_route_find().
 *
 * Threads: every call from any thread.
 */
#ifndef PLX_INTERFACES_H
#define PLX_INTERFACES_H

#include "plx_types.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	PLX_INTERFACE_ADDRESSES_MAX = 32, /* further addresses are omitted */
	PLX_INTERFACE_GATEWAYS_MAX = 16,
	PLX_INTERFACE_NAME_ROOM = 32,
};

struct plx_interface {
	char name[PLX_INTERFACE_NAME_ROOM];
	char description[300];
	uint32_t index, mtu, type;
	uint8_t mac[6];
	bool has_mac, is_up;
	bool is_adapter; /* of the configuration file; else the kernel's */
	struct {
		struct plx_ip ip;
		uint8_t prefix_bits;
	} address[PLX_INTERFACE_ADDRESSES_MAX];
	uint32_t addresses;
	struct plx_ip gateway[PLX_INTERFACE_GATEWAYS_MAX];
	uint32_t gateways;
};

struct plx_interfaces {
	struct plx_interface *one; /* [count], to be freed */
	uint32_t count;
};

/** Returns: false: no memory */
bool plx_interfaces_read(struct plx_interfaces *out);

struct plx_route {
	struct plx_ip local; /* source address; version 0: the kernel did not return one */
	struct plx_ip net;   /* for which destinations it is */
	uint8_t prefix_bits; /* ... of `net`; all of them if the kernel has answered */
	struct plx_ip via;   /* gateway; version 0: none */
	uint32_t interface_index;
};

/**
 * Find the route with the longest prefix among all adapters of the configuration file; a local
 * address of theirs is the longest. If no adapter has a route, the kernel is queried.
 *
 * @param scope of a link-local IPv6 address, as the kernel numbers interfaces; else 0
 * @param only  index of the one interface that counts; 0: all count
 * Returns: 0, or errno: ENETUNREACH, EHOSTUNREACH, or the reason why the kernel cannot answer.
 * `out` is then undefined
 */
int plx_route_find(const struct plx_ip *to, uint32_t scope, uint32_t only, struct plx_route *out);

#endif
