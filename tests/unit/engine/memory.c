/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When memory runs out: whatever is being made is refused with NO_MEMORY, leaves nothing behind,
 * and can be made as soon as there is enough. The test fills DPDK's heap, and gives it back bit by
 * bit. Start with squeeze().
 */
#include <rte_malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine.h"
#include "pair.h"

enum {
	BLOCKS_MAX = 200000,
	LEAST = 256 /* [bytes] the smallest block that the hog takes */
};

static struct pair pair;

/* Everything that the heap has, in blocks that become smaller. */
struct hog {
	void **block;
	uint32_t blocks;
};

static void
fill_heap(struct hog *hog)
{
	hog->block = calloc(BLOCKS_MAX, sizeof(*hog->block));
	hog->blocks = 0;
	assert_non_null(hog->block);
	for (size_t bytes = (size_t)64 << 20; bytes >= LEAST; bytes /= 2)
		while (hog->blocks < BLOCKS_MAX &&
		       (hog->block[hog->blocks] = rte_malloc(NULL, bytes, 64)) != NULL)
			hog->blocks++;
}

/* A little of it back, the smallest blocks first. Returns: false when there is nothing left */
static bool
give_back(struct hog *hog)
{
	if (hog->blocks == 0)
		return false;
	rte_free(hog->block[--hog->blocks]);
	return true;
}

static void
give_all_back(struct hog *hog)
{
	while (give_back(hog))
		;
	free(hog->block);
}

/* Try again after each block that is given back, until it works. Returns: how often it did not */
static uint32_t squeeze(enum plx_status (*try)(void))
{
	struct plx_engine *engine = pair.side[0].engine;
	uint32_t users = atomic_load(&engine->users), qps = engine->qp_count, refused = 0;
	enum plx_status status;
	struct hog hog;

	fill_heap(&hog);
	while ((status = try()) == PLX_NO_MEMORY) {
		refused++;
		assert_int_equal(atomic_load(&engine->users), users);
		assert_int_equal(engine->qp_count, qps);
		assert_true(give_back(&hog));
	}
	assert_int_equal(status, PLX_OK);
	give_all_back(&hog);
	return refused;
}

static enum plx_status
try_queue(void)
{
	const struct plx_cqueue_config config = {.depth = 5000};

	return plx_cqueue_create(pair.side[0].engine, &config, &pair.side[0].send_cq);
}

static enum plx_status
try_resize(void)
{
	return plx_cqueue_resize(pair.side[0].send_cq, 40000);
}

static enum plx_status
try_shared_queue(void)
{
	const struct plx_squeue_config config = {.depth = 2000, .sges = PLX_SGE_MAX};

	return plx_squeue_create(pair.side[0].engine, &config, &pair.side[0].srq);
}

static enum plx_status
try_queue_pair(void)
{
	const struct plx_qpair_config config = {
		.domain = pair.side[0].domain,
		.send_cq = pair.side[0].send_cq,
		.recv_cq = pair.side[0].recv_cq,
		.caps = {.sq_depth = 20000, .sq_sges = 8, .inline_bytes = 200},
		.rq_depth = 20000,
		.rq_sges = 8};

	return plx_qpair_create(pair.side[0].engine, &config, &pair.side[0].qp);
}

static struct plx_engine *more;

static enum plx_status
try_engine(void)
{
	struct plx_engine_config config = pair.side[0].engine->config;
	struct plx_why why = {""};
	enum plx_status status;

	config.qps = PLX_ENGINE_QPS_MAX;
	status = plx_engine_create(&config, &more, &why);
	if (status == PLX_NO_MEMORY)
		assert_non_null(strstr(why.text, "no memory for an engine"));
	return status;
}

static void
what_finds_no_memory_is_refused_and_leaves_nothing(void **state)
{
	(void)state;
	for (int inline_mode = 0; inline_mode < 2; inline_mode++) {
		const struct plx_cqueue_config small = {.depth = 4};

		pair_open(&pair, inline_mode);
		pair_start(&pair);
		assert_true(squeeze(try_queue) > 0);
		assert_int_equal(
			plx_cqueue_create(pair.side[0].engine, &small, &pair.side[0].recv_cq),
			PLX_OK);
		(void)squeeze(try_resize);
		(void)squeeze(try_shared_queue);
		(void)squeeze(try_queue_pair);
		(void)squeeze(try_engine);
		plx_engine_destroy(more);
		pair_stop(&pair);
		pair_close(&pair);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_finds_no_memory_is_refused_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
