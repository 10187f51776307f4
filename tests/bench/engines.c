/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a second engine brings, and what handing packets over costs: WRITEs of 64 bytes between two
 * adapters joined by the embedded link, in turns of milliseconds. A lane is a thread on a core of
 * its own that runs, inline, one engine of each adapter and one queue pair between them. One lane
 * of adapters with one engine is held against two lanes: of adapters with two engines, whose
 * packets arrive where they belong or always at the other one, and of two pairs of adapters, which
 * share nothing and show what the cores give. It needs two cores, and is not a test. Start at
 * measure().
 *
 * It prints every round in the format of ndperf's results; tests/bench/run judges them. Exit
 * status: 0, or 2 when it could not measure.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "cpu.h"
#include "end.h"
#include "must.h"
#include "plx_verbs.h"
#include "result.h"

enum {
	LANES = 2,
	BYTES = 64,
	BATCH = 32,   /* messages of a post; the last one is signaled */
	BATCHES = 16, /* of a queue pair under way */
	ROUNDS = 12,
	TURN_MS = 60,
	PAUSE_MS = 5, /* before it counts */
	CONNECT_MS = 10000,
	PACKETS = 4096, /* of each engine; all adapters are open at once */
};

enum kind {
	ONE,
	OWN,
	HANDED,
	APART,
	KINDS
};

static const struct {
	const char *op, *shift;
	uint32_t lanes, pairs; /* pairs of adapters */
} kinds[KINDS] = {
	[ONE] = {"write-one", "0", 1, 1},
	[OWN] = {"write-own", "0", 2, 1},
	[HANDED] = {"write-handed", "1", 2, 1},
	[APART] = {"write-apart", "0", 2, 2},
};

/* One end of a lane. */
struct lane {
	struct end from, to;
	struct plx_send_wr batch[BATCH];
	struct plx_sge sge;
	uint32_t under_way; /* batches */
	uint64_t done;      /* batches, while it counts */
	uint8_t *memory;
};

static struct lane lanes[KINDS][LANES];
static double rates[KINDS][ROUNDS];

/* What both threads do now. */
static atomic_int phase; /* 0: fill and run, 1: count, 2: drain */
static atomic_uint drained;
static pthread_barrier_t barrier;
static enum kind now;
static bool ended;

/* ---- set-up ---- */

static struct plx_adapter *
open_adapter(enum kind kind, uint32_t pair, int end)
{
	struct plx_adapter_options options;
	struct plx_adapter *adapter;
	char name[PLX_ADAPTER_NAME_MAX + 1];

	plx_adapter_options_init(&options);
	options.mode = PLX_MODE_INLINE;
	options.engines = kinds[kind].lanes / kinds[kind].pairs;
	snprintf(options.device, sizeof(options.device), "net_wire%u,end=%d,shift=%s",
		 (uint32_t)kind * LANES + pair, end, kinds[kind].shift);
	options.address[0].ip = (struct plx_ip){
		.version = 4, .v = {10, 55, (uint8_t)(kind * LANES + pair), (uint8_t)(1 + end)}};
	options.address[0].prefix_bits = 24;
	options.addresses = 1;
	options.path_mtu = 1024;
	options.packets = PACKETS * options.engines;
	snprintf(name, sizeof(name), "e%u-%u-%u", (unsigned)kind % KINDS, pair % LANES,
		 (unsigned)end % 2);
	must(plx_adapter_open(name, &options, &adapter, &why), name);
	return adapter;
}

/* @param engine 1 .. : the queue pair's */
static void
make_end(struct end *end, struct plx_adapter *adapter, uint32_t engine, void *memory)
{
	const struct plx_cq_options cq = {.depth = 4 * BATCHES, .engine = engine};
	const struct plx_qp_options qp = {.sq_depth = BATCHES * BATCH, .rq_depth = 1};

	end_make(end, adapter, &cq, qp, memory, BYTES);
}

static void
join(struct lane *lane)
{
	const uint64_t until = ticks() + ticks_of_ms(CONNECT_MS);
	struct end *end[2] = {&lane->from, &lane->to};
	struct plx_qp_address address[2];
	struct plx_qp_attr attr;

	plx_qp_attr_init(&attr);
	for (int i = 0; i < 2; i++)
		must(plx_qp_address(end[i]->qp, NULL, &address[i]), "address");
	for (int i = 0; i < 2; i++) {
		enum plx_status status;

		while ((status = plx_qp_connect(end[i]->qp, &address[1 - i], &attr, 0, &why)) ==
		       PLX_AGAIN) {
			(void)plx_adapter_poll(end[0]->adapter);
			(void)plx_adapter_poll(end[1]->adapter);
			if (ticks() > until)
				stop("no connection within %d ms", CONNECT_MS);
		}
		must(status, "connection");
	}
}

static void
make_batch(struct lane *lane)
{
	lane->sge = (struct plx_sge){(uintptr_t)lane->memory, BYTES, plx_mr_key(lane->from.mr)};
	for (uint32_t i = 0; i < BATCH; i++)
		lane->batch[i] =
			(struct plx_send_wr){.op = PLX_WR_WRITE,
					     .flags = i < BATCH - 1 ? PLX_WR_UNSIGNALED : 0,
					     .sge = &lane->sge,
					     .sges = 1,
					     .remote_va = (uintptr_t)lane->memory,
					     .rkey = plx_mr_key(lane->to.mr)};
}

static void
make_lanes(enum kind kind)
{
	struct plx_adapter *adapter[2] = {NULL, NULL};

	for (uint32_t i = 0; i < kinds[kind].lanes; i++) {
		struct lane *lane = &lanes[kind][i];
		bool apart = kinds[kind].pairs > 1;

		for (int end = 0; (i == 0 || apart) && end < 2; end++)
			adapter[end] = open_adapter(kind, i, end);
		lane->memory = aligned_alloc(2 * BYTES, 2 * BYTES);
		if (lane->memory == NULL)
			stop("no memory");
		make_end(&lane->from, adapter[0], apart ? 1 : i + 1, lane->memory);
		make_end(&lane->to, adapter[1], apart ? 1 : i + 1, lane->memory);
		join(lane);
		make_batch(lane);
	}
}

/* ---- work ---- */

static void
post(struct lane *lane)
{
	enum plx_status status;

	if (plx_post_send(lane->from.qp, lane->batch, BATCH, &status) != BATCH)
		stop("post: %s", plx_status_text(status));
	lane->under_way++;
}

/* One cycle of each of its engines.
 * Returns: how many batches have ended */
static uint32_t
reap(struct lane *lane)
{
	struct plx_wc wc[BATCHES];
	uint32_t found = plx_cq_poll(lane->from.cq, wc, BATCHES);

	if (plx_cq_poll(lane->to.cq, wc + found, 1) != 0)
		stop("the receiver of WRITEs has a completion");
	for (uint32_t i = 0; i < found; i++)
		if (wc[i].status != PLX_WC_SUCCESS)
			stop("a WRITE: %s", plx_wc_text((enum plx_wc_status)wc[i].status));
	lane->under_way -= found;
	return found;
}

/* Until main() says so; then until both have nothing left, because each needs the other's polls. */
static void
run(struct lane *lane, uint32_t lanes_now)
{
	bool told = false;
	int at;

	lane->done = 0;
	for (uint32_t i = 0; i < BATCHES; i++)
		post(lane);
	while ((at = atomic_load_explicit(&phase, memory_order_relaxed)) < 2) {
		uint32_t n = reap(lane);

		lane->done += at == 1 ? n : 0;
		while (n-- > 0)
			post(lane);
	}
	while (atomic_load(&drained) < lanes_now) {
		(void)reap(lane);
		if (lane->under_way == 0 && !told) {
			told = true;
			atomic_fetch_add(&drained, 1);
		}
	}
}

static void *
second(void *unused)
{
	(void)unused;
	if (!cpu_pin(1))
		stop("core 1 is not to be had");
	for (int kind = 0; kind < KINDS; kind++)
		for (uint32_t i = 1; i < kinds[kind].lanes; i++)
			if (!plx_adapter_prepare_thread(lanes[kind][i].from.adapter))
				stop("the second thread has no buffer caches");
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (ended)
			return NULL;
		if (kinds[now].lanes > 1)
			run(&lanes[now][1], kinds[now].lanes);
		pthread_barrier_wait(&barrier);
	}
}

/* The time between two changes of the phase is the first thread's, which works as the other does.
 */
static double
count(struct lane *lane, uint32_t lanes_now)
{
	uint64_t start = ticks(), until = start + ticks_of_ms(PAUSE_MS), stopped;
	int at = 0;

	lane->done = 0;
	for (uint32_t i = 0; i < BATCHES; i++)
		post(lane);
	for (;;) {
		uint32_t n = reap(lane);

		lane->done += at == 1 ? n : 0;
		while (n-- > 0)
			post(lane);
		if (ticks() < until)
			continue;
		if (at == 1)
			break;
		start = ticks();
		until = start + ticks_of_ms(TURN_MS);
		at = 1;
		atomic_store(&phase, 1);
	}
	stopped = ticks();
	atomic_store(&phase, 2);
	while (lane->under_way > 0)
		(void)reap(lane);
	atomic_fetch_add(&drained, 1);
	while (atomic_load(&drained) < lanes_now)
		(void)reap(lane);
	return ticks_to_ns((double)(stopped - start)) / 1e9;
}

/* Returns: messages per second of all lanes */
static double
rate(enum kind kind)
{
	uint64_t batches = 0;
	double seconds;

	now = kind;
	atomic_store(&phase, 0);
	atomic_store(&drained, 0);
	pthread_barrier_wait(&barrier);
	seconds = count(&lanes[kind][0], kinds[kind].lanes);
	pthread_barrier_wait(&barrier);
	for (uint32_t i = 0; i < kinds[kind].lanes; i++)
		batches += lanes[kind][i].done;
	return (double)batches * BATCH / seconds;
}

static void
measure(void)
{
	for (int i = 0; i < ROUNDS; i++)
		for (int kind = 0; kind < KINDS; kind++)
			rates[kind][i] = rate((enum kind)kind);
}

static void
print(const struct calibration *machine)
{
	struct bench_result row = {.test = "rate", .api = "verbs", .unit = "msg/s", .size = BYTES};
	json_t *results = json_array();

	for (int i = 0; i < ROUNDS; i++)
		for (int kind = 0; kind < KINDS; kind++) {
			row.op = kinds[kind].op;
			row.value = rates[kind][i];
			result_add(results, &row);
		}
	if (!result_write(results, machine, stdout))
		stop("the figures cannot be written");
}

int
main(void)
{
	static const int cores[CORES] = {0, 1};
	struct calibration machine;
	pthread_t thread;

	calibrate(cores, &machine);
	if (!cpu_pin(0))
		stop("core 0 is not to be had");
	for (int kind = 0; kind < KINDS; kind++)
		make_lanes((enum kind)kind);
	if (pthread_barrier_init(&barrier, NULL, 2) != 0 ||
	    pthread_create(&thread, NULL, second, NULL) != 0)
		stop("no second thread");
	measure();
	ended = true;
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	print(&machine);
	fflush(stdout);
	_exit(0); /* nothing outlives the process */
}
