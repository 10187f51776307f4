/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ARP, IPv6 neighbour discovery and echo for one port: its own addresses, its routes, and a bounded
 * table of neighbours. Frames go in; frames come out on request; time is an argument.
 * It never forwards a frame. No frame received allocates memory, grows a queue without limit, or
 * evicts a neighbour in use.
 * Start with plx_net_resolve(); docs/net.md draws a neighbour's states.
 */
#ifndef PLX_NET_H
#define PLX_NET_H

#include "plx_base.h"
#include "plx_secret.h"
#include "plx_wire.h"

enum {
	PLX_NET_ADDRESSES_MAX = 8,
	PLX_NET_ROUTES_MAX = 16,
	PLX_NET_NEIGHBOURS_MAX = 4096,
	PLX_NET_FRAME_MIN = 128, /* [bytes] of frame_max: fits every message of ours except echo */
	PLX_NET_FRAME_USUAL = 1514, /* [bytes] standard Ethernet, without FCS */
	PLX_NET_FRAME_MAX = 9216,   /* [bytes] */
	PLX_NET_TRIES = 3,          /* requests for one neighbour, PLX_NET_RETRY_NS apart */
	PLX_NET_ANSWERS_MAX = 32,   /* queued replies */
	PLX_NET_ECHOES_MAX = 16,    /* queued echo replies, which are stored as whole frames */
	PLX_NET_PINGS_MAX = 16,     /* outstanding echo requests of our own */
	PLX_NET_ANNOUNCE_MAX = 3,   /* announcements of our addresses, RFC 4861 (10) */
	PLX_NET_GUEST_SHARE = 4,    /* guests use at most one of so many entries */
	PLX_NET_DUE_MAX = 64,       /* expiries of one kind that one plx_net_on_tick() handles */
	PLX_NET_GROUPS_MAX = PLX_NET_ADDRESSES_MAX + 1, /* Ethernet groups that we receive */
};

#define PLX_NET_RETRY_NS    (1 * PLX_SEC)
#define PLX_NET_FRESH_NS    (30 * PLX_SEC) /* then a neighbour in use is probed again */
#define PLX_NET_NEGATIVE_NS (3 * PLX_SEC)  /* no new request for an address without a reply */
#define PLX_NET_GUEST_NS    (30 * PLX_SEC) /* then a guest is forgotten */
#define PLX_NET_MOVE_NS     (1 * PLX_SEC)  /* a neighbour's MAC changes at most once in this time */
#define PLX_NET_ANNOUNCE_NS (1 * PLX_SEC)  /* between two announcements */

struct plx_net_address {
	struct plx_ip ip;
	uint8_t prefix_bits; /* of the directly connected network */
};

/* A route to a network that is not directly connected. */
struct plx_net_route {
	struct plx_ip net;   /* zeros after the prefix */
	uint8_t prefix_bits; /* 0: the default route */
	struct plx_ip via;   /* the gateway, in a directly connected network */
};

struct plx_net_config {
	uint8_t mac[6];
	uint16_t vlan; /* 1 .. PLX_VLAN_MAX: all frames, in and out, have its tag; 0: no tags */
	uint32_t addresses; /* 1 .. PLX_NET_ADDRESSES_MAX */
	struct plx_net_address address[PLX_NET_ADDRESSES_MAX];
	uint32_t routes; /* 0 .. PLX_NET_ROUTES_MAX, in any order */
	struct plx_net_route route[PLX_NET_ROUTES_MAX];
	uint32_t neighbours; /* 1 .. PLX_NET_NEIGHBOURS_MAX; see plx_net_resolve() for eviction */
	uint32_t frame_max;  /* [bytes] longest frame to send, without FCS: PLX_NET_FRAME_MIN ..
			      * PLX_NET_FRAME_MAX; 0: PLX_NET_FRAME_USUAL */
	uint32_t announce;   /* times, PLX_NET_ANNOUNCE_NS apart: 0 .. PLX_NET_ANNOUNCE_MAX */
	/* Anyone who knows it can choose addresses that are slow to look up, and forge echo replies
	 * without seeing the requests. */
	struct plx_secret secret;
};

struct plx_net;

/* The result of a call or of a frame. X(name, text) */
#define PLX_NET_VERDICT_LIST(X)                                                       \
	X(READY, "the neighbour is known")                                            \
	X(WAIT, "the neighbour was asked; try again later")                           \
	X(NO_ANSWER, "the neighbour did not answer")                                  \
	X(NO_ROUTE, "the address is in no local network and no route leads to it")    \
	X(NOT_UNICAST, "the address is multicast, broadcast, loopback or none")       \
	X(LOST, "the echo request was not answered in time")                          \
	X(BUSY, "too many echo requests are outstanding")                             \
	X(TOO_LONG, "the echo request is longer than a frame")                        \
	X(NOT_OURS, "neither ARP, neighbour discovery nor echo")                      \
	X(OTHER_VLAN, "for another VLAN")                                             \
	X(OTHER_STATION, "for another Ethernet address, or a group that is not ours") \
	X(OTHER_ADDRESS, "for another IP address")                                    \
	X(MALFORMED, "ARP, neighbour discovery or echo with wrong fields")            \
	X(TAKEN, "the frame was accepted")

enum plx_net_verdict {
#define PLX_X(name, text) PLX_NET_##name,
	PLX_NET_VERDICT_LIST(PLX_X)
#undef PLX_X
	PLX_NET_VERDICT_COUNT,
};

/** The text of a verdict; any other value has a text that says so. Never NULL. */
const char *plx_net_verdict_text(enum plx_net_verdict verdict);

/* Counters of a port, never reset. X(name, text) */
#define PLX_NET_COUNTER_LIST(X)                                                   \
	X(requests_sent, "ARP requests and solicitations sent")                   \
	X(replies_sent, "ARP replies and advertisements sent")                    \
	X(requests_seen, "requests for an address of ours")                       \
	X(replies_seen, "replies about a known neighbour")                        \
	X(unsolicited, "unsolicited replies, ignored")                            \
	X(malformed, "frames with wrong fields, dropped")                         \
	X(conflicts, "frames of another station that uses our address")           \
	X(no_answer, "neighbours that did not answer")                            \
	X(moved, "neighbours whose Ethernet address changed")                     \
	X(moves_refused, "changes of an Ethernet address too soon after another") \
	X(evicted, "neighbours evicted by newer ones")                            \
	X(guests_refused, "requesters not recorded: no free entry")               \
	X(replies_dropped, "replies not sent: the reply queue was full")          \
	X(announcements_sent, "announcements of our own addresses sent")          \
	X(echoes_seen, "echo requests for an address of ours")                    \
	X(echoes_sent, "echo replies sent")                                       \
	X(echoes_dropped, "echo replies not sent: too many, or too long")         \
	X(pings_sent, "echo requests sent")                                       \
	X(pings_answered, "echo requests of ours that were answered")             \
	X(pings_unsolicited, "unsolicited echo replies, ignored")

struct plx_net_counters {
#define PLX_X(name, text) uint64_t name;
	PLX_NET_COUNTER_LIST(PLX_X)
#undef PLX_X
};

/**
 * Bytes that plx_net_init() needs; 0 if something in config is out of range: counts, sizes, prefix
 * bits, a VLAN above PLX_VLAN_MAX, an address that is not unicast in its network, a multicast or
 * zero MAC, a duplicate address or route, a route with bits set after its prefix, a gateway that is
 * our own address or in no directly connected network.
 *
 * Tests: tests/unit/proto/net/address.c, tests/unit/proto/net/route.c
 */
size_t plx_net_bytes(const struct plx_net_config *config);

/**
 * @param memory [plx_net_bytes(config)] aligned to PLX_CACHE_LINE; owned by the caller, never moved
 * @param config accepted by plx_net_bytes(); copied
 */
struct plx_net *plx_net_init(void *memory, const struct plx_net_config *config);

/**
 * The Ethernet address of the next hop to `ip`: its own, or its gateway's. For an unknown
 * neighbour, plx_net_transmit() sends a request. An address of our own resolves to our MAC at once.
 * The longest prefix of networks and routes wins; if equal, a network before a route, then the
 * first.
 *
 * A resolved neighbour is probed again every PLX_NET_FRESH_NS and stays READY meanwhile. It is
 * forgotten if it does not answer PLX_NET_TRIES probes.
 *
 * @param ip  IPv4: only its first four bytes count
 * @param now [ns] never decreasing over all calls
 * @param mac [6] written if READY, else unchanged
 * Returns: READY, WAIT, NO_ANSWER (for PLX_NET_NEGATIVE_NS after PLX_NET_TRIES), NO_ROUTE,
 *          NOT_UNICAST
 * Changes: a new neighbour evicts a guest, else one that has not answered, else the one resolved
 *          longest ago
 * Cost:    O(1) on average; not for the data path
 * Spec:    RFC 826; RFC 1122 (2.3.2.1: dead neighbours are noticed); RFC 4861 (7.2.2, 7.3.3)
 * Tests:   tests/unit/proto/net/life.c, tests/unit/proto/net/crowd.c, tests/unit/proto/net/route.c
 */
enum plx_net_verdict plx_net_resolve(struct plx_net *net, const struct plx_ip *ip, uint64_t now,
				     uint8_t *mac) PLX_MUST_CHECK;

/**
 * As much of plx_net_resolve() as our addresses and routes alone can tell: READY, NO_ROUTE and
 * NOT_UNICAST as there; WAIT: resolve the neighbour `hop`, which is `ip` itself or its gateway.
 *
 * @param hop [out] if WAIT
 * @param mac [6] written if READY, else unchanged
 * Threads: any
 * Tests:   tests/unit/proto/net/route.c
 */
enum plx_net_verdict plx_net_reach(const struct plx_net *net, const struct plx_ip *ip,
				   struct plx_ip *hop, uint8_t *mac) PLX_MUST_CHECK;

/**
 * The Ethernet address for a reply to an unverified sender: the known one of `ip` or of the gateway
 * to it, else the one that the request came from. Sends no request, and neither creates nor evicts
 * an entry.
 *
 * @param from [6] the sender's Ethernet address, not a group
 * @param mac  [6] written if READY, else unchanged
 * Returns: READY, NO_ROUTE, NOT_UNICAST
 */
enum plx_net_verdict plx_net_resolve_reply(const struct plx_net *net, const struct plx_ip *ip,
					   const uint8_t *from, uint8_t *mac) PLX_MUST_CHECK;

/** Remember the sender of a connection request as a guest: for PLX_NET_GUEST_NS, evicting other
 * guests only. */
void plx_net_welcome(struct plx_net *net, const struct plx_ip *ip, const uint8_t *from,
		     uint64_t now);

/** Our source address for packets to `ip`: the one in the network of `ip` or of its gateway. An
 * address of ours is its own source. False if there is no route; *source is unchanged then.
 * Threads: any. */
bool plx_net_source(const struct plx_net *net, const struct plx_ip *ip, struct plx_ip *source);

/**
 * The next hop to `ip`: itself, or its gateway. False if there is no route; *hop is unchanged
 * then.
 * Threads: any.
 */
bool plx_net_next_hop(const struct plx_net *net, const struct plx_ip *ip, struct plx_ip *hop);

/** Is this one of our own addresses? */
bool plx_net_is_own(const struct plx_net *net, const struct plx_ip *ip);

/** The same for an IPv4 address in host byte order, and for an IPv6 address. @param ip [16]
 * Cost: hot; O(addresses) */
bool plx_net_is_own4(const struct plx_net *net, uint32_t ip);
bool plx_net_is_own6(const struct plx_net *net, const uint8_t *ip);

/** Our VLAN; 0: none. */
uint16_t plx_net_vlan(const struct plx_net *net);

/**
 * The Ethernet groups that neighbour discovery needs: all nodes, and the solicited-node group of
 * each IPv6 address. A port that filters must receive them and broadcasts.
 *
 * @param macs [6 * PLX_NET_GROUPS_MAX] out: the groups, without duplicates
 * Returns: the number of groups; 0 if no address is IPv6
 * Spec:    RFC 4291 (2.7.1); RFC 2464 (7)
 * Tests:   tests/unit/proto/net/strangers.c
 */
uint32_t plx_net_groups(const struct plx_net_address *addresses, uint32_t n, uint8_t *macs);

/**
 * Process a received frame that is not RoCE.
 *
 * A request for an address of ours is answered. Its sender becomes a guest for PLX_NET_GUEST_NS, in
 * a free entry or in place of another guest. An answer is accepted only if we sent a request, or if
 * it updates a known neighbour. Unsolicited information is used, and verified by a request. A frame
 * changes nothing if it is of another VLAN, to another station, or to a group other than broadcast
 * (ARP) and those of plx_net_groups() (neighbour discovery).
 *
 * The reply to an echo request for an address of ours goes to the Ethernet source of the frame,
 * whether a neighbour or a router; nothing is looked up or remembered. The request must be
 * addressed to our own MAC; fragments, options and extension headers are NOT_OURS.
 *
 * @param bytes [len] one frame without FCS, at most one VLAN tag; nothing past len is read
 * Returns: TAKEN (it was for us; counters tell what it changed), NOT_OURS, OTHER_VLAN,
 *          OTHER_STATION, OTHER_ADDRESS or MALFORMED (hop limit not 255, bad checksum, lengths, a
 *          multicast sender ...)
 * Changes: only counters unless TAKEN
 * Cost:    O(1) on average, plus O(len) for a checksum and for copying an echo
 * Spec:    RFC 826; RFC 5227 (1.1: probes are answered); RFC 4861 (7.1.1, 7.1.2, 7.2.3 to 7.2.5);
 *          RFC 792; RFC 4443 (4.1, 4.2); RFC 1122 (3.2.2.6: no answer to a broadcast)
 * Tests:   tests/unit/proto/net/wire.c, tests/unit/proto/net/hostile.c,
 *          tests/unit/proto/net/news.c, tests/unit/proto/net/echo.c,
 *          tests/unit/proto/net/strangers.c, tests/fuzz/net.c
 */
enum plx_net_verdict plx_net_on_frame(struct plx_net *net, const uint8_t *bytes, size_t len,
				      uint64_t now);

/**
 * Send one echo request, as soon as the next hop is resolved.
 *
 * The caller must call plx_net_ping_result(), which checks whether the next hop is resolved; else
 * the request is never sent. An address of ours answers at once, without a frame.
 *
 * @param bytes   of payload; it must fit a frame after 42 bytes of headers (IPv6: 62; in a VLAN
 * four more)
 * @param timeout [ns] from now; afterwards the entry may be reused
 * @param number  [out] if WAIT: for plx_net_ping_result()
 * Returns: WAIT, NO_ROUTE, NOT_UNICAST, TOO_LONG, BUSY (PLX_NET_PINGS_MAX are outstanding)
 * Spec:    RFC 792; RFC 4443 (4.1)
 * Tests:   tests/unit/proto/net/ping.c
 */
enum plx_net_verdict plx_net_ping(struct plx_net *net, const struct plx_ip *ip, uint32_t bytes,
				  uint64_t now, uint64_t timeout, uint32_t *number) PLX_MUST_CHECK;

/**
 * The result of an echo request. A valid answer has the address, the numbers and every byte of the
 * request. The number is invalid afterwards, except after WAIT.
 *
 * @param rtt_ns [out] if READY: from plx_net_transmit() to plx_net_on_frame()
 * Returns: WAIT, READY, NO_ANSWER (the next hop did not answer), LOST (no answer in time, or
 *          unknown number)
 * Tests:   tests/unit/proto/net/ping.c
 */
enum plx_net_verdict plx_net_ping_result(struct plx_net *net, uint32_t number, uint64_t now,
					 uint64_t *rtt_ns) PLX_MUST_CHECK;

/** Maximum length of a frame that plx_net_transmit() writes [bytes]: frame_max of the
 * configuration. */
uint32_t plx_net_frame_max(const struct plx_net *net);

/**
 * Write the next frame to send, without FCS. Replies, requests, echo replies, echo requests and
 * announcements take turns, so that a flood of requests does not block our own.
 *
 * A port first announces its addresses, by gratuitous ARP and unsolicited advertisements, so that
 * neighbours replace an old Ethernet address.
 *
 * @param out [plx_net_frame_max(net)]
 * Returns: bytes written, 60 (minimum of Ethernet; 64 in a VLAN) .. plx_net_frame_max(net); 0 if
 *          there is nothing to send
 * Spec:    RFC 826; RFC 4861 (4.3, 4.4, 7.2.4, 7.2.6); RFC 2464 (7: multicast); RFC 5227 (3)
 * Tests:   tests/unit/proto/net/wire.c, tests/unit/proto/net/announce.c
 */
size_t plx_net_transmit(struct plx_net *net, uint64_t now, uint8_t *out);

/** Run expired timers: retries, probes, giving up, announcements. At most PLX_NET_DUE_MAX of each
 * kind; if more are due, plx_net_wake_ns() is not in the future. */
void plx_net_on_tick(struct plx_net *net, uint64_t now);

/** 0 if plx_net_transmit() has a frame, else the deadline for plx_net_on_tick(), or PLX_NEVER.
 * Cost: O(1) */
uint64_t plx_net_wake_ns(const struct plx_net *net);

/** Changes whenever a READY neighbour gets another Ethernet address or becomes unusable. Users of
 * resolved addresses must then resolve them again. */
uint32_t plx_net_version(const struct plx_net *net);

/** The counters. Any thread; values may be a little old. */
const struct plx_net_counters *plx_net_counters(const struct plx_net *net);

#endif
