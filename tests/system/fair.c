/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Does every queue pair get its share? fair QUEUE_PAIRS SECONDS [WINDOW]
 *
 * Two adapters of one process over the embedded link, each with a worker of its own. Half of the
 * queue pairs READ 1 MiB, a few at a time; the others WRITE 8 bytes, one after the other. All run
 * at once. Of each kind the slowest must get at least 0.8 of what the fastest gets, and how long an
 * 8-byte WRITE takes from post to completion is printed. Start with run().
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plx_verbs.h"

enum {
	QPS_MAX = 256,
	SIDES = 2,
	READ_BYTES = 1 << 20,
	WRITE_BYTES = 8,
	READS = 4,   /* of one queue pair at a time */
	ENOUGH = 50, /* messages of the fastest: with fewer a hundredth is less than one */
	PATIENCE_S = 120,
	SAMPLES = 1 << 20,
};

#define SHARE_LEAST 0.8

struct end {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_cq *cq;
	struct plx_mr *mr;
	uint8_t *memory;
};

struct flow {
	struct plx_qp *qp[SIDES];
	bool reads;
	uint32_t open;
	uint64_t done;
	double posted_at;
};

static struct end ends[SIDES];
static struct flow flows[QPS_MAX];
static double samples[SAMPLES];
static uint32_t sample_count;
static struct plx_why why;

static void __attribute__((format(printf, 1, 2), noreturn)) stop(const char *format, ...)
{
	va_list list;

	fflush(stdout);
	va_start(list, format);
	fprintf(stderr, "fair: ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	_exit(1);
}

static void
must(enum plx_status status, const char *what)
{
	if (status != PLX_OK)
		stop("%s: %s (%s)", what, plx_status_text(status), why.text);
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- set-up ---- */

static void
open_end(struct end *end, int side)
{
	const struct plx_cq_options cq = {.depth = QPS_MAX * READS};
	struct plx_adapter_options options;

	plx_adapter_options_init(&options);
	snprintf(options.device, sizeof(options.device), "net_wire0,end=%d", side);
	snprintf(options.worker, sizeof(options.worker), "fair%d", side);
	options.address[0].ip =
		(struct plx_ip){.version = 4, .v = {10, 78, 11, (uint8_t)(1 + side)}};
	options.address[0].prefix_bits = 24;
	options.addresses = 1;
	options.idle = PLX_IDLE_YIELD;
	must(plx_adapter_open(side ? "second" : "first", &options, &end->adapter, &why), "adapter");
	must(plx_pd_create(end->adapter, &end->pd), "domain");
	must(plx_cq_create(end->adapter, &cq, &end->cq), "completion queue");
	end->memory = plx_mem_alloc(READ_BYTES, -1, &why);
	if (end->memory == NULL)
		stop("memory: %s", why.text);
	must(plx_mr_register(end->pd, end->memory, READ_BYTES,
			     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
				     PLX_ACCESS_REMOTE_READ,
			     &end->mr),
	     "region");
}

static void
join(struct flow *flow, uint32_t window)
{
	struct plx_qp_address address[SIDES];
	struct plx_qp_attr attr;

	plx_qp_attr_init(&attr);
	attr.window_packets = window;
	for (int side = 0; side < SIDES; side++) {
		const struct plx_qp_options options = {.send_cq = ends[side].cq,
						       .recv_cq = ends[side].cq,
						       .sq_depth = 2 * READS,
						       .rq_depth = 1};

		must(plx_qp_create(ends[side].pd, &options, &flow->qp[side], &why), "queue pair");
		must(plx_qp_address(flow->qp[side], NULL, &address[side]), "address");
	}
	for (int side = 0; side < SIDES; side++)
		must(plx_qp_connect(flow->qp[side], &address[1 - side], &attr, 30000, &why),
		     "connection");
}

/* ---- work ---- */

static void
fill(struct flow *flow, double now)
{
	const struct plx_sge sge = {.va = (uintptr_t)ends[0].memory,
				    .length = flow->reads ? READ_BYTES : WRITE_BYTES,
				    .key = plx_mr_key(ends[0].mr)};
	const struct plx_send_wr wr = {.wr_id = (uint64_t)(flow - flows),
				       .op = flow->reads ? PLX_WR_READ : PLX_WR_WRITE,
				       .sge = &sge,
				       .sges = 1,
				       .remote_va = (uintptr_t)ends[1].memory,
				       .rkey = plx_mr_key(ends[1].mr)};
	enum plx_status status;

	for (; flow->open < (flow->reads ? READS : 1); flow->open++) {
		if (plx_post_send(flow->qp[0], &wr, 1, &status) != 1)
			stop("post: %s", plx_status_text(status));
		flow->posted_at = now;
	}
}

static void
reap(void)
{
	struct plx_wc wc[64];
	uint32_t n = plx_cq_poll(ends[0].cq, wc, 64);
	double now = seconds();

	for (uint32_t i = 0; i < n; i++) {
		struct flow *flow = &flows[wc[i].wr_id];

		if (wc[i].status != PLX_WC_SUCCESS)
			stop("queue pair %" PRIu64 ": %s", wc[i].wr_id,
			     plx_wc_text((enum plx_wc_status)wc[i].status));
		flow->open--;
		flow->done++;
		if (!flow->reads && sample_count < SAMPLES)
			samples[sample_count++] = now - flow->posted_at;
		fill(flow, now);
	}
}

static int
in_order(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Of one kind: the least, and the most, that one queue pair has done. */
static void
extremes(uint32_t n, bool reads, uint64_t *least, uint64_t *most)
{
	*least = UINT64_MAX;
	*most = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (flows[i].reads != reads)
			continue;
		*least = flows[i].done < *least ? flows[i].done : *least;
		*most = flows[i].done > *most ? flows[i].done : *most;
	}
}

static void
judge(uint32_t n, bool reads, double took)
{
	uint64_t least, most;

	extremes(n, reads, &least, &most);
	printf("%s: %" PRIu64 " to %" PRIu64 " messages of each queue pair in %.1f s, slowest to "
	       "fastest %.2f\n",
	       reads ? "READ 1 MiB" : "WRITE 8 B", least, most, took, (double)least / (double)most);
	if ((double)least < SHARE_LEAST * (double)most)
		stop("a queue pair gets less than %.1f of what another of its kind gets",
		     SHARE_LEAST);
}

static void
run(uint32_t n, double duration)
{
	double start = seconds(), now = start;
	uint64_t least, most = 0;

	for (uint32_t i = 0; i < n; i++)
		fill(&flows[i], start);
	while (now < start + duration || most < ENOUGH) {
		reap();
		now = seconds();
		extremes(n, true, &least, &most);
		if (now > start + PATIENCE_S)
			stop("the fastest queue pair has read %" PRIu64 " times in %d s", most,
			     PATIENCE_S);
	}
	judge(n, true, now - start);
	judge(n, false, now - start);
	qsort(samples, sample_count, sizeof(samples[0]), in_order);
	printf("WRITE 8 B, post to completion: p50 %.1f us, p99 %.1f us of %u\n",
	       samples[sample_count / 2] * 1e6,
	       samples[(uint32_t)((double)sample_count * 0.99)] * 1e6, sample_count);
}

int
main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
	uint32_t window = argc > 3 ? (uint32_t)atoi(argv[3]) : 0;

	if (argc < 3 || n < 2 || n > QPS_MAX) {
		fprintf(stderr, "usage: fair QUEUE_PAIRS SECONDS [WINDOW], 2 to %d queue pairs\n",
			QPS_MAX);
		return 2;
	}
	for (int side = 0; side < SIDES; side++)
		open_end(&ends[side], side);
	for (uint32_t i = 0; i < n; i++) {
		flows[i].reads = i % 2 == 0;
		join(&flows[i], window);
	}
	run(n, atof(argv[2]));
	fflush(stdout);
	_exit(0); /* with all its READs under way: what a close does is others' test */
}
