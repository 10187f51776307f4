/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One ICMP or ICMPv6 echo request or reply, decoded and encoded. Private to lib/proto/net. It never
 * stores one: net.c keeps replies, ping.c our own requests.
 * Start with struct plx_echo.
 */
#ifndef PLX_ECHO_H
#define PLX_ECHO_H

#include "message.h"

struct plx_echo {
	bool asks;
	uint8_t traffic_class; /* DSCP and ECN */
	uint16_t id, sequence;
	struct plx_ip from, to;
	uint8_t eth_dst[PLX_MAC_BYTES];
	uint8_t eth_src[PLX_MAC_BYTES];
	const uint8_t *data; /* [bytes]; NULL: the bytes 0, 1, 2 ... 255, 0, ... */
	uint32_t bytes;
};

/**
 * @param ether  result of plx_ether_decode() for this frame
 * @param out    its `data` points into `bytes`; its addresses are not checked
 * Returns: TAKEN (decoded), NOT_OURS (another message, a fragment, options), MALFORMED
 */
enum plx_net_verdict plx_echo_decode(const struct plx_ether *ether, const uint8_t *bytes,
				     size_t len, struct plx_echo *out);

/** [bytes] Size of the frame. */
size_t plx_echo_frame_bytes(const struct plx_echo *echo);

/** @param out [plx_echo_frame_bytes(echo)], at least PLX_FRAME_BYTES_MIN
 * Returns: bytes written, plx_echo_frame_bytes() or PLX_FRAME_BYTES_MIN */
size_t plx_echo_encode(const struct plx_echo *echo, uint8_t *out);

/** Is its data the same as for `data` NULL? */
bool plx_echo_counts(const struct plx_echo *echo);

#endif
