/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Changes to the bytes of one packet, which may be a chain. It never writes to shared memory:
 * callers first use packet_private(). Start with packet_is_ect().
 */
#include <rte_mbuf.h>

#include "damage.h"

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_QINQ = 0x88a8,
	VLAN_TAG_BYTES = 4,
	IPV4_CHECKSUM_AT = 10, /* [bytes] from the IPv4 header */
	ECN_CE = 3,
};

/* Where the two ECN bits are. */
struct ecn {
	uint32_t byte;   /* offset in the packet; 0: neither IPv4 nor IPv6 */
	uint32_t shift;  /* of the two bits in it */
	uint32_t header; /* offset of the IPv4 header; 0: not IPv4 */
};

/* The byte at an offset inside the packet. */
static uint8_t *
byte_at(const struct rte_mbuf *packet, uint32_t offset)
{
	while (offset >= packet->data_len) {
		offset -= packet->data_len;
		packet = packet->next;
	}
	return rte_pktmbuf_mtod_offset(packet, uint8_t *, offset);
}

static uint16_t
be16_at(const struct rte_mbuf *packet, uint32_t offset)
{
	return (uint16_t)(*byte_at(packet, offset) << 8 | *byte_at(packet, offset + 1));
}

struct rte_mbuf *
packet_copy(struct rte_mbuf *packet)
{
	return rte_pktmbuf_copy(packet, packet->pool, 0, UINT32_MAX);
}

struct rte_mbuf *
packet_private(struct rte_mbuf *packet)
{
	struct rte_mbuf *segment = packet;
	struct rte_mbuf *copy;

	while (segment != NULL && RTE_MBUF_DIRECT(segment) && rte_mbuf_refcnt_read(segment) == 1)
		segment = segment->next;
	if (segment == NULL)
		return packet;
	copy = packet_copy(packet);
	if (copy != NULL)
		rte_pktmbuf_free(packet);
	return copy;
}

void
packet_flip(struct rte_mbuf *packet, uint32_t bit)
{
	*byte_at(packet, bit / 8) ^= (uint8_t)(1 << bit % 8);
}

static struct ecn
find_ecn(const struct rte_mbuf *packet)
{
	uint32_t length = rte_pktmbuf_pkt_len(packet);
	uint32_t at = ETHERNET_BYTES;
	uint16_t type;

	/* The shortest thing with ECN bits is an IPv4 header. */
	if (length < at + 20)
		return (struct ecn){0};
	type = be16_at(packet, at - 2);
	while ((type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ) &&
	       length >= at + VLAN_TAG_BYTES + 20) {
		at += VLAN_TAG_BYTES;
		type = be16_at(packet, at - 2);
	}
	if (type == ETHERTYPE_IPV4)
		return (struct ecn){.byte = at + 1, .shift = 0, .header = at};
	if (type == ETHERTYPE_IPV6)
		return (struct ecn){.byte = at + 1, .shift = 4};
	return (struct ecn){0};
}

bool
packet_is_ect(const struct rte_mbuf *packet)
{
	struct ecn ecn = find_ecn(packet);
	uint32_t bits = ecn.byte ? *byte_at(packet, ecn.byte) >> ecn.shift & ECN_CE : 0;

	return bits == 1 || bits == 2;
}

void
packet_mark(struct rte_mbuf *packet)
{
	struct ecn ecn = find_ecn(packet);
	uint8_t *byte = byte_at(packet, ecn.byte);
	uint32_t grown = (ECN_CE << ecn.shift) - (*byte & ECN_CE << ecn.shift);
	uint32_t sum;

	*byte |= (uint8_t)(ECN_CE << ecn.shift);
	if (ecn.header == 0)
		return;
	/* RFC 1624: ~HC' = ~HC + (m' - m), in ones' complement. */
	sum = (uint16_t)~be16_at(packet, ecn.header + IPV4_CHECKSUM_AT) + grown;
	sum = ~(sum + (sum >> 16));
	*byte_at(packet, ecn.header + IPV4_CHECKSUM_AT) = (uint8_t)(sum >> 8);
	*byte_at(packet, ecn.header + IPV4_CHECKSUM_AT + 1) = (uint8_t)sum;
}
