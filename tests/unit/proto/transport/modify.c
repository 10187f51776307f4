/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The states of a queue pair: every transition, every attribute out of range, and the sizes of the
 * memory that the caller provides. It never sends a packet. Start with allowed().
 */
#include "rc_pair.h"

#include <stdlib.h>

/* docs/transport.md: RESET -> INIT -> RTR -> RTS <-> SQD; any -> ERROR; any -> RESET. */
static bool
allowed(int from, int to)
{
	return to == PLX_QP_ERROR || to == PLX_QP_RESET ||
	       (from == PLX_QP_RESET && to == PLX_QP_INIT) ||
	       (from == PLX_QP_INIT && to == PLX_QP_RTR) ||
	       (from == PLX_QP_RTR && to == PLX_QP_RTS) ||
	       (from == PLX_QP_RTS && to == PLX_QP_SQD) || (from == PLX_QP_SQD && to == PLX_QP_RTS);
}

static void
bring(struct pair *pair, int state)
{
	const struct plx_rc_attr attr = pair_attr(pair, 0);

	if (state == PLX_QP_ERROR)
		bring(pair, PLX_QP_RTS);
	for (int s = state == PLX_QP_ERROR ? PLX_QP_ERROR : PLX_QP_INIT; s <= state; s++)
		assert_int_equal(plx_rc_modify(pair->side[0].qp, (enum plx_qp_state)s, &attr),
				 PLX_OK);
	assert_int_equal(pair_view(pair, 0).state, state);
}

static void
every_transition_is_allowed_or_refused_as_documented(void **state)
{
	const struct pair_config config = pair_defaults();
	int count = 0;

	(void)state;
	for (int from = PLX_QP_RESET; from < PLX_QP_STATE_COUNT; from++)
		for (int to = PLX_QP_NONE; to <= PLX_QP_STATE_COUNT; to++, count++) {
			struct plx_rc_view before, after;
			struct plx_rc_attr attr;
			struct pair pair;
			enum plx_status status;

			pair_init(&pair, &config);
			bring(&pair, from);
			attr = pair_attr(&pair, 0);
			before = pair_view(&pair, 0);
			status = plx_rc_modify(pair.side[0].qp, (enum plx_qp_state)to, &attr);
			after = pair_view(&pair, 0);
			if (to == PLX_QP_NONE || to == PLX_QP_STATE_COUNT)
				assert_int_equal(status, PLX_INVALID); /* no state at all */
			else
				assert_int_equal(status, allowed(from, to) ? PLX_OK : PLX_STATE);
			if (allowed(from, to))
				assert_int_equal(after.state, to);
			else
				assert_memory_equal(&before, &after, sizeof(after));
			pair_fini(&pair);
		}
	assert_int_equal(count, 6 * 8);
}

/* One attribute, once out of range and once at its last valid value, set in the transition to
 * `to`. */
struct attribute {
	const char *name;
	int to;
	size_t at, bytes;
	uint64_t bad, good;
};

#define PLX_X(to, member, bad, good)                                         \
	{                                                                    \
#member, to, offsetof(struct plx_rc_attr, member),           \
			sizeof(((struct plx_rc_attr *)0)->member), bad, good \
	}

static const struct attribute attributes[] = {
	PLX_X(PLX_QP_RTR, mtu, 0, 256),
	PLX_X(PLX_QP_RTR, mtu, 128, 512),
	PLX_X(PLX_QP_RTR, mtu, 255, 1024),
	PLX_X(PLX_QP_RTR, mtu, 1500, 2048),
	PLX_X(PLX_QP_RTR, mtu, 4095, 4096),
	PLX_X(PLX_QP_RTR, mtu, 8192, 4096),
	PLX_X(PLX_QP_RTR, mtu, 0x80000000, 4096),
	PLX_X(PLX_QP_RTR, dest_qpn, 0x1000000, 0xffffff),
	PLX_X(PLX_QP_RTR, rnr_timer, 32, 31),
	PLX_X(PLX_QP_RTR, rnr_timer, 255, 0),
	PLX_X(PLX_QP_RTR, path.ip_version, 5, 4),
	PLX_X(PLX_QP_RTR, path.ip_version, 255, 6),
	PLX_X(PLX_QP_RTR, enabled.bits, PLX_ACCESS_BIND, 0),
	PLX_X(PLX_QP_RTR, enabled.bits, 0x80, PLX_ACCESS_REMOTE_READ),
	PLX_X(PLX_QP_RTS, retry_max, PLX_RETRY_MAX + 1, PLX_RETRY_MAX),
	PLX_X(PLX_QP_RTS, retry_max, 255, 0),
	PLX_X(PLX_QP_RTS, rnr_retry_max, 8, 7),
	PLX_X(PLX_QP_RTS, ack_timeout_ns, 0, 1),
	PLX_X(PLX_QP_RTS, window_packets, 0, 1),
	PLX_X(PLX_QP_RTS, window_packets, PLX_WINDOW_PACKETS_MAX + 1, PLX_WINDOW_PACKETS_MAX),
	PLX_X(PLX_QP_RTS, ack_interval, 0, 1),
	PLX_X(PLX_QP_RTS, read_chunk_packets, 0, 1),
	PLX_X(PLX_QP_RTS, read_chunk_packets, PLX_READ_CHUNK_PACKETS_MAX + 1,
	      PLX_READ_CHUNK_PACKETS_MAX),
};
#undef PLX_X

static void
an_attribute_out_of_range_is_invalid_and_changes_nothing(void **state)
{
	const struct pair_config config = pair_defaults();

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(attributes); i++) {
		const struct attribute *a = &attributes[i];
		struct plx_rc_view before, after;
		struct plx_rc_attr attr;
		struct pair pair;

		pair_init(&pair, &config);
		bring(&pair, a->to - 1);
		before = pair_view(&pair, 0);
		attr = pair_attr(&pair, 0);
		memcpy((uint8_t *)&attr + a->at, &a->bad, a->bytes); /* a little-endian machine */
		if (plx_rc_modify(pair.side[0].qp, (enum plx_qp_state)a->to, &attr) != PLX_INVALID)
			fail_msg("%s = %llu was taken", a->name, (unsigned long long)a->bad);
		after = pair_view(&pair, 0);
		assert_memory_equal(&before, &after, sizeof(after));
		memcpy((uint8_t *)&attr + a->at, &a->good, a->bytes);
		if (plx_rc_modify(pair.side[0].qp, (enum plx_qp_state)a->to, &attr) != PLX_OK)
			fail_msg("%s = %llu was refused", a->name, (unsigned long long)a->good);
		pair_fini(&pair);
	}
}

static void
a_reset_queue_pair_has_forgotten_everything(void **state)
{
	const struct pair_config config = pair_defaults();
	struct plx_wqe wqe = {.op = PLX_WR_SEND};
	struct plx_rc_view fresh, again;
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	fresh = pair_view(&pair, 0);
	pair_connect(&pair);
	assert_int_equal(pair_recv(&pair, 0, 1, NULL, 0, (struct plx_key){0}), PLX_OK);
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	assert_int_equal(pair_send(&pair, 0, 1), 1);
	assert_true(plx_rc_wake_ns(pair.side[0].qp) != PLX_NEVER);
	assert_int_equal(plx_rc_modify(pair.side[0].qp, PLX_QP_RESET, NULL), PLX_OK);
	assert_true(plx_rc_wake_ns(pair.side[0].qp) == PLX_NEVER);
	assert_int_equal(plx_rq_count(pair.side[0].rq), 0);
	again = pair_view(&pair, 0);
	again.dest_qpn = fresh.dest_qpn; /* values that the attributes have set may remain */
	again.initiator_depth = fresh.initiator_depth;
	again.mtu = fresh.mtu;
	again.retry_max = fresh.retry_max;
	again.rnr_retry_max = fresh.rnr_retry_max;
	assert_memory_equal(&fresh, &again, sizeof(again));
	pair_tick(&pair, PLX_SEC);
	assert_int_equal(pair_send(&pair, 0, 1), 0);
	assert_int_equal(pair.side[0].dones, 0);
	/* and it lives again */
	assert_int_equal(plx_rc_modify(pair.side[1].qp, PLX_QP_RESET, NULL), PLX_OK);
	pair_connect(&pair);
	wqe.op = PLX_WR_WRITE;
	assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, NULL), PLX_OK);
	pair_run(&pair);
	assert_int_equal(pair.side[0].dones, 1);
	assert_int_equal(pair.side[0].done[0].status, PLX_WC_SUCCESS);
	pair_fini(&pair);
}

static void
the_first_request_taken_in_rtr_is_told_once(void **state)
{
	const struct pair_config config = pair_defaults();
	struct plx_rc_attr attr;
	struct plx_pkt pkt = {.opcode = PLX_RC_WRITE_ONLY};
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	bring(&pair, PLX_QP_RTR);
	attr = pair_attr(&pair, 0);
	pkt.psn = plx_psn_add(attr.rq_psn, 1);
	assert_int_equal(pair_hand(&pair, 0, &pkt), PLX_VERDICT_AHEAD);
	assert_int_equal(pair_events(&pair, 0, PLX_EVENT_COMM_ESTABLISHED), 0);
	pkt.psn = attr.rq_psn;
	assert_int_equal(pair_hand(&pair, 0, &pkt), PLX_VERDICT_ACCEPT);
	assert_int_equal(pair_events(&pair, 0, PLX_EVENT_COMM_ESTABLISHED), 1);
	pkt.psn = plx_psn_add(attr.rq_psn, 1);
	assert_int_equal(pair_hand(&pair, 0, &pkt), PLX_VERDICT_ACCEPT);
	assert_int_equal(pair_events(&pair, 0, PLX_EVENT_COMM_ESTABLISHED), 1);
	assert_int_equal(pair.side[0].event[0].qpn, 0x100);
	pair_fini(&pair);
}

static void
a_draining_send_queue_finishes_what_is_begun_and_says_so_once(void **state)
{
	const struct pair_config config = pair_defaults();
	static uint8_t bytes[600];
	struct plx_wqe wqe = {.op = PLX_WR_WRITE};
	struct pair pair;
	struct plx_key key;

	(void)state;
	pair_init(&pair, &config);
	key = pair_region(&pair, bytes, sizeof(bytes),
			  PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE);
	wqe.rkey = key;
	wqe.remote_va = (uint64_t)(uintptr_t)bytes;
	pair_connect(&pair);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pair_post(&pair, 0, &wqe, bytes, sizeof(bytes), key), PLX_OK);
	assert_int_equal(pair_send(&pair, 0, 1), 1); /* one packet of three of the first */
	assert_int_equal(plx_rc_modify(pair.side[0].qp, PLX_QP_SQD, NULL), PLX_OK);
	assert_int_equal(pair_events(&pair, 0, PLX_EVENT_SQ_DRAINED), 0);
	pair_run(&pair);
	assert_int_equal(pair.side[0].dones, 1);
	assert_int_equal(pair_events(&pair, 0, PLX_EVENT_SQ_DRAINED), 1);
	assert_int_equal(pair.side[0].emitted, 3);
	const struct plx_rc_attr attr = pair_attr(&pair, 0);

	assert_int_equal(plx_rc_modify(pair.side[0].qp, PLX_QP_RTS, &attr), PLX_OK);
	pair_run(&pair);
	assert_int_equal(pair.side[0].dones, 2);
	assert_int_equal(pair_events(&pair, 0, PLX_EVENT_SQ_DRAINED), 1);
	pair_fini(&pair);
}

static void
a_queue_pair_knows_its_number_and_its_peers(void **state)
{
	const struct pair_config config = pair_defaults();
	struct pair pair;

	(void)state;
	pair_init(&pair, &config);
	pair_connect(&pair);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(plx_rc_number(pair.side[i].qp), 0x100 + i);
		assert_int_equal(plx_rc_peer_number(pair.side[i].qp), 0x100 + !i);
		assert_int_equal(pair_view(&pair, i).qpn, 0x100 + i);
		assert_int_equal(pair_view(&pair, i).dest_qpn, 0x100 + !i);
	}
	pair_fini(&pair);
}

/* ---- sizes ---- */

static void
a_size_is_asked_for_what_is_in_range_and_for_nothing_else(void **state)
{
	static const struct plx_rc_caps bad[] = {
		{.sq_depth = 0},
		{.sq_depth = PLX_QUEUE_DEPTH_MAX + 1},
		{.sq_depth = UINT32_MAX},
		{.sq_depth = 1, .sq_sges = PLX_SGE_MAX + 1},
		{.sq_depth = 1, .sq_sges = UINT32_MAX},
		{.sq_depth = 1, .inline_bytes = PLX_INLINE_MAX + 1},
		{.sq_depth = 1, .inline_bytes = UINT32_MAX},
		{.sq_depth = 1, .responder_resources = PLX_RD_ATOMIC_MAX + 1},
		{.sq_depth = 1, .responder_resources = UINT32_MAX},
	};
	const struct plx_rc_caps least = {.sq_depth = 1};
	const struct plx_rc_caps most = {PLX_QUEUE_DEPTH_MAX, PLX_SGE_MAX, PLX_INLINE_MAX,
					 PLX_RD_ATOMIC_MAX};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(bad); i++)
		assert_true(plx_rc_bytes(&bad[i]) == 0);
	assert_true(plx_rc_bytes(&least) > 0);
	assert_true(plx_rc_bytes(&most) >=
		    (size_t)PLX_QUEUE_DEPTH_MAX * (PLX_WQE_BYTES + PLX_INLINE_MAX));
	assert_true(plx_rq_bytes(0, 1) == 0);
	assert_true(plx_rq_bytes(PLX_QUEUE_DEPTH_MAX + 1, 1) == 0);
	assert_true(plx_rq_bytes(1, PLX_SGE_MAX + 1) == 0);
	assert_true(plx_rq_bytes(UINT32_MAX, UINT32_MAX) == 0);
	assert_true(plx_rq_bytes(1, 0) > 0);
	assert_true(plx_rq_bytes(PLX_QUEUE_DEPTH_MAX, PLX_SGE_MAX) >=
		    (size_t)PLX_QUEUE_DEPTH_MAX * PLX_SGE_MAX * sizeof(struct plx_sge));
}

/* Under a sanitizer the blocks are exact: a byte too many is seen. */
static void
a_queue_pair_keeps_within_the_bytes_it_asked_for_at_any_depth(void **state)
{
	static const uint32_t depths[] = {1, 2, 3, 5, 7, 8, 33, 1000};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(depths); i++) {
		static const uint8_t data[PLX_INLINE_MAX];
		struct pair_config config = {
			.caps = {.sq_depth = depths[i],
				 .sq_sges = PLX_SGE_MAX,
				 .inline_bytes = (uint32_t)i * 146,
				 .responder_resources = (uint32_t)i},
			.rq_depth = depths[i],
			.rq_sges = PLX_SGE_MAX,
		};
		struct plx_wqe wqe = {.op = PLX_WR_SEND,
				      .flags = PLX_WR_INLINE | PLX_WR_UNSIGNALED,
				      .inline_bytes = (uint32_t)i * 146};
		static const struct plx_sge none[PLX_SGE_MAX];
		struct pair pair;

		pair_init(&pair, &config);
		pair_connect(&pair);
		for (uint32_t k = 0; k < depths[i]; k++) {
			assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, data), PLX_OK);
			assert_int_equal(plx_rc_post_recv(pair.side[0].qp, k, none, PLX_SGE_MAX),
					 PLX_OK);
		}
		assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, data), PLX_FULL);
		assert_int_equal(plx_rc_post_recv(pair.side[0].qp, 0, none, 1), PLX_FULL);
		assert_int_equal(pair_view(&pair, 0).sq_depth, depths[i]);
		pair_fini(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_transition_is_allowed_or_refused_as_documented),
		cmocka_unit_test(an_attribute_out_of_range_is_invalid_and_changes_nothing),
		cmocka_unit_test(a_reset_queue_pair_has_forgotten_everything),
		cmocka_unit_test(the_first_request_taken_in_rtr_is_told_once),
		cmocka_unit_test(a_draining_send_queue_finishes_what_is_begun_and_says_so_once),
		cmocka_unit_test(a_size_is_asked_for_what_is_in_range_and_for_nothing_else),
		cmocka_unit_test(a_queue_pair_keeps_within_the_bytes_it_asked_for_at_any_depth),
		cmocka_unit_test(a_queue_pair_knows_its_number_and_its_peers),
	};

	return cmocka_run_group_tests_name("transport: modify", tests, NULL, NULL);
}
