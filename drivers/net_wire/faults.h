/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bad cable: what is done to the packets that one end receives. Private to the room; it knows
 * no port. Start with faults_on_burst().
 */
#ifndef PLX_NET_WIRE_FAULTS_H
#define PLX_NET_WIRE_FAULTS_H

#include "plx_net_wire.h"

enum {
	FAULT_DEPTH = 8,          /* of reordering, unless depth= says otherwise */
	FAULT_DELAY_US = 1000000, /* the most that delay_us= may ask for */
	FAULT_RATE_MBPS = 1000000,
	FAULT_FLOOD = 10000000,
};

/* What the arguments ask for. */
struct fault_options {
	uint64_t seed;
	double loss, duplicate, corrupt, reorder, mark; /* probabilities */
	uint32_t depth, delay_us, rate_mbps;
	uint32_t flood; /* datagrams a second */
};

struct faults;

/** Is there anything to do at all? */
bool faults_wanted(const struct fault_options *options);

/** @param end 0 or 1: equal seeds differ at the two ends. Returns: NULL without memory */
struct faults *faults_create(const struct fault_options *options, uint32_t end);

/** Frees what is held. */
void faults_destroy(struct faults *faults);

/**
 * A burst came off the wire: replace it by what the bad cable lets out now.
 *
 * @param packets [room] the first `n` have arrived; what is kept or lost is the cable's
 * Returns: packets to deliver, at most `room`; they may come with `n` being 0
 * Threads: the one that polls this end
 */
uint16_t faults_on_burst(struct faults *faults, struct rte_mbuf **packets, uint16_t n,
			 uint16_t room);

/** Any thread; values may be a little old. */
void faults_counters(const struct faults *faults, struct plx_net_wire_counters *out);

#endif
