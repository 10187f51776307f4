/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What arrives behind a missing packet: it waits, is executed once and in order, and is not sent
 * again between two that agreed to say so. Start with lose().
 */
#include "rc_pair.h"

enum {
	MTU = 256,
	PACKETS = 20,
	ROOM = PACKETS * MTU,
	RIGHTS = PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_READ,
	TIMES_MAX = 4,
};

/* Two ends, of which one loses packets of the other, chosen by their distance from its first. */
struct life {
	struct pair pair;
	struct plx_key key;
	uint8_t from[ROOM], to[ROOM];
	int loser;             /* side whose packets are lost */
	struct plx_psn origin; /* distances are counted from there */
	uint8_t losses[ROOM / MTU];
	uint32_t sent[ROOM / MTU]; /* how often each left */
	uint8_t bitmap[PLX_NAK_BITMAP_BYTES];
	uint32_t naks, nak_bytes; /* of side 1: how many, and the payload of the last */
};

static bool
lose(struct pair *pair, int from, const struct plx_emit *emit)
{
	struct life *life = pair->user;
	uint32_t at = (uint32_t)plx_psn_diff(emit->pkt.psn, life->origin);
	bool nak = emit->pkt.opcode == PLX_RC_ACK &&
		   emit->pkt.aeth.syndrome == (PLX_AETH_NAK | PLX_NAK_SEQUENCE);

	if (nak && from == 1) {
		life->naks++;
		life->nak_bytes = emit->pkt.payload_bytes;
		if (emit->iovs == 1)
			memcpy(life->bitmap, pair->out.iov[emit->iov_first].base,
			       sizeof(life->bitmap));
	}
	if (from != life->loser || emit->pkt.opcode == PLX_RC_ACK ||
	    at >= PLX_COUNT_OF(life->losses))
		return true;
	life->sent[at]++;
	if (life->losses[at] == 0)
		return true;
	life->losses[at]--;
	return false;
}

static struct life *
begin(bool selective, uint32_t keep_packets)
{
	struct pair_config config = pair_defaults();
	struct life *life = calloc(1, sizeof(*life));

	assert_non_null(life);
	config.keep_packets = keep_packets;
	pair_init(&life->pair, &config);
	life->pair.attr.selective = selective;
	life->pair.attr.mtu = MTU;
	life->pair.attr.window_packets = 128;
	life->pair.pass = lose;
	life->pair.user = life;
	for (uint32_t i = 0; i < ROOM; i++)
		life->from[i] = (uint8_t)(i * 7 + i / MTU + 1);
	pair_connect(&life->pair);
	life->origin = pair_view(&life->pair, 0).psn_next;
	return life;
}

static void
end(struct life *life)
{
	pair_fini(&life->pair);
	free(life);
}

static void
post(struct life *life, uint8_t op, uint32_t at, uint32_t bytes)
{
	struct plx_key ours = pair_region(&life->pair, life->from, ROOM, RIGHTS);
	struct plx_key theirs = pair_region(&life->pair, life->to, ROOM, RIGHTS);
	struct plx_wqe wqe = {
		.op = op, .rkey = theirs, .remote_va = (uintptr_t)(life->to + at), .wr_id = at};

	assert_int_equal(pair_post(&life->pair, 0, &wqe, life->from + at, bytes, ours), PLX_OK);
}

static const struct plx_rc_counters *
counters(const struct life *life, int side)
{
	return plx_rc_counters(life->pair.side[side].qp);
}

static void
assert_done(const struct life *life, uint32_t dones)
{
	assert_int_equal(life->pair.side[0].dones, dones);
	for (uint32_t i = 0; i < dones; i++)
		assert_int_equal(life->pair.side[0].done[i].status, PLX_WC_SUCCESS);
	assert_memory_equal(life->to, life->from, ROOM);
}

/* ---- what waits ---- */

static void
a_write_behind_a_hole_is_neither_placed_early_nor_twice(void **state)
{
	struct life *life = begin(false, 64);

	(void)state;
	life->losses[1] = 1;
	post(life, PLX_WR_WRITE, 0, ROOM);
	(void)pair_send(&life->pair, 0, 32);
	assert_int_equal(plx_keep_count(life->pair.side[1].keep), PACKETS - 2);
	assert_memory_equal(life->to, life->from, MTU);
	for (uint32_t i = MTU; i < ROOM; i++)
		assert_int_equal(life->to[i], 0);
	pair_run(&life->pair);
	assert_done(life, 1);
	assert_int_equal(counters(life, 1)->bytes_placed, ROOM);
	assert_int_equal(plx_keep_count(life->pair.side[1].keep), 0);
	end(life);
}

static void
a_send_behind_a_hole_completes_when_the_hole_is_closed(void **state)
{
	struct life *life = begin(false, 64);
	struct plx_key theirs = pair_region(&life->pair, life->to, ROOM, RIGHTS);

	(void)state;
	assert_int_equal(pair_recv(&life->pair, 1, 5, life->to, MTU, theirs), PLX_OK);
	assert_int_equal(pair_recv(&life->pair, 1, 6, life->to + MTU, MTU, theirs), PLX_OK);
	life->losses[0] = 1;
	post(life, PLX_WR_SEND, 0, MTU);
	post(life, PLX_WR_SEND, MTU, MTU);
	(void)pair_send(&life->pair, 0, 2);
	assert_int_equal(life->pair.side[1].dones, 0);
	pair_run(&life->pair);
	assert_int_equal(life->pair.side[1].dones, 2);
	assert_int_equal(life->pair.side[1].done[0].wr_id, 5);
	assert_int_equal(life->pair.side[1].done[1].wr_id, 6);
	assert_memory_equal(life->to, life->from, 2 * MTU);
	end(life);
}

/* A peer that is not ours sees nothing but an ACK that covers more than it expects. */
static void
without_an_agreement_a_nak_has_no_payload(void **state)
{
	struct life *life = begin(false, 64);

	(void)state;
	life->losses[3] = 1;
	post(life, PLX_WR_WRITE, 0, ROOM);
	pair_run(&life->pair);
	assert_done(life, 1);
	assert_int_equal(life->naks, 1);
	assert_int_equal(life->nak_bytes, 0);
	end(life);
}

static void
without_room_what_follows_is_dropped_as_before(void **state)
{
	struct life *life = begin(false, 1);

	(void)state;
	life->losses[1] = 1;
	post(life, PLX_WR_WRITE, 0, ROOM);
	(void)pair_send(&life->pair, 0, 32);
	assert_int_equal(plx_keep_count(life->pair.side[1].keep), 1);
	pair_run(&life->pair);
	assert_done(life, 1);
	end(life);
}

static void
what_is_kept_is_given_back_when_the_queue_pair_fails(void **state)
{
	struct life *life = begin(false, 64);
	struct plx_rc *qp = life->pair.side[1].qp;
	uint32_t stale = 0;
	struct plx_kept kept;

	(void)state;
	life->losses[0] = 1;
	post(life, PLX_WR_WRITE, 0, ROOM);
	(void)pair_send(&life->pair, 0, 32);
	plx_actions_reset(&life->pair.out);
	plx_rc_fail(qp, &life->pair.out);
	while (plx_rc_next_kept(qp, &kept) != PLX_KEPT_NONE) {
		free(kept.packet);
		stale++;
	}
	assert_int_equal(stale, PACKETS - 1);
	end(life);
}

/* A queue pair that a program gives to another may have no receive: what follows is kept. */
static void
what_waits_moves_with_the_connection(void **state)
{
	struct life *life = begin(false, 64);
	struct side *side = &life->pair.side[1];
	const struct pair_config config = pair_defaults();
	void *block = test_block(plx_rc_bytes(&config.caps));
	const struct plx_rc_ids ids = {.qpn = 0x300,
				       .domain = life->pair.domain,
				       .mem = life->pair.mem,
				       .rq = side->rq,
				       .cc = &plx_cc_none,
				       .keep = side->keep};
	struct plx_rc *to = plx_rc_init(block, &config.caps, &ids);
	struct plx_kept kept;

	(void)state;
	life->losses[0] = 1;
	post(life, PLX_WR_WRITE, 0, MTU);
	post(life, PLX_WR_WRITE, MTU, ROOM - MTU);
	(void)pair_send(&life->pair, 0, 32);
	assert_int_equal(plx_keep_count(side->keep), PACKETS - 1);
	(void)pair_send(&life->pair, 1, 1); /* the NAK */
	assert_true(plx_rc_is_between(side->qp));
	plx_rc_take_over(to, side->qp, life->pair.now);
	assert_int_equal(plx_rc_next_kept(side->qp, &kept), PLX_KEPT_NONE);
	free(side->qp_block);
	side->qp = to;
	side->qp_block = block;
	pair_run(&life->pair);
	assert_done(life, 2);
	assert_int_equal(plx_keep_count(side->keep), 0);
	end(life);
}

/* ---- what is sent again ---- */

static void
only_what_is_missing_is_sent_again(void **state)
{
	struct life *life = begin(true, 64);

	(void)state;
	life->losses[3] = life->losses[7] = life->losses[8] = 1;
	post(life, PLX_WR_WRITE, 0, ROOM);
	pair_run(&life->pair);
	assert_done(life, 1);
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(life->sent[i], i == 3 || i == 7 || i == 8 ? 2 : 1);
	assert_int_equal(counters(life, 0)->requests_resent, 3);
	assert_int_equal(counters(life, 0)->timeouts + counters(life, 0)->probes, 0);
	end(life);
}

static void
a_nak_says_what_has_arrived(void **state)
{
	struct life *life = begin(true, 64);

	(void)state;
	life->losses[3] = life->losses[6] = 1;
	post(life, PLX_WR_WRITE, 0, ROOM);
	(void)pair_send(&life->pair, 0, 9); /* 0 to 8: bits 0, 1, not 2, 3 and 4 behind packet 3 */
	(void)pair_send(&life->pair, 1, 1);
	assert_int_equal(life->naks, 1);
	assert_int_equal(life->nak_bytes, PLX_NAK_BITMAP_BYTES);
	assert_int_equal(life->bitmap[0], 0x1b);
	for (uint32_t i = 1; i < PLX_NAK_BITMAP_BYTES; i++)
		assert_int_equal(life->bitmap[i], 0);
	pair_run(&life->pair);
	assert_done(life, 1);
	end(life);
}

/* The last packet asks for an ACK, and so says that the retransmission before it was lost. */
static void
what_is_lost_again_is_sent_again(void **state)
{
	struct life *life = begin(true, 64);

	(void)state;
	life->losses[2] = 2;
	post(life, PLX_WR_WRITE, 0, 10 * MTU);
	(void)pair_send(&life->pair, 0, 10);
	life->pair.now += 10 * PLX_USEC;
	(void)pair_send(&life->pair, 1, 1);
	(void)pair_send(&life->pair, 0, 1);
	post(life, PLX_WR_WRITE, 10 * MTU, ROOM - 10 * MTU);
	life->pair.now += 10 * PLX_USEC;
	pair_run(&life->pair);
	if (life->pair.side[0].dones == 0) /* nothing was timed yet: the timer has it sent again */
		pair_tick(&life->pair, pair_view(&life->pair, 0).ack_deadline_ns);
	pair_run(&life->pair);
	assert_done(life, 2);
	assert_int_equal(life->sent[2], 3);
	end(life);
}

static void
a_nak_that_says_nothing_has_arrived_sends_everything_again(void **state)
{
	struct life *life = begin(true, 64);
	static const uint8_t none[PLX_NAK_BITMAP_BYTES];
	struct plx_pkt nak = {.opcode = PLX_RC_ACK,
			      .psn = life->origin,
			      .payload = none,
			      .payload_bytes = sizeof(none),
			      .aeth.syndrome = PLX_AETH_NAK | PLX_NAK_SEQUENCE};

	(void)state;
	memset(life->losses, 1, sizeof(life->losses));
	post(life, PLX_WR_WRITE, 0, ROOM);
	(void)pair_send(&life->pair, 0, 32);
	assert_int_equal(pair_hand(&life->pair, 0, &nak), PLX_VERDICT_NAK_SEQUENCE);
	pair_run(&life->pair);
	assert_done(life, 1);
	assert_int_equal(counters(life, 0)->requests_resent, PACKETS);
	end(life);
}

/* T: each copy of a forged report costs nothing more. */
static void
a_forged_report_has_each_packet_sent_again_once(void **state)
{
	struct life *life = begin(true, 64);
	static const uint8_t last[PLX_NAK_BITMAP_BYTES] = {0, 0, 4}; /* packet 19 */
	struct plx_pkt nak = {.opcode = PLX_RC_ACK,
			      .psn = life->origin,
			      .payload = last,
			      .payload_bytes = sizeof(last),
			      .aeth.syndrome = PLX_AETH_NAK | PLX_NAK_SEQUENCE};

	(void)state;
	memset(life->losses, 9, sizeof(life->losses));
	post(life, PLX_WR_WRITE, 0, ROOM);
	(void)pair_send(&life->pair, 0, 32);
	for (uint32_t i = 0; i < 100; i++) {
		(void)pair_hand(&life->pair, 0, &nak);
		(void)pair_send(&life->pair, 0, 32);
	}
	assert_int_equal(counters(life, 0)->requests_resent, PACKETS - 1);
	assert_int_equal(pair_view(&life->pair, 0).state, PLX_QP_RTS);
	end(life);
}

/* ---- READs ---- */

static void
only_missing_responses_are_asked_for_again(void **state)
{
	struct life *life = begin(true, 64);

	(void)state;
	life->loser = 1;
	life->losses[2] = life->losses[5] = life->losses[6] = 1;
	memcpy(life->to, life->from, ROOM);
	memset(life->from, 0, ROOM);
	post(life, PLX_WR_READ, 0, ROOM);
	pair_run(&life->pair);
	assert_done(life, 1);
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(life->sent[i], i == 2 || i == 5 || i == 6 ? 2 : 1);
	assert_int_equal(counters(life, 0)->requests_resent, 2);
	end(life);
}

static void
an_answer_goes_on_behind_a_part_that_is_asked_for_again(void **state)
{
	struct life *life = begin(true, 64);

	(void)state;
	life->loser = 1;
	life->losses[1] = 1;
	memcpy(life->to, life->from, ROOM);
	memset(life->from, 0, ROOM);
	post(life, PLX_WR_READ, 0, ROOM);
	(void)pair_send(&life->pair, 0, 1);
	(void)pair_send(&life->pair, 1, 4);
	(void)pair_send(&life->pair, 0, 1); /* asks for packet 1 while 16 have not left */
	pair_run(&life->pair);
	assert_done(life, 1);
	assert_int_equal(counters(life, 1)->responses_sent, PACKETS + 1);
	end(life);
}

static void
responses_behind_a_hole_are_kept_without_an_agreement_too(void **state)
{
	struct life *life = begin(false, 64);

	(void)state;
	life->loser = 1;
	life->losses[0] = 1;
	memcpy(life->to, life->from, ROOM);
	memset(life->from, 0, ROOM);
	post(life, PLX_WR_READ, 0, ROOM);
	(void)pair_send(&life->pair, 0, 1);
	(void)pair_send(&life->pair, 1, 32);
	assert_int_equal(plx_keep_count(life->pair.side[0].keep), PACKETS - 1);
	pair_run(&life->pair);
	assert_done(life, 1);
	assert_int_equal(counters(life, 0)->bytes_placed, ROOM);
	end(life);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_behind_a_hole_is_neither_placed_early_nor_twice),
		cmocka_unit_test(a_send_behind_a_hole_completes_when_the_hole_is_closed),
		cmocka_unit_test(without_an_agreement_a_nak_has_no_payload),
		cmocka_unit_test(without_room_what_follows_is_dropped_as_before),
		cmocka_unit_test(what_is_kept_is_given_back_when_the_queue_pair_fails),
		cmocka_unit_test(what_waits_moves_with_the_connection),
		cmocka_unit_test(only_what_is_missing_is_sent_again),
		cmocka_unit_test(a_nak_says_what_has_arrived),
		cmocka_unit_test(what_is_lost_again_is_sent_again),
		cmocka_unit_test(a_nak_that_says_nothing_has_arrived_sends_everything_again),
		cmocka_unit_test(a_forged_report_has_each_packet_sent_again_once),
		cmocka_unit_test(only_missing_responses_are_asked_for_again),
		cmocka_unit_test(an_answer_goes_on_behind_a_part_that_is_asked_for_again),
		cmocka_unit_test(responses_behind_a_hole_are_kept_without_an_agreement_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
