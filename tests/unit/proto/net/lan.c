/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The LAN of the tests: frames from the RFCs' diagrams, blocks of exact size, byte-by-byte
 * comparison. It never shares code with lib/proto/net: a common mistake would go unnoticed. Start
 * with lan_hears() and lan_says().
 */
#include "block.h"
#include "lan.h"
#include "ip_sum.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

void
lan_start(struct lan *lan)
{
	lan->memory = test_block(plx_net_bytes(&lan->config));
	lan->net = plx_net_init(lan->memory, &lan->config);
}

static void
configure(struct lan *lan, uint32_t neighbours, const char *ip4, const char *ip6, const char *mac)
{
	*lan = (struct lan){
		.config = {.addresses = 2,
			   .address = {{lan_ip(ip4), 24}, {lan_ip(ip6), 64}},
			   .neighbours = neighbours,
			   .secret = {{7, 8}}},
		.now = 5 * PLX_SEC,
	};
	lan_hex(mac, lan->config.mac);
	lan_start(lan);
}

void
lan_open(struct lan *lan, uint32_t neighbours)
{
	configure(lan, neighbours, OWN4, OWN6, OWN_MAC);
}

void
lan_open_as(struct lan *lan, const char *ip4, const char *ip6, const char *mac)
{
	configure(lan, 8, ip4, ip6, mac);
}

void
lan_close(struct lan *lan)
{
	free(lan->memory);
}

struct plx_ip
lan_ip(const char *text)
{
	struct plx_ip ip = {.version = strchr(text, ':') ? 6 : 4};

	assert_int_equal(inet_pton(ip.version == 4 ? AF_INET : AF_INET6, text, ip.v), 1);
	return ip;
}

struct plx_ip
lan_ip_number(uint32_t number)
{
	return (struct plx_ip){4, {10, 77, (uint8_t)(number >> 8), (uint8_t)number}};
}

static unsigned
digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *found = strchr(digits, c);

	assert_true(c && found);
	return (unsigned)(found - digits);
}

size_t
lan_hex(const char *hex, uint8_t *out)
{
	size_t len = 0;

	while (*hex) {
		if (*hex == ' ') {
			hex++;
			continue;
		}
		out[len++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
		hex += 2;
	}
	return len;
}

enum plx_net_verdict
lan_hears_bytes(struct lan *lan, const uint8_t *bytes, size_t len)
{
	uint8_t *exact = malloc(len ? len : 1);
	enum plx_net_verdict verdict;

	assert_non_null(exact);
	memcpy(exact, bytes, len);
	verdict = plx_net_on_frame(lan->net, exact, len, lan->now);
	free(exact);
	return verdict;
}

enum plx_net_verdict
lan_hears(struct lan *lan, const char *hex)
{
	uint8_t frame[256];
	size_t len = lan_hex(hex, frame);

	return lan_hears_bytes(lan, frame, len);
}

/* A block of the size that the header promises to be enough, so that ASan sees one byte more. */
size_t
lan_takes(struct lan *lan, uint8_t *frame)
{
	size_t max = plx_net_frame_max(lan->net), len;
	uint8_t *out = malloc(max);
	uint64_t wake_ns = plx_net_wake_ns(lan->net);

	assert_non_null(out);
	memset(out, 0x5a, max);
	len = plx_net_transmit(lan->net, lan->now, out);
	assert_int_equal(len != 0, wake_ns == 0);
	assert_true(len == 0 || (len >= 60 && len <= max));
	memcpy(frame, out, len);
	free(out);
	return len;
}

void
lan_says(struct lan *lan, const char *hex)
{
	uint8_t expected[256] = {0}, frame[PLX_NET_FRAME_MAX];
	size_t len = lan_hex(hex, expected);

	if (len < 60)
		len = 60;
	assert_int_equal(lan_takes(lan, frame), len);
	assert_memory_equal(frame, expected, len);
}

void
lan_says_nothing(struct lan *lan)
{
	uint8_t frame[PLX_NET_FRAME_MAX];

	assert_int_equal(lan_takes(lan, frame), 0);
}

void
lan_says_to(struct lan *lan, const char *mac)
{
	uint8_t frame[PLX_NET_FRAME_MAX], expected[6];

	lan_hex(mac, expected);
	assert_true(lan_takes(lan, frame) > 0);
	assert_memory_equal(frame, expected, 6);
}

unsigned
lan_drain(struct lan *lan)
{
	uint8_t frame[PLX_NET_FRAME_MAX];
	unsigned frames = 0;

	while (lan_takes(lan, frame))
		frames++;
	return frames;
}

enum plx_net_verdict
lan_resolve_ip(struct lan *lan, struct plx_ip ip)
{
	uint8_t mac[6], untouched[6];
	enum plx_net_verdict verdict;

	memset(untouched, 0xee, sizeof untouched);
	memcpy(mac, untouched, sizeof mac);
	verdict = plx_net_resolve(lan->net, &ip, lan->now, mac);
	assert_int_equal(verdict == PLX_NET_READY, memcmp(mac, untouched, sizeof mac) != 0);
	return verdict;
}

enum plx_net_verdict
lan_resolve(struct lan *lan, const char *ip)
{
	return lan_resolve_ip(lan, lan_ip(ip));
}

void
lan_knows(struct lan *lan, const char *ip, const char *mac)
{
	struct plx_ip wanted = lan_ip(ip);
	uint8_t got[6], expected[6];

	lan_hex(mac, expected);
	assert_int_equal(plx_net_resolve(lan->net, &wanted, lan->now, got), PLX_NET_READY);
	assert_memory_equal(got, expected, 6);
}

void
lan_wait(struct lan *lan, uint64_t ns)
{
	lan->now += ns;
	plx_net_on_tick(lan->net, lan->now);
}

static void
put16(uint8_t *at, unsigned v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

size_t
lan_arp(uint8_t *out, unsigned op, const char *eth_dst, const char *sha, struct plx_ip spa,
	const char *tha, struct plx_ip tpa)
{
	lan_hex(eth_dst, out);
	lan_hex(sha, out + 6);
	lan_hex("0806 0001 0800 06 04", out + 12);
	put16(out + 20, op);
	lan_hex(sha, out + 22);
	memcpy(out + 28, spa.v, 4);
	lan_hex(tha, out + 32);
	memcpy(out + 38, tpa.v, 4);
	return 42;
}

void
lan_nd_checksum(uint8_t *frame)
{
	size_t len = (size_t)frame[18] << 8 | frame[19];
	unsigned long sum = 58 + len;

	put16(frame + 56, 0);
	for (size_t i = 22; i + 1 < 54 + len; i += 2)
		sum += (unsigned long)frame[i] << 8 | frame[i + 1];
	if (len % 2)
		sum += (unsigned long)frame[54 + len - 1] << 8;
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	put16(frame + 56, (unsigned)(0xffff - sum));
}

size_t
lan_nd(uint8_t *out, unsigned type, unsigned flags, const char *from, const char *to,
       const char *target, const char *mac)
{
	struct plx_ip from_ip = lan_ip(from), to_ip = lan_ip(to), target_ip = lan_ip(target);
	size_t icmp_bytes = mac ? 32 : 24;

	memset(out, 0, 54 + icmp_bytes);
	lan_hex(OWN_MAC, out);
	if (to_ip.v[0] == 0xff) {
		lan_hex("3333", out);
		memcpy(out + 2, to_ip.v + 12, 4);
	}
	lan_hex(ALICE_MAC, out + 6);
	lan_hex("86dd 60000000", out + 12);
	put16(out + 18, (unsigned)icmp_bytes);
	lan_hex("3a ff", out + 20);
	memcpy(out + 22, from_ip.v, 16);
	memcpy(out + 38, to_ip.v, 16);
	out[54] = (uint8_t)type;
	out[58] = (uint8_t)flags;
	memcpy(out + 62, target_ip.v, 16);
	if (mac) {
		out[78] = type == 135 ? 1 : 2;
		out[79] = 1;
		lan_hex(mac, out + 80);
	}
	lan_nd_checksum(out);
	return 54 + icmp_bytes;
}

void
lan_echo_checksums(uint8_t *frame)
{
	size_t ip_bytes = (size_t)frame[16] << 8 | frame[17];

	if (frame[12] == 0x86) {
		lan_nd_checksum(frame);
		return;
	}
	put16(frame + 24, 0);
	put16(frame + 24, 0xffff - ip_sum(frame + 14, 20));
	put16(frame + 36, 0);
	put16(frame + 36, 0xffff - ip_sum(frame + 34, ip_bytes - 20));
}

size_t
lan_echo(uint8_t *out, bool asks, const char *from, const char *to, unsigned id, unsigned sequence,
	 size_t bytes, unsigned first)
{
	struct plx_ip from_ip = lan_ip(from), to_ip = lan_ip(to);
	size_t icmp = from_ip.version == 4 ? 34 : 54;

	memset(out, 0, icmp + 8);
	lan_hex(OWN_MAC, out);
	lan_hex(ALICE_MAC, out + 6);
	if (from_ip.version == 4) {
		lan_hex("0800 4500 0000 d0a2 4000 40 01", out + 12);
		put16(out + 16, (unsigned)(28 + bytes));
		memcpy(out + 26, from_ip.v, 4);
		memcpy(out + 30, to_ip.v, 4);
		out[icmp] = asks ? 8 : 0;
	} else {
		lan_hex("86dd 6001c70d 0000 3a 40", out + 12);
		put16(out + 18, (unsigned)(8 + bytes));
		memcpy(out + 22, from_ip.v, 16);
		memcpy(out + 38, to_ip.v, 16);
		out[icmp] = asks ? 128 : 129;
	}
	put16(out + icmp + 4, id);
	put16(out + icmp + 6, sequence);
	for (size_t i = 0; i < bytes; i++)
		out[icmp + 8 + i] = (uint8_t)(first + i);
	lan_echo_checksums(out);
	return icmp + 8 + bytes;
}

void
lan_arp_reply(struct lan *lan, const char *mac)
{
	uint8_t frame[64];
	size_t len = lan_arp(frame, 2, OWN_MAC, mac, lan_ip(ALICE4), OWN_MAC, lan_ip(OWN4));

	assert_int_equal(lan_hears_bytes(lan, frame, len), PLX_NET_TAKEN);
}

void
lan_advert(struct lan *lan, unsigned flags, const char *mac)
{
	uint8_t frame[128];
	size_t len = lan_nd(frame, 136, flags, ALICE6, OWN6, ALICE6, mac);

	assert_int_equal(lan_hears_bytes(lan, frame, len), PLX_NET_TAKEN);
}
