/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many queue pairs, as deep and as wide as the adapter says that they may be, each with completion
 * queues of its own: many wire|memif QUEUE_PAIRS DEPTH [EAL ARGUMENTS].
 *
 * Two ends, over the embedded link as two threads of one process, over memif as two processes.
 * Every second queue pair is connected by the communication manager, the others directly. Idle,
 * they take little memory; then all exchange messages, each byte is looked at, and none is left
 * behind; at the end nothing is left, and the memory is what it was.
 * Start with play().
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plx_heap.h"
#include "plx_verbs.h"

enum {
	QPS_MAX = 2000,
	DEPTH_ND2 = 8192, /* what ND2 reports as the most */
	PORT = 4711,
	ROUNDS = 64,
	AHEAD = 2,    /* messages sent before those of the peer are here */
	RECEIVES = 8, /* posted: the peer is never further ahead */
	BYTES = 200,
	CONNECTING = 64,  /* at once */
	CONNECT_S = 60,   /* for one connection */
	IDLE_KIB = 48,    /* of one queue pair with its completion queue */
	LEFT_KIB = 40960, /* that may stay: DPDK's heap keeps what it once had */
	PAUSE_S = 20,     /* the longest that one queue pair may get nothing done: lost packets are
			   * sent again, and a loaded machine takes the core away */
	PATIENCE_S = 240,
};

struct place {
	uint8_t out[AHEAD][BYTES], in[RECEIVES][BYTES];
};

struct link {
	struct plx_qp *qp;
	struct plx_cq *cq;
	struct plx_connector *connector;
	uint32_t sent, completed, received;
	bool up;
	double active_at; /* [s] when something was last done */
};

struct end {
	bool is_first;
	bool is_wire;
	int peer; /* socket */
	uint32_t n, depth;
	const char *eal;
	struct plx_adapter *adapter;
	struct plx_adapter_info info;
	struct plx_pd *pd;
	struct plx_mr *mr;
	struct place *place;
	struct plx_event_channel *channel;
	struct plx_listener *listener;
	struct link *link;
	uint32_t up;
	double longest; /* [s] pause of one queue pair */
	uint32_t least; /* messages of the slowest queue pair when the fastest was done */
};

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void __attribute__((format(printf, 1, 2), noreturn)) stop(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "many: ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	_exit(1);
}

static struct plx_why *
sentence(void)
{
	static _Thread_local struct plx_why why;

	return &why;
}

static void
must(enum plx_status status, const char *what)
{
	if (status != PLX_OK)
		stop("%s: %s (%s)", what, plx_status_text(status), sentence()->text);
}

/* [KiB] of this process */
static long
resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long size, pages;

	if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2)
		stop("the memory of the process is not known");
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* ---- the other end ---- */

static void
tell(const struct end *end, const void *bytes, size_t n)
{
	if (send(end->peer, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
		stop("the other end has gone");
}

static void
hear(const struct end *end, void *bytes, size_t n)
{
	if (recv(end->peer, bytes, n, MSG_WAITALL) != (ssize_t)n)
		stop("the other end has gone");
}

static void
meet(const struct end *end)
{
	char word = 'x';

	tell(end, &word, 1);
	hear(end, &word, 1);
}

/* ---- making ---- */

static struct plx_ip
address_of(bool is_first)
{
	return (struct plx_ip){.version = 4, .v = {10, 78, 9, is_first ? 1 : 2}};
}

static void
open_adapter(struct end *end)
{
	struct plx_adapter_options options;

	plx_adapter_options_init(&options);
	if (end->is_wire)
		snprintf(options.device, sizeof(options.device), "net_wire0,end=%d", end->is_first);
	else
		/* fork() has given both the same random numbers, and so the same MAC */
		snprintf(options.device, sizeof(options.device),
			 "net_memif0,role=%s,socket=plx-many-%d,bsize=4608,mac=02:00:00:00:00:0%d",
			 end->is_first ? "server" : "client",
			 (int)(end->is_first ? getpid() : getppid()), end->is_first);
	options.address[0].ip = address_of(end->is_first);
	options.address[0].prefix_bits = 24;
	options.addresses = 1;
	options.idle = PLX_IDLE_YIELD;
	options.start_timeout_ms = 60000;
	if (end->is_wire)
		strcpy(options.worker, "many");
	must(plx_adapter_open(end->is_first ? "first" : "second", &options, &end->adapter,
			      sentence()),
	     "adapter");
	plx_adapter_query(end->adapter, &end->info);
	if (end->info.qps < end->n)
		stop("an adapter has %u queue pairs unless told otherwise", end->info.qps);
	if (end->depth == 0)
		end->depth = end->info.queue_depth < DEPTH_ND2 ? end->info.queue_depth : DEPTH_ND2;
}

static void
open_end(struct end *end)
{
	struct plx_listen_options listen = {.port = PORT};
	size_t bytes = end->n * sizeof(*end->place);

	open_adapter(end);
	must(plx_pd_create(end->adapter, &end->pd), "domain");
	end->link = calloc(end->n, sizeof(*end->link));
	end->place = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (!end->link || end->place == MAP_FAILED)
		stop("no memory for messages");
	must(plx_mr_register(end->pd, end->place, bytes, PLX_ACCESS_LOCAL_WRITE, &end->mr),
	     "region");
	must(plx_event_channel_create(end->adapter, 4096, &end->channel), "channel");
	if (end->is_first)
		must(plx_listen(end->channel, &listen, &end->listener, sentence()), "listener");
}

static void
make_queue_pairs(struct end *end)
{
	const struct plx_cq_options cq = {.depth = 2 * end->depth};
	struct plx_qp_options qp = {.sq_depth = end->depth,
				    .rq_depth = end->depth,
				    .sq_sges = end->info.sges,
				    .rq_sges = end->info.sges,
				    .inline_bytes = end->info.inline_bytes};

	for (uint32_t i = 0; i < end->n; i++) {
		must(plx_cq_create(end->adapter, &cq, &end->link[i].cq), "completion queue");
		qp.send_cq = qp.recv_cq = end->link[i].cq;
		must(plx_qp_create(end->pd, &qp, &end->link[i].qp, sentence()), "queue pair");
	}
}

/* ---- connecting ---- */

static bool
is_managed(uint32_t i)
{
	return i % 2 == 0;
}

/* On a loaded machine the other end may not answer its neighbour for seconds. */
static void
connect_one(struct plx_qp *qp, const struct plx_qp_address *other)
{
	double late = seconds() + CONNECT_S;
	struct plx_qp_attr attr;
	enum plx_status status;

	plx_qp_attr_init(&attr);
	do
		status = plx_qp_connect(qp, other, &attr, 1000, sentence());
	while ((status == PLX_UNREACHABLE || status == PLX_TIMEOUT) && seconds() < late);
	must(status, "direct connection");
}

static void
connect_directly(struct end *end)
{
	struct plx_qp_address mine, other;

	for (uint32_t i = 0; i < end->n; i++) {
		if (is_managed(i))
			continue;
		must(plx_qp_address(end->link[i].qp, NULL, &mine), "address");
		tell(end, &mine, sizeof(mine));
		hear(end, &other, sizeof(other));
		connect_one(end->link[i].qp, &other);
		end->link[i].up = true;
		end->up++;
	}
}

static void
ask(struct end *end, uint32_t i)
{
	struct plx_connect_options options;

	plx_connect_options_init(&options);
	options.remote = address_of(true);
	options.remote_port = PORT;
	options.private_data = &i;
	options.private_bytes = sizeof(i);
	must(plx_connector_create(end->channel, i, &end->link[i].connector), "connector");
	must(plx_connect(end->link[i].connector, end->link[i].qp, &options, sentence()), "connect");
}

static void
take(struct end *end, const struct plx_connector_event *event)
{
	struct plx_connect_options options;
	uint32_t i;

	memcpy(&i, event->private_data, sizeof(i));
	if (i >= end->n || !is_managed(i) || end->link[i].connector)
		stop("a request for queue pair %u", i);
	end->link[i].connector = event->connector;
	plx_connector_set_context(event->connector, i);
	plx_connect_options_init(&options);
	must(plx_accept(event->connector, end->link[i].qp, &options, sentence()), "accept");
}

static void
on_event(struct end *end, const struct plx_connector_event *event)
{
	if (event->kind == PLX_CM_EVENT_REQUESTED) {
		take(end, event);
		return;
	}
	if (event->kind != PLX_CM_EVENT_REPLIED && event->kind != PLX_CM_EVENT_ESTABLISHED)
		stop("connection %llu: %s", (unsigned long long)event->context,
		     plx_cm_event_text((enum plx_cm_event_kind)event->kind));
	if (event->kind == PLX_CM_EVENT_REPLIED)
		must(plx_establish(event->connector, sentence()), "complete");
	end->link[event->context].up = true;
	end->up++;
}

static void
connect_by_manager(struct end *end)
{
	struct plx_connector_event event;
	uint32_t asked = end->n, asking = 0;

	if (!end->is_first)
		asked = 0;
	while (end->up < end->n) {
		for (; asked < end->n && asking < CONNECTING; asked++) {
			if (!is_managed(asked))
				continue;
			ask(end, asked);
			asking++;
		}
		if (!plx_event_channel_wait(end->channel, 30000, &event))
			stop("%u of %u are connected, and nothing happens", end->up, end->n);
		on_event(end, &event);
		asking -= event.kind == PLX_CM_EVENT_REPLIED;
	}
}

/* ---- exchanging ---- */

static uint8_t
byte_of(bool is_first, uint32_t link, uint32_t round, uint32_t at)
{
	return (uint8_t)(link * 131 + round * 17 + at * 7 + (is_first ? 64 : 0));
}

static void
post_receive(struct end *end, uint32_t i, uint32_t round)
{
	uint32_t at = round % RECEIVES;
	const struct plx_sge sge = {(uintptr_t)end->place[i].in[at], BYTES, plx_mr_key(end->mr)};
	const struct plx_recv_wr wr = {.wr_id = round, .sge = &sge, .sges = 1};
	enum plx_status status;

	if (plx_post_recv(end->link[i].qp, &wr, 1, &status) != 1)
		must(status, "receive");
}

/* As far ahead of the peer as agreed. */
static void
post_sends(struct end *end, uint32_t i)
{
	struct link *link = &end->link[i];
	enum plx_status status;

	while (link->sent < ROUNDS && link->sent < link->received + AHEAD &&
	       link->sent < link->completed + AHEAD) {
		uint8_t *out = end->place[i].out[link->sent % AHEAD];
		const struct plx_sge sge = {(uintptr_t)out, BYTES, plx_mr_key(end->mr)};
		const struct plx_send_wr wr = {
			.wr_id = link->sent, .op = PLX_WR_SEND, .sge = &sge, .sges = 1};

		for (uint32_t at = 0; at < BYTES; at++)
			out[at] = byte_of(end->is_first, i, link->sent, at);
		if (plx_post_send(link->qp, &wr, 1, &status) != 1)
			must(status, "send");
		link->sent++;
	}
}

static void
on_received(struct end *end, uint32_t i, const struct plx_wc *wc)
{
	struct link *link = &end->link[i];
	const uint8_t *in = end->place[i].in[link->received % RECEIVES];

	if (wc->wr_id != link->received || wc->bytes != BYTES)
		stop("queue pair %u: receive %llu of %u bytes, not %u", i,
		     (unsigned long long)wc->wr_id, wc->bytes, link->received);
	for (uint32_t at = 0; at < BYTES; at++)
		if (in[at] != byte_of(!end->is_first, i, link->received, at))
			stop("queue pair %u, message %u: byte %u is wrong", i, link->received, at);
	link->received++;
	if (link->received + RECEIVES <= ROUNDS)
		post_receive(end, i, link->received + RECEIVES - 1);
}

static bool
is_done(const struct link *link)
{
	return link->completed == ROUNDS && link->received == ROUNDS;
}

static void
note_pause(struct end *end, struct link *link, double now)
{
	if (now - link->active_at > end->longest)
		end->longest = now - link->active_at;
	link->active_at = now;
}

/* One look at one queue pair. Returns: has it ended with this? */
static bool
serve(struct end *end, uint32_t i, double now)
{
	struct link *link = &end->link[i];
	bool was_done = is_done(link);
	struct plx_wc wc[4 * AHEAD];
	uint32_t n = plx_cq_poll(link->cq, wc, 4 * AHEAD);

	for (uint32_t k = 0; k < n; k++) {
		if (wc[k].status != PLX_WC_SUCCESS)
			stop("queue pair %u: %s", i, plx_wc_text((enum plx_wc_status)wc[k].status));
		if (wc[k].flags & PLX_WC_RECV)
			on_received(end, i, &wc[k]);
		else
			link->completed++;
	}
	if (n > 0)
		note_pause(end, link, now);
	else if (!was_done && now - link->active_at > PAUSE_S)
		stop("queue pair %u is starved: %u of %d messages, and nothing for %d s", i,
		     link->received, ROUNDS, PAUSE_S);
	post_sends(end, i);
	return !was_done && is_done(link);
}

static void
exchange(struct end *end)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < end->n; i++)
		for (uint32_t round = 0; round < RECEIVES; round++)
			post_receive(end, i, round);
	meet(end);
	for (uint32_t i = 0; i < end->n; i++)
		end->link[i].active_at = seconds();
	while (done < end->n) {
		double now = seconds();

		for (uint32_t i = 0; i < end->n; i++) {
			if (serve(end, i, now) && done++ == 0) {
				end->least = ROUNDS;
				for (uint32_t k = 0; k < end->n; k++)
					if (end->link[k].received < end->least)
						end->least = end->link[k].received;
			}
		}
		sched_yield();
	}
	meet(end);
}

/* ---- closing ---- */

static void
disconnect(struct end *end)
{
	struct plx_connector_event event;
	enum plx_cm_event_kind wanted =
		end->is_first ? PLX_CM_EVENT_DISCONNECTED : PLX_CM_EVENT_CLOSED;

	for (uint32_t i = 0; i < end->n && !end->is_first; i++)
		if (is_managed(i))
			must(plx_disconnect(end->link[i].connector), "disconnect");
	for (uint32_t i = 0; i < end->n; i++) {
		if (!is_managed(i))
			continue;
		if (!plx_event_channel_wait(end->channel, 30000, &event) || event.kind != wanted)
			stop("a connection does not end");
	}
	for (uint32_t i = 0; i < end->n; i++)
		if (is_managed(i))
			must(plx_connector_destroy(end->link[i].connector), "end of a connector");
}

static void
close_end(struct end *end)
{
	for (uint32_t i = 0; i < end->n; i++) {
		must(plx_qp_destroy(end->link[i].qp), "end of a queue pair");
		must(plx_cq_destroy(end->link[i].cq), "end of a completion queue");
	}
}

/* That the adapter can be closed says that none of its objects is left. */
static void
close_rest(struct end *end)
{
	if (end->listener)
		must(plx_listener_destroy(end->listener), "end of the listener");
	must(plx_event_channel_destroy(end->channel), "end of the channel");
	must(plx_mr_deregister(end->mr), "end of the region");
	must(plx_pd_destroy(end->pd), "end of the domain");
	munmap(end->place, end->n * sizeof(*end->place));
	free(end->link);
	meet(end);
	must(plx_adapter_close(end->adapter), "end of the adapter");
	meet(end);
	if (plx_heap_queues() != 0)
		stop("%zu bytes of queues are left", plx_heap_queues());
}

/* ---- all of it ---- */

/* What is resident grew by so much since `before`; both ends count where they share a process. */
static void
expect_growth(const struct end *end, const char *what, long before, long limit)
{
	long grown = resident() - before;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	limit = LONG_MAX; /* what was freed stays resident for long there, on purpose */
#endif
	if (end->is_first)
		printf("%s: %ld KiB more than before (limit %ld)\n", what, grown, limit);
	if (grown > limit)
		stop("%s: %ld KiB more than before are resident, not %ld", what, grown, limit);
}

static void *
play(void *context)
{
	struct end *end = context;
	uint32_t sharers = end->is_wire ? 2 : 1;
	double begin = seconds(), connected, exchanged;
	long before;

	if (end->is_first || !end->is_wire)
		must(plx_eal_start(end->eal, sentence()), "EAL");
	/* the server of a memif first */
	if (!end->is_first)
		meet(end);
	open_end(end);
	if (end->is_first)
		meet(end);
	meet(end);
	before = resident();
	meet(end);
	make_queue_pairs(end);
	connect_directly(end);
	connect_by_manager(end);
	meet(end);
	connected = seconds();
	expect_growth(end, "idle", before, (long)(sharers * end->n * IDLE_KIB) + LEFT_KIB);
	meet(end);
	exchange(end);
	exchanged = seconds();
	disconnect(end);
	close_end(end);
	meet(end);
	expect_growth(end, "closed", before, LEFT_KIB);
	meet(end);
	close_rest(end);
	printf("%u queue pairs of depth %u: connected in %.2f s, %u messages each way in %.2f s; "
	       "the longest pause of one %.3f s, the slowest had %u of %d when the first was "
	       "done\n",
	       end->n, end->depth, connected - begin, end->n * ROUNDS, exchanged - connected,
	       end->longest, end->least, ROUNDS);
	fflush(stdout);
	return NULL;
}

static int
play_both(struct end ends[2])
{
	pthread_t other;

	if (pthread_create(&other, NULL, play, &ends[1]) != 0)
		stop("no thread for the other end");
	play(&ends[0]);
	pthread_join(other, NULL);
	return 0;
}

static int
play_apart(struct end ends[2])
{
	pid_t child = fork();
	int status = 1;

	if (child < 0)
		stop("no process for the other end");
	close(ends[child != 0].peer);
	play(&ends[child == 0]);
	if (child != 0 && waitpid(child, &status, 0) != child)
		stop("the other end is lost");
	return child == 0 || status == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	bool is_wire = argc > 1 && strcmp(argv[1], "wire") == 0;
	int sockets[2];
	struct end ends[2];

	if (argc < 4 || (!is_wire && strcmp(argv[1], "memif") != 0))
		stop("wire|memif QUEUE_PAIRS DEPTH (0: the adapter's) [EAL ARGUMENTS]");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
		stop("no sockets: %s", strerror(errno));
	alarm(PATIENCE_S);
	for (int i = 0; i < 2; i++) {
		ends[i] = (struct end){.is_first = i == 0,
				       .is_wire = is_wire,
				       .peer = sockets[i],
				       .n = (uint32_t)atoi(argv[2]),
				       .depth = (uint32_t)atoi(argv[3]),
				       .eal = argc > 4 ? argv[4] : NULL};
		if (ends[i].n < 2 || ends[i].n > QPS_MAX)
			stop("2 to %d queue pairs", QPS_MAX);
	}
	return is_wire ? play_both(ends) : play_apart(ends);
}
