/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every operation, with its data compared: sizes around packet boundaries, inline data, sixteen
 * SGEs, immediate data, atomics. Start with each_size().
 */
#include "verbs_pair.h"

#include <string.h>

/* Around nothing, the inline limits, path MTUs and many packets. */
static const uint32_t sizes[] = {0,    1,    2,    3,    4,     7,     63,    64,     65,
				 255,  256,  257,  1023, 1024,  1025,  2048,  4095,   4096,
				 4097, 8191, 8192, 8193, 65535, 65536, 65537, 100003, 131072};

enum {
	SIZES = sizeof(sizes) / sizeof(sizes[0]),
	HALF = PAIR_ARENA / 2,
	IMM = 0x12345678,
};

/* One message of each size from a to b, by a SEND of some kind. */
static void
each_size_sent(enum plx_wr_op op, uint8_t flags_expected)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = {.imm = IMM};

	for (uint32_t i = 0; i < SIZES; i++) {
		struct plx_wc wc;

		side_fill(&pair->a, 0, sizes[i], (uint8_t)i);
		memset(pair->b.arena, 0xee, HALF + 1);
		side_receive(&pair->b, 1000 + i, 0, HALF);
		side_post(&pair->a, op, i, 0, 0, sizes[i], &beyond);
		wc = pair_expect(pair->b.recv_cq, 1000 + i, PLX_WC_SUCCESS);
		assert_int_equal(wc.bytes, sizes[i]);
		assert_int_equal(wc.op, op);
		assert_int_equal(wc.flags, flags_expected);
		if (flags_expected & PLX_WC_IMM)
			assert_int_equal(wc.imm, IMM);
		side_assert_filled(&pair->b, 0, sizes[i], (uint8_t)i);
		assert_int_equal(pair->b.arena[sizes[i]], 0xee);
		wc = pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
		assert_int_equal(wc.op, op);
		assert_int_equal(wc.flags & PLX_WC_RECV, 0);
	}
	pair_close(pair);
}

static void
a_send_of_any_size_fills_the_receive(void **state)
{
	(void)state;
	each_size_sent(PLX_WR_SEND, PLX_WC_RECV);
}

static void
a_send_with_immediate_of_any_size_brings_it(void **state)
{
	(void)state;
	each_size_sent(PLX_WR_SEND_IMM, PLX_WC_RECV | PLX_WC_IMM);
}

static void
a_write_of_any_size_fills_exactly_its_range(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	for (uint32_t i = 0; i < SIZES; i++) {
		struct beyond beyond = at_peer(&pair->b, 7);

		side_fill(&pair->a, 0, sizes[i], (uint8_t)i);
		memset(pair->b.arena, 0xee, HALF + 8);
		side_post(&pair->a, PLX_WR_WRITE, i, 0, 0, sizes[i], &beyond);
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
		assert_int_equal(pair->b.arena[6], 0xee);
		side_assert_filled(&pair->b, 7, sizes[i], (uint8_t)i);
		assert_int_equal(pair->b.arena[7 + sizes[i]], 0xee);
	}
	pair_expect_none(pair->b.recv_cq);
	pair_close(pair);
}

static void
a_write_with_immediate_takes_a_receive_and_tells_its_length(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	for (uint32_t i = 0; i < SIZES; i++) {
		struct beyond beyond = at_peer(&pair->b, 0);
		struct plx_wc wc;

		beyond.imm = IMM + i;
		side_fill(&pair->a, 0, sizes[i], (uint8_t)i);
		side_receive(&pair->b, 1000 + i, HALF, 0);
		side_post(&pair->a, PLX_WR_WRITE_IMM, i, 0, 0, sizes[i], &beyond);
		wc = pair_expect(pair->b.recv_cq, 1000 + i, PLX_WC_SUCCESS);
		assert_int_equal(wc.bytes, sizes[i]);
		assert_int_equal(wc.imm, IMM + i);
		assert_int_equal(wc.op, PLX_WR_WRITE_IMM);
		assert_int_equal(wc.flags, PLX_WC_RECV | PLX_WC_IMM);
		side_assert_filled(&pair->b, 0, sizes[i], (uint8_t)i);
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	}
	pair_close(pair);
}

static void
a_read_of_any_size_brings_what_is_there(void **state)
{
	struct pair *pair = pair_open(NULL);

	(void)state;
	for (uint32_t i = 0; i < SIZES; i++) {
		struct beyond beyond = at_peer(&pair->b, 5);
		struct plx_wc wc;

		side_fill(&pair->b, 5, sizes[i], (uint8_t)i);
		memset(pair->a.arena, 0xee, HALF + 1);
		side_post(&pair->a, PLX_WR_READ, i, 0, 0, sizes[i], &beyond);
		wc = pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
		assert_int_equal(wc.bytes, sizes[i]);
		assert_int_equal(wc.op, PLX_WR_READ);
		side_assert_filled(&pair->a, 0, sizes[i], (uint8_t)i);
		assert_int_equal(pair->a.arena[sizes[i]], 0xee);
	}
	pair_close(pair);
}

static uint64_t
word_at(const struct side *end, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, end->arena + offset, sizeof(word));
	return word;
}

static void
a_fetch_and_add_adds_and_brings_what_was_there(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 64);
	uint64_t sum = UINT64_MAX - 2;
	struct plx_wc wc;

	(void)state;
	memcpy(pair->b.arena + 64, &sum, sizeof(sum));
	for (uint64_t i = 1; i < 50; i++) {
		beyond.swap_add = i;
		side_post(&pair->a, PLX_WR_FETCH_ADD, i, 0, 8, 8, &beyond);
		wc = pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
		assert_int_equal(wc.bytes, 8);
		assert_int_equal(wc.op, PLX_WR_FETCH_ADD);
		assert_true(word_at(&pair->a, 8) == sum);
		sum += i;
		assert_true(word_at(&pair->b, 64) == sum);
	}
	pair_close(pair);
}

static void
a_compare_and_swap_swaps_only_what_it_expected(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 64);
	const uint64_t first = UINT64_C(0x0123456789abcdef);

	(void)state;
	memcpy(pair->b.arena + 64, &first, sizeof(first));
	beyond.compare = first + 1;
	beyond.swap_add = 99;
	side_post(&pair->a, PLX_WR_CMP_SWAP, 1, 0, 8, 8, &beyond);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	assert_true(word_at(&pair->a, 8) == first);
	assert_true(word_at(&pair->b, 64) == first);
	beyond.compare = first;
	side_post(&pair->a, PLX_WR_CMP_SWAP, 2, 0, 16, 8, &beyond);
	pair_expect(pair->a.send_cq, 2, PLX_WC_SUCCESS);
	assert_true(word_at(&pair->a, 16) == first);
	assert_true(word_at(&pair->b, 64) == 99);
	pair_close(pair);
}

static void
an_atomic_on_a_crooked_address_is_an_invalid_request(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 4);

	(void)state;
	side_post(&pair->a, PLX_WR_FETCH_ADD, 1, 0, 8, 8, &beyond);
	pair_expect(pair->a.send_cq, 1, PLX_WC_REMOTE_INVALID_REQUEST);
	pair_close(pair);
}

/* ---- inline data and long lists ---- */

/* A21: the bytes are taken when posted; the key is not looked at. */
static void
inline_data_of_every_length_is_taken_when_posted(void **state)
{
	struct pair_options options = pair_usual();
	uint8_t bytes[PLX_INLINE_MAX];
	struct pair *pair;

	(void)state;
	options.qp.inline_bytes = PLX_INLINE_MAX;
	pair = pair_open(&options);
	for (uint32_t n = 0; n <= PLX_INLINE_MAX; n++) {
		const struct plx_sge sge = {(uintptr_t)bytes, n, {0xbad}};
		const struct plx_send_wr wr = {.wr_id = n,
					       .op = PLX_WR_SEND,
					       .flags = PLX_WR_INLINE,
					       .sge = &sge,
					       .sges = 1};
		enum plx_status why;

		side_fill(&pair->a, 0, n, (uint8_t)n);
		memcpy(bytes, pair->a.arena, n);
		side_receive(&pair->b, n, 0, PLX_INLINE_MAX);
		assert_int_equal(plx_post_send(pair->a.qp, &wr, 1, &why), 1);
		memset(bytes, 0x55, sizeof(bytes));
		assert_int_equal(pair_expect(pair->b.recv_cq, n, PLX_WC_SUCCESS).bytes, n);
		side_assert_filled(&pair->b, 0, n, (uint8_t)n);
		pair_expect(pair->a.send_cq, n, PLX_WC_SUCCESS);
	}
	pair_close(pair);
}

static void
sixty_four_inline_bytes_are_always_there_and_more_is_too_long(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);

	(void)state;
	side_fill(&pair->a, 0, 64, 9);
	assert_int_equal(
		side_try(&pair->a, pair->a.qp, PLX_WR_WRITE, 1, PLX_WR_INLINE, 0, 65, &beyond),
		PLX_TOO_LONG);
	side_post(&pair->a, PLX_WR_WRITE, 2, PLX_WR_INLINE, 0, 64, &beyond);
	pair_expect(pair->a.send_cq, 2, PLX_WC_SUCCESS);
	side_assert_filled(&pair->b, 0, 64, 9);
	pair_close(pair);
}

/* Sixteen pieces out, sixteen in, of uneven sizes; `n` bytes in all. */
static uint32_t
pieces(const struct side *end, uint32_t step, struct plx_sge *sge)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PLX_SGE_MAX; i++) {
		sge[i] = (struct plx_sge){
			.va = (uintptr_t)end->arena + i * 4096,
			.length = (i * step) % 700,
			.key = plx_mr_key(end->mr),
		};
		n += sge[i].length;
	}
	return n;
}

static uint8_t
at_piece(const struct plx_sge *sge, uint32_t i, uint8_t **where)
{
	while (i >= sge->length)
		i -= sge++->length;
	*where = (uint8_t *)(uintptr_t)sge->va + i;
	return **where;
}

static void
sixteen_entries_gather_and_scatter(void **state)
{
	struct pair_options options = pair_usual();
	struct plx_sge out[PLX_SGE_MAX + 1] = {{0}}, in[PLX_SGE_MAX + 1] = {{0}};
	struct plx_send_wr wr = {.wr_id = 1, .op = PLX_WR_SEND, .sge = out, .sges = PLX_SGE_MAX};
	struct plx_recv_wr receive = {.wr_id = 2, .sge = in, .sges = PLX_SGE_MAX};
	enum plx_status why;
	struct pair *pair;
	uint8_t *where;
	uint32_t n;

	(void)state;
	options.qp.sq_sges = options.qp.rq_sges = PLX_SGE_MAX;
	pair = pair_open(&options);
	n = pieces(&pair->a, 331, out);
	(void)pieces(&pair->b, 487, in);
	in[PLX_SGE_MAX - 1].length = n; /* the rest fits here */
	for (uint32_t i = 0; i < n; i++) {
		(void)at_piece(out, i, &where);
		*where = (uint8_t)(i * 7 + i / 256);
	}
	assert_int_equal(plx_post_recv(pair->b.qp, &receive, 1, &why), 1);
	assert_int_equal(plx_post_send(pair->a.qp, &wr, 1, &why), 1);
	/* The lists belong to us again when the posts have returned. */
	assert_int_equal(pair_expect(pair->b.recv_cq, 2, PLX_WC_SUCCESS).bytes, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(at_piece(in, i, &where), (uint8_t)(i * 7 + i / 256));
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	wr.sges = PLX_SGE_MAX + 1;
	assert_int_equal(plx_post_send(pair->a.qp, &wr, 1, &why), 0);
	assert_int_equal(why, PLX_TOO_MANY_SGES);
	receive.sges = PLX_SGE_MAX + 1;
	assert_int_equal(plx_post_recv(pair->b.qp, &receive, 1, &why), 0);
	assert_int_equal(why, PLX_TOO_MANY_SGES);
	pair_close(pair);
}

/* A22: the fenced SEND carries the data that the READ before it has fetched. */
static void
a_fence_waits_for_the_read_before_it(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);

	(void)state;
	side_fill(&pair->b, 0, 65536, 21);
	side_receive(&pair->b, 9, HALF, 65536);
	side_post(&pair->a, PLX_WR_READ, 1, 0, 0, 65536, &beyond);
	side_post(&pair->a, PLX_WR_SEND, 2, PLX_WR_FENCE, 0, 65536, NULL);
	pair_expect(pair->b.recv_cq, 9, PLX_WC_SUCCESS);
	side_assert_filled(&pair->b, HALF, 65536, 21);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	pair_expect(pair->a.send_cq, 2, PLX_WC_SUCCESS);
	pair_close(pair);
}

static void
what_is_no_request_is_invalid(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);

	(void)state;
	assert_int_equal(side_try(&pair->a, pair->a.qp, PLX_WR_NONE, 1, 0, 0, 8, NULL),
			 PLX_INVALID);
	assert_int_equal(side_try(&pair->a, pair->a.qp, PLX_WR_OP_COUNT, 1, 0, 0, 8, NULL),
			 PLX_INVALID);
	/* a place for a window is had by plx_post_bind() alone */
	assert_int_equal(side_try(&pair->a, pair->a.qp, PLX_WR_BIND, 1, 0, 0, 0, NULL),
			 PLX_INVALID);
	assert_int_equal(side_try(&pair->a, pair->a.qp, PLX_WR_SEND, 1, 0x40, 0, 8, NULL),
			 PLX_INVALID);
	assert_int_equal(side_try(&pair->a, pair->a.qp, PLX_WR_FETCH_ADD, 1, 0, 0, 7, &beyond),
			 PLX_INVALID);
	assert_int_equal(
		side_try(&pair->a, pair->a.qp, PLX_WR_READ, 1, PLX_WR_INLINE, 0, 8, &beyond),
		PLX_INVALID);
	pair_expect_none(pair->a.send_cq);
	side_receive(&pair->b, 3, 0, 8);
	side_post(&pair->a, PLX_WR_SEND, 2, 0, 0, 8, NULL);
	pair_expect(pair->a.send_cq, 2, PLX_WC_SUCCESS);
	pair_close(pair);
}

/* The end's first bytes by one call. */
static enum plx_status
post_one(struct side *side, uint32_t op_flags, uint64_t wr_id, uint32_t bytes,
	 const struct beyond *beyond)
{
	const struct plx_sge sge = {
		.va = (uintptr_t)side->arena, .length = bytes, .key = plx_mr_key(side->mr)};

	return plx_post_one(side->qp, op_flags, wr_id, &sge, beyond->va, beyond->rkey);
}

static void
one_request_is_posted_by_its_fields(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 4096);

	(void)state;
	side_fill(&pair->a, 0, 64, 7);
	side_receive(&pair->b, 9, 0, 64);
	assert_int_equal(post_one(&pair->a, PLX_WR(PLX_WR_SEND, 0), 1, 64, &beyond), PLX_OK);
	pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
	pair_expect(pair->b.recv_cq, 9, PLX_WC_SUCCESS);
	side_assert_filled(&pair->b, 0, 64, 7);
	assert_int_equal(
		post_one(&pair->a, PLX_WR(PLX_WR_WRITE, PLX_WR_UNSIGNALED), 2, 64, &beyond),
		PLX_OK);
	side_fill(&pair->a, 8192, 64, 8);
	assert_int_equal(post_one(&pair->a, PLX_WR(PLX_WR_WRITE, PLX_WR_FENCE), 3, 64, &beyond),
			 PLX_OK);
	pair_expect(pair->a.send_cq, 3, PLX_WC_SUCCESS);
	side_assert_filled(&pair->b, 4096, 64, 7);
	side_fill(&pair->b, 4096, 64, 9);
	assert_int_equal(post_one(&pair->a, PLX_WR(PLX_WR_READ, 0), 4, 64, &beyond), PLX_OK);
	pair_expect(pair->a.send_cq, 4, PLX_WC_SUCCESS);
	side_assert_filled(&pair->a, 0, 64, 9);
	assert_int_equal(post_one(&pair->a, PLX_WR(PLX_WR_WRITE, PLX_WR_INLINE), 5, 64, &beyond),
			 PLX_OK);
	pair_expect(pair->a.send_cq, 5, PLX_WC_SUCCESS);
	pair_close(pair);
}

static void
one_request_that_cannot_be_posted_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL), *apart;
	struct beyond beyond = at_peer(&pair->b, 0);

	(void)state;
	assert_int_equal(post_one(&pair->a, PLX_WR(PLX_WR_SEND_IMM, 0), 1, 8, &beyond),
			 PLX_INVALID);
	assert_int_equal(post_one(&pair->a, PLX_WR(PLX_WR_SEND, 0x40), 1, 8, &beyond), PLX_INVALID);
	assert_int_equal(post_one(&pair->a, PLX_WR(PLX_WR_SEND, 0x100), 1, 8, &beyond),
			 PLX_INVALID);
	assert_int_equal(post_one(&pair->a, PLX_WR(PLX_WR_SEND + 0x100, 0), 1, 8, &beyond),
			 PLX_INVALID);
	assert_int_equal(
		post_one(&pair->a, PLX_WR(PLX_WR_WRITE, 0), 1, PLX_MESSAGE_MAX + 1, &beyond),
		PLX_TOO_LONG);
	pair_expect_none(pair->a.send_cq);
	for (uint64_t i = 0; i < PAIR_SQ; i++)
		assert_int_equal(
			post_one(&pair->a, PLX_WR(PLX_WR_WRITE, PLX_WR_DEFER), i, 8, &beyond),
			PLX_OK);
	assert_int_equal(post_one(&pair->a, PLX_WR(PLX_WR_WRITE, 0), 99, 8, &beyond), PLX_FULL);
	plx_qp_ring_doorbell(pair->a.qp);
	for (uint64_t i = 0; i < PAIR_SQ; i++)
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	pair_close(pair);
	apart = pair_open_apart();
	assert_int_equal(post_one(&apart->a, PLX_WR(PLX_WR_SEND, 0), 1, 8, &beyond), PLX_STATE);
	pair_close(apart);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(one_request_is_posted_by_its_fields),
		PAIR_TEST(one_request_that_cannot_be_posted_is_refused),
		PAIR_TEST(a_send_of_any_size_fills_the_receive),
		PAIR_TEST(a_send_with_immediate_of_any_size_brings_it),
		PAIR_TEST(a_write_of_any_size_fills_exactly_its_range),
		PAIR_TEST(a_write_with_immediate_takes_a_receive_and_tells_its_length),
		PAIR_TEST(a_read_of_any_size_brings_what_is_there),
		PAIR_ATOMIC_TEST(a_fetch_and_add_adds_and_brings_what_was_there),
		PAIR_ATOMIC_TEST(a_compare_and_swap_swaps_only_what_it_expected),
		PAIR_ATOMIC_TEST(an_atomic_on_a_crooked_address_is_an_invalid_request),
		PAIR_TEST(inline_data_of_every_length_is_taken_when_posted),
		PAIR_TEST(sixty_four_inline_bytes_are_always_there_and_more_is_too_long),
		PAIR_TEST(sixteen_entries_gather_and_scatter),
		PAIR_TEST(a_fence_waits_for_the_read_before_it),
		PAIR_TEST(what_is_no_request_is_invalid),
	};

	return pair_run_all("ops", tests, sizeof(tests) / sizeof(tests[0]));
}
