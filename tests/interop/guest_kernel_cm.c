/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections of the consumer in the guest's kernel, one at a time. Start with on_event().
 */
#include "guest_kernel.h"

enum {
	DEPTH = 64,
	READS = 16,
	PATIENCE_MS = 5000,
	FAILED = BIT(RDMA_CM_EVENT_ADDR_ERROR) | BIT(RDMA_CM_EVENT_ROUTE_ERROR) |
		 BIT(RDMA_CM_EVENT_CONNECT_ERROR) | BIT(RDMA_CM_EVENT_UNREACHABLE) |
		 BIT(RDMA_CM_EVENT_REJECTED),
};

static int
on_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (guest.id)
			return -EBUSY;
		guest.id = id;
	}
	set_bit(event->event, &guest.seen);
	wake_up_all(&guest.wait);
	return 0;
}

/* Returns: 0, or the event that came instead, or that none has. */
static int
await(enum rdma_cm_event_type event)
{
	if (!wait_event_timeout(guest.wait, READ_ONCE(guest.seen) & (BIT(event) | FAILED),
				msecs_to_jiffies(PATIENCE_MS)))
		return -ETIMEDOUT;
	if (!test_and_clear_bit(event, &guest.seen))
		return __ffs(guest.seen & FAILED);
	return 0;
}

static int
await_and_forget(enum rdma_cm_event_type event)
{
	int error = await(event);

	guest.seen = 0;
	return error;
}

/* What a queue pair needs, and the queue pair. What is left of a failure is dropped by `drop`. */
static int
make_qp(void)
{
	struct ib_qp_init_attr options = {
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
	};
	struct ib_device *device = guest.id->device;

	guest.pd = ib_alloc_pd(device, 0);
	guest.send_cq = ib_alloc_cq(device, NULL, DEPTH, 0, IB_POLL_DIRECT);
	guest.recv_cq = ib_alloc_cq(device, NULL, DEPTH, 0, IB_POLL_DIRECT);
	if (IS_ERR(guest.pd) || IS_ERR(guest.send_cq) || IS_ERR(guest.recv_cq))
		return -ENOMEM;
	guest.mr = ib_alloc_mr(guest.pd, IB_MR_TYPE_MEM_REG, PAGES);
	if (IS_ERR(guest.mr))
		return PTR_ERR(guest.mr);
	options.send_cq = guest.send_cq;
	options.recv_cq = guest.recv_cq;
	return rdma_create_qp(guest.id, guest.pd, &options);
}

static const struct rdma_conn_param terms = {
	.responder_resources = READS,
	.initiator_depth = READS,
	.retry_count = 7,
	.rnr_retry_count = 7,
};

/* gid= port=: one address, 32 digits */
static int
address_of(const struct line *line, struct sockaddr_storage *out)
{
	static const u8 mapped[12] = {[10] = 0xff, [11] = 0xff};
	__be16 port = htons((u16)guest_number_of(line, "port", 0));
	const char *text = guest_text_of(line, "gid");
	u8 gid[16];

	memset(out, 0, sizeof(*out));
	if (!text || hex2bin(gid, text, sizeof(gid)) != 0)
		return -EINVAL;
	if (memcmp(gid, mapped, sizeof(mapped)) == 0) {
		struct sockaddr_in *v4 = (struct sockaddr_in *)out;

		v4->sin_family = AF_INET;
		v4->sin_port = port;
		memcpy(&v4->sin_addr, gid + 12, 4);
	} else {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

		v6->sin6_family = AF_INET6;
		v6->sin6_port = port;
		memcpy(&v6->sin6_addr, gid, 16);
	}
	return 0;
}

static int
dial(struct sockaddr_storage *to)
{
	struct rdma_conn_param param = terms;
	int error;

	guest.id = rdma_create_id(&init_net, on_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(guest.id)) {
		error = PTR_ERR(guest.id);
		guest.id = NULL;
		return error;
	}
	error = rdma_resolve_addr(guest.id, NULL, (struct sockaddr *)to, PATIENCE_MS);
	if (!error)
		error = await(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!error)
		error = rdma_resolve_route(guest.id, PATIENCE_MS);
	if (!error)
		error = await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (!error)
		error = make_qp();
	if (!error)
		error = rdma_connect(guest.id, &param);
	return error;
}

/* dial gid= port=: ask that peer */
void
guest_run_dial(const struct line *line)
{
	struct sockaddr_storage to;

	if (guest.id)
		guest_answer("error there is a connection");
	else if (address_of(line, &to) != 0)
		guest_answer("error gid is not the 32 digits of a GID");
	else
		guest_answer_error("it cannot ask", dial(&to));
}

/* listen port= */
void
guest_run_listen(const struct line *line)
{
	struct sockaddr_in6 own = {
		.sin6_family = AF_INET6,
		.sin6_port = htons((u16)guest_number_of(line, "port", 0)),
	};
	struct rdma_cm_id *listener;
	int error;

	if (guest.listener) {
		guest_answer("error it listens");
		return;
	}
	listener = rdma_create_id(&init_net, on_event, NULL, RDMA_PS_TCP, IB_QPT_RC);
	error = PTR_ERR_OR_ZERO(listener);
	if (!error) {
		error = rdma_bind_addr(listener, (struct sockaddr *)&own);
		if (!error)
			error = rdma_listen(listener, 1);
		if (error)
			rdma_destroy_id(listener);
		else
			guest.listener = listener;
	}
	guest_answer_error("it cannot listen", error);
}

/* accept: what has been asked for, or will be soon */
void
guest_run_accept(const struct line *line)
{
	struct rdma_conn_param param = terms;
	int error = await(RDMA_CM_EVENT_CONNECT_REQUEST);

	if (!error)
		error = make_qp();
	if (!error)
		error = rdma_accept(guest.id, &param);
	guest_answer_error("it cannot accept", error);
}

/* established: wait until the connection is */
void
guest_run_established(const struct line *line)
{
	guest_answer_error("no connection", await_and_forget(RDMA_CM_EVENT_ESTABLISHED));
}

/* hangup; hungup: wait until the peer has done so */
void
guest_run_hangup(const struct line *line)
{
	guest_answer_error("it cannot hang up", guest.id ? rdma_disconnect(guest.id) : -ENOTCONN);
}

void
guest_run_hungup(const struct line *line)
{
	guest_answer_error("nobody hangs up", await_and_forget(RDMA_CM_EVENT_DISCONNECTED));
}

void
guest_drop(void)
{
	if (guest.id && guest.id->qp)
		rdma_destroy_qp(guest.id);
	if (guest.id)
		rdma_destroy_id(guest.id);
	if (!IS_ERR_OR_NULL(guest.mr))
		ib_dereg_mr(guest.mr);
	if (!IS_ERR_OR_NULL(guest.send_cq))
		ib_free_cq(guest.send_cq);
	if (!IS_ERR_OR_NULL(guest.recv_cq))
		ib_free_cq(guest.recv_cq);
	if (!IS_ERR_OR_NULL(guest.pd))
		ib_dealloc_pd(guest.pd);
	guest.id = NULL;
	guest.mr = NULL;
	guest.send_cq = guest.recv_cq = NULL;
	guest.pd = NULL;
	guest.seen = 0;
}

void
guest_run_drop(const struct line *line)
{
	guest_drop();
	guest_answer("ok");
}

/* unlisten */
void
guest_run_unlisten(const struct line *line)
{
	if (guest.listener)
		rdma_destroy_id(guest.listener);
	guest.listener = NULL;
	guest_answer("ok");
}

/* state: in which is the queue pair? */
void
guest_run_state(const struct line *line)
{
	struct ib_qp_init_attr options;
	struct ib_qp_attr attr;
	int error = ib_query_qp(guest.id->qp, &attr, IB_QP_STATE, &options);

	if (error)
		guest_answer_error("it cannot be asked", error);
	else
		guest_answer("ok state=%s", attr.qp_state == IB_QPS_ERR   ? "ERROR"
					    : attr.qp_state == IB_QPS_RTS ? "RTS"
									  : "OTHER");
}
