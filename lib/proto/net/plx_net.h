/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who has this address, and is anybody there? ARP, IPv6 neighbour discovery and echo for one port:
 * its own addresses, its routes, and a bounded table of neighbours. Frame in, frames out on
 * request, time is an argument.
 * It never forwards: what comes in is for us or dropped. Nothing that comes in allocates, grows a
 * queue without limit, or takes the place of a neighbour in use.
 * Start with plx_net_resolve(); docs/net.md draws a neighbour's life.
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
	PLX_NET_FRAME_MIN = 128, /* [bytes] of frame_max: every message of ours that is no echo */
	PLX_NET_FRAME_USUAL = 1514, /* [bytes] Ethernet's own, without FCS */
	PLX_NET_FRAME_MAX = 9216,   /* [bytes] */
	PLX_NET_TRIES = 3,          /* requests for one neighbour, one PLX_NET_RETRY_NS apart */
	PLX_NET_ANSWERS_MAX = 32,   /* answers that wait to be sent */
	PLX_NET_ECHOES_MAX = 16,    /* the same, of echo: whole frames, kept */
	PLX_NET_PINGS_MAX = 16,     /* echo requests of our own that nobody has answered yet */
	PLX_NET_ANNOUNCE_MAX = 3,   /* times that our addresses are announced, RFC 4861 (10) */
	PLX_NET_GUEST_SHARE = 4,    /* one of so many entries may hold who only asked */
	PLX_NET_DUE_MAX = 64,       /* expiries of one kind that one plx_net_on_tick() handles */
	PLX_NET_GROUPS_MAX = PLX_NET_ADDRESSES_MAX + 1, /* Ethernet groups that we listen to */
};

#define PLX_NET_RETRY_NS    (1 * PLX_SEC)
#define PLX_NET_FRESH_NS    (30 * PLX_SEC) /* a neighbour in use is asked again after this */
#define PLX_NET_NEGATIVE_NS (3 * PLX_SEC)  /* an address that did not answer is not asked again */
#define PLX_NET_GUEST_NS    (30 * PLX_SEC) /* who only asked us is forgotten after this */
#define PLX_NET_MOVE_NS     (1 * PLX_SEC)  /* a neighbour moves at most once in this time */
#define PLX_NET_ANNOUNCE_NS (1 * PLX_SEC)  /* between two announcements */

struct plx_net_address {
	struct plx_ip ip;
	uint8_t prefix_bits; /* of the network that is reached directly */
};

/* The way to a network that is not reached directly. */
struct plx_net_route {
	struct plx_ip net;   /* zeros behind the prefix */
	uint8_t prefix_bits; /* 0: everything, the default route */
	struct plx_ip via;   /* the gateway, in a network of ours */
};

struct plx_net_config {
	uint8_t mac[6];
	uint16_t vlan; /* 1 .. PLX_VLAN_MAX: every frame has its tag, in and out; 0: none has */
	uint32_t addresses; /* 1 .. PLX_NET_ADDRESSES_MAX */
	struct plx_net_address address[PLX_NET_ADDRESSES_MAX];
	uint32_t routes; /* 0 .. PLX_NET_ROUTES_MAX, in any order */
	struct plx_net_route route[PLX_NET_ROUTES_MAX];
	uint32_t neighbours; /* 1 .. PLX_NET_NEIGHBOURS_MAX; the oldest unused one gives way */
	uint32_t frame_max;  /* [bytes] longest frame to send, without FCS: PLX_NET_FRAME_MIN ..
			      * PLX_NET_FRAME_MAX; 0: PLX_NET_FRAME_USUAL */
	uint32_t announce;   /* times, PLX_NET_ANNOUNCE_NS apart: 0 .. PLX_NET_ANNOUNCE_MAX */
	/* Who knows it can choose addresses that are slow to find, and answer echoes unheard. */
	struct plx_secret secret;
};

struct plx_net;

/* What became of a question or a frame. X(name, text) */
#define PLX_NET_VERDICT_LIST(X)                                                       \
	X(READY, "the neighbour is known")                                            \
	X(WAIT, "the neighbour was asked; ask again later")                           \
	X(NO_ANSWER, "the neighbour did not answer")                                  \
	X(NO_ROUTE, "the address is in no network of ours, and no route leads there") \
	X(NOT_UNICAST, "the address is multicast, broadcast, loopback or none")       \
	X(LOST, "the echo request was not answered in time")                          \
	X(BUSY, "too many echo requests are on their way")                            \
	X(TOO_LONG, "the echo request is longer than a frame")                        \
	X(NOT_OURS, "neither ARP, neighbour discovery nor echo")                      \
	X(OTHER_VLAN, "for another VLAN")                                             \
	X(OTHER_STATION, "for another Ethernet address, or a group that is not ours") \
	X(OTHER_ADDRESS, "for another IP address")                                    \
	X(MALFORMED, "ARP, neighbour discovery or echo with wrong fields")            \
	X(TAKEN, "the frame was taken")

enum plx_net_verdict {
#define PLX_X(name, text) PLX_NET_##name,
	PLX_NET_VERDICT_LIST(PLX_X)
#undef PLX_X
	PLX_NET_VERDICT_COUNT,
};

/** The sentence for a verdict; for a value that is none, a sentence that says so. Never NULL. */
const char *plx_net_verdict_text(enum plx_net_verdict verdict);

/* Counted for the life of the port. X(name, text) */
#define PLX_NET_COUNTER_LIST(X)                                                    \
	X(requests_sent, "ARP requests and solicitations sent")                    \
	X(replies_sent, "ARP replies and advertisements sent")                     \
	X(requests_seen, "requests for an address of ours")                        \
	X(replies_seen, "answers about a neighbour that is in the table")          \
	X(unsolicited, "answers nobody had asked for, ignored")                    \
	X(malformed, "frames with wrong fields, dropped")                          \
	X(conflicts, "frames of another station that uses an address of ours")     \
	X(no_answer, "neighbours that did not answer")                             \
	X(moved, "neighbours whose Ethernet address changed")                      \
	X(moves_refused, "changes of an Ethernet address too soon after another")  \
	X(evicted, "neighbours that gave way to newer ones")                       \
	X(guests_refused, "requesters not remembered: no entry was free for them") \
	X(replies_dropped, "answers not sent: the queue of answers was full")      \
	X(announcements_sent, "announcements of our own addresses sent")           \
	X(echoes_seen, "echo requests for an address of ours")                     \
	X(echoes_sent, "answers to them sent")                                     \
	X(echoes_dropped, "answers to them not sent: too many, or too long")       \
	X(pings_sent, "echo requests sent")                                        \
	X(pings_answered, "echo requests of ours that were answered")              \
	X(pings_unsolicited, "echo answers that nobody waits for, ignored")

struct plx_net_counters {
#define PLX_X(name, text) uint64_t name;
	PLX_NET_COUNTER_LIST(PLX_X)
#undef PLX_X
};

/**
 * Bytes that plx_net_init() wants; 0 when something in config is out of range: counts, sizes,
 * prefix bits, a VLAN above PLX_VLAN_MAX, an address that is not unicast in its network, a
 * multicast or zero MAC, the same address or route twice, a route with bits behind its prefix, a
 * gateway that is ours or in no network of ours.
 *
 * Tests: tests/unit/proto/net/address.c, tests/unit/proto/net/route.c
 */
size_t plx_net_bytes(const struct plx_net_config *config);

/**
 * @param memory [plx_net_bytes(config)] aligned to PLX_CACHE_LINE; the caller's, and not moved
 * @param config one that plx_net_bytes() accepts; copied
 */
struct plx_net *plx_net_init(void *memory, const struct plx_net_config *config);

/**
 * The Ethernet address by which `ip` is reached: its own, or that of the gateway to it. An unknown
 * neighbour is asked for (plx_net_transmit() has the request). An address of our own resolves to
 * our own MAC at once. Of networks and routes the one with the longest prefix counts; of equals the
 * network, and the first.
 *
 * A neighbour that was resolved once is asked again every PLX_NET_FRESH_NS, and stays READY
 * meanwhile; one that then does not answer PLX_NET_TRIES times is forgotten.
 *
 * @param ip  IPv4: only its first four bytes count
 * @param now [ns] never decreasing over all calls
 * @param mac [6] written when READY, else untouched
 * Returns: READY, WAIT, NO_ANSWER (for PLX_NET_NEGATIVE_NS after PLX_NET_TRIES), NO_ROUTE,
 *          NOT_UNICAST
 * Changes: a new neighbour takes the entry of one that only asked us, else of one that has not
 *          answered, else of the one that was resolved longest ago
 * Cost:    O(1) on average; not for the data path
 * Spec:    RFC 826; RFC 1122 (2.3.2.1: dead neighbours are noticed); RFC 4861 (7.2.2, 7.3.3)
 * Tests:   tests/unit/proto/net/life.c, tests/unit/proto/net/crowd.c, tests/unit/proto/net/route.c
 */
enum plx_net_verdict plx_net_resolve(struct plx_net *net, const struct plx_ip *ip, uint64_t now,
				     uint8_t *mac) PLX_MUST_CHECK;

/**
 * The Ethernet address for an answer to somebody of whom nothing is proven: the one that is known
 * for `ip`, or for the gateway to it, else the one that the question came from. Nobody is asked,
 * and no entry is made or gives way.
 *
 * @param from [6] where the question came from: an Ethernet address, no group
 * @param mac  [6] written when READY, else untouched
 * Returns: READY, NO_ROUTE, NOT_UNICAST
 */
enum plx_net_verdict plx_net_resolve_reply(const struct plx_net *net, const struct plx_ip *ip,
					   const uint8_t *from, uint8_t *mac) PLX_MUST_CHECK;

/** Somebody asked us for a connection, and so told where it is: remembered as one who has asked for
 * our Ethernet address is, for a while and at the cost of others of that kind alone. */
void plx_net_welcome(struct plx_net *net, const struct plx_ip *ip, const uint8_t *from,
		     uint64_t now);

/** The address of ours from which `ip` is reached: that of the network which holds it, or its
 * gateway; false when there is no way, and *source is untouched. An address of ours reaches itself.
 * Threads: any. */
bool plx_net_source(const struct plx_net *net, const struct plx_ip *ip, struct plx_ip *source);

/** The neighbour that is asked for `ip`: itself, or the gateway to it; false when there is no way,
 * and *hop is untouched. Threads: any. */
bool plx_net_next_hop(const struct plx_net *net, const struct plx_ip *ip, struct plx_ip *hop);

/** Is this one of our own addresses? */
bool plx_net_is_own(const struct plx_net *net, const struct plx_ip *ip);

/** The same of an IPv4 address in host byte order, and of an IPv6 address. @param ip [16]
 * Cost: hot; O(addresses) */
bool plx_net_is_own4(const struct plx_net *net, uint32_t ip);
bool plx_net_is_own6(const struct plx_net *net, const uint8_t *ip);

/** Our VLAN; 0: none. */
uint16_t plx_net_vlan(const struct plx_net *net);

/**
 * The Ethernet groups that neighbour discovery needs: all nodes, and the solicited-node group of
 * each IPv6 address. A port that filters must let them in, and broadcasts.
 *
 * @param macs [6 * PLX_NET_GROUPS_MAX] one behind another
 * Returns: how many, each once; 0 when no address is of IPv6
 * Spec:    RFC 4291 (2.7.1); RFC 2464 (7)
 * Tests:   tests/unit/proto/net/strangers.c
 */
uint32_t plx_net_groups(const struct plx_net_address *addresses, uint32_t n, uint8_t *macs);

/**
 * A frame came in that is not for RoCE.
 *
 * A request for an address of ours is answered and teaches us its sender, as a guest: in a free
 * entry or that of another guest, for PLX_NET_GUEST_NS. An answer is taken only when we asked, or
 * when it updates a neighbour that is known. What was learned without having been asked is used,
 * and asked for. A frame of another VLAN, to another station, or to a group other than broadcast
 * (for ARP) and those of plx_net_groups() (for neighbour discovery), changes nothing.
 *
 * An echo request for an address of ours is answered to the station that the frame came from: to a
 * neighbour itself, or to the router that brought it, and nothing is looked up or remembered. Only
 * what came to our own MAC counts, whole; fragments, options and extension headers are not ours.
 *
 * @param bytes [len] one frame without FCS, one VLAN tag at most; not one byte past len is read
 * Returns: TAKEN (it was for us; whether it changed anything, the counters say), NOT_OURS,
 *          OTHER_VLAN, OTHER_STATION, OTHER_ADDRESS or MALFORMED (hop limit not 255, bad checksum,
 *          lengths, a multicast sender ...)
 * Changes: nothing but counters unless TAKEN
 * Cost:    O(1) on average, and O(len) for a checksum and for the copy of an echo
 * Spec:    RFC 826; RFC 5227 (1.1: probes are answered); RFC 4861 (7.1.1, 7.1.2, 7.2.3 to 7.2.5);
 *          RFC 792; RFC 4443 (4.1, 4.2); RFC 1122 (3.2.2.6: no answer to a broadcast)
 * Tests:   tests/unit/proto/net/wire.c, tests/unit/proto/net/hostile.c,
 *          tests/unit/proto/net/news.c, tests/unit/proto/net/echo.c,
 *          tests/unit/proto/net/strangers.c, tests/fuzz/net.c
 */
enum plx_net_verdict plx_net_on_frame(struct plx_net *net, const uint8_t *bytes, size_t len,
				      uint64_t now);

/**
 * Send one echo request, as soon as the way there is known.
 *
 * It is plx_net_ping_result() that looks whether the neighbour has answered: who does not call it
 * has no request sent. An address of ours answers at once, without a frame.
 *
 * @param bytes   of payload, as many as a frame holds behind 42 bytes (IPv6: 62; in a VLAN four
 *                more) of headers
 * @param timeout [ns] from now; after it the entry may serve another
 * @param number  [out] when WAIT: for plx_net_ping_result()
 * Returns: WAIT, NO_ROUTE, NOT_UNICAST, TOO_LONG, BUSY (PLX_NET_PINGS_MAX are on their way)
 * Spec:    RFC 792; RFC 4443 (4.1)
 * Tests:   tests/unit/proto/net/ping.c
 */
enum plx_net_verdict plx_net_ping(struct plx_net *net, const struct plx_ip *ip, uint32_t bytes,
				  uint64_t now, uint64_t timeout, uint32_t *number) PLX_MUST_CHECK;

/**
 * What became of it. The answer that counts has the address, the numbers and every byte that was
 * sent. But for WAIT the number is of no more use afterwards.
 *
 * @param rtt_ns [out] when READY: from plx_net_transmit() to plx_net_on_frame()
 * Returns: WAIT, READY, NO_ANSWER (the neighbour that leads there did not answer), LOST (no answer
 *          in time, or no such number)
 * Tests:   tests/unit/proto/net/ping.c
 */
enum plx_net_verdict plx_net_ping_result(struct plx_net *net, uint32_t number, uint64_t now,
					 uint64_t *rtt_ns) PLX_MUST_CHECK;

/** [bytes] of a frame that plx_net_transmit() writes, at most: frame_max of the configuration. */
uint32_t plx_net_frame_max(const struct plx_net *net);

/**
 * Write the next frame that is to be sent, without FCS: answers, requests, echoes, pings and
 * announcements in turn, so that a flood of questions does not keep us from asking.
 *
 * The first frames of a port announce its addresses, by gratuitous ARP and unsolicited
 * advertisements, so that neighbours who know an old Ethernet address forget it.
 *
 * @param out [plx_net_frame_max(net)]
 * Returns: bytes written, 60 (the least of Ethernet; 64 in a VLAN) .. plx_net_frame_max(net); 0
 *          when there is nothing to send
 * Spec:    RFC 826; RFC 4861 (4.3, 4.4, 7.2.4, 7.2.6); RFC 2464 (7: multicast); RFC 5227 (3)
 * Tests:   tests/unit/proto/net/wire.c, tests/unit/proto/net/announce.c
 */
size_t plx_net_transmit(struct plx_net *net, uint64_t now, uint8_t *out);

/** Let it see the time: retries, refreshing, giving up, announcing; at most PLX_NET_DUE_MAX of each
 * kind, and then plx_net_wake_ns() is not in the future. */
void plx_net_on_tick(struct plx_net *net, uint64_t now);

/** 0 when plx_net_transmit() has a frame, else the deadline for plx_net_on_tick(), or PLX_NEVER.
 * Cost: O(1) */
uint64_t plx_net_wake_ns(const struct plx_net *net);

/** Changes whenever a neighbour that was READY moved to another Ethernet address or is not usable
 * any more, so that a user of resolved addresses knows when to ask again. */
uint32_t plx_net_version(const struct plx_net *net);

/** As counted so far. Any thread; values may be a little old. */
const struct plx_net_counters *plx_net_counters(const struct plx_net *net);

#endif
