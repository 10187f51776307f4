/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One port of ours on a LAN of imaginary stations: the frames it receives, the frames it sends, and
 * the time. It never shares code with lib/proto/net: frames are written directly from the RFCs.
 * Start with lan_open(); we are OWN4 and OWN6 at OWN_MAC.
 */
#ifndef PLX_TEST_LAN_H
#define PLX_TEST_LAN_H

#include "test.h"
#include "plx_net.h"

#define OWN4      "10.77.0.1"
#define OWN6      "fd77::1"
#define OWN_MAC   "020000000001"
#define ALICE4    "10.77.0.2"
#define ALICE6    "fd77::aa:2"
#define ALICE_MAC "0200000000a2"
#define BOB4      "10.77.0.3"
#define BOB_MAC   "0200000000b3"
#define BROADCAST "ffffffffffff"
#define NO_MAC    "000000000000"

struct lan {
	struct plx_net_config config;
	struct plx_net *net;
	void *memory;
	uint64_t now;
};

/* We are OWN4/24 and OWN6/64, with room for `neighbours`; the time is not 0. */
void lan_open(struct lan *lan, uint32_t neighbours);

/* The same, but we are somebody else. */
void lan_open_as(struct lan *lan, const char *ip4, const char *ip6, const char *mac);

/* Uses the configuration in *lan. */
void lan_start(struct lan *lan);
void lan_close(struct lan *lan);

struct plx_ip lan_ip(const char *text);

/* The address 10.77.x.y of a number. */
struct plx_ip lan_ip_number(uint32_t number);

/* Hexadecimal digits and blanks. Returns: bytes */
size_t lan_hex(const char *hex, uint8_t *out);

/* A frame arrives, in a block of its exact size. lan_hears() accepts at most 256 bytes. */
enum plx_net_verdict lan_hears_bytes(struct lan *lan, const uint8_t *bytes, size_t len);
enum plx_net_verdict lan_hears(struct lan *lan, const char *hex);

/* The next frame that we send is this one, filled up with zeros to 60 bytes. */
void lan_says(struct lan *lan, const char *hex);
void lan_says_nothing(struct lan *lan);

/* The next frame that we send goes to this MAC. Consumes it. */
void lan_says_to(struct lan *lan, const char *mac);

/* Fetch the next frame that we send. @param frame [PLX_NET_FRAME_MAX]
 * Returns: bytes; 0: none */
size_t lan_takes(struct lan *lan, uint8_t *frame);

/* Fetch what we send until there is no more.
 * Returns: frames */
unsigned lan_drain(struct lan *lan);

enum plx_net_verdict lan_resolve(struct lan *lan, const char *ip);
enum plx_net_verdict lan_resolve_ip(struct lan *lan, struct plx_ip ip);

/* It is READY, at this MAC. */
void lan_knows(struct lan *lan, const char *ip, const char *mac);

/* Time passes; then a tick. */
void lan_wait(struct lan *lan, uint64_t ns);

/* An ARP packet. Returns: bytes written, 42. */
size_t lan_arp(uint8_t *out, unsigned op, const char *eth_dst, const char *sha, struct plx_ip spa,
	       const char *tha, struct plx_ip tpa);

/* A solicitation (135) or advertisement (136); flags: the top byte of the word behind the
 * checksum. `mac`: of the option; NULL: no option. Ethernet addresses follow from `to` and
 * ALICE. */
size_t lan_nd(uint8_t *out, unsigned type, unsigned flags, const char *from, const char *to,
	      const char *target, const char *mac);

/* Make the ICMPv6 checksum of a frame without VLAN right again. */
void lan_nd_checksum(uint8_t *frame);

/* An echo request or reply with `bytes` of data that count from `first`, from ALICE_MAC to us;
 * `from` selects the protocol.
 * Returns: bytes written, at most PLX_NET_FRAME_MAX. */
size_t lan_echo(uint8_t *out, bool asks, const char *from, const char *to, unsigned id,
		unsigned sequence, size_t bytes, unsigned first);

/* Make the checksums of an echo without VLAN right again. */
void lan_echo_checksums(uint8_t *frame);

/* ALICE4 or ALICE6 answers us from a MAC; a verdict other than TAKEN fails. */
void lan_arp_reply(struct lan *lan, const char *mac);
void lan_advert(struct lan *lan, unsigned flags, const char *mac);

#endif
