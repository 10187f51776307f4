/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See host_side.h.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "host_side.h"

enum {
	WRITTEN = 5000, /* bytes */
};

struct plx_ip
host_side_ip(unsigned last)
{
	return (struct plx_ip){.version = 4, .v = {10, 79, 0, (uint8_t)last}};
}

/* Some tests run once more with several engines, which hand over every packet to each other. */
static uint32_t
engines(void)
{
	const char *several = getenv("POLLUX_TEST_ENGINES");

	return several != NULL ? (uint32_t)atoi(several) : 1;
}

bool
host_side_offer(unsigned i, char name[PLX_ADAPTER_NAME_MAX + 1],
		struct plx_adapter_options *options)
{
	if (i >= 2)
		return false;
	snprintf(name, PLX_ADAPTER_NAME_MAX + 1, "%c", 'a' + (int)i);
	plx_adapter_options_init(options);
	options->engines = engines();
	snprintf(options->device, sizeof(options->device), "net_wire0,end=%u,shift=%d", i,
		 options->engines > 1);
	options->address[0].ip = host_side_ip(i + 1);
	options->address[0].prefix_bits = 24;
	options->addresses = 1;
	options->idle = getenv("POLLUX_TEST_IDLE") != NULL ? PLX_IDLE_ADAPTIVE : PLX_IDLE_YIELD;
	options->qps = 64;
	options->keys = 128;
	options->packets = 4096 * options->engines;
	snprintf(options->worker, sizeof(options->worker), "both");
	return true;
}

void
host_side_open(struct host_side *side, const char *name)
{
	/* What is not on engine 0, where connectors are, has more ways to go wrong. */
	const struct plx_cq_options cq = {.depth = 64, .engine = engines()};
	struct plx_qp_options qp = {.sq_depth = 16, .rq_depth = 16};
	struct plx_why why = {""};

	if (plx_adapter_open(name, NULL, &side->adapter, &why) != PLX_OK)
		fail_msg("%s", why.text);
	assert_int_equal(plx_pd_create(side->adapter, &side->pd), PLX_OK);
	side->memory = plx_mem_alloc(HOST_SIDE_BYTES, -1, NULL);
	assert_non_null(side->memory);
	assert_int_equal(plx_mr_register(side->pd, side->memory, HOST_SIDE_BYTES,
					 PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE,
					 &side->mr),
			 PLX_OK);
	assert_int_equal(plx_cq_create(side->adapter, &cq, &side->cq), PLX_OK);
	qp.send_cq = qp.recv_cq = side->cq;
	assert_int_equal(plx_qp_create(side->pd, &qp, &side->qp, NULL), PLX_OK);
}

void
host_side_close(struct host_side *side)
{
	assert_int_equal(plx_qp_destroy(side->qp), PLX_OK);
	assert_int_equal(plx_cq_destroy(side->cq), PLX_OK);
	assert_int_equal(plx_mr_deregister(side->mr), PLX_OK);
	plx_mem_free(side->memory);
	assert_int_equal(plx_pd_destroy(side->pd), PLX_OK);
	assert_int_equal(plx_adapter_close(side->adapter), PLX_OK);
}

void
host_side_join(struct host_side *a, struct host_side *b)
{
	struct plx_qp_address address[2];
	struct plx_qp_attr attr;

	plx_qp_attr_init(&attr);
	assert_int_equal(plx_qp_address(a->qp, NULL, &address[0]), PLX_OK);
	assert_int_equal(plx_qp_address(b->qp, NULL, &address[1]), PLX_OK);
	assert_int_equal(plx_qp_connect(a->qp, &address[1], &attr, 5000, NULL), PLX_OK);
	assert_int_equal(plx_qp_connect(b->qp, &address[0], &attr, 5000, NULL), PLX_OK);
}

void
host_side_write(struct host_side *a, struct host_side *b, uint8_t seed)
{
	const struct plx_sge sge = {(uintptr_t)a->memory, WRITTEN, plx_mr_key(a->mr)};
	struct plx_wc wc;

	memset(a->memory, seed, WRITTEN);
	assert_int_equal(plx_post_one(a->qp, PLX_WR(PLX_WR_WRITE, 0), seed, &sge,
				      (uintptr_t)b->memory, plx_mr_key(b->mr)),
			 PLX_OK);
	test_until(plx_cq_poll(a->cq, &wc, 1) == 1, (void)0);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(wc.wr_id, seed);
	assert_memory_equal(a->memory, b->memory, WRITTEN);
}

void
host_side_await_nothing(struct host_process *host)
{
	test_until(host_process_objects(host) == 0, usleep(200));
}

/* ---- tests ---- */

static struct host_process *served;

static int
set_up(void **state)
{
	(void)state;
	return host_process_begin(served) ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	return host_process_end(served) ? 0 : -1;
}

int
host_side_run(struct host_process *host, const struct CMUnitTest *tests, size_t n)
{
	served = host;
	host_process_fork(host, host_side_offer);
	return _cmocka_run_group_tests("programs at a host", tests, n, set_up, tear_down);
}

unsigned
host_side_descriptors(void)
{
	DIR *descriptors = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(descriptors);
	while (readdir(descriptors) != NULL)
		n++;
	closedir(descriptors);
	return n;
}
