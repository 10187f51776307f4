/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scatter and gather: messages read from, and written to, many pieces of memory, including empty
 * ones, and inline data. Two pieces are never adjacent: the gap between them must not change. Start
 * with struct layout.
 */
#include "rc_pair.h"

enum {
	ARENA = 65536,
	ROUNDS = 300,
	GUARD = 0x5a
};

/* One end's memory and the pieces of it that a request names. */
struct layout {
	uint8_t arena[ARENA];
	struct plx_key key;
	struct plx_sge sge[PLX_SGE_MAX];
	uint32_t sges, bytes;
};

static struct layout from, to;

static const struct pair_config config = {
	.caps = {.sq_depth = 4,
		 .sq_sges = PLX_SGE_MAX,
		 .inline_bytes = PLX_INLINE_MAX,
		 .responder_resources = 4},
	.rq_depth = 4,
	.rq_sges = PLX_SGE_MAX,
};

/* A byte that depends on the message and on its offset. */
static uint8_t
content(uint32_t round, uint32_t at)
{
	return (uint8_t)(round * 31 + at * 7 + at / 256 + 1);
}

/* Cut `bytes` into `sges` pieces with gaps between them; some are empty. */
static void
cut(struct layout *layout, struct plx_prng *prng, uint32_t sges, uint32_t bytes)
{
	uint32_t at = (uint32_t)plx_prng_below(prng, 64), left = bytes;

	memset(layout->arena, GUARD, ARENA);
	layout->sges = sges;
	layout->bytes = bytes;
	for (uint32_t i = 0; i < sges; i++) {
		uint32_t take = (uint32_t)plx_prng_below(prng, 2 * bytes / sges + 2);

		if (plx_prng_chance(prng, 200000))
			take = 0;
		if (take > left || i == sges - 1)
			take = left;
		left -= take;
		layout->sge[i] = (struct plx_sge){(uint64_t)(uintptr_t)(layout->arena + at), take,
						  layout->key};
		if (!take && plx_prng_chance(prng, 500000))
			layout->sge[i].key.v ^= 0xffff; /* a key to nothing is not looked at */
		at += take + 1 + (uint32_t)plx_prng_below(prng, 40);
		assert_in_range(at, 0, ARENA);
	}
}

static void
fill(struct layout *layout, uint32_t round)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < layout->sges; i++)
		for (uint32_t k = 0; k < layout->sge[i].length; k++)
			((uint8_t *)(uintptr_t)layout->sge[i].va)[k] = content(round, at++);
	assert_int_equal(at, layout->bytes);
}

/* The pieces hold the first `bytes` of the message, and nothing else of the arena has changed. */
static void
check(struct layout *layout, uint32_t round, uint32_t bytes)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < layout->sges; i++)
		for (uint32_t k = 0; k < layout->sge[i].length && at < bytes; k++) {
			uint8_t *byte = (uint8_t *)(uintptr_t)layout->sge[i].va + k;

			assert_int_equal(*byte, content(round, at++));
			*byte = GUARD;
		}
	assert_int_equal(at, bytes);
	for (uint32_t i = 0; i < ARENA; i++)
		assert_int_equal(layout->arena[i], GUARD);
}

static enum plx_status
post_pieces(struct pair *pair, struct plx_wqe *wqe, const struct layout *layout)
{
	wqe->sges = (uint8_t)layout->sges;
	for (uint32_t i = 0; i < layout->sges && i < PLX_WQE_SGES; i++)
		wqe->sge[i] = layout->sge[i];
	return plx_rc_post_send(pair->side[0].qp, wqe,
				layout->sges > PLX_WQE_SGES ? layout->sge + PLX_WQE_SGES : NULL);
}

static void
start(struct pair *pair, const struct pair_config *with)
{
	pair_init(pair, with);
	from.key = pair_region(pair, from.arena, ARENA,
			       PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_READ);
	to.key = pair_region(pair, to.arena, ARENA,
			     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
				     PLX_ACCESS_REMOTE_READ);
	pair_connect(pair);
}

static void
expect_success(struct pair *pair, int side, uint32_t bytes)
{
	assert_int_equal(pair->side[side].dones, 1);
	assert_int_equal(pair->side[side].done[0].status, PLX_WC_SUCCESS);
	assert_int_equal(pair->side[side].done[0].bytes, bytes);
	pair->side[side].dones = 0;
}

static uint32_t
some_bytes(struct plx_prng *prng)
{
	static const uint32_t sizes[] = {0, 1, 3, 255, 256, 257, 511, 512, 513, 4096};

	if (plx_prng_chance(prng, 500000))
		return sizes[plx_prng_below(prng, PLX_COUNT_OF(sizes))];
	return (uint32_t)plx_prng_below(prng, 5000);
}

static uint32_t
some_sges(struct plx_prng *prng, uint32_t bytes)
{
	uint32_t sges = (uint32_t)plx_prng_below(prng, PLX_SGE_MAX + 1);

	return bytes && !sges ? PLX_SGE_MAX : sges;
}

static void
a_send_from_many_pieces_falls_into_many_pieces(void **state)
{
	struct plx_prng prng;
	struct pair pair;

	(void)state;
	plx_prng_init(&prng, 1);
	start(&pair, &config);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t bytes = some_bytes(&prng), room = bytes + round % 3 * 100;
		struct plx_wqe wqe = {.op = PLX_WR_SEND};

		cut(&from, &prng, some_sges(&prng, bytes), bytes);
		cut(&to, &prng, some_sges(&prng, room), room);
		fill(&from, round);
		assert_int_equal(plx_rc_post_recv(pair.side[1].qp, round, to.sge, to.sges), PLX_OK);
		assert_int_equal(post_pieces(&pair, &wqe, &from), PLX_OK);
		pair_run(&pair);
		expect_success(&pair, 0, 0);
		expect_success(&pair, 1, bytes);
		check(&to, round, bytes);
	}
	pair_fini(&pair);
}

static void
a_write_from_many_pieces_falls_into_one(void **state)
{
	struct plx_prng prng;
	struct pair pair;

	(void)state;
	plx_prng_init(&prng, 2);
	start(&pair, &config);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t bytes = some_bytes(&prng);
		struct plx_wqe wqe = {.op = PLX_WR_WRITE, .rkey = to.key};

		cut(&from, &prng, some_sges(&prng, bytes), bytes);
		cut(&to, &prng, 1, bytes);
		fill(&from, round);
		wqe.remote_va = to.sge[0].va;
		assert_int_equal(post_pieces(&pair, &wqe, &from), PLX_OK);
		pair_run(&pair);
		expect_success(&pair, 0, 0);
		check(&to, round, bytes);
	}
	pair_fini(&pair);
}

static void
a_read_of_one_piece_falls_into_many(void **state)
{
	struct plx_prng prng;
	struct pair pair;

	(void)state;
	plx_prng_init(&prng, 3);
	start(&pair, &config);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t bytes = some_bytes(&prng);
		struct plx_wqe wqe = {.op = PLX_WR_READ, .rkey = from.key};

		cut(&from, &prng, 1, bytes);
		cut(&to, &prng, some_sges(&prng, bytes), bytes);
		fill(&from, round);
		wqe.remote_va = from.sge[0].va;
		assert_int_equal(post_pieces(&pair, &wqe, &to), PLX_OK);
		pair_run(&pair);
		expect_success(&pair, 0, bytes);
		check(&to, round, bytes);
	}
	pair_fini(&pair);
}

static void
an_atomic_result_falls_into_one_piece_of_eight_bytes(void **state)
{
	static uint64_t target, result;
	struct plx_wqe wqe = {.op = PLX_WR_FETCH_ADD, .swap_add = 5};
	struct pair pair;
	struct plx_key key;

	(void)state;
	start(&pair, &config);
	target = 100;
	wqe.rkey =
		pair_region(&pair, &target, 8, PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_ATOMIC);
	wqe.remote_va = (uint64_t)(uintptr_t)&target;
	key = pair_region(&pair, &result, 8, PLX_ACCESS_LOCAL_WRITE);
	assert_int_equal(pair_post(&pair, 0, &wqe, &result, 8, key), PLX_OK);
	pair_run(&pair);
	expect_success(&pair, 0, 8);
	assert_true(result == 100 && target == 105);
	wqe.op = PLX_WR_CMP_SWAP;
	wqe.compare = 104; /* not the current value */
	assert_int_equal(pair_post(&pair, 0, &wqe, &result, 8, key), PLX_OK);
	pair_run(&pair);
	expect_success(&pair, 0, 8);
	assert_true(result == 105 && target == 105);
	wqe.compare = 105;
	assert_int_equal(pair_post(&pair, 0, &wqe, &result, 8, key), PLX_OK);
	pair_run(&pair);
	expect_success(&pair, 0, 8);
	assert_true(result == 105 && target == 5);
	pair_fini(&pair);
}

static void
inline_data_may_be_overwritten_as_soon_as_it_is_posted(void **state)
{
	struct plx_prng prng;
	struct pair pair;

	(void)state;
	plx_prng_init(&prng, 4);
	start(&pair, &config);
	for (uint32_t bytes = 0; bytes <= PLX_INLINE_MAX; bytes++) {
		uint8_t data[PLX_INLINE_MAX];
		struct plx_wqe wqe = {
			.op = PLX_WR_SEND, .flags = PLX_WR_INLINE, .inline_bytes = bytes};
		bool spilled = bytes > PLX_WQE_INLINE_BYTES;

		for (uint32_t i = 0; i < bytes; i++)
			*(spilled ? data + i : wqe.data + i) = content(bytes, i);
		cut(&to, &prng, some_sges(&prng, bytes), bytes);
		assert_int_equal(plx_rc_post_recv(pair.side[1].qp, 0, to.sge, to.sges), PLX_OK);
		assert_int_equal(plx_rc_post_send(pair.side[0].qp, &wqe, spilled ? data : NULL),
				 PLX_OK);
		memset(data, 0xee, sizeof(data));
		memset(&wqe, 0xee, sizeof(wqe));
		pair_run(&pair);
		expect_success(&pair, 0, 0);
		expect_success(&pair, 1, bytes);
		check(&to, bytes, bytes);
	}
	pair_fini(&pair);
}

static void
a_local_key_that_does_not_grant_fails_the_request_before_its_packet_leaves(void **state)
{
	(void)state;
	for (uint32_t bad = 0; bad < PLX_SGE_MAX; bad++) {
		struct plx_wqe wqe = {.op = PLX_WR_WRITE, .wr_id = bad};
		struct plx_prng prng;
		struct pair pair;

		plx_prng_init(&prng, 5);
		start(&pair, &config);
		cut(&from, &prng, PLX_SGE_MAX, PLX_SGE_MAX * 256);
		for (uint32_t i = 0; i < PLX_SGE_MAX; i++) { /* one packet each */
			from.sge[i].length = 256;
			from.sge[i].key = from.key;
		}
		from.sge[bad].key.v ^= 1;
		wqe.rkey = to.key;
		wqe.remote_va = (uint64_t)(uintptr_t)to.arena;
		assert_int_equal(post_pieces(&pair, &wqe, &from), PLX_OK);
		pair_run(&pair);
		assert_int_equal(pair.side[0].emitted, bad); /* those before it */
		assert_int_equal(pair.side[0].dones, 1);
		assert_int_equal(pair.side[0].done[0].status, PLX_WC_LOCAL_PROTECTION);
		assert_int_equal(pair_view(&pair, 0).state, PLX_QP_ERROR);
		pair_fini(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_from_many_pieces_falls_into_many_pieces),
		cmocka_unit_test(a_write_from_many_pieces_falls_into_one),
		cmocka_unit_test(a_read_of_one_piece_falls_into_many),
		cmocka_unit_test(an_atomic_result_falls_into_one_piece_of_eight_bytes),
		cmocka_unit_test(inline_data_may_be_overwritten_as_soon_as_it_is_posted),
		cmocka_unit_test(
			a_local_key_that_does_not_grant_fails_the_request_before_its_packet_leaves),
	};

	return cmocka_run_group_tests_name("transport: scatter and gather", tests, NULL, NULL);
}
