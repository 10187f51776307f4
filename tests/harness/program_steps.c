/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See program_steps.h.
 */
#include "program_steps.h"

#include "host_side.h"

static void
open_adapter(struct program *p)
{
	struct plx_why why = {""};

	if (plx_adapter_open("a", NULL, &p->adapter, &why) != PLX_OK)
		fprintf(stderr, "%s\n", why.text);
	PROGRAM_MUST(p->adapter != NULL);
}

static void
query_adapter(struct program *p)
{
	struct plx_adapter_info info;

	plx_adapter_query(p->adapter, &info);
	PROGRAM_MUST(info.addresses == 1);
}

static void
make_domain(struct program *p)
{
	PROGRAM_MUST(plx_pd_create(p->adapter, &p->pd) == PLX_OK);
}

static void
allocate(struct program *p)
{
	p->memory = plx_mem_alloc(PROGRAM_BYTES, -1, NULL);
	PROGRAM_MUST(p->memory != NULL);
}

static void
register_memory(struct program *p)
{
	PROGRAM_MUST(plx_mr_register(p->pd, p->memory, PROGRAM_BYTES,
				     PLX_ACCESS_LOCAL_WRITE | PLX_ACCESS_REMOTE_WRITE |
					     PLX_ACCESS_BIND | PLX_ACCESS_REMOTE_READ,
				     &p->mr) == PLX_OK);
}

static void
make_window(struct program *p)
{
	PROGRAM_MUST(plx_mw_create(p->pd, &p->mw) == PLX_OK);
}

static void
make_cq(struct program *p)
{
	const struct plx_cq_options options = {.depth = 64};

	PROGRAM_MUST(plx_cq_create(p->adapter, &options, &p->cq) == PLX_OK);
}

static void
resize_cq(struct program *p)
{
	PROGRAM_MUST(plx_cq_resize(p->cq, 128) == PLX_OK);
}

static void
get_descriptor(struct program *p)
{
	PROGRAM_MUST(plx_cq_fd(p->cq) >= 0);
}

static void
arm_cq(struct program *p)
{
	PROGRAM_MUST(plx_cq_arm(p->cq, PLX_CQ_NOTIFY_ANY, NULL) == PLX_OK);
}

static void
make_srq(struct program *p)
{
	const struct plx_srq_options options = {.depth = PROGRAM_DEPTH, .sges = 1};

	PROGRAM_MUST(plx_srq_create(p->adapter, &options, &p->srq) == PLX_OK);
}

static void
arm_srq(struct program *p)
{
	PROGRAM_MUST(plx_srq_arm(p->srq, 1) == PLX_OK);
}

static void
post_srq(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, 64, plx_mr_key(p->mr)};
	const struct plx_recv_wr wr = {.sge = &sge, .sges = 1};

	PROGRAM_MUST(plx_post_srq_recv(p->srq, &wr, 1, NULL) == 1);
}

struct plx_qp *
program_create_qp(struct program *p, enum plx_qp_type type, struct plx_srq *srq)
{
	const struct plx_qp_options options = {.send_cq = p->cq,
					       .recv_cq = p->cq,
					       .srq = srq,
					       .sq_depth = PROGRAM_DEPTH,
					       .rq_depth = PROGRAM_DEPTH,
					       .type = type,
					       .qkey = 0x11111111};
	struct plx_qp *qp = NULL;

	PROGRAM_MUST(plx_qp_create(p->pd, &options, &qp, NULL) == PLX_OK);
	return qp;
}

static void
make_qp(struct program *p)
{
	p->qp = program_create_qp(p, PLX_QP_RC, NULL);
}

static void
make_qp_on_srq(struct program *p)
{
	p->other = program_create_qp(p, PLX_QP_RC, p->srq);
}

static void
query_qp(struct program *p)
{
	struct plx_qp_info info;

	PROGRAM_MUST(plx_qp_query(p->qp, &info) == PLX_OK && info.state == PLX_QP_RESET);
}

static void
to_init(struct program *p)
{
	PROGRAM_MUST(plx_qp_modify(p->qp, PLX_QP_INIT, NULL, NULL, NULL) == PLX_OK);
}

static void
post_receives(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, 4096, plx_mr_key(p->mr)};
	const struct plx_recv_wr wr = {.sge = &sge, .sges = 1};

	for (int i = 0; i < PROGRAM_DEPTH; i++)
		PROGRAM_MUST(plx_post_recv(p->qp, &wr, 1, NULL) == 1);
}

static void
flush_init(struct program *p)
{
	PROGRAM_MUST(plx_qp_flush(p->qp) == PLX_OK);
	post_receives(p);
}

static void
make_ud(struct program *p)
{
	p->ud = program_create_qp(p, PLX_QP_UD, NULL);
}

static void
make_ah(struct program *p)
{
	const struct plx_ah_options options = {.remote = host_side_ip(2), .dscp = 0xff};

	PROGRAM_MUST(plx_ah_create(p->pd, &options, &p->ah, NULL) == PLX_OK);
}

static void
ud_to_rts(struct program *p)
{
	for (int to = PLX_QP_INIT; to <= PLX_QP_RTS; to++)
		PROGRAM_MUST(plx_qp_modify(p->ud, (enum plx_qp_state)to, NULL, NULL, NULL) ==
			     PLX_OK);
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

	PROGRAM_MUST(plx_post_send(p->ud, &wr, 1, NULL) == 1);
}

static void
resolve_neighbour(struct program *p)
{
	const struct plx_ip ip = host_side_ip(2);

	PROGRAM_MUST(plx_adapter_resolve(p->adapter, &ip, 5000, NULL, NULL) == PLX_OK);
}

static void
ping_neighbour(struct program *p)
{
	const struct plx_ip ip = host_side_ip(2);
	uint64_t rtt;

	PROGRAM_MUST(plx_adapter_ping(p->adapter, &ip, 100, 5000, &rtt, NULL) == PLX_OK);
}

static void
make_channel(struct program *p)
{
	PROGRAM_MUST(plx_event_channel_create(p->adapter, 16, &p->channel) == PLX_OK);
}

static void
channel_descriptor(struct program *p)
{
	PROGRAM_MUST(plx_event_channel_fd(p->channel) >= 0);
}

static void
listen_at_port(struct program *p)
{
	const struct plx_listen_options options = {.port = PROGRAM_OWN_PORT};

	PROGRAM_MUST(plx_listen(p->channel, &options, &p->listener, NULL) == PLX_OK);
}

static void
make_connector(struct program *p)
{
	PROGRAM_MUST(plx_connector_create(p->channel, 0, &p->connector) == PLX_OK);
}

static struct plx_connect_options
to_neighbour(void)
{
	struct plx_connect_options options;

	plx_connect_options_init(&options);
	options.remote = host_side_ip(2);
	options.remote_port = PROGRAM_PORT;
	return options;
}

static void
connect_to_neighbour(struct program *p)
{
	const struct plx_connect_options options = to_neighbour();

	PROGRAM_MUST(plx_connect(p->connector, p->qp, &options, NULL) == PLX_OK);
}

static struct plx_connector_event
next_event(struct program *p, enum plx_cm_event_kind kind)
{
	struct plx_connector_event event;

	PROGRAM_MUST(plx_event_channel_wait(p->channel, 20000, &event));
	if (event.kind != kind)
		fprintf(stderr, "%s instead of %s\n",
			plx_cm_event_text((enum plx_cm_event_kind)event.kind),
			plx_cm_event_text(kind));
	PROGRAM_MUST(event.kind == kind);
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
	PROGRAM_MUST(plx_establish(p->connector, NULL) == PLX_OK);
}

static void
await_established(struct program *p)
{
	struct plx_qp_info info;

	PROGRAM_MUST(plx_qp_query(p->qp, &info) == PLX_OK && info.state == PLX_QP_RTS);
}

static void
send_one(struct program *p)
{
	const struct plx_sge sge = {(uintptr_t)p->memory, 1000, plx_mr_key(p->mr)};

	PROGRAM_MUST(plx_post_one(p->qp, PLX_WR(PLX_WR_SEND, 0), 1, &sge, 0, (struct plx_key){0}) ==
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
	PROGRAM_MUST(wc.status == PLX_WC_SUCCESS);
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
	PROGRAM_MUST(status == PLX_OK);
}

/* Not long: its peer is to be told soon. */
static void
linger(struct program *p)
{
	PROGRAM_MUST(plx_qp_linger(p->qp, 1, NULL) == PLX_OK);
}

/* To itself: nobody is waited for when it ends. */
static void
lend(struct program *p)
{
	struct plx_adapter_info info;

	plx_adapter_query(p->adapter, &info);
	PROGRAM_MUST(plx_qp_lend(p->qp, p->connector, info.seat, &p->token, NULL) == PLX_OK);
}

static void
export_qp(struct program *p)
{
	struct plx_adapter_info info;
	enum plx_status status;

	plx_adapter_query(p->adapter, &info);
	do
		status = plx_qp_export(p->qp, p->connector, info.seat, &p->token, NULL);
	while (status == PLX_BUSY);
	PROGRAM_MUST(status == PLX_OK);
	p->connector = NULL;
}

static void
destroy_exported(struct program *p)
{
	PROGRAM_MUST(plx_qp_destroy(p->qp) == PLX_OK);
	p->qp = NULL;
}

static void
import_qp(struct program *p)
{
	const struct plx_qp_options options = {.send_cq = p->cq,
					       .recv_cq = p->cq,
					       .sq_depth = PROGRAM_DEPTH,
					       .rq_depth = PROGRAM_DEPTH};

	PROGRAM_MUST(plx_qp_import(p->pd, &p->token, &options, p->channel, &p->qp, &p->connector,
				   NULL) == PLX_OK);
	PROGRAM_MUST(plx_qp_linger(p->qp, 1, NULL) == PLX_OK);
}

static void
second_connector(struct program *p)
{
	PROGRAM_MUST(plx_connector_create(p->channel, 0, &p->second) == PLX_OK);
}

static void
second_connect(struct program *p)
{
	const struct plx_connect_options options = to_neighbour();

	PROGRAM_MUST(plx_connect(p->second, p->other, &options, NULL) == PLX_OK);
}

static void
second_reply(struct program *p)
{
	(void)next_event(p, PLX_CM_EVENT_REPLIED);
}

static void
second_reject(struct program *p)
{
	PROGRAM_MUST(plx_reject(p->second, NULL, 0) == PLX_OK);
}

static void
second_destroy(struct program *p)
{
	PROGRAM_MUST(plx_connector_destroy(p->second) == PLX_OK);
	p->second = NULL;
}

static void
read_counters(struct program *p)
{
	struct plx_counter counter[16];

	PROGRAM_MUST(plx_adapter_counters(p->adapter, counter, 16) > 16);
	PROGRAM_MUST(plx_qp_counters(p->qp, counter, 16) > 16);
}

static void
fetch_async(struct program *p)
{
	struct plx_async_event event;

	PROGRAM_MUST(plx_adapter_async_fd(p->adapter) >= 0);
	while (plx_adapter_next_async_event(p->adapter, &event))
		;
}

static void
disconnect(struct program *p)
{
	PROGRAM_MUST(plx_disconnect(p->connector) == PLX_OK);
}

static void
await_closed(struct program *p)
{
	(void)next_event(p, PLX_CM_EVENT_CLOSED);
}

static void
destroy_connector(struct program *p)
{
	PROGRAM_MUST(plx_connector_destroy(p->connector) == PLX_OK);
	p->connector = NULL;
}

static void
stop_listening(struct program *p)
{
	PROGRAM_MUST(plx_listener_destroy(p->listener) == PLX_OK);
	p->listener = NULL;
}

static void
destroy_channel(struct program *p)
{
	PROGRAM_MUST(plx_event_channel_destroy(p->channel) == PLX_OK);
	p->channel = NULL;
}

static void
reset_qp(struct program *p)
{
	PROGRAM_MUST(plx_qp_modify(p->qp, PLX_QP_RESET, NULL, NULL, NULL) == PLX_OK);
}

static void
destroy_qp(struct program *p)
{
	PROGRAM_MUST(plx_qp_destroy(p->qp) == PLX_OK);
	p->qp = NULL;
}

static void
destroy_other(struct program *p)
{
	PROGRAM_MUST(plx_qp_destroy(p->other) == PLX_OK);
	p->other = NULL;
}

static void
destroy_ud(struct program *p)
{
	PROGRAM_MUST(plx_qp_destroy(p->ud) == PLX_OK);
	p->ud = NULL;
}

static void
destroy_ah(struct program *p)
{
	PROGRAM_MUST(plx_ah_destroy(p->ah) == PLX_OK);
	p->ah = NULL;
}

static void
destroy_window(struct program *p)
{
	PROGRAM_MUST(plx_mw_destroy(p->mw) == PLX_OK);
	p->mw = NULL;
}

static void
destroy_srq(struct program *p)
{
	PROGRAM_MUST(plx_srq_destroy(p->srq) == PLX_OK);
	p->srq = NULL;
}

static void
destroy_cq(struct program *p)
{
	PROGRAM_MUST(plx_cq_destroy(p->cq) == PLX_OK);
	p->cq = NULL;
}

static void
deregister(struct program *p)
{
	PROGRAM_MUST(plx_mr_deregister(p->mr) == PLX_OK);
	p->mr = NULL;
}

static void
free_memory(struct program *p)
{
	plx_mem_free(p->memory);
	p->memory = NULL;
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
	PROGRAM_MUST(plx_pd_destroy(p->pd) == PLX_OK);
	p->pd = NULL;
}

static void
close_adapter(struct program *p)
{
	PROGRAM_MUST(plx_adapter_close(p->adapter) == PLX_OK);
	p->adapter = NULL;
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
const struct program_step program_steps[PROGRAM_STEPS] = {
	STEP(open_adapter),
	STEP(query_adapter),
	STEP(make_domain),
	STEP(allocate),
	STEP(register_memory),
	STEP(make_window),
	STEP(make_cq),
	STEP(resize_cq),
	STEP(get_descriptor),
	STEP(arm_cq),
	STEP(make_srq),
	STEP(arm_srq),
	STEP(post_srq),
	STEP(make_qp),
	STEP(make_qp_on_srq),
	STEP(query_qp),
	STEP(to_init),
	STEP(post_receives),
	STEP(flush_init),
	STEP(make_ud),
	STEP(make_ah),
	STEP(ud_to_rts),
	STEP(send_datagram),
	STEP(resolve_neighbour),
	STEP(ping_neighbour),
	STEP(make_channel),
	STEP(channel_descriptor),
	STEP(listen_at_port),
	STEP(make_connector),
	STEP(connect_to_neighbour),
	STEP(await_reply),
	STEP(establish),
	STEP(await_established),
	STEP(send_one),
	STEP(reap_one),
	STEP(linger),
	STEP(lend),
	STEP(export_qp),
	STEP(destroy_exported),
	STEP(import_qp),
	STEP(send_storm),
	STEP(bind_window),
	STEP(read_counters),
	STEP(fetch_async),
	STEP(second_connector),
	STEP(second_connect),
	STEP(second_reply),
	STEP(second_reject),
	STEP(second_destroy),
	STEP(disconnect),
	STEP(await_closed),
	STEP(destroy_connector),
	STEP(stop_listening),
	STEP(destroy_channel),
	STEP(reset_qp),
	STEP(destroy_qp),
	STEP(destroy_other),
	STEP(destroy_ud),
	STEP(destroy_ah),
	STEP(destroy_window),
	STEP(destroy_srq),
	STEP(destroy_cq),
	STEP(deregister),
	STEP(free_memory),
	STEP(drop_arena),
	STEP(destroy_domain),
	STEP(close_adapter),
	STEP(open_again),
};
