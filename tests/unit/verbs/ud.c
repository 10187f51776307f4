/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datagrams as a program sees them: which arrive, with which source, which are dropped, and which
 * posts are refused. Start with two_open().
 */
#include "verbs_pair.h"

#include <string.h>

#define QKEY_OURS UINT32_C(0x1001)
#define QKEY_THIS UINT32_C(0x80000000) /* any controlled one */

enum {
	HEADER = PLX_UD_HEADER_BYTES,
	TO = 64 * 1024, /* where the receives are in the arena */
};

/* Two ends for datagrams, and a handle of each for the other, over IPv4 and over IPv6. */
struct two {
	struct pair *pair;
	struct plx_ah *to_b[2], *to_a[2];
};

static struct plx_ah *
handle(struct plx_pd *pd, struct plx_ip remote)
{
	const struct plx_ah_options options = {.remote = remote, .dscp = 0xff};
	struct plx_why why = {""};
	struct plx_ah *ah = NULL;

	if (plx_ah_create(pd, &options, &ah, &why) != PLX_OK)
		fail_msg("%s", why.text);
	return ah;
}

static void
ready(struct plx_qp *qp)
{
	struct plx_why why = {""};

	assert_int_equal(plx_qp_modify(qp, PLX_QP_INIT, NULL, NULL, &why), PLX_OK);
	assert_int_equal(plx_qp_modify(qp, PLX_QP_RTR, NULL, NULL, &why), PLX_OK);
	assert_int_equal(plx_qp_modify(qp, PLX_QP_RTS, NULL, NULL, &why), PLX_OK);
}

static struct pair_options
ud_options(void)
{
	struct pair_options options = pair_usual();

	options.unconnected = true;
	options.qp.type = PLX_QP_UD;
	options.qp.qkey = QKEY_OURS;
	options.qp.inline_bytes = 256;
	return options;
}

static struct two
two_open(const struct pair_options *given)
{
	struct pair_options options = ud_options();
	struct two two = {.pair = pair_open(given ? given : &options)};
	struct pair *pair = two.pair;

	ready(pair->a.qp);
	ready(pair->b.qp);
	two.to_b[0] = handle(pair->a.pd, pair_ip(2));
	two.to_b[1] = handle(pair->a.pd, pair_ip6(2));
	two.to_a[0] = handle(pair->b.pd, pair_ip(1));
	two.to_a[1] = handle(pair->b.pd, pair_ip6(1));
	return two;
}

static void
two_close(struct two *two)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(plx_ah_destroy(two->to_b[i]), PLX_OK);
		assert_int_equal(plx_ah_destroy(two->to_a[i]), PLX_OK);
	}
	pair_close(two->pair);
}

static uint32_t
number(struct plx_qp *qp)
{
	struct plx_qp_info info;

	assert_int_equal(plx_qp_query(qp, &info), PLX_OK);
	return info.qpn;
}

static uint64_t
counted(struct plx_qp *qp, const char *name)
{
	struct plx_counter counter[128];
	uint32_t n = plx_qp_counters(qp, counter, 128);

	for (uint32_t i = 0; i < n; i++)
		if (strcmp(counter[i].name, name) == 0)
			return counter[i].value;
	fail_msg("no counter %s", name);
	return 0;
}

/* A datagram of these tests; the message is at the start of the sender's arena. */
struct note {
	enum plx_wr_op op;
	uint64_t wr_id;
	uint8_t flags;
	uint32_t bytes, imm, qkey;
};

static enum plx_status
try_note(struct side *from, const struct plx_ah *ah, struct plx_qp *to, const struct note *note)
{
	const struct plx_sge sge = {(uintptr_t)from->arena, note->bytes, plx_mr_key(from->mr)};
	const struct plx_send_wr wr = {
		.wr_id = note->wr_id,
		.op = (uint8_t)note->op,
		.flags = note->flags,
		.sge = &sge,
		.sges = note->bytes > 0,
		.imm = note->imm,
		.ah = ah,
		.remote_qpn = number(to),
		.remote_qkey = note->qkey,
	};
	enum plx_status why = PLX_STATUS_COUNT;
	uint32_t posted = plx_post_send(from->qp, &wr, 1, &why);

	assert_int_equal(posted, why == PLX_OK);
	return why;
}

static void
send_note(struct side *from, const struct plx_ah *ah, struct plx_qp *to, uint64_t wr_id,
	  uint32_t bytes)
{
	const struct note note = {PLX_WR_SEND, wr_id, 0, bytes, 0, QKEY_OURS};

	assert_int_equal(try_note(from, ah, to, &note), PLX_OK);
}

/* The addresses in the header in front of a datagram are those of its path. */
static void
assert_header(const uint8_t *space, struct plx_ip src, struct plx_ip dst)
{
	const uint8_t *ip = src.version == 6 ? space : space + 20;

	assert_int_equal(ip[0] >> 4, src.version);
	if (src.version == 6) {
		assert_memory_equal(ip + 8, src.v, 16);
		assert_memory_equal(ip + 24, dst.v, 16);
	} else {
		assert_memory_equal(ip + 12, src.v, 4);
		assert_memory_equal(ip + 16, dst.v, 4);
	}
}

/* ---- what arrives ---- */

static void
a_datagram_arrives_with_its_header_and_its_sender(void **state)
{
	static const uint32_t sizes[] = {0, 1, 3, 4, 63, 64, 65, 1000, 1023, 1024};
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a, *b = &two.pair->b;

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t bytes = sizes[i / 2];
		bool six = i % 2;
		struct plx_wc wc;

		side_fill(a, 0, bytes, (uint8_t)i);
		side_receive(b, i, TO, HEADER + bytes);
		send_note(a, two.to_b[six], b->qp, 100 + i, bytes);
		wc = pair_expect(a->send_cq, 100 + i, PLX_WC_SUCCESS);
		assert_int_equal(wc.op, PLX_WR_SEND);
		assert_int_equal(wc.qpn, number(a->qp));
		wc = pair_expect(b->recv_cq, i, PLX_WC_SUCCESS);
		assert_int_equal(wc.op, PLX_WR_SEND);
		assert_int_equal(wc.flags, PLX_WC_RECV);
		assert_int_equal(wc.bytes, HEADER + bytes);
		assert_int_equal(wc.qpn, number(a->qp));
		side_assert_filled(b, TO + HEADER, bytes, (uint8_t)i);
		assert_header(b->arena + TO, six ? pair_ip6(1) : pair_ip(1),
			      six ? pair_ip6(2) : pair_ip(2));
	}
	two_close(&two);
}

static void
a_message_as_long_as_the_path_mtu_arrives_and_one_byte_more_is_refused(void **state)
{
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a, *b = &two.pair->b;
	struct plx_adapter_info info;
	struct note note = {PLX_WR_SEND, 2, 0, 0, 0, QKEY_OURS};

	(void)state;
	plx_adapter_query(a->adapter, &info);
	side_fill(a, 0, info.path_mtu, 7);
	side_receive(b, 1, TO, HEADER + info.path_mtu);
	send_note(a, two.to_b[0], b->qp, 1, info.path_mtu);
	pair_expect(b->recv_cq, 1, PLX_WC_SUCCESS);
	side_assert_filled(b, TO + HEADER, info.path_mtu, 7);
	pair_expect(a->send_cq, 1, PLX_WC_SUCCESS);
	note.bytes = info.path_mtu + 1;
	assert_int_equal(try_note(a, two.to_b[0], b->qp, &note), PLX_TOO_LONG);
	pair_expect_none(a->send_cq);
	two_close(&two);
}

static void
immediate_data_inline_data_and_the_solicited_bit_travel(void **state)
{
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a, *b = &two.pair->b;
	const struct plx_sge sge = {(uintptr_t)a->arena, 200, {0}};
	struct plx_send_wr wr = {.wr_id = 5,
				 .op = PLX_WR_SEND_IMM,
				 .flags = PLX_WR_INLINE | PLX_WR_SOLICITED | PLX_WR_UNSIGNALED,
				 .sge = &sge,
				 .sges = 1,
				 .imm = 0xcafe0123,
				 .ah = two.to_b[1],
				 .remote_qpn = number(b->qp),
				 .remote_qkey = QKEY_OURS};
	enum plx_status why;
	struct plx_wc wc;

	(void)state;
	side_fill(a, 0, 200, 9);
	side_receive(b, 1, TO, 4096);
	assert_int_equal(plx_post_send(a->qp, &wr, 1, &why), 1);
	memset(a->arena, 0, 200); /* it was copied when it was posted */
	wc = pair_expect(b->recv_cq, 1, PLX_WC_SUCCESS);
	assert_int_equal(wc.op, PLX_WR_SEND_IMM);
	assert_int_equal(wc.flags, PLX_WC_RECV | PLX_WC_IMM | PLX_WC_SOLICITED);
	assert_int_equal(wc.imm, 0xcafe0123);
	assert_int_equal(wc.bytes, HEADER + 200);
	side_assert_filled(b, TO + HEADER, 200, 9);
	pair_expect_none(a->send_cq);
	two_close(&two);
}

/* The sender's address and number are all that an answer needs. */
static void
a_datagram_can_be_answered_by_what_came_with_it(void **state)
{
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a, *b = &two.pair->b;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct plx_ip ip = {.version = 4};
		struct plx_ah *back;
		struct plx_wc wc;

		side_receive(a, i, TO, HEADER + 64);
		side_receive(b, i, TO, HEADER + 64);
		side_fill(a, 0, 64, (uint8_t)i);
		send_note(a, two.to_b[0], b->qp, i, 64);
		wc = pair_expect(b->recv_cq, i, PLX_WC_SUCCESS);
		memcpy(ip.v, b->arena + TO + 20 + 12, 4);
		back = handle(b->pd, ip);
		memcpy(b->arena, b->arena + TO + HEADER, 64);
		assert_int_equal(wc.qpn, number(a->qp));
		send_note(b, back, a->qp, i, 64);
		/* Requests already posted with it are sent all the same. */
		assert_int_equal(plx_ah_destroy(back), PLX_OK);
		pair_expect(a->recv_cq, i, PLX_WC_SUCCESS);
		side_assert_filled(a, TO + HEADER, 64, (uint8_t)i);
		pair_expect(a->send_cq, i, PLX_WC_SUCCESS);
		pair_expect(b->send_cq, i, PLX_WC_SUCCESS);
	}
	two_close(&two);
}

static void
queue_pairs_of_one_port_reach_each_other(void **state)
{
	struct pair_options options = ud_options();
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a;
	struct plx_ah *self[2] = {handle(a->pd, pair_ip(1)), handle(a->pd, pair_ip6(1))};
	struct plx_qp *other = side_qp(a, &options);

	(void)state;
	ready(other);
	for (uint32_t i = 0; i < 300; i++) {
		struct plx_wc wc;

		side_fill(a, 0, 500, (uint8_t)i);
		side_receive(a, i, TO, HEADER + 500);
		/* to itself */
		send_note(a, self[i % 2], a->qp, i, 500);
		wc = pair_expect(a->recv_cq, i, PLX_WC_SUCCESS);
		assert_int_equal(wc.qpn, number(a->qp));
		side_assert_filled(a, TO + HEADER, 500, (uint8_t)i);
		pair_expect(a->send_cq, i, PLX_WC_SUCCESS);
	}
	send_note(a, self[0], other, 1, 500); /* nobody has posted a receive there */
	pair_expect(a->send_cq, 1, PLX_WC_SUCCESS);
	pair_until(counted(other, "RNR") == 1);
	assert_int_equal(plx_qp_destroy(other), PLX_OK);
	assert_int_equal(plx_ah_destroy(self[0]), PLX_OK);
	assert_int_equal(plx_ah_destroy(self[1]), PLX_OK);
	two_close(&two);
}

static void
a_shared_receive_queue_takes_datagrams(void **state)
{
	struct pair_options options = ud_options();
	struct two two;

	(void)state;
	options.srq = (struct plx_srq_options){.depth = 16, .sges = 4};
	two = two_open(&options);
	for (uint32_t i = 0; i < 40; i++) {
		side_receive(&two.pair->b, i, TO, HEADER + 8);
		side_fill(&two.pair->a, 0, 8, (uint8_t)i);
		send_note(&two.pair->a, two.to_b[0], two.pair->b.qp, i, 8);
		pair_expect(two.pair->b.recv_cq, i, PLX_WC_SUCCESS);
		side_assert_filled(&two.pair->b, TO + HEADER, 8, (uint8_t)i);
		pair_expect(two.pair->a.send_cq, i, PLX_WC_SUCCESS);
	}
	two_close(&two);
}

/* More than fit any queue between the two: what arrives is whole, and in order. */
static void
a_stream_of_datagrams_arrives_as_far_as_there_are_receives(void **state)
{
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a, *b = &two.pair->b;
	uint32_t sent = 0, came = 0;

	(void)state;
	side_fill(a, 0, 256, 3);
	for (uint32_t i = 0; i < PAIR_RQ; i++)
		side_receive(b, i, TO, HEADER + 256);
	while (sent < 5000) {
		const struct note note = {PLX_WR_SEND, sent, 0, 256, 0, QKEY_OURS};
		struct plx_wc wc;

		if (try_note(a, two.to_b[0], b->qp, &note) == PLX_OK)
			sent++;
		while (plx_cq_poll(a->send_cq, &wc, 1) == 1)
			assert_int_equal(wc.status, PLX_WC_SUCCESS);
		while (plx_cq_poll(b->recv_cq, &wc, 1) == 1) {
			assert_int_equal(wc.wr_id, came % PAIR_RQ);
			assert_int_equal(wc.status, PLX_WC_SUCCESS);
			side_receive(b, came++ % PAIR_RQ, TO, HEADER + 256);
		}
		pair_cycle();
	}
	pair_settle();
	pair_until(counted(b->qp, "ACCEPT") + counted(b->qp, "RNR") == sent);
	assert_true(came > 0);
	assert_int_equal(counted(a->qp, "requests_sent"), sent);
	assert_int_equal(counted(a->qp, "bytes_sent"), 256 * sent);
	two_close(&two);
}

/* ---- drops ---- */

static void
what_cannot_be_taken_is_dropped_and_counted_and_the_receive_stays(void **state)
{
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a, *b = &two.pair->b;
	struct note note = {PLX_WR_SEND, 1, PLX_WR_UNSIGNALED, 100, 0, QKEY_OURS};

	(void)state;
	side_fill(a, 0, 100, 5);
	assert_int_equal(try_note(a, two.to_b[0], b->qp, &note), PLX_OK);
	pair_until(counted(b->qp, "RNR") == 1);
	side_receive(b, 7, TO, HEADER + 99);
	assert_int_equal(try_note(a, two.to_b[0], b->qp, &note), PLX_OK);
	pair_until(counted(b->qp, "RECV_LENGTH") == 1);
	note.bytes = 99;
	note.qkey = QKEY_OURS + 1;
	assert_int_equal(try_note(a, two.to_b[0], b->qp, &note), PLX_OK);
	pair_until(counted(b->qp, "QKEY") == 1);
	pair_expect_none(b->recv_cq);
	/* A controlled one is the sender's own, which is the receiver's here. */
	note.qkey = QKEY_THIS;
	assert_int_equal(try_note(a, two.to_b[0], b->qp, &note), PLX_OK);
	pair_expect(b->recv_cq, 7, PLX_WC_SUCCESS);
	side_assert_filled(b, TO + HEADER, 99, 5);
	assert_int_equal(pair_state(b->qp), PLX_QP_RTS);
	assert_int_equal(counted(b->qp, "ACCEPT"), 1);
	two_close(&two);
}

static void
a_connection_takes_no_datagram_and_datagrams_no_message(void **state)
{
	struct pair_options options = pair_usual();
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a, *b = &two.pair->b;
	struct plx_qp *one = side_qp(a, &options), *other = side_qp(b, &options);

	(void)state;
	pair_join(one, other, &options.attr);
	send_note(a, two.to_b[0], other, 1, 10);
	pair_expect(a->send_cq, 1, PLX_WC_SUCCESS);
	pair_settle();
	assert_int_equal(pair_state(other), PLX_QP_RTS);
	assert_int_equal(counted(other, "ACCEPT"), 0);
	assert_int_equal(side_try(a, one, PLX_WR_WRITE, 2, 0, 0, 8, &(struct beyond){0}), PLX_OK);
	pair_expect(a->send_cq, 2, PLX_WC_REMOTE_ACCESS);
	assert_int_equal(plx_qp_destroy(one), PLX_OK);
	assert_int_equal(plx_qp_destroy(other), PLX_OK);
	two_close(&two);
}

/* ---- our own mistakes ---- */

static void
a_key_that_is_none_ends_the_request_and_the_queue_pair(void **state)
{
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a, *b = &two.pair->b;
	const struct plx_sge bad = {(uintptr_t)a->arena, 64, {0x1234}};
	struct plx_send_wr wr = {.wr_id = 1,
				 .op = PLX_WR_SEND,
				 .sge = &bad,
				 .sges = 1,
				 .ah = two.to_b[0],
				 .remote_qpn = number(b->qp)};
	const struct plx_recv_wr recv = {.wr_id = 3, .sge = &bad, .sges = 1};
	enum plx_status why;

	(void)state;
	assert_int_equal(plx_post_send(a->qp, &wr, 1, &why), 1);
	pair_expect(a->send_cq, 1, PLX_WC_LOCAL_PROTECTION);
	assert_int_equal(pair_async_event(a->adapter).kind, PLX_EVENT_FAILED);
	pair_until(pair_state(a->qp) == PLX_QP_ERROR);
	send_note(a, two.to_b[0], b->qp, 2, 8);
	pair_expect(a->send_cq, 2, PLX_WC_FLUSHED);

	assert_int_equal(plx_post_recv(b->qp, &recv, 1, &why), 1);
	side_receive(b, 4, TO, 100);
	assert_int_equal(plx_qp_modify(a->qp, PLX_QP_RESET, NULL, NULL, NULL), PLX_OK);
	ready(a->qp);
	send_note(a, two.to_b[0], b->qp, 5, 8);
	pair_expect(a->send_cq, 5, PLX_WC_SUCCESS);
	pair_expect(b->recv_cq, 3, PLX_WC_LOCAL_PROTECTION);
	pair_expect(b->recv_cq, 4, PLX_WC_FLUSHED);
	assert_int_equal(pair_state(b->qp), PLX_QP_ERROR);
	two_close(&two);
}

static void
requests_that_are_not_datagrams_are_refused(void **state)
{
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a, *b = &two.pair->b;
	struct plx_pd *pd;
	struct plx_ah *stranger;
	const struct plx_sge sge = {(uintptr_t)a->arena, 8, plx_mr_key(a->mr)};
	const struct plx_send_wr good = {.op = PLX_WR_SEND,
					 .sge = &sge,
					 .sges = 1,
					 .ah = two.to_b[0],
					 .remote_qpn = number(b->qp)};
	struct plx_send_wr wr;
	enum plx_status why;

	(void)state;
	assert_int_equal(plx_pd_create(a->adapter, &pd), PLX_OK);
	stranger = handle(pd, pair_ip(2));
#define REFUSED(field, value, status)                                    \
	do {                                                             \
		wr = good;                                               \
		wr.field = value;                                        \
		assert_int_equal(plx_post_send(a->qp, &wr, 1, &why), 0); \
		assert_int_equal(why, status);                           \
	} while (0)
	for (enum plx_wr_op op = PLX_WR_NONE; op <= PLX_WR_OP_COUNT; op++)
		if (op != PLX_WR_SEND && op != PLX_WR_SEND_IMM)
			REFUSED(op, (uint8_t)op, PLX_INVALID);
	REFUSED(ah, NULL, PLX_INVALID);
	REFUSED(ah, two.to_a[0], PLX_INVALID); /* the other adapter's */
	REFUSED(ah, stranger, PLX_INVALID);    /* another domain's */
	REFUSED(remote_qpn, 0, PLX_INVALID);
	REFUSED(remote_qpn, PLX_QUEUE_DEPTH_MAX << 9, PLX_INVALID);
	REFUSED(remote_qpn, 0xffffff, PLX_INVALID); /* multicast */
	REFUSED(flags, 0x40, PLX_INVALID);
	REFUSED(sges, 5, PLX_TOO_MANY_SGES);
#undef REFUSED
	pair_expect_none(a->send_cq);
	assert_int_equal(plx_ah_destroy(stranger), PLX_OK);
	assert_int_equal(plx_pd_destroy(pd), PLX_OK);
	two_close(&two);
}

static void
windows_are_not_bound_on_datagram_queue_pairs(void **state)
{
	struct two two = two_open(NULL);
	struct side *a = &two.pair->a;
	const struct plx_bind bind = {.mr = a->mr,
				      .va = (uintptr_t)a->arena,
				      .length = 64,
				      .access = PLX_ACCESS_REMOTE_READ};
	struct plx_key token;
	struct plx_mw *mw;

	(void)state;
	assert_int_equal(plx_mw_create(a->pd, &mw), PLX_OK);
	assert_int_equal(plx_post_bind(a->qp, mw, &bind, &token), PLX_INVALID);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	two_close(&two);
}

/* ---- states ---- */

static void
a_datagram_queue_pair_goes_through_its_states_without_a_peer(void **state)
{
	struct pair_options options = ud_options();
	struct pair *pair = pair_open(&options);
	struct plx_qp *qp = pair->a.qp;
	struct plx_ah *ah = handle(pair->a.pd, pair_ip(2));
	struct plx_why why = {""};
	struct plx_qp_attr attr;
	struct plx_qp_address of_b;
	struct note note = {PLX_WR_SEND, 1, 0, 8, 0, QKEY_OURS};

	(void)state;
	plx_qp_attr_init(&attr);
	assert_int_equal(plx_qp_address(pair->b.qp, NULL, &of_b), PLX_OK);
	assert_int_equal(plx_qp_connect(qp, &of_b, &attr, 0, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, "plx_qp_modify"));
	assert_int_equal(plx_qp_modify(qp, PLX_QP_RTS, NULL, NULL, &why), PLX_STATE);
	assert_int_equal(try_note(&pair->a, ah, pair->b.qp, &note), PLX_STATE);
	ready(qp);
	assert_int_equal(plx_qp_modify(qp, PLX_QP_SQD, NULL, NULL, &why), PLX_OK);
	assert_int_equal(pair_async_event(pair->a.adapter).kind, PLX_EVENT_SQ_DRAINED);
	assert_int_equal(try_note(&pair->a, ah, pair->b.qp, &note), PLX_OK);
	pair_expect_none(pair->a.send_cq);
	assert_int_equal(plx_qp_modify(qp, PLX_QP_RTS, NULL, NULL, &why), PLX_OK);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	side_receive(&pair->a, 9, TO, 64);
	assert_int_equal(plx_qp_flush(qp), PLX_OK);
	pair_expect(pair->a.recv_cq, 9, PLX_WC_FLUSHED);
	side_receive(&pair->a, 10, TO, 64);
	pair_expect(pair->a.recv_cq, 10, PLX_WC_FLUSHED);
	assert_int_equal(plx_qp_modify(qp, PLX_QP_RESET, NULL, NULL, &why), PLX_OK);
	assert_int_equal(pair_state(qp), PLX_QP_RESET);
	assert_int_equal(plx_ah_destroy(ah), PLX_OK);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_datagram_arrives_with_its_header_and_its_sender),
		PAIR_TEST(a_message_as_long_as_the_path_mtu_arrives_and_one_byte_more_is_refused),
		PAIR_TEST(immediate_data_inline_data_and_the_solicited_bit_travel),
		PAIR_TEST(a_datagram_can_be_answered_by_what_came_with_it),
		PAIR_TEST(queue_pairs_of_one_port_reach_each_other),
		PAIR_TEST(a_shared_receive_queue_takes_datagrams),
		PAIR_TEST(a_stream_of_datagrams_arrives_as_far_as_there_are_receives),
		PAIR_TEST(what_cannot_be_taken_is_dropped_and_counted_and_the_receive_stays),
		PAIR_TEST(a_connection_takes_no_datagram_and_datagrams_no_message),
		PAIR_TEST(a_key_that_is_none_ends_the_request_and_the_queue_pair),
		PAIR_TEST(requests_that_are_not_datagrams_are_refused),
		PAIR_TEST(windows_are_not_bound_on_datagram_queue_pairs),
		PAIR_TEST(a_datagram_queue_pair_goes_through_its_states_without_a_peer),
	};

	return pair_run_all("ud", tests, sizeof(tests) / sizeof(tests[0]));
}
