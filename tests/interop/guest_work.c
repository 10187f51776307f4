/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The guest's work requests: posting, binding, reaping. It keeps no state of a request. Start with
 * guest_send().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "guest.h"

static const struct {
	const char *name;
	enum ibv_wr_opcode op;
} requests[] = {
	{"SEND", IBV_WR_SEND},
	{"SEND_IMM", IBV_WR_SEND_WITH_IMM},
	{"SEND_INV", IBV_WR_SEND_WITH_INV},
	{"WRITE", IBV_WR_RDMA_WRITE},
	{"WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM},
	{"READ", IBV_WR_RDMA_READ},
	{"CMP_SWAP", IBV_WR_ATOMIC_CMP_AND_SWP},
	{"FETCH_ADD", IBV_WR_ATOMIC_FETCH_AND_ADD},
	{"LOCAL_INV", IBV_WR_LOCAL_INV},
};

/* A completion's status by our names (PLX_WC_*). */
static const char *
status_name(enum ibv_wc_status status)
{
	static const struct {
		enum ibv_wc_status status;
		const char *name;
	} names[] = {
		{IBV_WC_SUCCESS, "SUCCESS"},
		{IBV_WC_LOC_LEN_ERR, "LOCAL_LENGTH"},
		{IBV_WC_LOC_PROT_ERR, "LOCAL_PROTECTION"},
		{IBV_WC_WR_FLUSH_ERR, "FLUSHED"},
		{IBV_WC_BAD_RESP_ERR, "BAD_RESPONSE"},
		{IBV_WC_REM_INV_REQ_ERR, "REMOTE_INVALID_REQUEST"},
		{IBV_WC_REM_ACCESS_ERR, "REMOTE_ACCESS"},
		{IBV_WC_REM_OP_ERR, "REMOTE_OPERATION"},
		{IBV_WC_RETRY_EXC_ERR, "RETRY_EXCEEDED"},
		{IBV_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXCEEDED"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].status == status)
			return names[i].name;
	return ibv_wc_status_str(status);
}

/* The kernel's flag for "invalidated", which rxe passes on as it is; IBV_WC_WITH_INV has another
 * bit. */
#define RXE_WITH_INVALIDATE (1u << 2)

/* What happened, by our names. */
static const char *
op_name(const struct ibv_wc *wc)
{
	switch ((int)wc->opcode) {
	case IBV_WC_RDMA_WRITE:
		return "WRITE";
	case IBV_WC_RDMA_READ:
		return "READ";
	case IBV_WC_COMP_SWAP:
		return "CMP_SWAP";
	case IBV_WC_FETCH_ADD:
		return "FETCH_ADD";
	case IBV_WC_LOCAL_INV:
		return "LOCAL_INV";
	case IBV_WC_BIND_MW:
		return "BIND";
	case IBV_WC_RECV_RDMA_WITH_IMM:
		return "WRITE_IMM";
	case IBV_WC_RECV:
		return wc->wc_flags & IBV_WC_WITH_IMM                           ? "SEND_IMM"
		       : wc->wc_flags & (IBV_WC_WITH_INV | RXE_WITH_INVALIDATE) ? "SEND_INV"
										: "SEND";
	default:
		return "SEND";
	}
}

/* reap id= of=send|recv ms= [count=]: wait for this many successes, or for one failure. */
void
guest_reap(const struct line *line)
{
	static const struct timespec nap = {.tv_nsec = 200000};
	struct guest_qp *one = guest_qp_of(line);
	uint64_t end = lines_now() + line_number(line, "ms", 0) * 1000000u;
	uint64_t wanted = line_number(line, "count", 1), count = 0;
	const char *of = line_text(line, "of");
	struct ibv_wc wc = {0};
	uint32_t imm;

	if (!one)
		return;
	do {
		if (ibv_poll_cq(of && strcmp(of, "recv") == 0 ? one->recv_cq : one->send_cq, 1,
				&wc) == 1)
			count++;
		else
			nanosleep(&nap, NULL);
	} while (count < wanted && wc.status == IBV_WC_SUCCESS && lines_now() < end);
	if (count == 0) {
		line_answer("none");
		return;
	}
	imm = wc.wc_flags & IBV_WC_WITH_IMM ? ntohl(wc.imm_data) : wc.invalidated_rkey;
	line_answer("ok count=%llu wr=%llu op=%s status=%s bytes=%u imm=%u flags=%u",
		    (unsigned long long)count, (unsigned long long)wc.wr_id, op_name(&wc),
		    status_name(wc.status), wc.byte_len, imm, wc.wc_flags);
}

/* The SGE that a command names by mr, at and bytes. */
static bool
sge_of(const struct line *line, struct ibv_sge *sge)
{
	uint64_t bytes = line_number(line, "bytes", 0);
	struct area *area;

	memset(sge, 0, sizeof(*sge));
	if (!bytes)
		return true;
	area = area_of(line);
	if (!area)
		return false;
	sge->addr = (uintptr_t)area->memory + line_number(line, "at", 0);
	sge->length = (uint32_t)bytes;
	sge->lkey = guest.mr[area_id(line)]->lkey;
	return true;
}

/* recv id= mr= at= bytes= [count= step=]: this many receives, each `step` bytes behind the last */
void
guest_recv(const struct line *line)
{
	struct guest_qp *one = guest_qp_of(line);
	uint64_t count = line_number(line, "count", 1), step = line_number(line, "step", 0);
	struct ibv_recv_wr *bad;
	struct ibv_sge sge;
	int error = 0;

	if (!one || !sge_of(line, &sge))
		return;
	for (uint64_t i = 0; i < count && !error; i++) {
		struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = sge.length != 0};

		error = ibv_post_recv(one->qp, &wr, &bad);
		sge.addr += step;
	}
	guest_answer(error);
}

static bool
request_of(const struct line *line, struct ibv_send_wr *wr)
{
	const char *op = line_text(line, "op");
	size_t i = 0, n = sizeof(requests) / sizeof(requests[0]);
	uint64_t rva = line_number(line, "rva", 0);
	uint32_t rkey = (uint32_t)line_number(line, "rkey", 0);

	while (op && i < n && strcmp(op, requests[i].name) != 0)
		i++;
	if (!op || i == n) {
		line_answer("error op is none");
		return false;
	}
	memset(wr, 0, sizeof(*wr));
	wr->opcode = requests[i].op;
	wr->send_flags = line_number(line, "solicited", 0) ? IBV_SEND_SOLICITED : 0;
	if (wr->opcode == IBV_WR_SEND_WITH_INV || wr->opcode == IBV_WR_LOCAL_INV)
		wr->invalidate_rkey = (uint32_t)line_number(line, "inv", 0);
	else
		wr->imm_data = htonl((uint32_t)line_number(line, "imm", 0));
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = rva;
		wr->wr.atomic.rkey = rkey;
		wr->wr.atomic.compare_add = line_number(
			line, wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? "compare" : "swap", 0);
		wr->wr.atomic.swap = line_number(line, "swap", 0);
	} else {
		wr->wr.rdma.remote_addr = rva;
		wr->wr.rdma.rkey = rkey;
	}
	return true;
}

/* send id= op= mr= at= bytes= [rva= rkey=] [imm=|inv=] [compare= swap=] [count= step= rstep=] */
void
guest_send(const struct line *line)
{
	struct guest_qp *one = guest_qp_of(line);
	uint64_t count = line_number(line, "count", 1), step = line_number(line, "step", 0);
	uint64_t rstep = line_number(line, "rstep", 0);
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	int error = 0;

	if (!one || !sge_of(line, &sge) || !request_of(line, &wr))
		return;
	wr.sg_list = &sge;
	wr.num_sge = sge.length != 0;
	for (uint64_t i = 0; i < count && !error; i++) {
		wr.wr_id = i;
		error = ibv_post_send(one->qp, &wr, &bad);
		sge.addr += step;
		if (rstep)
			wr.wr.rdma.remote_addr += rstep;
	}
	guest_answer(error);
}

/* bind id= mw= mr= at= bytes= access=: a window of that number, made when it is new */
void
guest_bind(const struct line *line)
{
	struct guest_qp *one = guest_qp_of(line);
	struct area *area = one ? area_of(line) : NULL;
	uint64_t id = line_number(line, "mw", GUEST_MWS);
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW}, *bad;
	int error;

	if (!area)
		return;
	if (id < GUEST_MWS && !guest.mw[id])
		guest.mw[id] = ibv_alloc_mw(guest.pd, IBV_MW_TYPE_2);
	if (id >= GUEST_MWS || !guest.mw[id]) {
		line_answer("error no window: %s", strerror(errno));
		return;
	}
	wr.bind_mw.mw = guest.mw[id];
	wr.bind_mw.rkey = ibv_inc_rkey(guest.mw[id]->rkey);
	wr.bind_mw.bind_info.mr = guest.mr[area_id(line)];
	wr.bind_mw.bind_info.addr = (uintptr_t)area->memory + line_number(line, "at", 0);
	wr.bind_mw.bind_info.length = line_number(line, "bytes", 0);
	wr.bind_mw.bind_info.mw_access_flags = guest_access(line_number(line, "access", 4));
	error = ibv_post_send(one->qp, &wr, &bad);
	if (error) {
		guest_answer(error);
		return;
	}
	guest.mw[id]->rkey = wr.bind_mw.rkey;
	line_answer("ok rkey=%u", wr.bind_mw.rkey);
}
