/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who has this address? ARP and IPv6 neighbour discovery for one port: its own addresses, and a
 * bounded table of neighbours. Frame in, frames out on request, time is an argument.
 * It never routes: an address outside every prefix of ours has no way out. Nothing that comes in
 * allocates, grows a queue without limit, or takes the place of a neighbour in use.
 * Start with plx_net_resolve(); docs/net.md draws a neighbour's life.
 */
#ifndef PLX_NET_H
#define PLX_NET_H

#include "plx_base.h"
#include "plx_wire.h"

enum {
	PLX_NET_ADDRESSES_MAX = 8,
	PLX_NET_NEIGHBOURS_MAX = 4096,
	PLX_NET_FRAME_MAX = 128,  /* [bytes] the longest frame that plx_net_transmit() writes */
	PLX_NET_TRIES = 3,        /* requests for one neighbour, one PLX_NET_RETRY_NS apart */
	PLX_NET_ANSWERS_MAX = 32, /* answers that wait to be sent */
	PLX_NET_GUEST_SHARE = 4,  /* one of so many entries may hold a neighbour that only asked */
	PLX_NET_DUE_MAX = 64,     /* expiries of one kind that one plx_net_on_tick() handles */
};

#define PLX_NET_RETRY_NS    (1 * PLX_SEC)
#define PLX_NET_FRESH_NS    (30 * PLX_SEC) /* a neighbour in use is asked again after this */
#define PLX_NET_NEGATIVE_NS (3 * PLX_SEC)  /* an address that did not answer is not asked again */
#define PLX_NET_GUEST_NS    (30 * PLX_SEC) /* who only asked us is forgotten after this */
#define PLX_NET_MOVE_NS     (1 * PLX_SEC)  /* a neighbour moves at most once in this time */

struct plx_net_address {
	struct plx_ip ip;
	uint8_t prefix_bits; /* of the network that is reached directly */
};

struct plx_net_config {
	uint8_t mac[6];
	uint32_t addresses; /* 1 .. PLX_NET_ADDRESSES_MAX */
	struct plx_net_address address[PLX_NET_ADDRESSES_MAX];
	uint32_t neighbours; /* 1 .. PLX_NET_NEIGHBOURS_MAX; the oldest unused one gives way */
	uint64_t seed; /* random bits; who knows them can choose addresses that are slow to find */
};

struct plx_net;

/* What became of a question or a frame. X(name, text) */
#define PLX_NET_VERDICT_LIST(X)                                                 \
	X(READY, "the neighbour is known")                                      \
	X(WAIT, "the neighbour was asked; ask again later")                     \
	X(NO_ANSWER, "the neighbour did not answer")                            \
	X(NO_ROUTE, "the address is in no network of ours")                     \
	X(NOT_UNICAST, "the address is multicast, broadcast, loopback or none") \
	X(NOT_OURS, "neither ARP nor neighbour discovery, or for another")      \
	X(MALFORMED, "ARP or neighbour discovery with wrong fields")            \
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
	X(unasked, "answers nobody had asked for, ignored")                        \
	X(malformed, "frames with wrong fields, dropped")                          \
	X(conflicts, "frames of another station that uses an address of ours")     \
	X(no_answer, "neighbours that did not answer")                             \
	X(moved, "neighbours whose Ethernet address changed")                      \
	X(moves_refused, "changes of an Ethernet address too soon after another")  \
	X(evicted, "neighbours that gave way to newer ones")                       \
	X(guests_refused, "requesters not remembered: no entry was free for them") \
	X(replies_dropped, "answers not sent: the queue of answers was full")

struct plx_net_counters {
#define PLX_X(name, text) uint64_t name;
	PLX_NET_COUNTER_LIST(PLX_X)
#undef PLX_X
};

/**
 * Bytes that plx_net_init() wants; 0 when something in config is out of range: counts, prefix bits,
 * an address that is not unicast in its network, a multicast or zero MAC, the same address twice.
 *
 * Tests: tests/unit/net/address.c
 */
size_t plx_net_bytes(const struct plx_net_config *config);

/**
 * @param memory [plx_net_bytes(config)] aligned to PLX_CACHE_LINE; the caller's, and not moved
 * @param config one that plx_net_bytes() accepts; copied
 */
struct plx_net *plx_net_init(void *memory, const struct plx_net_config *config);

/**
 * The Ethernet address of `ip`; an unknown neighbour is asked for (plx_net_transmit() has the
 * request). An address of our own resolves to our own MAC at once.
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
 * Tests:   tests/unit/net/life.c, tests/unit/net/crowd.c
 */
enum plx_net_verdict plx_net_resolve(struct plx_net *net, const struct plx_ip *ip, uint64_t now,
				     uint8_t *mac) PLX_MUST_CHECK;

/** The address of ours from which `ip` is reached: of the longest prefix that holds it, the first;
 * false when no prefix holds it, and *source is untouched. An address of ours reaches itself. */
bool plx_net_source(const struct plx_net *net, const struct plx_ip *ip, struct plx_ip *source);

/** Is this one of our own addresses? */
bool plx_net_is_own(const struct plx_net *net, const struct plx_ip *ip);

/**
 * A frame came in that is not for RoCE.
 *
 * A request for an address of ours is answered and teaches us its sender, as a guest: in a free
 * entry or that of another guest, for PLX_NET_GUEST_NS. An answer is taken only when we asked, or
 * when it updates a neighbour that is known. What was learned without having been asked is used,
 * and asked for. A frame with a VLAN other than 0 (which is a priority only) is not ours.
 *
 * @param bytes [len] one frame without FCS, one VLAN tag at most; not one byte past len is read
 * Returns: TAKEN (it was for us; whether it changed anything, the counters say), NOT_OURS or
 *          MALFORMED (hop limit not 255, bad checksum, lengths, a multicast sender ...)
 * Changes: nothing but counters unless TAKEN
 * Cost:    O(1) on average, and O(len) for the checksum of an advertisement or solicitation
 * Spec:    RFC 826; RFC 5227 (1.1: probes are answered); RFC 4861 (7.1.1, 7.1.2, 7.2.3 to 7.2.5)
 * Tests:   tests/unit/net/wire.c, tests/unit/net/hostile.c, tests/unit/net/news.c,
 *          tests/fuzz/net.c
 */
enum plx_net_verdict plx_net_on_frame(struct plx_net *net, const uint8_t *bytes, size_t len,
				      uint64_t now);

/**
 * Write the next frame that is to be sent, without FCS: answers and requests in turn, so that a
 * flood of questions does not keep us from asking.
 *
 * @param out [PLX_NET_FRAME_MAX]
 * Returns: bytes written, 60 (the least of Ethernet) .. PLX_NET_FRAME_MAX; 0 when there is nothing
 *          to send
 * Spec:    RFC 826; RFC 4861 (4.3, 4.4, 7.2.4); RFC 2464 (7: multicast)
 * Tests:   tests/unit/net/wire.c
 */
size_t plx_net_transmit(struct plx_net *net, uint64_t now, uint8_t *out);

/** Let it see the time: retries, refreshing, giving up; at most PLX_NET_DUE_MAX of each kind, and
 * then plx_net_wake_ns() is not in the future. */
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
