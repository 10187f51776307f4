/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of 2^31 bytes, without moving them: PSN arithmetic, lengths and limits of the longest
 * possible message, on reserved memory of which only a few pages are accessed. It never sends more
 * than a few packets. Start with struct world.
 */
#include "rc_pair.h"

#include <sys/mman.h>

enum {
	MTU = 256,
	PACKETS = 1 << 23
}; /* of 2^31 bytes */

struct world {
	struct pair pair;
	uint8_t *from, *to; /* 2^31 bytes each */
	struct plx_key from_key, to_key;
	bool hold; /* nothing that side 0 sends arrives */
	struct plx_emit last;
	uint64_t sent;
};

static uint8_t *
reserve(int protection)
{
	void *base = mmap(NULL, PLX_MESSAGE_MAX, protection,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(base != MAP_FAILED);
	return base;
}

static bool
pass(struct pair *pair, int from, const struct plx_emit *emit)
{
	struct world *world = pair->user;

	if (from)
		return true;
	world->last = *emit;
	world->sent++;
	return !world->hold;
}

static void
start(struct world *world, uint32_t chunk, uint8_t initiator_depth)
{
	struct pair_config config = pair_defaults();

	*world = (struct world){0};
	config.caps.responder_resources = initiator_depth;
	pair_init(&world->pair, &config);
	world->pair.attr.read_chunk_packets = chunk;
	world->pair.attr.initiator_depth = initiator_depth;
	world->pair.attr.window_packets = PLX_WINDOW_PACKETS_MAX;
	world->pair.pass = pass;
	world->pair.user = world;
	world->from = reserve(PROT_READ);
	world->to = reserve(PROT_READ | PROT_WRITE);
	world->from_key =
		pair_region(&world->pair, world->from, PLX_MESSAGE_MAX, PLX_ACCESS_REMOTE_READ);
	world->to_key = pair_region(&world->pair, world->to, PLX_MESSAGE_MAX,
				    PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE);
	pair_connect(&world->pair);
}

static void
finish(struct world *world)
{
	munmap(world->from, PLX_MESSAGE_MAX);
	munmap(world->to, PLX_MESSAGE_MAX);
	pair_fini(&world->pair);
}

static void
post(struct world *world, enum plx_wr_op op)
{
	struct plx_wqe wqe = {.op = (uint8_t)op, .sges = 1};

	wqe.rkey = op == PLX_WR_READ ? world->from_key : world->to_key;
	wqe.remote_va = (uint64_t)(uintptr_t)(op == PLX_WR_READ ? world->from : world->to);
	wqe.sge[0].va = (uint64_t)(uintptr_t)(op == PLX_WR_READ ? world->to : world->from);
	wqe.sge[0].length = PLX_MESSAGE_MAX;
	wqe.sge[0].key = op == PLX_WR_READ ? world->to_key : world->from_key;
	assert_int_equal(plx_rc_post_send(world->pair.side[0].qp, &wqe, NULL), PLX_OK);
}

static void
a_write_of_two_gibibytes_starts_as_one_message_and_goes_on(void **state)
{
	struct world world;
	struct plx_psn first;

	(void)state;
	start(&world, 64, 1);
	first = pair_attr(&world.pair, 0).sq_psn;
	post(&world, PLX_WR_WRITE);
	assert_int_equal(pair_send(&world.pair, 0, 1), 1);
	assert_int_equal(world.last.pkt.opcode, PLX_RC_WRITE_FIRST);
	assert_int_equal(world.last.pkt.reth.length, PLX_MESSAGE_MAX);
	for (uint32_t i = 1; i < 100; i++) {
		assert_int_equal(pair_send(&world.pair, 0, 1), 1);
		assert_int_equal(world.last.pkt.opcode, PLX_RC_WRITE_MIDDLE);
		assert_int_equal(world.last.pkt.psn.v, plx_psn_add(first, i).v);
		assert_int_equal(world.last.pkt.payload_bytes, MTU);
	}
	assert_int_equal(pair_view(&world.pair, 1).psn_expected.v, plx_psn_add(first, 100).v);
	assert_int_equal(pair_view(&world.pair, 1).msn.v, 0);
	assert_true(plx_rc_counters(world.pair.side[1].qp)->bytes_placed == 100 * MTU);
	finish(&world);
}

/* Acknowledge as fast as it sends, without an arrival, to reach the end of the message. */
static void
a_write_of_two_gibibytes_ends_half_the_psn_space_later(void **state)
{
	struct world world;
	struct plx_psn first, end;

	(void)state;
	start(&world, 64, 1);
	world.hold = true;
	first = pair_attr(&world.pair, 0).sq_psn;
	end = plx_psn_add(first, PACKETS);
	post(&world, PLX_WR_WRITE);
	while (world.sent < PACKETS) {
		assert_true(pair_send(&world.pair, 0, PAIR_BUDGET) > 0);
		if (world.sent % 32768 == 0 || world.sent == PACKETS)
			assert_int_equal(pair_hand_ack(&world.pair, 0, world.last.pkt.psn,
						       PLX_AETH_NO_CREDITS),
					 PLX_VERDICT_ACKED);
	}
	assert_int_equal(world.last.pkt.opcode, PLX_RC_WRITE_LAST);
	assert_int_equal(world.last.pkt.psn.v, plx_psn_sub(end, 1).v);
	assert_int_equal(world.last.pkt.payload_bytes, MTU);
	assert_int_equal(pair_send(&world.pair, 0, 1), 0);
	assert_int_equal(world.pair.side[0].dones, 1);
	assert_int_equal(world.pair.side[0].done[0].status, PLX_WC_SUCCESS);
	assert_int_equal(pair_view(&world.pair, 0).psn_next.v, end.v);
	finish(&world);
}

/* A chunk that begins inside the window may reach beyond it; the next one waits until it does
 * not. */
static void
a_read_of_two_gibibytes_is_asked_for_in_chunks_as_window_and_limit_allow(void **state)
{
	static const struct {
		uint32_t chunk, requests;
	} cases[] = {{1 << 20, 1}, {1 << 16, 1}, {1 << 15, 2}, {1 << 14, 3}};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(cases); i++) {
		uint32_t chunk = cases[i].chunk, requests = cases[i].requests;
		const struct plx_rc_counters *counters;
		struct world world;
		struct plx_psn first;

		start(&world, chunk, 3);
		world.hold = true;
		counters = plx_rc_counters(world.pair.side[0].qp);
		first = pair_attr(&world.pair, 0).sq_psn;
		post(&world, PLX_WR_READ);
		assert_int_equal(pair_send(&world.pair, 0, PAIR_BUDGET), requests);
		assert_int_equal(world.last.pkt.opcode, PLX_RC_READ_REQUEST);
		assert_int_equal(world.last.pkt.psn.v,
				 plx_psn_add(first, (requests - 1) * chunk).v);
		assert_true(world.last.pkt.reth.va ==
			    (uint64_t)(uintptr_t)world.from +
				    (uint64_t)(requests - 1) * chunk * MTU);
		assert_int_equal(world.last.pkt.reth.length, chunk * MTU);
		assert_int_equal(pair_view(&world.pair, 0).psn_high.v,
				 plx_psn_add(first, requests * chunk).v);
		assert_int_equal(pair_view(&world.pair, 0).rd_atomic_open, requests);
		assert_true((requests == 3 ? counters->read_stalls : counters->window_stalls) > 0);
		finish(&world);
	}
}

/* F21: whatever is requested, less than half of the PSN space is in flight. */
static void
reads_never_put_half_of_the_psn_space_in_flight(void **state)
{
	static const uint32_t chunks[] = {1 << 20, (1 << 20) + 1, 1 << 21, 3 << 20,
					  PLX_READ_CHUNK_PACKETS_MAX};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(chunks); i++) {
		struct world world;
		struct plx_rc_view view;
		uint32_t in_flight;

		start(&world, chunks[i], 64);
		world.hold = true;
		for (int k = 0; k < 3; k++)
			post(&world, PLX_WR_READ);
		while (pair_send(&world.pair, 0, PAIR_BUDGET))
			;
		view = pair_view(&world.pair, 0);
		in_flight = (view.psn_high.v - view.psn_unacked.v) & PLX_PSN_MASK;
		assert_true(world.sent > 0);
		assert_in_range(in_flight, 1, PLX_PSN_HALF - 1);
		/* a PSN far away does not answer them */
		assert_int_equal(pair_hand_ack(&world.pair, 0, plx_psn_sub(view.psn_unacked, 1),
					       PLX_AETH_NO_CREDITS),
				 PLX_VERDICT_STALE);
		assert_int_equal(pair_hand_ack(&world.pair, 0, view.psn_high, PLX_AETH_NO_CREDITS),
				 PLX_VERDICT_GHOST);
		finish(&world);
	}
}

static void
a_responder_gives_the_first_of_half_a_psn_space_of_responses_and_goes_on(void **state)
{
	struct world world;
	struct plx_psn first;
	struct plx_pkt pkt = {.opcode = PLX_RC_READ_REQUEST};

	(void)state;
	start(&world, 64, 1);
	first = pair_attr(&world.pair, 0).sq_psn;
	pkt.psn = first;
	pkt.reth = (struct plx_reth){(uint64_t)(uintptr_t)world.from, world.from_key.v,
				     PLX_MESSAGE_MAX};
	assert_int_equal(pair_hand(&world.pair, 1, &pkt), PLX_VERDICT_ACCEPT);
	assert_int_equal(pair_view(&world.pair, 1).psn_expected.v, plx_psn_add(first, PACKETS).v);
	for (uint32_t i = 0; i < 200; i++) {
		struct plx_emit *emit = &world.pair.out.list[0].emit;

		plx_actions_reset(&world.pair.out);
		assert_int_equal(plx_rc_transmit(world.pair.side[1].qp, 0, 1, &world.pair.out), 1);
		assert_int_equal(emit->pkt.opcode,
				 i ? PLX_RC_READ_RESPONSE_MIDDLE : PLX_RC_READ_RESPONSE_FIRST);
		assert_int_equal(emit->pkt.psn.v, plx_psn_add(first, i).v);
		assert_ptr_equal(world.pair.out.iov[emit->iov_first].base,
				 world.from + (size_t)i * MTU);
	}
	/* requested again from near its end: the last packet, at the right offset */
	pkt.psn = plx_psn_add(first, PACKETS - 1);
	pkt.reth.va += PLX_MESSAGE_MAX - MTU;
	pkt.reth.length = MTU;
	assert_int_equal(pair_hand(&world.pair, 1, &pkt), PLX_VERDICT_REPLAY);
	plx_actions_reset(&world.pair.out);
	assert_int_equal(plx_rc_transmit(world.pair.side[1].qp, 0, 1, &world.pair.out), 1);
	assert_int_equal(world.pair.out.list[0].emit.pkt.opcode, PLX_RC_READ_RESPONSE_ONLY);
	assert_int_equal(world.pair.out.list[0].emit.pkt.psn.v, pkt.psn.v);
	assert_ptr_equal(world.pair.out.iov[0].base, world.from + (PLX_MESSAGE_MAX - MTU));
	finish(&world);
}

static void
a_write_longer_than_two_gibibytes_is_refused_by_its_first_packet(void **state)
{
	static const uint8_t payload[MTU];
	struct world world;
	struct plx_pkt pkt = {
		.opcode = PLX_RC_WRITE_FIRST, .payload = payload, .payload_bytes = MTU};

	(void)state;
	start(&world, 64, 1);
	pkt.psn = pair_attr(&world.pair, 0).sq_psn;
	pkt.reth = (struct plx_reth){(uint64_t)(uintptr_t)world.to, world.to_key.v,
				     PLX_MESSAGE_MAX + 1};
	assert_int_equal(pair_hand(&world.pair, 1, &pkt), PLX_VERDICT_LENGTH);
	assert_int_equal(pair_view(&world.pair, 1).state, PLX_QP_ERROR);
	finish(&world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_of_two_gibibytes_starts_as_one_message_and_goes_on),
		cmocka_unit_test(a_write_of_two_gibibytes_ends_half_the_psn_space_later),
		cmocka_unit_test(
			a_read_of_two_gibibytes_is_asked_for_in_chunks_as_window_and_limit_allow),
		cmocka_unit_test(reads_never_put_half_of_the_psn_space_in_flight),
		cmocka_unit_test(
			a_responder_gives_the_first_of_half_a_psn_space_of_responses_and_goes_on),
		cmocka_unit_test(a_write_longer_than_two_gibibytes_is_refused_by_its_first_packet),
	};

	return cmocka_run_group_tests_name("transport: huge messages", tests, NULL, NULL);
}
