/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An engine among others: packets that it hands over and receives, messages, and neighbours that
 * engine 0 resolves for all. Nothing outside lib/engine includes this. Start with struct
 * engine_member.
 *
 * Each pair of engines has a ring of its own in each direction, with one producer and one
 * consumer: an engine never waits for another one, wherever that was preempted.
 */
#ifndef PLX_ENGINE_MEMBER_H
#define PLX_ENGINE_MEMBER_H

#include "plx_engine_board.h"
#include "plx_engine_cycle.h"
#include "plx_engine_group.h"

enum {
	MESSAGES_BIT = 16,   /* in `news`: the lower bits are for packets */
	MESSAGES_MAX = 255,  /* on their way from one engine to another */
	MESSAGES_BURST = 16, /* per cycle, from one engine */
	ASKED_MAX = 64,      /* neighbours that this engine remembers to have asked for */
};

_Static_assert((int)PLX_ENGINES_MAX <= (int)MESSAGES_BIT, "a bit for each engine, twice");

enum engine_message_kind {
	ENGINE_MESSAGE_NONE,
	ENGINE_MESSAGE_RESOLVE, /* to engine 0: put the neighbour `ip` on the board */
	/* the link's, to the engine of a queue pair: */
	ENGINE_MESSAGE_TO_RTS, /* bring it to RTS; then ESTABLISHED is delivered */
	ENGINE_MESSAGE_END,    /* its connection has ended; `how` */
	/* ... and to engine 0, of the connection `id`: */
	ENGINE_MESSAGE_FIRST_PACKET, /* the peer's first packet came */
	ENGINE_MESSAGE_FAILED,       /* the queue pair has failed, or is destroyed */
};

struct engine_message {
	uint32_t kind;
	uint32_t how;
	void *connector;
	struct plx_ip ip; /* canonical */
	uint32_t id;
};

struct asked {
	struct plx_ip ip;
	uint64_t again; /* not before this time */
};

/* Packets of one RX burst that belong to one other engine. */
struct handoff_burst {
	uint32_t count;
	struct rte_mbuf *packets[PLX_PORT_BURST];
};

struct engine_member {
	/* bit: the engine of that index has put packets into its ring for this one; from
	 * MESSAGES_BIT on: messages */
	PLX_ALIGNED_PAIR atomic_uint news;
	atomic_uint asleep; /* its thread is to be woken for them; as in struct seat_front */
	/* written by this engine, read by others after a pause: when, by the caller's clock, its
	 * port had no more packets and all it had received was handed over */
	PLX_ALIGNED_PAIR atomic_ulong drained;

	/* private to this engine */
	PLX_ALIGNED_PAIR struct plx_engine_group *group;
	struct plx_engine *engine;
	uint32_t index;
	uint32_t packets_from; /* bit: that engine's ring may have packets */
	uint32_t messages_from;
	uint32_t next;     /* the engine whose ring is read first */
	bool port_turn;    /* true: this cycle reads the port; else the rings */
	uint64_t short_at; /* when the port last had less than a burst; 0: to be published */
	uint32_t leaving;  /* bit: packets of this burst go to that engine */
	uint64_t leaving_bytes;
	uint32_t board_news; /* of the board, when this engine last looked */
	struct rte_ring *in[PLX_ENGINES_MAX], *out[PLX_ENGINES_MAX];
	/* to and from engine 0 */
	struct rte_ring *messages_in[PLX_ENGINES_MAX], *messages_out[PLX_ENGINES_MAX];
	struct asked asked[ASKED_MAX];
	struct plx_list due; /* the link's: connectors with messages to be sent */
	struct handoff_burst burst[PLX_ENGINES_MAX];
};

struct plx_engine_group {
	struct plx_engine_group_config config;
	struct board *board;
	struct engine_member member[];
};

/* ---- handoff.c: packets ---- */

/* Learn whose rings have something new. */
void engine_fetch_news(struct engine_member *self);
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

/* Put a bit into the `news` of an engine, and wake its thread if that sleeps: it stores `asleep`,
 * then looks at its news. */
static inline void
engine_member_tell(struct engine_member *member, uint32_t bit)
{
	unsigned asleep;

	atomic_fetch_or(&member->news, bit);
	asleep = atomic_load(&member->asleep);
	if (plx_unlikely(asleep != 0))
		engine_ring_bell(&member->asleep, asleep, plx_engine_bell(member->engine));
}

/* Wake the threads of the other engines: they have to look at the board. */
void engine_group_rouse(struct plx_engine *engine);

static inline bool
engine_member_has_news(const struct engine_member *member)
{
	return member->packets_from != 0 || member->messages_from != 0 ||
	       atomic_load_explicit(&member->news, memory_order_relaxed) != 0;
}

/* ---- message.c ---- */

/* One end is engine 0.
 * Returns: false: there is no room */
bool engine_message_send(struct plx_engine *engine, uint32_t to,
			 const struct engine_message *message) PLX_MUST_CHECK;
/* Receive from the engines in `messages_from`. */
void engine_messages_serve(struct plx_engine *engine);
/* Receive all that was sent before this call. */
void engine_messages_fetch(struct plx_engine *engine);

/* ---- neighbour.c ---- */

/* As plx_net_resolve(), without waiting for engine 0. */
enum plx_net_verdict engine_neighbour(struct plx_engine *engine, const struct plx_ip *ip,
				      uint8_t *mac);
/* Engine 0: another engine needs this neighbour. */
void engine_neighbour_want(struct plx_engine *engine, const struct plx_ip *ip);
/* Engine 0: a packet of neighbour resolution was received. */
void engine_on_neighbour(struct plx_engine *engine);
/* Follow neighbours that have moved; look again for those in resolution. */
void engine_follow_neighbours(struct plx_engine *engine);

/* The engine that has the neighbours, the communication manager and all that is its. */
static inline struct plx_engine *
engine_first(struct plx_engine *engine)
{
	return engine->member != NULL ? engine->member->group->member[0].engine : engine;
}

/* Is this the engine that has the neighbours? */
static inline bool
engine_has_net(const struct plx_engine *engine)
{
	return engine->config.index == 0;
}

/* As plx_net_version(), of neighbours as this engine sees them. */
static inline uint32_t
engine_net_version(const struct plx_engine *engine)
{
	if (plx_likely(engine_has_net(engine)))
		return plx_net_version(engine->config.net);
	return atomic_load_explicit(&engine->member->group->board->version, memory_order_acquire);
}

#endif
