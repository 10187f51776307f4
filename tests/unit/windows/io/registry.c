/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registry keys by handles and by paths. Start with a_value_is_told_as_far_as_the_buffer_reaches().
 */
#include "io_rig.h"

#define SERVICE L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\rig"

_Static_assert(offsetof(KEY_VALUE_PARTIAL_INFORMATION, Data) == 12, "as in Windows");
_Static_assert(offsetof(KEY_VALUE_FULL_INFORMATION, Name) == 20, "as in Windows");
_Static_assert(offsetof(KEY_VALUE_BASIC_INFORMATION, Name) == 12, "as in Windows");
_Static_assert(offsetof(KEY_BASIC_INFORMATION, Name) == 16, "as in Windows");
_Static_assert(offsetof(KEY_NODE_INFORMATION, Name) == 24, "as in Windows");
_Static_assert(offsetof(KEY_FULL_INFORMATION, Class) == 44, "as in Windows");
_Static_assert(sizeof(RTL_QUERY_REGISTRY_TABLE) == 56, "as in Windows");

static NTSTATUS
open_path(PHANDLE key, HANDLE root, PCWSTR path, bool is_made)
{
	OBJECT_ATTRIBUTES attributes;
	UNICODE_STRING name;

	RtlInitUnicodeString(&name, path);
	InitializeObjectAttributes(&attributes, &name, OBJ_KERNEL_HANDLE | OBJ_CASE_INSENSITIVE,
				   root, NULL);
	if (is_made)
		return ZwCreateKey(key, KEY_ALL_ACCESS, &attributes, 0, NULL, 0, NULL);
	return ZwOpenKey(key, KEY_READ, &attributes);
}

/* A service's key with a few values. */
static HANDLE
service(void)
{
	ULONG number = 42;
	HANDLE key;

	assert_int_equal(open_path(&key, NULL, SERVICE, true), STATUS_SUCCESS);
	assert_int_equal(
		ZwSetValueKey(key, TEXT_OF(L"Depth"), 0, REG_DWORD, &number, sizeof(number)),
		STATUS_SUCCESS);
	assert_int_equal(ZwSetValueKey(key, TEXT_OF(L"Name"), 0, REG_SZ, L"plx0", 10),
			 STATUS_SUCCESS);
	assert_int_equal(ZwSetValueKey(key, TEXT_OF(L"List"), 0, REG_MULTI_SZ, L"a\0bc\0", 12),
			 STATUS_SUCCESS);
	return key;
}

static void
remove_key(HANDLE key)
{
	assert_int_equal(ZwDeleteKey(key), STATUS_SUCCESS);
	assert_int_equal(ZwClose(key), STATUS_SUCCESS);
}

static void
a_value_is_told_as_far_as_the_buffer_reaches(void **state)
{
	static const struct {
		KEY_VALUE_INFORMATION_CLASS what;
		ULONG fixed, needed;
	} cases[] = {
		{KeyValueBasicInformation, 12, 12 + 8},
		{KeyValueFullInformation, 20, 32 + 10},
		{KeyValuePartialInformation, 12, 12 + 10},
	};
	HANDLE key = service();

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(cases); i++)
		for (ULONG room = 0; room <= cases[i].needed; room++) {
			UCHAR buffer[64];
			ULONG needed = 0;
			NTSTATUS status;

			memset(buffer, 0xee, sizeof(buffer));
			status = ZwQueryValueKey(key, TEXT_OF(L"name"), cases[i].what, buffer, room,
						 &needed);
			assert_int_equal(needed, cases[i].needed);
			assert_int_equal(status, room < cases[i].fixed ? STATUS_BUFFER_TOO_SMALL
						 : room < needed       ? STATUS_BUFFER_OVERFLOW
								       : STATUS_SUCCESS);
			assert_int_equal(buffer[room], 0xee);
			if (room >= cases[i].fixed)
				assert_int_equal(((ULONG *)(void *)buffer)[1], REG_SZ);
		}
	assert_int_equal(ZwQueryValueKey(key, TEXT_OF(L"Nothing"), KeyValuePartialInformation, NULL,
					 0, &(ULONG){0}),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	remove_key(key);
}

static void
a_full_value_says_where_its_data_are(void **state)
{
	_Alignas(8) UCHAR buffer[64];
	KEY_VALUE_FULL_INFORMATION *full = (void *)buffer;
	HANDLE key = service();
	ULONG needed;

	(void)state;
	assert_int_equal(
		ZwEnumerateValueKey(key, 0, KeyValueFullInformation, full, sizeof(buffer), &needed),
		STATUS_SUCCESS);
	assert_int_equal(full->NameLength, 10);
	assert_memory_equal(full->Name, L"Depth", 10);
	assert_int_equal(full->DataLength, 4);
	assert_int_equal(*(ULONG *)(void *)(buffer + full->DataOffset), 42);
	assert_int_equal(
		ZwEnumerateValueKey(key, 3, KeyValueFullInformation, full, sizeof(buffer), &needed),
		STATUS_NO_MORE_ENTRIES);
	remove_key(key);
}

static void
keys_are_listed_and_counted(void **state)
{
	_Alignas(8) UCHAR buffer[256];
	KEY_BASIC_INFORMATION *basic = (void *)buffer;
	KEY_FULL_INFORMATION *full = (void *)buffer;
	KEY_NAME_INFORMATION *name = (void *)buffer;
	HANDLE key = service(), below, other;
	ULONG needed;

	(void)state;
	assert_int_equal(open_path(&other, key, L"Zebra", true), STATUS_SUCCESS);
	assert_int_equal(open_path(&below, key, L"Parameters", true), STATUS_SUCCESS);
	/* sorted by name */
	assert_int_equal(
		ZwEnumerateKey(key, 0, KeyBasicInformation, basic, sizeof(buffer), &needed),
		STATUS_SUCCESS);
	assert_int_equal(basic->NameLength, 20);
	assert_memory_equal(basic->Name, L"Parameters", 20);
	assert_int_equal(needed, 16 + 20);
	assert_int_equal(ZwEnumerateKey(key, 0, KeyBasicInformation, basic, 15, &needed),
			 STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(ZwEnumerateKey(key, 0, KeyBasicInformation, basic, 16, &needed),
			 STATUS_BUFFER_OVERFLOW);
	assert_int_equal(
		ZwEnumerateKey(key, 2, KeyBasicInformation, basic, sizeof(buffer), &needed),
		STATUS_NO_MORE_ENTRIES);
	assert_int_equal(ZwQueryKey(key, KeyFullInformation, full, sizeof(buffer), &needed),
			 STATUS_SUCCESS);
	assert_int_equal(full->SubKeys, 2);
	assert_int_equal(full->MaxNameLen, 20);
	assert_int_equal(full->Values, 3);
	assert_int_equal(full->MaxValueNameLen, 10);
	assert_int_equal(full->MaxValueDataLen, 12);
	assert_int_equal(full->ClassOffset, (ULONG)-1);
	assert_int_equal(ZwQueryKey(below, KeyNameInformation, name, sizeof(buffer), &needed),
			 STATUS_SUCCESS);
	assert_int_equal(name->NameLength, sizeof(SERVICE L"\\Parameters") - sizeof(WCHAR));
	assert_memory_equal(name->Name, L"\\REGISTRY\\Machine", 34);
	assert_int_equal(ZwDeleteKey(key), STATUS_CANNOT_DELETE);
	remove_key(below);
	remove_key(other);
	remove_key(key);
}

static void
a_deleted_key_answers_nothing(void **state)
{
	HANDLE key = service(), again;
	ULONG needed;

	(void)state;
	assert_int_equal(open_path(&again, NULL, SERVICE, false), STATUS_SUCCESS);
	remove_key(key);
	assert_int_equal(ZwQueryKey(again, KeyBasicInformation, NULL, 0, &needed),
			 STATUS_KEY_DELETED);
	assert_int_equal(ZwSetValueKey(again, TEXT_OF(L"x"), 0, REG_BINARY, NULL, 0),
			 STATUS_KEY_DELETED);
	assert_int_equal(ZwClose(again), STATUS_SUCCESS);
	assert_int_equal(ZwQueryKey(again, KeyBasicInformation, NULL, 0, &needed),
			 STATUS_INVALID_HANDLE);
	assert_int_equal(open_path(&again, NULL, SERVICE, false), STATUS_OBJECT_NAME_NOT_FOUND);
}

static void
a_key_is_made_below_one_that_exists(void **state)
{
	UNICODE_STRING path = RTL_CONSTANT_STRING(SERVICE);
	HANDLE key, below;
	OBJECT_ATTRIBUTES attributes;
	ULONG disposition;

	(void)state;
	assert_int_equal(open_path(&key, NULL, SERVICE L"\\a\\b", true),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	assert_int_equal(open_path(&key, NULL, L"rig", true), STATUS_OBJECT_PATH_SYNTAX_BAD);
	assert_int_equal(open_path(&key, NULL, SERVICE L"\\\\b", true),
			 STATUS_OBJECT_PATH_SYNTAX_BAD);
	InitializeObjectAttributes(&attributes, &path, 0, NULL, NULL);
	assert_int_equal(ZwCreateKey(&key, KEY_READ, &attributes, 0, NULL, REG_OPTION_VOLATILE,
				     &disposition),
			 STATUS_SUCCESS);
	assert_int_equal(disposition, REG_CREATED_NEW_KEY);
	assert_int_equal(open_path(&below, key, L"Kept", true), STATUS_CHILD_MUST_BE_VOLATILE);
	assert_int_equal(ZwCreateKey(&below, KEY_READ, &attributes, 0, NULL, 0, &disposition),
			 STATUS_SUCCESS);
	assert_int_equal(disposition, REG_OPENED_EXISTING_KEY);
	assert_int_equal(ZwClose(below), STATUS_SUCCESS);
	remove_key(key);
}

static void
a_value_is_deleted_by_its_name(void **state)
{
	HANDLE key = service();

	(void)state;
	assert_int_equal(ZwDeleteValueKey(key, TEXT_OF(L"DEPTH")), STATUS_SUCCESS);
	assert_int_equal(ZwDeleteValueKey(key, TEXT_OF(L"DEPTH")), STATUS_OBJECT_NAME_NOT_FOUND);
	remove_key(key);
}

static void
a_driver_finds_its_parameters(void **state)
{
	HANDLE key = service(), parameters, again;
	struct rig rig;

	(void)state;
	rig_open(&rig, NULL, NULL);
	assert_int_equal(IoOpenDriverRegistryKey(rig.driver, DriverRegKeyParameters, KEY_ALL_ACCESS,
						 0, &parameters),
			 STATUS_SUCCESS);
	assert_int_equal(open_path(&again, key, L"parameters", false), STATUS_SUCCESS);
	assert_int_equal(
		IoOpenDriverRegistryKey(rig.driver, DriverRegKeyParameters, KEY_READ, 1, &again),
		STATUS_INVALID_PARAMETER);
	assert_int_equal(ZwClose(again), STATUS_SUCCESS);
	remove_key(parameters);
	remove_key(key);
	rig_close(&rig);
}

/* ---- by paths ---- */

static WCHAR got[64];
static ULONG calls, last_type, last_bytes;

static NTSTATUS
gather(PWSTR name, ULONG type, PVOID data, ULONG bytes, PVOID context, PVOID entry)
{
	assert_ptr_equal(context, &calls);
	assert_ptr_equal(entry, &last_type);
	(void)name;
	calls++;
	last_type = type;
	last_bytes = bytes;
	if (bytes > 0 && bytes < sizeof(got))
		memcpy(got, data, bytes);
	return STATUS_SUCCESS;
}

static NTSTATUS
query(PRTL_QUERY_REGISTRY_TABLE entry, PVOID environment)
{
	RTL_QUERY_REGISTRY_TABLE table[2] = {*entry};

	calls = 0;
	memset(got, 0, sizeof(got));
	return RtlQueryRegistryValues(RTL_REGISTRY_SERVICES, L"rig", table, &calls, environment);
}

static void
a_routine_gets_each_value(void **state)
{
	RTL_QUERY_REGISTRY_TABLE entry = {.QueryRoutine = gather, .EntryContext = &last_type};
	HANDLE key = service();

	(void)state;
	/* all of them, the texts of a list one by one */
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_int_equal(calls, 4);
	entry.Flags = RTL_QUERY_REGISTRY_NOEXPAND;
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_int_equal(calls, 3);
	assert_int_equal(last_type, REG_MULTI_SZ);
	assert_int_equal(last_bytes, 12);
	entry.Flags = RTL_QUERY_REGISTRY_NOVALUE;
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_int_equal(calls, 1);
	assert_int_equal(last_type, REG_NONE);
	entry.Flags = RTL_QUERY_REGISTRY_REQUIRED;
	entry.Name = L"Depth";
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_int_equal(calls, 1);
	assert_int_equal(last_type, REG_DWORD);
	entry.Name = L"Nothing";
	assert_int_equal(query(&entry, NULL), STATUS_OBJECT_NAME_NOT_FOUND);
	entry.Flags = 0;
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_int_equal(calls, 0);
	entry.DefaultType = REG_SZ;
	entry.DefaultData = L"else";
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_int_equal(calls, 1);
	assert_memory_equal(got, L"else", 10);
	remove_key(key);
}

static void
a_value_is_stored_where_the_entry_says(void **state)
{
	struct {
		LONG head;
		ULONG type;
		UCHAR data[8];
	} large = {.head = 16};
	WCHAR room[4];
	UNICODE_STRING text = {0, 0, NULL}, small = {0, sizeof(room), room};
	ULONG number = 0;
	RTL_QUERY_REGISTRY_TABLE entry = {
		.Flags = RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK,
		.Name = L"Depth",
		.EntryContext = &number,
		.DefaultType = REG_DWORD << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT | REG_NONE,
	};
	HANDLE key = service();

	(void)state;
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_int_equal(number, 42);
	entry.DefaultType = REG_SZ << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT;
	assert_int_equal(query(&entry, NULL), STATUS_OBJECT_TYPE_MISMATCH);
	entry.Name = L"Name";
	entry.EntryContext = &text;
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_int_equal(text.Length, 8);
	assert_memory_equal(text.Buffer, L"plx0", 10);
	RtlFreeUnicodeString(&text);
	entry.EntryContext = &small;
	assert_int_equal(query(&entry, NULL), STATUS_BUFFER_TOO_SMALL);
	entry.Flags = RTL_QUERY_REGISTRY_DIRECT;
	entry.Name = L"List";
	assert_int_equal(query(&entry, NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(ZwSetValueKey(key, TEXT_OF(L"Wide"), 0, REG_QWORD, "12345678", 8),
			 STATUS_SUCCESS);
	entry.Name = L"Wide";
	entry.EntryContext = &large;
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_int_equal(large.head, 8);
	assert_int_equal(large.type, REG_QWORD);
	assert_memory_equal(large.data, "12345678", 8);
	large.head = -8;
	assert_int_equal(query(&entry, NULL), STATUS_SUCCESS);
	assert_memory_equal(&large, "12345678", 8);
	large.head = 15;
	assert_int_equal(query(&entry, NULL), STATUS_BUFFER_TOO_SMALL);
	assert_int_equal(large.head, 15);
	entry.QueryRoutine = gather;
	assert_int_equal(query(&entry, NULL), STATUS_INVALID_PARAMETER);
	remove_key(key);
}

static void
variables_are_replaced_by_the_environment(void **state)
{
	static WCHAR environment[] = L"Root=C:\\Windows\0Empty=\0";
	RTL_QUERY_REGISTRY_TABLE entry = {
		.QueryRoutine = gather, .Name = L"Path", .EntryContext = &last_type};
	HANDLE key = service();

	(void)state;
	assert_int_equal(ZwSetValueKey(key, TEXT_OF(L"Path"), 0, REG_EXPAND_SZ,
				       L"%ROOT%\\%empty%x%other%", 46),
			 STATUS_SUCCESS);
	assert_int_equal(query(&entry, environment), STATUS_SUCCESS);
	assert_int_equal(last_type, REG_SZ);
	assert_memory_equal(got, L"C:\\Windows\\x%other%", 40);
	assert_int_equal(last_bytes, 40);
	entry.Flags = RTL_QUERY_REGISTRY_NOEXPAND;
	assert_int_equal(query(&entry, environment), STATUS_SUCCESS);
	assert_int_equal(last_type, REG_EXPAND_SZ);
	remove_key(key);
}

static void
a_table_goes_down_and_up_again(void **state)
{
	ULONG below = 0, top = 0;
	RTL_QUERY_REGISTRY_TABLE table[] = {
		{.Flags = RTL_QUERY_REGISTRY_SUBKEY, .Name = L"Parameters"},
		{.Flags = RTL_QUERY_REGISTRY_DIRECT, .Name = L"Depth", .EntryContext = &below},
		{.Flags = RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TOPKEY |
			  RTL_QUERY_REGISTRY_DELETE,
		 .Name = L"Depth",
		 .EntryContext = &top},
		{.QueryRoutine = NULL},
	};
	HANDLE key = service(), parameters;
	ULONG number = 7;

	(void)state;
	assert_int_equal(open_path(&parameters, key, L"Parameters", true), STATUS_SUCCESS);
	assert_int_equal(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"rig\\Parameters", L"Depth",
					       REG_DWORD, &number, sizeof(number)),
			 STATUS_SUCCESS);
	assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_ABSOLUTE, SERVICE, table, NULL, NULL),
			 STATUS_SUCCESS);
	assert_int_equal(below, 7);
	assert_int_equal(top, 42);
	assert_int_equal(RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, L"rig", L"Depth"),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	assert_int_equal(RtlCheckRegistryKey(RTL_REGISTRY_HANDLE, (PWSTR)parameters),
			 STATUS_SUCCESS);
	remove_key(parameters);
	assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_ABSOLUTE, SERVICE, table, NULL, NULL),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	remove_key(key);
}

static void
a_path_is_checked_and_created(void **state)
{
	RTL_QUERY_REGISTRY_TABLE none = {.QueryRoutine = NULL};
	HANDLE key;

	(void)state;
	assert_int_equal(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, L"rig"),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_SERVICES, L"rig", &none, NULL, NULL),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	assert_int_equal(RtlQueryRegistryValues(RTL_REGISTRY_SERVICES | RTL_REGISTRY_OPTIONAL,
						L"rig", &none, NULL, NULL),
			 STATUS_SUCCESS);
	assert_int_equal(RtlCreateRegistryKey(RTL_REGISTRY_SERVICES, L"rig"), STATUS_SUCCESS);
	assert_int_equal(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, L"RIG"), STATUS_SUCCESS);
	assert_int_equal(RtlCreateRegistryKey(6, L"rig"), STATUS_INVALID_PARAMETER);
	assert_int_equal(open_path(&key, NULL, SERVICE, false), STATUS_SUCCESS);
	remove_key(key);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_told_as_far_as_the_buffer_reaches),
		cmocka_unit_test(a_full_value_says_where_its_data_are),
		cmocka_unit_test(keys_are_listed_and_counted),
		cmocka_unit_test(a_deleted_key_answers_nothing),
		cmocka_unit_test(a_key_is_made_below_one_that_exists),
		cmocka_unit_test(a_value_is_deleted_by_its_name),
		cmocka_unit_test(a_driver_finds_its_parameters),
		cmocka_unit_test(a_routine_gets_each_value),
		cmocka_unit_test(a_value_is_stored_where_the_entry_says),
		cmocka_unit_test(variables_are_replaced_by_the_environment),
		cmocka_unit_test(a_table_goes_down_and_up_again),
		cmocka_unit_test(a_path_is_checked_and_created),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
