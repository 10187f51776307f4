/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bad cable: faults applied to the packets that one queue of an end receives. Private to the
 * room; it knows no port. Start with faults_on_burst().
 */
#ifndef PLX_NET_WIRE_FAULTS_H
#define PLX_NET_WIRE_FAULTS_H

#include "plx_net_wire.h"

enum {
	FAULT_DEPTH = 8,          /* default of depth= */
	FAULT_DELAY_US = 1000000, /* maximum of delay_us= */
	FAULT_RATE_MBPS = 1000000,
	FAULT_FLOOD = 10000000,
};

/* The values of the arguments. */
struct fault_options {
	uint64_t seed;
	double loss, duplicate, corrupt, reorder, mark; /* probabilities */
	uint32_t depth, delay_us, rate_mbps, mark_us;
	uint32_t flood; /* datagrams per second */
};

struct faults;

/** Is any fault configured? */
bool faults_wanted(const struct fault_options *options);

/** The faults of one queue. Queue 0 has the flood.
 * @param end 0 or 1: equal seeds give different faults at the two ends, and at each queue
 * Returns: NULL if out of memory */
struct faults *faults_create(const struct fault_options *options, uint32_t end, uint32_t queue);

/** Also frees the packets held back. */
void faults_destroy(struct faults *faults);

/**
 * Replace a received burst by the packets that the bad cable delivers now.
 *
 * @param packets [room] the first `n` have arrived; this takes ownership of packets held or dropped
 * Returns: packets to deliver, at most `room`; possibly some even if `n` is 0
 * Threads: the one that polls this queue
 */
uint16_t faults_on_burst(struct faults *faults, struct rte_mbuf **packets, uint16_t n,
			 uint16_t room);

/** Add to those of other queues. Any thread; values may be a little old. */
void faults_add_counters(const struct faults *faults, struct plx_net_wire_counters *out);

#endif
