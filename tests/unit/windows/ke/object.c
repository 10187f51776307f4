/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counted objects and handles of a kind of the test's own. Start with
 * an_object_goes_with_its_last_hold().
 */
#include "ke_test.h"

static int closed, destroyed;

static void
note_closed(PVOID object)
{
	(void)object;
	closed++;
}

static void
note_destroyed(PVOID object)
{
	assert_int_equal(*(int *)object, 7);
	destroyed++;
}

static struct _OBJECT_TYPE kind = {
	.name = "thing",
	.closed = note_closed,
	.destroy = note_destroyed,
};
static struct _OBJECT_TYPE plain = {.name = "plain thing"};

static void
an_object_goes_with_its_last_hold(void **state)
{
	HANDLE first, second;
	int *object = plx_ke_object_create(&kind, sizeof(*object));

	(void)state;
	assert_non_null(object);
	assert_int_equal((uintptr_t)object % 16, 0);
	assert_int_equal(*object, 0);
	*object = 7;
	closed = destroyed = 0;
	assert_ptr_equal(plx_ke_object_type(object), &kind);
	assert_int_equal(ObReferenceObject(object), 2);
	assert_int_equal(plx_ke_handle_open(object, SYNCHRONIZE, &first), STATUS_SUCCESS);
	assert_int_equal(ObOpenObjectByPointer(object, OBJ_KERNEL_HANDLE, NULL, READ_CONTROL, &kind,
					       KernelMode, &second),
			 STATUS_SUCCESS);
	assert_int_equal(plx_ke_left().handles, 2);
	assert_ptr_not_equal(first, second);
	assert_int_equal(ObDereferenceObject(object), 3);
	assert_int_equal(ZwClose(first), STATUS_SUCCESS);
	assert_int_equal(closed, 0);
	assert_int_equal(ObCloseHandle(second, KernelMode), STATUS_SUCCESS);
	assert_int_equal(closed, 1);
	assert_int_equal(destroyed, 0);
	ObDereferenceObjectDeferDelete(object);
	assert_int_equal(destroyed, 1);
	assert_int_equal(plx_ke_left().handles, 0);
}

static void
a_handle_gives_its_object_if_the_type_fits(void **state)
{
	OBJECT_HANDLE_INFORMATION information;
	PVOID object = plx_ke_object_create(&plain, 1), found;
	HANDLE handle;

	(void)state;
	assert_int_equal(plx_ke_handle_open(object, SYNCHRONIZE, &handle), STATUS_SUCCESS);
	assert_int_equal(
		ObReferenceObjectByHandle(handle, 0, NULL, KernelMode, &found, &information),
		STATUS_SUCCESS);
	assert_ptr_equal(found, object);
	assert_int_equal(information.GrantedAccess, SYNCHRONIZE);
	assert_int_equal(ObDereferenceObject(found), 2);
	assert_int_equal(ObReferenceObjectByHandle(handle, 0, &plain, UserMode, &found, NULL),
			 STATUS_SUCCESS);
	ObDereferenceObject(found);
	assert_int_equal(
		ObReferenceObjectByHandle(handle, 0, *PsThreadType, KernelMode, &found, NULL),
		STATUS_OBJECT_TYPE_MISMATCH);
	assert_null(found);
	assert_int_equal(ObReferenceObjectByPointer(object, 0, &kind, KernelMode),
			 STATUS_OBJECT_TYPE_MISMATCH);
	assert_int_equal(ObOpenObjectByPointer(object, 0, NULL, 0, &kind, KernelMode, &found),
			 STATUS_OBJECT_TYPE_MISMATCH);
	assert_int_equal(ObReferenceObjectByPointer(object, 0, &plain, KernelMode), STATUS_SUCCESS);
	assert_int_equal(ObDereferenceObject(object), 2);
	ZwClose(handle);
	assert_int_equal(ObDereferenceObject(object), 0);
}

static void
what_is_no_handle_is_refused(void **state)
{
	PVOID object = plx_ke_object_create(&plain, 1), found;
	HANDLE handle, again;

	(void)state;
	plx_ke_handle_open(object, 0, &handle);
	ZwClose(handle);
	/* The slot is another handle's now. */
	plx_ke_handle_open(object, 0, &again);
	assert_int_equal(ZwClose(handle), STATUS_INVALID_HANDLE);
	assert_int_equal(ObReferenceObjectByHandle(handle, 0, NULL, KernelMode, &found, NULL),
			 STATUS_INVALID_HANDLE);
	assert_int_equal(ZwClose(again), STATUS_SUCCESS);
	assert_int_equal(ZwClose(NULL), STATUS_INVALID_HANDLE);
	assert_int_equal(ZwClose(INVALID_HANDLE_VALUE), STATUS_INVALID_HANDLE);
	assert_int_equal(ZwClose(&found), STATUS_INVALID_HANDLE);
	assert_int_equal(ObDereferenceObject(object), 0);
}

static void
handles_end_at_their_limit_and_come_back(void **state)
{
	HANDLE *handles = calloc(PLX_KE_HANDLES_MAX, sizeof(*handles)), extra;
	PVOID object = plx_ke_object_create(&plain, 1);

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < PLX_KE_HANDLES_MAX; i++)
			assert_int_equal(plx_ke_handle_open(object, 0, &handles[i]),
					 STATUS_SUCCESS);
		assert_int_equal(plx_ke_handle_open(object, 0, &extra),
				 STATUS_INSUFFICIENT_RESOURCES);
		for (int i = 0; i < PLX_KE_HANDLES_MAX; i++)
			assert_int_equal(ZwClose(handles[i]), STATUS_SUCCESS);
	}
	assert_int_equal(ObDereferenceObject(object), 0);
	free(handles);
}

static void
thread_and_process_have_handles_that_nobody_opens(void **state)
{
	PVOID found;

	(void)state;
	assert_int_equal(ObReferenceObjectByHandle(ZwCurrentThread(), 0, *PsThreadType, KernelMode,
						   &found, NULL),
			 STATUS_SUCCESS);
	assert_ptr_equal(found, KeGetCurrentThread());
	ObDereferenceObject(found);
	assert_int_equal(ObReferenceObjectByHandle(ZwCurrentProcess(), 0, *PsProcessType,
						   KernelMode, &found, NULL),
			 STATUS_SUCCESS);
	assert_ptr_equal(found, PsGetCurrentProcess());
	assert_ptr_equal(found, PsInitialSystemProcess);
	assert_int_equal(ke_wait_ms(found, 0), STATUS_TIMEOUT);
	ObDereferenceObject(found);
	assert_int_equal(plx_ke_left().handles, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_goes_with_its_last_hold),
		cmocka_unit_test(a_handle_gives_its_object_if_the_type_fits),
		cmocka_unit_test(what_is_no_handle_is_refused),
		cmocka_unit_test(handles_end_at_their_limit_and_come_back),
		cmocka_unit_test(thread_and_process_have_handles_that_nobody_opens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
