/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Type 2 windows: bound by a request, valid once the post returns, for one queue pair and one
 * range, with some rights; invalidated by their owner, by the peer or when they are destroyed.
 * Start with bind_window().
 */
#include "verbs_pair.h"

#include <string.h>

enum {
	AT = 1024, /* the window's offset in the arena of its owner, b */
	BYTES = 512,
};

static const struct plx_bind terms = {.wr_id = 900, .length = BYTES};

/* What b binds: the middle of its arena, with these rights. */
static struct plx_bind
usual_terms(const struct side *b, uint32_t access)
{
	struct plx_bind bind = terms;

	bind.mr = b->mr;
	bind.va = (uintptr_t)b->arena + AT;
	bind.access = access;
	return bind;
}

static struct plx_key
bind_window(struct side *b, struct plx_mw *mw, uint32_t access)
{
	const struct plx_bind bind = usual_terms(b, access);
	struct plx_key token = {0};

	assert_int_equal(plx_post_bind(b->qp, mw, &bind, &token), PLX_OK);
	assert_int_not_equal(token.v, 0);
	pair_expect(b->send_cq, 900, PLX_WC_SUCCESS);
	return token;
}

static struct plx_mw *
make_window(struct side *b)
{
	struct plx_mw *mw;

	assert_int_equal(plx_mw_create(b->pd, &mw), PLX_OK);
	return mw;
}

/* The result for a of `op` at `offset` of b's arena with this key. */
static enum plx_wc_status
access_by(struct pair *pair, enum plx_wr_op op, struct plx_key token, uint32_t offset,
	  uint32_t bytes)
{
	struct beyond beyond = at_peer(&pair->b, offset);

	beyond.rkey = token;
	side_post(&pair->a, op, 1, 0, 0, bytes, &beyond);
	return (enum plx_wc_status)pair_reap(pair->a.send_cq).status;
}

static void
a_window_grants_what_it_was_bound_for(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_mw *mw = make_window(&pair->b);
	struct plx_key token = bind_window(&pair->b, mw, pair_remote_rights());

	(void)state;
	assert_int_not_equal(token.v, plx_mr_key(pair->b.mr).v);
	side_fill(&pair->a, 0, BYTES, 7);
	assert_int_equal(access_by(pair, PLX_WR_WRITE, token, AT, BYTES), PLX_WC_SUCCESS);
	side_assert_filled(&pair->b, AT, BYTES, 7);
	memset(pair->a.arena, 0, BYTES);
	assert_int_equal(access_by(pair, PLX_WR_READ, token, AT, BYTES), PLX_WC_SUCCESS);
	side_assert_filled(&pair->a, 0, BYTES, 7);
	assert_int_equal(access_by(pair, PLX_WR_FETCH_ADD, token, AT, 8), PLX_WC_SUCCESS);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	pair_close(pair);
}

static void
a_window_does_not_grant_rights_it_was_not_bound_with(void **state)
{
	static const struct {
		uint32_t granted;
		enum plx_wr_op op;
	} cases[] = {
		{PLX_ACCESS_REMOTE_READ, PLX_WR_WRITE},
		{PLX_ACCESS_REMOTE_READ, PLX_WR_FETCH_ADD},
		{PLX_ACCESS_REMOTE_WRITE, PLX_WR_READ},
		{0, PLX_WR_READ},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair *pair = pair_open(NULL);
		struct plx_mw *mw = make_window(&pair->b);
		struct plx_key token = bind_window(&pair->b, mw, cases[i].granted);

		assert_int_equal(access_by(pair, cases[i].op, token, AT, 8), PLX_WC_REMOTE_ACCESS);
		assert_int_equal(plx_mw_destroy(mw), PLX_OK);
		pair_close(pair);
	}
}

static void
a_byte_outside_the_window_is_refused(void **state)
{
	static const struct {
		uint32_t at, bytes;
	} ranges[] = {{AT - 1, 8}, {AT + BYTES - 7, 8}, {AT, BYTES + 1}, {0, 8}};

	(void)state;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		struct pair *pair = pair_open(NULL);
		struct plx_mw *mw = make_window(&pair->b);
		struct plx_key token = bind_window(&pair->b, mw, pair_remote_rights());

		assert_int_equal(
			access_by(pair, PLX_WR_WRITE, token, ranges[i].at, ranges[i].bytes),
			PLX_WC_REMOTE_ACCESS);
		assert_int_equal(pair->b.arena[AT], 0);
		assert_int_equal(plx_mw_destroy(mw), PLX_OK);
		pair_close(pair);
	}
}

/* A14, and what follows for the owner: its receives are flushed. */
static void
a_window_is_refused_through_another_queue_pair(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct pair_options options = pair_usual();
	struct plx_mw *mw = make_window(&pair->b);
	struct plx_key token = bind_window(&pair->b, mw, pair_remote_rights());
	struct plx_qp *first_a = pair->a.qp, *first_b = pair->b.qp;

	(void)state;
	pair->a.qp = side_qp(&pair->a, &options);
	pair->b.qp = side_qp(&pair->b, &options);
	pair_join(pair->a.qp, pair->b.qp, &options.attr);
	side_receive(&pair->b, 50, 0, 8);
	assert_int_equal(access_by(pair, PLX_WR_WRITE, token, AT, 8), PLX_WC_REMOTE_ACCESS);
	pair_expect(pair->b.recv_cq, 50, PLX_WC_FLUSHED);
	assert_int_equal(plx_qp_destroy(pair->a.qp), PLX_OK);
	assert_int_equal(plx_qp_destroy(pair->b.qp), PLX_OK);
	pair->a.qp = first_a;
	pair->b.qp = first_b;
	assert_int_equal(access_by(pair, PLX_WR_WRITE, token, AT, 8), PLX_WC_SUCCESS);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	pair_close(pair);
}

static void
a_token_sent_right_behind_its_bind_is_good(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct plx_bind bind = usual_terms(&pair->b, PLX_ACCESS_REMOTE_WRITE);
	struct plx_mw *mw = make_window(&pair->b);
	struct plx_key token;

	(void)state;
	side_receive(&pair->a, 1, 4096, sizeof(token));
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_OK);
	memcpy(pair->b.arena, &token, sizeof(token));
	side_post(&pair->b, PLX_WR_SEND, 2, PLX_WR_INLINE, 0, sizeof(token), NULL);
	/* b has reaped nothing of its own when a uses the key it received. */
	pair_expect(pair->a.recv_cq, 1, PLX_WC_SUCCESS);
	memcpy(&token, pair->a.arena + 4096, sizeof(token));
	assert_int_equal(access_by(pair, PLX_WR_WRITE, token, AT, 8), PLX_WC_SUCCESS);
	pair_expect(pair->b.send_cq, 900, PLX_WC_SUCCESS);
	pair_expect(pair->b.send_cq, 2, PLX_WC_SUCCESS);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	pair_close(pair);
}

static void
a_bound_window_is_not_bound_again_until_it_is_invalidated(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct plx_bind bind = usual_terms(&pair->b, PLX_ACCESS_REMOTE_READ);
	struct plx_mw *mw = make_window(&pair->b);
	struct beyond beyond = {.inv_key = bind_window(&pair->b, mw, pair_remote_rights())};
	struct plx_key token = {77};

	(void)state;
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_BUSY);
	assert_int_equal(token.v, 77);
	pair_expect_none(pair->b.send_cq);
	assert_int_equal(access_by(pair, PLX_WR_WRITE, beyond.inv_key, AT, 8), PLX_WC_SUCCESS);
	side_post(&pair->b, PLX_WR_LOCAL_INV, 3, 0, 0, 0, &beyond);
	pair_expect(pair->b.send_cq, 3, PLX_WC_SUCCESS);
	token = bind_window(&pair->b, mw, PLX_ACCESS_REMOTE_READ);
	assert_int_not_equal(token.v, beyond.inv_key.v);
	assert_int_equal(access_by(pair, PLX_WR_READ, token, AT, 8), PLX_WC_SUCCESS);
	/* the stale one */
	assert_int_equal(access_by(pair, PLX_WR_READ, beyond.inv_key, AT, 8), PLX_WC_REMOTE_ACCESS);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	pair_close(pair);
}

static void
a_send_with_invalidate_unbinds_the_peers_window_first(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_mw *mw = make_window(&pair->b);
	struct beyond beyond = {.inv_key = bind_window(&pair->b, mw, pair_remote_rights())};
	struct plx_wc wc;

	(void)state;
	side_receive(&pair->b, 4, 0, 64);
	side_post(&pair->a, PLX_WR_SEND_INV, 5, 0, 0, 64, &beyond);
	wc = pair_expect(pair->b.recv_cq, 4, PLX_WC_SUCCESS);
	assert_int_equal(wc.flags & (PLX_WC_RECV | PLX_WC_INV), PLX_WC_RECV | PLX_WC_INV);
	assert_int_equal(wc.inv_key.v, beyond.inv_key.v);
	assert_int_equal(wc.op, PLX_WR_SEND_INV);
	pair_expect(pair->a.send_cq, 5, PLX_WC_SUCCESS);
	/* invalidated: it can be bound again, and its old key is unknown */
	(void)bind_window(&pair->b, mw, pair_remote_rights());
	assert_int_equal(access_by(pair, PLX_WR_READ, beyond.inv_key, AT, 8), PLX_WC_REMOTE_ACCESS);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	pair_close(pair);
}

static void
a_region_is_busy_while_a_window_is_bound_to_it(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_mw *mw = make_window(&pair->b);
	struct beyond beyond = {.inv_key = bind_window(&pair->b, mw, pair_remote_rights())};

	(void)state;
	assert_int_equal(plx_mr_deregister(pair->b.mr), PLX_BUSY);
	/* refused: nothing has changed */
	assert_int_equal(access_by(pair, PLX_WR_WRITE, plx_mr_key(pair->b.mr), 0, 8),
			 PLX_WC_SUCCESS);
	assert_int_equal(access_by(pair, PLX_WR_WRITE, beyond.inv_key, AT, 8), PLX_WC_SUCCESS);
	side_post(&pair->b, PLX_WR_LOCAL_INV, 3, 0, 0, 0, &beyond);
	pair_expect(pair->b.send_cq, 3, PLX_WC_SUCCESS);
	assert_int_equal(plx_mr_deregister(pair->b.mr), PLX_OK);
	pair->b.mr = NULL;
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	pair_close(pair);
}

static void
destroying_a_bound_window_unbinds_it(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_mw *mw = make_window(&pair->b);
	struct plx_key token = bind_window(&pair->b, mw, pair_remote_rights());

	(void)state;
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	assert_int_equal(access_by(pair, PLX_WR_WRITE, token, AT, 8), PLX_WC_REMOTE_ACCESS);
	assert_int_equal(plx_mr_deregister(pair->b.mr), PLX_OK);
	pair->b.mr = NULL;
	pair_close(pair);
}

static void
invalidating_what_is_not_bound_fails_the_request(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = {.inv_key = plx_mr_key(pair->b.mr)};

	(void)state;
	/* a plain region's key cannot be invalidated */
	side_post(&pair->b, PLX_WR_LOCAL_INV, 3, 0, 0, 0, &beyond);
	pair_expect(pair->b.send_cq, 3, PLX_WC_LOCAL_INVALIDATE);
	pair_close(pair);
}

/* ---- refused binds ---- */

static void
a_bind_that_the_region_does_not_allow_is_denied(void **state)
{
	const uint32_t rights[] = {
		pair_rights() & ~(uint32_t)PLX_ACCESS_BIND,
		pair_rights() & ~(uint32_t)PLX_ACCESS_LOCAL_WRITE,
	};
	struct pair *pair = pair_open(NULL);
	struct plx_mw *mw = make_window(&pair->b);
	struct plx_bind bind = usual_terms(&pair->b, PLX_ACCESS_REMOTE_WRITE);
	struct plx_key token = {5};

	(void)state;
	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		assert_int_equal(
			plx_mr_register(pair->b.pd, pair->b.arena, PAIR_ARENA, rights[i], &bind.mr),
			PLX_OK);
		assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_DENIED);
		assert_int_equal(plx_mr_deregister(bind.mr), PLX_OK);
	}
	bind = usual_terms(&pair->b, PLX_ACCESS_REMOTE_WRITE);
	bind.va = (uintptr_t)pair->b.arena + PAIR_ARENA - BYTES + 1;
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_DENIED);
	bind = usual_terms(&pair->b, PLX_ACCESS_LOCAL_WRITE);
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_INVALID);
	bind = usual_terms(&pair->b, 0x100 | PLX_ACCESS_REMOTE_WRITE);
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_INVALID);
	bind = usual_terms(&pair->b, 0);
	bind.length = 0;
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_INVALID);
	bind = usual_terms(&pair->b, 0);
	bind.flags = PLX_WR_INLINE;
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_INVALID);
	assert_int_equal(token.v, 5);
	pair_expect_none(pair->b.send_cq);
	/* A13: the remote rights of the region do not matter, nor do none for the window */
	assert_int_equal(plx_mr_register(pair->b.pd, pair->b.arena, PAIR_ARENA,
					 PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_BIND, &bind.mr),
			 PLX_OK);
	bind.flags = 0;
	bind.access = pair_remote_rights();
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_OK);
	pair_expect(pair->b.send_cq, 900, PLX_WC_SUCCESS);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	assert_int_equal(plx_mr_deregister(bind.mr), PLX_OK);
	pair_close(pair);
}

static void
a_bind_across_domains_or_adapters_is_denied(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_mw *mw = make_window(&pair->b), *foreign_mw;
	struct plx_bind bind = usual_terms(&pair->b, PLX_ACCESS_REMOTE_WRITE);
	struct plx_pd *other;
	struct plx_key token = {5};

	(void)state;
	assert_int_equal(plx_pd_create(pair->b.adapter, &other), PLX_OK);
	assert_int_equal(plx_mw_create(other, &foreign_mw), PLX_OK);
	assert_int_equal(plx_post_bind(pair->b.qp, foreign_mw, &bind, &token), PLX_DENIED);
	bind.mr = pair->a.mr;
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_DENIED);
	assert_int_equal(token.v, 5);
	assert_int_equal(plx_mw_destroy(foreign_mw), PLX_OK);
	assert_int_equal(plx_pd_destroy(other), PLX_OK);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	pair_close(pair);
}

static void
a_bind_whose_post_is_refused_is_undone(void **state)
{
	struct pair_options options = pair_usual();
	struct plx_bind bind;
	struct plx_key token = {5};
	struct plx_mw *mw;
	struct pair *pair;

	(void)state;
	options.unconnected = true;
	pair = pair_open(&options);
	bind = usual_terms(&pair->b, PLX_ACCESS_REMOTE_WRITE);
	mw = make_window(&pair->b);
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_STATE);
	/* were it bound, the region would be busy, and the next bind refused with STATE too */
	assert_int_equal(plx_mr_deregister(pair->b.mr), PLX_OK);
	assert_int_equal(
		plx_mr_register(pair->b.pd, pair->b.arena, PAIR_ARENA, pair_rights(), &pair->b.mr),
		PLX_OK);
	pair_join(pair->a.qp, pair->b.qp, &options.attr);
	/* no receive at a: the first stays, and all behind it */
	for (uint64_t i = 0; i < PAIR_SQ; i++)
		side_post(&pair->b, PLX_WR_SEND, i, 0, 0, 8, NULL);
	bind = usual_terms(&pair->b, PLX_ACCESS_REMOTE_WRITE);
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_FULL);
	assert_int_equal(token.v, 5);
	assert_int_equal(plx_mr_deregister(pair->b.mr), PLX_OK);
	pair->b.mr = NULL;
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	pair_close(pair);
}

static void
a_bind_that_is_flushed_leaves_its_window_unbound(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct plx_bind bind = usual_terms(&pair->b, PLX_ACCESS_REMOTE_WRITE);
	struct plx_mw *mw = make_window(&pair->b), *late = make_window(&pair->b);
	struct plx_key token;

	(void)state;
	/* no receive at a, so the bind behind the SEND has not had its turn */
	side_post(&pair->b, PLX_WR_SEND, 1, 0, 0, 8, NULL);
	assert_int_equal(plx_post_bind(pair->b.qp, mw, &bind, &token), PLX_OK);
	assert_int_equal(plx_qp_flush(pair->b.qp), PLX_OK);
	pair_expect(pair->b.send_cq, 1, PLX_WC_FLUSHED);
	pair_expect(pair->b.send_cq, 900, PLX_WC_FLUSHED);
	/* in ERROR a bind is taken, and flushed */
	assert_int_equal(plx_post_bind(pair->b.qp, late, &bind, &token), PLX_OK);
	pair_expect(pair->b.send_cq, 900, PLX_WC_FLUSHED);
	assert_int_equal(plx_mr_deregister(pair->b.mr), PLX_OK);
	pair->b.mr = NULL;
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	assert_int_equal(plx_mw_destroy(late), PLX_OK);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_ATOMIC_TEST(a_window_grants_what_it_was_bound_for),
		PAIR_ATOMIC_TEST(a_window_does_not_grant_rights_it_was_not_bound_with),
		PAIR_TEST(a_byte_outside_the_window_is_refused),
		PAIR_TEST(a_window_is_refused_through_another_queue_pair),
		PAIR_TEST(a_token_sent_right_behind_its_bind_is_good),
		PAIR_TEST(a_bound_window_is_not_bound_again_until_it_is_invalidated),
		PAIR_TEST(a_send_with_invalidate_unbinds_the_peers_window_first),
		PAIR_TEST(a_region_is_busy_while_a_window_is_bound_to_it),
		PAIR_TEST(destroying_a_bound_window_unbinds_it),
		PAIR_TEST(invalidating_what_is_not_bound_fails_the_request),
		PAIR_TEST(a_bind_that_the_region_does_not_allow_is_denied),
		PAIR_TEST(a_bind_across_domains_or_adapters_is_denied),
		PAIR_TEST(a_bind_whose_post_is_refused_is_undone),
		PAIR_TEST(a_bind_that_is_flushed_leaves_its_window_unbound),
	};

	return pair_run_all("mw", tests, sizeof(tests) / sizeof(tests[0]));
}
