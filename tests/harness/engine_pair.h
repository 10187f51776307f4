/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two engines connected by two ports, which are arrays; or several engines on each side, one for
 * each queue of its port. Virtual time, one thread; nothing is lost unless the test drops it. It
 * never judges what arrives: the tests do. Start with pair_open(), then pair_connect().
 */
#ifndef PLX_TEST_ENGINE_PAIR_H
#define PLX_TEST_ENGINE_PAIR_H

#include <pthread.h>
#include <rte_mbuf.h>

#include "plx_engine.h"
#include "plx_engine_group.h"
#include "plx_link.h"
#include "plx_thread.h"
#include "plx_worker.h"
#include "whole.h"

enum {
	PAIR_WIRE = 4096,
	PAIR_BYTES = 1 << 20,
	PAIR_POOL = 4095,
	PAIR_FRAME = 4300, /* frame_max of the ports */
	PAIR_NEIGHBOURS = 16,
	PAIR_QPS = 100,                                      /* of each engine */
	PAIR_CONNECTIONS = 256,                              /* likewise */
	PAIR_ROOM = PAIR_FRAME + 300 + RTE_PKTMBUF_HEADROOM, /* [bytes] of a buffer */
};

struct pair_side;

/* Packets that one side has sent and the other has not yet received. With several queues, what a
 * test sets in the first one holds for all. */
struct pair_port {
	struct plx_port port;
	pthread_mutex_t lock; /* of the packets towards this port: engines may have threads */
	struct pair_side *side;
	struct rte_mbuf *wire[PAIR_WIRE];
	uint32_t first, count; /* towards this port */
	uint32_t lose;         /* drop this many more of its packets */
	uint32_t refuse;       /* how many times tx accepts nothing */
	uint32_t take;         /* packets that tx accepts at once; 0: all */
	bool hold;             /* rx finds nothing */
	/* called for each packet that this port sends; false drops it; NULL passes all */
	bool (*pass)(struct pair_side *from, const struct rte_mbuf *m, void *user);
	void *user;
	struct pair_port *peer;
};

/* Which queue of a side the next packet to it arrives on. */
#define PAIR_IN_TURN UINT32_MAX

struct pair_side {
	struct pair_port port;                    /* queue 0 */
	struct pair_port *queue[PLX_ENGINES_MAX]; /* all of them */
	uint32_t engines;
	uint32_t arrives_on; /* a queue, or PAIR_IN_TURN */
	uint32_t turn;
	struct plx_engine_group *group; /* NULL: one engine */
	struct plx_engine *all[PLX_ENGINES_MAX];
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_region region;
	struct plx_key key;
	struct plx_net *net;
	struct plx_cm *cm;
	struct plx_engine_config config; /* that the engine was made with */
	struct plx_engine *engine;       /* of `all`, the one on which objects are created */
	struct plx_cq *send_cq, *recv_cq;
	struct plx_srq *srq;
	struct plx_qp *qp;
	struct plx_ip ip;
	uint8_t *memory; /* [PAIR_BYTES] registered with every right */
};

struct pair {
	struct pair_side side[2];
	struct rte_mempool *pool;
	uint64_t now;
	bool inline_mode;
	bool own_pool;
	bool stop;
	pthread_t poller;
};

/* What queue pairs are made like. */
struct pair_options {
	uint32_t depth;    /* of send and receive queues */
	uint32_t cq_depth; /* 0: as depth */
	bool strict;       /* completion queues that overrun */
	bool one_cq;       /* one for both queues */
	bool shared;       /* an SRQ of `depth` on each side */
	uint32_t threshold;
	uint32_t sges, inline_bytes;
	enum plx_qp_type type;
	uint32_t qkey;
	enum plx_congestion congestion; /* DEFAULT is NONE */
	struct plx_rc_attr attr;        /* numbers and PSNs are filled in */
};

/* What engines are made like; all zero: worker mode, a pool and ports of the fixture's. */
struct pair_setup {
	bool inline_mode;
	struct rte_mempool *pool; /* the caller's; NULL: one of PAIR_POOL buffers is made */
	struct plx_port *port[2]; /* NULL: arrays */
	uint32_t qps;             /* of each engine; 0: PAIR_QPS */
	bool ipv6;
	bool no_cm;    /* without a communication manager */
	uint16_t vlan; /* 0: none */
	struct rte_rcu_qsbr *rcu[2];
	uint32_t engines;       /* on each side; 0: 1 */
	uint32_t handoff_depth; /* 0: PLX_HANDOFF_DEPTH */
};

/** Start the EAL once (without hugepages) and make both engines, not connected. */
void pair_open_with(struct pair *pair, const struct pair_setup *setup);
void pair_open(struct pair *pair, bool inline_mode);

/** Everything is destroyed; every packet of the fixture's pool must be back. Engines without
 * objects are not polled. */
void pair_close(struct pair *pair);
/** Destroy the queue pairs and queues of both sides, but not the engines. */
void pair_destroy_objects(struct pair *pair);

struct pair_options pair_defaults(uint32_t depth);

/** A queue pair on each side, connected, with its completion queues. */
void pair_connect_with(struct pair *pair, const struct pair_options *options);
void pair_connect(struct pair *pair, uint32_t depth);

/** Only the completion queues, and the SRQs. */
void pair_make_queues(struct pair *pair, const struct pair_options *options);

/** One more queue pair of a side, with its completion queues, in RESET. */
struct plx_qp *pair_qp(struct pair *pair, int i, const struct pair_options *options);
/** The same on other completion queues, in another domain. */
struct plx_qp *pair_qp_on(struct pair *pair, int i, const struct pair_options *options,
			  struct plx_cq *send_cq, struct plx_cq *recv_cq, struct plx_domain domain);

/** Bring a datagram queue pair from RESET to RTS. The caller runs the commands. */
void pair_ud_to_rts(struct plx_qp *qp);

/** Bring two queue pairs, of sides i and j, from RESET to RTS. The caller runs the commands:
 * pair_start() first. */
void pair_join(struct pair *pair, int i, struct plx_qp *one, int j, struct plx_qp *other,
	       const struct pair_options *options);

/** An address handle of side i; in worker mode, while nobody polls. */
struct plx_ah *pair_ah(struct pair *pair, int i, const struct plx_engine_path *path);
void pair_ah_destroy(struct pair *pair, struct plx_ah *ah);

/* Create a listener that listens, unless this is refused; destroy listeners and connectors. The
 * engines run. */
enum plx_status pair_listen(struct whole_channel *channel, const struct plx_cm_listen *listen,
			    uint64_t cookie, struct whole_listener **listener);
void pair_listener_destroy(struct whole_listener *listener);
void pair_connector_destroy(struct whole_connector *connector);

/** Worker mode: poll both engines in a thread, until pair_stop(), so that commands are executed.
 * In inline mode both do nothing. */
void pair_start(struct pair *pair);
void pair_stop(struct pair *pair);

/** Poll all engines of one side once, in order. */
void pair_poll_side(struct pair *pair, int i);

/** Poll both engines `rounds` times, 1 us apart (inline mode: in real time). */
void pair_run(struct pair *pair, uint32_t rounds);

/** Let this much time pass: poll both each millisecond, so that no engine takes it for a stall. */
void pair_pass(struct pair *pair, uint64_t ns);

/** Poll both until `n` completions are there, at most `rounds` times. Returns: how many came */
uint32_t pair_reap(struct pair *pair, struct plx_cq *cq, struct plx_wc *wc, uint32_t n,
		   uint32_t rounds);

/* Posting one request about side memory [at, at + bytes); the remote place is the same one. */
enum plx_status pair_send(struct pair_side *side, uint64_t wr_id, uint32_t at, uint32_t bytes,
			  uint8_t flags);
enum plx_status pair_recv(struct pair_side *side, uint64_t wr_id, uint32_t at, uint32_t bytes);
enum plx_status pair_write(struct pair_side *side, const struct pair_side *to, uint64_t wr_id,
			   uint32_t at, uint32_t bytes, uint8_t flags);
enum plx_status pair_read(struct pair_side *side, const struct pair_side *from, uint64_t wr_id,
			  uint32_t at, uint32_t bytes, uint8_t flags);

/** A frame as if it came off the wire, in `segs` buffers. Returns: false when it does not fit */
bool pair_inject(struct pair *pair, int to, const uint8_t *bytes, uint32_t len, uint32_t segs);

/** The BTH opcode of a packet that one of our engines has made; -1: not RoCE. */
int pair_opcode(const struct rte_mbuf *m);
/** The PSN of one that is RoCE. */
uint32_t pair_psn(const struct rte_mbuf *m);

#endif
