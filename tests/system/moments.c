/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See moments.h. Start with the table at the end.
 */
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>

#include "host_side.h"
#include "moments.h"

enum {
	WAIT_MS = 60000, /* of waits that end before */
	NOBODY = 99,     /* the last byte of an address that nobody has */
};

const struct board *moments_board;

/* ---- what the program does when polluxd dies ---- */

static enum plx_status
wait_for_completion(struct program *p)
{
	return plx_cq_wait(p->cq, WAIT_MS) == 0 ? PLX_GONE : PLX_OK;
}

/* The end of its peer, which polluxd may end first, is one. */
static enum plx_status
wait_for_event(struct program *p)
{
	struct plx_connector_event event;

	while (plx_event_channel_wait(p->channel, WAIT_MS, &event))
		PROGRAM_MUST(event.kind == PLX_CM_EVENT_DISCONNECTED);
	return PLX_GONE;
}

/* A program that sleeps on descriptors by itself. The shared receive queue has an event, too. */
static enum plx_status
watch_descriptor(struct program *p)
{
	struct pollfd set = {.fd = plx_adapter_async_fd(p->adapter), .events = POLLIN};
	struct plx_async_event event;

	while (poll(&set, 1, WAIT_MS) == 1)
		while (plx_adapter_next_async_event(p->adapter, &event))
			if (event.kind == PLX_EVENT_HOST_GONE)
				return PLX_GONE;
	return PLX_TIMEOUT;
}

static enum plx_status
resolve_nobody(struct program *p)
{
	const struct plx_ip ip = host_side_ip(NOBODY);

	return plx_adapter_resolve(p->adapter, &ip, WAIT_MS, NULL, NULL);
}

static enum plx_status
ping_nobody(struct program *p)
{
	const struct plx_ip ip = host_side_ip(NOBODY);
	uint64_t rtt;

	return plx_adapter_ping(p->adapter, &ip, 100, WAIT_MS, &rtt, NULL);
}

static enum plx_status
connect_to_nobody(struct program *p)
{
	const struct plx_qp_address nobody = {
		.qpn = 2, .ip = host_side_ip(NOBODY), .path_mtu = 1024, .responder_resources = 16};
	struct plx_qp_attr attr;

	plx_qp_attr_init(&attr);
	return plx_qp_connect(p->qp, &nobody, &attr, WAIT_MS, NULL);
}

/* Keep the queue full of such requests until nothing completes any more. */
static enum plx_status
keep_full(struct program *p, struct plx_qp *qp, const struct plx_send_wr *wr)
{
	struct plx_wc wc[PROGRAM_DEPTH];

	for (;;) {
		while (plx_post_send(qp, wr, 1, NULL) == 1)
			continue;
		PROGRAM_MUST(plx_cq_arm(p->cq, PLX_CQ_NOTIFY_ANY, NULL) == PLX_OK);
		if (plx_cq_poll(p->cq, wc, PROGRAM_DEPTH) > 0)
			continue;
		if (plx_cq_wait(p->cq, WAIT_MS) == 0)
			return PLX_GONE;
	}
}

static enum plx_status
read_on(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, PROGRAM_BYTES, plx_mr_key(p->mr)};
	const struct plx_send_wr wr = {.op = PLX_WR_READ,
				       .sge = &sge,
				       .sges = 1,
				       .remote_va = atomic_load(&moments_board->memory),
				       .rkey = {atomic_load(&moments_board->key)}};

	return keep_full(p, p->qp, &wr);
}

/* The neighbour has few receives: the others wait for its RNR timer. */
static enum plx_status
send_on(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, PROGRAM_BYTES / 2, plx_mr_key(p->mr)};
	const struct plx_send_wr wr = {.op = PLX_WR_SEND, .sge = &sge, .sges = 1};

	return keep_full(p, p->qp, &wr);
}

static enum plx_status
send_datagrams(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, 64, plx_mr_key(p->mr)};
	const struct plx_send_wr wr = {.op = PLX_WR_SEND,
				       .sge = &sge,
				       .sges = 1,
				       .ah = p->ah,
				       .remote_qpn = 77,
				       .remote_qkey = 1};

	return keep_full(p, p->ud, &wr);
}

static enum plx_status
ask_on(struct program *p)
{
	struct plx_qp_info info;
	enum plx_status status;

	do
		status = plx_qp_query(p->qp, &info);
	while (status == PLX_OK);
	return status;
}

static enum plx_status
open_one(struct program *p)
{
	return plx_adapter_open("a", NULL, &p->adapter, NULL);
}

static enum plx_status
make_domain(struct program *p)
{
	return plx_pd_create(p->adapter, &p->pd);
}

static enum plx_status
register_memory(struct program *p)
{
	return plx_mr_register(p->pd, p->memory, PROGRAM_BYTES, PLX_ACCESS_LOCAL_WRITE, &p->mr);
}

/* So deep that it needs memory of its own. */
static enum plx_status
make_deep_cq(struct program *p)
{
	const struct plx_cq_options options = {.depth = 1 << 17};

	return plx_cq_create(p->adapter, &options, &p->cq);
}

static enum plx_status
arm_first(struct program *p)
{
	return plx_cq_arm(p->cq, PLX_CQ_NOTIFY_ANY, NULL);
}

static enum plx_status
make_qp(struct program *p)
{
	const struct plx_qp_options options = {
		.send_cq = p->cq, .recv_cq = p->cq, .sq_depth = 16, .rq_depth = 16};

	return plx_qp_create(p->pd, &options, &p->qp, NULL);
}

static enum plx_status
query_qp(struct program *p)
{
	struct plx_qp_info info;

	return plx_qp_query(p->qp, &info);
}

static enum plx_status
to_init(struct program *p)
{
	return plx_qp_modify(p->qp, PLX_QP_INIT, NULL, NULL, NULL);
}

static enum plx_status
make_ah(struct program *p)
{
	const struct plx_ah_options options = {.remote = host_side_ip(2), .dscp = 0xff};

	return plx_ah_create(p->pd, &options, &p->ah, NULL);
}

static enum plx_status
bind_window(struct program *p)
{
	const struct plx_bind bind = {.mr = p->mr,
				      .va = (uintptr_t)p->memory,
				      .length = 4096,
				      .access = PLX_ACCESS_REMOTE_READ};
	struct plx_key key;

	return plx_post_bind(p->qp, p->mw, &bind, &key);
}

static enum plx_status
listen_at_port(struct program *p)
{
	const struct plx_listen_options options = {.port = PROGRAM_OWN_PORT};

	return plx_listen(p->channel, &options, &p->listener, NULL);
}

static struct plx_connect_options
to_neighbour(uint16_t port, unsigned last)
{
	struct plx_connect_options options;

	plx_connect_options_init(&options);
	options.remote = host_side_ip(last);
	options.remote_port = port;
	return options;
}

static enum plx_status
connect_to_neighbour(struct program *p)
{
	const struct plx_connect_options options = to_neighbour(PROGRAM_PORT, 2);

	return plx_connect(p->connector, p->qp, &options, NULL);
}

static enum plx_status
establish(struct program *p)
{
	return plx_establish(p->connector, NULL);
}

static enum plx_status
disconnect(struct program *p)
{
	return plx_disconnect(p->connector);
}

static enum plx_status
destroy_qp(struct program *p)
{
	enum plx_status status = plx_qp_destroy(p->qp);

	p->qp = NULL;
	return status;
}

static enum plx_status
deregister(struct program *p)
{
	enum plx_status status = plx_mr_deregister(p->mr);

	p->mr = NULL;
	return status;
}

static enum plx_status
close_adapter(struct program *p)
{
	enum plx_status status = plx_adapter_close(p->adapter);

	p->adapter = NULL;
	return status;
}

/* ---- a second seat of the program's, which calls its first one ---- */

struct program moments_caller;

static void
call_first(struct program *p)
{
	const struct plx_connect_options options = to_neighbour(PROGRAM_OWN_PORT, 1);
	const struct plx_cq_options cq = {.depth = 64};
	struct plx_connector_event event;

	PROGRAM_MUST(plx_adapter_open("b", NULL, &moments_caller.adapter, NULL) == PLX_OK);
	PROGRAM_MUST(plx_pd_create(moments_caller.adapter, &moments_caller.pd) == PLX_OK);
	PROGRAM_MUST(plx_cq_create(moments_caller.adapter, &cq, &moments_caller.cq) == PLX_OK);
	moments_caller.qp = program_create_qp(&moments_caller, PLX_QP_RC, NULL);
	PROGRAM_MUST(plx_event_channel_create(moments_caller.adapter, 16,
					      &moments_caller.channel) == PLX_OK);
	PROGRAM_MUST(plx_connector_create(moments_caller.channel, 0, &moments_caller.connector) ==
		     PLX_OK);
	PROGRAM_MUST(plx_connect(moments_caller.connector, moments_caller.qp, &options, NULL) ==
		     PLX_OK);
	PROGRAM_MUST(plx_event_channel_wait(p->channel, WAIT_MS, &event));
	PROGRAM_MUST(event.kind == PLX_CM_EVENT_REQUESTED);
	p->second = event.connector;
}

static enum plx_status
accept_call(struct program *p)
{
	struct plx_connect_options options;

	plx_connect_options_init(&options);
	return plx_accept(p->second, p->qp, &options, NULL);
}

static enum plx_status
reject_call(struct program *p)
{
	return plx_reject(p->second, NULL, 0);
}

/* ---- the moments ---- */

#define ENTERS(system_call, n)                        \
	{                                             \
		.call = SYS_##system_call, .nth = (n) \
	}
#define LEAVES(system_call, n)                                        \
	{                                                             \
		.call = SYS_##system_call, .nth = (n), .leaves = true \
	}
#define HAS_READ    LEAVES(recvmsg, 1)
#define HAS_DONE(n) ENTERS(sendmsg, n)
#define HAS_SAID    LEAVES(sendmsg, 1)
#define SLEEPS            \
	{                 \
		.call = 0 \
	}
#define ENGINE_HALTS                                                        \
	{                                                                   \
		.call = SYS_clock_nanosleep, .nth = 1, .engine_halts = true \
	}
#define IS_ENDING                                                                \
	{                                                                        \
		.call = SYS_recvmsg, .nth = 1, .leaves = true, .is_ending = true \
	}
#define ENDS                      \
	{                         \
		.is_ending = true \
	}

const struct moment moments[MOMENTS] = {
	{"waits_for_completion", "post_receives", NULL, wait_for_completion, PLX_GONE, SLEEPS},
	{"waits_for_event", "make_connector", NULL, wait_for_event, PLX_GONE, SLEEPS},
	{"watches_descriptor", "make_qp", NULL, watch_descriptor, PLX_GONE, SLEEPS},
	{"waits_for_neighbour", "open_adapter", NULL, resolve_nobody, PLX_GONE, SLEEPS},
	{"waits_for_echo", "open_adapter", NULL, ping_nobody, PLX_GONE, SLEEPS},
	{"waits_to_connect", "make_qp", NULL, connect_to_nobody, PLX_GONE, SLEEPS},
	{"reads_in_flight", "reap_one", NULL, read_on, PLX_GONE, SLEEPS},
	{"sends_in_flight", "reap_one", NULL, send_on, PLX_GONE, SLEEPS},
	{"datagrams_in_flight", "ud_to_rts", NULL, send_datagrams, PLX_GONE, SLEEPS},
	{"asks_without_end", "to_init", NULL, ask_on, PLX_GONE, SLEEPS},
	{"open_accepted", NULL, NULL, open_one, PLX_GONE, LEAVES(accept4, 1)},
	{"open_read", NULL, NULL, open_one, PLX_GONE, HAS_READ},
	{"open_seat_taken", NULL, NULL, open_one, PLX_GONE, HAS_DONE(1)},
	{"open_segment_made", NULL, NULL, open_one, PLX_GONE, HAS_DONE(2)},
	{"open_segment_sealed", NULL, NULL, open_one, PLX_GONE, HAS_DONE(3)},
	{"open_opened", NULL, NULL, open_one, PLX_GONE, HAS_DONE(4)},
	{"open_descriptor_made", NULL, NULL, open_one, PLX_GONE, HAS_DONE(5)},
	{"domain_read", "open_adapter", NULL, make_domain, PLX_GONE, HAS_READ},
	{"domain_made", "open_adapter", NULL, make_domain, PLX_GONE, HAS_DONE(1)},
	{"domain_said", "open_adapter", NULL, make_domain, PLX_OK, HAS_SAID},
	{"arena_mapped", "allocate", NULL, register_memory, PLX_GONE, HAS_DONE(1)},
	{"region_made", "allocate", NULL, register_memory, PLX_GONE, HAS_DONE(2)},
	{"queue_has_no_memory", "make_window", NULL, make_deep_cq, PLX_GONE, HAS_DONE(1)},
	{"queue_memory_made", "make_window", NULL, make_deep_cq, PLX_GONE, LEAVES(memfd_create, 1)},
	{"queue_memory_said", "make_window", NULL, make_deep_cq, PLX_GONE, HAS_DONE(2)},
	{"queue_memory_sealed", "make_window", NULL, make_deep_cq, PLX_GONE, HAS_DONE(3)},
	{"queue_made", "make_window", NULL, make_deep_cq, PLX_GONE, HAS_DONE(4)},
	{"first_arm", "make_cq", NULL, arm_first, PLX_GONE, HAS_DONE(1)},
	{"queue_pair_made", "make_cq", NULL, make_qp, PLX_GONE, HAS_DONE(1)},
	{"engine_stands_still", "make_qp", NULL, query_qp, PLX_GONE, ENGINE_HALTS},
	{"state_read", "make_qp", NULL, to_init, PLX_GONE, HAS_READ},
	{"state_changed", "make_qp", NULL, to_init, PLX_GONE, HAS_DONE(1)},
	{"handle_made", "make_ud", NULL, make_ah, PLX_GONE, HAS_DONE(1)},
	{"listening", "channel_descriptor", NULL, listen_at_port, PLX_GONE, HAS_DONE(1)},
	{"connect_read", "make_connector", NULL, connect_to_neighbour, PLX_GONE, HAS_READ},
	{"connect_sent", "make_connector", NULL, connect_to_neighbour, PLX_GONE, HAS_DONE(1)},
	{"connect_said", "make_connector", NULL, connect_to_neighbour, PLX_OK, HAS_SAID},
	{"established", "await_reply", NULL, establish, PLX_GONE, HAS_DONE(1)},
	{"accept_read", "listen_at_port", call_first, accept_call, PLX_GONE, HAS_READ},
	{"accept_sent", "listen_at_port", call_first, accept_call, PLX_GONE, HAS_DONE(1)},
	{"reject_sent", "listen_at_port", call_first, reject_call, PLX_GONE, HAS_DONE(1)},
	{"window_bound", "reap_one", NULL, bind_window, PLX_GONE, HAS_DONE(1)},
	{"disconnect_read", "reap_one", NULL, disconnect, PLX_GONE, HAS_READ},
	{"disconnect_sent", "reap_one", NULL, disconnect, PLX_GONE, HAS_DONE(1)},
	{"destroy_read", "post_receives", NULL, destroy_qp, PLX_OK, HAS_READ},
	{"destroyed", "post_receives", NULL, destroy_qp, PLX_OK, HAS_DONE(1)},
	{"deregister_read", "register_memory", NULL, deregister, PLX_OK, HAS_READ},
	{"close_read", "open_adapter", NULL, close_adapter, PLX_OK, HAS_READ},
	{"closed", "open_adapter", NULL, close_adapter, PLX_OK, HAS_DONE(1)},
	{"told_to_end_in_a_wait", "reap_one", NULL, wait_for_event, PLX_GONE, ENDS},
	{"told_to_end_in_a_call", "make_qp", NULL, to_init, PLX_GONE, IS_ENDING},
};
