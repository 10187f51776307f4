/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Echo requests of our own, from the question to the answer or to the end of its time. Private to
 * lib/proto/net. It never resolves a neighbour and never reads or writes a frame: net.c does.
 * Start with struct plx_ping.
 *
 *   FREE -> LOOKING (for the neighbour) -> TO_SEND -> SENT -> ANSWERED -> FREE
 *   From any of them back to FREE when the time is over and another wants the place, or when the
 *   asker was told.
 */
#ifndef PLX_PING_H
#define PLX_PING_H

#include "message.h"

enum plx_ping_state {
	PLX_PING_FREE,
	PLX_PING_LOOKING,
	PLX_PING_TO_SEND,
	PLX_PING_SENT,
	PLX_PING_ANSWERED,
};

struct plx_ping {
	uint8_t state; /* enum plx_ping_state */
	uint8_t mac[PLX_MAC_BYTES];
	struct plx_ip from, to;
	uint32_t bytes;
	uint32_t number; /* never 0; its low half is the sequence on the wire */
	uint16_t id;     /* so that nobody answers who has not heard the question */
	uint64_t sent_ns, rtt_ns, deadline_ns;
};

struct plx_pings {
	uint32_t to_send;      /* how many are TO_SEND */
	uint32_t number;       /* the last one that was given */
	struct plx_secret key; /* of their ids */
	struct plx_ping ping[PLX_NET_PINGS_MAX];
};

/** @param key for who guesses answers */
void plx_pings_init(struct plx_pings *pings, const struct plx_secret *key);

/** A new one, LOOKING, with its number and deadline; the rest is the caller's to fill in. NULL: as
 * many as there can be are on their way, none of them late. */
struct plx_ping *plx_ping_begin(struct plx_pings *pings, uint64_t now, uint64_t timeout);

/** NULL: no such one. */
struct plx_ping *plx_ping_find(struct plx_pings *pings, uint32_t number);

/** That with this sequence that is SENT; NULL: none. */
struct plx_ping *plx_ping_of_answer(struct plx_pings *pings, uint16_t sequence);

/** The next that is TO_SEND; NULL: none is. The one that has waited longest. */
struct plx_ping *plx_ping_to_send(struct plx_pings *pings);

void plx_ping_insert(struct plx_pings *pings, struct plx_ping *ping, enum plx_ping_state state);

#endif
