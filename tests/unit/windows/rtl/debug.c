/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What drivers say: the filter, the length of a message, assertions. Each scene is a process, whose
 * stderr is read. Start with by_default_only_errors_are_written().
 */
#define DBG 1
#include "subprocess.h"

#include <stdlib.h>
#include <string.h>
#include <wdm.h>

static char said[4096];

static int
say_all(void)
{
	UNICODE_STRING s = RTL_CONSTANT_STRING(L"counted");

	DbgPrint("plain %wZ\n", &s);
	KdPrint(("kd %d\n", 1));
	for (ULONG level = 0; level < 5; level++)
		DbgPrintEx((ULONG)DPFLTR_IHVDRIVER_ID, level, "level %u\n", level);
	KdPrintEx(((ULONG)DPFLTR_IHVNETWORK_ID, 0x80000001, "mask %ws\n", L"wide"));
	return 0;
}

static int
say_default(void)
{
	unsetenv("POLLUX_DBGPRINT");
	return say_all();
}

static int
say_everything(void)
{
	setenv("POLLUX_DBGPRINT", "0xffffffff", 1);
	return say_all();
}

static int
say_nothing(void)
{
	setenv("POLLUX_DBGPRINT", "0", 1);
	return say_all();
}

static int
say_much(void)
{
	DbgPrintEx((ULONG)DPFLTR_DEFAULT_ID, DPFLTR_ERROR_LEVEL, "%0600d|", 1);
	return 0;
}

static int
assert_true_things(void)
{
	NT_ASSERT(1 + 1 == 2);
	ASSERT(said[0] == 0);
	return NT_VERIFY(2 > 1) ? 0 : 1;
}

static int
assert_a_lie(void)
{
	NT_ASSERTMSG("numbers lie", 1 + 1 == 3);
	return 0;
}

static int
verify_a_lie(void)
{
	return NT_VERIFY(1 > 2);
}

static const struct scene scenes[] = {
	{"default", say_default}, {"everything", say_everything}, {"nothing", say_nothing},
	{"much", say_much},       {"true", assert_true_things},   {"lie", assert_a_lie},
	{"verify", verify_a_lie},
};

static int
played(const char *name)
{
	memset(said, 0, sizeof(said));
	return scene_run(name, said, sizeof(said));
}

static void
by_default_only_errors_are_written(void **state)
{
	(void)state;
	assert_int_equal(played("default"), 0);
	assert_string_equal(said, "level 0\nmask wide\n");
}

static void
the_environment_sets_the_filter(void **state)
{
	(void)state;
	assert_int_equal(played("everything"), 0);
	assert_string_equal(said, "plain counted\nkd 1\nlevel 0\nlevel 1\nlevel 2\nlevel 3\n"
				  "level 4\nmask wide\n");
	assert_int_equal(played("nothing"), 0);
	assert_string_equal(said, "");
}

static void
a_message_has_512_bytes_at_most(void **state)
{
	(void)state;
	assert_int_equal(played("much"), 0);
	assert_int_equal(strlen(said), 512);
	assert_int_equal(strspn(said, "0"), 512);
}

static void
a_failed_assertion_is_said_and_stops(void **state)
{
	(void)state;
	assert_int_equal(played("true"), 0);
	assert_int_equal(strlen(said), 0);
	assert_int_not_equal(played("lie"), 0);
	assert_non_null(strstr(said, "assertion failed: numbers lie: 1 + 1 == 3 ("));
	assert_non_null(strstr(said, "debug.c:"));
	assert_int_not_equal(played("verify"), 0);
	assert_non_null(strstr(said, "assertion failed: 1 > 2 ("));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_default_only_errors_are_written),
		cmocka_unit_test(the_environment_sets_the_filter),
		cmocka_unit_test(a_message_has_512_bytes_at_most),
		cmocka_unit_test(a_failed_assertion_is_said_and_stops),
	};
	int done = scene_main(argc, argv, scenes, sizeof(scenes) / sizeof(scenes[0]));

	return done >= 0 ? done : cmocka_run_group_tests(tests, NULL, NULL);
}
