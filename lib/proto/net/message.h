/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An ARP packet, solicitation or advertisement, in one struct for both protocols, and its encoding.
 * Private to lib/proto/net. A message holds the claims of its sender, whether accepted or not.
 * Start with struct plx_message.
 */
#ifndef PLX_MESSAGE_H
#define PLX_MESSAGE_H

#include "plx_net.h"

enum {
	PLX_MAC_BYTES = 6,
	PLX_FRAME_BYTES_MIN = 60, /* of Ethernet, without FCS */
	PLX_ETHERTYPE_IPV4 = 0x0800,
	PLX_ETHERTYPE_ARP = 0x0806,
	PLX_ETHERTYPE_VLAN = 0x8100,
	PLX_ETHERTYPE_IPV6 = 0x86dd,
	PLX_PROTO_ICMPV6 = 58,
};

/* The Ethernet header of a frame that may be for us. */
struct plx_ether {
	uint8_t dst[PLX_MAC_BYTES];
	uint8_t src[PLX_MAC_BYTES];
	uint16_t type;  /* one of those above, after the tag if there is one */
	uint16_t bytes; /* of this header, including the tag */
};

enum plx_message_kind {
	PLX_MESSAGE_NONE,
	PLX_MESSAGE_REQUEST, /* ARP request, neighbour solicitation */
	PLX_MESSAGE_ANSWER,  /* ARP reply, neighbour advertisement */
};

struct plx_message {
	uint8_t kind;   /* enum plx_message_kind */
	bool has_mac;   /* `mac` is present: always in ARP; in ND it is an option */
	bool solicited; /* ANSWER: marked as solicited */
	bool override;  /* may replace a known MAC */
	uint8_t eth_dst[PLX_MAC_BYTES];
	uint8_t eth_src[PLX_MAC_BYTES];
	uint8_t mac[PLX_MAC_BYTES]; /* the Ethernet address of `subject` */
	struct plx_ip subject;      /* the sender; version 0 in a probe for a duplicate address */
	struct plx_ip target;       /* REQUEST: the address in question; ANSWER: the recipient */
	struct plx_ip to;           /* IPv6: the destination; ARP has none: version 0 */
};

static inline unsigned
plx_get16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static inline void
plx_put16(uint8_t *at, unsigned v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

/** @param v [4 or 16] */
static inline struct plx_ip
plx_ip_load(uint8_t version, const uint8_t *v)
{
	struct plx_ip ip = {.version = version};

	memcpy(ip.v, v, plx_ip_bytes(&ip));
	return ip;
}

static inline bool
plx_ip_is_multicast(const struct plx_ip *ip)
{
	return ip->version == 6 ? ip->v[0] == 0xff : (ip->v[0] & 0xf0) == 0xe0;
}

/** Can it be the Ethernet address of a station? Groups and zero cannot. */
bool plx_mac_is_station(const uint8_t *mac);

/** Can it be the address of a station on any network? address.c considers the network. */
bool plx_ip_is_station(const struct plx_ip *ip);

/** Returns: TAKEN (decoded: ARP, IPv4 or IPv6, for us or a group), NOT_OURS, OTHER_VLAN,
 * OTHER_STATION, MALFORMED */
enum plx_net_verdict plx_ether_decode(const uint8_t *bytes, size_t len,
				      const struct plx_net_config *own, struct plx_ether *out);

/** Returns: TAKEN (decoded), NOT_OURS, MALFORMED */
enum plx_net_verdict plx_message_decode(const struct plx_ether *ether, const uint8_t *bytes,
					size_t len, struct plx_message *out);

/**
 * @param out [PLX_NET_FRAME_MIN]
 * Returns: bytes written
 */
size_t plx_message_encode(const struct plx_message *message, uint8_t *out);

/* What follows the Ethernet header. `message` already has its Ethernet addresses. */
enum plx_net_verdict plx_arp_decode(const uint8_t *bytes, size_t len, struct plx_message *out);
enum plx_net_verdict plx_nd_decode(const uint8_t *bytes, size_t len, struct plx_message *out);

/**
 * @param out zeros up to PLX_FRAME_BYTES_MIN
 * Returns: bytes written, without the Ethernet header
 */
size_t plx_arp_encode(const struct plx_message *message, uint8_t *out);
size_t plx_nd_encode(const struct plx_message *message, uint8_t *out);

/** ff02::1, the destination of replies to requests without a source address. */
struct plx_ip plx_nd_all_nodes(void);

/** ff02::1:ffXX:XXXX, the destination of solicitations for `ip`. */
struct plx_ip plx_nd_solicited_node(const struct plx_ip *ip);

/**
 * The Ethernet address of an IPv6 multicast group.
 * @param mac [6]
 * Spec: RFC 2464 (7).
 */
void plx_nd_group_mac(const struct plx_ip *group, uint8_t *mac);

#endif
