/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What each way to idle costs: the share of a core that a worker without work takes, and the round
 * trip of a WRITE of 8 bytes, to its completion, when one follows the other and when a program
 * makes a pause before each. The ways take turns, each with adapters of its own on the embedded
 * link. One worker on core 1 has both ends, so that posts wake it; then it has the far end alone,
 * whose port cannot wake it, and the program polls the near one, so that packets are what it naps
 * for. It needs two cores, and is not a test. Start at measure().
 *
 * It prints every round in the format of ndperf's results; tests/bench/run judges them. Exit
 * status: 0, or 2 when it could not measure.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "cpu.h"
#include "end.h"
#include "must.h"
#include "plx_verbs.h"
#include "result.h"
#include "window.h"

enum {
	BYTES = 8,
	ROUNDS = 3,
	WARM_UP = 2000, /* round trips */
	CONNECT_MS = 10000,
	IDLE_MS = 1000,
	PAUSES = 3,
	PACKETS = 4096,
};

#define WORKER "plx-idle"

static const struct {
	const char *name;
	enum plx_idle idle;
} ways[] = {
	{"spin", PLX_IDLE_SPIN},
	{"pause", PLX_IDLE_PAUSE},
	{"yield", PLX_IDLE_YIELD},
	{"adaptive", PLX_IDLE_ADAPTIVE},
};

/* Round trips with a pause before each. */
static const struct {
	uint32_t ms, trips;
	const char *after_posts, *after_packets, *share; /* names of tests */
} pauses[PAUSES] = {
	{0, 20000, "posts", "packets", NULL},
	{1, 200, "posts-1ms", "packets-1ms", "share-1ms"},
	{100, 4, "posts-100ms", "packets-100ms", "share-100ms"},
};

static struct end ends[2];
static uint8_t *memory;
static json_t *results;

/* ---- set-up ---- */

static void
open_end(int i, enum plx_idle idle, bool is_inline)
{
	const struct plx_cq_options cq = {.depth = 16};
	const struct plx_qp_options qp = {.sq_depth = 4, .rq_depth = 1};
	struct plx_adapter_options options;
	struct plx_adapter *adapter;

	plx_adapter_options_init(&options);
	options.mode = is_inline ? PLX_MODE_INLINE : PLX_MODE_WORKER;
	options.idle = idle;
	options.core = 1;
	options.packets = PACKETS;
	snprintf(options.worker, sizeof(options.worker), "%s", is_inline ? "" : WORKER);
	snprintf(options.device, sizeof(options.device), "net_wire0,end=%d", i);
	options.address[0].ip = (struct plx_ip){.version = 4, .v = {10, 55, 70, (uint8_t)(1 + i)}};
	options.address[0].prefix_bits = 24;
	options.addresses = 1;
	must(plx_adapter_open(i == 0 ? "near" : "far", &options, &adapter, &why), "adapter");
	end_make(&ends[i], adapter, &cq, qp, memory, BYTES);
}

static void
join(void)
{
	struct plx_qp_address address[2];
	struct plx_qp_attr attr;

	plx_qp_attr_init(&attr);
	for (int i = 0; i < 2; i++)
		must(plx_qp_address(ends[i].qp, NULL, &address[i]), "address");
	for (int i = 0; i < 2; i++)
		must(plx_qp_connect(ends[i].qp, &address[1 - i], &attr, CONNECT_MS, &why),
		     "connection");
}

static void
close_ends(void)
{
	for (int i = 0; i < 2; i++) {
		struct end *end = &ends[i];

		must(plx_qp_destroy(end->qp), "the end of a queue pair");
		must(plx_mr_deregister(end->mr), "the end of a region");
		must(plx_cq_destroy(end->cq), "the end of a completion queue");
		must(plx_pd_destroy(end->pd), "the end of a domain");
		must(plx_adapter_close(end->adapter), "the end of an adapter");
	}
}

/* ---- figures ---- */

/* The id of the worker's thread. */
static pid_t
worker_id(void)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *entry;

	while (threads != NULL && (entry = readdir(threads)) != NULL) {
		char path[320], name[32] = "";
		FILE *file;
		pid_t id = atoi(entry->d_name);

		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)id);
		file = id > 0 ? fopen(path, "re") : NULL;
		if (file == NULL)
			continue;
		if (fscanf(file, "%31s", name) != 1)
			name[0] = '\0';
		fclose(file);
		if (strcmp(name, WORKER) != 0)
			continue;
		closedir(threads);
		return id;
	}
	stop("there is no thread %s", WORKER);
}

/* [ns] of a core that the worker has had. */
static uint64_t
worker_ns(void)
{
	/* as pthread_getcpuclockid() makes it, which wants a thread of our own */
	clockid_t clock = (clockid_t)(~(unsigned)worker_id() << 3 | 6);
	struct timespec time;

	if (clock_gettime(clock, &time) != 0)
		stop("the worker's clock cannot be read");
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void
sleep_ms(uint32_t ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

	nanosleep(&time, NULL);
}

static void
add(const char *way, const char *test, const char *unit, double value)
{
	result_add(results, &(struct bench_result){.op = way,
						   .test = test,
						   .api = "verbs",
						   .unit = unit,
						   .size = BYTES,
						   .value = value});
}

/* In millionths of a core, since `before` and `start`. */
static void
add_share(const char *way, const char *test, uint64_t before, double start)
{
	add(way, test, "core", (double)(worker_ns() - before) * 1e6 / (now_ns() - start));
}

/* Returns: [ns] */
static double
round_trip(void)
{
	const struct plx_sge sge = {(uintptr_t)memory, BYTES, plx_mr_key(ends[0].mr)};
	uint64_t start = ticks();
	struct plx_wc wc;

	must(plx_post_one(ends[0].qp, PLX_WR(PLX_WR_WRITE, 0), 1, &sge, (uintptr_t)memory,
			  plx_mr_key(ends[1].mr)),
	     "post");
	while (plx_cq_poll(ends[0].cq, &wc, 1) == 0)
		continue;
	if (wc.status != PLX_WC_SUCCESS)
		stop("a WRITE: %s", plx_wc_text((enum plx_wc_status)wc.status));
	return ticks_to_ns((double)(ticks() - start));
}

static void
measure_trips(const char *way, bool by_posts)
{
	static double trips[20000];

	for (uint32_t i = 0; i < WARM_UP; i++)
		(void)round_trip();
	for (int p = 0; p < PAUSES; p++) {
		uint64_t before = worker_ns();
		double start = now_ns();

		for (uint32_t i = 0; i < pauses[p].trips; i++) {
			if (pauses[p].ms > 0)
				sleep_ms(pauses[p].ms);
			trips[i] = round_trip();
		}
		add(way, by_posts ? pauses[p].after_posts : pauses[p].after_packets, "ns",
		    median(trips, pauses[p].trips));
		if (by_posts && pauses[p].share != NULL)
			add_share(way, pauses[p].share, before, start);
	}
}

static void
measure_idle(const char *way)
{
	uint64_t before;
	double start;

	sleep_ms(10);
	before = worker_ns();
	start = now_ns();
	sleep_ms(IDLE_MS);
	add_share(way, "share", before, start);
}

static void
measure(void)
{
	for (int round = 0; round < ROUNDS; round++)
		for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
			for (int far_alone = 0; far_alone < 2; far_alone++) {
				open_end(0, ways[w].idle, far_alone);
				open_end(1, ways[w].idle, false);
				join();
				measure_trips(ways[w].name, !far_alone);
				if (round == 0 && !far_alone)
					measure_idle(ways[w].name);
				close_ends();
			}
}

int
main(void)
{
	static const int cores[] = {0, 1};
	struct calibration machine;

	calibrate(cores, &machine);
	if (!cpu_pin(0))
		stop("core 0 cannot be had");
	memory = aligned_alloc(64, 64);
	results = json_array();
	if (memory == NULL)
		stop("no memory");
	measure();
	return result_write(results, &machine, stdout) ? 0 : 2;
}
