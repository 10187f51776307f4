/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the replay of captures shares: packets of a capture sorted into the flows they belong to,
 * a responder of ours that is fed one flow, and the comparison of its answers with the recorded.
 * It never judges a recorded peer; the rules of comparison are docs/interop-rules.md.
 */
#ifndef PLX_TEST_REPLAY_H
#define PLX_TEST_REPLAY_H

#include "pcap.h"
#include "plx_transport.h"

enum {
	REPLAY_PACKETS_MAX = 512, /* of one capture */
	REPLAY_FLOWS_MAX = 8,
	REPLAY_ANSWERS_MAX = 256, /* of one flow */
	REPLAY_REGIONS_MAX = 64,
	REPLAY_PAYLOAD_MAX = PLX_MTU_MAX,
};

/* One recorded packet of a reliable connection. Its payload points into the capture. */
struct rec {
	uint32_t number; /* of the frame, from 1, as tools count them */
	struct plx_frame frame;
	struct plx_pkt pkt;
	bool not_ready; /* a request that found no receive: its answer is an RNR NAK */
};

/* The requests that one responder got, and the answers it gave, each in recorded order. */
struct flow {
	uint32_t qpn, peer_qpn;
	uint32_t requests, answers;
	struct plx_psn psn_first, psn_end; /* the requests span [first, end) */
	const struct plx_frame *path;      /* of the first request */
	struct rec *request[REPLAY_PACKETS_MAX];
	struct rec *answer[REPLAY_ANSWERS_MAX];
};

struct capture {
	struct pcap pcap;
	uint32_t recs, flows, mtu;
	struct rec rec[REPLAY_PACKETS_MAX];
	struct flow flow[REPLAY_FLOWS_MAX];
};

/** Load `name`.pcap and sort it; fails the test when a packet belongs to no flow. */
void capture_load(struct capture *capture, const char *name);
void capture_free(struct capture *capture);

static inline const struct plx_opcode *
rec_op(const struct rec *rec)
{
	return &plx_opcodes[rec->pkt.opcode];
}

/** PSNs that a request takes: one, or one for each packet that a READ asks for. */
uint32_t rec_psns(const struct rec *rec, uint32_t mtu);

/* One answer of ours, decoded again from the frame that plx_emit_write() built. */
struct answer {
	struct plx_pkt pkt; /* payload points to `payload` */
	uint8_t payload[REPLAY_PAYLOAD_MAX];
};

/* What a responder of ours did with one flow. */
struct outcome {
	uint32_t answers, completions;
	uint64_t bytes_placed; /* checked, byte by byte, to lie where the requests said */
	struct answer answer[REPLAY_ANSWERS_MAX];
};

/** Feed the requests of one flow to a responder of ours; it transmits after every `burst` of them.
 */
void responder_replay(const struct capture *capture, const struct flow *flow, uint32_t burst,
		      struct outcome *out);

struct tally {
	uint32_t requests, recorded;
	uint32_t same;      /* answers of ours that are the recorded packet */
	uint32_t lost;      /* answers of ours that the wire lost before the capture */
	uint32_t coalesced; /* recorded ACKs that a later one of ours covers */
	uint64_t bytes_placed;
};

/** Compare by the rules of docs/interop-rules.md; fails the test at the first difference. */
void answers_compare(const char *name, const struct flow *flow, const struct outcome *outcome,
		     uint32_t burst, struct tally *tally);

#endif
