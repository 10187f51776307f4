/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posts: a request of NDK's becomes one of plx_verbs.h; the array of SGEs is passed on unchanged.
 * Hot: no lock of this room, no allocation, no system call. A refused request has changed nothing
 * and has no result, but what was deferred before it is on its way (docs/ndk.md). The engine checks
 * tokens, bounds and rights, and reports them in results. Start with post().
 */
#include "ndk.h"

#include <ntstatus.h>

/* An array of NDK_SGE is an array of struct plx_sge. */
_Static_assert(sizeof(NDK_SGE) == sizeof(struct plx_sge), "SGEs are as long");
_Static_assert(offsetof(NDK_SGE, VirtualAddress) == offsetof(struct plx_sge, va), "addresses");
_Static_assert(offsetof(NDK_SGE, LogicalAddress) == offsetof(struct plx_sge, va), "of either kind");
_Static_assert(offsetof(NDK_SGE, Length) == offsetof(struct plx_sge, length), "lengths");
_Static_assert(offsetof(NDK_SGE, MemoryRegionToken) == offsetof(struct plx_sge, key), "tokens");
_Static_assert(sizeof(UINT32) == sizeof(struct plx_key), "a token is a key");

/* So is an array of logical addresses one of the addresses of pages. */
_Static_assert(sizeof(NDK_LOGICAL_ADDRESS) == sizeof(uint64_t), "addresses are as long");
_Static_assert(PAGE_SIZE == PLX_PAGE_BYTES, "and pages, too");

#define ALL_FLAGS   (NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_READ_FENCE | NDK_OP_FLAG_DEFER)
#define SEND_FLAGS  (ALL_FLAGS | NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT | NDK_OP_FLAG_INLINE)
#define WRITE_FLAGS (ALL_FLAGS | NDK_OP_FLAG_INLINE)
#define READ_FLAGS  (ALL_FLAGS | NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE)
#define BIND_FLAGS  (ALL_FLAGS | NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE)

#define FAST_FLAGS (BIND_FLAGS | NDK_OP_FLAG_ALLOW_LOCAL_WRITE | NDK_OP_FLAG_RDMA_READ_SINK)

_Static_assert(NDK_OP_FLAG_SILENT_SUCCESS << 1 == PLX_WR_UNSIGNALED, "a flag of ours, moved");
_Static_assert(NDK_OP_FLAG_READ_FENCE << 1 == PLX_WR_FENCE, "so is this one");
_Static_assert(NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT >> 2 == PLX_WR_SOLICITED, "and this one");
_Static_assert(NDK_OP_FLAG_INLINE >> 3 == PLX_WR_INLINE, "and this one");
_Static_assert(NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE >> 4 == PLX_WR_READ_INV, "and this one");
_Static_assert(NDK_OP_FLAG_DEFER >> 2 == PLX_WR_DEFER, "and the last");

static inline uint8_t
flags_of(ULONG flags)
{
	if (plx_likely(flags == 0))
		return 0;
	if (PLX_MUTANT(NDK_SILENCE_IGNORED))
		flags &= ~(ULONG)NDK_OP_FLAG_SILENT_SUCCESS;
	return (uint8_t)((flags & (NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_READ_FENCE)) << 1 |
			 (flags & (NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT | NDK_OP_FLAG_DEFER)) >> 2 |
			 (flags & NDK_OP_FLAG_INLINE) >> 3 |
			 (flags & NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE) >> 4);
}

static inline const struct plx_sge *
sges_of(CONST NDK_SGE *sgl)
{
	return (const struct plx_sge *)(const void *)sgl;
}

/* ---- refusals ---- */

/* What was deferred before a refused request is sent now: the consumer ends a chain with it. */
static PLX_COLD NTSTATUS
refuse(struct ndk_qp *qp, NTSTATUS status)
{
	if (!PLX_MUTANT(NDK_DEFERRED_STAYS))
		plx_qp_ring_doorbell(qp->qp);
	return status;
}

static bool
fits_inline(const struct ndk_qp *qp, CONST NDK_SGE *sgl, ULONG n)
{
	uint64_t bytes = 0;

	for (ULONG i = 0; i < n; i++)
		bytes += sgl[i].Length;
	return bytes <= qp->attr.inline_bytes;
}

/* Inline data may have any number of SGEs, and is limited to the byte. */
static __attribute__((noinline)) NTSTATUS
check_inline(const struct ndk_qp *qp, CONST NDK_SGE *sgl, ULONG sges)
{
	if (sges > PLX_INLINE_MAX)
		return STATUS_DATA_OVERRUN;
	return fits_inline(qp, sgl, sges) ? STATUS_SUCCESS : STATUS_BUFFER_OVERFLOW;
}

static inline NTSTATUS
check(const struct ndk_qp *qp, CONST NDK_SGE *sgl, ULONG sges, ULONG sges_max, ULONG flags,
      ULONG allowed)
{
	if (plx_unlikely(flags & ~allowed || (sges > 0 && sgl == NULL)))
		return STATUS_INVALID_PARAMETER;
	if (flags & NDK_OP_FLAG_INLINE)
		return check_inline(qp, sgl, sges);
	return plx_likely(sges <= sges_max) ? STATUS_SUCCESS : STATUS_DATA_OVERRUN;
}

/* ---- requests of the initiator queue ---- */

/* Where the requests differ. */
struct request {
	enum plx_wr_op op;
	PVOID context;
	UINT64 address;
	UINT32 rkey, inv_key;
};

/* Store each field on its own: a load that spans two would wait until both stores have left the
 * core. */
static inline NTSTATUS
pass_on(struct ndk_qp *qp, const struct request *request, CONST NDK_SGE *sgl, ULONG sges,
	ULONG flags)
{
	enum plx_status refused;
	struct plx_send_wr wr;

	wr.wr_id = (uintptr_t)request->context;
	wr.op = (uint8_t)request->op;
	wr.flags = flags_of(flags);
	wr.sges = (uint16_t)sges;
	wr.inv_key.v = request->inv_key;
	wr.sge = sges_of(sgl);
	wr.remote_va = request->address;
	wr.rkey.v = request->rkey;
	if (plx_likely(plx_post_send(qp->qp, &wr, 1, &refused) == 1))
		return STATUS_SUCCESS;
	return refuse(qp, ndk_refusal(refused));
}

static inline NTSTATUS
post(NDK_QP *face, const struct request *request, CONST NDK_SGE *sgl, ULONG sges, ULONG flags,
     ULONG allowed)
{
	struct ndk_qp *qp = ndk_qp_of(face);
	NTSTATUS status = check(qp, sgl, sges, qp->attr.initiator_sges, flags, allowed);

	if (plx_unlikely(status != STATUS_SUCCESS))
		return refuse(qp, status);
	return pass_on(qp, request, sgl, sges, flags);
}

/* Most consumers post SENDs and WRITEs of one SGE. Those have nothing else to check, and need no
 * memory on their way. */
static inline bool
is_usual(const struct ndk_qp *qp, CONST NDK_SGE *sgl, ULONG sges, ULONG flags)
{
	return plx_likely(sges == 1 && !(flags & ~(ULONG)ALL_FLAGS)) && sgl != NULL &&
	       qp->attr.initiator_sges > 0;
}

static inline NTSTATUS
post_usual(struct ndk_qp *qp, enum plx_wr_op op, PVOID context, CONST NDK_SGE *sgl, UINT64 address,
	   UINT32 token, ULONG flags)
{
	enum plx_status status =
		plx_post_one(qp->qp, PLX_WR(op, flags_of(flags)), (uintptr_t)context, sges_of(sgl),
			     address, (struct plx_key){token});

	return plx_likely(status == PLX_OK) ? STATUS_SUCCESS : refuse(qp, ndk_refusal(status));
}

static __attribute__((noinline)) NTSTATUS
send_any(NDK_QP *face, PVOID context, CONST NDK_SGE *sgl, ULONG sges, ULONG flags)
{
	const struct request request = {.op = PLX_WR_SEND, .context = context};

	return post(face, &request, sgl, sges, flags, SEND_FLAGS);
}

PLX_HOT NTSTATUS
ndk_send(NDK_QP *face, PVOID context, CONST NDK_SGE *sgl, ULONG sges, ULONG flags)
{
	struct ndk_qp *qp = ndk_qp_of(face);

	return is_usual(qp, sgl, sges, flags)
		       ? post_usual(qp, PLX_WR_SEND, context, sgl, 0, 0, flags)
		       : send_any(face, context, sgl, sges, flags);
}

PLX_HOT NTSTATUS
ndk_send_and_invalidate(NDK_QP *face, PVOID context, CONST NDK_SGE *sgl, ULONG sges, ULONG flags,
			UINT32 token)
{
	const struct request request = {
		.op = PLX_WR_SEND_INV, .context = context, .inv_key = token};

	return post(face, &request, sgl, sges, flags, SEND_FLAGS);
}

static __attribute__((noinline)) NTSTATUS
write_any(NDK_QP *face, PVOID context, CONST NDK_SGE *sgl, ULONG sges, UINT64 address, UINT32 token,
	  ULONG flags)
{
	const struct request request = {
		.op = PLX_WR_WRITE, .context = context, .address = address, .rkey = token};

	return post(face, &request, sgl, sges, flags, WRITE_FLAGS);
}

PLX_HOT NTSTATUS
ndk_write(NDK_QP *face, PVOID context, CONST NDK_SGE *sgl, ULONG sges, UINT64 address, UINT32 token,
	  ULONG flags)
{
	struct ndk_qp *qp = ndk_qp_of(face);

	return is_usual(qp, sgl, sges, flags)
		       ? post_usual(qp, PLX_WR_WRITE, context, sgl, address, token, flags)
		       : write_any(face, context, sgl, sges, address, token, flags);
}

/* READs have a limit of SGEs of their own. */
PLX_HOT NTSTATUS
ndk_read(NDK_QP *face, PVOID context, CONST NDK_SGE *sgl, ULONG sges, UINT64 address, UINT32 token,
	 ULONG flags)
{
	const struct request request = {
		.op = PLX_WR_READ, .context = context, .address = address, .rkey = token};
	struct ndk_qp *qp = ndk_qp_of(face);
	NTSTATUS status =
		check(qp, sgl, sges, ndk_limits(&qp->object)->MaxReadRequestSge, flags, READ_FLAGS);

	if (plx_unlikely(status != STATUS_SUCCESS))
		return refuse(qp, status);
	return pass_on(qp, &request, sgl, sges, flags);
}

/* ---- windows and fast registration ---- */

static uint32_t
remote_access(ULONG flags)
{
	uint32_t access = 0;

	if (flags & NDK_OP_FLAG_ALLOW_REMOTE_READ)
		access |= PLX_ACCESS_REMOTE_READ;
	if ((flags & NDK_OP_FLAG_ALLOW_REMOTE_WRITE) == NDK_OP_FLAG_ALLOW_REMOTE_WRITE)
		access |= PLX_ACCESS_REMOTE_WRITE;
	return access;
}

NTSTATUS
ndk_bind(NDK_QP *face, PVOID context, NDK_MR *mr_face, NDK_MW *mw_face, PVOID address,
	 SIZE_T length, ULONG flags)
{
	struct ndk_qp *qp = ndk_qp_of(face);
	struct ndk_mr *mr = ndk_mr_of(mr_face);
	struct ndk_mw *mw = ndk_mw_of(mw_face);
	const struct plx_bind bind = {
		.wr_id = (uintptr_t)context,
		/* the doorbell is rung: deferring is a hint */
		.flags = flags_of(flags & ~(ULONG)NDK_OP_FLAG_DEFER),
		.mr = mr->mr,
		.va = (uintptr_t)address,
		.length = length,
		.access = remote_access(flags),
	};
	enum plx_status status;
	struct plx_key key;

	if (flags & ~(ULONG)BIND_FLAGS || length > ndk_limits(&qp->object)->MaxWindowSize)
		return refuse(qp, STATUS_INVALID_PARAMETER);
	if (mr->mr == NULL || ndk_is_closed(&mr->object))
		return refuse(qp, STATUS_INVALID_DEVICE_REQUEST);
	status = plx_post_bind(qp->qp, mw->mw, &bind, &key);
	if (status != PLX_OK)
		return refuse(qp, ndk_refusal(status));
	atomic_store(&mw->token, key.v);
	return STATUS_SUCCESS;
}

static uint32_t
fast_access(ULONG flags)
{
	uint32_t access = remote_access(flags);

	if (flags & NDK_OP_FLAG_ALLOW_LOCAL_WRITE)
		access |= PLX_ACCESS_LOCAL_WRITE;
	return access;
}

static NTSTATUS
check_fast(const struct ndk_mr *mr, ULONG pages, CONST NDK_LOGICAL_ADDRESS *page, ULONG fbo,
	   SIZE_T length, PVOID base, ULONG flags)
{
	if (!mr->fast || mr->pages == 0)
		return STATUS_INVALID_DEVICE_REQUEST;
	if (flags & ~(ULONG)FAST_FLAGS || pages == 0 || pages > mr->pages || page == NULL ||
	    fbo >= PAGE_SIZE || length == 0 || length > (SIZE_T)pages * PAGE_SIZE - fbo ||
	    BYTE_OFFSET(base) != fbo)
		return STATUS_INVALID_PARAMETER;
	return remote_access(flags) != 0 && !mr->remote ? STATUS_ACCESS_VIOLATION : STATUS_SUCCESS;
}

NTSTATUS
ndk_fast_register(NDK_QP *face, PVOID context, NDK_MR *mr_face, ULONG pages,
		  CONST NDK_LOGICAL_ADDRESS *page, ULONG fbo, SIZE_T length, PVOID base,
		  ULONG flags)
{
	struct ndk_qp *qp = ndk_qp_of(face);
	struct ndk_mr *mr = ndk_mr_of(mr_face);
	NTSTATUS status = check_fast(mr, pages, page, fbo, length, base, flags);
	enum plx_status posted;
	struct plx_key key;
	struct plx_reg reg;

	if (status != STATUS_SUCCESS)
		return refuse(qp, status);
	reg = (struct plx_reg){
		.wr_id = (uintptr_t)context,
		.flags = flags_of(flags),
		.mr = mr->mr,
		.va = (uintptr_t)base,
		.length = length,
		.access = fast_access(flags),
		.page = (const uint64_t *)(const void *)page,
		.pages = pages,
	};
	posted = plx_post_reg(qp->qp, &reg, &key);
	if (posted != PLX_OK)
		return refuse(qp, ndk_refusal(posted));
	if (!PLX_MUTANT(NDK_TOKEN_OF_BEFORE) || atomic_load(&mr->token) == 0)
		atomic_store(&mr->token, key.v);
	return STATUS_SUCCESS;
}

static UINT32
token_of(NDK_OBJECT_HEADER *header)
{
	const struct ndk_object *object = (const struct ndk_object *)(const void *)header;

	if (object->kind->type == NdkObjectTypeMw)
		return atomic_load(&ndk_mw_of((NDK_MW *)(void *)header)->token);
	if (object->kind->type == NdkObjectTypeMr && ndk_mr_of((NDK_MR *)(void *)header)->fast)
		return atomic_load(&ndk_mr_of((NDK_MR *)(void *)header)->token);
	return 0;
}

NTSTATUS
ndk_invalidate(NDK_QP *face, PVOID context, NDK_OBJECT_HEADER *header, ULONG flags)
{
	const struct request request = {
		.op = PLX_WR_LOCAL_INV, .context = context, .inv_key = token_of(header)};

	/* never registered fast, never bound */
	if (request.inv_key == 0)
		return refuse(ndk_qp_of(face), STATUS_INVALID_DEVICE_REQUEST);
	return post(face, &request, NULL, 0, flags, ALL_FLAGS);
}

/* ---- receives ---- */

static inline NTSTATUS
check_receive(CONST NDK_SGE *sgl, ULONG sges, ULONG sges_max)
{
	if (plx_unlikely(sges > 0 && sgl == NULL))
		return STATUS_INVALID_PARAMETER;
	return plx_likely(sges <= sges_max) ? STATUS_SUCCESS : STATUS_DATA_OVERRUN;
}

static inline struct plx_recv_wr
receive_of(PVOID context, CONST NDK_SGE *sgl, ULONG sges)
{
	return (struct plx_recv_wr){.wr_id = (uintptr_t)context, .sge = sges_of(sgl), .sges = sges};
}

PLX_HOT NTSTATUS
ndk_receive(NDK_QP *face, PVOID context, CONST NDK_SGE *sgl, ULONG sges)
{
	struct ndk_qp *qp = ndk_qp_of(face);
	const struct plx_recv_wr wr = receive_of(context, sgl, sges);
	NTSTATUS status = check_receive(sgl, sges, qp->attr.receive_sges);
	enum plx_status refused;

	if (plx_unlikely(status != STATUS_SUCCESS))
		return status;
	if (plx_likely(plx_post_recv(qp->qp, &wr, 1, &refused) == 1))
		return STATUS_SUCCESS;
	return ndk_refusal(refused);
}

PLX_HOT NTSTATUS
ndk_srq_receive(NDK_SRQ *face, PVOID context, CONST NDK_SGE *sgl, ULONG sges)
{
	struct ndk_srq *srq = ndk_srq_of(face);
	const struct plx_recv_wr wr = receive_of(context, sgl, sges);
	NTSTATUS status = check_receive(sgl, sges, srq->sges);
	enum plx_status refused;

	if (plx_unlikely(status != STATUS_SUCCESS))
		return status;
	if (plx_likely(plx_post_srq_recv(srq->srq, &wr, 1, &refused) == 1))
		return STATUS_SUCCESS;
	return ndk_refusal(refused);
}
