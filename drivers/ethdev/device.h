/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding a port or creating a virtual one, and its ownership. Private to the room; it configures
 * nothing. Start with device_acquire().
 */
#ifndef PLX_ETHDEV_DEVICE_H
#define PLX_ETHDEV_DEVICE_H

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "plx_ethdev.h"

struct device {
	uint16_t port_id;
	bool made; /* device_acquire() created it */
	char name[RTE_ETH_NAME_MAX_LEN];
};

/**
 * Find or create the port of a device string, and become its owner.
 * Errors (with a sentence): NO_DEVICE
 */
enum plx_status device_acquire(const char *spec, struct device *out,
			       struct plx_why *why) PLX_MUST_CHECK;

/* What device_release() does with the port. */
enum device_fate {
	DEVICE_LEAVE = 1, /* leave it as it is */
	DEVICE_CLOSE,     /* free the buffers it holds; the EAL still knows the device */
	DEVICE_REMOVE,
};

/** Give up ownership of a port, which is already stopped. */
void device_release(struct device *device, enum device_fate fate);

/** The arguments with which a device was created; "" if none. */
const char *device_arguments(const struct rte_device *device);

#endif
