/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All interfaces: adapters of the configuration file, and those of the kernel. It owns no state.
 * Start with interfaces_read().
 */
#ifndef PLX_NDSUPPORT_INTERFACES_H
#define PLX_NDSUPPORT_INTERFACES_H

#include "plx_types.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	INTERFACE_ADDRESSES_MAX = 32, /* further addresses are omitted */
	INTERFACE_GATEWAYS_MAX = 16,
	INTERFACE_NAME_MAX = 32,
};

struct interface {
	char name[INTERFACE_NAME_MAX];
	char description[300];
	uint32_t index, mtu, type;
	uint8_t mac[6];
	bool has_mac, is_up;
	struct {
		struct plx_ip ip;
		uint8_t prefix_bits;
	} address[INTERFACE_ADDRESSES_MAX];
	uint32_t addresses;
	struct plx_ip gateway[INTERFACE_GATEWAYS_MAX];
	uint32_t gateways;
};

struct interfaces {
	struct interface *one; /* [count], to be freed */
	uint32_t count;
};

/** Returns: false: no memory */
bool interfaces_read(struct interfaces *out);

#endif
