/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Out of memory: creating any object is refused with NO_MEMORY, leaves nothing behind, and succeeds
 * once there is enough. Each allocation fails in turn. Start with squeeze().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plx_engine_cycle.h"
#include "engine_pair.h"

static struct pair pair;

/* ---- memory that runs out ---- */

static uint32_t allocations; /* since the try began */
static uint32_t fails_at;    /* the one that finds nothing, from 1; 0: none */

void *__real_plx_heap_alloc(size_t bytes, int socket);
void *__real_plx_heap_queue(size_t bytes, int socket);
void *__wrap_plx_heap_alloc(size_t bytes, int socket);
void *__wrap_plx_heap_queue(size_t bytes, int socket);

/* Includes allocations of an engine's thread: it makes none. */
void *
__wrap_plx_heap_alloc(size_t bytes, int socket)
{
	return ++allocations == fails_at ? NULL : __real_plx_heap_alloc(bytes, socket);
}

void *
__wrap_plx_heap_queue(size_t bytes, int socket)
{
	return ++allocations == fails_at ? NULL : __real_plx_heap_queue(bytes, socket);
}

/* Let the first allocation fail, then the second, and so on, until nothing that failed was needed.
 * Returns: how often it was refused */
static uint32_t squeeze(enum plx_status (*try)(void))
{
	struct plx_engine *engine = pair.side[0].engine;
	uint32_t users = atomic_load(&engine->queues.users), qps = engine->qp_count, refused = 0;
	size_t queues = plx_heap_queues();
	enum plx_status status;

	for (fails_at = 1;; fails_at++, refused++) {
		allocations = 0;
		status = try();
		if (status != PLX_NO_MEMORY)
			break;
		assert_int_equal(atomic_load(&engine->queues.users), users);
		assert_int_equal(engine->qp_count, qps);
		assert_int_equal(plx_heap_queues(), queues);
	}
	assert_int_equal(status, PLX_OK);
	assert_true(allocations < fails_at);
	fails_at = 0;
	return refused;
}

static enum plx_status
try_queue(void)
{
	const struct plx_engine_cq_config config = {.depth = 5000};

	return plx_engine_cq_create(pair.side[0].engine, &config, &pair.side[0].send_cq);
}

static enum plx_status
try_resize(void)
{
	return plx_engine_cq_resize(pair.side[0].send_cq, 40000);
}

static enum plx_status
try_shared_queue(void)
{
	const struct plx_engine_srq_config config = {.depth = 2000, .sges = PLX_SGE_MAX};

	return plx_engine_srq_create(pair.side[0].engine, &config, &pair.side[0].srq);
}

static enum plx_status
try_queue_pair(void)
{
	const struct plx_engine_qp_config config = {
		.domain = pair.side[0].domain,
		.send_cq = pair.side[0].send_cq,
		.recv_cq = pair.side[0].recv_cq,
		.caps = {.sq_depth = 20000, .sq_sges = 8, .inline_bytes = 200},
		.rq_depth = 20000,
		.rq_sges = 8};

	return plx_engine_qp_create(pair.side[0].engine, &config, &pair.side[0].qp);
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
		const struct plx_engine_cq_config small = {.depth = 4};

		pair_open(&pair, inline_mode);
		pair_start(&pair);
		assert_true(squeeze(try_queue) > 0);
		assert_int_equal(
			plx_engine_cq_create(pair.side[0].engine, &small, &pair.side[0].recv_cq),
			PLX_OK);
		assert_true(squeeze(try_resize) > 0);
		assert_true(squeeze(try_shared_queue) > 1);
		assert_true(squeeze(try_queue_pair) > 3);
		assert_true(squeeze(try_engine) > 3);
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
