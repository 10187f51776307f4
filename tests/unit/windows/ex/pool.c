/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pool: alignment, content, flags, failures, accounts. Start with a_block_is_aligned_by_its_size().
 */
#include "ex_test.h"

_Static_assert(NonPagedPoolNx == 512 && NonPagedPoolCacheAligned == 4, "as in Windows");
_Static_assert(sizeof(POOL_EXTENDED_PARAMETER) == 16, "as in Windows");

enum {
	TAG = 'T' | 's' << 8 | 't' << 16 | '0' << 24,
	OTHER_TAG = TAG + (1 << 24),
};

static int
is_filled(const void *memory, size_t bytes, unsigned char with)
{
	const unsigned char *at = memory;

	for (size_t i = 0; i < bytes; i++)
		if (at[i] != with)
			return 0;
	return 1;
}

static void
a_block_is_aligned_by_its_size(void **state)
{
	static const SIZE_T sizes[] = {0,     1, 16, 100, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1,
				       100000};

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(sizes); i++) {
		char *memory = ExAllocatePoolWithTag(NonPagedPoolNx, sizes[i], TAG);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % (sizes[i] < PAGE_SIZE ? 16 : PAGE_SIZE), 0);
		memset(memory, 1, sizes[i]);
		ExFreePoolWithTag(memory, TAG);
		memory = ExAllocatePool2(POOL_FLAG_PAGED | POOL_FLAG_CACHE_ALIGNED, sizes[i] + 1,
					 TAG);
		assert_int_equal((uintptr_t)memory % 64, 0);
		ExFreePool(memory);
	}
}

/* With the checks on. */
static void
what_is_not_zeroed_has_a_pattern(void **state)
{
	PVOID memory;

	(void)state;
	memory = ExAllocatePoolWithTag(PagedPool, 100, TAG);
	assert_true(is_filled(memory, 100, 0xa5));
	ExFreePool(memory);
	memory = ExAllocatePoolUninitialized(NonPagedPool, 100, TAG);
	assert_true(is_filled(memory, 100, 0xa5));
	ExFreePool(memory);
	memory = ExAllocatePool2(POOL_FLAG_NON_PAGED | POOL_FLAG_UNINITIALIZED, 100, TAG);
	assert_true(is_filled(memory, 100, 0xa5));
	ExFreePool(memory);
	memory = ExAllocatePoolZero(NonPagedPool, 5000, TAG);
	assert_true(is_filled(memory, 5000, 0));
	ExFreePool(memory);
	memory = ExAllocatePoolWithTag(NonPagedPool | POOL_ZERO_ALLOCATION, 100, TAG);
	assert_true(is_filled(memory, 100, 0));
	ExFreePool(memory);
	memory = ExAllocatePoolQuotaZero(PagedPool, 100, TAG);
	assert_true(is_filled(memory, 100, 0));
	ExFreePool(memory);
	memory = ExAllocatePool2(POOL_FLAG_NON_PAGED, 100, TAG);
	assert_true(is_filled(memory, 100, 0));
	ExFreePool2(memory, TAG, NULL, 0);
}

static void
flags_that_are_not_allowed_are_refused(void **state)
{
	static const POOL_FLAGS wrong[] = {
		0,
		POOL_FLAG_UNINITIALIZED,
		POOL_FLAG_PAGED | POOL_FLAG_NON_PAGED,
		POOL_FLAG_NON_PAGED_EXECUTE | POOL_FLAG_NON_PAGED,
		POOL_FLAG_PAGED | 0x10,
		POOL_FLAG_PAGED | 0x40000000,
	};
	PVOID memory;

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(wrong); i++) {
		assert_null(ExAllocatePool2(wrong[i], 1, TAG));
		EX_RAISES(STATUS_INVALID_PARAMETER,
			  ExAllocatePool2(wrong[i] | POOL_FLAG_RAISE_ON_FAILURE, 1, TAG));
	}
	assert_null(ExAllocatePool2(POOL_FLAG_PAGED, 0, TAG));
	assert_null(ExAllocatePool2(POOL_FLAG_PAGED, 1, 0));
	/* What is optional may be unknown. */
	memory = ExAllocatePool2(POOL_FLAG_PAGED | POOL_FLAG_OPTIONAL_START << 7, 1, TAG);
	assert_non_null(memory);
	ExFreePool(memory);
}

static void
parameters_of_a_block_may_be_optional(void **state)
{
	POOL_EXTENDED_PARAMETER parameters[2] = {
		{.Type = PoolExtendedParameterPriority, .Priority = HighPoolPriority},
		{.Type = PoolExtendedParameterSecurePool, .Optional = 1},
	};
	PVOID memory = ExAllocatePool3(POOL_FLAG_PAGED, 1, TAG, parameters, 2);

	(void)state;
	assert_non_null(memory);
	ExFreePool(memory);
	parameters[1].Optional = 0;
	assert_null(ExAllocatePool3(POOL_FLAG_PAGED, 1, TAG, parameters, 2));
	EX_RAISES(STATUS_INVALID_PARAMETER,
		  ExAllocatePool3(POOL_FLAG_PAGED | POOL_FLAG_RAISE_ON_FAILURE, 1, TAG, parameters,
				  2));
}

static void
a_failure_is_null_or_raised(void **state)
{
	const POOL_TYPE raises = NonPagedPool | POOL_RAISE_IF_ALLOCATION_FAILURE;
	const POOL_TYPE quiet = PagedPool | POOL_QUOTA_FAIL_INSTEAD_OF_RAISE;
	const SIZE_T much = ~(SIZE_T)0 - PAGE_SIZE;
	PVOID memory;

	(void)state;
	assert_null(ExAllocatePoolWithTag(NonPagedPool, much, TAG));
	assert_null(ExAllocatePoolWithTag(NonPagedPool, ~(SIZE_T)0, TAG));
	EX_RAISES(STATUS_INSUFFICIENT_RESOURCES, ExAllocatePoolWithTag(raises, much, TAG));
	EX_RAISES(STATUS_INSUFFICIENT_RESOURCES, ExAllocatePoolWithQuotaTag(PagedPool, much, TAG));
	EX_RAISES(STATUS_INSUFFICIENT_RESOURCES, ExAllocatePoolQuotaZero(PagedPool, much, TAG));
	EX_RAISES(STATUS_SUCCESS, assert_null(ExAllocatePoolWithQuotaTag(quiet, much, TAG)));
	EX_RAISES(STATUS_INSUFFICIENT_RESOURCES,
		  ExAllocatePool2(POOL_FLAG_PAGED | POOL_FLAG_RAISE_ON_FAILURE, much, TAG));
	/* On request, the second from now on, and no other. */
	plx_ex_pool_fail(2);
	memory = ExAllocatePool(NonPagedPool, 1);
	assert_non_null(memory);
	assert_null(ExAllocatePool(NonPagedPool, 1));
	ExFreePool(memory);
	memory = ExAllocatePool(NonPagedPool, 1);
	assert_non_null(memory);
	ExFreePool(memory);
}

static void
blocks_are_counted_by_tag(void **state)
{
	struct plx_ex_tag before = plx_ex_pool_tag(OTHER_TAG), now, left[4];
	PVOID first = ExAllocatePoolWithTag(NonPagedPool, 100, OTHER_TAG);
	PVOID second = ExAllocatePoolWithTag(NonPagedPool, 5000, OTHER_TAG);

	(void)state;
	assert_int_equal(before.blocks, 0);
	assert_int_equal(before.allocations, 0);
	now = plx_ex_pool_tag(OTHER_TAG);
	assert_int_equal(now.blocks, 2);
	assert_int_equal(now.bytes, 5100);
	assert_int_equal(now.oldest_bytes, 100);
	assert_non_null(now.oldest_from);
	ExFreePool(first);
	now = plx_ex_pool_tag(OTHER_TAG);
	assert_int_equal(now.blocks, 1);
	assert_int_equal(now.bytes, 5000);
	assert_int_equal(now.bytes_max, 5100);
	assert_int_equal(now.allocations, 2);
	assert_int_equal(now.oldest_bytes, 5000);
	assert_int_equal(plx_ex_pool_left(left, 4), 1);
	assert_int_equal(left[0].tag, OTHER_TAG);
	assert_int_equal(left[0].oldest_bytes, 5000);
	ExFreePool(second);
	assert_int_equal(plx_ex_pool_left(left, 4), 0);
}

static void *
allocate_and_free(void *argument)
{
	const ULONG tag = TAG + (1 << 8);

	for (int i = 0; i < 2000; i++) {
		PVOID memory = ExAllocatePoolWithTag(PagedPool, (SIZE_T)(i % 200), tag);

		assert_non_null(memory);
		ExFreePoolWithTag(memory, tag);
	}
	return argument;
}

static void
threads_may_allocate_at_once(void **state)
{
	pthread_t threads[4];

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		threads[i] = ex_run(allocate_and_free, NULL);
	for (size_t i = 0; i < ARRAYSIZE(threads); i++)
		ex_join(threads[i]);
	assert_int_equal(plx_ex_pool_tag(TAG + (1 << 8)).allocations, 8000);
	assert_int_equal(plx_ex_pool_tag(TAG + (1 << 8)).blocks, 0);
	assert_int_equal(plx_ex_pool_tag(TAG + (1 << 8)).bytes, 0);
}

/* The last: it fills the table. */
static void
tags_beyond_the_table_are_counted_as_one(void **state)
{
	static PVOID blocks[PLX_EX_TAGS_MAX];

	(void)state;
	for (ULONG i = 0; i < PLX_EX_TAGS_MAX; i++)
		blocks[i] = ExAllocatePoolWithTag(PagedPool, 1, i);
	assert_in_range(plx_ex_pool_tag(PLX_EX_TAG_OTHER).blocks, 1, 100);
	assert_int_equal(plx_ex_pool_tag(0).blocks, 1);
	for (ULONG i = 0; i < PLX_EX_TAGS_MAX; i++)
		ExFreePoolWithTag(blocks[i], i);
	assert_int_equal(plx_ex_pool_tag(PLX_EX_TAG_OTHER).blocks, 0);
	assert_int_equal(plx_ex_pool_left(NULL, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_aligned_by_its_size),
		cmocka_unit_test(what_is_not_zeroed_has_a_pattern),
		cmocka_unit_test(flags_that_are_not_allowed_are_refused),
		cmocka_unit_test(parameters_of_a_block_may_be_optional),
		cmocka_unit_test(a_failure_is_null_or_raised),
		cmocka_unit_test(blocks_are_counted_by_tag),
		cmocka_unit_test(threads_may_allocate_at_once),
		cmocka_unit_test(tags_beyond_the_table_are_counted_as_one),
	};

	setenv("POLLUX_DBG", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
