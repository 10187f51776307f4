/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sending datagrams: what may be posted, the packets, when requests complete, and what becomes of
 * them when the queue pair ends. Receiving is in tests/table/datagram.c. Start with open_qp().
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "test.h"
#include "rc.h"

enum {
	DEPTH = 64,
	MTU = 1024,
	OUR_QPN = 0xabcdef,
	AHS = 4,
	ARENA = 4096,
};

static const uint32_t our_qkey = 0x76543210;

struct fixture {
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_key key;
	uint8_t arena[ARENA];
	void *qp_block, *rq_block;
	struct plx_rq *rq;
	struct plx_ud *ud;
	struct plx_ud_ah ahs[AHS];
	struct plx_actions out;
};

static const struct plx_rc_caps caps = {
	.sq_depth = DEPTH, .sq_sges = PLX_SGE_MAX, .inline_bytes = PLX_INLINE_MAX};
static const struct plx_ud_attr usual = {.mtu = MTU, .pkey = 0xffff, .sq_psn = {0xfffffe}};

static struct fixture *
open_qp(void)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct plx_ud_ids ids = {.qpn = OUR_QPN, .qkey = our_qkey};

	assert_non_null(f);
	f->mem = test_mem(64, &f->domain);
	f->key = test_region(f->mem, f->domain, f->arena, ARENA, PLX_ACCESS_LOCAL_WRITE);
	for (uint32_t i = 0; i < ARENA; i++)
		f->arena[i] = (uint8_t)(i * 11 + i / 256);
	f->rq_block = test_block(plx_rq_bytes(8, 2));
	f->rq = plx_rq_init(f->rq_block, 8, 2, false);
	ids.domain = f->domain;
	ids.mem = f->mem;
	ids.rq = f->rq;
	for (uint32_t i = 0; i < AHS; i++)
		f->ahs[i].domain = f->domain;
	ids.ahs = f->ahs;
	ids.ah_count = AHS;
	f->qp_block = test_block(plx_ud_bytes(&caps));
	f->ud = plx_ud_init(f->qp_block, &caps, &ids);
	return f;
}

static void
close_qp(struct fixture *f)
{
	free(f->qp_block);
	free(f->rq_block);
	free(f->mem);
	free(f);
}

/* A SEND of the arena's first bytes. */
static struct plx_wqe
note(const struct fixture *f, uint64_t wr_id, uint32_t bytes)
{
	struct plx_wqe wqe = {.wr_id = wr_id,
			      .op = PLX_WR_SEND,
			      .sges = bytes > 0,
			      .remote_qkey = 0x11,
			      .ah = (uint32_t)wr_id % AHS,
			      .remote_qpn = 0x777};

	wqe.sge[0] = (struct plx_sge){(uintptr_t)f->arena, bytes, f->key};
	return wqe;
}

static void
post(struct fixture *f, uint64_t wr_id, uint32_t bytes)
{
	struct plx_wqe wqe = note(f, wr_id, bytes);

	assert_int_equal(plx_ud_post_send(f->ud, &wqe, NULL), PLX_OK);
}

static uint32_t
transmit(struct fixture *f, uint32_t budget)
{
	plx_actions_reset(&f->out);
	return plx_ud_transmit(f->ud, budget, &f->out);
}

static const struct plx_emit *
emit_at(const struct fixture *f, uint32_t i)
{
	assert_true(i < f->out.count);
	assert_int_equal(f->out.list[i].kind, PLX_ACT_EMIT);
	return &f->out.list[i].emit;
}

static const struct plx_completion *
done_at(const struct fixture *f, uint32_t i)
{
	assert_true(i < f->out.count);
	assert_int_equal(f->out.list[i].kind, PLX_ACT_COMPLETE);
	return &f->out.list[i].completion;
}

/* The payload of a packet is these bytes. */
static void
assert_carries(const struct fixture *f, const struct plx_emit *emit, const uint8_t *bytes)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < emit->iovs; i++) {
		const struct plx_iov *iov = &f->out.iov[emit->iov_first + i];

		assert_memory_equal(iov->base, bytes + at, iov->bytes);
		at += iov->bytes;
	}
	assert_int_equal(at, emit->pkt.payload_bytes);
}

static uint32_t
ahs_used(const struct fixture *f)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < AHS; i++)
		sum += f->ahs[i].posted;
	return sum;
}

/* ---- packets ---- */

static void
a_datagram_leaves_in_one_packet_and_is_done(void **state)
{
	struct fixture *f = open_qp();
	const struct plx_emit *emit;

	(void)state;
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
	for (uint32_t i = 0; i < 5; i++) { /* PSNs wrap behind the second */
		uint32_t bytes = i * 255;

		post(f, i, bytes);
		assert_int_equal(f->ahs[i % AHS].posted, 1);
		assert_int_equal(plx_rc_wake_ns(plx_ud_base(f->ud)), 0);
		assert_int_equal(transmit(f, 1), 1);
		assert_int_equal(f->out.count, 2);
		emit = emit_at(f, 0);
		assert_int_equal(emit->ah, i % AHS);
		assert_int_equal(emit->flags, 0);
		assert_int_equal(emit->pkt.opcode, PLX_UD_SEND_ONLY);
		assert_int_equal(emit->pkt.psn.v, (0xfffffe + i) & PLX_PSN_MASK);
		assert_int_equal(emit->pkt.dest_qpn, 0x777);
		assert_int_equal(emit->pkt.pkey, 0xffff);
		assert_true(emit->pkt.migreq);
		assert_false(emit->pkt.solicited);
		assert_false(emit->pkt.ack_request);
		assert_int_equal(emit->pkt.pad, -bytes & 3);
		assert_int_equal(emit->pkt.deth.qkey, 0x11);
		assert_int_equal(emit->pkt.deth.src_qpn, OUR_QPN);
		assert_int_equal(emit->pkt.deth.resv, 0);
		assert_int_equal(emit->pkt.payload_bytes, bytes);
		assert_carries(f, emit, f->arena);
		assert_int_equal(done_at(f, 1)->wr_id, i);
		assert_int_equal(done_at(f, 1)->status, PLX_WC_SUCCESS);
		assert_int_equal(done_at(f, 1)->op, PLX_WR_SEND);
		assert_int_equal(done_at(f, 1)->qpn, OUR_QPN);
		assert_int_equal(ahs_used(f), 0);
		/* Nothing is owed, and no timer runs. */
		assert_int_equal(transmit(f, 1), 0);
		assert_true(plx_rc_wake_ns(plx_ud_base(f->ud)) == PLX_NEVER);
		assert_false(plx_rc_owes(plx_ud_base(f->ud)));
	}
	assert_int_equal(plx_rc_counters(plx_ud_base(f->ud))->requests_sent, 5);
	assert_int_equal(plx_rc_counters(plx_ud_base(f->ud))->bytes_sent, 10 * 255);
	close_qp(f);
}

static void
immediate_data_the_solicited_bit_and_controlled_q_keys(void **state)
{
	struct fixture *f = open_qp();
	struct plx_wqe wqe = note(f, 1, 0);

	(void)state;
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
	wqe.op = PLX_WR_SEND_IMM;
	wqe.imm = 0xdeadbeef;
	wqe.flags = PLX_WR_SOLICITED | PLX_WR_UNSIGNALED;
	wqe.remote_qkey = 0x80000001;
	assert_int_equal(plx_ud_post_send(f->ud, &wqe, NULL), PLX_OK);
	assert_int_equal(transmit(f, 8), 1);
	assert_int_equal(f->out.count, 1); /* unsignaled */
	assert_int_equal(emit_at(f, 0)->pkt.opcode, PLX_UD_SEND_ONLY_IMM);
	assert_int_equal(emit_at(f, 0)->pkt.imm, 0xdeadbeef);
	assert_true(emit_at(f, 0)->pkt.solicited);
	assert_int_equal(emit_at(f, 0)->pkt.deth.qkey, our_qkey);
	close_qp(f);
}

static void
payload_is_gathered_from_pieces_and_from_inline_data(void **state)
{
	struct fixture *f = open_qp();
	struct plx_wqe wqe = note(f, 1, 10);
	struct plx_sge more[PLX_SGE_MAX - PLX_WQE_SGES];
	uint8_t expected[1024], data[200];

	(void)state;
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
	wqe.sges = PLX_SGE_MAX;
	for (uint32_t i = 0; i < PLX_SGE_MAX; i++) {
		struct plx_sge *sge = i < PLX_WQE_SGES ? &wqe.sge[i] : &more[i - PLX_WQE_SGES];

		*sge = (struct plx_sge){(uintptr_t)f->arena + i * 100, 60, f->key};
		memcpy(expected + i * 60, f->arena + i * 100, 60);
	}
	assert_int_equal(plx_ud_post_send(f->ud, &wqe, more), PLX_OK);
	assert_int_equal(transmit(f, 1), 1);
	assert_int_equal(emit_at(f, 0)->pkt.payload_bytes, 960);
	assert_carries(f, emit_at(f, 0), expected);

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(200 - i);
	for (uint32_t bytes = 0; bytes <= sizeof(data); bytes += 50) {
		wqe = note(f, 2, 0);
		wqe.flags = PLX_WR_INLINE;
		wqe.inline_bytes = bytes;
		if (bytes <= PLX_WQE_INLINE_BYTES)
			memcpy(wqe.data, data, bytes);
		assert_int_equal(plx_ud_post_send(f->ud, &wqe, data), PLX_OK);
		assert_int_equal(transmit(f, 1), 1);
		assert_int_equal(emit_at(f, 0)->pkt.payload_bytes, bytes);
		assert_carries(f, emit_at(f, 0), data);
	}
	close_qp(f);
}

/* The list holds 64 actions: those that do not fit follow with the next call, in order. */
static void
a_full_queue_leaves_in_turns(void **state)
{
	struct fixture *f = open_qp();
	uint32_t packets = 0, dones = 0;

	(void)state;
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
	for (uint32_t i = 0; i < DEPTH; i++)
		post(f, i, 8);
	assert_int_equal(ahs_used(f), DEPTH);
	while (plx_rc_wake_ns(plx_ud_base(f->ud)) == 0) {
		uint32_t sent = transmit(f, 48), seen = 0;

		for (uint32_t i = 0; i < f->out.count; i++) {
			if (f->out.list[i].kind == PLX_ACT_EMIT)
				seen++;
			else
				assert_int_equal(done_at(f, i)->wr_id, dones++);
		}
		assert_int_equal(seen, sent);
		packets += sent;
		assert_true(dones <= packets);
	}
	assert_int_equal(packets, DEPTH);
	assert_int_equal(dones, DEPTH);
	assert_int_equal(ahs_used(f), 0);
	/* Without a budget nothing leaves. */
	post(f, 0, 8);
	assert_int_equal(transmit(f, 0), 0);
	assert_int_equal(f->out.count, 0);
	assert_int_equal(plx_rc_wake_ns(plx_ud_base(f->ud)), 0);
	close_qp(f);
}

static void
an_entry_that_was_built_in_its_place_is_counted_too(void **state)
{
	struct fixture *f = open_qp();
	struct plx_wqe *place;
	void *spill;

	(void)state;
	assert_null(plx_rc_sq_reserve(plx_ud_base(f->ud), &spill));
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
	place = plx_rc_sq_reserve(plx_ud_base(f->ud), &spill);
	assert_non_null(place);
	*place = note(f, 3, 12);
	plx_ud_sq_commit(f->ud, 12);
	assert_int_equal(f->ahs[3].posted, 1);
	assert_int_equal(transmit(f, 1), 1);
	assert_carries(f, emit_at(f, 0), f->arena);
	assert_int_equal(f->ahs[3].posted, 0);
	close_qp(f);
}

/* ---- refusals ---- */

static void
a_refused_post_changes_nothing(void **state)
{
	struct fixture *f = open_qp();
	struct plx_wqe good, bad;

	(void)state;
	good = note(f, 1, 8);
	assert_int_equal(plx_ud_post_send(f->ud, &good, NULL), PLX_STATE);
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
#define REFUSED(field, value, status)                                          \
	do {                                                                   \
		bad = good;                                                    \
		bad.field = value;                                             \
		assert_int_equal(plx_ud_post_send(f->ud, &bad, NULL), status); \
	} while (0)
	for (unsigned op = 0; op < 256; op++)
		if (op != PLX_WR_SEND && op != PLX_WR_SEND_IMM)
			REFUSED(op, (uint8_t)op, PLX_INVALID);
	REFUSED(remote_qpn, 0x1000000, PLX_INVALID);
	f->ahs[1].domain.id++; /* as another program's, or one that was closed */
	REFUSED(ah, 1, PLX_INVALID);
	f->ahs[1].domain.id = f->domain.id + 0x10000; /* it has more than 16 bits */
	REFUSED(ah, 1, PLX_INVALID);
	f->ahs[1].domain = f->domain;
	REFUSED(ah, AHS, PLX_INVALID);
	REFUSED(ah, UINT32_MAX, PLX_INVALID);
	REFUSED(flags, 0x10, PLX_INVALID);
	REFUSED(sge[0].length, MTU + 1, PLX_TOO_LONG);
	REFUSED(sge[0].length, UINT32_MAX, PLX_TOO_LONG);
	REFUSED(sges, PLX_SGE_MAX + 1, PLX_TOO_MANY_SGES);
	REFUSED(sges, PLX_WQE_SGES + 1, PLX_INVALID); /* without the rest of them */
#undef REFUSED
	bad = good;
	bad.flags = PLX_WR_INLINE;
	bad.inline_bytes = MTU + 1;
	assert_int_equal(plx_ud_post_send(f->ud, &bad, f->arena), PLX_TOO_LONG);
	assert_int_equal(ahs_used(f), 0);
	assert_int_equal(plx_rc_sq_posted(plx_ud_base(f->ud)), 0);
	for (uint32_t i = 0; i < DEPTH; i++)
		post(f, i, MTU);
	assert_int_equal(plx_ud_post_send(f->ud, &good, NULL), PLX_FULL);
	assert_int_equal(ahs_used(f), DEPTH);
	close_qp(f);
}

/* tests/fuzz/ud.c found that a number of SGEs, which inline data has no use for, hid its length. */
/* As a program can do whose ring the entry lies in. */
struct liar {
	struct plx_wqe wqe;
	atomic_bool stop;
};

static void *
lie(void *arg)
{
	struct liar *liar = arg;
	volatile struct plx_wqe *wqe = &liar->wqe;

	for (uint32_t i = 0; !atomic_load_explicit(&liar->stop, memory_order_relaxed); i++) {
		wqe->sges = i & 1 ? 1 : 255;
		wqe->sge[0].length = i & 2 ? 8 : MTU + 1;
		wqe->ah = i & 4 ? 3 : UINT32_MAX;
		wqe->op = i & 8 ? PLX_WR_SEND : PLX_WR_REG;
	}
	return NULL;
}

/* Were a word read a second time after it was checked, the other value would show. */
static void
what_is_checked_is_what_is_sent_though_it_changes_meanwhile(void **state)
{
	struct fixture *f = open_qp();
	struct liar liar = {.wqe = note(f, 3, 8)}; /* its handle is 3 */
	uint32_t sent = 0, refused = 0;
	pthread_t thread;

	(void)state;
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
	assert_int_equal(pthread_create(&thread, NULL, lie, &liar), 0);
	for (uint32_t i = 0; i < 30000000 && (sent < 20000 || refused < 20000); i++) {
		if (plx_ud_post_send(f->ud, &liar.wqe, NULL) != PLX_OK) {
			refused++;
			continue;
		}
		assert_int_equal(f->ahs[3].posted, 1);
		assert_int_equal(transmit(f, 1), 1);
		assert_int_equal(emit_at(f, 0)->pkt.payload_bytes, 8);
		assert_int_equal(emit_at(f, 0)->ah, 3);
		sent++;
	}
	atomic_store(&liar.stop, true);
	pthread_join(thread, NULL);
	if (sent == 0 || refused == 0)
		fail_msg("%u sent, %u refused", sent, refused);
	assert_int_equal(ahs_used(f), 0);
	close_qp(f);
}

static void
inline_data_longer_than_the_path_mtu_is_refused_whatever_else_it_says(void **state)
{
	const struct plx_ud_attr narrow = {.mtu = 256, .pkey = 0xffff};
	struct fixture *f = open_qp();
	struct plx_wqe wqe = {.op = PLX_WR_SEND, .flags = PLX_WR_INLINE, .inline_bytes = 257};

	(void)state;
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_INIT, NULL), PLX_OK);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RTR, &narrow), PLX_OK);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RTS, &narrow), PLX_OK);
	for (unsigned sges = 0; sges < 256; sges++) {
		wqe.sges = (uint8_t)sges;
		assert_int_equal(plx_ud_post_send(f->ud, &wqe, f->arena), PLX_TOO_LONG);
	}
	assert_int_equal(transmit(f, 8), 0);
	close_qp(f);
}

static void
what_it_is_made_of_is_checked(void **state)
{
	struct plx_rc_caps bad = caps;
	struct plx_ud_attr attr = usual;
	struct fixture *f = open_qp();

	(void)state;
	assert_true(plx_ud_bytes(&caps) > 0);
	bad.responder_resources = 1;
	assert_int_equal(plx_ud_bytes(&bad), 0);
	bad = caps;
	bad.sq_depth = 0;
	assert_int_equal(plx_ud_bytes(&bad), 0);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RTR, &usual), PLX_STATE);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_NONE, &usual), PLX_INVALID);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_INIT, NULL), PLX_OK);
	for (attr.mtu = 0; attr.mtu <= 8192; attr.mtu += 128)
		if ((attr.mtu & (attr.mtu - 1)) != 0 || attr.mtu < 256 || attr.mtu > 4096)
			assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RTR, &attr), PLX_INVALID);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RTR, NULL), PLX_INVALID);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RTR, &usual), PLX_OK);
	attr.sq_psn.v = 0x1000000;
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RTS, &attr), PLX_INVALID);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RTS, &usual), PLX_OK);
	close_qp(f);
}

/* ---- ends ---- */

static void
a_key_that_denies_ends_that_request_and_flushes_the_rest(void **state)
{
	struct fixture *f = open_qp();
	struct plx_wqe bad = note(f, 1, 8);

	(void)state;
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
	post(f, 0, 8);
	bad.sge[0].key.v ^= 1;
	assert_int_equal(plx_ud_post_send(f->ud, &bad, NULL), PLX_OK);
	post(f, 2, 8);
	assert_int_equal(plx_rc_post_recv(plx_ud_base(f->ud), 9, NULL, 0), PLX_OK);
	assert_int_equal(transmit(f, 8), 1);
	assert_int_equal(f->out.count, 7);
	assert_int_equal(emit_at(f, 0)->ah, 0);
	assert_int_equal(done_at(f, 1)->status, PLX_WC_SUCCESS);
	assert_int_equal(f->out.list[2].event.kind, PLX_EVENT_FAILED);
	assert_int_equal(f->out.list[2].event.cause, PLX_WC_LOCAL_PROTECTION);
	assert_int_equal(done_at(f, 3)->status, PLX_WC_LOCAL_PROTECTION);
	assert_int_equal(done_at(f, 3)->wr_id, 1);
	assert_int_equal(done_at(f, 4)->status, PLX_WC_FLUSHED);
	assert_int_equal(done_at(f, 5)->status, PLX_WC_FLUSHED);
	assert_int_equal(done_at(f, 5)->wr_id, 9);
	assert_int_equal(done_at(f, 5)->qpn, OUR_QPN);
	assert_int_equal(f->out.list[6].event.kind, PLX_EVENT_FLUSHED);
	assert_int_equal(ahs_used(f), 0);
	/* Posts to it are now flushed, whatever their length. */
	post(f, 3, MTU + 1);
	assert_int_equal(ahs_used(f), 1);
	assert_int_equal(transmit(f, 8), 0);
	assert_int_equal(done_at(f, 0)->status, PLX_WC_FLUSHED);
	assert_int_equal(ahs_used(f), 0);
	close_qp(f);
}

static void
draining_holds_what_is_posted_and_reset_forgets_it(void **state)
{
	struct fixture *f = open_qp();

	(void)state;
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
	post(f, 0, 8);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_SQD, NULL), PLX_OK);
	assert_int_equal(transmit(f, 8), 0);
	assert_int_equal(f->out.count, 1);
	assert_int_equal(f->out.list[0].event.kind, PLX_EVENT_SQ_DRAINED);
	post(f, 1, 8);
	assert_int_equal(transmit(f, 8), 0);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RTS, NULL), PLX_OK);
	assert_int_equal(transmit(f, 1), 1);
	assert_int_equal(ahs_used(f), 1);
	assert_int_equal(plx_ud_modify(f->ud, PLX_QP_RESET, NULL), PLX_OK);
	assert_int_equal(ahs_used(f), 0);
	assert_int_equal(transmit(f, 8), 0);
	assert_int_equal(f->out.count, 0);
	test_ud_bring(f->ud, PLX_QP_RTS, &usual);
	post(f, 5, 8);
	assert_int_equal(transmit(f, 8), 1);
	assert_int_equal(emit_at(f, 0)->pkt.psn.v, 0xfffffe);
	close_qp(f);
}

/* ---- without a queue pair ---- */

static void
a_label_is_all_that_a_datagram_needs(void **state)
{
	const struct plx_ud_label label = {
		.src_qpn = 1, .dest_qpn = 0xfffffe, .qkey = 0x80010000, .pkey = 0xffff};
	uint8_t bytes[PLX_PKT_HEADER_MAX + 8] = {0};
	struct plx_pkt pkt, back;

	(void)state;
	for (uint32_t n = 0; n < 4; n++) {
		plx_ud_label(&label, plx_psn(0x123456), n, &pkt);
		assert_int_equal(plx_pkt_encode(&pkt, bytes), PLX_BTH_BYTES + 8);
		assert_int_equal(plx_pkt_decode(bytes, PLX_BTH_BYTES + 8 + (n ? 4 : 0) + 4, &back),
				 PLX_WIRE_OK);
		assert_int_equal(back.payload_bytes, n);
		assert_int_equal(back.opcode, PLX_UD_SEND_ONLY);
		assert_int_equal(back.psn.v, 0x123456);
		assert_int_equal(back.deth.src_qpn, 1);
		assert_int_equal(back.dest_qpn, 0xfffffe);
		assert_true(back.migreq);
		assert_false(back.solicited || back.ack_request || back.fecn || back.becn);
		assert_int_equal(plx_ud_check(&back, 0x7fff, 0x80010000), PLX_VERDICT_ACCEPT);
		assert_int_equal(plx_ud_check(&back, 0xffff, 0x80010001), PLX_VERDICT_QKEY);
	}
}

static void
the_header_space_holds_an_ipv6_header_or_an_ipv4_header_at_its_end(void **state)
{
	uint8_t ip[PLX_IPV6_BYTES], space[PLX_UD_HEADER_BYTES];

	(void)state;
	for (uint32_t i = 0; i < sizeof(ip); i++)
		ip[i] = (uint8_t)(i + 1);
	ip[0] = 0x60;
	plx_ud_header_space(ip, space);
	assert_memory_equal(space, ip, PLX_IPV6_BYTES);
	ip[0] = 0x45;
	plx_ud_header_space(ip, space);
	assert_memory_equal(space + 20, ip, PLX_IPV4_BYTES);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(space[i], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_datagram_leaves_in_one_packet_and_is_done),
		cmocka_unit_test(immediate_data_the_solicited_bit_and_controlled_q_keys),
		cmocka_unit_test(payload_is_gathered_from_pieces_and_from_inline_data),
		cmocka_unit_test(a_full_queue_leaves_in_turns),
		cmocka_unit_test(an_entry_that_was_built_in_its_place_is_counted_too),
		cmocka_unit_test(a_refused_post_changes_nothing),
		cmocka_unit_test(what_is_checked_is_what_is_sent_though_it_changes_meanwhile),
		cmocka_unit_test(
			inline_data_longer_than_the_path_mtu_is_refused_whatever_else_it_says),
		cmocka_unit_test(what_it_is_made_of_is_checked),
		cmocka_unit_test(a_key_that_denies_ends_that_request_and_flushes_the_rest),
		cmocka_unit_test(draining_holds_what_is_posted_and_reset_forgets_it),
		cmocka_unit_test(a_label_is_all_that_a_datagram_needs),
		cmocka_unit_test(
			the_header_space_holds_an_ipv6_header_or_an_ipv4_header_at_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
