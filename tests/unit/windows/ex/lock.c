/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Locking pages, and probing addresses. Start with locking_finds_the_pages_of_a_buffer().
 */
#include "ex_test.h"

#include <sys/mman.h>

enum {
	PAGES = 4,
};

/* Readable and writable, then only readable, then not there, then readable and writable. */
static char *memory;

static int
setup(void **state)
{
	(void)state;
	memory = mmap(NULL, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	mprotect(memory + PAGE_SIZE, PAGE_SIZE, PROT_READ);
	munmap(memory + 2 * PAGE_SIZE, PAGE_SIZE);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	munmap(memory, PAGES * PAGE_SIZE);
	return 0;
}

static void
locking_finds_the_pages_of_a_buffer(void **state)
{
	PMDL mdl = IoAllocateMdl(memory + 5, 2 * PAGE_SIZE - 5, FALSE, FALSE, NULL);

	(void)state;
	assert_null(MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority));
	EX_RAISES(STATUS_SUCCESS, MmProbeAndLockPages(mdl, KernelMode, IoReadAccess));
	assert_true(mdl->MdlFlags & MDL_PAGES_LOCKED);
	assert_false(mdl->MdlFlags & MDL_WRITE_OPERATION);
	assert_int_equal(MmGetMdlPfnArray(mdl)[0], (uintptr_t)memory >> PAGE_SHIFT);
	assert_int_equal(MmGetMdlPfnArray(mdl)[1], ((uintptr_t)memory >> PAGE_SHIFT) + 1);
	assert_ptr_equal(MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority), memory + 5);
	assert_true(mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA);
	assert_ptr_equal(MmGetSystemAddressForMdl(mdl), memory + 5);
	MmUnlockPages(mdl);
	assert_int_equal(mdl->MdlFlags, 0);
	assert_null(MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority));
	IoFreeMdl(mdl);
	mdl = IoAllocateMdl(memory, PAGE_SIZE, FALSE, FALSE, NULL);
	memory[0] = 77;
	EX_RAISES(STATUS_SUCCESS, MmProbeAndLockPages(mdl, UserMode, IoModifyAccess));
	assert_true(mdl->MdlFlags & MDL_WRITE_OPERATION);
	assert_int_equal(memory[0], 77);
	MmUnlockPages(mdl);
	IoFreeMdl(mdl);
}

static void
a_buffer_that_is_not_all_there_is_not_locked(void **state)
{
	static const struct {
		size_t first, bytes;
		LOCK_OPERATION operation;
	} wrong[] = {
		{PAGE_SIZE, 1, IoWriteAccess},         {PAGE_SIZE - 1, 2, IoModifyAccess},
		{0, 2 * PAGE_SIZE + 1, IoReadAccess},  {2 * PAGE_SIZE + 5, 1, IoReadAccess},
		{2 * PAGE_SIZE + 5, 1, IoWriteAccess}, {3 * PAGE_SIZE - 1, 2, IoReadAccess},
	};

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(wrong); i++) {
		PMDL mdl = IoAllocateMdl(memory + wrong[i].first, (ULONG)wrong[i].bytes, FALSE,
					 FALSE, NULL);

		EX_RAISES(STATUS_ACCESS_VIOLATION,
			  MmProbeAndLockPages(mdl, KernelMode, wrong[i].operation));
		assert_int_equal(mdl->MdlFlags, 0);
		IoFreeMdl(mdl);
	}
}

/* The usual form. */
static NTSTATUS
lock_as_drivers_do(PVOID buffer, ULONG bytes, PMDL *result)
{
	NTSTATUS status = STATUS_SUCCESS;
	PMDL mdl = IoAllocateMdl(buffer, bytes, FALSE, FALSE, NULL);

	if (mdl == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	__try {
		MmProbeAndLockPages(mdl, UserMode, IoWriteAccess);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		status = GetExceptionCode();
		IoFreeMdl(mdl);
		return status;
	}
	*result = mdl;
	return status;
}

static void
the_usual_form_works(void **state)
{
	PMDL mdl = NULL;

	(void)state;
	assert_int_equal(lock_as_drivers_do(memory + 2 * PAGE_SIZE, 1, &mdl),
			 STATUS_ACCESS_VIOLATION);
	assert_null(mdl);
	assert_int_equal(lock_as_drivers_do(memory, 1, &mdl), STATUS_SUCCESS);
	MmUnlockPages(mdl);
	IoFreeMdl(mdl);
}

static void
probes_check_alignment_and_place(void **state)
{
	(void)state;
	EX_RAISES(STATUS_SUCCESS, ProbeForRead(memory + 1, 0, 8));
	EX_RAISES(STATUS_SUCCESS, ProbeForRead(memory + 8, 8, 8));
	EX_RAISES(STATUS_DATATYPE_MISALIGNMENT, ProbeForRead(memory + 4, 8, 8));
	EX_RAISES(STATUS_DATATYPE_MISALIGNMENT, ProbeForWrite(memory + 1, 8, 2));
	/* As on Windows it does not read. */
	EX_RAISES(STATUS_SUCCESS, ProbeForRead(memory + 2 * PAGE_SIZE, 8, 1));
	EX_RAISES(STATUS_ACCESS_VIOLATION, ProbeForRead(memory, (SIZE_T)1 << 47, 1));
	EX_RAISES(STATUS_ACCESS_VIOLATION, ProbeForRead(memory, ~(SIZE_T)0, 1));
	EX_RAISES(STATUS_ACCESS_VIOLATION, ProbeForRead((PVOID)((uintptr_t)1 << 47), 1, 1));
	EX_RAISES(STATUS_SUCCESS, ProbeForWrite(memory + 1, PAGE_SIZE - 1, 1));
	EX_RAISES(STATUS_ACCESS_VIOLATION, ProbeForWrite(memory + 1, PAGE_SIZE, 1));
	EX_RAISES(STATUS_ACCESS_VIOLATION, ProbeForWrite(memory + 2 * PAGE_SIZE, 1, 1));
}

static void
an_address_is_valid_if_it_can_be_read(void **state)
{
	(void)state;
	assert_true(MmIsAddressValid(memory + PAGE_SIZE - 1));
	assert_true(MmIsAddressValid(memory + 2 * PAGE_SIZE - 1));
	assert_false(MmIsAddressValid(memory + 2 * PAGE_SIZE));
	assert_true(MmIsAddressValid(memory + 3 * PAGE_SIZE));
	assert_false(MmIsAddressValid(NULL));
	assert_false(MmIsAddressValid((PVOID) ~(uintptr_t)0));
	assert_int_equal(MmGetPhysicalAddress(memory + 5).QuadPart, memory + 5);
}

static atomic_int stop;

static void *
count_at(void *argument)
{
	_Atomic ULONG *counter = argument;
	static ULONG counted;

	counted = 0;
	while (!atomic_load(&stop)) {
		atomic_fetch_add(counter, 1);
		counted++;
	}
	return &counted;
}

static void
a_probe_loses_no_write_of_another_thread(void **state)
{
	_Atomic ULONG *counter = (_Atomic ULONG *)(void *)memory;
	pthread_t thread = ex_run(count_at, memory);
	void *counted;

	(void)state;
	for (int i = 0; i < 20000; i++)
		ProbeForWrite(memory, 4, 4);
	atomic_store(&stop, 1);
	pthread_join(thread, &counted);
	assert_int_equal(atomic_load(counter), *(ULONG *)counted);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(locking_finds_the_pages_of_a_buffer, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_buffer_that_is_not_all_there_is_not_locked, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_usual_form_works, setup, teardown),
		cmocka_unit_test_setup_teardown(probes_check_alignment_and_place, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_is_valid_if_it_can_be_read, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_probe_loses_no_write_of_another_thread, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
