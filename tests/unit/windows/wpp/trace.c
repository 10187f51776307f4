/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of traces: what each type of WPP says, and what other directives take. Only errors are
 * printed here (POLLUX_DBGPRINT), and stderr is a pipe while a message is printed. Start with
 * each_type_is_said_in_words().
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <plx_wpp.h>
#include <ntstrsafe.h>
#include <wdmke.h>

static char said[2000];
static const struct PLX_WPP_CUSTOM *customs;
static int pipes[2], kept;

/* Between the two, what is written to stderr goes to `said`. */
static void
listen_to_stderr(void)
{
	assert_int_equal(pipe(pipes), 0);
	kept = dup(STDERR_FILENO);
	assert_true(kept >= 0 && dup2(pipes[1], STDERR_FILENO) >= 0);
	close(pipes[1]);
}

static void
hear(void)
{
	ssize_t got;
	size_t used = 0;

	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	close(kept);
	while ((got = read(pipes[0], said + used, sizeof(said) - 1 - used)) > 0)
		used += (size_t)got;
	close(pipes[0]);
	said[used] = '\0';
}

#define TRACE(level, ...)                                                             \
	do {                                                                          \
		listen_to_stderr();                                                   \
		PlxWppTrace(&plx_wpp_control, customs, level, "FLAG", "part", "call", \
			    "a/b/file.c", 7, __VA_ARGS__);                            \
		hear();                                                               \
	} while (0)
#define SAYS(expected, ...)                               \
	do {                                              \
		TRACE("1", __VA_ARGS__);                  \
		assert_string_equal(said, expected "\n"); \
	} while (0)

/* Types of a driver: names, bits, and memory of a record and behind a pointer. */
struct bytes {
	USHORT length;
	const void *at;
};

static ULONG
pairs_of_bytes(struct PLX_WPP_PAIR *pairs, const void *argument)
{
	const struct bytes *bytes = argument;

	pairs[0] = (struct PLX_WPP_PAIR){&bytes->length, 2};
	pairs[1] = (struct PLX_WPP_PAIR){bytes->at, bytes->length};
	return 2;
}

static ULONG
pairs_of_pointer(struct PLX_WPP_PAIR *pairs, const void *argument)
{
	pairs[0] = (struct PLX_WPP_PAIR){*(const void *const *)argument, 6};
	return 1;
}

static const struct PLX_WPP_NAME states[] = {{0, "Idle"}, {1, "Busy"}, {-5, "Odd"}, {0, NULL}};
static const struct PLX_WPP_NAME bits[] = {
	{1, "Read"}, {2, "Write"}, {1LL << 31, "High"}, {0, NULL}};
static const struct PLX_WPP_CUSTOM types_of_a_driver[] = {
	{"STATE", PLX_WPP_LIST, states, NULL, FALSE},
	{"BITS", PLX_WPP_SET, bits, NULL, FALSE},
	{"HEXDUMP", PLX_WPP_HEXDUMP, NULL, pairs_of_bytes, TRUE},
	{"TEXT", PLX_WPP_TEXT, NULL, pairs_of_bytes, TRUE},
	{"WIDE", PLX_WPP_WIDE_TEXT, NULL, pairs_of_bytes, TRUE},
	{"UUID", PLX_WPP_GUID, NULL, pairs_of_bytes, TRUE},
	{"IPV6ADDR", PLX_WPP_IPV6, NULL, pairs_of_bytes, TRUE},
	{"FOUR", PLX_WPP_IPV4, NULL, pairs_of_bytes, TRUE},
	{"MACADDR", PLX_WPP_MAC, NULL, pairs_of_pointer, FALSE},
	{NULL, PLX_WPP_LIST, NULL, NULL, FALSE},
};

static int
tracing_is_on(void **state)
{
	(void)state;
	PlxWppSwitch(1, NULL);
	return 0;
}

static void
each_type_is_said_in_words(void **state)
{
	static const GUID id = {
		0x84bdb2e9, 0x829e, 0x41b3, {0xb8, 0x91, 2, 0xf4, 0x54, 0xbc, 0x2b, 0xd7}};
	static const unsigned char six[16] = {0xfe, 0x80, [15] = 1};
	static const UCHAR sid[] = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0};
	char text[] = "narrow";
	ANSI_STRING ansi = {3, 7, text};
	WCHAR letters[] = L"wide";
	UNICODE_STRING wide = {2 * sizeof(WCHAR), sizeof(letters), letters};

	(void)state;
	SAYS("call file.c 7 1 FLAG part| |",
	     "%!FUNC! %!FILE! %!LINE! %!LEVEL! %!FLAGS! %!COMPNAME!|%!SPACE!|");
	SAYS("0xc000000d(STATUS_INVALID_PARAMETER) 0xc7654321", "%!STATUS! %!NTSTATUS!",
	     STATUS_INVALID_PARAMETER, 0xc7654321);
	SAYS("0xc0010015 0x0001010e", "%!NDIS_STATUS! %!NDIS_OID!", 0xc0010015, 0x0001010e);
	SAYS("0x80004005 5", "%!HRESULT! %!WINERROR!", 0x80004005, 5);
	SAYS("PASSIVE_LEVEL DISPATCH_LEVEL 15", "%!IRQL! %!irql! %!IRQL!", PASSIVE_LEVEL,
	     DISPATCH_LEVEL, HIGH_LEVEL);
	SAYS("S-1-5-32-544", "%!sid!", sid);
	SAYS("TRUE FALSE", "%!bool! %!BOOLEAN!", 3, 0);
	SAYS("127.0.0.1:445", "%!IPADDR!:%!PORT!", 0x0100007f, 0xbd01);
	SAYS("-1 4294967295 0xff", "%!SINT! %!UINT! %!XINT!", -1, -1, 255);
	SAYS("-1 4294967295 0xff", "%!SLONG! %!ULONG! %!XLONG!", -1, -1, 255);
	SAYS("-5 5 0x500000000", "%!SINT64! %!UINT64! %!XINT64!", -5LL, 5ULL, 0x500000000ULL);
	SAYS("-0~0:00:01 0~0:00:00 1~2:03:04", "%!DUE! %!DELTA! %!WAITTIME!", -1500LL, 1LL,
	     93784999LL);
	SAYS("fe80::1 {84bdb2e9-829e-41b3-b891-02f454bc2bd7} (null)", "%!IPV6ADDR! %!GUID! %!IID!",
	     six, &id, NULL);
	SAYS("narrow wide nar wi", "%!ASTR! %!WSTR! %!ANSTR! %!USTR!", text, letters, &ansi, &wide);
	SAYS("3 and 4", "%!mine! and %!yours!", 3, 4);
}

static void
types_of_the_driver_are_said_by_its_table(void **state)
{
	static const UCHAR data[] = {0, 1,  0xab, 0xcd, 0xef, 0x10, 7,  8,
				     9, 10, 11,   12,   13,   14,   15, 16};
	static const char letters[] = "letters";
	struct bytes dump = {3, data + 2}, all = {16, data}, none = {0, NULL}, empty = {0, data};
	struct bytes text = {3, letters}, wide = {4, L"wide"}, four = {4, "\177\0\0\1"};

	(void)state;
	customs = types_of_a_driver;
	SAYS("Idle Busy Odd 7", "%!STATE! %!state! %!State! %!STATE!", 0, 1, -5, 7);
	SAYS("[] [Read,Write] [Write,0x8] [High] [0x4]", "%!BITS! %!BITS! %!BITS! %!BITS! %!BITS!",
	     0, 3, 10, (int)0x80000000, 4);
	SAYS("ab cd ef| (null) ", "%!HEXDUMP!| %!HEXDUMP! %!HEXDUMP!", &dump, &none, &empty);
	SAYS("let wi 127.0.0.1", "%!TEXT! %!WIDE! %!FOUR!", &text, &wide, &four);
	SAYS("{cdab0100-10ef-0807-090a-0b0c0d0e0f10}", "%!UUID!", &all);
	SAYS("1:abcd:ef10:708:90a:b0c:d0e:f10 ab cd ef", "%!IPV6ADDR! %!IPV6ADDR!", &all, &dump);
	SAYS("00-01-ab-cd-ef-10 (null)", "%!MACADDR! %!MACADDR!", data, NULL);
	customs = NULL;
}

static void
times_are_of_windows_in_utc(void **state)
{
	LONGLONG at = (11644473600LL + 86400 + 3661) * 10000000 + 1230000;

	(void)state;
	SAYS("1970-01-02 01:01:01.123", "%!DATETIME!", at);
	SAYS("1970-01-02 01:01:01.123", "%!TIMESTAMP!", at);
	SAYS("1970-01-02", "%!DATE!", at);
	SAYS("01:01:01.123", "%!TIME!", at);
	SAYS("-1", "%!TIME!", -1LL);
}

static void
other_directives_take_arguments_of_their_width(void **state)
{
	WCHAR letters[] = L"abc";
	UNICODE_STRING name = {6, 8, letters};

	(void)state;
	SAYS("100% -3|   7|7   |0007|x", "100%% %d|%4d|%-4d|%04hu|%c", -3, 7, 7, 7, 'x');
	SAYS("5000000000 5000000000 12a05f200", "%I64d %lld %I64x", 5000000000LL, 5000000000LL,
	     5000000000LL);
	SAYS("12 34", "%Iu %zu", (SIZE_T)12, (SIZE_T)34);
	SAYS("-1 1", "%ld %lu", (LONG)-1, (ULONG)1);
	SAYS("ab|  abc|abc|a", "%.*s|%*s|%wZ|%.1S", 2, "abcd", 5, "abc", &name, L"abc");
	SAYS("1 two 3", "%d %s %d", 1, "two", 3);
	SAYS("%", "%");
	SAYS("x%5", "x%5");
}

static void
a_level_is_known_by_its_number_or_its_name(void **state)
{
	static const char *const printed[] = {"1", "2", "TRACE_LEVEL_ERROR", "TRACE_LEVEL_FATAL",
					      "MyCriticalLevel"};
	static const char *const silent[] = {"3",
					     "4",
					     "5",
					     "TRACE_LEVEL_WARNING",
					     "level",
					     "",
					     "TRACE_LEVEL_INFORMATION",
					     "TRACE_LEVEL_VERBOSE"};

	(void)state;
	for (size_t i = 0; i < sizeof(printed) / sizeof(printed[0]); i++) {
		TRACE(printed[i], "x");
		assert_string_equal(said, "x\n");
	}
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		TRACE(silent[i], "x");
		assert_string_equal(said, "");
	}
}

static void
a_long_message_is_cut(void **state)
{
	char text[1000];

	(void)state;
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	TRACE("1", "%s%d", text, 5);
	assert_int_equal(strlen(said), 500);
	assert_int_equal(strspn(said, "y"), 499);
}

static void
nothing_is_said_before_or_after(void **state)
{
	(void)state;
	PlxWppSwitch(0, NULL);
	TRACE("1", "x");
	assert_string_equal(said, "");
	assert_int_equal(plx_wpp_control.Flags[7] | plx_wpp_control.Level, 0);
	PlxWppSwitch(1, NULL);
	SAYS("x", "x");
	assert_int_equal(plx_wpp_control.Flags[7], 0xffffffff);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_is_said_in_words),
		cmocka_unit_test(types_of_the_driver_are_said_by_its_table),
		cmocka_unit_test(times_are_of_windows_in_utc),
		cmocka_unit_test(other_directives_take_arguments_of_their_width),
		cmocka_unit_test(a_level_is_known_by_its_number_or_its_name),
		cmocka_unit_test(a_long_message_is_cut),
		cmocka_unit_test(nothing_is_said_before_or_after),
	};

	setenv("POLLUX_DBGPRINT", "1", 1);
	return cmocka_run_group_tests(tests, tracing_is_on, NULL);
}
