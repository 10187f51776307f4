/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each counter of a queue pair is moved by its cause and by the right amount, and no other counter
 * moves. It never checks a verdict's counter: the tables do. Start with moved().
 */
#include "rc_pair.h"

struct stage {
	struct pair pair;
	uint8_t memory[2048];
	uint64_t word, result;
	struct plx_key key, word_key, result_key;
	struct plx_rc_counters before[2];
};

static struct stage stage;

static const struct plx_rc_counters *
counters(int side)
{
	return plx_rc_counters(stage.pair.side[side].qp);
}

static void
mark(void)
{
	stage.before[0] = *counters(0);
	stage.before[1] = *counters(1);
}

static void
start(void)
{
	const struct pair_config config = pair_defaults();

	memset(&stage, 0, sizeof(stage));
	pair_init(&stage.pair, &config);
}

static void
begin(void)
{
	stage.key = pair_region(&stage.pair, stage.memory, sizeof(stage.memory),
				PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
					PLX_ACCESS_REMOTE_READ);
	stage.word_key = pair_region(&stage.pair, &stage.word, 8,
				     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_ATOMIC);
	stage.result_key = pair_region(&stage.pair, &stage.result, 8, PLX_ACCESS_LOCAL_WRITE);
	pair_connect(&stage.pair);
	pair_run(&stage.pair);
	mark();
}

static void
post(enum plx_wr_op op, uint8_t flags, uint32_t bytes)
{
	struct plx_wqe wqe = {.op = (uint8_t)op, .flags = flags};
	bool atomic = op == PLX_WR_CMP_SWAP || op == PLX_WR_FETCH_ADD;

	wqe.rkey = atomic ? stage.word_key : stage.key;
	wqe.remote_va = (uint64_t)(uintptr_t)(atomic ? (void *)&stage.word : stage.memory + 1024);
	assert_int_equal(pair_post(&stage.pair, 0, &wqe,
				   atomic ? (void *)&stage.result : stage.memory, bytes,
				   atomic ? stage.result_key : stage.key),
			 PLX_OK);
}

/* What one counter must have moved by. */
struct moved {
	size_t at;
	uint64_t by;
};

#define BY(counter, n)                                       \
	(struct moved)                                       \
	{                                                    \
		offsetof(struct plx_rc_counters, counter), n \
	}
#define MOVED(side, ...)                                 \
	moved(side, (const struct moved[]){__VA_ARGS__}, \
	      sizeof((const struct moved[]){__VA_ARGS__}) / sizeof(struct moved))

/* These and, beside the verdicts', no other. */
static void
moved(int side, const struct moved *list, size_t count)
{
	static const struct {
		const char *name;
		size_t at;
	} all[] = {
#define PLX_X(name, text) {#name, offsetof(struct plx_rc_counters, name)},
		PLX_QP_COUNTER_LIST(PLX_X)
#undef PLX_X
	};

	for (size_t i = 0; i < PLX_COUNT_OF(all); i++) {
		uint64_t is, was, by = 0;

		memcpy(&is, (const uint8_t *)counters(side) + all[i].at, sizeof(is));
		memcpy(&was, (const uint8_t *)&stage.before[side] + all[i].at, sizeof(was));
		for (size_t k = 0; k < count; k++)
			if (list[k].at == all[i].at)
				by = list[k].by;
		if (is - was != by)
			fail_msg("side %d: %s moved by %llu, not %llu", side, all[i].name,
				 (unsigned long long)(is - was), (unsigned long long)by);
	}
}

static void
packets_and_bytes_are_counted_where_sent_and_where_placed(void **state)
{
	(void)state;
	start();
	begin();
	post(PLX_WR_WRITE, 0, 600);
	pair_run(&stage.pair);
	MOVED(0, BY(requests_sent, 3), BY(bytes_sent, 600));
	MOVED(1, BY(acks_sent, 1), BY(bytes_placed, 600));
	mark();
	post(PLX_WR_READ, 0, 600);
	pair_run(&stage.pair);
	MOVED(0, BY(requests_sent, 1), BY(bytes_placed, 600));
	MOVED(1, BY(responses_sent, 3), BY(bytes_sent, 600));
	mark();
	post(PLX_WR_FETCH_ADD, 0, 8);
	pair_run(&stage.pair);
	MOVED(0, BY(requests_sent, 1), BY(bytes_placed, 8));
	MOVED(1, BY(responses_sent, 1)); /* what it changes is not payload */
	pair_fini(&stage.pair);
}

static bool
drop_first(struct pair *pair, int from, const struct plx_emit *emit)
{
	(void)emit;
	return from || pair->side[0].emitted != 1;
}

static void
a_lost_packet_costs_a_nak_and_is_sent_again(void **state)
{
	(void)state;
	start();
	begin();
	stage.pair.pass = drop_first;
	post(PLX_WR_WRITE, 0, 600);
	pair_run(&stage.pair);
	MOVED(0, BY(requests_sent, 3), BY(requests_resent, 3), BY(go_backs, 1),
	      BY(bytes_sent, 1200));
	MOVED(1, BY(naks_sent, 1), BY(acks_sent, 1), BY(bytes_placed, 600));
	pair_fini(&stage.pair);
}

static void
a_timeout_is_counted_and_goes_back(void **state)
{
	(void)state;
	start();
	begin();
	stage.pair.pass = drop_first;
	post(PLX_WR_WRITE, 0, 0);
	pair_run(&stage.pair);
	pair_tick(&stage.pair, PLX_SEC);
	pair_run(&stage.pair);
	MOVED(0, BY(requests_sent, 1), BY(requests_resent, 1), BY(go_backs, 1), BY(timeouts, 1));
	MOVED(1, BY(acks_sent, 1));
	pair_fini(&stage.pair);
}

static void
a_receiver_that_is_not_ready_is_counted_at_both_ends(void **state)
{
	(void)state;
	start();
	begin();
	post(PLX_WR_SEND, 0, 0);
	pair_run(&stage.pair);
	MOVED(0, BY(requests_sent, 1), BY(rnr_waits, 1));
	MOVED(1, BY(rnrs_sent, 1));
	pair_fini(&stage.pair);
}

static void
a_refused_request_is_a_nak(void **state)
{
	(void)state;
	start();
	stage.pair.attr.enabled.bits = 0;
	begin();
	post(PLX_WR_WRITE, 0, 0);
	pair_run(&stage.pair);
	MOVED(0, BY(requests_sent, 1));
	MOVED(1, BY(naks_sent, 1));
	pair_fini(&stage.pair);
}

static void
what_holds_the_requester_is_counted_by_its_name(void **state)
{
	(void)state;
	start();
	stage.pair.attr.window_packets = 2;
	begin();
	post(PLX_WR_WRITE, 0, 600);
	assert_int_equal(pair_send(&stage.pair, 0, PAIR_BUDGET), 2);
	assert_int_equal(counters(0)->window_stalls - stage.before[0].window_stalls, 1);
	pair_run(&stage.pair);
	pair_fini(&stage.pair);

	start();
	stage.pair.attr.initiator_depth = 1;
	begin();
	post(PLX_WR_READ, 0, 8);
	post(PLX_WR_READ, 0, 8);
	assert_int_equal(pair_send(&stage.pair, 0, PAIR_BUDGET), 1);
	MOVED(0, BY(requests_sent, 1), BY(read_stalls, 1));
	pair_fini(&stage.pair);

	start();
	begin();
	post(PLX_WR_READ, 0, 8);
	post(PLX_WR_WRITE, PLX_WR_FENCE, 8);
	assert_int_equal(pair_send(&stage.pair, 0, PAIR_BUDGET), 1);
	MOVED(0, BY(requests_sent, 1), BY(fence_stalls, 1));
	pair_run(&stage.pair);
	assert_int_equal(stage.pair.side[0].dones, 2);
	pair_fini(&stage.pair);
}

static void
duplicates_are_acknowledged_and_replayed_without_placing_a_byte(void **state)
{
	struct plx_pkt pkt = {.opcode = PLX_RC_WRITE_ONLY};

	(void)state;
	start();
	begin();
	post(PLX_WR_WRITE, 0, 0);
	post(PLX_WR_READ, 0, 300);
	pair_run(&stage.pair);
	mark();
	pkt.psn = pair_attr(&stage.pair, 0).sq_psn;
	assert_int_equal(pair_hand(&stage.pair, 1, &pkt), PLX_VERDICT_DUPLICATE);
	assert_int_equal(pair_send(&stage.pair, 1, PAIR_BUDGET), 1);
	MOVED(1, BY(acks_sent, 1));
	mark();
	pkt.opcode = PLX_RC_READ_REQUEST;
	pkt.psn = plx_psn_add(pkt.psn, 1);
	pkt.reth = (struct plx_reth){(uint64_t)(uintptr_t)(stage.memory + 1024), stage.key.v, 300};
	assert_int_equal(pair_hand(&stage.pair, 1, &pkt), PLX_VERDICT_REPLAY);
	assert_int_equal(pair_send(&stage.pair, 1, PAIR_BUDGET), 2);
	MOVED(1, BY(responses_sent, 2), BY(bytes_sent, 300));
	moved(0, NULL, 0);
	pair_fini(&stage.pair);
}

static void
a_counter_stays_when_its_queue_pair_is_reset(void **state)
{
	(void)state;
	start();
	begin();
	post(PLX_WR_WRITE, 0, 8);
	pair_run(&stage.pair);
	assert_int_equal(plx_rc_modify(stage.pair.side[0].qp, PLX_QP_RESET, NULL), PLX_OK);
	MOVED(0, BY(requests_sent, 1), BY(bytes_sent, 8));
	pair_fini(&stage.pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_and_bytes_are_counted_where_sent_and_where_placed),
		cmocka_unit_test(a_lost_packet_costs_a_nak_and_is_sent_again),
		cmocka_unit_test(a_timeout_is_counted_and_goes_back),
		cmocka_unit_test(a_receiver_that_is_not_ready_is_counted_at_both_ends),
		cmocka_unit_test(a_refused_request_is_a_nak),
		cmocka_unit_test(what_holds_the_requester_is_counted_by_its_name),
		cmocka_unit_test(duplicates_are_acknowledged_and_replayed_without_placing_a_byte),
		cmocka_unit_test(a_counter_stays_when_its_queue_pair_is_reset),
	};

	return cmocka_run_group_tests_name("transport: counters", tests, NULL, NULL);
}
