/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The minimal pipeline that all results of Pollux are compared with: headers, ICRC, port; port,
 * ICRC, copy to memory, ACK. There is no queue pair, no key, no timer, no completion and no
 * retransmission: it does what any RoCEv2 stack has to do for a packet, and nothing else.
 * One thread per end, or one for both. Start with raw_rate_turn_send() and raw_rate_turn_receive().
 */
#ifndef NDPERF_RAW_HOT_H
#define NDPERF_RAW_HOT_H

#include "plx_wire.h"
#include "window.h"

struct rte_mbuf;
struct rte_mempool;

enum {
	RAW_BURST = 32,
	RAW_WINDOW = 128,   /* maximum number of unacknowledged packets */
	RAW_ACK_EVERY = 16, /* packets per ACK */
	RAW_ACK_BURST = 8,  /* more than a window needs */
	/* [bytes] a longer source is rewritten in parts, one per turn, because a thread that is
	 * away for too long would count as stopped */
	RAW_REWRITE_PART = 64 << 10,
	RAW_QPN = 0x123456, /* in every packet */
	RAW_RKEY = 0x1234,
	RAW_HEADER_BYTES = PLX_ETH_BYTES + PLX_IPV4_BYTES + PLX_UDP_BYTES,
	RAW_DATA_AT = RAW_HEADER_BYTES + PLX_BTH_BYTES +
		      PLX_RETH_BYTES, /* offset of the payload in a frame */
	RAW_FRAME_MAX = RAW_DATA_AT + PLX_MTU_MAX + PLX_ICRC_BYTES,
};

/* Reasons to refuse a packet. None may occur: each of them makes the result void. */
struct raw_faults {
	uint64_t icrc, other; /* other: length, opcode, address, PSN, a chain */
};

/* One end, used by one thread; it knows the other end only from packets. */
struct raw_end {
	/* constant */
	struct rte_mempool *pool; /* its thread has an lcore id, and so a mempool cache */
	plx_icrc_fn icrc;
	uint8_t *source, *sink; /* [slots * stride] */
	uint64_t sink_bytes, stride;
	uint32_t size, packet; /* [bytes] of a message; maximum payload of a packet */
	uint32_t slots;
	uint32_t burst; /* packets of this size sent and received at once */
	uint16_t port;
	bool rewrite;  /* a message that fits into a part is rewritten with its first packet */
	bool in_parts; /* a longer one is rewritten in parts, before that */
	uint8_t data_header[PLX_BTH_BYTES + PLX_RETH_BYTES]; /* without PSN, address, length, pad */
	uint8_t ack_header[PLX_BTH_BYTES + PLX_AETH_BYTES];  /* without PSN and MSN */
	struct plx_frame_template frame;

	/* the sender */
	uint32_t psn, acked; /* extended beyond 24 bits */
	uint32_t slot, offset;
	uint64_t message;
	uint32_t written; /* [bytes] of the source, for a message that is rewritten in parts */
	uint32_t held, held_at; /* written, but not accepted by the port */
	struct rte_mbuf *hold[RAW_BURST];

	/* the receiver */
	uint32_t psn_expected, psn_acked;
	uint64_t packets, bytes; /* received and placed */

	struct raw_faults faults;
	struct windows windows;
} __attribute__((aligned(2 * PLX_CACHE_LINE)));

/** Run one turn of the sender: process ACKs, fill the window. @return packets sent */
uint32_t raw_rate_turn_send(struct raw_end *end);

/** Run one turn of the receiver: receive, check, place and acknowledge a burst. */
uint32_t raw_rate_turn_receive(struct raw_end *end);

/** Write the source, and send one message of one packet. */
void raw_send_message(struct raw_end *end);

/**
 * Process received packets: an ACK, a message, or both. A message is checked, placed and
 * acknowledged before this returns.
 * Returns: true: there was a message
 */
bool raw_receive_message(struct raw_end *end);

/** Free the packets in flight to this end. */
void raw_drain(struct raw_end *end);

#endif
