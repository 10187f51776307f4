/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages of MmAllocatePagesForMdl(), one after the other and scattered, and their mappings;
 * contiguous memory. Start with pages_that_follow_each_other_have_one_address().
 */
#include "ex_test.h"

enum {
	TAG_PAGES = 'M' | 'm' << 8 | 'P' << 16 | 'g' << 24,
	TAG_VIEW = 'M' | 'm' << 8 | 'V' << 16 | 'w' << 24,
	TAG_MDL = 'M' | 'd' << 8 | 'l' << 16 | ' ' << 24,
	TAG_CONTIGUOUS = 'M' | 'm' << 8 | 'C' << 16 | 'm' << 24,
	PAGES = 64,
};

static const PHYSICAL_ADDRESS none, all = {.QuadPart = -1};

static PMDL
allocate(SIZE_T bytes)
{
	PMDL mdl = MmAllocatePagesForMdl(none, all, none, bytes);

	assert_non_null(mdl);
	assert_null(mdl->StartVa);
	assert_int_equal(MmGetMdlByteOffset(mdl), 0);
	assert_int_equal(MmGetMdlByteCount(mdl), ROUND_TO_PAGES(bytes));
	assert_true(mdl->MdlFlags & MDL_PAGES_LOCKED);
	assert_false(mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA);
	return mdl;
}

static void
release(PMDL mdl)
{
	MmFreePagesFromMdl(mdl);
	ExFreePool(mdl);
	assert_int_equal(plx_ex_pool_tag(TAG_PAGES).bytes, 0);
	assert_int_equal(plx_ex_pool_tag(TAG_VIEW).bytes, 0);
	assert_int_equal(plx_ex_pool_tag(TAG_MDL).blocks, 0);
}

/* The pages that follow the one before. */
static int
neighbours(PMDL mdl)
{
	int found = 0;

	for (ULONG i = 1; i < mdl->ByteCount / PAGE_SIZE; i++)
		found += MmGetMdlPfnArray(mdl)[i] == MmGetMdlPfnArray(mdl)[i - 1] + 1;
	return found;
}

/* Each page has its number in each view, and at its own address. */
static void
number_pages(PMDL mdl, const char *view)
{
	for (ULONG i = 0; i < mdl->ByteCount / PAGE_SIZE; i++) {
		char *page = (char *)(MmGetMdlPfnArray(mdl)[i] << PAGE_SHIFT);

		assert_int_equal(page[0], 0);
		page[0] = (char)(i + 1);
		assert_int_equal(view[i * PAGE_SIZE], i + 1);
		assert_int_equal(view[i * PAGE_SIZE + PAGE_SIZE - 1], 0);
	}
}

static void
pages_that_follow_each_other_have_one_address(void **state)
{
	PMDL mdl = allocate(PAGES * PAGE_SIZE - 5);
	char *view = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);

	(void)state;
	assert_int_equal(neighbours(mdl), PAGES - 1);
	assert_ptr_equal(view, MmGetMdlPfnArray(mdl)[0] << PAGE_SHIFT);
	number_pages(mdl, view);
	assert_int_equal(plx_ex_pool_tag(TAG_PAGES).bytes, PAGES * PAGE_SIZE);
	MmUnmapLockedPages(view, mdl);
	release(mdl);
}

static void
scattered_pages_are_mapped_in_their_order(void **state)
{
	PMDL mdl = allocate(PAGES * PAGE_SIZE);
	char *view = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
	char *other;

	(void)state;
	assert_int_equal(neighbours(mdl), 0);
	assert_non_null(view);
	assert_ptr_equal(MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority), view);
	number_pages(mdl, view);
	/* What is mapped for a program is beside that. */
	other = MmMapLockedPagesSpecifyCache(mdl, UserMode, MmCached, NULL, FALSE,
					     NormalPagePriority);
	assert_ptr_not_equal(other, view);
	assert_int_equal(other[5 * PAGE_SIZE], 6);
	MmUnmapLockedPages(other, mdl);
	assert_false(MmIsAddressValid(other));
	assert_ptr_equal(mdl->MappedSystemVa, view);
	assert_null(MmMapLockedPagesSpecifyCache(mdl, KernelMode, MmCached, view + 16 * PAGE_SIZE,
						 FALSE, NormalPagePriority));
	EX_RAISES(STATUS_INSUFFICIENT_RESOURCES,
		  MmMapLockedPagesSpecifyCache(mdl, UserMode, MmCached, view + 16 * PAGE_SIZE,
					       FALSE, NormalPagePriority));
	MmUnmapLockedPages(view, mdl);
	assert_null(mdl->MappedSystemVa);
	assert_false(MmIsAddressValid(view));
	release(mdl);
}

static void
a_part_is_mapped_by_itself(void **state)
{
	PMDL mdl = allocate(PAGES * PAGE_SIZE);
	PMDL part = IoAllocateMdl(NULL, PAGES * PAGE_SIZE, FALSE, FALSE, NULL);
	char *view = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority), *part_view;

	(void)state;
	number_pages(mdl, view);
	IoBuildPartialMdl(mdl, part, (char *)MmGetMdlVirtualAddress(mdl) + 3 * PAGE_SIZE + 7,
			  2 * PAGE_SIZE);
	part_view = MmGetSystemAddressForMdlSafe(part, NormalPagePriority);
	assert_int_equal(BYTE_OFFSET(part_view), 7);
	assert_int_equal(part_view[-7], 4);
	assert_int_equal(part_view[2 * PAGE_SIZE - 7], 6);
	MmPrepareMdlForReuse(part);
	IoBuildPartialMdl(mdl, part, (char *)MmGetMdlVirtualAddress(mdl) + 9 * PAGE_SIZE,
			  PAGE_SIZE);
	part_view = MmGetSystemAddressForMdlSafe(part, NormalPagePriority);
	assert_int_equal(part_view[0], 10);
	MmPrepareMdlForReuse(part);
	IoFreeMdl(part);
	MmUnmapLockedPages(view, mdl);
	release(mdl);
}

/* The view goes with what is left of the MDL. */
static void
an_advanced_mdl_keeps_its_view(void **state)
{
	PMDL mdl = allocate(PAGES * PAGE_SIZE);
	char *view = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);

	(void)state;
	number_pages(mdl, view);
	assert_int_equal(MmAdvanceMdl(mdl, 2 * PAGE_SIZE + 7), STATUS_SUCCESS);
	assert_ptr_equal(MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority),
			 view + 2 * PAGE_SIZE + 7);
	assert_int_equal(*(char *)(MmGetMdlPfnArray(mdl)[0] << PAGE_SHIFT), 3);
	MmUnmapLockedPages(mdl->MappedSystemVa, mdl);
	assert_false(MmIsAddressValid(view));
	release(mdl);
}

static void
chunks_stay_together(void **state)
{
	const PHYSICAL_ADDRESS skip = {.QuadPart = 4 * PAGE_SIZE},
			       odd = {.QuadPart = 3 * PAGE_SIZE};
	PMDL mdl = MmAllocatePagesForMdlEx(none, all, skip, (PAGES - 2) * PAGE_SIZE, MmCached,
					   MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS);
	char *view = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);

	(void)state;
	assert_int_equal(neighbours(mdl), (PAGES - 2) - PAGES / 4);
	number_pages(mdl, view);
	MmUnmapLockedPages(view, mdl);
	release(mdl);
	mdl = MmAllocatePagesForMdlEx(none, all, none, PAGES * PAGE_SIZE, MmCached,
				      MM_ALLOCATE_PREFER_CONTIGUOUS);
	assert_int_equal(neighbours(mdl), PAGES - 1);
	release(mdl);
	assert_null(MmAllocatePagesForMdlEx(none, all, odd, PAGES * PAGE_SIZE, MmCached,
					    MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS));
	assert_null(MmAllocatePagesForMdl(none, all, none, 0));
	assert_null(MmAllocatePagesForMdl(none, all, none, (SIZE_T)1 << 32));
	plx_ex_pool_fail(1);
	assert_null(MmAllocatePagesForMdl(none, all, none, 1));
}

static void *
churn(void *argument)
{
	for (int i = 0; i < 50; i++) {
		PMDL mdl = allocate(8 * PAGE_SIZE);
		char *view = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);

		number_pages(mdl, view);
		MmUnmapLockedPages(view, mdl);
		MmFreePagesFromMdl(mdl);
		ExFreePool(mdl);
	}
	return argument;
}

static void
threads_may_allocate_at_once(void **state)
{
	pthread_t threads[4];

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		threads[i] = ex_run(churn, NULL);
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		ex_join(threads[i]);
	assert_int_equal(plx_ex_pool_tag(TAG_PAGES).bytes, 0);
}

static void
contiguous_memory_begins_a_page(void **state)
{
	const PHYSICAL_ADDRESS boundary = {.QuadPart = 0x10000}, less = {.QuadPart = 0x1000};
	char *memory = MmAllocateContiguousMemory(100, all);

	(void)state;
	assert_int_equal(BYTE_OFFSET(memory), 0);
	MmFreeContiguousMemory(memory);
	memory = MmAllocateNonCachedMemory(PAGE_SIZE);
	assert_int_equal(BYTE_OFFSET(memory), 0);
	MmFreeNonCachedMemory(memory, PAGE_SIZE);
	for (int i = 0; i < 20; i++) {
		memory = MmAllocateContiguousMemorySpecifyCache(0x9000, none, all, boundary,
								MmCached);
		assert_int_equal((uintptr_t)memory / 0x10000,
				 ((uintptr_t)memory + 0x8fff) / 0x10000);
		assert_int_equal(plx_ex_pool_tag(TAG_CONTIGUOUS).bytes, 0x9000);
		MmFreeContiguousMemorySpecifyCache(memory, 0x9000, MmCached);
	}
	assert_null(MmAllocateContiguousMemorySpecifyCache(0x9000, none, all, less, MmCached));
	assert_null(MmAllocateContiguousMemory(0, all));
}

static int
scatter(void **state)
{
	(void)state;
	plx_ex_pages_scatter(true);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_that_follow_each_other_have_one_address),
		cmocka_unit_test_setup(scattered_pages_are_mapped_in_their_order, scatter),
		cmocka_unit_test(a_part_is_mapped_by_itself),
		cmocka_unit_test(an_advanced_mdl_keeps_its_view),
		cmocka_unit_test(chunks_stay_together),
		cmocka_unit_test(threads_may_allocate_at_once),
		cmocka_unit_test(contiguous_memory_begins_a_page),
	};

	setenv("POLLUX_DBG", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
