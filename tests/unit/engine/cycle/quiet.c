/* SPDX-License-Identifier: BSD-3-Clause
 *
 * With idle=spin, over net_wire and over net_memif: no allocation, no lock and no system call on
 * the data path once everything is connected, in inline mode and with a worker. Each claim has a
 * control that does what is forbidden and must be detected. Start with talk().
 */
#include <rte_malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine_pair.h"
#include "plx_ethdev.h"
#include "plx_net_wire.h"
#include "eal.h"
#include "watch.h"

enum {
	TALK,    /* phase 0: the data path */
	CONTROL, /* phase 1: what must be counted */
	ROUNDS = 3000
};

static struct pair pair;

/* ---- ports ---- */

static struct plx_ethdev *
open_device(const char *device, struct rte_mempool *pool)
{
	const struct plx_ethdev_config config = {.device = device,
						 .pool = pool,
						 .frame_want = 2000,
						 .queues = 1,
						 .start_timeout_ms = 5000};
	struct plx_ethdev *dev = NULL;
	struct plx_why why = {""};

	if (plx_ethdev_open(&config, &dev, &why) != PLX_OK) {
		fprintf(stderr, "%s\n", why.text);
		abort();
	}
	return dev;
}

static struct plx_ethdev *
open_wire(const char *device, struct rte_mempool *pool)
{
	struct plx_why why = {""};
	char name[64];

	PLX_ASSERT(plx_net_wire_attach(device, 1, name, &why) == PLX_OK);
	return open_device(name, pool);
}

static struct plx_ethdev *
open_memif(int i, const char *role, struct rte_mempool *pool)
{
	char device[96];

	snprintf(device, sizeof(device), "net_memif%d,role=%s,socket=plx-quiet%d,id=%d", i, role,
		 (int)getppid(), 0);
	return open_device(device, pool);
}

static void
wait_for_links(struct plx_ethdev **dev)
{
	for (int i = 0; i < 2; i++)
		while (!plx_ethdev_link(dev[i]))
			usleep(1000);
}

/* ---- the talk ---- */

static struct plx_worker *worker; /* NULL: inline mode */

/* At most this many completions; in inline mode the engines run here. */
static uint32_t
reap(struct plx_cq *cq, uint32_t n)
{
	uint64_t end = plx_clock_ns() + 60 * PLX_SEC;
	uint32_t got = 0;
	struct plx_wc wc[8];

	while (got < n) {
		uint32_t some = plx_engine_cq_poll(cq, wc, n - got < 8 ? n - got : 8);

		for (uint32_t i = 0; i < some; i++)
			PLX_ASSERT(wc[i].status == PLX_WC_SUCCESS);
		got += some;
		if (worker == NULL)
			pair_run(&pair, 1);
		PLX_ASSERT(plx_clock_ns() < end);
	}
	return got;
}

/* Every operation, single and in bursts, short and in several packets. */
static void
talk(uint32_t rounds)
{
	struct pair_side *a = &pair.side[0], *b = &pair.side[1];
	uint32_t fired;

	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t bytes = i % 16 == 0 ? 5000 : 64;

		for (uint32_t k = 0; k < 4; k++)
			PLX_ASSERT(pair_recv(b, i, 8192 * k, 8192) == PLX_OK);
		for (uint32_t k = 0; k < 4; k++)
			PLX_ASSERT(pair_send(a, i, 0, bytes, k % 2 ? PLX_WR_SOLICITED : 0) ==
				   PLX_OK);
		reap(b->recv_cq, 4);
		reap(a->send_cq, 4);
		PLX_ASSERT(pair_write(a, b, i, 65536, bytes, 0) == PLX_OK);
		PLX_ASSERT(pair_write(a, b, i, 65536, 8, PLX_WR_INLINE) == PLX_OK);
		PLX_ASSERT(pair_read(a, b, i, 65536, bytes, PLX_WR_FENCE) == PLX_OK);
		reap(a->send_cq, 3);
		/* Nobody sleeps: arming makes no system call either, but the first of a queue. */
		PLX_ASSERT(plx_cq_arm(a->send_cq, PLX_CQ_NOTIFY_ANY, &fired) == PLX_OK);
		(void)plx_cq_get_event(a->send_cq);
	}
}

/* One of each, so that a count of zero means something. */
static void
misbehave(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	void *volatile memory;

	watch_begin(CONTROL);
	memory = malloc(100);
	free(memory);
	memory = rte_malloc(NULL, 100, 0);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	(void)getppid();
	watch_end(CONTROL);
	rte_free(memory);
}

static void
run(bool wire, bool inline_mode)
{
	const struct plx_worker_config config = {
		.core = -1, .idle = PLX_IDLE_SPIN, .name = "plx-quiet"};
	struct pair_setup setup = {.inline_mode = inline_mode};
	struct pair_options options = pair_defaults(64);
	struct plx_ethdev *dev[2];
	struct plx_why why;

	test_eal_start();
	setup.pool = rte_pktmbuf_pool_create("quiet", 8191, 0, 0, PAIR_ROOM, -1);
	PLX_ASSERT(setup.pool != NULL);
	dev[0] = wire ? open_wire("net_wire0,end=0", setup.pool)
		      : open_memif(0, "server", setup.pool);
	dev[1] = wire ? open_wire("net_wire0,end=1", setup.pool)
		      : open_memif(1, "client", setup.pool);
	wait_for_links(dev);
	for (int i = 0; i < 2; i++)
		setup.port[i] = plx_ethdev_queue(dev[i], 0);
	/* A stopped thread must not look like loss; what would be sent again is not the point. */
	options.attr.ack_timeout_ns = PLX_SEC;
	pair_open_with(&pair, &setup);
	if (!inline_mode) {
		PLX_ASSERT(plx_worker_start(&config, &worker, &why) == PLX_OK);
		PLX_ASSERT(plx_worker_add(worker, pair.side[0].engine) == PLX_OK);
		PLX_ASSERT(plx_worker_add(worker, pair.side[1].engine) == PLX_OK);
	}
	pair_make_queues(&pair, &options);
	pair.side[0].qp = pair_qp(&pair, 0, &options);
	pair.side[1].qp = pair_qp(&pair, 1, &options);
	pair_join(&pair, 0, pair.side[0].qp, 1, pair.side[1].qp, &options);
	talk(20);
	watch_begin(TALK);
	talk(ROUNDS);
	watch_end(TALK);
	misbehave();
}

static void
wire_inline(void)
{
	run(true, true);
}

static void
wire_worker(void)
{
	run(true, false);
}

static void
memif_inline(void)
{
	run(false, true);
}

static void
memif_worker(void)
{
	run(false, false);
}

static void
expect_quiet(void (*body)(void))
{
	struct watch_counts counts[WATCH_PHASES] = {{0}};

	assert_int_equal(watch_run(body, counts), 0);
	assert_int_equal(counts[TALK].seen, 1);
	assert_int_equal(counts[TALK].allocations, 0);
	assert_int_equal(counts[TALK].locks, 0);
	assert_int_equal(counts[TALK].first_call, -1);
	assert_int_equal(counts[TALK].calls, 0);
	assert_int_equal(counts[CONTROL].seen, 1);
	assert_true(counts[CONTROL].allocations >= 3);
	assert_true(counts[CONTROL].locks >= 1);
	assert_true(counts[CONTROL].calls >= 1);
}

static void
net_wire_in_inline_mode_is_quiet(void **state)
{
	(void)state;
	expect_quiet(wire_inline);
}

static void
net_wire_with_a_worker_is_quiet(void **state)
{
	(void)state;
	expect_quiet(wire_worker);
}

static void
net_memif_in_inline_mode_is_quiet(void **state)
{
	(void)state;
	expect_quiet(memif_inline);
}

static void
net_memif_with_a_worker_is_quiet(void **state)
{
	(void)state;
	expect_quiet(memif_worker);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(net_wire_in_inline_mode_is_quiet),
		cmocka_unit_test(net_wire_with_a_worker_is_quiet),
		cmocka_unit_test(net_memif_in_inline_mode_is_quiet),
		cmocka_unit_test(net_memif_with_a_worker_is_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
