/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datagrams, every combination: state, opcode, P_Keys, Q_Key, length, pad, and the kind of receive;
 * each compared with lines 4 to 7 of the decision table of docs/protocol.md. The model is
 * independent of the code. Start with model() and play().
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"
#include "rc.h"

enum {
	MTU = 256,
	ARENA = 1024,
	OUR_QPN = 0x234,
	THEIR_QPN = 0x567,
	IMM = 0x01020304,
};

static const uint32_t our_qkey = 0x1234;

/* ---- what is combined ---- */

static const enum plx_qp_state states[] = {PLX_QP_RESET, PLX_QP_INIT, PLX_QP_RTR,
					   PLX_QP_RTS,   PLX_QP_SQD,  PLX_QP_ERROR};
static const uint16_t pkeys[] = {0xffff, 0x7fff, 0x8001, 0x0001};
static const uint32_t lengths[] = {0, 1, 2, 3, 4, 100, 255, 256, 257, 300};

/* The posted receive, relative to the datagram. */
enum receive {
	RECV_NONE,
	RECV_SHORT,      /* by one byte */
	RECV_FITS,       /* exactly */
	RECV_LONG,       /* by some */
	RECV_SCATTERED,  /* fits, and the header is in pieces */
	RECV_HEADER_KEY, /* fits, the header's SGE has an invalid key */
	RECV_PAYLOAD_KEY,
	RECV_READ_ONLY, /* fits, without LOCAL_WRITE */
	RECV_KINDS,
};

struct combination {
	enum plx_qp_state state;
	uint8_t opcode;
	uint16_t our_pkey, their_pkey;
	bool qkey_right, pad_right, solicited, shared;
	uint32_t bytes;
	enum receive receive;
};

/* ---- the model ---- */

static enum plx_verdict
model(const struct combination *c)
{
	bool ud = c->opcode == 0x64 || c->opcode == 0x65;
	bool receives = c->state == PLX_QP_RTR || c->state == PLX_QP_RTS || c->state == PLX_QP_SQD;
	uint16_t ours = c->our_pkey, theirs = c->their_pkey;
	bool same = ours % 0x8000 == theirs % 0x8000, full = ours >= 0x8000 || theirs >= 0x8000;

	if (!ud)
		return PLX_VERDICT_SERVICE;
	if (!receives)
		return PLX_VERDICT_STATE;
	if (!same || !full)
		return PLX_VERDICT_PKEY;
	if (!c->qkey_right)
		return PLX_VERDICT_QKEY;
	if (c->bytes > MTU || !c->pad_right)
		return PLX_VERDICT_LENGTH;
	switch (c->receive) {
	case RECV_NONE:
		return PLX_VERDICT_RNR;
	case RECV_SHORT:
		return PLX_VERDICT_RECV_LENGTH;
	case RECV_HEADER_KEY:
	case RECV_READ_ONLY:
		return PLX_VERDICT_RECV_ACCESS;
	case RECV_PAYLOAD_KEY:
		/* A key for zero bytes is not checked. */
		return c->bytes > 0 ? PLX_VERDICT_RECV_ACCESS : PLX_VERDICT_ACCEPT;
	case RECV_FITS:
	case RECV_LONG:
	case RECV_SCATTERED:
	case RECV_KINDS:
		break;
	}
	return PLX_VERDICT_ACCEPT;
}

/* ---- the bench ---- */

struct bench {
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_key writable, read_only;
	uint8_t arena[ARENA], guarded[ARENA];
	uint8_t payload[ARENA], ip[PLX_IPV4_BYTES];
	void *qp_block, *rq_block;
	struct plx_ud *ud;
	struct plx_rq *rq;
	struct plx_actions out;
};

static struct bench bench;

static void
bench_open(void)
{
	bench.mem = test_mem(64, &bench.domain);
	bench.writable =
		test_region(bench.mem, bench.domain, bench.arena, ARENA, PLX_ACCESS_LOCAL_WRITE);
	bench.read_only = test_region(bench.mem, bench.domain, bench.guarded, ARENA, 0);
	for (uint32_t i = 0; i < ARENA; i++)
		bench.payload[i] = (uint8_t)(i * 5 + 3);
	for (uint32_t i = 0; i < PLX_IPV4_BYTES; i++)
		bench.ip[i] = (uint8_t)(0x45 + i);
	bench.qp_block = test_block(plx_ud_bytes(&(struct plx_rc_caps){.sq_depth = 1}));
	bench.rq_block = test_block(plx_rq_bytes(2, 4));
}

static void
bench_close(void)
{
	free(bench.qp_block);
	free(bench.rq_block);
	free(bench.mem);
}

/* A receive for `bytes` of payload, of one SGE for the header and one for the rest, or more. */
static void
post(enum receive kind, uint32_t bytes)
{
	const uint64_t at = (uintptr_t)bench.arena, guarded = (uintptr_t)bench.guarded;
	const struct plx_key good = bench.writable, none = {0x5555};
	struct plx_sge sge[4] = {{at, PLX_UD_HEADER_BYTES, good}, {at + 512, bytes, good}};
	uint32_t sges = 2;

	if (kind == RECV_SHORT)
		sge[bytes == 0 ? 0 : 1].length--;
	if (kind == RECV_LONG)
		sge[1].length += 17;
	if (kind == RECV_HEADER_KEY)
		sge[0].key = none;
	if (kind == RECV_PAYLOAD_KEY)
		sge[1].key = none;
	if (kind == RECV_READ_ONLY) {
		sge[0] = (struct plx_sge){guarded, PLX_UD_HEADER_BYTES, bench.read_only};
		sge[1] = (struct plx_sge){guarded + 512, bytes, bench.read_only};
	}
	if (kind == RECV_SCATTERED) {
		sge[0].length = 1;
		sge[1] = (struct plx_sge){at + 1, 22, good};
		sge[2] = (struct plx_sge){at + 23, 17, good};
		sge[3] = (struct plx_sge){at + 512, bytes, good};
		sges = 4;
	}
	assert_int_equal(plx_rq_post(bench.rq, 42, sge, sges), PLX_OK);
}

static void
make_qp(const struct combination *c)
{
	const struct plx_rc_caps caps = {.sq_depth = 1};
	const struct plx_ud_attr attr = {.mtu = MTU, .pkey = c->our_pkey};
	struct plx_ud_ids ids = {
		.qpn = OUR_QPN, .qkey = our_qkey, .domain = bench.domain, .mem = bench.mem};

	bench.rq = ids.rq = plx_rq_init(bench.rq_block, 2, 4, c->shared);
	bench.ud = plx_ud_init(bench.qp_block, &caps, &ids);
	test_ud_bring(bench.ud, c->state == PLX_QP_ERROR ? PLX_QP_INIT : c->state, &attr);
	if (c->state == PLX_QP_ERROR)
		assert_int_equal(plx_ud_modify(bench.ud, PLX_QP_ERROR, NULL), PLX_OK);
}

static struct plx_pkt
make_packet(const struct combination *c)
{
	return (struct plx_pkt){
		.opcode = c->opcode,
		.pad = (-c->bytes & 3) ^ (c->pad_right ? 0 : 1),
		.solicited = c->solicited,
		.pkey = c->their_pkey,
		.dest_qpn = OUR_QPN,
		.imm = IMM,
		.deth = {.qkey = our_qkey ^ !c->qkey_right, .src_qpn = THEIR_QPN},
		.payload = bench.payload,
		.payload_bytes = c->bytes,
	};
}

/* ---- the expected result ---- */

static void
check_accepted(const struct combination *c)
{
	const struct plx_actions *out = &bench.out;
	const struct plx_completion *wc = &out->list[out->count - 1].completion;
	bool imm = c->opcode == 0x65;

	for (uint32_t i = 0; i + 1 < out->count; i++) {
		assert_int_equal(out->list[i].kind, PLX_ACT_PLACE);
		plx_action_apply_memory(&out->list[i]);
	}
	assert_int_equal(out->list[out->count - 1].kind, PLX_ACT_COMPLETE);
	assert_int_equal(wc->wr_id, 42);
	assert_int_equal(wc->status, PLX_WC_SUCCESS);
	assert_int_equal(wc->qpn, THEIR_QPN);
	assert_int_equal(wc->bytes, PLX_UD_HEADER_BYTES + c->bytes);
	assert_int_equal(wc->op, imm ? PLX_WR_SEND_IMM : PLX_WR_SEND);
	assert_int_equal(wc->flags, PLX_WC_RECV | (imm ? PLX_WC_IMM : 0) |
					    (c->solicited ? PLX_WC_SOLICITED : 0));
	assert_int_equal(wc->imm, imm ? IMM : 0);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(bench.arena[i], 0);
	assert_memory_equal(bench.arena + 20, bench.ip, PLX_IPV4_BYTES);
	assert_memory_equal(bench.arena + 512, bench.payload, c->bytes);
	assert_int_equal(bench.arena[40], 0xee);
	assert_int_equal(bench.arena[512 + c->bytes], 0xee);
	assert_int_equal(plx_rq_count(bench.rq), 0);
	assert_int_equal(plx_rq_room(bench.rq), 2);
}

/* The receive whose key is bad, and the queue pair, have failed; nothing was placed. */
static void
check_failed(void)
{
	const struct plx_actions *out = &bench.out;

	assert_int_equal(out->count, 3);
	assert_int_equal(out->list[0].kind, PLX_ACT_EVENT);
	assert_int_equal(out->list[0].event.kind, PLX_EVENT_FAILED);
	assert_int_equal(out->list[0].event.cause, PLX_WC_LOCAL_PROTECTION);
	assert_int_equal(out->list[1].kind, PLX_ACT_COMPLETE);
	assert_int_equal(out->list[1].completion.status, PLX_WC_LOCAL_PROTECTION);
	assert_int_equal(out->list[1].completion.wr_id, 42);
	assert_int_equal(out->list[1].completion.qpn, OUR_QPN);
	assert_int_equal(out->list[2].event.kind, PLX_EVENT_FLUSHED);
}

static void
check_dropped(const struct combination *c, const struct plx_rc_view *before)
{
	struct plx_rc_view after;

	plx_rc_query(plx_ud_base(bench.ud), &after);
	assert_int_equal(before->state, after.state);
	assert_int_equal(before->flushed, after.flushed);
	assert_int_equal(before->sq_posted, after.sq_posted);
	assert_int_equal(before->sq_consumed, after.sq_consumed);
	assert_int_equal(before->rq_open, after.rq_open);
	assert_int_equal(before->psn_next.v, after.psn_next.v);
	assert_int_equal(before->psn_expected.v, after.psn_expected.v);
	for (uint32_t i = 0; i < ARENA; i++)
		assert_int_equal(bench.arena[i], 0xee);
	assert_int_equal(bench.out.count, 0);
	assert_int_equal(plx_rq_count(bench.rq), c->receive != RECV_NONE);
}

static void
check_counted(enum plx_verdict verdict)
{
	const struct plx_rc_counters *counters = plx_rc_counters(plx_ud_base(bench.ud));

	for (uint32_t i = 0; i < PLX_VERDICT_COUNT; i++)
		assert_int_equal(counters->verdict[i], i == (uint32_t)verdict);
}

static enum plx_verdict
play(const struct combination *c)
{
	enum plx_verdict expected = model(c), early = expected, verdict;
	struct plx_pkt pkt = make_packet(c);
	struct plx_rc_view before = {0};

	if (expected != PLX_VERDICT_SERVICE && expected != PLX_VERDICT_STATE &&
	    expected != PLX_VERDICT_PKEY)
		early = PLX_VERDICT_ACCEPT;
	make_qp(c);
	memset(bench.arena, 0xee, sizeof(bench.arena));
	if (c->receive != RECV_NONE)
		post(c->receive, c->bytes);
	plx_rc_query(plx_ud_base(bench.ud), &before);
	plx_actions_reset(&bench.out);
	assert_int_equal(plx_ud_admit(bench.ud, &pkt), early);
	check_counted(PLX_VERDICT_COUNT);
	verdict = plx_ud_on_packet(bench.ud, &pkt, bench.ip, &bench.out);
	if (verdict != expected)
		fail_msg("state %d opcode %02x pkey %04x/%04x qkey %d bytes %u pad %d receive %d: "
			 "%s, not %s",
			 c->state, c->opcode, c->our_pkey, c->their_pkey, c->qkey_right, c->bytes,
			 c->pad_right, c->receive, plx_verdict_name(verdict),
			 plx_verdict_name(expected));
	check_counted(verdict);
	if (verdict == PLX_VERDICT_ACCEPT)
		check_accepted(c);
	else if (verdict == PLX_VERDICT_RECV_ACCESS)
		check_failed();
	else
		check_dropped(c, &before);
	return verdict;
}

/* ---- all of them ---- */

/* The fields that are two or few valued, from one number. */
static void
choose(struct combination *c, uint32_t n)
{
	c->qkey_right = n & 1;
	c->pad_right = n & 2;
	c->solicited = n & 4;
	c->shared = n & 8;
	c->our_pkey = pkeys[n >> 4 & 3];
	c->their_pkey = pkeys[n >> 6 & 3];
}

static void
every_datagram_gets_the_verdict_of_the_decision_table(void **state)
{
	uint32_t seen[PLX_VERDICT_COUNT] = {0}, total = 0;
	struct combination c;

	(void)state;
	bench_open();
	for (uint32_t s = 0; s < PLX_COUNT_OF(states); s++)
		for (uint32_t n = 0; n < 256; n++)
			for (uint32_t l = 0; l < PLX_COUNT_OF(lengths); l++)
				for (int receive = 0; receive < RECV_KINDS; receive++)
					for (uint8_t opcode = 0x64; opcode <= 0x65; opcode++) {
						c = (struct combination){
							.state = states[s],
							.opcode = opcode,
							.bytes = lengths[l],
							.receive = (enum receive)receive};
						choose(&c, n);
						seen[play(&c)]++;
						total++;
					}
	bench_close();
	assert_int_equal(total, 6 * 256 * 10 * RECV_KINDS * 2);
	for (enum plx_verdict v = PLX_VERDICT_NONE; v < PLX_VERDICT_COUNT; v++) {
		bool may = v == PLX_VERDICT_ACCEPT || v == PLX_VERDICT_STATE ||
			   v == PLX_VERDICT_PKEY || v == PLX_VERDICT_QKEY ||
			   v == PLX_VERDICT_LENGTH || v == PLX_VERDICT_RNR ||
			   v == PLX_VERDICT_RECV_LENGTH || v == PLX_VERDICT_RECV_ACCESS;

		assert_int_equal(seen[v] > 0, may);
	}
	printf("%u combinations\n", total);
}

static void
every_other_opcode_is_of_another_service(void **state)
{
	uint32_t total = 0;

	(void)state;
	bench_open();
	for (uint32_t opcode = 0; opcode < 256; opcode++)
		for (uint32_t s = 0; s < PLX_COUNT_OF(states); s++)
			for (uint32_t n = 0; n < 256; n++) {
				struct combination c = {.state = states[s],
							.opcode = (uint8_t)opcode,
							.receive = RECV_FITS};

				choose(&c, n);
				if (opcode == 0x64 || opcode == 0x65)
					continue;
				assert_int_equal(play(&c), PLX_VERDICT_SERVICE);
				total++;
			}
	bench_close();
	assert_int_equal(total, 254 * 6 * 256);
}

/* The same checks without a queue pair. */
static void
a_datagram_without_a_queue_pair_is_checked_in_the_same_order(void **state)
{
	uint32_t total = 0;

	(void)state;
	for (uint32_t opcode = 0; opcode < 256; opcode++)
		for (uint32_t n = 0; n < 256; n++) {
			struct combination c = {.state = PLX_QP_RTS,
						.opcode = (uint8_t)opcode,
						.receive = RECV_FITS};
			enum plx_verdict expected;
			struct plx_pkt pkt;

			choose(&c, n);
			pkt = make_packet(&c);
			expected = model(&c);
			if (expected == PLX_VERDICT_LENGTH)
				expected = PLX_VERDICT_ACCEPT; /* its owner's to judge */
			assert_int_equal(plx_ud_check(&pkt, c.our_pkey, our_qkey), expected);
			total++;
		}
	assert_int_equal(total, 65536);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_datagram_gets_the_verdict_of_the_decision_table),
		cmocka_unit_test(every_other_opcode_is_of_another_service),
		cmocka_unit_test(a_datagram_without_a_queue_pair_is_checked_in_the_same_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
