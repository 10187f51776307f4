/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which engine serves what: queues pinned by the program, queues that follow the first queue pair
 * that uses them, and queue pairs spread over the engines. Datagrams leave from every engine, and
 * in inline mode a pinned queue runs its engine alone. Start with make().
 */
#include "verbs_pair.h"
#include "hosted.h"
#include "plx_adapter_object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

enum {
	ENGINES = 3,
	QPS = 4 * ENGINES,
};

/* A queue pair with queues of its own. */
struct own {
	struct plx_cq *send_cq, *recv_cq;
	struct plx_srq *srq;
	struct plx_qp *qp;
};

static struct plx_cq *
cq_on(struct side *side, uint32_t engine)
{
	const struct plx_cq_options options = {.depth = 64, .engine = engine};
	struct plx_cq *cq = NULL;

	assert_int_equal(plx_cq_create(side->adapter, &options, &cq), PLX_OK);
	return cq;
}

static struct plx_srq *
srq_on(struct side *side, uint32_t engine)
{
	const struct plx_srq_options options = {.depth = 16, .sges = 1, .engine = engine};
	struct plx_srq *srq = NULL;

	assert_int_equal(plx_srq_create(side->adapter, &options, &srq), PLX_OK);
	return srq;
}

/* Returns: its status; *qp is NULL if it is not OK */
static enum plx_status
try_qp(struct side *side, const struct own *queues, enum plx_qp_type type, struct plx_qp **qp,
       struct plx_why *why)
{
	const struct plx_qp_options options = {
		.send_cq = queues->send_cq,
		.recv_cq = queues->recv_cq,
		.srq = queues->srq,
		.sq_depth = 16,
		.rq_depth = 16,
		.type = type,
		.qkey = 7,
	};

	*qp = NULL;
	return plx_qp_create(side->pd, &options, qp, why);
}

static struct own
make(struct side *side, struct own queues, enum plx_qp_type type)
{
	struct plx_why why = {""};

	if (try_qp(side, &queues, type, &queues.qp, &why) != PLX_OK)
		fail_msg("%s", why.text);
	return queues;
}

static struct own
make_anywhere(struct side *side)
{
	return make(side, (struct own){.send_cq = cq_on(side, 0), .recv_cq = cq_on(side, 0)},
		    PLX_QP_RC);
}

static void
unmake(struct own *own)
{
	assert_int_equal(plx_qp_destroy(own->qp), PLX_OK);
	if (own->srq != NULL)
		assert_int_equal(plx_srq_destroy(own->srq), PLX_OK);
	assert_int_equal(plx_cq_destroy(own->send_cq), PLX_OK);
	if (own->recv_cq != own->send_cq)
		assert_int_equal(plx_cq_destroy(own->recv_cq), PLX_OK);
}

static uint32_t
engine_of_qp(struct plx_qp *qp)
{
	struct plx_qp_info info;

	assert_int_equal(plx_qp_query(qp, &info), PLX_OK);
	return info.engine;
}

static void
an_adapter_tells_how_many_engines_it_has(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_adapter_info info;

	(void)state;
	plx_adapter_query(pair->a.adapter, &info);
	assert_int_equal(info.engines, ENGINES);
	/* Where the harness has put them. */
	assert_int_equal(engine_of_qp(pair->a.qp), ENGINES);
	assert_int_equal(engine_of_qp(pair->b.qp), 1);
	pair_close(pair);
}

static void
an_engine_that_is_not_there_is_refused(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct plx_cq_options cq_options = {.depth = 1, .engine = ENGINES + 1};
	const struct plx_srq_options srq_options = {.depth = 1, .sges = 1, .engine = UINT32_MAX};
	struct plx_srq *srq = NULL;
	struct plx_cq *cq = NULL;

	(void)state;
	assert_int_equal(plx_cq_create(pair->a.adapter, &cq_options, &cq), PLX_INVALID);
	assert_int_equal(plx_srq_create(pair->a.adapter, &srq_options, &srq), PLX_INVALID);
	assert_null(cq);
	assert_null(srq);
	pair_close(pair);
}

static void
queue_pairs_are_spread_and_their_queues_follow(void **state)
{
	struct pair *pair = pair_open(NULL);
	uint32_t on[ENGINES + 1] = {0};
	struct own own[QPS];

	(void)state;
	on[engine_of_qp(pair->a.qp)]++;
	for (uint32_t i = 0; i < QPS - 1; i++) {
		own[i] = make_anywhere(&pair->a);
		on[engine_of_qp(own[i].qp)]++;
	}
	for (uint32_t engine = 1; engine <= ENGINES; engine++)
		assert_int_equal(on[engine], QPS / ENGINES);
	/* Those of one engine go; the next ones are that engine's. */
	for (uint32_t i = 0; i < QPS - 1; i++) {
		if (engine_of_qp(own[i].qp) != 2)
			continue;
		unmake(&own[i]);
		own[i] = make_anywhere(&pair->a);
		assert_int_equal(engine_of_qp(own[i].qp), 2);
	}
	for (uint32_t i = 0; i < QPS - 1; i++)
		unmake(&own[i]);
	pair_close(pair);
}

static void
a_pinned_queue_takes_the_others_with_it(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct side *side = &pair->a;

	(void)state;
	for (uint32_t engine = 1; engine <= ENGINES; engine++) {
		for (int pinned = 0; pinned < 3; pinned++) {
			struct own own =
				make(side,
				     (struct own){.send_cq = cq_on(side, pinned == 0 ? engine : 0),
						  .recv_cq = cq_on(side, pinned == 1 ? engine : 0),
						  .srq = srq_on(side, pinned == 2 ? engine : 0)},
				     PLX_QP_RC);
			struct own next = own;

			assert_int_equal(engine_of_qp(own.qp), engine);
			/* A queue pair later, the place is the same. */
			assert_int_equal(plx_qp_destroy(own.qp), PLX_OK);
			next.srq = NULL;
			next = make(side, next, PLX_QP_RC);
			assert_int_equal(engine_of_qp(next.qp), engine);
			own.qp = next.qp;
			unmake(&own);
		}
	}
	pair_close(pair);
}

static void
queues_of_different_engines_are_refused_with_a_sentence(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct side *side = &pair->a;
	struct own queues = {.send_cq = cq_on(side, 1), .recv_cq = cq_on(side, 2)};
	struct plx_srq *srq = srq_on(side, 3);
	struct plx_why why = {""};
	struct plx_qp *qp;

	(void)state;
	assert_int_equal(try_qp(side, &queues, PLX_QP_RC, &qp, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, "of its sends is of engine 1"));
	assert_non_null(strstr(why.text, "of its receives of engine 2"));
	assert_non_null(strstr(why.text, "`engine`"));
	assert_null(qp);
	assert_int_equal(plx_cq_destroy(queues.recv_cq), PLX_OK);
	queues.recv_cq = cq_on(side, 0);
	queues.srq = srq;
	assert_int_equal(try_qp(side, &queues, PLX_QP_RC, &qp, &why), PLX_INVALID);
	assert_non_null(strstr(why.text, "shared receive queue of engine 3"));
	/* The refusal has placed nothing. */
	queues.srq = NULL;
	queues = make(side, queues, PLX_QP_RC);
	assert_int_equal(engine_of_qp(queues.qp), 1);
	unmake(&queues);
	assert_int_equal(plx_srq_destroy(srq), PLX_OK);
	pair_close(pair);
}

/* Armed before any engine knew it, it wakes; what was posted to it before is there. */
static void
a_queue_can_be_used_before_it_has_a_place(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct pair_options usual = pair_usual();
	struct side *side = &pair->a;

	(void)state;
	for (uint32_t engine = 1; engine <= ENGINES; engine++) {
		struct own own = {.send_cq = cq_on(side, engine),
				  .recv_cq = cq_on(side, 0),
				  .srq = srq_on(side, 0)};
		const struct plx_sge sge = {(uintptr_t)side->arena, 64, plx_mr_key(side->mr)};
		const struct plx_recv_wr receive = {.wr_id = 9, .sges = 1, .sge = &sge};
		struct own from = make_anywhere(side);
		uint32_t fired = 0;
		struct plx_wc wc;

		assert_int_equal(plx_cq_poll(own.recv_cq, &wc, 1), 0);
		assert_int_equal(plx_cq_arm(own.recv_cq, PLX_CQ_NOTIFY_ANY, &fired), PLX_OK);
		assert_int_equal(fired, 0);
		assert_true(plx_cq_fd(own.recv_cq) >= 0);
		assert_int_equal(plx_post_srq_recv(own.srq, &receive, 1, NULL), 1);
		own = make(side, own, PLX_QP_RC);
		assert_int_equal(engine_of_qp(own.qp), engine);
		/* From another queue pair of its own adapter. */
		pair_join(from.qp, own.qp, &usual.attr);
		assert_int_equal(side_try(side, from.qp, PLX_WR_SEND, 1, 0, 0, 64, NULL), PLX_OK);
		pair_until(plx_cq_get_event(own.recv_cq) == PLX_CQ_NOTIFY_ANY);
		pair_expect(own.recv_cq, 9, PLX_WC_SUCCESS);
		pair_expect(from.send_cq, 1, PLX_WC_SUCCESS);
		unmake(&from);
		unmake(&own);
	}
	pair_close(pair);
}

/* What an engine has to do gives the queue a place, where its queue pairs then are. */
static void
resizing_and_arming_a_shared_queue_give_it_a_place(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct side *side = &pair->a;
	struct own own = {.send_cq = cq_on(side, 0), .recv_cq = cq_on(side, 0)};
	struct own other = {.send_cq = cq_on(side, 0), .srq = srq_on(side, 0)};
	uint32_t engine;

	(void)state;
	assert_int_equal(plx_cq_resize(own.recv_cq, 128), PLX_OK);
	assert_int_equal(plx_srq_arm(other.srq, 4), PLX_OK);
	assert_int_equal(pair_async_event(side->adapter).kind, PLX_EVENT_SRQ_THRESHOLD);
	/* Both have the idlest, and keep it when another is. */
	other.recv_cq = other.send_cq;
	own = make(side, own, PLX_QP_RC);
	engine = engine_of_qp(own.qp);
	other = make(side, other, PLX_QP_RC);
	assert_int_equal(engine_of_qp(other.qp), engine);
	unmake(&other);
	unmake(&own);
	pair_close(pair);
}

/* ---- datagrams ---- */

static void
get_ready(struct plx_qp *qp)
{
	struct plx_why why = {""};

	for (enum plx_qp_state to = PLX_QP_INIT; to <= PLX_QP_RTS; to++)
		assert_int_equal(plx_qp_modify(qp, to, NULL, NULL, &why), PLX_OK);
}

static void
one_handle_serves_queue_pairs_of_all_engines(void **state)
{
	struct pair *pair = pair_open(NULL);
	const struct plx_ah_options there = {.remote = pair_ip(2)};
	struct own from[ENGINES], to;
	struct plx_why why = {""};
	struct plx_qp_info at;
	struct plx_ah *ah;

	(void)state;
	if (plx_ah_create(pair->a.pd, &there, &ah, &why) != PLX_OK)
		fail_msg("%s", why.text);
	to = make(&pair->b,
		  (struct own){.send_cq = cq_on(&pair->b, 2), .recv_cq = cq_on(&pair->b, 0)},
		  PLX_QP_UD);
	get_ready(to.qp);
	assert_int_equal(plx_qp_query(to.qp, &at), PLX_OK);
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct plx_cq *cq = cq_on(&pair->a, i + 1);

		from[i] = make(&pair->a, (struct own){.send_cq = cq, .recv_cq = cq}, PLX_QP_UD);
		get_ready(from[i].qp);
	}
	for (uint32_t round = 0; round < 2 * ENGINES; round++) {
		const struct plx_sge room = {(uintptr_t)pair->b.arena, 512, plx_mr_key(pair->b.mr)};
		const struct plx_recv_wr receive = {.wr_id = round, .sges = 1, .sge = &room};
		const struct plx_sge sge = {(uintptr_t)pair->a.arena, 64, plx_mr_key(pair->a.mr)};
		const struct plx_send_wr send = {.wr_id = round,
						 .op = PLX_WR_SEND,
						 .sges = 1,
						 .sge = &sge,
						 .ah = ah,
						 .remote_qpn = at.qpn,
						 .remote_qkey = 7};
		struct own *own = &from[round % ENGINES];

		assert_int_equal(plx_post_recv(to.qp, &receive, 1, NULL), 1);
		assert_int_equal(plx_post_send(own->qp, &send, 1, NULL), 1);
		pair_expect(own->send_cq, round, PLX_WC_SUCCESS);
		pair_expect(to.recv_cq, round, PLX_WC_SUCCESS);
	}
	assert_int_equal(plx_ah_destroy(ah), PLX_OK);
	for (uint32_t i = 0; i < ENGINES; i++)
		unmake(&from[i]);
	unmake(&to);
	pair_close(pair);
}

/* ---- inline ---- */

static uint64_t
cycles_of(const struct side *side, uint32_t engine)
{
	return plx_engine_counters(hosted(side->adapter)->engine[engine - 1])->cycles;
}

static void
polling_a_pinned_queue_runs_its_engine_alone(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct plx_cq *pinned = cq_on(&pair->a, 2), *any = cq_on(&pair->a, 0);
	uint64_t before[ENGINES + 1];
	struct plx_wc wc;

	(void)state;
	for (uint32_t engine = 1; engine <= ENGINES; engine++)
		before[engine] = cycles_of(&pair->a, engine);
	assert_int_equal(plx_cq_poll(pinned, &wc, 1), 0);
	for (uint32_t engine = 1; engine <= ENGINES; engine++)
		assert_int_equal(cycles_of(&pair->a, engine), before[engine] + (engine == 2));
	assert_int_equal(plx_cq_poll(any, &wc, 1), 0);
	plx_adapter_poll(pair->a.adapter);
	for (uint32_t engine = 1; engine <= ENGINES; engine++)
		assert_int_equal(cycles_of(&pair->a, engine), before[engine] + 2 + (engine == 2));
	assert_int_equal(plx_cq_destroy(any), PLX_OK);
	assert_int_equal(plx_cq_destroy(pinned), PLX_OK);
	pair_close(pair);
}

static void *
prepare(void *adapter)
{
	assert_int_equal(rte_lcore_id(), LCORE_ID_ANY);
	assert_true(plx_adapter_prepare_thread(adapter));
	assert_int_not_equal(rte_lcore_id(), LCORE_ID_ANY);
	/* Once is enough. */
	assert_true(plx_adapter_prepare_thread(adapter));
	return NULL;
}

static void
a_thread_is_prepared_to_poll(void **state)
{
	struct pair *pair = pair_open(NULL);
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, prepare, pair->a.adapter), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(an_adapter_tells_how_many_engines_it_has),
		PAIR_TEST(an_engine_that_is_not_there_is_refused),
		PAIR_TEST(queue_pairs_are_spread_and_their_queues_follow),
		PAIR_TEST(a_pinned_queue_takes_the_others_with_it),
		PAIR_TEST(queues_of_different_engines_are_refused_with_a_sentence),
		PAIR_TEST(a_queue_can_be_used_before_it_has_a_place),
		PAIR_TEST(resizing_and_arming_a_shared_queue_give_it_a_place),
		PAIR_TEST(one_handle_serves_queue_pairs_of_all_engines),
	};

	const struct CMUnitTest inline_tests[] = {
		PAIR_TEST(polling_a_pinned_queue_runs_its_engine_alone),
		PAIR_TEST(a_thread_is_prepared_to_poll),
	};
	int failures;

	setenv("POLLUX_TEST_ENGINES", "3", 1);
	failures = pair_run_all("placement", tests, PLX_COUNT_OF(tests));
	return failures +
	       pair_run_in(PLX_MODE_INLINE, "placement", inline_tests, PLX_COUNT_OF(inline_tests));
}
