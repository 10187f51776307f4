/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a port comes from and goes to: finding it, making a virtual one, taking and giving up
 * ownership. Private to the room; it configures nothing. Start with device_acquire().
 */
#ifndef PLX_ETHDEV_DEVICE_H
#define PLX_ETHDEV_DEVICE_H

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "plx_ethdev.h"

struct device {
	uint16_t port_id;
	bool made; /* by device_acquire() */
	char name[RTE_ETH_NAME_MAX_LEN];
};

/**
 * Find the port of a device string, or make it, and become its owner.
 * Errors (with a sentence): NO_DEVICE
 */
enum plx_status device_acquire(const char *spec, struct device *out,
			       struct plx_why *why) PLX_MUST_CHECK;

/* What becomes of a port that its user is done with. */
enum device_fate {
	DEVICE_LEAVE = 1, /* it stays as it is */
	DEVICE_CLOSE,     /* the buffers it holds are freed; the EAL still knows the device */
	DEVICE_REMOVE,
};

/** Give the port up; it is stopped. */
void device_release(struct device *device, enum device_fate fate);

/** The arguments with which a device was made; "" when there are none. */
const char *device_arguments(const struct rte_device *device);

#endif
