/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The work requests of our end that uses NDK: registering, binding, posting, reaping. It keeps no
 * state of a request. Start with end_send().
 */
#include "ours_ndk.h"

#include <ntstatus.h>
#include <string.h>
#include <time.h>

/* The area that a command names, its part from `at` on; NULL: none, and was answered so. */
static struct ndk_area *
part_of(const struct line *line, uint64_t *at, uint64_t *bytes)
{
	struct area *area = area_of(line);

	*at = line_number(line, "at", 0);
	*bytes = line_number(line, "bytes", 0);
	if (!area)
		return NULL;
	if (!ndk.qp || *at > area->bytes || *bytes > area->bytes - *at) {
		line_answer("error there is no connection, or the area is smaller");
		return NULL;
	}
	return &ndk.area[area_id(line)];
}

/* The flags of the rights that the driver speaks in (PLX_ACCESS_*). */
static ULONG
rights_of(const struct line *line)
{
	uint64_t access = line_number(line, "access", 0);

	return (access & PLX_ACCESS_LOCAL_WRITE ? NDK_OP_FLAG_ALLOW_LOCAL_WRITE : 0) |
	       (access & PLX_ACCESS_REMOTE_READ ? NDK_OP_FLAG_ALLOW_REMOTE_READ : 0) |
	       (access & PLX_ACCESS_REMOTE_WRITE ? NDK_OP_FLAG_ALLOW_REMOTE_WRITE : 0);
}

static void
answer_token(NTSTATUS status, uint64_t va, UINT32 token)
{
	if (status == STATUS_SUCCESS)
		line_answer("ok va=%llu rkey=%u", (unsigned long long)va, token);
	else
		end_answer("it is not posted", status);
}

/* reg mr= at= bytes= access=: register a part of an area that is to be registered by requests */
void
end_reg(const struct line *line)
{
	uint64_t at, bytes;
	struct ndk_area *one = part_of(line, &at, &bytes);
	ULONG fbo = (ULONG)(at % PAGE_SIZE);
	NTSTATUS status;

	if (!one)
		return;
	status = ndk.qp->Dispatch->NdkFastRegister(
		ndk.qp, NULL, one->mr, ADDRESS_AND_SIZE_TO_SPAN_PAGES(at, bytes),
		one->lam->AdapterPageArray + at / PAGE_SIZE, fbo, bytes,
		(PVOID)(uintptr_t)(one->base + at), rights_of(line));
	answer_token(status, one->base + at, one->mr->Dispatch->NdkGetRemoteTokenFromMr(one->mr));
}

/* bind mr= at= bytes= access=: the window, to a part of an area */
void
end_bind(const struct line *line)
{
	uint64_t at, bytes;
	struct ndk_area *one = part_of(line, &at, &bytes);
	NTSTATUS status;

	if (!one)
		return;
	status = ndk.qp->Dispatch->NdkBind(ndk.qp, NULL, one->mr, ndk.mw,
					   (PVOID)(uintptr_t)(one->base + at), bytes,
					   rights_of(line));
	answer_token(status, one->base + at, ndk.mw->Dispatch->NdkGetRemoteTokenFromMw(ndk.mw));
}

static NDK_SGE
sge_of(const struct ndk_area *one, uint64_t at, uint64_t bytes)
{
	return (NDK_SGE){
		.VirtualAddress = (PVOID)(uintptr_t)(one->base + at),
		.Length = (ULONG)bytes,
		.MemoryRegionToken = one->mr->Dispatch->NdkGetLocalTokenFromMr(one->mr),
	};
}

/* recv mr= at= bytes= */
void
end_recv(const struct line *line)
{
	uint64_t at, bytes;
	struct ndk_area *one = part_of(line, &at, &bytes);
	NDK_SGE sge;

	if (!one)
		return;
	sge = sge_of(one, at, bytes);
	end_answer("no receive", ndk.qp->Dispatch->NdkReceive(ndk.qp, NULL, &sge, 1));
}

static NTSTATUS
post(const struct line *line, const char *op, struct ndk_area *one, const NDK_SGE *sge)
{
	const NDK_QP_DISPATCH *calls = ndk.qp->Dispatch;
	uint64_t rva = line_number(line, "rva", 0);
	UINT32 rkey = (UINT32)line_number(line, "rkey", 0);

	if (strcmp(op, "SEND") == 0)
		return calls->NdkSend(ndk.qp, NULL, sge, 1, 0);
	if (strcmp(op, "SEND_INV") == 0)
		return calls->NdkSendAndInvalidate(ndk.qp, NULL, sge, 1, 0,
						   (UINT32)line_number(line, "inv", 0));
	if (strcmp(op, "WRITE") == 0)
		return calls->NdkWrite(ndk.qp, NULL, sge, 1, rva, rkey, 0);
	if (strcmp(op, "READ") == 0)
		return calls->NdkRead(ndk.qp, NULL, sge, 1, rva, rkey, 0);
	if (strcmp(op, "LOCAL_INV") == 0)
		return calls->NdkInvalidate(ndk.qp, NULL, &one->mr->Header, 0);
	return STATUS_INVALID_PARAMETER;
}

/* send op= mr= at= bytes= [rva= rkey=] [inv=]; LOCAL_INV: what is registered of mr */
void
end_send(const struct line *line)
{
	const char *op = line_text(line, "op");
	uint64_t at, bytes;
	struct ndk_area *one = part_of(line, &at, &bytes);
	NDK_SGE sge;

	if (!one)
		return;
	sge = sge_of(one, at, bytes);
	end_answer("it is not posted", post(line, op ? op : "", one, &sge));
}

static const char *
op_name(NDK_OPERATION_TYPE type)
{
	switch (type) {
	case NdkOperationTypeReceive:
	case NdkOperationTypeSend:
		return "SEND";
	case NdkOperationTypeReceiveAndInvalidate:
		return "SEND_INV";
	case NdkOperationTypeFastRegister:
		return "REG";
	case NdkOperationTypeBind:
		return "BIND";
	case NdkOperationTypeInvalidate:
		return "LOCAL_INV";
	case NdkOperationTypeRead:
		return "READ";
	case NdkOperationTypeWrite:
		return "WRITE";
	}
	return "OTHER";
}

/* By our names (PLX_WC_*), as far as NDK tells them from each other. */
static const char *
status_name(NTSTATUS status, char text[16])
{
	if (status == STATUS_SUCCESS)
		return "SUCCESS";
	if (status == STATUS_REMOTE_RESOURCES)
		return "REMOTE_ACCESS";
	if (status == STATUS_CANCELLED)
		return "FLUSHED";
	snprintf(text, 16, "0x%08x", (unsigned int)status);
	return text;
}

/* reap of=send|recv ms= */
void
end_reap(const struct line *line)
{
	static const struct timespec nap = {.tv_nsec = 50000};
	uint64_t end = lines_now() + line_number(line, "ms", 0) * 1000000u;
	const char *of = line_text(line, "of");
	NDK_CQ *cq = of && strcmp(of, "recv") == 0 ? ndk.recv_cq : ndk.send_cq;
	NDK_RESULT_EX result;
	char text[16];

	if (!cq) {
		line_answer("error there is no connection");
		return;
	}
	while (cq->Dispatch->NdkGetCqResultsEx(cq, &result, 1) == 0) {
		if (lines_now() >= end) {
			line_answer("none");
			return;
		}
		nanosleep(&nap, NULL);
	}
	line_answer("ok count=1 op=%s status=%s bytes=%u imm=%llu", op_name(result.Type),
		    status_name(result.Status, text), (unsigned int)result.BytesTransferred,
		    (unsigned long long)result.TypeSpecificCompletionOutput);
}
