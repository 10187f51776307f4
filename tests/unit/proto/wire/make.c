/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Frames and checksums for the tests of the wire, written directly from the standards. It never
 * shares code with lib/proto/wire: a common mistake would go unnoticed.
 */
#include "make.h"

#include <stdlib.h>

const uint8_t made_mac[6] = {0x52, 0x54, 0x00, 0x77, 0x00, 0x01};
static const uint8_t eth_src[6] = {0x52, 0x54, 0x00, 0x77, 0x00, 0x02};

void
put16(uint8_t *at, unsigned v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

void
put32(uint8_t *at, uint32_t v)
{
	put16(at, v >> 16);
	put16(at + 2, v & 0xffff);
}

unsigned
get16(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

/* One's complement addition of the words of a buffer; an odd last byte is a high one. */
static unsigned
add_words(unsigned sum, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		sum += i % 2 ? bytes[i] : (unsigned)bytes[i] << 8;
		if (sum > 0xffff)
			sum -= 0xffff;
	}
	return sum;
}

uint16_t
plain_ipv4_checksum(const uint8_t *ip)
{
	unsigned sum = add_words(0, ip, 10);

	sum = add_words(sum, ip + 12, 8);
	return (uint16_t)(0xffff - sum);
}

uint16_t
plain_udp_checksum(const struct made *made, int ip_version)
{
	const uint8_t *ip = made->bytes + made->ip_at;
	const uint8_t *udp = made->bytes + made->udp_at;
	size_t udp_bytes = get16(udp + 4);
	uint8_t proto_and_length[4] = {0, 17, udp[4], udp[5]};
	unsigned sum = add_words(0, proto_and_length, 4);

	if (ip_version == 4)
		sum = add_words(sum, ip + 12, 8);
	else
		sum = add_words(sum, ip + 8, 32);
	sum = add_words(sum, udp, 6);
	sum = add_words(sum, udp + 8, udp_bytes - 8);
	return (uint16_t)(sum == 0xffff ? 0xffff : 0xffff - sum);
}

void
fix_ip_checksum(struct made *made)
{
	uint8_t *ip = made->bytes + made->ip_at;

	put16(ip + 10, plain_ipv4_checksum(ip));
}

static void
make_ipv4(struct made *made, size_t datagram_bytes)
{
	uint8_t *ip = made->bytes + made->ip_at;

	ip[0] = 0x45;
	ip[1] = MADE_TOS;
	put16(ip + 2, (unsigned)(20 + 8 + datagram_bytes));
	put16(ip + 4, MADE_ID);
	put16(ip + 6, 0x4000);
	ip[8] = MADE_TTL;
	ip[9] = 17;
	put32(ip + 12, MADE_IPV4_SRC);
	put32(ip + 16, MADE_IPV4_DST);
	fix_ip_checksum(made);
}

static void
make_ipv6(struct made *made, size_t datagram_bytes)
{
	uint8_t *ip = made->bytes + made->ip_at;

	put32(ip, UINT32_C(6) << 28 | MADE_FLOW);
	put16(ip + 4, (unsigned)(8 + datagram_bytes));
	ip[6] = 17;
	ip[7] = MADE_TTL;
	for (int i = 0; i < 16; i++) {
		ip[8 + i] = (uint8_t)(0xd0 + i);
		ip[24 + i] = (uint8_t)(0xe0 + i);
	}
}

void
make_frame(struct made *made, int ip_version, bool vlan, const uint8_t *datagram, size_t len)
{
	uint8_t *at = made->bytes + 12;

	memset(made->bytes, 0, 128);
	memcpy(made->bytes, made_mac, 6);
	memcpy(made->bytes + 6, eth_src, 6);
	if (vlan) {
		put16(at, 0x8100);
		put16(at + 2, MADE_TCI);
		at += 4;
	}
	put16(at, ip_version == 4 ? 0x0800 : 0x86dd);
	made->ip_at = vlan ? 18 : 14;
	made->udp_at = made->ip_at + (ip_version == 4 ? 20 : 40);
	if (ip_version == 4)
		make_ipv4(made, len);
	else
		make_ipv6(made, len);
	at = made->bytes + made->udp_at;
	put16(at, MADE_UDP_SRC);
	put16(at + 2, 4791);
	put16(at + 4, (unsigned)(8 + len));
	put16(at + 6, 0);
	memcpy(at + 8, datagram, len);
	made->len = made->udp_at + 8 + len;
}

void
make_frame_of(struct made *made, int ip_version, bool vlan, size_t len)
{
	uint8_t datagram[4200];

	for (size_t i = 0; i < len; i++)
		datagram[i] = (uint8_t)(i * 7 + 1);
	make_frame(made, ip_version, vlan, datagram, len);
}

enum plx_wire_verdict
decode_made(const struct made *made, unsigned trust, struct plx_frame *out)
{
	uint8_t *exact = malloc(made->len);
	enum plx_wire_verdict verdict;

	memcpy(exact, made->bytes, made->len);
	verdict = plx_frame_decode(exact, made->len, trust, out);
	free(exact);
	return verdict;
}
