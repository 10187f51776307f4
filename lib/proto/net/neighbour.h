/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of neighbours: known ones, ones being resolved, and their timers.
 * Private to lib/proto/net. It never reads or writes a frame.
 * Start with struct plx_neighbour; docs/net.md draws the states.
 *
 * A neighbour is in one timer list and in one rank list. Each timer list has one delay, and time
 * never decreases, so the first entry of a list is due first, and nothing is ever searched. The
 * rank determines what is evicted when the table is full: the first entry of the lowest rank.
 */
#ifndef PLX_NEIGHBOUR_H
#define PLX_NEIGHBOUR_H

#include "message.h"

enum plx_neighbour_state {
	PLX_NEIGHBOUR_FREE,
	PLX_NEIGHBOUR_GUEST,      /* sent us a request, and no user has resolved it yet */
	PLX_NEIGHBOUR_INCOMPLETE, /* nothing is known; it is being resolved */
	PLX_NEIGHBOUR_FAILED,     /* did not reply */
	PLX_NEIGHBOUR_REACHABLE,  /* known, and has replied to us */
	PLX_NEIGHBOUR_PROBE,      /* known and usable, and being verified */
	PLX_NEIGHBOUR_STATES,
};

enum plx_timer {
	PLX_TIMER_NONE,      /* free */
	PLX_TIMER_ASK,       /* a request is to be sent as soon as there is room; no deadline */
	PLX_TIMER_RETRY,     /* a request was sent, or soon will be */
	PLX_TIMER_REACHABLE, /* REACHABLE */
	PLX_TIMER_FAILED,    /* FAILED */
	PLX_TIMER_GUEST,     /* GUEST */
	PLX_TIMERS,
};

enum plx_rank {
	PLX_RANK_GUEST,   /* GUEST */
	PLX_RANK_UNKNOWN, /* INCOMPLETE, FAILED */
	PLX_RANK_KNOWN,   /* REACHABLE, PROBE */
	PLX_RANKS,
};

struct plx_neighbour {
	struct plx_ip ip;
	uint8_t mac[PLX_MAC_BYTES]; /* of GUEST, REACHABLE and PROBE */
	uint8_t state;              /* enum plx_neighbour_state */
	uint8_t tries;              /* requests sent since its last message */
	uint64_t deadline_ns;       /* when its timer expires, in a timer list that has a delay */
	uint64_t move_after_ns; /* its Ethernet address does not change again before this time */
	struct plx_list timer;
	struct plx_list rank;
	struct plx_neighbour *next; /* of the same bucket */
};

struct plx_table {
	struct plx_secret key; /* of the hash */
	uint32_t entries;
	uint32_t guests, guests_max;
	uint32_t version;
	uint32_t bucket_mask;
	struct plx_neighbour *neighbour; /* [entries] */
	struct plx_neighbour **bucket;   /* [bucket_mask + 1] */
	struct plx_list timer[PLX_TIMERS];
	struct plx_list rank[PLX_RANKS];
	struct plx_net_counters *counters;
};

/** Size of a table of `entries` neighbours, apart from the struct. */
size_t plx_table_bytes(uint32_t entries);

/** @param memory [plx_table_bytes(entries)] */
void plx_table_init(struct plx_table *table, void *memory, uint32_t entries,
		    const struct plx_secret *key, struct plx_net_counters *counters);

/** NULL if it is not in the table. */
struct plx_neighbour *plx_table_find(const struct plx_table *table, const struct plx_ip *ip);

/**
 * A user needs the neighbour: insert it and request its address if necessary. It is no longer a
 * guest. The verdict follows from its state.
 */
struct plx_neighbour *plx_table_want(struct plx_table *table, const struct plx_ip *ip,
				     uint64_t now);

/** A station that is not in the table has sent a request; it becomes a guest if there is room. */
void plx_table_welcome(struct plx_table *table, const struct plx_ip *ip, const uint8_t *mac,
		       uint64_t now);

/**
 * A message claims that the neighbour is at message->mac, or that it exists if there is no MAC.
 * `solicited`: it replies to a request of ours.
 */
void plx_neighbour_update(struct plx_table *table, struct plx_neighbour *neighbour,
			  const struct plx_message *message, bool solicited, uint64_t now);

/** The neighbour to send a request to next; NULL if there is none. */
struct plx_neighbour *plx_table_next_request(const struct plx_table *table);

/** The request was sent. */
void plx_neighbour_request_sent(struct plx_table *table, struct plx_neighbour *neighbour,
				uint64_t now);

/** Handle expired timers, at most PLX_NET_DUE_MAX in each timer list. */
void plx_table_tick(struct plx_table *table, uint64_t now);

/** The earliest deadline, or PLX_NEVER. */
uint64_t plx_table_due_ns(const struct plx_table *table);

#endif
