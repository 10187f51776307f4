/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datagrams as the engine's files see them: address handles, and what of a duty cycle differs for
 * queue pairs without a peer. Nothing outside lib/engine includes this. Start with struct
 * plx_engine_ah.
 */
#ifndef PLX_ENGINE_UD_H
#define PLX_ENGINE_UD_H

#include "engine.h"

/* ---- address handles: ah.c -------------------------------------------------------------------
 */

/* Free, alive, or ending: destroyed, while a posted request or a waiting datagram still names it.
 */
struct plx_engine_ah {
	struct engine_ah_head head;     /* first */
	struct plx_list link;           /* in one of the lists of its table, by its state */
	struct plx_list resolving_link; /* in the table's `resolving` while datagrams wait */
	struct plx_engine *engine;
	struct plx_engine_path path;
	bool resolved; /* `to_peer` was right when neighbours were at `version` */
	bool loops;    /* the peer is behind our own port */
	uint32_t version;
	struct rte_mbuf *first, *last; /* datagrams that wait, linked by their `next` */
	uint32_t waits;
	struct plx_frame_template to_peer;
};
_Static_assert(offsetof(struct plx_engine_ah, head) == 0, "posting threads look at it there");

/* Made for the first datagram queue pair or address handle of an engine. */
struct engine_ah_table {
	uint32_t uses[PLX_ENGINE_AHS_MAX]; /* posted requests that name each: plx_ud_ids.ahs */
	struct plx_list free, alive, ending, resolving;
	uint32_t waits; /* datagrams that wait, in all */
	struct plx_engine_ah ah[PLX_ENGINE_AHS_MAX];
};

/* Any thread: see to it that there is a table. Errors: NO_MEMORY, TIMEOUT */
enum plx_status engine_ah_table_ensure(struct plx_engine *engine);
/* The engine's thread, from here on. A table for an engine that has none; false: it has one. */
bool engine_ah_table_adopt(struct plx_engine *engine, struct engine_ah_table *table);
enum plx_status engine_ah_open(struct plx_engine *engine, struct plx_domain domain,
			       const struct plx_engine_path *path, struct plx_engine_ah **ah);
void engine_ah_close(struct plx_engine_ah *ah);
/* Is its neighbour known? If not it is being resolved. */
bool engine_ah_is_ready(struct plx_engine_ah *ah);
/* A whole frame for one that is not ready: it waits, or is dropped and counted. */
void engine_ah_enqueue(struct plx_engine_ah *ah, struct rte_mbuf *m);
/* Resolve again all neighbours that datagrams wait for. */
void engine_ah_table_resolve(struct plx_engine *engine);
/* Those that end, and that nothing names any more, are free. */
void engine_ah_table_reap(struct plx_engine *engine);
void engine_ah_table_free(struct plx_engine *engine);

/* ---- datagrams: ud.c ----------------------------------------------------------------------------
 */

/* A packet for a datagram queue pair: lines 4 to 7 of the decision table.
 * @param ip the IP header, [ip_bytes] with all it carries */
void ud_receive(struct plx_engine *engine, struct plx_engine_qp *qp, const struct plx_pkt *pkt,
		const uint8_t *ip, size_t ip_bytes);
/* Returns: packets */
uint32_t ud_transmit(struct plx_engine *engine, struct plx_engine_qp *qp, uint32_t budget);
/* Everything that was posted is in the transport now. */
void ud_fetch_all(struct plx_engine *engine);

#endif
