/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens devices of drivers/ethdev for a test, and asserts that this succeeds. Start
 * with device_open().
 */
#ifndef PLX_TEST_DEVICE_H
#define PLX_TEST_DEVICE_H

#include "lab.h"
#include "plx_ethdev.h"

/** @param frame_want [bytes] */
static inline struct plx_ethdev_config
device_config(const char *device, struct rte_mempool *pool, uint32_t frame_want,
	      uint32_t timeout_ms)
{
	return (struct plx_ethdev_config){
		.device = device,
		.pool = pool,
		.frame_want = frame_want,
		.queues = 1,
		.start_timeout_ms = timeout_ms,
	};
}

static inline struct plx_ethdev *
device_open(struct plx_ethdev_config config)
{
	struct plx_ethdev *dev = NULL;
	struct plx_why why = {""};

	if (plx_ethdev_open(&config, &dev, &why) != PLX_OK)
		fail_msg("%s", why.text);
	return dev;
}

#endif
