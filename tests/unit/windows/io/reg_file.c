/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registry files, as people and regedit write them. Start with a_file_of_regedit_is_read().
 */
#include "io_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERVICES "HKEY_LOCAL_MACHINE\\System\\CurrentControlSet\\Services"
#define HEADER   "Windows Registry Editor Version 5.00\r\n\r\n"

static char path[64];

static int
begin(void **state)
{
	char folder[] = "reg_file.XXXXXX";

	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/file.reg", folder);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	unlink(path);
	*strrchr(path, '/') = '\0';
	return rmdir(path);
}

static void
write_file(const void *bytes, size_t n)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

static void
read_file(const char *text)
{
	struct plx_why why;

	write_file(text, strlen(text));
	if (!plx_driver_registry_read(path, &why))
		fail_msg("%s", why.text);
}

/* The value of a service, and whether it is as it should be. */
static void
assert_value(PCWSTR service, PCWSTR name, ULONG type, const void *data, ULONG bytes)
{
	_Alignas(8) UCHAR buffer[256];
	KEY_VALUE_PARTIAL_INFORMATION *value = (void *)buffer;
	WCHAR room[256];
	UNICODE_STRING whole = {0, sizeof(room), room}, text;
	OBJECT_ATTRIBUTES attributes;
	HANDLE key;
	ULONG needed;

	(void)RtlAppendUnicodeToString(
		&whole, L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\");
	(void)RtlAppendUnicodeToString(&whole, service);
	InitializeObjectAttributes(&attributes, &whole, OBJ_KERNEL_HANDLE, NULL, NULL);
	assert_int_equal(ZwOpenKey(&key, KEY_READ, &attributes), STATUS_SUCCESS);
	RtlInitUnicodeString(&text, name);
	assert_int_equal(ZwQueryValueKey(key, &text, KeyValuePartialInformation, buffer,
					 sizeof(buffer), &needed),
			 STATUS_SUCCESS);
	assert_int_equal(value->Type, type);
	assert_int_equal(value->DataLength, bytes);
	if (bytes > 0)
		assert_memory_equal(value->Data, data, bytes);
	assert_int_equal(ZwClose(key), STATUS_SUCCESS);
}

static void
a_file_of_regedit_is_read(void **state)
{
	(void)state;
	read_file(HEADER "; a comment\r\n"
			 "[" SERVICES "\\reg]\r\n"
			 "@=\"no name\"\r\n"
			 "\"Number\"=dword:0000002a\r\n"
			 "  \"Text\" = \"a \\\"b\\\" \\\\c\"  \r\n"
			 "\"\\\"q\\\"\"=\"x\"\r\n"
			 "\"Bytes\"=hex:01,02,\\\r\n"
			 "  0a,ff\r\n"
			 "\"None\"=hex(0):\r\n"
			 "\"List\"=hex(7):61,00,00,00,00,00\r\n"
			 "\"Wide\"=hex(b):01,00,00,00,00,00,00,00\r\n"
			 "[" SERVICES "\\reg\\Parameters]\r\n"
			 "\"Name\"=\"plx0\"\r\n");
	assert_value(L"reg", L"", REG_SZ, L"no name", 16);
	assert_value(L"reg", L"Number", REG_DWORD, "\x2a\0\0", 4);
	assert_value(L"reg", L"Text", REG_SZ, L"a \"b\" \\c", 18);
	assert_value(L"reg", L"\"q\"", REG_SZ, L"x", 4);
	assert_value(L"reg", L"Bytes", REG_BINARY, "\x01\x02\x0a\xff", 4);
	assert_value(L"reg", L"None", REG_NONE, NULL, 0);
	assert_value(L"reg", L"List", REG_MULTI_SZ, L"a\0", 6);
	assert_value(L"reg", L"Wide", REG_QWORD, "\x01\0\0\0\0\0\0", 8);
	assert_value(L"reg\\Parameters", L"Name", REG_SZ, L"plx0", 10);
}

static void
utf_16_and_utf_8_mean_the_same(void **state)
{
	static const char utf8[] = "\xef\xbb\xbf" HEADER "[" SERVICES "\\utf]\r\n"
				   "\"\xc3\xa4\"=\"\xe2\x82\xac\"\r\n";
	static const WCHAR utf16[] = L"\xfeffWindows Registry Editor Version 5.00\r\n\r\n"
				     L"[HKEY_LOCAL_MACHINE\\System\\CurrentControlSet\\Services\\"
				     L"utf]\r\n\"\x00e4\"=\"\x20ac\x20ac\"\r\n";
	struct plx_why why;

	(void)state;
	read_file(utf8);
	assert_value(L"utf", L"\x00e4", REG_SZ, L"\x20ac", 4);
	write_file(utf16, sizeof(utf16) - sizeof(WCHAR));
	assert_true(plx_driver_registry_read(path, &why));
	assert_value(L"utf", L"\x00c4", REG_SZ, L"\x20ac\x20ac", 6);
}

static void
keys_and_values_are_removed_by_a_minus(void **state)
{
	(void)state;
	read_file(HEADER "[" SERVICES "\\gone\\deep\\er]\n\"a\"=dword:1\n[" SERVICES
			 "\\stays]\n\"a\"=dword:1\n\"b\"=dword:2\n");
	read_file(HEADER "[-" SERVICES "\\gone]\n[-" SERVICES "\\never]\n[" SERVICES
			 "\\stays]\n\"a\"=-\n\"c\"=-\n");
	assert_value(L"stays", L"b", REG_DWORD, "\x02\0\0", 4);
	assert_int_equal(RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, L"stays", L"a"),
			 STATUS_OBJECT_NAME_NOT_FOUND);
	assert_int_equal(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, L"gone"),
			 STATUS_OBJECT_NAME_NOT_FOUND);
}

static void
a_file_with_a_fault_changes_nothing_and_names_its_line(void **state)
{
	static const struct {
		const char *line, *sentence;
	} cases[] = {
		{"\"a\"=dword:123456789", ":5: dword:123456789 is no number"},
		{"\"a\"=dword:", "is no number"},
		{"\"a\"=\"b", "has no closing quote"},
		{"\"a\"=\"b\" c", "goes on behind"},
		{"\"a\"=hex:1,2,x", "has something else than bytes"},
		{"\"a\"=hex:1 2", "without a comma"},
		{"\"a\"=hex:123", "has something else"},
		{"\"a\"=hex(z):1", "is neither"},
		{"\"a\"=word", "is neither"},
		{"\"a\"", "without \"=\""},
		{"\"a=1", "has no closing quote"},
		{"a=1", "is neither a key"},
		{"[" SERVICES "\\x", "no closing bracket"},
		{"[HKEY_CURRENT_USER\\x]", "is below neither"},
		{"[HKEY_LOCAL_MACHINES\\x]", "is below neither"},
		{"[-" SERVICES "\\x]\n\"a\"=dword:1", ":6: \"a\"=dword:1 stands below no key"},
	};
	struct plx_why why;
	char text[512];

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(cases); i++) {
		snprintf(text, sizeof(text), HEADER "[" SERVICES "\\bad]\n\"first\"=dword:1\n%s\n",
			 cases[i].line);
		write_file(text, strlen(text));
		assert_false(plx_driver_registry_read(path, &why));
		assert_non_null(strstr(why.text, "file.reg"));
		if (strstr(why.text, cases[i].sentence) == NULL)
			fail_msg("%s", why.text);
		assert_int_equal(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, L"bad"),
				 STATUS_OBJECT_NAME_NOT_FOUND);
	}
}

static void
what_is_no_registry_file_is_refused(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"", "its first line is not"},
		{"REGEDIT4\n", "its first line is not"},
		{HEADER "\"a\"=dword:1\n", "stands below no key"},
		{HEADER "\xff\n", "neither UTF-8 nor UTF-16"},
		{"\xfe\xff\n", "the high byte first"},
	};
	struct plx_why why;

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(cases); i++) {
		write_file(cases[i].text, strlen(cases[i].text));
		assert_false(plx_driver_registry_read(path, &why));
		if (strstr(why.text, cases[i].sentence) == NULL)
			fail_msg("%s", why.text);
	}
	assert_int_equal(chmod(path, 0666), 0);
	assert_false(plx_driver_registry_read(path, &why));
	assert_non_null(strstr(why.text, "lets others than its owner write"));
	assert_int_equal(unlink(path), 0);
	assert_false(plx_driver_registry_read(path, &why));
	write_file("", 0);
}

static void
what_is_written_is_read_again(void **state)
{
	static const char marked[] = "[" SERVICES "\\written]\n";
	UNICODE_STRING kept_in_memory = RTL_CONSTANT_STRING(
		L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\volatile");
	ULONG number = 7;
	struct plx_why why;
	OBJECT_ATTRIBUTES attributes;
	HANDLE key;

	(void)state;
	read_file(HEADER "[" SERVICES "\\written]\n");
	assert_int_equal(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"written", L"n\\\"\x20ac",
					       REG_DWORD, &number, sizeof(number)),
			 STATUS_SUCCESS);
	assert_int_equal(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"written", L"text", REG_SZ,
					       L"\xd83d\xde00 \\\"", 12),
			 STATUS_SUCCESS);
	assert_int_equal(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"written", L"open", REG_SZ,
					       L"no end", 12),
			 STATUS_SUCCESS);
	assert_int_equal(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"written", NULL, REG_BINARY,
					       "0123456789012345678901234567890", 31),
			 STATUS_SUCCESS);
	InitializeObjectAttributes(&attributes, &kept_in_memory, 0, NULL, NULL);
	assert_int_equal(
		ZwCreateKey(&key, KEY_READ, &attributes, 0, NULL, REG_OPTION_VOLATILE, NULL),
		STATUS_SUCCESS);
	assert_true(plx_driver_registry_write(path, &why));
	assert_int_equal(ZwDeleteKey(key), STATUS_SUCCESS);
	assert_int_equal(ZwClose(key), STATUS_SUCCESS);
	{
		FILE *file = fopen(path, "r");
		char *text = calloc(1, 65536);

		assert_non_null(file);
		assert_true(fread(text, 1, 65535, file) > 0);
		fclose(file);
		assert_non_null(strstr(text, marked));
		assert_null(strstr(text, "volatile"));
		read_file(HEADER "[-" SERVICES "\\written]\n");
		read_file(text);
		free(text);
	}
	assert_value(L"written", L"n\\\"\x20ac", REG_DWORD, &number, 4);
	assert_value(L"written", L"text", REG_SZ, L"\xd83d\xde00 \\\"", 12);
	assert_value(L"written", L"open", REG_SZ, L"no end", 12);
	assert_value(L"written", L"", REG_BINARY, "0123456789012345678901234567890", 31);
}

static void
a_setting_is_a_number_a_text_or_what_a_file_has(void **state)
{
	struct plx_why why;

	(void)state;
	assert_true(plx_driver_registry_set("set", "A=42", &why));
	assert_true(plx_driver_registry_set("set", "Parameters\\B=0x100000000", &why));
	assert_true(plx_driver_registry_set("set", "C=plx0=x", &why));
	assert_true(plx_driver_registry_set("set", "D=\"7\"", &why));
	assert_true(plx_driver_registry_set("set", "E=hex:01", &why));
	assert_value(L"set", L"A", REG_DWORD, "\x2a\0\0", 4);
	assert_value(L"set\\Parameters", L"B", REG_QWORD, "\0\0\0\0\x01\0\0", 8);
	assert_value(L"set", L"C", REG_SZ, L"plx0=x", 14);
	assert_value(L"set", L"D", REG_SZ, L"7", 4);
	assert_value(L"set", L"E", REG_BINARY, "\x01", 1);
	assert_false(plx_driver_registry_set("set", "A", &why));
	assert_false(plx_driver_registry_set("set", "=1", &why));
	assert_false(plx_driver_registry_set("set", "A=dword:x", &why));
	assert_non_null(strstr(why.text, "\"A=dword:x\" is no number"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_regedit_is_read),
		cmocka_unit_test(utf_16_and_utf_8_mean_the_same),
		cmocka_unit_test(keys_and_values_are_removed_by_a_minus),
		cmocka_unit_test(a_file_with_a_fault_changes_nothing_and_names_its_line),
		cmocka_unit_test(what_is_no_registry_file_is_refused),
		cmocka_unit_test(what_is_written_is_read_again),
		cmocka_unit_test(a_setting_is_a_number_a_text_or_what_a_file_has),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
