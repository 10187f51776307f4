/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The packets of --raw: written, checked, placed and acknowledged in bursts.
 * It allocates nothing but packets, never reads the clock, and never recovers from an error: a
 * wrong packet is counted, and the run is void. A burst is written in two passes, first all bytes,
 * then all ICRCs, because a CRC that reads a recent store stalls until that has left the store
 * buffer. Start with raw_rate_turn_send() and raw_rate_turn_receive().
 */
#include "raw_hot.h"

#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>

#include "ndperf.h"

enum {
	BTH_AT = RAW_HEADER_BYTES,
	PAD_AT = BTH_AT + PLX_BTH_FLAGS_AT, /* shares its byte with other bits */
	QPN_AT = BTH_AT + PLX_BTH_QPN_AT,
	PSN_AT = BTH_AT + PLX_BTH_PSN_AT,
	VA_AT = BTH_AT + PLX_BTH_BYTES,
	LENGTH_AT = VA_AT + PLX_RETH_LENGTH_AT,
	AETH_AT = BTH_AT + PLX_BTH_BYTES,
	ACK_BYTES = AETH_AT + PLX_AETH_BYTES, /* without ICRC */
};

#if defined(__x86_64__)
#define PREFETCHW __attribute__((target("prfchw")))
#else
#define PREFETCHW
#endif

static inline uint8_t *
bytes_of(struct rte_mbuf *packet)
{
	return rte_pktmbuf_mtod(packet, uint8_t *);
}

/*
 * The likely position of the bytes of a packet of our pool, computed without its header, which is
 * in another cache line: fetching both at once saves one miss. A guess, used for prefetching only.
 */
static inline void
fetch(const struct rte_mbuf *packet)
{
	const uint8_t *bytes = (const uint8_t *)(packet + 1) + RTE_PKTMBUF_HEADROOM;

	rte_prefetch0(packet);
	rte_prefetch0(bytes);
	rte_prefetch0(bytes + PLX_CACHE_LINE);
	rte_prefetch0(bytes + 2 * PLX_CACHE_LINE);
}

/* The same for writing: the lines may be in the other core's cache. */
static inline PREFETCHW void
claim(const struct rte_mbuf *packet)
{
	const uint8_t *bytes = (const uint8_t *)(packet + 1) + RTE_PKTMBUF_HEADROOM;

	__builtin_prefetch(packet, 1);
	__builtin_prefetch(bytes, 1);
	__builtin_prefetch(bytes + PLX_CACHE_LINE, 1);
	__builtin_prefetch(bytes + 2 * PLX_CACHE_LINE, 1);
}

static inline void
store_32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof value);
}

static inline uint32_t
load_32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

/* The packet has `bytes` from Ethernet to payload; the ICRC follows. */
static inline void
seal(const struct raw_end *end, struct rte_mbuf *packet)
{
	uint8_t *at = bytes_of(packet);
	size_t bytes = packet->data_len - PLX_ICRC_BYTES;

	store_32(at + bytes,
		 rte_cpu_to_le_32(end->icrc(at + PLX_ETH_BYTES, bytes - PLX_ETH_BYTES)));
}

static inline bool
seal_is_right(const struct raw_end *end, const uint8_t *at, size_t len)
{
	size_t bytes = len - PLX_ICRC_BYTES;

	return rte_cpu_to_le_32(end->icrc(at + PLX_ETH_BYTES, bytes - PLX_ETH_BYTES)) ==
	       load_32(at + bytes);
}

/* Write the next packet of the message, except the ICRC. */
static inline void
write_data(struct raw_end *end, struct rte_mbuf *packet)
{
	uint64_t place = end->slot * end->stride + end->offset;
	uint32_t left = end->size - end->offset;
	uint32_t bytes = left < end->packet ? left : end->packet;
	uint32_t pad = -bytes & PLX_BTH_PAD_MASK;
	uint8_t *at = bytes_of(packet);
	uint64_t va = rte_cpu_to_be_64(place);

	if (end->rewrite && !end->offset)
		source_rewrite(end->source + place, end->size, end->message);
	plx_frame_template_write(&end->frame,
				 PLX_BTH_BYTES + PLX_RETH_BYTES + bytes + pad + PLX_ICRC_BYTES, at);
	memcpy(at + BTH_AT, end->data_header, sizeof end->data_header);
	at[PAD_AT] |= (uint8_t)(pad << PLX_BTH_PAD_SHIFT);
	store_32(at + PSN_AT, rte_cpu_to_be_32(end->psn++ & PLX_PSN_MASK));
	memcpy(at + VA_AT, &va, sizeof va);
	store_32(at + LENGTH_AT, rte_cpu_to_be_32(bytes));
	memcpy(at + RAW_DATA_AT, end->source + place, bytes);
	store_32(at + RAW_DATA_AT + bytes, 0); /* the pad; the ICRC overwrites the rest */
	packet->data_len = (uint16_t)(RAW_DATA_AT + bytes + pad + PLX_ICRC_BYTES);
	packet->pkt_len = packet->data_len;
	end->offset += bytes;
	if (end->offset == end->size) {
		end->offset = 0;
		end->written = 0;
		end->message++;
		end->slot = end->slot + 1 == end->slots ? 0 : end->slot + 1;
	}
}

/* Rewrite the next part of a long message's source. @return whether the message may be sent */
static inline bool
source_is_written(struct raw_end *end)
{
	uint64_t place = end->slot * end->stride + end->written;
	uint32_t left = end->size - end->written;
	uint32_t bytes = left < RAW_REWRITE_PART ? left : RAW_REWRITE_PART;

	if (end->offset || !left)
		return true;
	source_rewrite(end->source + place, bytes, end->message);
	end->written += bytes;
	return false;
}

/* Write an acknowledgement of everything before psn_expected. */
static inline void
write_ack(struct raw_end *end, struct rte_mbuf *packet)
{
	uint8_t *at = bytes_of(packet);

	plx_frame_template_write(&end->frame, PLX_BTH_BYTES + PLX_AETH_BYTES + PLX_ICRC_BYTES, at);
	memcpy(at + BTH_AT, end->ack_header, sizeof end->ack_header);
	store_32(at + PSN_AT, rte_cpu_to_be_32((end->psn_expected - 1) & PLX_PSN_MASK));
	store_32(at + AETH_AT, rte_cpu_to_be_32((uint32_t)PLX_AETH_NO_CREDITS << 24 |
						(end->psn_expected & PLX_PSN_MASK)));
	packet->data_len = ACK_BYTES + PLX_ICRC_BYTES;
	packet->pkt_len = packet->data_len;
	end->psn_acked = end->psn_expected;
}

/* All packets come from one pool, have one segment and one owner, so they are freed directly, as a
 * PMD does with RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE. */
static inline void
free_packets(struct raw_end *end, struct rte_mbuf **packets, uint32_t n)
{
	rte_mempool_put_bulk(end->pool, (void **)packets, n);
}

static inline bool
alloc_packets(struct raw_end *end, struct rte_mbuf **packets, uint32_t n)
{
	return rte_mempool_get_bulk(end->pool, (void **)packets, n) == 0;
}

/* For a message in parts, at most up to its end: the next one is not written yet. */
static inline uint32_t
write_burst(struct raw_end *end, struct rte_mbuf **packets, uint32_t n)
{
	uint32_t written = 0;

	do
		write_data(end, packets[written++]);
	while (written < n && (!end->in_parts || end->offset));
	if (plx_unlikely(written < n))
		free_packets(end, packets + written, n - written);
	return written;
}

/* Packets that the port does not accept are sent in the next turn. */
static inline void
send_packets(struct raw_end *end, struct rte_mbuf **packets, uint32_t n)
{
	uint32_t sent = rte_eth_tx_burst(end->port, 0, packets, (uint16_t)n);

	if (plx_unlikely(sent < n)) {
		memcpy(end->hold, packets + sent, (n - sent) * sizeof *packets);
		end->held_at = 0;
		end->held = n - sent;
	}
}

static PLX_COLD bool
send_held(struct raw_end *end)
{
	uint32_t sent =
		rte_eth_tx_burst(end->port, 0, end->hold + end->held_at, (uint16_t)end->held);

	end->held_at += sent;
	end->held -= sent;
	return !end->held;
}

static PLX_COLD void
refuse(uint64_t *fault)
{
	*fault += 1;
}

/* A kernel that shares the port may send anything: such packets are not ours, and not an error. */
static inline bool
is_stranger(const struct rte_mbuf *packet, const uint8_t *at)
{
	return packet->data_len < ACK_BYTES + PLX_ICRC_BYTES ||
	       (load_32(at + QPN_AT) & rte_cpu_to_be_32(PLX_PSN_MASK)) != rte_cpu_to_be_32(RAW_QPN);
}

/* An ACK acknowledges everything before its PSN. */
static inline void
on_ack(struct raw_end *end, struct rte_mbuf *packet)
{
	const uint8_t *at = bytes_of(packet);

	if (plx_unlikely(is_stranger(packet, at)))
		return;
	if (plx_unlikely(packet->nb_segs != 1 || at[BTH_AT] != PLX_RC_ACK)) {
		refuse(&end->faults.other);
		return;
	}
	if (plx_unlikely(!seal_is_right(end, at, packet->data_len))) {
		refuse(&end->faults.icrc);
		return;
	}
	/* PSNs have 24 bits, and far fewer packets are in flight, so the difference gives the
	 * rest. */
	end->acked += ((rte_be_to_cpu_32(load_32(at + PSN_AT)) + 1 - end->acked) & PLX_PSN_MASK);
}

static inline void
on_data(struct raw_end *end, struct rte_mbuf *packet)
{
	const uint8_t *at = bytes_of(packet);
	uint32_t pad = at[PAD_AT] >> PLX_BTH_PAD_SHIFT & PLX_BTH_PAD_MASK;
	uint32_t bytes = packet->data_len - (uint32_t)RAW_DATA_AT - PLX_ICRC_BYTES - pad;
	uint32_t psn = rte_be_to_cpu_32(load_32(at + PSN_AT)) & PLX_PSN_MASK;
	uint64_t place;

	if (plx_unlikely(is_stranger(packet, at)))
		return;
	if (plx_unlikely(!seal_is_right(end, at, packet->data_len))) {
		refuse(&end->faults.icrc);
		return;
	}
	memcpy(&place, at + VA_AT, sizeof place);
	place = rte_be_to_cpu_64(place);
	if (plx_unlikely(packet->nb_segs != 1 || at[BTH_AT] != PLX_RC_WRITE_ONLY ||
			 bytes > end->packet || place > end->sink_bytes - bytes ||
			 psn != (end->psn_expected & PLX_PSN_MASK))) {
		refuse(&end->faults.other);
		return;
	}
	memcpy(end->sink + place, at + RAW_DATA_AT, bytes);
	end->psn_expected++;
	end->packets++;
	end->bytes += bytes;
}

PLX_HOT PREFETCHW uint32_t
raw_rate_turn_send(struct raw_end *end)
{
	struct rte_mbuf *packets[RAW_BURST];
	uint32_t n = rte_eth_rx_burst(end->port, 0, packets, RAW_ACK_BURST);
	uint32_t room;

	for (uint32_t i = 0; i < n; i++)
		on_ack(end, packets[i]);
	if (n)
		free_packets(end, packets, n);
	if (plx_unlikely(end->held) && !send_held(end))
		return 0;
	room = RAW_WINDOW - (end->psn - end->acked);
	n = room < end->burst ? room : end->burst;
	if (!n || (end->in_parts && !source_is_written(end)) ||
	    plx_unlikely(!alloc_packets(end, packets, n)))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		claim(packets[i]);
	n = write_burst(end, packets, n);
	for (uint32_t i = 0; i < n; i++)
		seal(end, packets[i]);
	send_packets(end, packets, n);
	return n;
}

/* Write the ACK that became due with the last packet. */
static inline void
acknowledge(struct raw_end *end, struct rte_mbuf **acks, uint32_t *n)
{
	if (end->psn_expected - end->psn_acked >= RAW_ACK_EVERY &&
	    plx_likely(alloc_packets(end, acks + *n, 1))) {
		write_ack(end, acks[*n]);
		seal(end, acks[(*n)++]);
	}
}

PLX_HOT uint32_t
raw_rate_turn_receive(struct raw_end *end)
{
	struct rte_mbuf *packets[RAW_BURST];
	struct rte_mbuf *acks[RAW_BURST / RAW_ACK_EVERY + 1];
	uint32_t n = rte_eth_rx_burst(end->port, 0, packets, (uint16_t)end->burst);
	uint32_t acks_due = 0;

	if (plx_unlikely(end->held))
		send_held(end);
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		fetch(packets[i]);
	for (uint32_t i = 0; i < n; i++) {
		on_data(end, packets[i]);
		acknowledge(end, acks, &acks_due);
	}
	if (acks_due)
		send_packets(end, acks, acks_due);
	free_packets(end, packets, n);
	return n;
}

PLX_HOT void
raw_send_message(struct raw_end *end)
{
	struct rte_mbuf *packet;

	if (plx_unlikely(!alloc_packets(end, &packet, 1)))
		return;
	write_data(end, packet);
	seal(end, packet);
	send_packets(end, &packet, 1);
}

PLX_HOT bool
raw_receive_message(struct raw_end *end)
{
	struct rte_mbuf *packets[RAW_ACK_BURST];
	struct rte_mbuf *ack;
	uint32_t n = rte_eth_rx_burst(end->port, 0, packets, RAW_ACK_BURST);
	uint32_t before = end->psn_expected;

	if (plx_unlikely(end->held))
		send_held(end);
	if (!n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		fetch(packets[i]);
	for (uint32_t i = 0; i < n; i++) {
		if (bytes_of(packets[i])[BTH_AT] == PLX_RC_ACK)
			on_ack(end, packets[i]);
		else
			on_data(end, packets[i]);
	}
	if (end->psn_expected != before && plx_likely(alloc_packets(end, &ack, 1))) {
		write_ack(end, ack);
		seal(end, ack);
		send_packets(end, &ack, 1);
	}
	free_packets(end, packets, n);
	return end->psn_expected != before;
}

void
raw_drain(struct raw_end *end)
{
	struct rte_mbuf *packets[RAW_BURST];
	uint32_t n;

	rte_pktmbuf_free_bulk(end->hold + end->held_at, end->held);
	end->held = 0;
	while ((n = rte_eth_rx_burst(end->port, 0, packets, RAW_BURST)) != 0)
		rte_pktmbuf_free_bulk(packets, n);
}
