/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Protection domains, and that an adapter closes only when none of its objects is left. Start
 * anywhere.
 */
#include "verbs_pair.h"

#include <stdlib.h>

#include "plx_mem.h"

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
the_domain_after_the_last_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_pd **pd = calloc(PLX_MEM_DOMAINS_MAX, sizeof(struct plx_pd *));
	uint32_t n = PLX_MEM_DOMAINS_MAX - 1; /* one is the pair's */
	struct plx_pd *untouched = NULL;

	(void)state;
	assert_non_null(pd);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(plx_pd_create(pair->a.adapter, &pd[i]), PLX_OK);
	assert_int_equal(plx_pd_create(pair->a.adapter, &untouched), PLX_FULL);
	assert_null(untouched);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(plx_pd_destroy(pd[i]), PLX_OK);
	free(pd);
	pair_close(pair);
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
		PAIR_TEST(the_domain_after_the_last_is_refused),
		PAIR_TEST(an_adapter_does_not_close_while_an_object_is_left),
	};

	return pair_run_all("pd", tests, sizeof(tests) / sizeof(tests[0]));
}
