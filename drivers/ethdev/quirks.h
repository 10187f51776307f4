/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a PMD does not report, or reports and does not do: one row each, with its reason.
 * Private to the room; nothing here touches a device. Start with quirk_of().
 */
#ifndef PLX_ETHDEV_QUIRKS_H
#define PLX_ETHDEV_QUIRKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FRAME_MAX = UINT16_MAX, /* [bytes] of a device without a limit: no IP packet is longer */
	ETHERNET_BYTES = 14,
};

/* A limit that the device's arguments or its kernel interface set. */
struct frame_limit {
	uint32_t bytes;   /* the longest frame without FCS, both ways */
	const char *cure; /* what to do about it: the end of a sentence */
};

struct quirk {
	const char *driver;
	/* NULL: ask the device. @param args those of the device string, never NULL */
	struct frame_limit (*limit)(const char *args);
	bool mtu_unset;       /* configure refuses the MTU that the frames need, yet they pass */
	bool stop_by_alarm;   /* its interrupt thread takes the connection apart, unlocked */
	bool tx_lost_on_exit; /* what the peer has not read yet is gone with the process */
	bool segments;        /* chains leave right, if the device offers MULTI_SEGS */
	/* Must it stay when its user is done, only stopped? NULL: no. Holds no buffers then.
	 * @param made it was made for this user */
	bool (*stays)(const char *args, bool made);
};

/** The row of a driver; for one without a row, that of a device that does as it says. Never NULL.
 */
const struct quirk *quirk_of(const char *driver);

/** The same by the name of a virtual device, before there is one: net_tap of net_tap0. */
const struct quirk *quirk_of_name(const char *name);

/** The value of one unsigned argument, `missing` when it is not there or no number. */
uint32_t argument_number(const char *args, const char *key, uint32_t missing);

#endif
