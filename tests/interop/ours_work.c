/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our end's work requests: posting, binding, reaping; and address handles. It keeps no state of a
 * request. Start with ours_send().
 */
#include <string.h>
#include <time.h>

#include "ours.h"

static const char *const op_names[PLX_WR_OP_COUNT] = {
	[PLX_WR_NONE] = "NONE",           [PLX_WR_SEND] = "SEND",
	[PLX_WR_SEND_IMM] = "SEND_IMM",   [PLX_WR_SEND_INV] = "SEND_INV",
	[PLX_WR_WRITE] = "WRITE",         [PLX_WR_WRITE_IMM] = "WRITE_IMM",
	[PLX_WR_READ] = "READ",           [PLX_WR_CMP_SWAP] = "CMP_SWAP",
	[PLX_WR_FETCH_ADD] = "FETCH_ADD", [PLX_WR_LOCAL_INV] = "LOCAL_INV",
	[PLX_WR_BIND] = "BIND",           [PLX_WR_REG] = "REG",
};

static const char *const status_names[PLX_WC_COUNT] = {
#define PLX_X(name, text) [PLX_WC_##name] = #name,
	PLX_WC_LIST(PLX_X)
#undef PLX_X
};

/* Poll: one completion, or none. Sleeps a little when nothing happens. The poll of a pinned queue
 * runs its engine alone, and what it waits for may arrive at another one's queue of the port. */
static uint32_t
look(struct plx_cq *cq, struct plx_wc *wc)
{
	static const struct timespec nap = {.tv_nsec = 50000};

	for (int i = 0; i < 100; i++) {
		if (ours.has_engines)
			plx_adapter_poll(ours.adapter);
		if (plx_cq_poll(cq, wc, 1))
			return 1;
	}
	nanosleep(&nap, NULL);
	return 0;
}

/* reap id= of=send|recv ms= [count=]: wait for this many successes, or for one failure. */
void
ours_reap(const struct line *line)
{
	struct ours_qp *one = ours_qp_of(line);
	uint64_t end = lines_now() + line_number(line, "ms", 0) * 1000000u;
	uint64_t wanted = line_number(line, "count", 1), count = 0;
	const char *of = line_text(line, "of");
	struct plx_wc wc = {0};
	struct plx_cq *cq;

	if (!one)
		return;
	cq = of && strcmp(of, "recv") == 0 ? one->recv_cq : one->send_cq;
	do {
		if (look(cq, &wc))
			count++;
	} while (count < wanted && wc.status == PLX_WC_SUCCESS && lines_now() < end);
	if (count == 0) {
		line_answer("none");
		return;
	}
	line_answer("ok count=%llu wr=%llu op=%s status=%s bytes=%u imm=%u flags=%u "
		    "qpn=%u",
		    (unsigned long long)count, (unsigned long long)wc.wr_id, op_names[wc.op],
		    status_names[wc.status], wc.bytes, wc.imm, wc.flags, wc.qpn);
}

/* The SGE that a command names by mr, at and bytes, `step` bytes further for each of `i`. */
static bool
sge_of(const struct line *line, struct plx_sge *sge)
{
	uint64_t bytes = line_number(line, "bytes", 0);
	struct area *area;

	memset(sge, 0, sizeof(*sge));
	if (!bytes)
		return true;
	area = area_of(line);
	if (!area)
		return false;
	sge->va = (uintptr_t)area->memory + line_number(line, "at", 0);
	sge->length = (uint32_t)bytes;
	sge->key = plx_mr_key(ours.mr[area_id(line)]);
	return true;
}

/* recv id= mr= at= bytes= [count= step=]: this many receives, each `step` bytes behind the last */
void
ours_recv(const struct line *line)
{
	struct ours_qp *one = ours_qp_of(line);
	uint64_t count = line_number(line, "count", 1), step = line_number(line, "step", 0);
	enum plx_status status = PLX_OK;
	struct plx_sge sge;

	if (!one || !sge_of(line, &sge))
		return;
	for (uint64_t i = 0; i < count && status == PLX_OK; i++) {
		struct plx_recv_wr wr = {.wr_id = i, .sge = &sge, .sges = sge.length != 0};

		plx_post_recv(one->qp, &wr, 1, &status);
		sge.va += step;
	}
	ours_answer(status, NULL);
}

static enum plx_wr_op
op_of(const struct line *line)
{
	const char *text = line_text(line, "op");

	for (int op = PLX_WR_SEND; text && op < PLX_WR_OP_COUNT; op++)
		if (strcmp(text, op_names[op]) == 0)
			return (enum plx_wr_op)op;
	return PLX_WR_NONE;
}

/* ah ah= gid=: a handle of that number, for datagrams to that address */
void
ours_ah(const struct line *line)
{
	struct plx_ah_options options = {.dscp = 0xff};
	uint64_t id = line_number(line, "ah", OURS_AHS);
	struct plx_why why = {""};

	if (!ours_ip_of(line, "gid", &options.remote))
		return;
	if (id >= OURS_AHS || ours.ah[id])
		line_answer("error ah is out of range or in use");
	else
		ours_answer(plx_ah_create(ours.pd, &options, &ours.ah[id], &why), &why);
}

/* ahdrop ah= */
void
ours_ahdrop(const struct line *line)
{
	uint64_t id = line_number(line, "ah", OURS_AHS);
	enum plx_status status;

	if (id >= OURS_AHS || !ours.ah[id]) {
		line_answer("error ah names no address handle");
		return;
	}
	status = plx_ah_destroy(ours.ah[id]);
	if (status == PLX_OK)
		ours.ah[id] = NULL;
	ours_answer(status, NULL);
}

/* The destination of a datagram: ah=, qpn= and qkey= of a command that has them. */
static bool
aim(const struct line *line, struct plx_send_wr *wr)
{
	uint64_t id = line_number(line, "ah", OURS_AHS);

	if (!line_text(line, "ah"))
		return true;
	if (id >= OURS_AHS || !ours.ah[id]) {
		line_answer("error ah names no address handle");
		return false;
	}
	wr->ah = ours.ah[id];
	wr->remote_qpn = (uint32_t)line_number(line, "qpn", 0);
	wr->remote_qkey = (uint32_t)line_number(line, "qkey", 0);
	return true;
}

/* send id= op= mr= at= bytes= [rva= rkey=] [imm=|inv=] [compare= swap=] [count= step= rstep=]
 * [ah= qpn= qkey=] */
void
ours_send(const struct line *line)
{
	struct ours_qp *one = ours_qp_of(line);
	uint64_t count = line_number(line, "count", 1), step = line_number(line, "step", 0);
	struct plx_sge sge;
	struct plx_send_wr wr = {
		.op = (uint8_t)op_of(line),
		.flags = line_number(line, "solicited", 0) ? PLX_WR_SOLICITED : 0,
		.imm = (uint32_t)line_number(line, "imm", line_number(line, "inv", 0)),
		.sge = &sge,
		.remote_va = line_number(line, "rva", 0),
		.rkey = {(uint32_t)line_number(line, "rkey", 0)},
		.swap_add = line_number(line, "swap", 0),
		.compare = line_number(line, "compare", 0),
	};
	enum plx_status status = PLX_OK;

	if (!one || !sge_of(line, &sge) || !aim(line, &wr))
		return;
	wr.sges = sge.length != 0;
	for (uint64_t i = 0; i < count && status == PLX_OK; i++) {
		wr.wr_id = i;
		plx_post_send(one->qp, &wr, 1, &status);
		sge.va += step;
		wr.remote_va += line_number(line, "rstep", 0);
	}
	ours_answer(status, NULL);
}

/* bind id= mw= mr= at= bytes= access=: a window of that number, made when it is new */
void
ours_bind(const struct line *line)
{
	struct ours_qp *one = ours_qp_of(line);
	struct area *area = one ? area_of(line) : NULL;
	uint64_t id = line_number(line, "mw", OURS_MWS);
	enum plx_status status = PLX_OK;
	struct plx_bind bind;
	struct plx_key token = {0};

	if (!area)
		return;
	if (id >= OURS_MWS) {
		line_answer("error mw is out of range");
		return;
	}
	memset(&bind, 0, sizeof(bind));
	bind.mr = ours.mr[area_id(line)];
	bind.va = (uintptr_t)area->memory + line_number(line, "at", 0);
	bind.length = line_number(line, "bytes", 0);
	bind.access = (uint32_t)line_number(line, "access", PLX_ACCESS_REMOTE_WRITE);
	if (!ours.mw[id])
		status = plx_mw_create(ours.pd, &ours.mw[id]);
	if (status == PLX_OK)
		status = plx_post_bind(one->qp, ours.mw[id], &bind, &token);
	if (status == PLX_OK)
		line_answer("ok rkey=%u", token.v);
	else
		ours_answer(status, NULL);
}
