/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a test's QPs, their memory, the table that finds them by number, and every frame. It never
 * transmits unless the test tells it to, never frees a received frame, and never lets a refused
 * frame change a QP. Start with execute(). A hook may inspect anything, but calls plx_rc_*() only
 * after ep_*() has returned.
 */
#include <stdlib.h>

#include "block.h"
#include "endpoint.h"

struct ep {
	struct ep_config config;
	struct plx_mem *mem;
	struct plx_keep *keep;    /* NULL: nothing is kept */
	struct plx_list qps;      /* in order of creation */
	struct ep_qp **by_number; /* sorted, so that a look-up is bounded by log2(qp_count) */
	uint32_t qp_count, qp_room;
	bool executing; /* a hook must not come back in */
	struct plx_actions actions;
};

struct ep_qp {
	struct plx_list link;
	struct ep *ep;
	struct plx_rc *core;
	struct plx_rq *own_rq; /* NULL with an SRQ */
	uint32_t qpn;
	struct plx_domain domain;
	void *user;
	bool connected;
	struct plx_frame_template to_peer;
	struct plx_frame_template from_peer; /* ep_forge() */
};

static const struct ep_hooks no_hooks;

struct ep *
ep_create(const struct ep_config *config)
{
	struct ep *ep = calloc(1, sizeof(*ep));

	PLX_ASSERT(ep != NULL);
	ep->config = *config;
	if (ep->config.icrc == NULL)
		ep->config.icrc = plx_icrc_choose();
	if (ep->config.hooks == NULL)
		ep->config.hooks = &no_hooks;
	ep->mem = plx_mem_init(test_block(plx_mem_bytes(&config->mem)), &config->mem,
			       &config->secret);
	PLX_ASSERT(ep->mem != NULL);
	if (config->keep_blocks > 0)
		ep->keep = plx_keep_init(test_block(plx_keep_bytes(config->keep_blocks)),
					 config->keep_blocks, config->keep_packets);
	plx_list_init(&ep->qps);
	return ep;
}

void
ep_destroy(struct ep *ep)
{
	while (!plx_list_empty(&ep->qps))
		ep_qp_destroy(plx_list_entry(ep->qps.next, struct ep_qp, link));
	PLX_ASSERT(ep->keep == NULL || plx_keep_count(ep->keep) == 0);
	free(ep->by_number);
	free(ep->keep);
	free(ep->mem);
	free(ep);
}

struct plx_mem *
ep_mem(struct ep *ep)
{
	return ep->mem;
}

/* Where `qpn` is in by_number, or where it would have to go. */
static uint32_t
number_at(const struct ep *ep, uint32_t qpn)
{
	uint32_t low = 0, high = ep->qp_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (ep->by_number[mid]->qpn < qpn)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct ep_qp *
number_find(const struct ep *ep, uint32_t qpn)
{
	uint32_t at = number_at(ep, qpn);

	return at < ep->qp_count && ep->by_number[at]->qpn == qpn ? ep->by_number[at] : NULL;
}

static void
number_insert(struct ep *ep, struct ep_qp *qp)
{
	uint32_t at = number_at(ep, qp->qpn);

	PLX_ASSERT(number_find(ep, qp->qpn) == NULL);
	if (ep->qp_count == ep->qp_room) {
		ep->qp_room = ep->qp_room ? ep->qp_room * 2 : 8;
		ep->by_number = realloc(ep->by_number, ep->qp_room * sizeof(struct ep_qp *));
		PLX_ASSERT(ep->by_number != NULL);
	}
	memmove(ep->by_number + at + 1, ep->by_number + at,
		(ep->qp_count - at) * sizeof(struct ep_qp *));
	ep->by_number[at] = qp;
	ep->qp_count++;
}

static void
number_remove(struct ep *ep, const struct ep_qp *qp)
{
	uint32_t at = number_at(ep, qp->qpn);

	PLX_ASSERT(at < ep->qp_count && ep->by_number[at] == qp);
	ep->qp_count--;
	memmove(ep->by_number + at, ep->by_number + at + 1,
		(ep->qp_count - at) * sizeof(struct ep_qp *));
}

struct ep_qp *
ep_qp_create(struct ep *ep, const struct ep_qp_config *config)
{
	struct ep_qp *qp = calloc(1, sizeof(*qp));
	struct plx_rc_ids ids = {.qpn = config->qpn,
				 .domain = config->domain,
				 .mem = ep->mem,
				 .rq = config->srq,
				 .keep = ep->keep,
				 .cc = config->cc ? config->cc : &plx_cc_none,
				 .cc_state = config->cc_state};

	PLX_ASSERT(qp != NULL);
	PLX_ASSERT(plx_domain_hold(ep->mem, config->domain) == PLX_OK);
	if (ids.rq == NULL) {
		size_t bytes = plx_rq_bytes(config->rq_depth, config->rq_sges);

		qp->own_rq =
			plx_rq_init(test_block(bytes), config->rq_depth, config->rq_sges, false);
		ids.rq = qp->own_rq;
	}
	qp->ep = ep;
	qp->qpn = config->qpn;
	qp->domain = config->domain;
	qp->user = config->user;
	qp->core = plx_rc_init(test_block(plx_rc_bytes(&config->caps)), &config->caps, &ids);
	PLX_ASSERT(qp->core != NULL);
	number_insert(ep, qp);
	plx_list_append(&ep->qps, &qp->link);
	return qp;
}

/* Of a queue pair in RESET. */
static void
release_kept(struct ep_qp *qp)
{
	struct plx_kept kept;

	while (plx_rc_next_kept(qp->core, &kept) != PLX_KEPT_NONE)
		free(kept.packet);
}

void
ep_qp_destroy(struct ep_qp *qp)
{
	PLX_ASSERT(!qp->ep->executing);
	PLX_ASSERT(plx_rc_modify(qp->core, PLX_QP_RESET, NULL) == PLX_OK);
	release_kept(qp);
	number_remove(qp->ep, qp);
	plx_list_remove(&qp->link);
	plx_domain_unhold(qp->ep->mem, qp->domain);
	free(qp->core);
	free(qp->own_rq);
	free(qp);
}

struct plx_rc *
ep_qp_core(struct ep_qp *qp)
{
	return qp->core;
}

struct ep *
ep_qp_ep(struct ep_qp *qp)
{
	return qp->ep;
}

void *
ep_qp_user(struct ep_qp *qp)
{
	return qp->user;
}

struct ep_qp *
ep_qp_next(struct ep *ep, struct ep_qp *after)
{
	struct plx_list *node = after ? after->link.next : ep->qps.next;

	return node == &ep->qps ? NULL : plx_list_entry(node, struct ep_qp, link);
}

/* The headers of the flow from one end to the other. The source port is stable per QP. */
static void
flow_template(struct plx_frame_template *tmpl, const struct ep_config *from,
	      const struct ep_config *to, uint32_t from_qpn, bool ect)
{
	struct plx_frame frame = {.ip_version = from->ip_version,
				  .udp_src = (uint16_t)(49152 + (from_qpn & 0x3fff)),
				  .udp_dst = PLX_ROCE_PORT};

	memcpy(frame.eth_src, from->eth, sizeof(frame.eth_src));
	memcpy(frame.eth_dst, to->eth, sizeof(frame.eth_dst));
	if (from->ip_version == 4) {
		frame.v4 = (struct plx_ipv4){.tos = ect ? PLX_ECN_ECT0 : PLX_ECN_NOT_ECT,
					     .ttl = 64,
					     .flags_offset = 0x4000,
					     .src = from->ip4,
					     .dst = to->ip4};
	} else {
		frame.v6.flow = ect ? (uint32_t)PLX_ECN_ECT0 << 20 : 0;
		frame.v6.hop_limit = 64;
		memcpy(frame.v6.src, from->ip6, sizeof(frame.v6.src));
		memcpy(frame.v6.dst, to->ip6, sizeof(frame.v6.dst));
	}
	plx_frame_template_init(tmpl, &frame);
}

void
ep_qp_connect(struct ep_qp *qp, const struct ep_config *peer, uint32_t peer_qpn,
	      const struct plx_rc_attr *attr)
{
	const struct ep_config *own = &qp->ep->config;
	struct plx_rc_attr full = *attr;

	PLX_ASSERT(own->ip_version == peer->ip_version);
	release_kept(qp);
	full.dest_qpn = peer_qpn;
	full.path = (struct plx_path){
		.ip_version = own->ip_version, .src4 = own->ip4, .dst4 = peer->ip4};
	memcpy(full.path.src6, own->ip6, sizeof(full.path.src6));
	memcpy(full.path.dst6, peer->ip6, sizeof(full.path.dst6));
	flow_template(&qp->to_peer, own, peer, qp->qpn, true);
	flow_template(&qp->from_peer, peer, own, peer_qpn, true);
	PLX_ASSERT(plx_rc_modify(qp->core, PLX_QP_INIT, NULL) == PLX_OK);
	PLX_ASSERT(plx_rc_modify(qp->core, PLX_QP_RTR, &full) == PLX_OK);
	PLX_ASSERT(plx_rc_modify(qp->core, PLX_QP_RTS, &full) == PLX_OK);
	qp->connected = true;
}

static void
send_frame(struct ep_qp *qp, const struct plx_emit *emit)
{
	const struct ep *ep = qp->ep;
	size_t len = plx_emit_bytes(&qp->to_peer, emit);
	uint8_t *bytes = malloc(len);

	/* Of exactly the right size, so that the sanitizer detects an overrun by one byte;
	 * poisoned, so that a byte that nobody wrote shows on the wire (T23). */
	PLX_ASSERT(bytes != NULL);
	PLX_ASSERT(qp->connected);
	memset(bytes, TEST_POISON, len);
	PLX_ASSERT(plx_emit_write(&qp->to_peer, &ep->actions, emit, ep->config.icrc, bytes) == len);
	if (ep->config.hooks->frame != NULL)
		ep->config.hooks->frame(ep->config.user, qp, emit, bytes, len);
	else
		free(bytes);
}

/* One action of a list. Returns: 1 when it was a packet */
static uint32_t
execute_one(struct ep_qp *qp, const struct plx_action *action)
{
	const struct ep_hooks *hooks = qp->ep->config.hooks;
	void *user = qp->ep->config.user;

	switch ((enum plx_action_kind)action->kind) {
	case PLX_ACT_PLACE:
	case PLX_ACT_ATOMIC:
		if (hooks->memory != NULL)
			hooks->memory(user, qp, action);
		plx_action_apply_memory(action);
		return 0;
	case PLX_ACT_COMPLETE:
		if (hooks->completion != NULL)
			hooks->completion(user, qp, &action->completion);
		return 0;
	case PLX_ACT_EVENT:
		if (hooks->event != NULL)
			hooks->event(user, qp, &action->event);
		return 0;
	case PLX_ACT_EMIT:
		send_frame(qp, &action->emit);
		return 1;
	case PLX_ACT_LOAD: /* endpoints have no private memory */
	case PLX_ACT_NONE:
		break;
	}
	PLX_ASSERT(!"an action of no kind");
	return 0;
}

/* Everything in the list, strictly in order. Returns: packets sent */
static uint32_t
execute(struct ep_qp *qp)
{
	struct plx_actions *actions = &qp->ep->actions;
	uint32_t packets = 0;

	PLX_ASSERT(actions->count <= PLX_ACTIONS_MAX && actions->iovs <= PLX_IOVS_MAX);
	qp->ep->executing = true;
	for (uint32_t i = 0; i < actions->count; i++)
		packets += execute_one(qp, &actions->list[i]);
	qp->ep->executing = false;
	plx_actions_reset(actions);
	return packets;
}

static void
judged(struct ep *ep, struct ep_qp *qp, enum plx_wire_verdict wire, bool icrc_bad,
       enum plx_verdict verdict, const struct plx_pkt *pkt)
{
	if (ep->config.hooks->judged != NULL)
		ep->config.hooks->judged(ep->config.user, qp, wire, icrc_bad, verdict, pkt);
}

/* A packet that the fast path sends, reported to the hooks as the slow path would. */
static void
send_fast_frame(struct ep_qp *qp, const uint8_t *header, const struct plx_fast_packet *fast)
{
	const struct ep *ep = qp->ep;
	size_t roce = (size_t)fast->header_bytes + fast->payload_bytes + fast->pad + PLX_ICRC_BYTES;
	size_t len = qp->to_peer.header_bytes + roce;
	struct plx_emit emit = {0};
	uint8_t *bytes = malloc(len), *at, *ip;

	PLX_ASSERT(bytes != NULL && qp->connected);
	memset(bytes, TEST_POISON, len);
	at = bytes + plx_frame_template_write(&qp->to_peer, roce, bytes);
	memcpy(at, header, fast->header_bytes);
	if (fast->payload_bytes > 0)
		memcpy(at + fast->header_bytes, fast->payload, fast->payload_bytes);
	memset(at + fast->header_bytes + fast->payload_bytes, 0, fast->pad);
	ip = bytes + qp->to_peer.ip_at;
	plx_icrc_store(ep->config.icrc(ip, (size_t)(bytes + len - ip) - PLX_ICRC_BYTES),
		       bytes + len - PLX_ICRC_BYTES);
	PLX_ASSERT(plx_pkt_decode(at, roce, &emit.pkt) == PLX_WIRE_OK);
	if (emit.pkt.opcode == PLX_RC_ACK)
		emit.flags = PLX_EMIT_RESPONSE;
	if (ep->config.hooks->frame != NULL)
		ep->config.hooks->frame(ep->config.user, qp, &emit, bytes, len);
	else
		free(bytes);
}

/* As an engine does: the fast path first, while it applies.
 * Returns: packets */
static uint32_t
transmit_fast(struct ep_qp *qp, uint64_t now, uint32_t budget)
{
	uint32_t sent = 0;

	while (sent < budget) {
		uint8_t header[PLX_FAST_HEADER_MAX];
		struct plx_fast_packet fast;

		if (plx_rc_send_fast(qp->core, now, header, &fast) != PLX_FAST_SENT)
			break;
		qp->ep->executing = true;
		send_fast_frame(qp, header, &fast);
		qp->ep->executing = false;
		sent++;
	}
	return sent;
}

/* As an engine does: the fast path first. Returns: whether it took it */
static bool
receive_fast(struct ep_qp *qp, const uint8_t *bth, size_t len, const struct plx_pkt *pkt,
	     uint64_t now)
{
	struct ep *ep = qp->ep;
	struct plx_action done = {.kind = PLX_ACT_COMPLETE}, place = {.kind = PLX_ACT_PLACE};
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];
	enum plx_verdict verdict = PLX_VERDICT_ACCEPT;
	enum plx_fast_kind kind =
		plx_rc_receive_fast(qp->core, bth, len, now, &place.place, &done.completion);

	if (kind == PLX_FAST_NO)
		return false;
	if (!plx_opcode_has(op, PLX_OPF_REQUEST))
		verdict = op->kind == PLX_OP_ACK ? PLX_VERDICT_ACKED : PLX_VERDICT_RESPONSE;
	judged(ep, qp, PLX_WIRE_OK, false, verdict, pkt);
	ep->executing = true;
	while (kind == PLX_FAST_TAKEN && plx_rc_next_completion(qp->core, &done.completion))
		PLX_ASSERT(execute_one(qp, &done) == 0);
	if (kind != PLX_FAST_TAKEN)
		PLX_ASSERT(execute_one(qp, &place) == 0);
	if (kind == PLX_FAST_RECEIVED)
		PLX_ASSERT(execute_one(qp, &done) == 0);
	ep->executing = false;
	return true;
}

static struct plx_actions *
fresh_actions(struct ep *ep)
{
	PLX_ASSERT(!ep->executing);
	PLX_ASSERT(ep->actions.count == 0 && ep->actions.iovs == 0);
	return &ep->actions;
}

/* Lines 4 to 6 of the decision table. */
static enum plx_verdict
admit(const struct ep_qp *qp, const struct plx_frame *frame, const struct plx_pkt *pkt,
      const uint8_t *bytes, bool *icrc_bad)
{
	enum plx_verdict verdict = plx_rc_admit(qp->core, frame, pkt);
	size_t covered = (size_t)frame->ip_bytes - PLX_ICRC_BYTES;
	const uint8_t *ip = bytes + frame->ip_at;

	*icrc_bad = false;
	if (verdict == PLX_VERDICT_ACCEPT)
		*icrc_bad = plx_icrc_load(ip + covered) != qp->ep->config.icrc(ip, covered);
	return verdict;
}

/* Before line 7 nothing may change, and no counter that names a QP may move. The refused step is
 * repeated with the QP watched, so that valid packets do not pay for it. */
static void
assert_refusal_is_pure(struct ep_qp *qp, const struct plx_frame *frame, const struct plx_pkt *pkt,
		       const uint8_t *bytes)
{
	const struct plx_rc_counters before = *plx_rc_counters(qp->core);
	uint64_t wake = plx_rc_wake_ns(qp->core);
	struct plx_rc_view was, is;
	bool icrc_bad;

	memset(&was, 0, sizeof(was));
	memset(&is, 0, sizeof(is));
	plx_rc_query(qp->core, &was);
	(void)admit(qp, frame, pkt, bytes, &icrc_bad);
	plx_rc_query(qp->core, &is);
	PLX_ASSERT(memcmp(&was, &is, sizeof(was)) == 0);
	PLX_ASSERT(memcmp(&before, plx_rc_counters(qp->core), sizeof(before)) == 0);
	PLX_ASSERT(plx_rc_wake_ns(qp->core) == wake);
}

/* ---- packets behind a missing one ---- */

/* Keep a packet that was judged. Its copy has exactly its size. */
static void
keep(struct ep_qp *qp, const struct plx_pkt *pkt, enum plx_verdict verdict, const uint8_t *bth,
     size_t len)
{
	struct plx_kept *kept = plx_rc_keep(qp->core, pkt, verdict);
	uint8_t *copy;

	if (kept == NULL)
		return;
	copy = malloc(len);
	PLX_ASSERT(copy != NULL);
	memcpy(copy, bth, len);
	*kept = (struct plx_kept){.packet = copy, .bth = copy, .len = (uint32_t)len};
}

/* What is expected next, if it is kept; and what need not be kept any more. */
static void
take_kept(struct ep_qp *qp, uint64_t now)
{
	struct ep *ep = qp->ep;
	struct plx_kept kept;
	enum plx_kept_kind kind;

	while ((kind = plx_rc_next_kept(qp->core, &kept)) != PLX_KEPT_NONE) {
		struct plx_actions *out = fresh_actions(ep);
		struct plx_pkt pkt;
		enum plx_verdict verdict;

		if (kind == PLX_KEPT_NEXT) {
			PLX_ASSERT(plx_pkt_decode(kept.bth, kept.len, &pkt) == PLX_WIRE_OK);
			verdict = plx_rc_on_packet(qp->core, &pkt, now, out);
			judged(ep, qp, PLX_WIRE_OK, false, verdict, &pkt);
			PLX_ASSERT(execute(qp) == 0);
		}
		free(kept.packet);
	}
}

void
ep_rx(struct ep *ep, const uint8_t *bytes, size_t len, uint64_t now)
{
	struct plx_actions *out = fresh_actions(ep);
	struct plx_frame frame;
	struct plx_pkt pkt;
	enum plx_wire_verdict wire = plx_frame_decode(bytes, len, 0, &frame);
	enum plx_verdict verdict;
	const uint8_t *bth = NULL;
	struct ep_qp *qp;
	size_t roce = 0;
	bool icrc_bad;

	if (wire == PLX_WIRE_OK) {
		bth = bytes + frame.udp_at + PLX_UDP_BYTES;
		roce = (size_t)frame.udp_bytes - PLX_UDP_BYTES;
		wire = plx_pkt_decode(bth, roce, &pkt);
	}
	if (wire != PLX_WIRE_OK) {
		judged(ep, NULL, wire, false, PLX_VERDICT_NONE, NULL);
		return;
	}
	qp = number_find(ep, pkt.dest_qpn);
	if (qp == NULL) {
		judged(ep, NULL, wire, false, PLX_VERDICT_NONE, &pkt);
		return;
	}
	verdict = admit(qp, &frame, &pkt, bytes, &icrc_bad);
	if (verdict != PLX_VERDICT_ACCEPT || icrc_bad) {
		assert_refusal_is_pure(qp, &frame, &pkt, bytes);
		judged(ep, qp, wire, icrc_bad, icrc_bad ? PLX_VERDICT_NONE : verdict, &pkt);
		return;
	}
	pkt.ce = plx_frame_ecn(&frame) == PLX_ECN_CE;
	if (!pkt.ce && receive_fast(qp, bth, roce, &pkt, now)) {
		take_kept(qp, now);
		return;
	}
	verdict = plx_rc_on_packet(qp->core, &pkt, now, out);
	PLX_ASSERT(out->count <= PLX_ACTIONS_MAX);
	judged(ep, qp, wire, false, verdict, &pkt);
	PLX_ASSERT(execute(qp) == 0);
	keep(qp, &pkt, verdict, bth, roce);
	take_kept(qp, now);
}

uint32_t
ep_tx(struct ep_qp *qp, uint64_t now, uint32_t budget)
{
	uint32_t fast = transmit_fast(qp, now, budget);
	uint32_t said = plx_rc_transmit(qp->core, now, budget - fast, fresh_actions(qp->ep));
	uint32_t sent = execute(qp);

	PLX_ASSERT(sent == said && fast + sent <= budget);
	take_kept(qp, now);
	return fast + sent;
}

void
ep_tick(struct ep_qp *qp, uint64_t now)
{
	struct plx_actions *out = fresh_actions(qp->ep);

	plx_rc_on_tick(qp->core, now, out);
	PLX_ASSERT(out->count <= PLX_ACTIONS_MAX);
	PLX_ASSERT(execute(qp) == 0);
	take_kept(qp, now);
}

void
ep_fail(struct ep_qp *qp)
{
	struct plx_actions *out = fresh_actions(qp->ep);

	plx_rc_fail(qp->core, out);
	PLX_ASSERT(out->count <= PLX_ACTIONS_MAX);
	PLX_ASSERT(execute(qp) == 0);
}

uint8_t *
ep_forge(struct ep_qp *qp, const struct plx_pkt *pkt, const uint8_t *payload,
	 uint32_t payload_bytes, size_t *len)
{
	uint8_t header[PLX_PKT_HEADER_MAX], outer[PLX_FRAME_HEADER_MAX];
	size_t header_bytes = plx_pkt_encode(pkt, header);
	size_t roce = header_bytes + payload_bytes + pkt->pad + PLX_ICRC_BYTES;
	size_t outer_bytes = plx_frame_template_write(&qp->from_peer, roce, outer);
	uint8_t *bytes = calloc(1, outer_bytes + roce);
	const uint8_t *ip;

	PLX_ASSERT(bytes != NULL);
	*len = outer_bytes + roce;
	memcpy(bytes, outer, outer_bytes);
	memcpy(bytes + outer_bytes, header, header_bytes);
	if (payload_bytes > 0)
		memcpy(bytes + outer_bytes + header_bytes, payload, payload_bytes);
	ip = bytes + qp->from_peer.ip_at;
	plx_icrc_store(qp->ep->config.icrc(ip, (size_t)(bytes + *len - ip) - PLX_ICRC_BYTES),
		       bytes + *len - PLX_ICRC_BYTES);
	return bytes;
}
