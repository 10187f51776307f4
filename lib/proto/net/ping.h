/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our own echo requests, from the call to the reply or the timeout. Private to lib/proto/net. It
 * never resolves a neighbour and never reads or writes a frame: net.c does.
 * Start with struct plx_ping.
 *
 *   FREE -> LOOKING (for the neighbour) -> TO_SEND -> SENT -> ANSWERED -> FREE
 * Any of them returns to FREE once its timeout has expired and another request needs the entry, or
 * once its result was fetched.
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
	uint32_t number; /* never 0; its low 16 bits are the sequence number sent */
	uint16_t id;     /* random, so that only those who received the request can reply */
	uint64_t sent_ns, rtt_ns, deadline_ns;
};

struct plx_pings {
	uint32_t to_send;      /* number of entries in TO_SEND */
	uint32_t number;       /* the last one issued */
	struct plx_secret key; /* of the ids */
	struct plx_ping ping[PLX_NET_PINGS_MAX];
};

/** @param key makes replies hard to guess */
void plx_pings_init(struct plx_pings *pings, const struct plx_secret *key);

/**
 * Start a request in LOOKING, with its number and deadline; the caller fills in the rest. Returns
 * NULL if the maximum number are outstanding and none has expired.
 */
struct plx_ping *plx_ping_begin(struct plx_pings *pings, uint64_t now, uint64_t timeout);

/** NULL if there is none. */
struct plx_ping *plx_ping_find(struct plx_pings *pings, uint32_t number);

/** The request in SENT with this sequence number; NULL if there is none. */
struct plx_ping *plx_ping_of_answer(struct plx_pings *pings, uint16_t sequence);

/** The request in TO_SEND that has waited longest; NULL if there is none. */
struct plx_ping *plx_ping_to_send(struct plx_pings *pings);

void plx_ping_insert(struct plx_pings *pings, struct plx_ping *ping, enum plx_ping_state state);

#endif
