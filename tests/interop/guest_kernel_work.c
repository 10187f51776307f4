/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The work requests of the consumer in the guest's kernel. It keeps no state of a request. Start
 * with guest_run_send().
 */
#include <linux/delay.h>

#include "guest_kernel.h"

/* The pages of FAST that hold a part of it, from any byte to any byte. */
static int
map(u64 at, u64 bytes)
{
	int n = 0, mapped;

	sg_init_table(guest.sg, DIV_ROUND_UP(offset_in_page(at) + bytes, PAGE_SIZE));
	guest.registered = at;
	while (bytes) {
		u64 part = min_t(u64, bytes, PAGE_SIZE - offset_in_page(at));

		sg_set_page(&guest.sg[n++], guest.page[at / PAGE_SIZE], part, offset_in_page(at));
		at += part;
		bytes -= part;
	}
	mapped = ib_dma_map_sg(guest.mr->device, guest.sg, n, DMA_BIDIRECTIONAL);
	if (mapped == n)
		mapped = ib_map_mr_sg(guest.mr, guest.sg, n, NULL, PAGE_SIZE);
	return mapped == n ? 0 : -EINVAL;
}

/* reg at= bytes= access=: post the registration of a part of FAST, with the next key; rights are
 * PLX_ACCESS_*, which are those of ib_access_flags in another order */
void
guest_run_reg(const struct line *line)
{
	u64 at = guest_number_of(line, "at", 0), bytes = guest_number_of(line, "bytes", 0);
	u64 access = guest_number_of(line, "access", 0);
	struct ib_reg_wr wr = {.wr.opcode = IB_WR_REG_MR};
	int error;

	if (!bytes || at > BYTES || bytes > BYTES - at) {
		guest_answer("error at and bytes name no memory");
		return;
	}
	error = map(at, bytes);
	if (!error) {
		ib_update_fast_reg_key(guest.mr, (u8)(ib_inc_rkey(guest.mr->rkey) & 0xff));
		wr.mr = guest.mr;
		wr.key = guest.mr->rkey;
		wr.access = (access & 1 ? IB_ACCESS_LOCAL_WRITE : 0) |
			    (access & 2 ? IB_ACCESS_REMOTE_READ : 0) |
			    (access & 4 ? IB_ACCESS_REMOTE_WRITE : 0);
		error = ib_post_send(guest.id->qp, &wr.wr, NULL);
	}
	if (error)
		guest_answer_error("no registration", error);
	else
		guest_answer("ok va=%llu rkey=%u", guest.mr->iova, guest.mr->rkey);
}

/* The SGE of what a command names. FAST is accessed by the key that is registered. */
static bool
sge_of(const struct line *line, struct ib_sge *sge)
{
	u64 at, bytes;
	u8 *memory = guest_part_of(line, &at, &bytes);

	if (!memory)
		return false;
	sge->length = (u32)bytes;
	if (guest_number_of(line, "mr", AREAS) == FAST) {
		sge->addr = guest.mr->iova + at - guest.registered;
		sge->lkey = guest.mr->lkey;
	} else {
		sge->addr = ib_dma_map_single(guest.pd->device, memory, bytes, DMA_BIDIRECTIONAL);
		sge->lkey = guest.pd->local_dma_lkey;
	}
	return true;
}

/* recv mr= at= bytes= */
void
guest_run_recv(const struct line *line)
{
	struct ib_sge sge;
	struct ib_recv_wr wr = {.sg_list = &sge, .num_sge = 1};

	if (sge_of(line, &sge))
		guest_answer_error("no receive", ib_post_recv(guest.id->qp, &wr, NULL));
}

static const struct {
	const char *name;
	enum ib_wr_opcode op;
	enum ib_wc_opcode done;
} requests[] = {
	{"SEND", IB_WR_SEND, IB_WC_SEND},
	{"SEND_INV", IB_WR_SEND_WITH_INV, IB_WC_SEND},
	{"WRITE", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE},
	{"READ", IB_WR_RDMA_READ, IB_WC_RDMA_READ},
	{"LOCAL_INV", IB_WR_LOCAL_INV, IB_WC_LOCAL_INV},
	{"REG", IB_WR_REG_MR, IB_WC_REG_MR},
};

/* send op= [mr= at= bytes=] [rva= rkey=] [inv=] */
void
guest_run_send(const struct line *line)
{
	const char *op = guest_text_of(line, "op");
	struct ib_sge sge;
	struct ib_rdma_wr wr = {
		.remote_addr = guest_number_of(line, "rva", 0),
		.rkey = (u32)guest_number_of(line, "rkey", 0),
	};
	int i = 0;

	while (i < ARRAY_SIZE(requests) && (!op || strcmp(op, requests[i].name) != 0))
		i++;
	if (i == ARRAY_SIZE(requests)) {
		guest_answer("error op is none");
		return;
	}
	wr.wr.opcode = requests[i].op;
	if (wr.wr.opcode == IB_WR_SEND_WITH_INV || wr.wr.opcode == IB_WR_LOCAL_INV)
		wr.wr.ex.invalidate_rkey = (u32)guest_number_of(line, "inv", 0);
	if (wr.wr.opcode != IB_WR_LOCAL_INV) {
		if (!sge_of(line, &sge))
			return;
		wr.wr.sg_list = &sge;
		wr.wr.num_sge = 1;
	}
	guest_answer_error("it is not posted", ib_post_send(guest.id->qp, &wr.wr, NULL));
}

static const char *
op_name(const struct ib_wc *wc)
{
	if (wc->opcode == IB_WC_RECV)
		return wc->wc_flags & IB_WC_WITH_INVALIDATE ? "SEND_INV" : "SEND";
	for (int i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].done == wc->opcode)
			return requests[i].name;
	return "OTHER";
}

/* A completion's status by our names (PLX_WC_*). */
static const char *
status_name(enum ib_wc_status status)
{
	static const char *const names[] = {
		[IB_WC_SUCCESS] = "SUCCESS",
		[IB_WC_LOC_LEN_ERR] = "LOCAL_LENGTH",
		[IB_WC_LOC_PROT_ERR] = "LOCAL_PROTECTION",
		[IB_WC_WR_FLUSH_ERR] = "FLUSHED",
		[IB_WC_MW_BIND_ERR] = "LOCAL_INVALIDATE",
		[IB_WC_BAD_RESP_ERR] = "BAD_RESPONSE",
		[IB_WC_REM_INV_REQ_ERR] = "REMOTE_INVALID_REQUEST",
		[IB_WC_REM_ACCESS_ERR] = "REMOTE_ACCESS",
		[IB_WC_REM_OP_ERR] = "REMOTE_OPERATION",
		[IB_WC_RETRY_EXC_ERR] = "RETRY_EXCEEDED",
		[IB_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXCEEDED",
	};

	return status < ARRAY_SIZE(names) && names[status] ? names[status] : "OTHER";
}

/* reap of=send|recv ms= */
void
guest_run_reap(const struct line *line)
{
	const char *of = guest_text_of(line, "of");
	struct ib_cq *cq = of && strcmp(of, "recv") == 0 ? guest.recv_cq : guest.send_cq;
	unsigned long end = jiffies + msecs_to_jiffies((u32)guest_number_of(line, "ms", 0));
	struct ib_wc wc = {0};
	int n = ib_poll_cq(cq, 1, &wc);

	while (n == 0 && time_before(jiffies, end)) {
		usleep_range(200, 400);
		n = ib_poll_cq(cq, 1, &wc);
	}
	if (n != 1)
		guest_answer("none");
	else if (wc.status != IB_WC_SUCCESS)
		guest_answer("ok count=1 op=NONE bytes=0 imm=0 status=%s", status_name(wc.status));
	else
		guest_answer("ok count=1 op=%s status=SUCCESS bytes=%u imm=%u", op_name(&wc),
			     wc.byte_len,
			     wc.wc_flags & IB_WC_WITH_INVALIDATE ? wc.ex.invalidate_rkey : 0);
}
