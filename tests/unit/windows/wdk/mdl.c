/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory descriptor lists: layout, page frame numbers, parts. Start with
 * pages_are_counted_from_the_first_byte().
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <wdm.h>

_Static_assert(sizeof(MDL) == 48, "the page frame numbers follow at 48");
_Static_assert(offsetof(MDL, Size) == 8 && offsetof(MDL, MdlFlags) == 10, "shorts");
_Static_assert(offsetof(MDL, Process) == 16 && offsetof(MDL, MappedSystemVa) == 24, "pointers");
_Static_assert(offsetof(MDL, StartVa) == 32, "the first page");
_Static_assert(offsetof(MDL, ByteCount) == 40 && offsetof(MDL, ByteOffset) == 44, "the bytes");

static char *const somewhere = (char *)0x700000001000;

static void
pages_are_counted_from_the_first_byte(void **state)
{
	(void)state;
	assert_int_equal(ADDRESS_AND_SIZE_TO_SPAN_PAGES(somewhere, 0), 0);
	assert_int_equal(ADDRESS_AND_SIZE_TO_SPAN_PAGES(somewhere, PAGE_SIZE), 1);
	assert_int_equal(ADDRESS_AND_SIZE_TO_SPAN_PAGES(somewhere + 1, PAGE_SIZE), 2);
	assert_int_equal(ADDRESS_AND_SIZE_TO_SPAN_PAGES(somewhere + 4095, 2), 2);
	assert_int_equal(BYTES_TO_PAGES(1), 1);
	assert_int_equal(BYTES_TO_PAGES(2 * PAGE_SIZE), 2);
	assert_int_equal(MmSizeOfMdl(somewhere + 1, PAGE_SIZE), 48 + 2 * 8);
}

static void
an_mdl_describes_its_buffer(void **state)
{
	MDL *mdl = IoAllocateMdl(somewhere + 5, 3 * PAGE_SIZE, FALSE, FALSE, NULL);

	(void)state;
	assert_non_null(mdl);
	assert_ptr_equal(MmGetMdlVirtualAddress(mdl), somewhere + 5);
	assert_ptr_equal(MmGetMdlBaseVa(mdl), somewhere);
	assert_int_equal(MmGetMdlByteOffset(mdl), 5);
	assert_int_equal(MmGetMdlByteCount(mdl), 3 * PAGE_SIZE);
	assert_null(mdl->Next);
	assert_null(mdl->MappedSystemVa);
	MmBuildMdlForNonPagedPool(mdl);
	assert_ptr_equal(mdl->MappedSystemVa, somewhere + 5);
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(MmGetMdlPfnArray(mdl)[i], ((uintptr_t)somewhere >> 12) + i);
	IoFreeMdl(mdl);
}

static void
a_part_has_the_pages_of_its_bytes(void **state)
{
	MDL *whole = IoAllocateMdl(somewhere + 5, 3 * PAGE_SIZE, FALSE, FALSE, NULL);
	MDL *part = IoAllocateMdl(somewhere + 5, 3 * PAGE_SIZE, FALSE, FALSE, NULL);

	(void)state;
	MmBuildMdlForNonPagedPool(whole);
	IoBuildPartialMdl(whole, part, somewhere + PAGE_SIZE + 7, PAGE_SIZE);
	assert_ptr_equal(MmGetMdlVirtualAddress(part), somewhere + PAGE_SIZE + 7);
	assert_ptr_equal(part->MappedSystemVa, somewhere + PAGE_SIZE + 7);
	assert_int_equal(MmGetMdlByteCount(part), PAGE_SIZE);
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(MmGetMdlPfnArray(part)[i], MmGetMdlPfnArray(whole)[i + 1]);
	IoBuildPartialMdl(whole, part, somewhere + PAGE_SIZE, 0);
	assert_int_equal(MmGetMdlByteCount(part), 2 * PAGE_SIZE + 5);
	IoFreeMdl(part);
	IoFreeMdl(whole);
}

static void
an_mdl_begins_where_it_was_advanced_to(void **state)
{
	MDL *mdl = IoAllocateMdl(somewhere + 5, 3 * PAGE_SIZE, FALSE, FALSE, NULL);

	(void)state;
	MmBuildMdlForNonPagedPool(mdl);
	assert_int_equal(MmAdvanceMdl(mdl, 3), STATUS_SUCCESS);
	assert_ptr_equal(MmGetMdlVirtualAddress(mdl), somewhere + 8);
	assert_int_equal(MmGetMdlPfnArray(mdl)[0], (uintptr_t)somewhere >> 12);
	assert_int_equal(MmAdvanceMdl(mdl, 2 * PAGE_SIZE), STATUS_SUCCESS);
	assert_ptr_equal(MmGetMdlVirtualAddress(mdl), somewhere + 2 * PAGE_SIZE + 8);
	assert_ptr_equal(mdl->MappedSystemVa, somewhere + 2 * PAGE_SIZE + 8);
	assert_int_equal(MmGetMdlByteCount(mdl), PAGE_SIZE - 3);
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(MmGetMdlPfnArray(mdl)[i], ((uintptr_t)somewhere >> 12) + 2 + i);
	assert_int_equal(MmAdvanceMdl(mdl, PAGE_SIZE - 2), STATUS_INVALID_PARAMETER_2);
	assert_int_equal(MmGetMdlByteCount(mdl), PAGE_SIZE - 3);
	assert_int_equal(MmAdvanceMdl(mdl, PAGE_SIZE - 3), STATUS_SUCCESS);
	assert_int_equal(MmGetMdlByteCount(mdl), 0);
	IoFreeMdl(mdl);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_counted_from_the_first_byte),
		cmocka_unit_test(an_mdl_describes_its_buffer),
		cmocka_unit_test(a_part_has_the_pages_of_its_bytes),
		cmocka_unit_test(an_mdl_begins_where_it_was_advanced_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
