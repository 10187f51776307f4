/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datagrams in the duty cycle: address handles, which lib/engine/link creates and resolves, and
 * what differs for UD queue pairs. Nothing outside lib/engine includes this. Start with struct
 * plx_ah.
 */
#ifndef PLX_ENGINE_UD_H
#define PLX_ENGINE_UD_H

#include "plx_engine_cycle.h"

/* ---- address handles ---- */

/* The state of an address handle is free, alive, or ending: destroyed while a posted request or a
 * waiting datagram still refers to it. */
struct engine_ah {
	uint32_t number;                /* its index in the table */
	struct plx_list link;           /* in a list of its table, according to its state */
	struct plx_list resolving_link; /* in the table's `resolving` while datagrams wait */
	struct plx_engine *engine;
	struct plx_engine_path path;
	bool resolved; /* `to_peer` was correct at `version` of the neighbour table */
	bool loops;    /* loopback: the peer uses our own port */
	uint32_t version;
	struct rte_mbuf *first, *last; /* waiting datagrams, linked by their `next` */
	uint32_t waits;
	struct plx_frame_template to_peer;
};

/* Created for the first UD queue pair or address handle of an engine: plx_link_ops.ensure_ahs(). */
struct ah_table {
	struct plx_ud_ah uses[PLX_ENGINE_AHS_MAX]; /* as plx_ud_ids.ahs */
	struct plx_list free, alive, ending, resolving;
	uint32_t waits; /* total number of waiting datagrams */
	struct engine_ah ah[PLX_ENGINE_AHS_MAX];
};

/* ---- datagrams: ud.c ---- */

/* Handle a packet for a UD queue pair: lines 4 to 7 of the decision table.
 * @param ip the IP header, [ip_bytes] with its payload */
void ud_receive(struct plx_engine *engine, struct engine_qp *qp, const struct plx_pkt *pkt,
		const uint8_t *ip, size_t ip_bytes);
/* Returns: the number of packets */
uint32_t ud_transmit(struct plx_engine *engine, struct engine_qp *qp, uint32_t budget);
/* Move everything posted into the transport. */
void ud_fetch_all(struct plx_engine *engine);

#endif
