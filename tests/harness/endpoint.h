/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An endpoint for tests: the production rooms, connected as the engine connects them. Frames are
 * malloc blocks of exactly their size; time is an argument. One key table, any number of QPs. It
 * makes no protocol decision; it only executes actions, in order.
 */
#ifndef PLX_TEST_ENDPOINT_H
#define PLX_TEST_ENDPOINT_H

#include "plx_transport.h"

struct ep;
struct ep_qp;

/* Callbacks to the endpoint's user. Any may be NULL. `user` is ep_config.user. */
struct ep_hooks {
	void (*completion)(void *user, struct ep_qp *qp, const struct plx_completion *completion);
	void (*event)(void *user, struct ep_qp *qp, const struct plx_event *event);
	/* before a memory action is executed: the place to check it against shadow memory */
	void (*memory)(void *user, struct ep_qp *qp, const struct plx_action *action);
	/* a frame leaves; the callee owns `bytes` (malloc, exactly `len`) */
	void (*frame)(void *user, struct ep_qp *qp, const struct plx_emit *emit, uint8_t *bytes,
		      size_t len);
	/* a received frame was judged: `wire` is not OK, or `icrc_bad`, or `verdict` holds.
	 * `qp` is NULL when no QP was reached. */
	void (*judged)(void *user, struct ep_qp *qp, enum plx_wire_verdict wire, bool icrc_bad,
		       enum plx_verdict verdict, const struct plx_pkt *pkt);
};

struct ep_config {
	struct plx_secret secret;
	struct plx_mem_limits mem;
	uint8_t eth[6];
	uint8_t ip_version;
	uint32_t ip4;
	uint8_t ip6[16];
	plx_icrc_fn icrc; /* NULL: plx_icrc_choose() */
	/* for what lies behind a missing packet: QPs, and packets of all of them; 0: none */
	uint32_t keep_blocks, keep_packets;
	const struct ep_hooks *hooks;
	void *user;
};

struct ep *ep_create(const struct ep_config *config);
void ep_destroy(struct ep *ep); /* destroys its QPs too */
struct plx_mem *ep_mem(struct ep *ep);

struct ep_qp_config {
	uint32_t qpn;
	struct plx_domain domain;
	struct plx_rc_caps caps;
	uint32_t rq_depth, rq_sges;
	struct plx_rq *srq;          /* NULL: creates its own receive queue */
	const struct plx_cc_ops *cc; /* NULL: plx_cc_none */
	void *cc_state;
	void *user; /* ep_qp_user() */
};

struct ep_qp *ep_qp_create(struct ep *ep, const struct ep_qp_config *config);
void ep_qp_destroy(struct ep_qp *qp);
struct plx_rc *ep_qp_core(struct ep_qp *qp);
struct ep *ep_qp_ep(struct ep_qp *qp);
void *ep_qp_user(struct ep_qp *qp);

/** RESET -> INIT -> RTR -> RTS towards the other end. Fills path and dest_qpn of `attr` from
 * `peer` and `peer_qpn`, and creates the frame template. Asserts that nothing is refused. */
void ep_qp_connect(struct ep_qp *qp, const struct ep_config *peer, uint32_t peer_qpn,
		   const struct plx_rc_attr *attr);

/** One frame arrives: decode, find the QP, admit, ICRC, judge, execute. Does not transmit. */
void ep_rx(struct ep *ep, const uint8_t *bytes, size_t len, uint64_t now);

/** Let one QP transmit up to `budget` packets, and execute. Returns packets emitted. */
uint32_t ep_tx(struct ep_qp *qp, uint64_t now, uint32_t budget);

/** Let one QP see the time, and execute. Does not transmit. */
void ep_tick(struct ep_qp *qp, uint64_t now);

/** Fail a QP as an engine would, and execute. */
void ep_fail(struct ep_qp *qp);

/** Iterate the endpoint's QPs in order of creation; NULL starts, NULL ends. */
struct ep_qp *ep_qp_next(struct ep *ep, struct ep_qp *after);

/** Write a frame for `pkt` with `payload` as if `qp`'s peer had sent it: what scripts and fuzzers
 * inject. malloc'ed, exactly *len; the ICRC is right. */
uint8_t *ep_forge(struct ep_qp *qp, const struct plx_pkt *pkt, const uint8_t *payload,
		  uint32_t payload_bytes, size_t *len);

#endif
