/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two queue pairs of one process that exchange packets over one key table: the fixture of the unit
 * tests of lib/proto/transport. Either side can be the requester; usually it is side 0. It checks
 * only that no limit is exceeded. Start with pair_init() and pair_run().
 */
#ifndef PLX_TEST_PAIR_H
#define PLX_TEST_PAIR_H

#include "test.h"
#include "rc.h"

enum {
	PAIR_DONE_MAX = 512,
	PAIR_EVENTS_MAX = 64,
	PAIR_EMITS_MAX = 64,
	PAIR_BUDGET = 32
};

struct side {
	struct plx_rc *qp;
	struct plx_rq *rq;
	void *qp_block, *rq_block;
	struct plx_keep *keep; /* NULL: nothing is kept */
	/* its output; emits are the newest, payload gathered into a block of its own */
	struct plx_completion done[PAIR_DONE_MAX];
	struct plx_event event[PAIR_EVENTS_MAX];
	uint32_t dones, events;
	uint64_t emitted;
};

struct pair {
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_rc_attr attr; /* of both, but for PSNs and numbers */
	struct side side[2];
	uint64_t now;
	struct plx_actions out;
	/* called for each packet that one side sends; false drops it; NULL passes all */
	bool (*pass)(struct pair *pair, int from, const struct plx_emit *emit);
	void *user;
};

struct pair_config {
	struct plx_rc_caps caps;
	uint32_t rq_depth, rq_sges;
	bool shared;    /* the receive queues are SRQs */
	bool one_queue; /* ... and it is one, side 0's, for both */
	const struct plx_cc_ops *cc;
	void *cc_state;        /* of side 0; side 1 has none */
	uint32_t keep_packets; /* that each side keeps behind missing ones; 0: none */
};

/** What most tests want. */
struct pair_config pair_defaults(void);

/** Two QPs in RESET, `attr` filled with defaults that a test may change before pair_connect(). */
void pair_init(struct pair *pair, const struct pair_config *config);
void pair_fini(struct pair *pair);

/** Both as far as RTS. */
void pair_connect(struct pair *pair);

/** One of the two, with its own numbers: `attr` as pair_connect() uses it. */
struct plx_rc_attr pair_attr(const struct pair *pair, int side);

/** A region of both sides' domain, at its own address. */
struct plx_key pair_region(struct pair *pair, void *base, uint64_t bytes, uint8_t access);

/** Let one side transmit once, and deliver its packets to the other.
 * Returns: packets sent */
uint32_t pair_send(struct pair *pair, int from, uint32_t budget);

/** Let both transmit until neither has anything to send. Time does not advance. */
void pair_run(struct pair *pair);

/** Advance the time to `now` for both. */
void pair_tick(struct pair *pair, uint64_t now);

/** Hand a packet to a side as if it had arrived; dest_qpn and P_Key are filled in. */
enum plx_verdict pair_hand(struct pair *pair, int to, struct plx_pkt *pkt);

/** An ACK with this syndrome. */
enum plx_verdict pair_hand_ack(struct pair *pair, int to, struct plx_psn psn, uint8_t syndrome);

/** Post a request of one SGE, or none when there are no bytes. */
enum plx_status pair_post(struct pair *pair, int side, struct plx_wqe *wqe, const void *base,
			  uint32_t bytes, struct plx_key key);

/** Post a receive of one SGE. */
enum plx_status pair_recv(struct pair *pair, int side, uint64_t wr_id, const void *base,
			  uint32_t bytes, struct plx_key key);

/** Events of one kind that a side has raised. */
uint32_t pair_events(const struct pair *pair, int side, enum plx_event_kind kind);

struct plx_rc_view pair_view(const struct pair *pair, int side);

#endif
