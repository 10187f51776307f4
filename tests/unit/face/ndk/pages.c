/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory whose pages are anywhere: fast registrations, regions and mappings of MDLs (T26, T28).
 * Pages are in reverse order, with one between each two that must not change. Start with struct
 * paper.
 */
#include <ntstatus.h>
#include <stdlib.h>

#include "ndk_pair.h"

enum {
	PAGES = 256,
	WHOLE = 2 * PAGES * PAGE_SIZE,
	GUARD = 0x5a,
};

#define BASE 0x77000000 /* no memory is there */

struct paper {
	uint8_t *memory;
	NDK_LOGICAL_ADDRESS page[PAGES];
};

static struct paper *
paper_make(void)
{
	struct paper *paper = malloc(sizeof(*paper));

	paper->memory = aligned_alloc(PAGE_SIZE, WHOLE);
	assert_non_null(paper->memory);
	memset(paper->memory, GUARD, WHOLE);
	for (int i = 0; i < PAGES; i++)
		paper->page[i].QuadPart = (LONGLONG)((uintptr_t)paper->memory +
						     (uintptr_t)(PAGES - 1 - i) * 2 * PAGE_SIZE);
	return paper;
}

static void
paper_free(struct paper *paper)
{
	free(paper->memory);
	free(paper);
}

static uint8_t *
paper_byte(const struct paper *paper, ULONG at)
{
	return (uint8_t *)(uintptr_t)(paper->page[at / PAGE_SIZE].QuadPart + at % PAGE_SIZE);
}

static void
paper_assert_clean(const struct paper *paper)
{
	for (int i = 0; i < WHOLE; i++)
		if (paper->memory[i] != GUARD)
			fail_msg("byte %d has changed", i);
}

/* The bytes from `at` on are those of `expected`; nothing else has changed. They are cleared. */
static void
paper_expect(struct paper *paper, ULONG at, const uint8_t *expected, ULONG bytes)
{
	for (ULONG i = 0; i < bytes; i++) {
		assert_int_equal(*paper_byte(paper, at + i), expected[i]);
		*paper_byte(paper, at + i) = GUARD;
	}
	paper_assert_clean(paper);
}

static void
fill(uint8_t *bytes, ULONG n, uint8_t seed)
{
	for (ULONG i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256 + i / 4096 * 13 + seed);
}

/* ---- fast registration ---- */

static NDK_MR *
fast_region(struct ndk_side *side, ULONG pages)
{
	NDK_MR *mr = ndk_create(NDK_MR, side->pd->Dispatch->NdkCreateMr, side->pd, TRUE);

	assert_nt(ndk_result(mr->Dispatch->NdkInitializeFastRegisterMr, mr, pages, TRUE),
		  STATUS_SUCCESS);
	return mr;
}

#define ALL_RIGHTS                                                        \
	(NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE | \
	 NDK_OP_FLAG_ALLOW_LOCAL_WRITE)

/* The consumer's array is its own again when the call returns. */
static NTSTATUS
fast_register(struct ndk_side *side, uintptr_t context, NDK_MR *mr, const struct paper *paper,
	      ULONG pages, ULONG fbo, SIZE_T length)
{
	NDK_LOGICAL_ADDRESS page[PAGES];
	NTSTATUS status;

	memcpy(page, paper->page, sizeof(page));
	status = side->qp->Dispatch->NdkFastRegister(side->qp, (PVOID)context, mr, pages, page, fbo,
						     length, (PVOID)(uintptr_t)(BASE + fbo),
						     ALL_RIGHTS);
	memset(page, 0xee, sizeof(page));
	return status;
}

static UINT32
token_of(NDK_MR *mr)
{
	return mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
}

static void
invalidate(struct ndk_side *side, uintptr_t context, NDK_MR *mr)
{
	assert_nt(side->qp->Dispatch->NdkInvalidate(side->qp, (PVOID)context, &mr->Header, 0),
		  STATUS_SUCCESS);
}

/* a, from the beginning of its arena */
static NTSTATUS
write_to(struct ndk_pair *pair, uintptr_t context, UINT32 token, UINT64 at, ULONG bytes)
{
	NDK_SGE sge = ndk_sge(&pair->a, 0, bytes);

	return pair->a.qp->Dispatch->NdkWrite(pair->a.qp, (PVOID)context, &sge, 1, at, token, 0);
}

/* a, into the second half of its arena */
static NTSTATUS
read_from(struct ndk_pair *pair, uintptr_t context, UINT32 token, UINT64 at, ULONG bytes)
{
	NDK_SGE sge = ndk_sge(&pair->a, NDK_ARENA / 2, bytes);

	return pair->a.qp->Dispatch->NdkRead(pair->a.qp, (PVOID)context, &sge, 1, at, token, 0);
}

static void
write_and_read(struct ndk_pair *pair, struct paper *paper, UINT32 token, UINT64 va, ULONG bytes)
{
	fill(pair->a.arena, bytes, 1);
	assert_nt(write_to(pair, 1, token, va, bytes), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 1, STATUS_SUCCESS);
	memset(pair->a.arena + NDK_ARENA / 2, 0, NDK_ARENA / 2);
	assert_nt(read_from(pair, 2, token, va, bytes), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 2, STATUS_SUCCESS);
	assert_memory_equal(pair->a.arena + NDK_ARENA / 2, pair->a.arena, bytes);
	paper_expect(paper, (ULONG)(va - BASE), pair->a.arena, bytes);
}

static void
t28_pages_may_be_in_any_order(void **state)
{
	static const ULONG offsets[] = {0, 1, 100, 4095};
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&pair->b, PAGES);
	struct paper *paper = paper_make();

	(void)state;
	for (int i = 0; i < 4; i++) {
		ULONG fbo = offsets[i];
		const ULONG lengths[] = {1, PAGE_SIZE - fbo, PAGE_SIZE - fbo + 1,
					 3 * PAGE_SIZE - fbo, 4 * PAGE_SIZE};

		for (int j = 0; j < 5; j++) {
			assert_nt(fast_register(&pair->b, 3, mr, paper, PAGES, fbo, lengths[j]),
				  STATUS_SUCCESS);
			ndk_expect(pair->b.cq, 3, STATUS_SUCCESS);
			write_and_read(pair, paper, token_of(mr), BASE + fbo, lengths[j]);
			invalidate(&pair->b, 4, mr);
			ndk_expect(pair->b.cq, 4, STATUS_SUCCESS);
		}
	}
	/* all of the pages, and the last byte of the last one */
	assert_nt(fast_register(&pair->b, 3, mr, paper, PAGES, 5, PAGES * PAGE_SIZE - 5),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 3, STATUS_SUCCESS);
	write_and_read(pair, paper, token_of(mr), BASE + PAGES * PAGE_SIZE - 9000, 9000);
	assert_nt(write_to(pair, 5, token_of(mr), BASE + PAGES * PAGE_SIZE - 1, 2), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 5, STATUS_REMOTE_RESOURCES);
	paper_assert_clean(paper);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	paper_free(paper);
	ndk_pair_close(pair);
}

static NDK_SGE
sge_of(NDK_MR *mr, UINT64 va, ULONG bytes)
{
	return (NDK_SGE){.VirtualAddress = (PVOID)(uintptr_t)va,
			 .Length = bytes,
			 .MemoryRegionToken = mr->Dispatch->NdkGetLocalTokenFromMr(mr)};
}

static void
local_requests_use_pages(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *from = fast_region(&pair->a, 8), *to = fast_region(&pair->b, 8);
	struct paper *ours = paper_make(), *theirs = paper_make();
	uint8_t bytes[10000];
	NDK_SGE sge[2];

	(void)state;
	fill(bytes, sizeof(bytes), 9);
	assert_nt(fast_register(&pair->a, 1, from, ours, 8, 10, 8 * PAGE_SIZE - 10),
		  STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 1, STATUS_SUCCESS);
	assert_nt(fast_register(&pair->b, 1, to, theirs, 8, 0, 8 * PAGE_SIZE), STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	/* a SEND, gathered from pages and scattered to others */
	for (ULONG i = 0; i < sizeof(bytes); i++)
		*paper_byte(ours, 4000 + i) = bytes[i];
	sge[0] = sge_of(to, BASE + 4090, 10);
	sge[1] = sge_of(to, BASE + 2 * PAGE_SIZE - 100, sizeof(bytes));
	assert_nt(pair->b.qp->Dispatch->NdkReceive(pair->b.qp, (PVOID)2, sge, 2), STATUS_SUCCESS);
	sge[0] = sge_of(from, BASE + 4000, 99);
	sge[1] = sge_of(from, BASE + 4099, sizeof(bytes) - 99);
	assert_nt(pair->a.qp->Dispatch->NdkSend(pair->a.qp, (PVOID)3, sge, 2, 0), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 3, STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 2, STATUS_SUCCESS);
	for (ULONG i = 0; i < 10; i++) {
		assert_int_equal(*paper_byte(theirs, 4090 + i), bytes[i]);
		*paper_byte(theirs, 4090 + i) = GUARD;
	}
	paper_expect(theirs, 2 * PAGE_SIZE - 100, bytes + 10, sizeof(bytes) - 10);
	paper_expect(ours, 4000, bytes, sizeof(bytes));
	/* a READ into pages, which invalidates them */
	memcpy(pair->b.arena, bytes, sizeof(bytes));
	sge[0] = sge_of(from, BASE + 4095, sizeof(bytes));
	assert_nt(pair->a.qp->Dispatch->NdkRead(pair->a.qp, (PVOID)4, sge, 1,
						(uintptr_t)pair->b.arena, pair->b.token,
						NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE),
		  STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 4, STATUS_SUCCESS);
	paper_expect(ours, 4095, bytes, sizeof(bytes));
	assert_nt(fast_register(&pair->a, 5, from, ours, 8, 0, 8 * PAGE_SIZE), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 5, STATUS_SUCCESS);
	ndk_end(from->Dispatch->NdkCloseMr, from);
	ndk_end(to->Dispatch->NdkCloseMr, to);
	paper_free(ours);
	paper_free(theirs);
	ndk_pair_close(pair);
}

/* ---- the next list, while the peer uses the token ---- */

/* Invalidated and registered again while a WRITE arrives: from the invalidation's result on the
 * old pages do not change, and the new ones never do. */
static void
t28_an_old_token_reaches_no_new_page(void **state)
{
	enum {
		BYTES = 60000,
		ROUNDS = 60,
	};
	struct paper *first = paper_make(), *second = paper_make();
	uint8_t *snapshot = malloc(WHOLE);
	int refused = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct ndk_pair *pair = ndk_pair_open(NULL);
		NDK_MR *mr = fast_region(&pair->b, 16);

		fill(pair->a.arena, BYTES, (uint8_t)round);
		assert_nt(fast_register(&pair->b, 1, mr, first, 16, 7, 16 * PAGE_SIZE - 7),
			  STATUS_SUCCESS);
		ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
		for (uintptr_t i = 0; i < 4; i++)
			assert_nt(write_to(pair, i, token_of(mr), BASE + 7, BYTES), STATUS_SUCCESS);
		for (int spin = 0; spin < round * 400; spin++)
			__asm__ volatile("");
		invalidate(&pair->b, 2, mr);
		assert_nt(fast_register(&pair->b, 3, mr, second, 16, 7, 16 * PAGE_SIZE - 7),
			  STATUS_SUCCESS);
		assert_nt(ndk_result_of(pair->b.cq).Status, STATUS_SUCCESS);
		memcpy(snapshot, first->memory, WHOLE);
		for (int i = 0; i < 4; i++)
			if (ndk_result_of(pair->a.cq).Status != STATUS_SUCCESS)
				refused++;
		ndk_settle();
		assert_memory_equal(first->memory, snapshot, WHOLE);
		paper_assert_clean(second);
		ndk_end(mr->Dispatch->NdkCloseMr, mr);
		ndk_pair_close(pair);
	}
	assert_true(refused > 0); /* else no round was a test */
	paper_free(first);
	paper_free(second);
	free(snapshot);
}

static void
t26_a_send_invalidates_a_list(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&pair->b, 4);
	struct paper *first = paper_make(), *second = paper_make();
	UINT32 old;
	NDK_SGE sge;

	(void)state;
	assert_nt(fast_register(&pair->b, 1, mr, first, 4, 0, 4 * PAGE_SIZE), STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	old = token_of(mr);
	ndk_post_receive(&pair->b, 2, 0, 64);
	/* behind a WRITE across pages, which is complete when the SEND arrives */
	fill(pair->a.arena, 9000, 4);
	assert_nt(write_to(pair, 3, old, BASE + 4000, 9000), STATUS_SUCCESS);
	sge = ndk_sge(&pair->a, 0, 8);
	assert_nt(pair->a.qp->Dispatch->NdkSendAndInvalidate(pair->a.qp, (PVOID)4, &sge, 1, 0, old),
		  STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 3, STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 4, STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 2, STATUS_SUCCESS);
	paper_expect(first, 4000, pair->a.arena, 9000);
	assert_nt(fast_register(&pair->b, 5, mr, second, 4, 0, 4 * PAGE_SIZE), STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 5, STATUS_SUCCESS);
	write_and_read(pair, second, token_of(mr), BASE + 4095, 2);
	assert_nt(write_to(pair, 6, old, BASE, 8), STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 6, STATUS_REMOTE_RESOURCES);
	paper_assert_clean(first);
	paper_assert_clean(second);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	paper_free(first);
	paper_free(second);
	ndk_pair_close(pair);
}

static void
what_is_posted_ahead_is_limited(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = fast_region(&pair->b, 4);
	struct paper *paper = paper_make();
	uintptr_t posted = 0;

	(void)state;
	assert_nt(fast_register(&pair->b, posted++, mr, paper, 4, 0, PAGE_SIZE * 4),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 0, STATUS_SUCCESS);
	ndk_post_send(&pair->b, posted++, 0, 8, 0); /* waits: the peer has no receive */
	for (int i = 0; i < 3; i++) {
		invalidate(&pair->b, posted++, mr);
		assert_nt(fast_register(&pair->b, posted++, mr, paper, 4, 0, PAGE_SIZE * 4),
			  STATUS_SUCCESS);
	}
	assert_nt(fast_register(&pair->b, 0, mr, paper, 4, 0, PAGE_SIZE * 4),
		  STATUS_NO_MORE_ENTRIES);
	ndk_post_receive(&pair->a, 99, NDK_ARENA / 2, 64);
	for (uintptr_t i = 1; i < posted; i++)
		ndk_expect(pair->b.cq, i, STATUS_SUCCESS);
	ndk_expect(pair->a.cq, 99, STATUS_SUCCESS);
	write_and_read(pair, paper, token_of(mr), BASE + 4095, 4098);
	invalidate(&pair->b, 1, mr);
	assert_nt(fast_register(&pair->b, 2, mr, paper, 4, 0, PAGE_SIZE * 4), STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 2, STATUS_SUCCESS);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	paper_free(paper);
	ndk_pair_close(pair);
}

static void
wrong_pages_are_refused(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	const NDK_QP_DISPATCH *qp = pair->b.qp->Dispatch;
	NDK_MR *mr = fast_region(&pair->b, 4);
	struct paper *paper = paper_make();
	const LONGLONG good = paper->page[1].QuadPart;
	const LONGLONG wrong[] = {0, good + 1, good + 8, -1};

	(void)state;
	for (int i = 0; i < 4; i++) {
		paper->page[1].QuadPart = wrong[i];
		assert_nt(fast_register(&pair->b, 0, mr, paper, 4, 0, 2 * PAGE_SIZE),
			  STATUS_INVALID_PARAMETER);
	}
	paper->page[1].QuadPart = good;
	assert_nt(fast_register(&pair->b, 0, mr, paper, 5, 0, PAGE_SIZE), STATUS_INVALID_PARAMETER);
	assert_nt(fast_register(&pair->b, 0, mr, paper, 0, 0, PAGE_SIZE), STATUS_INVALID_PARAMETER);
	assert_nt(fast_register(&pair->b, 0, mr, paper, 4, 1, 4 * PAGE_SIZE),
		  STATUS_INVALID_PARAMETER);
	assert_nt(fast_register(&pair->b, 0, mr, paper, 4, PAGE_SIZE, 1), STATUS_INVALID_PARAMETER);
	/* the addresses that are an index must not wrap, nor the pages */
	assert_nt(qp->NdkFastRegister(pair->b.qp, NULL, mr, 4, paper->page, 0, PAGE_SIZE + 1,
				      (PVOID)(uintptr_t)-PAGE_SIZE, 0),
		  STATUS_INVALID_PARAMETER);
	paper->page[0].QuadPart = -PAGE_SIZE;
	paper->page[1].QuadPart = 0;
	assert_nt(fast_register(&pair->b, 0, mr, paper, 2, 0, PAGE_SIZE + 1),
		  STATUS_INVALID_PARAMETER);
	ndk_expect_none(pair->b.cq);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	paper_free(paper);
	ndk_pair_close(pair);
}

/* ---- MDLs ---- */

/* An MDL of pages from `first` on, as MmAllocatePagesForMdl and MmProbeAndLockPages make them. */
static MDL *
mdl_of(const struct paper *paper, ULONG first, uintptr_t va, ULONG bytes)
{
	MDL *mdl = IoAllocateMdl((PVOID)va, bytes, FALSE, FALSE, NULL);
	ULONG pages = ADDRESS_AND_SIZE_TO_SPAN_PAGES(va, bytes);

	assert_non_null(mdl);
	for (ULONG i = 0; i < pages; i++)
		MmGetMdlPfnArray(mdl)[i] =
			(PFN_NUMBER)(paper->page[first + i].QuadPart >> PAGE_SHIFT);
	mdl->MdlFlags |= MDL_PAGES_LOCKED;
	return mdl;
}

static void
register_mdl(NDK_MR *mr, MDL *mdl, ULONG bytes)
{
	assert_nt(ndk_result(mr->Dispatch->NdkRegisterMr, mr, mdl, bytes,
			     NDK_MR_FLAG_ALLOW_REMOTE_WRITE | NDK_MR_FLAG_ALLOW_REMOTE_READ |
				     NDK_MR_FLAG_ALLOW_LOCAL_WRITE),
		  STATUS_SUCCESS);
}

/* Of two MDLs the second begins inside the page in which the first ends. */
static void
a_chain_of_mdls_is_registered_as_one_range(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = ndk_create(NDK_MR, pair->b.pd->Dispatch->NdkCreateMr, pair->b.pd, FALSE);
	NDK_MW *mw = ndk_create(NDK_MW, pair->b.pd->Dispatch->NdkCreateMw, pair->b.pd);
	struct paper *paper = paper_make();
	MDL *one = mdl_of(paper, 0, BASE + 9, 9000), *two = mdl_of(paper, 2, BASE + 9009, 9000);

	(void)state;
	one->Next = two;
	register_mdl(mr, one, 18000);
	write_and_read(pair, paper, token_of(mr), BASE + 9, 18000);
	/* a window in the middle */
	assert_nt(pair->b.qp->Dispatch->NdkBind(
			  pair->b.qp, (PVOID)1, mr, mw, (PVOID)(uintptr_t)(BASE + 5000), 8000,
			  NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 1, STATUS_SUCCESS);
	write_and_read(pair, paper, mw->Dispatch->NdkGetRemoteTokenFromMw(mw), BASE + 5000, 8000);
	ndk_end(mw->Dispatch->NdkCloseMw, mw);
	assert_nt(ndk_result(mr->Dispatch->NdkDeregisterMr, mr), STATUS_SUCCESS);
	/* less than the chain */
	register_mdl(mr, one, 9500);
	write_and_read(pair, paper, token_of(mr), BASE + 9, 9500);
	assert_nt(ndk_result(mr->Dispatch->NdkDeregisterMr, mr), STATUS_SUCCESS);
	/* the page in the middle is two */
	MmGetMdlPfnArray(two)[0]++;
	assert_nt(mr->Dispatch->NdkRegisterMr(mr, one, 18000, 0, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	MmGetMdlPfnArray(two)[0]--;
	MmGetMdlPfnArray(two)[1] = 0;
	assert_nt(mr->Dispatch->NdkRegisterMr(mr, one, 18000, 0, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	/* a gap between the addresses */
	two->ByteOffset++;
	assert_nt(mr->Dispatch->NdkRegisterMr(mr, one, 18000, 0, ndk_on_done, NULL),
		  STATUS_INVALID_PARAMETER);
	IoFreeMdl(one);
	IoFreeMdl(two);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	paper_free(paper);
	ndk_pair_close(pair);
}

/* Pages without addresses, contiguous ones among them. */
static void
pages_at_address_zero_are_registered(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	NDK_MR *mr = ndk_create(NDK_MR, pair->b.pd->Dispatch->NdkCreateMr, pair->b.pd, FALSE);
	struct paper *paper = paper_make();

	(void)state;
	for (int contiguous = 0; contiguous < 2; contiguous++) {
		MDL *mdl;

		for (int i = 0; i < PAGES && contiguous; i++)
			paper->page[i].QuadPart =
				(LONGLONG)((uintptr_t)paper->memory + (uintptr_t)i * PAGE_SIZE);
		mdl = mdl_of(paper, 0, 0, 3 * PAGE_SIZE);
		register_mdl(mr, mdl, 3 * PAGE_SIZE);
		IoFreeMdl(mdl);
		fill(pair->a.arena, 3 * PAGE_SIZE, 8);
		assert_nt(write_to(pair, 1, token_of(mr), 0, 3 * PAGE_SIZE), STATUS_SUCCESS);
		ndk_expect(pair->a.cq, 1, STATUS_SUCCESS);
		paper_expect(paper, 0, pair->a.arena, 3 * PAGE_SIZE);
		assert_nt(ndk_result(mr->Dispatch->NdkDeregisterMr, mr), STATUS_SUCCESS);
	}
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	paper_free(paper);
	ndk_pair_close(pair);
}

/* The pages of a mapping are for fast registration, and for the privileged token. */
static void
a_mapping_of_a_chain_names_its_pages(void **state)
{
	struct ndk_pair *pair = ndk_pair_open(NULL);
	struct paper *paper = paper_make();
	MDL *one = mdl_of(paper, 0, BASE + 9, 9000), *two = mdl_of(paper, 2, BASE + 9009, 9000);
	NDK_LOGICAL_ADDRESS_MAPPING *lam = malloc(16 + 5 * 8);
	ULONG bytes = 16 + 4 * 8, fbo = 0;
	NDK_MR *mr = fast_region(&pair->b, 8);
	UINT32 privileged;
	NDK_SGE sge;

	(void)state;
	one->Next = two;
	assert_nt(pair->b.adapter->Dispatch->NdkBuildLAM(pair->b.adapter, one, 18000, NULL, NULL,
							 lam, &bytes, &fbo),
		  STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(bytes, 16 + 5 * 8);
	assert_nt(pair->b.adapter->Dispatch->NdkBuildLAM(pair->b.adapter, one, 18000, NULL, NULL,
							 lam, &bytes, &fbo),
		  STATUS_SUCCESS);
	assert_int_equal(fbo, 9);
	assert_int_equal(lam->AdapterPageCount, 5);
	assert_memory_equal(lam->AdapterPageArray, paper->page, 5 * sizeof(paper->page[0]));
	assert_nt(pair->b.qp->Dispatch->NdkFastRegister(
			  pair->b.qp, (PVOID)3, mr, lam->AdapterPageCount, lam->AdapterPageArray,
			  fbo, 18000, MmGetMdlVirtualAddress(one), ALL_RIGHTS),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 3, STATUS_SUCCESS);
	write_and_read(pair, paper, token_of(mr), BASE + 9, 18000);
	pair->b.pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(pair->b.pd, &privileged);
	sge = (NDK_SGE){.LogicalAddress = lam->AdapterPageArray[1],
			.Length = PAGE_SIZE,
			.MemoryRegionToken = privileged};
	assert_nt(pair->b.qp->Dispatch->NdkWrite(pair->b.qp, (PVOID)4, &sge, 1,
						 (uintptr_t)pair->a.arena, pair->a.token, 0),
		  STATUS_SUCCESS);
	ndk_expect(pair->b.cq, 4, STATUS_SUCCESS);
	assert_int_equal(pair->a.arena[PAGE_SIZE - 1], GUARD);
	pair->b.adapter->Dispatch->NdkReleaseLAM(pair->b.adapter, lam);
	ndk_end(mr->Dispatch->NdkCloseMr, mr);
	free(lam);
	IoFreeMdl(one);
	IoFreeMdl(two);
	paper_free(paper);
	ndk_pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t28_pages_may_be_in_any_order),
		cmocka_unit_test(local_requests_use_pages),
		cmocka_unit_test(t28_an_old_token_reaches_no_new_page),
		cmocka_unit_test(t26_a_send_invalidates_a_list),
		cmocka_unit_test(what_is_posted_ahead_is_limited),
		cmocka_unit_test(wrong_pages_are_refused),
		cmocka_unit_test(a_chain_of_mdls_is_registered_as_one_range),
		cmocka_unit_test(pages_at_address_zero_are_registered),
		cmocka_unit_test(a_mapping_of_a_chain_names_its_pages),
	};

	return ndk_run("ndk_pages", tests, sizeof(tests) / sizeof(tests[0]));
}
