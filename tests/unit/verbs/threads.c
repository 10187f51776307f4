/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Concurrency: sixty-four queue pairs on two completion queues, and, with a worker, eight threads
 * that post to one queue pair, register and create at the same time. Start anywhere.
 */
#include "verbs_pair.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
	PAIRS = 64,
	ROUNDS = 40,
	THREADS = 8,
	POSTS = 2000,
};

static void
sixty_four_queue_pairs_talk_at_once(void **state)
{
	struct pair_options options = pair_usual();
	struct pair *pair = pair_open(NULL);
	struct plx_qp *a[PAIRS], *b[PAIRS];
	struct side end = pair->b;
	uint32_t sent[PAIRS] = {0}, received[PAIRS] = {0};

	(void)state;
	for (uint32_t i = 0; i < PAIRS; i++) {
		options.qp.context = i;
		a[i] = side_qp(&pair->a, &options);
		b[i] = side_qp(&pair->b, &options);
		pair_join(a[i], b[i], &options.attr);
		for (uint32_t j = 0; j < ROUNDS; j++) {
			end.qp = b[i];
			side_receive(&end, j, i * 64, 64);
		}
	}
	for (uint32_t j = 0; j < ROUNDS; j++)
		for (uint32_t i = 0; i < PAIRS; i++)
			assert_int_equal(side_try(&pair->a, a[i], PLX_WR_SEND, j, 0, 0, 64, NULL),
					 PLX_OK);
	for (uint32_t n = 0; n < PAIRS * ROUNDS; n++) {
		struct plx_wc wc = pair_reap(pair->a.send_cq);

		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(wc.wr_id, sent[wc.context]++);
		wc = pair_reap(pair->b.recv_cq);
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_int_equal(wc.wr_id, received[wc.context]++);
	}
	pair_expect_none(pair->a.send_cq);
	pair_expect_none(pair->b.recv_cq);
	for (uint32_t i = 0; i < PAIRS; i++) {
		assert_int_equal(sent[i], ROUNDS);
		assert_int_equal(plx_qp_destroy(a[i]), PLX_OK);
		assert_int_equal(plx_qp_destroy(b[i]), PLX_OK);
	}
	pair_close(pair);
}

/* ---- eight threads ---- */

struct poster {
	struct pair *pair;
	uint32_t number;
	pthread_t thread;
	uint32_t refused; /* with a status that it must not have */
};

static atomic_uint running;

/* Every thread its own eight bytes at the peer, counted up. */
static void *
post_writes(void *context)
{
	struct poster *poster = context;
	struct side *a = &poster->pair->a;
	const uint32_t at = poster->number * 64;

	for (uint64_t i = 0; i < POSTS;) {
		const uint64_t wr_id = (uint64_t)poster->number << 32 | i;
		const struct plx_sge sge = {(uintptr_t)&wr_id, sizeof(wr_id), {0}};
		const struct plx_send_wr wr = {.wr_id = wr_id,
					       .op = PLX_WR_WRITE,
					       .flags = PLX_WR_INLINE,
					       .sge = &sge,
					       .sges = 1,
					       .remote_va = (uintptr_t)poster->pair->b.arena + at,
					       .rkey = plx_mr_key(poster->pair->b.mr)};
		enum plx_status why;

		if (plx_post_send(a->qp, &wr, 1, &why) == 1) {
			i++;
			continue;
		}
		poster->refused += why != PLX_FULL;
		sched_yield();
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static void
eight_threads_post_to_one_queue_pair(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct poster poster[THREADS] = {{0}};
	uint64_t seen[THREADS] = {0}, last;

	(void)state;
	atomic_store(&running, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		poster[i] = (struct poster){.pair = pair, .number = i};
		assert_int_equal(pthread_create(&poster[i].thread, NULL, post_writes, &poster[i]),
				 0);
	}
	for (uint32_t n = 0; n < THREADS * POSTS; n++) {
		struct plx_wc wc = pair_reap(pair->a.send_cq);

		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_in_range(wc.wr_id >> 32, 0, THREADS - 1);
		assert_int_equal((uint32_t)wc.wr_id, seen[wc.wr_id >> 32]++);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(poster[i].thread, NULL), 0);
		assert_int_equal(poster[i].refused, 0);
		memcpy(&last, pair->b.arena + i * 64, sizeof(last));
		assert_int_equal(last, (uint64_t)i << 32 | (POSTS - 1));
	}
	pair_expect_none(pair->a.send_cq);
	pair_close(pair);
}

/* Objects created and destroyed on the adapter on which the other threads post. */
static void *
make_and_break(void *context)
{
	struct poster *poster = context;
	struct side *a = &poster->pair->a;
	const struct plx_cq_options options = {.depth = 16};
	uint8_t memory[256];

	for (uint32_t i = 0; i < 200; i++) {
		struct plx_mr *mr;
		struct plx_mw *mw;
		struct plx_cq *cq;
		struct plx_pd *pd;

		poster->refused += plx_pd_create(a->adapter, &pd) != PLX_OK;
		poster->refused +=
			plx_mr_register(pd, memory, sizeof(memory), pair_rights(), &mr) != PLX_OK;
		poster->refused += plx_mw_create(pd, &mw) != PLX_OK;
		poster->refused += plx_cq_create(a->adapter, &options, &cq) != PLX_OK;
		poster->refused += plx_pd_destroy(pd) != PLX_BUSY;
		poster->refused += plx_cq_destroy(cq) != PLX_OK;
		poster->refused += plx_mw_destroy(mw) != PLX_OK;
		poster->refused += plx_mr_deregister(mr) != PLX_OK;
		poster->refused += plx_pd_destroy(pd) != PLX_OK;
	}
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static void
threads_make_and_break_objects_while_traffic_runs(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct beyond beyond = at_peer(&pair->b, 0);
	struct poster poster[4] = {{0}};
	uint64_t done = 0;

	(void)state;
	atomic_store(&running, 4);
	for (uint32_t i = 0; i < 4; i++) {
		poster[i].pair = pair;
		assert_int_equal(
			pthread_create(&poster[i].thread, NULL, make_and_break, &poster[i]), 0);
	}
	while (atomic_load(&running) > 0) {
		side_post(&pair->a, PLX_WR_WRITE, done, 0, 0, 4000, &beyond);
		pair_expect(pair->a.send_cq, done++, PLX_WC_SUCCESS);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(poster[i].thread, NULL), 0);
		assert_int_equal(poster[i].refused, 0);
	}
	assert_true(done > 0);
	pair_close(pair);
}

/* Several drain one completion queue: each entry reaches exactly one of them. */
static struct plx_cq *drained;
static atomic_uint taken[THREADS * POSTS];
static atomic_uint taken_count;

static void *
drain(void *context)
{
	uint64_t late = test_ns() + TEST_PATIENCE_NS;
	struct plx_wc wc[7];

	(void)context;
	while (atomic_load(&taken_count) < THREADS * POSTS && test_ns() < late) {
		uint32_t n = plx_cq_poll(drained, wc, 7);

		for (uint32_t i = 0; i < n; i++)
			atomic_fetch_add(
				&taken[(wc[i].wr_id >> 32) * POSTS + (uint32_t)wc[i].wr_id], 1);
		atomic_fetch_add(&taken_count, n);
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

static void
an_entry_reaches_one_of_several_that_poll(void **state)
{
	struct pair *pair = pair_open(NULL);
	struct poster poster[THREADS] = {{0}};
	pthread_t drainer[4];

	(void)state;
	drained = pair->a.send_cq;
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&drainer[i], NULL, drain, NULL), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		poster[i] = (struct poster){.pair = pair, .number = i};
		assert_int_equal(pthread_create(&poster[i].thread, NULL, post_writes, &poster[i]),
				 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(poster[i].thread, NULL), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pthread_join(drainer[i], NULL), 0);
	for (uint32_t i = 0; i < THREADS * POSTS; i++)
		assert_int_equal(atomic_load(&taken[i]), 1);
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest one_thread[] = {
		PAIR_TEST(sixty_four_queue_pairs_talk_at_once),
	};
	const struct CMUnitTest threads[] = {
		PAIR_TEST(eight_threads_post_to_one_queue_pair),
		PAIR_TEST(threads_make_and_break_objects_while_traffic_runs),
		PAIR_TEST(an_entry_reaches_one_of_several_that_poll),
	};

	return pair_run_all("many", one_thread, sizeof(one_thread) / sizeof(one_thread[0])) +
	       pair_run_in(PLX_MODE_WORKER, "threads", threads,
			   sizeof(threads) / sizeof(threads[0]));
}
