/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fast path compared with the slow one: two pairs go through the same steps, one of them
 * through plx_rc_send_fast() and plx_rc_receive_fast() whenever these accept, and must remain equal
 * in every packet, completion, byte of memory, view and counter.
 */
#include <stdlib.h>

#include "rc_pair.h"

enum {
	BYTES = 8192,
	ROUNDS = 3000,
	HEADERS = PLX_PKT_HEADER_MAX + PLX_MTU_MAX + 8,
};

#define VA UINT64_C(0x100000) /* of the memory, in both lives */

/* One of the two lives. */
struct life {
	struct pair pair;
	uint8_t *memory;
	struct plx_key key;
	bool short_way;
	uint64_t shorts, generals; /* packets sent by each path */
	uint64_t taken;            /* packets accepted by the fast path */
	uint64_t completions;
};

static struct life lives[2];

/* A packet as bytes from the BTH to the pad, on which both paths must agree. */
struct sent {
	uint8_t bytes[HEADERS];
	size_t len;
};

static void
open_life(struct life *life, bool short_way)
{
	struct pair_config config = pair_defaults();
	struct plx_region_attr attr = {.va = VA,
				       .length = (uint64_t)2 * BYTES,
				       .access = {PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
						  PLX_ACCESS_REMOTE_READ}};
	struct plx_region region;

	memset(life, 0, sizeof(*life));
	config.caps.sq_depth = 64;
	config.rq_depth = 64;
	pair_init(&life->pair, &config);
	life->memory = calloc(2, BYTES);
	assert_non_null(life->memory);
	attr.host = life->memory;
	assert_int_equal(
		plx_region_register(life->pair.mem, life->pair.domain, &attr, &region, &life->key),
		PLX_OK);
	life->short_way = short_way;
	for (uint32_t i = 0; i < BYTES; i++)
		life->memory[i] = (uint8_t)(i * 11 + 3);
	pair_connect(&life->pair);
}

static void
close_life(struct life *life)
{
	pair_fini(&life->pair);
	free(life->memory);
}

/* Completions and memory actions of a list, executed. */
static void
execute(struct life *life, const struct plx_actions *out)
{
	for (uint32_t i = 0; i < out->count; i++) {
		plx_action_apply_memory(&out->list[i]);
		life->completions += out->list[i].kind == PLX_ACT_COMPLETE;
	}
}

/* The next packet of a side, by its path.
 * Returns: whether there was one */
static bool
send_one(struct life *life, int from, struct sent *sent)
{
	struct plx_rc *qp = life->pair.side[from].qp;
	struct plx_actions out;
	struct plx_fast_packet usual;

	if (life->short_way &&
	    plx_rc_send_fast(qp, life->pair.now, sent->bytes, &usual) == PLX_FAST_SENT) {
		sent->len = usual.header_bytes;
		if (usual.payload_bytes > 0)
			memcpy(sent->bytes + sent->len, usual.payload, usual.payload_bytes);
		sent->len += usual.payload_bytes;
		memset(sent->bytes + sent->len, 0, usual.pad);
		sent->len += usual.pad;
		life->shorts++;
		return true;
	}
	plx_actions_reset(&out);
	if (plx_rc_transmit(qp, life->pair.now, 1, &out) == 0) {
		execute(life, &out);
		return false;
	}
	execute(life, &out);
	for (uint32_t i = 0; i < out.count; i++) {
		const struct plx_emit *emit = &out.list[i].emit;

		if (out.list[i].kind != PLX_ACT_EMIT)
			continue;
		sent->len = plx_pkt_encode(&emit->pkt, sent->bytes);
		for (uint32_t v = 0; v < emit->iovs; v++) {
			const struct plx_iov *iov = &out.iov[emit->iov_first + v];

			memcpy(sent->bytes + sent->len, iov->base, iov->bytes);
			sent->len += iov->bytes;
		}
		memset(sent->bytes + sent->len, 0, emit->pkt.pad);
		sent->len += emit->pkt.pad;
	}
	life->generals++;
	return true;
}

/* A packet arrives, by its path. */
static void
take_one(struct life *life, int to, const struct sent *sent)
{
	struct plx_rc *qp = life->pair.side[to].qp;
	size_t len = sent->len + PLX_ICRC_BYTES;
	uint8_t *copy = malloc(len);
	struct plx_completion completion;
	struct plx_place place;
	struct plx_actions out;
	struct plx_pkt pkt;

	assert_non_null(copy);
	memcpy(copy, sent->bytes, sent->len);
	memset(copy + sent->len, 0, PLX_ICRC_BYTES);
	plx_actions_reset(&out);
	if (life->short_way) {
		enum plx_fast_kind kind =
			plx_rc_receive_fast(qp, copy, len, life->pair.now, &place, &completion);

		if (kind != PLX_FAST_NO) {
			if (kind != PLX_FAST_TAKEN)
				plx_place_bytes(&place);
			while (kind == PLX_FAST_TAKEN && plx_rc_next_completion(qp, &completion))
				life->completions++;
			life->completions += kind == PLX_FAST_RECEIVED;
			life->taken++;
			free(copy);
			return;
		}
	}
	assert_int_equal(plx_pkt_decode(copy, len, &pkt), PLX_WIRE_OK);
	plx_rc_on_packet(qp, &pkt, life->pair.now, &out);
	execute(life, &out);
	free(copy);
}

static void
assert_equal_lives(void)
{
	assert_memory_equal(lives[0].memory, lives[1].memory, (size_t)2 * BYTES);
	assert_int_equal(lives[0].completions, lives[1].completions);
	for (int side = 0; side < 2; side++) {
		struct plx_rc_view a, b;

		memset(&a, 0, sizeof(a));
		memset(&b, 0, sizeof(b));
		plx_rc_query(lives[0].pair.side[side].qp, &a);
		plx_rc_query(lives[1].pair.side[side].qp, &b);
		assert_memory_equal(&a, &b, sizeof(a));
		assert_memory_equal(plx_rc_counters(lives[0].pair.side[side].qp),
				    plx_rc_counters(lives[1].pair.side[side].qp),
				    sizeof(struct plx_rc_counters));
	}
}

/* Both pairs send from `from` until they have nothing to send; `lose` packets are lost. */
static void
exchange(int from, struct plx_prng *prng, uint32_t lose_ppm)
{
	for (;;) {
		struct sent sent[2];
		bool was[2];

		for (int i = 0; i < 2; i++)
			was[i] = send_one(&lives[i], from, &sent[i]);
		assert_int_equal(was[0], was[1]);
		if (!was[0])
			return;
		assert_int_equal(sent[0].len, sent[1].len);
		assert_memory_equal(sent[0].bytes, sent[1].bytes, sent[0].len);
		if (plx_prng_chance(prng, lose_ppm))
			continue;
		for (int i = 0; i < 2; i++)
			take_one(&lives[i], !from, &sent[i]);
	}
}

/* The helpers of the pair use a pointer for an address of a region. */
static const void *
at_va(uint32_t offset)
{
	return (const void *)(uintptr_t)(VA + offset);
}

static void
post_some(struct plx_prng *prng)
{
	static const uint8_t ops[] = {PLX_WR_SEND,  PLX_WR_SEND,  PLX_WR_WRITE,
				      PLX_WR_WRITE, PLX_WR_WRITE, PLX_WR_SEND_IMM,
				      PLX_WR_READ,  PLX_WR_WRITE, PLX_WR_WRITE_IMM};
	int side = (int)plx_prng_below(prng, 2);
	uint8_t op = ops[plx_prng_below(prng, sizeof(ops))];
	uint32_t bytes = (uint32_t)plx_prng_below(prng, plx_prng_chance(prng, 200000) ? 3000 : 80);
	uint32_t at = (uint32_t)plx_prng_below(prng, BYTES - bytes);
	uint8_t flags = plx_prng_chance(prng, 100000) ? PLX_WR_FENCE : 0;

	flags |= plx_prng_chance(prng, 300000) ? PLX_WR_SOLICITED : 0;
	flags |= plx_prng_chance(prng, 300000) ? PLX_WR_UNSIGNALED : 0;
	for (int i = 0; i < 2; i++) {
		struct life *life = &lives[i];
		struct plx_wqe wqe = {.wr_id = at,
				      .op = op,
				      .flags = flags,
				      .rkey = life->key,
				      .remote_va = VA + BYTES + at};
		enum plx_status status;

		if (op == PLX_WR_SEND || op == PLX_WR_SEND_IMM || op == PLX_WR_WRITE_IMM)
			status = pair_recv(&life->pair, !side, at, at_va(BYTES), BYTES, life->key);
		status = pair_post(&life->pair, side, &wqe, at_va(at), bytes, life->key);
		(void)status; /* a full queue is full in both lives, which the views show */
	}
}

static void
tick(struct life *life)
{
	struct plx_actions out;

	life->pair.now += PLX_SEC / 4;
	for (int i = 0; i < 2; i++) {
		plx_actions_reset(&out);
		plx_rc_on_tick(life->pair.side[i].qp, life->pair.now, &out);
		execute(life, &out);
	}
}

static void
live(uint64_t seed, uint32_t lose_ppm)
{
	struct plx_prng prng;

	plx_prng_init(&prng, seed);
	open_life(&lives[0], false);
	open_life(&lives[1], true);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t posts = (uint32_t)plx_prng_below(&prng, 6);

		while (posts-- > 0)
			post_some(&prng);
		for (int turn = 0; turn < 4; turn++)
			exchange(turn % 2, &prng, lose_ppm);
		if (plx_prng_chance(&prng, 100000))
			for (int i = 0; i < 2; i++)
				tick(&lives[i]);
		assert_equal_lives();
	}
}

static void
both_paths_lead_the_same_life(void **state)
{
	(void)state;
	live(1, 0);
	assert_true(lives[1].shorts > ROUNDS / 2);
	assert_true(lives[1].generals > ROUNDS / 20);
	assert_true(lives[1].taken > ROUNDS / 4);
	close_life(&lives[0]);
	close_life(&lives[1]);
}

static void
both_paths_lead_the_same_life_on_a_bad_wire(void **state)
{
	(void)state;
	for (uint64_t seed = 2; seed < 8; seed++) {
		live(seed, 20000);
		assert_true(lives[1].shorts > 100);
		close_life(&lives[0]);
		close_life(&lives[1]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_paths_lead_the_same_life),
		cmocka_unit_test(both_paths_lead_the_same_life_on_a_bad_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
