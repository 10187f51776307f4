/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The price of a wake-up: the round trip of a small SEND by verbs and by NDK, both polled, and by
 * NDK with a callback for every message, in turns of milliseconds. One worker polls both ends. In
 * the turns with callbacks the ends' dispatchers answer each other, so that a round trip has two
 * wake-ups: each is armed, called, reads its result, and re-arms. It needs two cores, and is not a
 * test. Start at measure().
 *
 * It prints every round in the format of ndperf's results; tests/bench/run judges them.
 */
#include <ntstatus.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "ndk_pair.h"
#include "plx_session_system.h"
#include "plx_verbs.h"
#include "result.h"
#include "window.h"

enum {
	ROUNDS = 40,
	TRIPS = 300, /* in a round, of each kind */
	BYTES = 8,
	TIMEOUT_MS = 10000,
};

enum kind {
	VERBS,
	POLLED,
	CALLBACKS,
	KINDS
};

static const struct {
	const char *op, *api;
} kinds[KINDS] = {
	[VERBS] = {"send", "verbs"},
	[POLLED] = {"send", "ndk"},
	[CALLBACKS] = {"send-callback", "ndk"},
};

struct verbs_end {
	struct plx_pd *pd;
	struct plx_cq *cq;
	struct plx_qp *qp;
	struct plx_mr *mr;
	uint8_t bytes[2 * BYTES];
};

/* The worker spins on its own core; the program and the dispatchers have the other one. */
static const char config[] = "adapters = (\n"
			     "  { name = \"nd0\"; device = \"net_wire0,end=0\"; worker = \"nd\"; "
			     "core = 0; idle = \"spin\";\n"
			     "    dispatcher_core = 1; address = [ \"10.78.2.1/24\" ]; },\n"
			     "  { name = \"nd1\"; device = \"net_wire0,end=1\"; worker = \"nd\"; "
			     "core = 0; idle = \"spin\";\n"
			     "    dispatcher_core = 1; address = [ \"10.78.2.2/24\" ]; });\n";

/* The round trips of a turn: started when the last one ended. */
static struct {
	double at_ns, trips_ns[TRIPS];
	uint32_t done;
} turn;
static double medians[KINDS][ROUNDS], callbacks_s[ROUNDS];
static struct ndk_pair *pair;
static sem_t over;
static FILE *out;

/* Returns: false: it was the last one of the turn */
static bool
trip_done(void)
{
	double now = (double)plx_session_now_ns();

	turn.trips_ns[turn.done++] = now - turn.at_ns;
	turn.at_ns = now;
	return turn.done < TRIPS;
}

static void
turn_begin(void)
{
	turn.done = 0;
	turn.at_ns = (double)plx_session_now_ns();
}

/* ---- by verbs ---- */

static void
verbs_open(struct verbs_end *end, struct plx_adapter *adapter)
{
	struct plx_cq_options cq = {.depth = 8};
	struct plx_qp_options qp = {.sq_depth = 4, .rq_depth = 4};
	struct plx_why why;

	assert_int_equal(plx_pd_create(adapter, &end->pd), PLX_OK);
	assert_int_equal(plx_cq_create(adapter, &cq, &end->cq), PLX_OK);
	qp.send_cq = qp.recv_cq = end->cq;
	assert_int_equal(plx_mr_register(end->pd, end->bytes, sizeof(end->bytes),
					 PLX_ACCESS_LOCAL_WRITE, &end->mr),
			 PLX_OK);
	assert_int_equal(plx_qp_create(end->pd, &qp, &end->qp, &why), PLX_OK);
}

static void
verbs_close(struct verbs_end *end)
{
	assert_int_equal(plx_qp_destroy(end->qp), PLX_OK);
	assert_int_equal(plx_cq_destroy(end->cq), PLX_OK);
	assert_int_equal(plx_mr_deregister(end->mr), PLX_OK);
	assert_int_equal(plx_pd_destroy(end->pd), PLX_OK);
}

static void
verbs_connect(struct verbs_end *a, struct verbs_end *b)
{
	struct plx_qp_address address_a, address_b;
	struct plx_qp_attr attr;
	struct plx_why why;

	plx_qp_attr_init(&attr);
	assert_int_equal(plx_qp_address(a->qp, NULL, &address_a), PLX_OK);
	assert_int_equal(plx_qp_address(b->qp, NULL, &address_b), PLX_OK);
	assert_int_equal(plx_qp_connect(a->qp, &address_b, &attr, TIMEOUT_MS, &why), PLX_OK);
	assert_int_equal(plx_qp_connect(b->qp, &address_a, &attr, TIMEOUT_MS, &why), PLX_OK);
}

/* One way: the receive is posted, the message sent, and both completions polled for. */
static void
verbs_move(struct verbs_end *from, struct verbs_end *to)
{
	struct plx_sge source = {(uintptr_t)from->bytes, BYTES, plx_mr_key(from->mr)};
	struct plx_sge sink = {(uintptr_t)to->bytes + BYTES, BYTES, plx_mr_key(to->mr)};
	struct plx_recv_wr recv = {.sge = &sink, .sges = 1};
	struct plx_send_wr send = {.op = PLX_WR_SEND, .sge = &source, .sges = 1};
	enum plx_status status;
	struct plx_wc wc;

	assert_int_equal(plx_post_recv(to->qp, &recv, 1, &status), 1);
	assert_int_equal(plx_post_send(from->qp, &send, 1, &status), 1);
	while (plx_cq_poll(to->cq, &wc, 1) == 0)
		;
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	while (plx_cq_poll(from->cq, &wc, 1) == 0)
		;
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
}

static void
verbs_turn(struct verbs_end *ends)
{
	turn_begin();
	do {
		verbs_move(&ends[0], &ends[1]);
		verbs_move(&ends[1], &ends[0]);
	} while (trip_done());
}

/* ---- by NDK ---- */

static bool
take(NDK_CQ *cq)
{
	NDK_RESULT result;

	if (cq->Dispatch->NdkGetCqResults(cq, &result, 1) == 0)
		return false;
	assert_nt(result.Status, STATUS_SUCCESS);
	return true;
}

static void
await(NDK_CQ *cq)
{
	while (!take(cq))
		;
}

static void
ndk_receive(struct ndk_side *side)
{
	NDK_SGE sge = ndk_sge(side, BYTES, BYTES);

	assert_nt(side->qp->Dispatch->NdkReceive(side->qp, NULL, &sge, 1), STATUS_SUCCESS);
}

static void
ndk_send(struct ndk_side *side)
{
	NDK_SGE sge = ndk_sge(side, 0, BYTES);

	assert_nt(side->qp->Dispatch->NdkSend(side->qp, NULL, &sge, 1, 0), STATUS_SUCCESS);
}

static void
ndk_move(struct ndk_side *from, struct ndk_side *to)
{
	ndk_receive(to);
	ndk_send(from);
	await(to->receive_cq);
	await(from->cq);
}

static void
polled_turn(void)
{
	turn_begin();
	do {
		ndk_move(&pair->a, &pair->b);
		ndk_move(&pair->b, &pair->a);
	} while (trip_done());
}

/* On the dispatcher of the side that has received: b answers, a begins the next trip. Neither posts
 * or arms beyond the last one. */
static void
on_message(struct ndk_side *side)
{
	NDK_CQ *cq = side->receive_cq;
	bool goes_on;

	while (take(cq)) {
		if (side == &pair->a) {
			await(side->cq);
			goes_on = trip_done();
		} else {
			goes_on = turn.done + 1 < TRIPS;
		}
		if (goes_on)
			ndk_receive(side);
		if (goes_on || side == &pair->b)
			ndk_send(side);
		if (side == &pair->b)
			await(side->cq);
		if (!goes_on) {
			sem_post(&over);
			return;
		}
	}
	cq->Dispatch->NdkArmCq(cq, NDK_CQ_NOTIFY_ANY);
}

/* Returns: callbacks per second */
static double
callbacks_turn(void)
{
	int before = atomic_load(&pair->a.notified) + atomic_load(&pair->b.notified);
	double start = (double)plx_session_now_ns();

	pair->b.receive_cq->Dispatch->NdkArmCq(pair->b.receive_cq, NDK_CQ_NOTIFY_ANY);
	pair->a.receive_cq->Dispatch->NdkArmCq(pair->a.receive_cq, NDK_CQ_NOTIFY_ANY);
	ndk_receive(&pair->b);
	ndk_receive(&pair->a);
	turn_begin();
	ndk_send(&pair->a);
	for (int ended = 0; ended < 2;)
		ended += sem_wait(&over) == 0;
	return (atomic_load(&pair->a.notified) + atomic_load(&pair->b.notified) - before) * 1e9 /
	       ((double)plx_session_now_ns() - start);
}

/* ---- the figures ---- */

static void
put_row(json_t *results, const char *op, const char *api, const char *unit, double value)
{
	result_add(results, &(struct bench_result){.op = op,
						   .test = "latency",
						   .api = api,
						   .unit = unit,
						   .size = BYTES,
						   .value = value});
}

/* A round trip has two wake-ups. */
static void
print(const struct calibration *machine)
{
	json_t *results = json_array();

	for (int i = 0; i < ROUNDS; i++) {
		for (int kind = 0; kind < KINDS; kind++)
			put_row(results, kinds[kind].op, kinds[kind].api, "ns", medians[kind][i]);
		put_row(results, "wake-up", "ndk", "ns",
			(medians[CALLBACKS][i] - medians[POLLED][i]) / 2);
		put_row(results, "callbacks", "ndk", "1/s", callbacks_s[i]);
	}
	assert_true(result_write(results, machine, out));
	fprintf(stderr, "round trip p50 %.2f us by verbs, %.2f us by NDK, %.2f us with callbacks; ",
		median(medians[VERBS], ROUNDS) / 1e3, median(medians[POLLED], ROUNDS) / 1e3,
		median(medians[CALLBACKS], ROUNDS) / 1e3);
	fprintf(stderr, "price of a wake-up %.2f us, %.0f callbacks/s\n",
		(median(medians[CALLBACKS], ROUNDS) - median(medians[POLLED], ROUNDS)) / 2e3,
		median(callbacks_s, ROUNDS));
}

/* Instead of the pair's own: adapters of the same names and addresses. */
static void
configure(void)
{
	static char path[] = "/tmp/ndk-wakeup-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0 && dprintf(fd, "%s", config) > 0);
	close(fd);
	setenv("POLLUX_CONFIG", path, 1);
	pair = ndk_pair_open(&(struct ndk_options){.two_cqs = true, .depth = 8});
	unlink(path);
}

static void
measure(void **state)
{
	static const int cores[CORES] = {0, 1};
	static struct verbs_end ends[2];
	struct calibration machine;

	(void)state;
	calibrate(cores, &machine);
	assert_true(cpu_pin(1));
	configure();
	verbs_open(&ends[0], plx_ndk_adapter_verbs(pair->a.adapter));
	verbs_open(&ends[1], plx_ndk_adapter_verbs(pair->b.adapter));
	verbs_connect(&ends[0], &ends[1]);
	pair->a.on_notify = pair->b.on_notify = on_message;
	for (int i = 0; i < ROUNDS; i++) {
		verbs_turn(ends);
		medians[VERBS][i] = median(turn.trips_ns, TRIPS);
		polled_turn();
		medians[POLLED][i] = median(turn.trips_ns, TRIPS);
		callbacks_s[i] = callbacks_turn();
		medians[CALLBACKS][i] = median(turn.trips_ns, TRIPS);
	}
	print(&machine);
	verbs_close(&ends[0]);
	verbs_close(&ends[1]);
	ndk_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(measure)};

	/* standard output is for the figures, and the harness writes there, too */
	out = fdopen(dup(STDOUT_FILENO), "w");
	if (out == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || sem_init(&over, 0, 0))
		return 2;
	return ndk_run("the price of a wake-up", tests, 1) ? 2 : 0;
}
