/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a seat's many queue pairs cost another seat, and what many cost at all, at an attached host:
 * WRITEs of 64 bytes between two adapters of one polluxd, in turns of milliseconds. POLLUX_HOST
 * names its socket; tests/bench/run starts it. One queue pair of the first seat writes alone, then
 * beside 1,000 queue pairs of the second, all of them busy; then 10,000 queue pairs of the second
 * write, 32 messages each in rotation. Before, the memory of an idle queue pair and of an idle seat
 * is counted in both processes. It needs two cores, and is not a test. Start at measure().
 *
 * It prints every round in the format of ndperf's results; tests/bench/run judges them. Exit
 * status: 0, or 2 when it could not measure.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "cpu.h"
#include "must.h"
#include "plx_verbs.h"
#include "result.h"

enum {
	MANY = 10000,
	CROWD = 1000,
	IDLE_SEATS = 32,
	BYTES = 64,
	BATCH = 32,     /* messages of a post; the last one is signaled */
	BATCHES = 16,   /* of the first seat's queue pair under way */
	PATIENT = 2,    /* of the others, reaped in a turn, so that it is looked at often */
	IDLE = 4000,    /* connections */
	ROTATING = 256, /* batches under way of all 10,000 together */
	ROUNDS = 12,
	TURN_MS = 60,
	TIMEOUT_MS = 30000,
	KIB = 1024,
};

/* What one seat has. */
struct seat {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	struct plx_cq *cq;
	struct plx_mr *mr;
};

struct flow {
	struct plx_qp *qp, *peer;
	uint32_t batches; /* under way */
};

enum kind {
	ALONE,
	BESIDE,
	OF_MANY,
	KINDS
};

static const struct {
	const char *op;
	uint32_t pause_ms; /* before it counts */
} kinds[KINDS] = {
	[ALONE] = {"write-alone", 5},
	[BESIDE] = {"write-beside", 20},
	[OF_MANY] = {"write-many", 20},
};

static struct seat one, crowd, peers;
static struct flow single, many[MANY];
static uint8_t *memory;
static struct plx_send_wr batch[BATCH];
static struct plx_sge sge;
static uint32_t next; /* of `many` in rotation */
static double rates[KINDS][ROUNDS];
static double queue_pair_bytes, seat_bytes;

/* ---- the memory of both processes ---- */

/* polluxd's, which has bound the socket. */
static pid_t
host_pid(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer = {0};
	socklen_t size = sizeof(peer);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", getenv("POLLUX_HOST"));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		stop("no polluxd at %s", address.sun_path);
	close(fd);
	return peer.pid;
}

/* [bytes] Of a process: its own, and with `shared` what it shares with others. Shared memory that
 * both have counts in both. */
static double
resident(pid_t pid, bool shared)
{
	char path[64], line[128];
	double kib = 0;
	FILE *file;
	long n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		stop("%s cannot be read", path);
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "RssAnon: %ld", &n) == 1 ||
		    sscanf(line, "HugetlbPages: %ld", &n) == 1 ||
		    (shared && sscanf(line, "RssShmem: %ld", &n) == 1))
			kib += (double)n;
	fclose(file);
	return kib * KIB;
}

/* ---- set-up ---- */

static void
sit(struct seat *seat, const char *name)
{
	const struct plx_cq_options cq = {.depth = 2 * MANY};
	struct plx_adapter_options options;

	plx_adapter_options_init(&options);
	must(plx_adapter_open(name, &options, &seat->adapter, &why), name);
	must(plx_pd_create(seat->adapter, &seat->pd), "domain");
	must(plx_cq_create(seat->adapter, &cq, &seat->cq), "completion queue");
	if (memory == NULL)
		memory = plx_mem_alloc(BYTES, -1, &why);
	if (memory == NULL)
		stop("memory: %s", why.text);
	must(plx_mr_register(seat->pd, memory, BYTES,
			     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE, &seat->mr),
	     "region");
}

static struct plx_qp *
queue_pair(const struct seat *seat, uint32_t depth, uint64_t context)
{
	const struct plx_qp_options options = {.send_cq = seat->cq,
					       .recv_cq = seat->cq,
					       .sq_depth = depth,
					       .rq_depth = 1,
					       .context = context};
	struct plx_qp *qp;

	must(plx_qp_create(seat->pd, &options, &qp, &why), "queue pair");
	return qp;
}

static void
join(struct flow *flow)
{
	struct plx_qp *qp[2] = {flow->qp, flow->peer};
	struct plx_qp_address address[2];
	struct plx_qp_attr attr;

	plx_qp_attr_init(&attr);
	for (int side = 0; side < 2; side++)
		must(plx_qp_address(qp[side], NULL, &address[side]), "address");
	for (int side = 0; side < 2; side++)
		must(plx_qp_connect(qp[side], &address[1 - side], &attr, TIMEOUT_MS, &why),
		     "connection");
}

static void
make_flow(struct flow *flow, const struct seat *seat, uint32_t depth, uint64_t context)
{
	flow->qp = queue_pair(seat, depth, context);
	flow->peer = queue_pair(&peers, 1, context);
	join(flow);
}

/* With queues of one entry: what a queue pair costs beside them. Both ends of a flow are queue
 * pairs of the host. */
static void
count_idle_queue_pairs(pid_t host)
{
	double before = resident(host, false) + resident(getpid(), false), after;

	for (uint32_t i = 0; i < IDLE; i++)
		make_flow(&many[i], &crowd, 1, i);
	after = resident(host, false) + resident(getpid(), false);
	queue_pair_bytes = (after - before) / (2 * IDLE);
	for (uint32_t i = 0; i < IDLE; i++) {
		must(plx_qp_destroy(many[i].qp), "the end of an idle queue pair");
		must(plx_qp_destroy(many[i].peer), "the end of an idle queue pair");
	}
}

static void
count_idle_seats(pid_t host)
{
	struct plx_adapter *idle[IDLE_SEATS];
	struct plx_adapter_options options;
	double before = resident(host, true), after;

	plx_adapter_options_init(&options);
	for (uint32_t i = 0; i < IDLE_SEATS; i++)
		must(plx_adapter_open("ndperf-active", &options, &idle[i], &why), "an idle seat");
	after = resident(host, true);
	seat_bytes = (after - before) / IDLE_SEATS;
	for (uint32_t i = 0; i < IDLE_SEATS; i++)
		must(plx_adapter_close(idle[i]), "the end of an idle seat");
}

/* ---- work ---- */

static void
make_batch(void)
{
	sge = (struct plx_sge){.va = (uintptr_t)memory, .length = BYTES};
	for (uint32_t i = 0; i < BATCH; i++)
		batch[i] = (struct plx_send_wr){.op = PLX_WR_WRITE,
						.flags = i < BATCH - 1 ? PLX_WR_UNSIGNALED : 0,
						.sge = &sge,
						.sges = 1,
						.remote_va = (uintptr_t)memory,
						.rkey = plx_mr_key(peers.mr)};
}

static void
post(const struct seat *from, struct flow *flow)
{
	enum plx_status status;

	sge.key = plx_mr_key(from->mr);
	if (plx_post_send(flow->qp, batch, BATCH, &status) != BATCH)
		stop("post: %s", plx_status_text(status));
	flow->batches++;
}

/* Returns: how many batches have ended; `ended` gets their flows */
static uint32_t
reap(const struct seat *seat, struct flow *flows, struct flow **ended, uint32_t n)
{
	struct plx_wc wc[BATCH];
	uint32_t found = plx_cq_poll(seat->cq, wc, n);

	for (uint32_t i = 0; i < found; i++) {
		if (wc[i].status != PLX_WC_SUCCESS)
			stop("a WRITE: %s", plx_wc_text((enum plx_wc_status)wc[i].status));
		ended[i] = &flows[wc[i].context];
		ended[i]->batches--;
	}
	return found;
}

/* Each flow whose batch has ended gets the next one. */
static uint32_t
turn_of(const struct seat *seat, struct flow *flows, uint32_t most)
{
	struct flow *ended[BATCH];
	uint32_t n = reap(seat, flows, ended, most);

	for (uint32_t i = 0; i < n; i++)
		post(seat, ended[i]);
	return n;
}

/* For each batch that has ended another queue pair gets one. */
static uint32_t
turn_of_many(void)
{
	struct flow *ended[BATCH];
	uint32_t n = reap(&crowd, many, ended, BATCH);

	for (uint32_t i = 0; i < n; i++, next = (next + 1) % MANY)
		post(&crowd, &many[next]);
	return n;
}

/* Of the flow that is measured, or of all of them. */
static uint32_t
turn(enum kind kind)
{
	if (kind == OF_MANY)
		return turn_of_many();
	if (kind == BESIDE)
		(void)turn_of(&crowd, many, PATIENT);
	return turn_of(&one, &single, BATCH);
}

static void
drain(const struct seat *seat, struct flow *flows, uint32_t n)
{
	uint64_t until = ticks() + ticks_of_ms(TIMEOUT_MS);
	struct flow *ended[BATCH];

	for (uint32_t i = 0; i < n; i++)
		while (flows[i].batches > 0) {
			(void)reap(seat, flows, ended, BATCH);
			if (ticks() > until)
				stop("WRITEs do not end within %d ms", TIMEOUT_MS);
		}
}

static void
fill(enum kind kind)
{
	if (kind == OF_MANY) {
		for (uint32_t i = 0; i < ROTATING; i++, next = (next + 1) % MANY)
			post(&crowd, &many[next]);
		return;
	}
	for (uint32_t i = 0; i < BATCHES; i++)
		post(&one, &single);
	for (uint32_t i = 0; kind == BESIDE && i < 2 * CROWD; i++)
		post(&crowd, &many[i % CROWD]);
}

/* Returns: messages per second */
static double
rate(enum kind kind)
{
	uint64_t start, until, batches = 0;

	fill(kind);
	until = ticks() + ticks_of_ms(kinds[kind].pause_ms);
	while (ticks() < until)
		(void)turn(kind);
	start = ticks();
	until = start + ticks_of_ms(TURN_MS);
	while (ticks() < until)
		batches += turn(kind);
	start = ticks() - start;
	drain(&one, &single, 1);
	drain(&crowd, many, MANY);
	return (double)batches * BATCH / (ticks_to_ns((double)start) / 1e9);
}

/* ---- the figures ---- */

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
	row.test = "memory";
	row.unit = "bytes";
	row.op = "idle-queue-pair";
	row.value = queue_pair_bytes;
	result_add(results, &row);
	row.op = "idle-seat";
	row.value = seat_bytes;
	result_add(results, &row);
	if (!result_write(results, machine, stdout))
		stop("the figures cannot be written");
}

static void
measure(void)
{
	for (int i = 0; i < ROUNDS; i++)
		for (int kind = 0; kind < KINDS; kind++)
			rates[kind][i] = rate((enum kind)kind);
}

int
main(void)
{
	static const int cores[CORES] = {0, 1};
	struct calibration machine;
	pid_t host;

	if (getenv("POLLUX_HOST") == NULL)
		stop("POLLUX_HOST names the socket of the polluxd to measure; tests/bench/run "
		     "starts one");
	calibrate(cores, &machine);
	if (!cpu_pin(1))
		stop("core 1 is not to be had");
	host = host_pid();
	sit(&one, "ndperf-active");
	sit(&crowd, "ndperf-active");
	sit(&peers, "ndperf-passive");
	count_idle_seats(host);
	make_flow(&single, &one, BATCHES * BATCH, 0);
	count_idle_queue_pairs(host);
	for (uint32_t i = 0; i < MANY; i++)
		make_flow(&many[i], &crowd, 2 * BATCH, i);
	make_batch();
	measure();
	print(&machine);
	fflush(stdout);
	_exit(0); /* what the end of a program costs its host is the test of others */
}
