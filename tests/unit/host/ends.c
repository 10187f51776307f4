/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that are killed: a program attaches to a host in another process, makes its way through
 * the steps below, and is killed after one of them. Whoever is connected to it is told within
 * TOLD_MS, nothing of it is left at the host, and the neighbour's own connection loses nothing.
 * Start with steps[], then kill_after().
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "host_process.h"
#include "host_side.h"
#include "plx_verbs.h"

enum {
	PORT = 4242,     /* of the neighbour */
	OWN_PORT = 4243, /* of the program */
	BYTES = 1 << 20,
	DEPTH = 16,
	TOLD_MS = 100,
	LATE_MAX = 6, /* of all steps, on a machine that has other things to do */
	NEWS_MAX = 8, /* connections of the neighbour's with one program */
};

static struct host_process host;

/* What one program has. */
struct program {
	struct plx_adapter *adapter;
	struct plx_pd *pd;
	uint8_t *memory;
	struct plx_mr *mr;
	struct plx_mw *mw;
	struct plx_cq *cq;
	struct plx_srq *srq;
	struct plx_qp *qp, *other, *ud;
	struct plx_ah *ah;
	struct plx_event_channel *channel;
	struct plx_connector *connector, *second;
	struct plx_listener *listener;
};

/* ---- the program that is killed ---- */

#define MUST(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

static void
open_adapter(struct program *p)
{
	struct plx_why why = {""};

	if (plx_adapter_open("a", NULL, &p->adapter, &why) != PLX_OK)
		fprintf(stderr, "%s\n", why.text);
	MUST(p->adapter != NULL);
}

static void
query_adapter(struct program *p)
{
	struct plx_adapter_info info;

	plx_adapter_query(p->adapter, &info);
	MUST(info.addresses == 1);
}

static void
make_domain(struct program *p)
{
	MUST(plx_pd_create(p->adapter, &p->pd) == PLX_OK);
}

static void
allocate(struct program *p)
{
	p->memory = plx_mem_alloc(BYTES, -1, NULL);
	MUST(p->memory != NULL);
}

static void
register_memory(struct program *p)
{
	MUST(plx_mr_register(p->pd, p->memory, BYTES,
			     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_BIND |
				     PLX_ACCESS_REMOTE_READ,
			     &p->mr) == PLX_OK);
}

static void
make_window(struct program *p)
{
	MUST(plx_mw_create(p->pd, &p->mw) == PLX_OK);
}

static void
make_cq(struct program *p)
{
	const struct plx_cq_options options = {.depth = 64};

	MUST(plx_cq_create(p->adapter, &options, &p->cq) == PLX_OK);
}

static void
resize_cq(struct program *p)
{
	MUST(plx_cq_resize(p->cq, 128) == PLX_OK);
}

static void
get_descriptor(struct program *p)
{
	MUST(plx_cq_fd(p->cq) >= 0);
}

static void
arm_cq(struct program *p)
{
	MUST(plx_cq_arm(p->cq, PLX_CQ_NOTIFY_ANY, NULL) == PLX_OK);
}

static void
make_srq(struct program *p)
{
	const struct plx_srq_options options = {.depth = DEPTH, .sges = 1};

	MUST(plx_srq_create(p->adapter, &options, &p->srq) == PLX_OK);
}

static void
arm_srq(struct program *p)
{
	MUST(plx_srq_arm(p->srq, 1) == PLX_OK);
}

static void
post_srq(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, 64, plx_mr_key(p->mr)};
	const struct plx_recv_wr wr = {.sge = &sge, .sges = 1};

	MUST(plx_post_srq_recv(p->srq, &wr, 1, NULL) == 1);
}

static struct plx_qp *
create_qp(struct program *p, enum plx_qp_type type, struct plx_srq *srq)
{
	const struct plx_qp_options options = {.send_cq = p->cq,
					       .recv_cq = p->cq,
					       .srq = srq,
					       .sq_depth = DEPTH,
					       .rq_depth = DEPTH,
					       .type = type,
					       .qkey = 0x11111111};
	struct plx_qp *qp = NULL;

	MUST(plx_qp_create(p->pd, &options, &qp, NULL) == PLX_OK);
	return qp;
}

static void
make_qp(struct program *p)
{
	p->qp = create_qp(p, PLX_QP_RC, NULL);
}

static void
make_qp_on_srq(struct program *p)
{
	p->other = create_qp(p, PLX_QP_RC, p->srq);
}

static void
query_qp(struct program *p)
{
	struct plx_qp_info info;

	MUST(plx_qp_query(p->qp, &info) == PLX_OK && info.state == PLX_QP_RESET);
}

static void
to_init(struct program *p)
{
	MUST(plx_qp_modify(p->qp, PLX_QP_INIT, NULL, NULL, NULL) == PLX_OK);
}

static void
post_receives(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, 4096, plx_mr_key(p->mr)};
	const struct plx_recv_wr wr = {.sge = &sge, .sges = 1};

	for (int i = 0; i < DEPTH; i++)
		MUST(plx_post_recv(p->qp, &wr, 1, NULL) == 1);
}

static void
flush_init(struct program *p)
{
	MUST(plx_qp_flush(p->qp) == PLX_OK);
	post_receives(p);
}

static void
make_ud(struct program *p)
{
	p->ud = create_qp(p, PLX_QP_UD, NULL);
}

static void
make_ah(struct program *p)
{
	const struct plx_ah_options options = {.remote = host_side_ip(2), .dscp = 0xff};

	MUST(plx_ah_create(p->pd, &options, &p->ah, NULL) == PLX_OK);
}

static void
ud_to_rts(struct program *p)
{
	for (int to = PLX_QP_INIT; to <= PLX_QP_RTS; to++)
		MUST(plx_qp_modify(p->ud, (enum plx_qp_state)to, NULL, NULL, NULL) == PLX_OK);
}

static void
send_datagram(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, 64, plx_mr_key(p->mr)};
	const struct plx_send_wr wr = {.op = PLX_WR_SEND,
				       .sges = 1,
				       .sge = &sge,
				       .ah = p->ah,
				       .remote_qpn = 77,
				       .remote_qkey = 1};

	MUST(plx_post_send(p->ud, &wr, 1, NULL) == 1);
}

static void
resolve_neighbour(struct program *p)
{
	const struct plx_ip ip = host_side_ip(2);

	MUST(plx_adapter_resolve(p->adapter, &ip, 5000, NULL, NULL) == PLX_OK);
}

static void
ping_neighbour(struct program *p)
{
	const struct plx_ip ip = host_side_ip(2);
	uint64_t rtt;

	MUST(plx_adapter_ping(p->adapter, &ip, 100, 5000, &rtt, NULL) == PLX_OK);
}

static void
make_channel(struct program *p)
{
	MUST(plx_event_channel_create(p->adapter, 16, &p->channel) == PLX_OK);
}

static void
channel_descriptor(struct program *p)
{
	MUST(plx_event_channel_fd(p->channel) >= 0);
}

static void
listen_at_port(struct program *p)
{
	const struct plx_listen_options options = {.port = OWN_PORT};

	MUST(plx_listen(p->channel, &options, &p->listener, NULL) == PLX_OK);
}

static void
make_connector(struct program *p)
{
	MUST(plx_connector_create(p->channel, 0, &p->connector) == PLX_OK);
}

static struct plx_connect_options
to_neighbour(void)
{
	struct plx_connect_options options;

	plx_connect_options_init(&options);
	options.remote = host_side_ip(2);
	options.remote_port = PORT;
	return options;
}

static void
connect_to_neighbour(struct program *p)
{
	const struct plx_connect_options options = to_neighbour();

	MUST(plx_connect(p->connector, p->qp, &options, NULL) == PLX_OK);
}

static struct plx_connector_event
next_event(struct program *p, enum plx_cm_event_kind kind)
{
	struct plx_connector_event event;

	MUST(plx_event_channel_wait(p->channel, 20000, &event));
	if (event.kind != kind)
		fprintf(stderr, "%s instead of %s\n",
			plx_cm_event_text((enum plx_cm_event_kind)event.kind),
			plx_cm_event_text(kind));
	MUST(event.kind == kind);
	return event;
}

static void
await_reply(struct program *p)
{
	(void)next_event(p, PLX_CM_EVENT_REPLIED);
}

static void
establish(struct program *p)
{
	MUST(plx_establish(p->connector, NULL) == PLX_OK);
}

static void
await_established(struct program *p)
{
	struct plx_qp_info info;

	MUST(plx_qp_query(p->qp, &info) == PLX_OK && info.state == PLX_QP_RTS);
}

static void
send_one(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, 1000, plx_mr_key(p->mr)};

	MUST(plx_post_one(p->qp, PLX_WR(PLX_WR_SEND, 0), 1, &sge, 0, (struct plx_key){0}) ==
	     PLX_OK);
}

static void
reap_one(struct program *p)
{
	struct plx_wc wc;

	/* behind the receives that were flushed */
	do
		while (plx_cq_poll(p->cq, &wc, 1) == 0)
			;
	while (wc.flags & PLX_WC_RECV);
	MUST(wc.status == PLX_WC_SUCCESS);
}

/* The neighbour has few receives: most of it is under way at the end. */
static void
send_storm(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, 1 << 19, plx_mr_key(p->mr)};

	while (plx_post_one(p->qp, PLX_WR(PLX_WR_SEND, PLX_WR_UNSIGNALED), 1, &sge, 0,
			    (struct plx_key){0}) == PLX_OK)
		;
}

static void
bind_window(struct program *p)
{
	const struct plx_bind bind = {.mr = p->mr,
				      .va = (uintptr_t)p->memory,
				      .length = 4096,
				      .access = PLX_ACCESS_REMOTE_READ};
	struct plx_key key;
	enum plx_status status;

	do
		status = plx_post_bind(p->qp, p->mw, &bind, &key);
	while (status == PLX_FULL);
	MUST(status == PLX_OK);
}

static void
second_connector(struct program *p)
{
	MUST(plx_connector_create(p->channel, 0, &p->second) == PLX_OK);
}

static void
second_connect(struct program *p)
{
	const struct plx_connect_options options = to_neighbour();

	MUST(plx_connect(p->second, p->other, &options, NULL) == PLX_OK);
}

static void
second_reply(struct program *p)
{
	(void)next_event(p, PLX_CM_EVENT_REPLIED);
}

static void
second_reject(struct program *p)
{
	MUST(plx_reject(p->second, NULL, 0) == PLX_OK);
}

static void
second_destroy(struct program *p)
{
	MUST(plx_connector_destroy(p->second) == PLX_OK);
}

static void
read_counters(struct program *p)
{
	struct plx_counter counter[16];

	MUST(plx_adapter_counters(p->adapter, counter, 16) > 16);
	MUST(plx_qp_counters(p->qp, counter, 16) > 16);
}

static void
fetch_async(struct program *p)
{
	struct plx_async_event event;

	MUST(plx_adapter_async_fd(p->adapter) >= 0);
	while (plx_adapter_next_async_event(p->adapter, &event))
		;
}

static void
disconnect(struct program *p)
{
	MUST(plx_disconnect(p->connector) == PLX_OK);
}

static void
await_closed(struct program *p)
{
	(void)next_event(p, PLX_CM_EVENT_CLOSED);
}

static void
destroy_connector(struct program *p)
{
	MUST(plx_connector_destroy(p->connector) == PLX_OK);
}

static void
stop_listening(struct program *p)
{
	MUST(plx_listener_destroy(p->listener) == PLX_OK);
}

static void
destroy_channel(struct program *p)
{
	MUST(plx_event_channel_destroy(p->channel) == PLX_OK);
}

static void
reset_qp(struct program *p)
{
	MUST(plx_qp_modify(p->qp, PLX_QP_RESET, NULL, NULL, NULL) == PLX_OK);
}

static void
destroy_qp(struct program *p)
{
	MUST(plx_qp_destroy(p->qp) == PLX_OK);
}

static void
destroy_other(struct program *p)
{
	MUST(plx_qp_destroy(p->other) == PLX_OK);
}

static void
destroy_ud(struct program *p)
{
	MUST(plx_qp_destroy(p->ud) == PLX_OK);
}

static void
destroy_ah(struct program *p)
{
	MUST(plx_ah_destroy(p->ah) == PLX_OK);
}

static void
destroy_window(struct program *p)
{
	MUST(plx_mw_destroy(p->mw) == PLX_OK);
}

static void
destroy_srq(struct program *p)
{
	MUST(plx_srq_destroy(p->srq) == PLX_OK);
}

static void
destroy_cq(struct program *p)
{
	MUST(plx_cq_destroy(p->cq) == PLX_OK);
}

static void
deregister(struct program *p)
{
	MUST(plx_mr_deregister(p->mr) == PLX_OK);
}

static void
free_memory(struct program *p)
{
	plx_mem_free(p->memory);
}

static void
drop_arena(struct program *p)
{
	allocate(p);
	register_memory(p);
}

static void
destroy_domain(struct program *p)
{
	deregister(p);
	MUST(plx_pd_destroy(p->pd) == PLX_OK);
}

static void
close_adapter(struct program *p)
{
	MUST(plx_adapter_close(p->adapter) == PLX_OK);
}

static void
open_again(struct program *p)
{
	open_adapter(p);
}

#define STEP(step)          \
	{                   \
#step, step \
	}
static const struct {
	const char *name;
	void (*run)(struct program *p);
} steps[] = {
	STEP(open_adapter),     STEP(query_adapter),     STEP(make_domain),
	STEP(allocate),         STEP(register_memory),   STEP(make_window),
	STEP(make_cq),          STEP(resize_cq),         STEP(get_descriptor),
	STEP(arm_cq),           STEP(make_srq),          STEP(arm_srq),
	STEP(post_srq),         STEP(make_qp),           STEP(make_qp_on_srq),
	STEP(query_qp),         STEP(to_init),           STEP(post_receives),
	STEP(flush_init),       STEP(make_ud),           STEP(make_ah),
	STEP(ud_to_rts),        STEP(send_datagram),     STEP(resolve_neighbour),
	STEP(ping_neighbour),   STEP(make_channel),      STEP(channel_descriptor),
	STEP(listen_at_port),   STEP(make_connector),    STEP(connect_to_neighbour),
	STEP(await_reply),      STEP(establish),         STEP(await_established),
	STEP(send_one),         STEP(reap_one),          STEP(send_storm),
	STEP(bind_window),      STEP(read_counters),     STEP(fetch_async),
	STEP(second_connector), STEP(second_connect),    STEP(second_reply),
	STEP(second_reject),    STEP(second_destroy),    STEP(disconnect),
	STEP(await_closed),     STEP(destroy_connector), STEP(stop_listening),
	STEP(destroy_channel),  STEP(reset_qp),          STEP(destroy_qp),
	STEP(destroy_other),    STEP(destroy_ud),        STEP(destroy_ah),
	STEP(destroy_window),   STEP(destroy_srq),       STEP(destroy_cq),
	STEP(deregister),       STEP(free_memory),       STEP(drop_arena),
	STEP(destroy_domain),   STEP(close_adapter),     STEP(open_again),
};

enum {
	STEPS = sizeof(steps) / sizeof(steps[0]),
};
_Static_assert(STEPS >= 60, "a program is killed at that many points at least");

/* @param last the step after which it is killed */
static pid_t
start_program(unsigned last)
{
	static struct program program;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	alarm(60);
	for (unsigned i = 0; i <= last; i++)
		steps[i].run(&program);
	kill(getpid(), SIGKILL);
	_exit(1);
}

/* ---- the neighbour ---- */

static struct {
	struct program self; /* at adapter "b" */
	struct {
		struct plx_connector *connector;
		struct plx_qp *qp;
		bool open; /* accepted, and not ended */
	} news[NEWS_MAX];
	unsigned count;
	/* two queue pairs of its own, connected with each other by both adapters */
	struct program peer; /* at adapter "a" */
	uint64_t messages;
	unsigned late; /* steps after which it was told late */
} neighbour;

static void
accept_request(const struct plx_connector_event *event)
{
	const struct plx_qp_options qp = {.send_cq = neighbour.self.cq,
					  .recv_cq = neighbour.self.cq,
					  .sq_depth = DEPTH,
					  .rq_depth = DEPTH};
	const struct plx_sge sge = {(uintptr_t)neighbour.self.memory, BYTES,
				    plx_mr_key(neighbour.self.mr)};
	const struct plx_recv_wr wr = {.sge = &sge, .sges = 1};
	struct plx_connect_options options;
	unsigned i = neighbour.count++;

	assert_true(i < NEWS_MAX);
	plx_connect_options_init(&options);
	neighbour.news[i].connector = event->connector;
	assert_int_equal(plx_qp_create(neighbour.self.pd, &qp, &neighbour.news[i].qp, NULL),
			 PLX_OK);
	/* It may have given up already. */
	if (plx_accept(event->connector, neighbour.news[i].qp, &options, NULL) != PLX_OK)
		return;
	neighbour.news[i].open = true;
	for (int n = 0; n < 4; n++)
		assert_int_equal(plx_post_recv(neighbour.news[i].qp, &wr, 1, NULL), 1);
}

static void
handle_events(void)
{
	struct plx_connector_event event;

	while (plx_event_channel_next(neighbour.self.channel, &event)) {
		if (event.kind == PLX_CM_EVENT_REQUESTED) {
			accept_request(&event);
			continue;
		}
		for (unsigned i = 0; i < neighbour.count; i++)
			if (neighbour.news[i].connector == event.connector &&
			    event.kind != PLX_CM_EVENT_ESTABLISHED)
				neighbour.news[i].open = false;
	}
}

static unsigned
open_connections(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < neighbour.count; i++)
		n += neighbour.news[i].open;
	return n;
}

static void
drop_connections(void)
{
	for (unsigned i = 0; i < neighbour.count; i++) {
		assert_int_equal(plx_connector_destroy(neighbour.news[i].connector), PLX_OK);
		assert_int_equal(plx_qp_destroy(neighbour.news[i].qp), PLX_OK);
	}
	neighbour.count = 0;
}

/* A request may come late, and is accepted like others: its end comes, too. */
static void
tidy_up(void)
{
	handle_events();
	if (open_connections() == 0)
		drop_connections();
}

static void
open_side(struct program *p, const char *name)
{
	const struct plx_cq_options cq = {.depth = 256};
	struct plx_why why = {""};

	if (plx_adapter_open(name, NULL, &p->adapter, &why) != PLX_OK)
		fail_msg("%s", why.text);
	assert_int_equal(plx_pd_create(p->adapter, &p->pd), PLX_OK);
	p->memory = plx_mem_alloc(BYTES, -1, NULL);
	assert_non_null(p->memory);
	assert_int_equal(plx_mr_register(p->pd, p->memory, BYTES, PLX_ACCESS_LOCAL_WRITE, &p->mr),
			 PLX_OK);
	assert_int_equal(plx_cq_create(p->adapter, &cq, &p->cq), PLX_OK);
	p->qp = create_qp(p, PLX_QP_RC, NULL);
}

static void
close_side(struct program *p)
{
	assert_int_equal(plx_qp_destroy(p->qp), PLX_OK);
	assert_int_equal(plx_cq_destroy(p->cq), PLX_OK);
	assert_int_equal(plx_mr_deregister(p->mr), PLX_OK);
	plx_mem_free(p->memory);
	assert_int_equal(plx_pd_destroy(p->pd), PLX_OK);
	assert_int_equal(plx_adapter_close(p->adapter), PLX_OK);
}

/* One message between its own two queue pairs: not lost, not doubled, not changed. */
static void
exchange_one(void)
{
	struct program *from = &neighbour.peer, *to = &neighbour.self;
	const struct plx_sge out = {(uintptr_t)from->memory, 3000, plx_mr_key(from->mr)};
	const struct plx_sge in = {(uintptr_t)to->memory + 8192, 3000, plx_mr_key(to->mr)};
	const struct plx_recv_wr wr = {.wr_id = ++neighbour.messages, .sge = &in, .sges = 1};
	struct plx_wc wc;

	memset(from->memory, (int)neighbour.messages, 3000);
	assert_int_equal(plx_post_recv(to->qp, &wr, 1, NULL), 1);
	assert_int_equal(plx_post_one(from->qp, PLX_WR(PLX_WR_SEND, 0), neighbour.messages, &out, 0,
				      (struct plx_key){0}),
			 PLX_OK);
	test_until(plx_cq_poll(from->cq, &wc, 1) == 1, (void)0);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	for (;;) {
		test_until(plx_cq_poll(to->cq, &wc, 1) == 1, (void)0);
		if (wc.wr_id == neighbour.messages && wc.flags & PLX_WC_RECV)
			break;
	}
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(wc.bytes, 3000);
	assert_memory_equal(from->memory, to->memory + 8192, 3000);
}

static int
set_up(void **state)
{
	const struct plx_listen_options listen = {.port = PORT};
	struct plx_qp_address address[2];
	struct plx_qp_attr attr;

	(void)state;
	if (!host_process_begin(&host))
		return -1;
	open_side(&neighbour.self, "b");
	open_side(&neighbour.peer, "a");
	plx_qp_attr_init(&attr);
	assert_int_equal(plx_qp_address(neighbour.self.qp, NULL, &address[0]), PLX_OK);
	assert_int_equal(plx_qp_address(neighbour.peer.qp, NULL, &address[1]), PLX_OK);
	assert_int_equal(plx_qp_connect(neighbour.self.qp, &address[1], &attr, 5000, NULL), PLX_OK);
	assert_int_equal(plx_qp_connect(neighbour.peer.qp, &address[0], &attr, 5000, NULL), PLX_OK);
	assert_int_equal(
		plx_event_channel_create(neighbour.self.adapter, 64, &neighbour.self.channel),
		PLX_OK);
	assert_int_equal(
		plx_listen(neighbour.self.channel, &listen, &neighbour.self.listener, NULL),
		PLX_OK);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	assert_int_equal(plx_listener_destroy(neighbour.self.listener), PLX_OK);
	assert_int_equal(plx_event_channel_destroy(neighbour.self.channel), PLX_OK);
	close_side(&neighbour.self);
	close_side(&neighbour.peer);
	return host_process_end(&host) ? 0 : -1;
}

/* ---- the test ---- */

static void
kill_after(unsigned step, uint32_t baseline)
{
	pid_t pid = start_program(step);
	uint64_t killed;
	int status = 0;

	test_until(waitpid(pid, &status, WNOHANG) == pid, (handle_events(), usleep(200)));
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		fail_msg("a program did not get as far as %s", steps[step].name);
	killed = test_ns();
	test_until(open_connections() == 0, handle_events());
	if (test_ns() - killed > TOLD_MS * PLX_MSEC) {
		neighbour.late++;
		print_message("after %s its peer was told in %llu ms\n", steps[step].name,
			      (unsigned long long)((test_ns() - killed) / PLX_MSEC));
	}
	test_until(host_process_objects(&host) == baseline, tidy_up());
	exchange_one();
}

static void
whoever_is_killed_leaves_nothing_and_peers_are_told(void **state)
{
	uint32_t baseline = host_process_objects(&host);

	(void)state;
	exchange_one();
	for (unsigned step = 0; step < STEPS; step++)
		kill_after(step, baseline);
	assert_true(neighbour.late <= LATE_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_is_killed_leaves_nothing_and_peers_are_told),
	};

	host_process_fork(&host, host_side_offer);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
