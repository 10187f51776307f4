/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames built byte by byte for the tests of the wire, and checksums computed the simple way. It
 * never calls the encoders it helps to test. Start with make_frame().
 */
#ifndef PLX_TEST_MAKE_H
#define PLX_TEST_MAKE_H

#include "plx_wire.h"

enum {
	MADE_MAX = 66000, /* more than an IP length can express */
	MADE_TOS = 0x6a,  /* DSCP 26, ECT(0) */
	MADE_TTL = 64,
	MADE_ID = 0x1234,
	MADE_TCI = 0x6abc,
	MADE_UDP_SRC = 0xc637,
};

#define MADE_IPV4_SRC UINT32_C(0x0a4d0002)
#define MADE_IPV4_DST UINT32_C(0x0a4d0001)
#define MADE_FLOW     UINT32_C(0x06a9abcd)

extern const uint8_t made_mac[6]; /* the destination of every frame */

struct made {
	uint8_t bytes[MADE_MAX];
	size_t len;
	size_t ip_at, udp_at;
};

/* A sound frame, IPv4 or IPv6, around `datagram`; without UDP checksum, to port 4791. */
void make_frame(struct made *made, int ip_version, bool vlan, const uint8_t *datagram, size_t len);

/* The same around `len` bytes that no opcode table has to like. */
void make_frame_of(struct made *made, int ip_version, bool vlan, size_t len);

void put16(uint8_t *at, unsigned v);
void put32(uint8_t *at, uint32_t v);
unsigned get16(const uint8_t *at);

/* RFC 1071, one 16-bit word at a time: the value for the header at `ip`, checksum read as 0. */
uint16_t plain_ipv4_checksum(const uint8_t *ip);

/* The UDP checksum of a valid frame's datagram, as it is on the wire (never 0). */
uint16_t plain_udp_checksum(const struct made *made, int ip_version);

/* Make the IPv4 header checksum right again after a field was changed. */
void fix_ip_checksum(struct made *made);

/* plx_frame_decode() of a copy in a block of exactly that size, which is freed again. */
enum plx_wire_verdict decode_made(const struct made *made, unsigned trust, struct plx_frame *out);

#endif
