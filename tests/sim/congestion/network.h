/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flows through one bottleneck, in virtual time: queue pairs of the transport on the fast path and
 * the other, a FIFO that marks and drops, and CNPs. It never looks at a clock: equal code gives
 * equal figures. Start with network_run().
 */
#ifndef PLX_SIM_CONGESTION_NETWORK_H
#define PLX_SIM_CONGESTION_NETWORK_H

#include "plx_congestion.h"

enum {
	FLOWS_MAX = 16,
};

/* Of each host's port, and of the switch's port that they share. */
struct network_config {
	const struct plx_cc_ops *cc;
	const void *params; /* of `cc` */
	uint32_t flows;
	uint64_t start_at[FLOWS_MAX];  /* [ns] of a flow's first message; PLX_NEVER: none */
	uint64_t stop_at[FLOWS_MAX];   /* [ns] it posts no more; 0: never */
	uint64_t forge_from, forge_to; /* [ns] flow 0 is sent forged CNPs ... */
	uint64_t forge_every;          /* ... so often; 0: never */
	uint32_t message_bytes, mtu;
	uint32_t window_packets;
	uint64_t line_rate, bottleneck; /* [bit/s] */
	uint64_t way_ns;                /* from sender to receiver, and back */
	uint32_t mark_from, mark_to;    /* [bytes] queued: from here on some packets, all packets */
	uint32_t mark_most_ppm;         /* of the packets, just before mark_to */
	uint32_t queue_max;             /* [bytes] the rest is dropped */
};

struct network;

struct network *network_create(const struct network_config *config);
void network_destroy(struct network *network);

/** Let the time come to `until`. */
void network_run(struct network *network, uint64_t until);

/** Bytes of payload that have reached a flow's receiver. */
uint64_t network_delivered(const struct network *network, uint32_t flow);
uint64_t network_dropped(const struct network *network);
/** Packets that left, or arrived, on the fast path. */
uint64_t network_fast(const struct network *network);
const struct plx_rc_counters *network_counters(const struct network *network, uint32_t flow,
					       bool receiver);
/** The state of a flow's strategy. */
const void *network_strategy(const struct network *network, uint32_t flow);

/** Forget the samples of the queue. One is taken each microsecond. */
void network_sample_anew(struct network *network);
/** [bytes] The average of the samples, and the one that `permille` of them do not exceed. */
uint64_t network_queue_average(const struct network *network);
uint64_t network_queue_quantile(const struct network *network, uint32_t permille);

#endif
