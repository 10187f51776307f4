/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An engine among others: what it hands over to them and receives from them. Nothing outside
 * lib/engine includes this. Start with struct engine_member.
 *
 * Each pair of engines has a ring of its own in each direction, with one producer and one
 * consumer: an engine never waits for another one, wherever that was preempted.
 */
#ifndef PLX_ENGINE_MEMBER_H
#define PLX_ENGINE_MEMBER_H

#include "plx_engine_cycle.h"
#include "plx_engine_group.h"

/* Packets of one RX burst that belong to one other engine. */
struct handoff_burst {
	uint32_t count;
	struct rte_mbuf *packets[PLX_PORT_BURST];
};

struct engine_member {
	/* bit: the engine of that index has put packets into its ring for this one */
	PLX_ALIGNED_PAIR atomic_uint news;
	/* written by this engine, read by others after a pause: when, by the caller's clock, its
	 * port had no more packets and all it had received was handed over */
	PLX_ALIGNED_PAIR atomic_ulong drained;

	/* private to this engine */
	PLX_ALIGNED_PAIR struct plx_engine_group *group;
	uint32_t index;
	uint32_t packets_from; /* bit: that engine's ring may have packets */
	uint32_t next;         /* the engine whose ring is read first */
	bool port_turn;        /* true: this cycle reads the port; else the rings */
	uint64_t short_at;     /* when the port last had less than a burst; 0: to be published */
	uint32_t leaving;      /* bit: packets of this burst go to that engine */
	uint64_t leaving_bytes;
	struct rte_ring *in[PLX_ENGINES_MAX], *out[PLX_ENGINES_MAX];
	struct handoff_burst burst[PLX_ENGINES_MAX];
};

struct plx_engine_group {
	struct plx_engine_group_config config;
	struct engine_member member[];
};

/* ---- handoff.c: packets ---- */

/* A burst from the rings of other engines or from the port, in turn. */
uint32_t engine_receive_in_turn(struct plx_engine *engine, struct rte_mbuf **packets);
/* Choose the engine that a received packet belongs to.
 * Returns: true: it is another engine's now; false, with nothing changed: it is our own */
bool engine_hand_over(struct plx_engine *engine, struct rte_mbuf *m, const uint8_t *bytes,
		      size_t len);
/* Pass on what engine_hand_over() collected. The entries of these packets are NULL.
 * @param bytes [in/out] of the packets; on return of those that stay
 * Returns: how many stay; they are moved to the front */
uint32_t engine_hand_over_burst(struct plx_engine *engine, struct rte_mbuf **packets, uint32_t n,
				uint64_t *bytes);
/* Since this engine's grace began, has every engine handed over what its port had received, and
 * has this one received it? */
bool engine_group_is_drained(struct plx_engine *engine);

static inline bool
engine_member_has_news(const struct engine_member *member)
{
	return member->packets_from != 0 ||
	       atomic_load_explicit(&member->news, memory_order_relaxed) != 0;
}

#endif
