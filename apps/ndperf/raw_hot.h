/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The minimal pipeline that every figure of Pollux is judged by: headers, ICRC, port; port, ICRC,
 * copy to memory, ACK. There is no queue pair, no key, no timer, no completion and no second try:
 * what it does is what any RoCEv2 stack has to do for a packet, and nothing else.
 * One thread an end, or one for both. Start with raw_rate_turn_send() and raw_rate_turn_receive().
 */
#ifndef NDPERF_RAW_HOT_H
#define NDPERF_RAW_HOT_H

#include "plx_wire.h"
#include "window.h"

struct rte_mbuf;
struct rte_mempool;

enum {
	RAW_BURST = 32,
	RAW_WINDOW = 128,   /* packets that are not acknowledged, at most */
	RAW_ACK_EVERY = 16, /* packets */
	RAW_ACK_BURST = 8,  /* more than a window has */
	/* [bytes] a longer source is rewritten in parts, one a turn: a thread that is not seen for
	 * too long would count as stopped */
	RAW_REWRITE_PART = 64 << 10,
	RAW_QPN = 0x123456, /* that every packet names */
	RAW_RKEY = 0x1234,
	RAW_HEADER_BYTES = PLX_ETH_BYTES + PLX_IPV4_BYTES + PLX_UDP_BYTES,
	RAW_RETH_BYTES = 16,
	RAW_AETH_BYTES = 4,
	RAW_DATA_AT = RAW_HEADER_BYTES + PLX_BTH_BYTES + RAW_RETH_BYTES, /* payload of a frame */
	RAW_FRAME_MAX = RAW_DATA_AT + PLX_MTU_MAX + PLX_ICRC_BYTES,
};

/* What a packet can be refused for. Nothing of the kind may happen: any of it spoils the result. */
struct raw_faults {
	uint64_t icrc, other; /* other: length, opcode, place, PSN, a chain */
};

/* One end, of one thread; the other end's knows it from packets alone. */
struct raw_end {
	/* what does not change */
	struct rte_mempool *pool; /* its thread has an lcore id, and so a cache of packets */
	plx_icrc_fn icrc;
	uint8_t *source, *sink; /* [slots * stride] */
	uint64_t sink_bytes, stride;
	uint32_t size, packet; /* [bytes] of a message; of a packet's payload at most */
	uint32_t slots;
	uint32_t burst; /* packets of this size that are sent, and received, at once */
	uint16_t port;
	bool rewrite;  /* a message that fits in a part, when its first packet is written */
	bool in_parts; /* a longer one, before */
	uint8_t data_header[PLX_BTH_BYTES + RAW_RETH_BYTES]; /* but for PSN, address, length, pad */
	uint8_t ack_header[PLX_BTH_BYTES + RAW_AETH_BYTES];  /* but for PSN and MSN */
	struct plx_frame_template frame;

	/* the sender */
	uint32_t psn, acked; /* counted on beyond 24 bits */
	uint32_t slot, offset;
	uint64_t message;
	uint32_t written;       /* [bytes] of the source of a message that is rewritten in parts */
	uint32_t held, held_at; /* written, but the port took no more */
	struct rte_mbuf *hold[RAW_BURST];

	/* the receiver */
	uint32_t psn_expected, psn_acked;
	uint64_t packets, bytes; /* taken and placed */

	struct raw_faults faults;
	struct windows windows;
} __attribute__((aligned(2 * PLX_CACHE_LINE)));

/** One turn of the sender: take ACKs, fill the window. @return packets sent */
uint32_t raw_rate_turn_send(struct raw_end *end);

/** One turn of the receiver: a burst is taken, checked, placed, acknowledged. */
uint32_t raw_rate_turn_receive(struct raw_end *end);

/** Write the source, and send one message of one packet. */
void raw_send_message(struct raw_end *end);

/**
 * Take what has come: an ACK, a message, or both. A message is checked, placed and acknowledged
 * before this returns.
 * Returns: whether there was a message
 */
bool raw_receive_message(struct raw_end *end);

/** Free what is still on its way to this end. */
void raw_drain(struct raw_end *end);

#endif
