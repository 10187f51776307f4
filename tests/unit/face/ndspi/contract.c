/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The headers against what ND2 is, in C: numbers, sizes, offsets and slots when it is compiled,
 * identifiers and the calls of tables when it runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ndsupport.h>
#include <ntstatus.h>

#include "layouts.h"
#include "numbers.h"
#include "recorder.h"
#include "slots.h"

#define STATUS(name, number) \
	_Static_assert((name) == (HRESULT)(number) && sizeof(name) == 4, #name);
CONTRACT_STATUSES(STATUS)
CONTRACT_OTHER_STATUSES(STATUS)

#define ONE(name, number) +1
_Static_assert(CONTRACT_STATUSES(ONE) == 44, "a status of ND2 is missing");

#define NUMBER(name, number) _Static_assert((uint32_t)(name) == (uint32_t)(number), #name);
CONTRACT_NUMBERS(NUMBER)

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type);
#define AT(type, member, offset) \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member);
CONTRACT_STRUCTS(SIZE, AT)

#define TYPE(type, bytes, sign) \
	_Static_assert(sizeof(type) == (bytes) && ((type)-1 < (type)1) == (sign), #type);
CONTRACT_TYPES(TYPE)

/* "%llx" fits 64 bits, and a DWORD is a ULONG to an overload. */
_Static_assert(_Generic((UINT64)0, unsigned long long : 1, default : 0), "UINT64");
_Static_assert(_Generic((LONGLONG)0, long long : 1, default : 0), "LONGLONG");
_Static_assert(_Generic((DWORD *)0, ULONG * : 1, default : 0), "DWORD");
_Static_assert(_Generic((REFIID)0, const GUID * : 1, default : 0), "REFIID");

#define TABLE(name, slots)                                                     \
	_Static_assert(sizeof(name##Vtbl) == (slots) * sizeof(void *), #name); \
	_Static_assert(offsetof(name, lpVtbl) == 0 && sizeof(name) == sizeof(void *), #name);
CONTRACT_TABLES(TABLE)

#define SLOT(name, method, slot) \
	_Static_assert(offsetof(name##Vtbl, method) == (slot) * sizeof(void *), #name "." #method);
CONTRACT_SLOTS(SLOT)

static void
identifiers_are_those_of_the_contract(void **state)
{
	(void)state;
#define IID_CHECK(name, a, b, c, ...) \
	assert_memory_equal(&IID_##name, (&(GUID){a, b, c, {__VA_ARGS__}}), sizeof(GUID));
	CONTRACT_IIDS(IID_CHECK)
	assert_memory_equal(&GUID_NULL, &(GUID){0}, sizeof(GUID));
	assert_int_equal(IID_IClassFactory.Data1, 1);
	assert_memory_equal(IID_IClassFactory.Data4, IID_IUnknown.Data4, 8);
}

static void
identifiers_are_compared_whole(void **state)
{
	GUID other = IID_IND2Adapter;

	(void)state;
	assert_true(IsEqualGUID(&other, &IID_IND2Adapter));
	other.Data4[7] ^= 1;
	assert_false(IsEqualIID(&other, &IID_IND2Adapter));
}

static void
inline_calls_go_through_the_table(void **state)
{
	void *object = recorder_object();
	ULONG bytes = 0;

	(void)state;
	assert_int_equal(IND2Provider_AddRef(object), 101);
	assert_int_equal(recorder_taken(), 1);
	assert_int_equal(IND2Provider_OpenAdapter(object, &IID_IND2Adapter, 7, NULL), 105);
	assert_int_equal(recorder_taken(), 5);
	assert_int_equal(IND2Adapter_Query(object, NULL, &bytes), 104);
	assert_int_equal(recorder_taken(), 4);
	assert_int_equal(IND2Connector_GetOverlappedResult(object, NULL, TRUE), 104);
	assert_int_equal(recorder_taken(), 4);
	assert_int_equal(IND2Connector_Disconnect(object, NULL), 115);
	assert_int_equal(recorder_taken(), 15);
	assert_int_equal(((IND2QueuePair *)object)->lpVtbl->Write(object, NULL, NULL, 0, 0, 0, 0),
			 109);
	assert_int_equal(recorder_taken(), 9);
	assert_int_equal(recorder_taken(), RECORDER_NONE);
}

static void
failures_are_negative(void **state)
{
	(void)state;
	assert_true(FAILED(ND_BUFFER_OVERFLOW));
	assert_true(FAILED(ND_UNSUCCESSFUL));
	assert_true(SUCCEEDED(ND_PENDING));
	assert_true(SUCCEEDED(ND_TIMEOUT));
	assert_true(SUCCEEDED(ND_SUCCESS));
	assert_int_equal(HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED), E_ACCESSDENIED);
	assert_int_equal(HRESULT_FROM_WIN32(ERROR_SUCCESS), S_OK);
	assert_int_equal(HRESULT_FROM_WIN32((DWORD)E_FAIL), E_FAIL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identifiers_are_those_of_the_contract),
		cmocka_unit_test(identifiers_are_compared_whole),
		cmocka_unit_test(inline_calls_go_through_the_table),
		cmocka_unit_test(failures_are_negative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
