/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Corrections to what PMDs report about themselves: one row per PMD, with the reason.
 * Private to the room; nothing here touches a device. Start with quirk_of().
 */
#ifndef PLX_ETHDEV_QUIRKS_H
#define PLX_ETHDEV_QUIRKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FRAME_MAX = UINT16_MAX, /* [bytes] for devices without a limit: maximum of an IP packet */
	ETHERNET_BYTES = 14,
};

/* A limit set by the device's arguments or its kernel interface. */
struct frame_limit {
	uint32_t bytes;   /* longest frame without FCS, both directions */
	const char *cure; /* how to raise it: the end of a sentence */
};

struct quirk {
	const char *driver;
	/* NULL: query the device.
	 * @param args those of the device string, never NULL */
	struct frame_limit (*limit)(const char *args);
	bool mtu_unset;       /* configure refuses the MTU that the frames need, yet they pass */
	bool stop_by_alarm;   /* its interrupt thread tears down the connection without a lock */
	bool guard;           /* and unmaps what a burst may be using */
	bool tx_lost_on_exit; /* packets that the peer has not read are lost at process exit */
	bool rx_fd_is_data;   /* interrupts: the descriptor that packets are read from, always armed
			       */
	bool segments;        /* chains are sent correctly, if the device offers MULTI_SEGS */
	uint16_t queues;      /* pairs that every model has; 0: as many as it reports */
	/* Must the device be kept, stopped and without buffers, after the close? NULL: no.
	 * @param made it was created by this open */
	bool (*stays)(const char *args, bool made);
};

/** The row of a driver; for a driver without a row, one without corrections. Never NULL. */
const struct quirk *quirk_of(const char *driver);

/** The same by the name of a virtual device that does not exist yet: net_tap for net_tap0. */
const struct quirk *quirk_of_name(const char *name);

/** The value of an unsigned argument; `missing` if it is absent or not a number. */
uint32_t argument_number(const char *args, const char *key, uint32_t missing);

#endif
