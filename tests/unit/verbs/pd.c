/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protection domains, and that an adapter closes only when none of its objects is left. Start
 * anywhere.
 */
#include "verbs_pair.h"

#include <stdlib.h>

static void
a_domain_is_busy_while_a_region_uses_it(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_pd *pd;
	struct plx_mr *mr;

	(void)state;
	assert_int_equal(plx_pd_create(pair->a.adapter, &pd), PLX_OK);
	assert_int_equal(plx_mr_register(pd, pair->a.arena, 1, 0, &mr), PLX_OK);
	assert_int_equal(plx_pd_destroy(pd), PLX_BUSY);
	assert_int_equal(plx_mr_deregister(mr), PLX_OK);
	assert_int_equal(plx_pd_destroy(pd), PLX_OK);
	pair_close(pair);
}

static void
a_domain_is_busy_while_a_window_uses_it(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_pd *pd;
	struct plx_mw *mw;

	(void)state;
	assert_int_equal(plx_pd_create(pair->a.adapter, &pd), PLX_OK);
	assert_int_equal(plx_mw_create(pd, &mw), PLX_OK);
	assert_int_equal(plx_pd_destroy(pd), PLX_BUSY);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	assert_int_equal(plx_pd_destroy(pd), PLX_OK);
	pair_close(pair);
}

static void
a_domain_is_busy_while_a_queue_pair_uses_it(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct pair_options options = pair_usual();
	struct side end = pair->a;
	struct plx_qp *qp;

	(void)state;
	assert_int_equal(plx_pd_create(pair->a.adapter, &end.pd), PLX_OK);
	qp = side_qp(&end, &options);
	assert_int_equal(plx_pd_destroy(end.pd), PLX_BUSY);
	assert_int_equal(plx_qp_destroy(qp), PLX_OK);
	assert_int_equal(plx_pd_destroy(end.pd), PLX_OK);
	pair_close(pair);
}

static void
create_domains(struct plx_adapter *adapter, struct plx_pd **pd, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(plx_pd_create(adapter, &pd[i]), PLX_OK);
}

static void
destroy_domains(struct plx_pd **pd, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(plx_pd_destroy(pd[i]), PLX_OK);
}

/* The pair is in the last domain, which works as well as any. */
static void
an_adapter_has_65536_domains(void **state)
{
	const uint32_t most = 65536;
	struct plx_pd **pd = calloc(most, sizeof(struct plx_pd *));
	struct pair *pair = pair_open(NULL);
	struct plx_adapter *adapter = pair->a.adapter;
	struct plx_pd *untouched = NULL;
	struct beyond beyond;

	(void)state;
	assert_non_null(pd);
	pair_close(pair);
	create_domains(adapter, pd, most - 1);
	pair = pair_open(NULL);
	assert_int_equal(plx_pd_create(adapter, &untouched), PLX_FULL);
	assert_null(untouched);
	pair_deliver(pair, 3, 0);
	beyond = at_peer(&pair->a, 4096);
	side_fill(&pair->b, 0, 100, 1);
	side_post(&pair->b, PLX_WR_WRITE, 7, 0, 0, 100, &beyond);
	pair_expect(pair->b.send_cq, 7, PLX_WC_SUCCESS);
	side_assert_filled(&pair->a, 4096, 100, 1);
	pair_close(pair);
	destroy_domains(pd, most - 1);

	create_domains(adapter, pd, most);
	assert_int_equal(plx_pd_create(adapter, &untouched), PLX_FULL);
	destroy_domains(pd, most);
	free(pd);
}

/* From everything to nothing, one object at a time; the group's end closes the adapter for good. */
static void
an_adapter_does_not_close_while_an_object_is_left(void **state)
{
	struct pair_options options = pair_usual();
	struct plx_mw *mw;
	struct pair *pair;
	struct side *a;

	(void)state;
	options.srq = (struct plx_srq_options){.depth = 8, .sges = 1};
	pair = pair_open(&options);
	a = &pair->a;
	assert_int_equal(plx_mw_create(a->pd, &mw), PLX_OK);
	assert_int_equal(plx_adapter_close(a->adapter), PLX_BUSY);
	assert_int_equal(plx_mw_destroy(mw), PLX_OK);
	assert_int_equal(plx_adapter_close(a->adapter), PLX_BUSY);
	assert_int_equal(plx_qp_destroy(a->qp), PLX_OK);
	a->qp = NULL;
	assert_int_equal(plx_adapter_close(a->adapter), PLX_BUSY);
	assert_int_equal(plx_mr_deregister(a->mr), PLX_OK);
	a->mr = NULL;
	assert_int_equal(plx_adapter_close(a->adapter), PLX_BUSY);
	assert_int_equal(plx_pd_destroy(a->pd), PLX_OK);
	a->pd = NULL;
	assert_int_equal(plx_adapter_close(a->adapter), PLX_BUSY);
	assert_int_equal(plx_srq_destroy(a->srq), PLX_OK);
	a->srq = NULL;
	assert_int_equal(plx_adapter_close(a->adapter), PLX_BUSY);
	assert_int_equal(plx_cq_destroy(a->send_cq), PLX_OK);
	a->send_cq = NULL;
	assert_int_equal(plx_adapter_close(a->adapter), PLX_BUSY);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_domain_is_busy_while_a_region_uses_it),
		PAIR_TEST(a_domain_is_busy_while_a_window_uses_it),
		PAIR_TEST(a_domain_is_busy_while_a_queue_pair_uses_it),
		PAIR_TEST(an_adapter_has_65536_domains),
		PAIR_TEST(an_adapter_does_not_close_while_an_object_is_left),
	};

	return pair_run_all("pd", tests, sizeof(tests) / sizeof(tests[0]));
}
