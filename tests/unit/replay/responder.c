/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A responder of ours in the place of a recorded one: same addresses, queue pair numbers, first PSN
 * and memory, fed the recorded requests frame by frame. Only keys differ, for ours are issued.
 * It never looks at a recorded answer but to know what the memory held. Start with
 * responder_replay().
 */
#include "test.h"
#include "replay.h"
#include "endpoint.h"

#include <stdlib.h>
#include <string.h>

enum {
	RECVS = 4,
	RECV_BYTES = 65536,
	BUDGET = 64,
	CALLS_MAX = 64
};

/* The memory behind one recorded key: what requests of the flow name under it, not a byte more. */
struct window {
	uint32_t wire_key;
	uint64_t lo, hi;
	uint8_t access;
	uint8_t *host;
	struct plx_key key;
};

struct replayer {
	const struct capture *capture;
	const struct flow *flow;
	struct outcome *out;
	struct plx_domain domain;
	struct window window[REPLAY_REGIONS_MAX];
	uint32_t windows;
	struct ep *ep;
	struct ep_qp *qp;
	uint8_t *recv;
	struct plx_key recv_key;
	uint32_t posted; /* receives */
	uint32_t fed, burst;
	enum plx_verdict verdict;
	uint8_t *next; /* where the next packet of the open message belongs */
};

/* ---- what the endpoint tells us ---- */

static void
on_frame(void *user, struct ep_qp *qp, const struct plx_emit *emit, uint8_t *bytes, size_t len)
{
	struct replayer *r = user;
	struct answer *answer = &r->out->answer[r->out->answers++];
	struct plx_frame frame;

	(void)qp;
	(void)emit;
	assert_in_range(r->out->answers, 1, REPLAY_ANSWERS_MAX);
	assert_int_equal(plx_frame_decode(bytes, len, 0, &frame), PLX_WIRE_OK);
	assert_int_equal(plx_pkt_decode(bytes + frame.udp_at + PLX_UDP_BYTES,
					frame.udp_bytes - PLX_UDP_BYTES, &answer->pkt),
			 PLX_WIRE_OK);
	assert_in_range(answer->pkt.payload_bytes, 0, REPLAY_PAYLOAD_MAX);
	memcpy(answer->payload, answer->pkt.payload, answer->pkt.payload_bytes);
	answer->pkt.payload = answer->payload;
	free(bytes);
}

static void
on_completion(void *user, struct ep_qp *qp, const struct plx_completion *completion)
{
	struct replayer *r = user;

	(void)qp;
	assert_int_equal(completion->status, PLX_WC_SUCCESS);
	r->out->completions++;
}

static void
on_judged(void *user, struct ep_qp *qp, enum plx_wire_verdict wire, bool icrc_bad,
	  enum plx_verdict verdict, const struct plx_pkt *pkt)
{
	struct replayer *r = user;

	(void)pkt;
	assert_ptr_equal(qp, r->qp);
	assert_int_equal(wire, PLX_WIRE_OK);
	assert_false(icrc_bad);
	r->verdict = verdict;
}

static const struct ep_hooks hooks = {
	.completion = on_completion,
	.frame = on_frame,
	.judged = on_judged,
};

/* ---- memory as the requests name it ---- */

static struct window *
window_of(struct replayer *r, uint32_t wire_key, bool make)
{
	for (uint32_t i = 0; i < r->windows; i++)
		if (r->window[i].wire_key == wire_key)
			return &r->window[i];
	assert_true(make);
	assert_in_range(r->windows, 0, REPLAY_REGIONS_MAX - 1);
	r->window[r->windows] = (struct window){.wire_key = wire_key, .lo = UINT64_MAX};
	return &r->window[r->windows++];
}

static void
window_note(struct replayer *r, const struct rec *rec)
{
	const struct plx_opcode *op = rec_op(rec);
	struct window *w;
	uint64_t va = rec->pkt.reth.va, length = rec->pkt.reth.length;

	if (plx_opcode_has(op, PLX_OPF_IETH))
		window_of(r, rec->pkt.inv_key, true)->access |= PLX_ACCESS_INVALIDATE;
	if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH)) {
		va = rec->pkt.atomic.va;
		length = 8;
		w = window_of(r, rec->pkt.atomic.rkey, true);
		w->access |= PLX_ACCESS_REMOTE_ATOMIC | PLX_ACCESS_LOCAL_WRITE;
	} else if (plx_opcode_has(op, PLX_OPF_RETH) && length) {
		w = window_of(r, rec->pkt.reth.rkey, true);
		w->access |= op->kind == PLX_OP_READ_REQUEST
				     ? PLX_ACCESS_REMOTE_READ
				     : PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_LOCAL_WRITE;
	} else {
		return;
	}
	w->lo = va < w->lo ? va : w->lo;
	w->hi = va + length > w->hi ? va + length : w->hi;
}

static void
windows_make(struct replayer *r)
{
	struct plx_region region;

	for (uint32_t i = 0; i < r->flow->requests; i++)
		window_note(r, r->flow->request[i]);
	for (uint32_t i = 0; i < r->windows; i++) {
		struct window *w = &r->window[i];
		size_t pages;

		assert_in_range(w->hi - w->lo, 1, 1 << 24);
		/* the same place in a line, so that atomics are aligned as they were */
		pages = (size_t)(w->hi - w->lo) + 64;
		w->host = calloc(1, pages + 64);
		assert_non_null(w->host);
		assert_int_equal(plx_region_register(
					 ep_mem(r->ep), r->domain,
					 &(struct plx_region_attr){.va = w->lo,
								   .host = w->host + (w->lo & 63),
								   .length = w->hi - w->lo,
								   .access = {w->access}},
					 &region, &w->key),
				 PLX_OK);
	}
}

static uint8_t *
window_at(struct replayer *r, uint32_t wire_key, uint64_t va)
{
	struct window *w = window_of(r, wire_key, false);

	return w->host + (w->lo & 63) + (va - w->lo);
}

/* What a READ must find: the payload of the recorded responses to it. A response that the wire
 * lost was recorded when the READ was repeated. */
static void
prime_read(struct replayer *r, const struct rec *rec)
{
	uint32_t mtu = r->capture->mtu, psns = rec_psns(rec, mtu);

	for (uint32_t i = 0; i < r->flow->answers; i++) {
		const struct plx_pkt *answer = &r->flow->answer[i]->pkt;

		if (plx_opcodes[answer->opcode].kind != PLX_OP_READ_RESPONSE ||
		    !plx_psn_in(answer->psn, rec->pkt.psn, psns) || !answer->payload_bytes)
			continue;
		memcpy(window_at(r, rec->pkt.reth.rkey, rec->pkt.reth.va) +
			       (size_t)plx_psn_diff(answer->psn, rec->pkt.psn) * mtu,
		       answer->payload, answer->payload_bytes);
	}
}

static void
prime_atomic(struct replayer *r, const struct rec *rec)
{
	for (uint32_t i = 0; i < r->flow->answers; i++) {
		const struct plx_pkt *answer = &r->flow->answer[i]->pkt;

		if (plx_opcodes[answer->opcode].kind != PLX_OP_ATOMIC_ACK ||
		    !plx_psn_eq(answer->psn, rec->pkt.psn))
			continue;
		memcpy(window_at(r, rec->pkt.atomic.rkey, rec->pkt.atomic.va),
		       &answer->atomic_original, 8);
		return;
	}
	fail();
}

/* ---- one request ---- */

/* The recorded frame with our key in the place of the recorded one, and the ICRC put right. */
static uint8_t *
translate(struct replayer *r, const struct rec *rec, size_t *len)
{
	const struct plx_opcode *op = rec_op(rec);
	const struct pcap_frame *frame = &r->capture->pcap.frames[rec->number - 1];
	uint8_t *bytes = malloc(frame->len), *ext = bytes + rec->frame.udp_at + PLX_UDP_BYTES;
	size_t covered = rec->frame.ip_bytes - PLX_ICRC_BYTES;
	uint8_t *ip = bytes + rec->frame.ip_at;
	uint32_t key = 0;

	assert_non_null(bytes);
	memcpy(bytes, frame->bytes, frame->len);
	*len = frame->len;
	ext += PLX_BTH_BYTES;
	if (plx_opcode_has(op, PLX_OPF_IETH)) {
		key = window_of(r, rec->pkt.inv_key, false)->key.v;
	} else if (plx_opcode_has(op, PLX_OPF_ATOMIC_ETH)) {
		key = window_of(r, rec->pkt.atomic.rkey, false)->key.v;
		ext += 8; /* the address comes first, in RETH as well */
	} else if (plx_opcode_has(op, PLX_OPF_RETH) && rec->pkt.reth.length) {
		key = window_of(r, rec->pkt.reth.rkey, false)->key.v;
		ext += 8;
	}
	if (!key)
		return bytes;
	key = __builtin_bswap32(key);
	memcpy(ext, &key, sizeof(key));
	plx_icrc_store(plx_icrc_choose()(ip, covered), ip + covered);
	return bytes;
}

/* Did the payload of an accepted SEND or WRITE reach its place? */
static void
check_placed(struct replayer *r, const struct rec *rec)
{
	const struct plx_opcode *op = rec_op(rec);

	if (op->kind != PLX_OP_SEND && op->kind != PLX_OP_WRITE)
		return;
	if (plx_opcode_has(op, PLX_OPF_FIRST) || plx_opcode_has(op, PLX_OPF_ONLY)) {
		r->next = r->recv;
		if (op->kind == PLX_OP_WRITE && rec->pkt.reth.length)
			r->next = window_at(r, rec->pkt.reth.rkey, rec->pkt.reth.va);
	}
	assert_memory_equal(r->next, rec->pkt.payload, rec->pkt.payload_bytes);
	r->next += rec->pkt.payload_bytes;
	r->out->bytes_placed += rec->pkt.payload_bytes;
}

static void
post_recv(struct replayer *r)
{
	const struct plx_sge sge = {
		.va = (uint64_t)(uintptr_t)r->recv, .length = RECV_BYTES, .key = r->recv_key};

	assert_int_equal(plx_rc_post_recv(ep_qp_core(r->qp), r->posted++, &sge, 1), PLX_OK);
}

/* Receives that no message has taken. */
static uint32_t
receives(const struct replayer *r)
{
	struct plx_rc_view view;

	plx_rc_query(ep_qp_core(r->qp), &view);
	return r->posted - r->out->completions - view.rq_open;
}

static void
transmit(struct replayer *r, uint64_t now)
{
	uint32_t calls = 0;

	while (ep_tx(r->qp, now, BUDGET))
		assert_in_range(++calls, 1, CALLS_MAX);
}

static void
feed(struct replayer *r, const struct rec *rec)
{
	uint64_t now = rec->number * PLX_USEC;
	uint8_t *bytes;
	size_t len;

	/* The rule for receives: there is always one, but for a request whose recorded answer says
	 * that there was none. */
	if (rec->not_ready)
		assert_int_equal(receives(r), 0);
	else if (!receives(r))
		post_recv(r);
	/* who invalidates a key has waited for the answers to the READs under it */
	if (plx_opcode_has(rec_op(rec), PLX_OPF_IETH))
		transmit(r, now);
	if (rec_op(rec)->kind == PLX_OP_READ_REQUEST)
		prime_read(r, rec);
	if (plx_opcode_has(rec_op(rec), PLX_OPF_ATOMIC_ETH))
		prime_atomic(r, rec);
	bytes = translate(r, rec, &len);
	ep_rx(r->ep, bytes, len, now);
	free(bytes);
	if (r->verdict == PLX_VERDICT_ACCEPT)
		check_placed(r, rec);
	if (++r->fed % r->burst && r->fed < r->flow->requests)
		return;
	transmit(r, now);
}

/* ---- one flow ---- */

static void
addresses(const struct replayer *r, struct ep_config *own, struct ep_config *peer)
{
	const struct plx_frame *path = r->flow->path;

	*own = (struct ep_config){
		.secret = {{1, 2}}, .mem = {.slots = 256, .domains = 1}, .hooks = &hooks};
	own->ip_version = path->ip_version;
	*peer = *own;
	if (path->ip_version == 4) {
		own->ip4 = path->v4.dst;
		peer->ip4 = path->v4.src;
	} else {
		memcpy(own->ip6, path->v6.dst, 16);
		memcpy(peer->ip6, path->v6.src, 16);
	}
}

static uint8_t
recorded_rnr_timer(const struct flow *flow)
{
	for (uint32_t i = 0; i < flow->answers; i++) {
		const struct plx_pkt *answer = &flow->answer[i]->pkt;

		if (plx_opcodes[answer->opcode].kind == PLX_OP_ACK &&
		    (answer->aeth.syndrome & PLX_AETH_TYPE_MASK) == PLX_AETH_RNR)
			return answer->aeth.syndrome & PLX_AETH_VALUE_MASK;
	}
	return 1;
}

static void
connect_as_recorded(struct replayer *r, const struct ep_config *peer)
{
	const struct plx_rc_attr attr = {
		.mtu = r->capture->mtu,
		.pkey = r->flow->request[0]->pkt.pkey,
		.rq_psn = r->flow->psn_first,
		.enabled = {PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE |
			    PLX_ACCESS_REMOTE_ATOMIC},
		.rnr_timer = recorded_rnr_timer(r->flow),
		.sq_psn = {1},
		.retry_max = 7,
		.rnr_retry_max = 7,
		.initiator_depth = 16,
		.ack_timeout_ns = PLX_SEC,
		.window_packets = 64,
		.ack_interval = 16,
		.read_chunk_packets = 64,
	};

	r->qp = ep_qp_create(
		r->ep, &(struct ep_qp_config){.qpn = r->flow->qpn,
					      .domain = r->domain,
					      .caps = {.sq_depth = 1, .responder_resources = 16},
					      .rq_depth = RECVS,
					      .rq_sges = 1});
	ep_qp_connect(r->qp, peer, r->flow->peer_qpn, &attr);
}

void
responder_replay(const struct capture *capture, const struct flow *flow, uint32_t burst,
		 struct outcome *out)
{
	static struct replayer replayer; /* large */
	struct replayer *r = &replayer;
	struct ep_config own, peer;
	struct plx_region region;

	*out = (struct outcome){0};
	*r = (struct replayer){.capture = capture, .flow = flow, .out = out, .burst = burst};
	addresses(r, &own, &peer);
	own.user = r;
	r->ep = ep_create(&own);
	assert_int_equal(plx_domain_create(ep_mem(r->ep), &r->domain), PLX_OK);
	windows_make(r);
	r->recv = calloc(1, RECV_BYTES);
	assert_non_null(r->recv);
	assert_int_equal(
		plx_region_register(ep_mem(r->ep), r->domain,
				    &(struct plx_region_attr){.va = (uint64_t)(uintptr_t)r->recv,
							      .host = r->recv,
							      .length = RECV_BYTES,
							      .access = {PLX_ACCESS_LOCAL_WRITE}},
				    &region, &r->recv_key),
		PLX_OK);
	connect_as_recorded(r, &peer);
	for (uint32_t i = 0; i < flow->requests; i++)
		feed(r, flow->request[i]);
	ep_destroy(r->ep);
	for (uint32_t i = 0; i < r->windows; i++)
		free(r->window[i].host);
	free(r->recv);
}
