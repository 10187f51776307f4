/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time, the machine, and memory.
 */
#include "bench.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	MS_100_NS = 10000, /* in a millisecond */
	MIB = 1 << 20,
	GRANULARITY = 65536,
};

static void
the_counter_counts_100_ns(void **state)
{
	LARGE_INTEGER hz, before, after;

	(void)state;
	assert_true(QueryPerformanceFrequency(&hz));
	assert_int_equal(hz.QuadPart, 10000000);
	assert_true(QueryPerformanceCounter(&before));
	Sleep(A_WHILE);
	assert_true(QueryPerformanceCounter(&after));
	assert_true(after.QuadPart - before.QuadPart >= A_WHILE * MS_100_NS);
	assert_true(after.QuadPart - before.QuadPart < (LONGLONG)PATIENT * MS_100_NS);
	assert_false(QueryPerformanceCounter(NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(QueryPerformanceFrequency(NULL));
}

static void
the_clock_of_the_day_is_hardly_adjusted(void **state)
{
	DWORD adjustment = 0, increment = 0;
	BOOL disabled = 7;

	(void)state;
	assert_true(GetSystemTimeAdjustment(&adjustment, &increment, &disabled));
	assert_int_equal(increment, 156250);
	/* the kernel's limit is 500 ppm */
	assert_in_range(adjustment, 156250 - 79, 156250 + 79);
	assert_true(disabled == TRUE || disabled == FALSE);
	assert_false(GetSystemTimeAdjustment(NULL, &increment, &disabled));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
}

static uint64_t
of(FILETIME time)
{
	return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

/* How long this thread works until the system says that programs have worked for `wanted` longer.
 * The system counts by ticks, and a processor that stands still loses some of them: so what it has
 * counted, not how long that took, is waited for. [100 ns] */
static uint64_t
work_until_counted(uint64_t wanted)
{
	ULONGLONG start = GetTickCount64();
	FILETIME user[2];
	volatile unsigned work = 0;

	assert_true(GetSystemTimes(NULL, NULL, &user[0]));
	do {
		/* in the program, not in the system call that tells how long */
		for (int i = 0; i < 1000000; i++)
			work++;
		assert_true(GetSystemTimes(NULL, NULL, &user[1]));
		assert_true(of(user[1]) >= of(user[0]));
	} while (of(user[1]) - of(user[0]) < wanted && GetTickCount64() - start < PATIENT);
	assert_true(of(user[1]) - of(user[0]) >= wanted);
	return (GetTickCount64() - start) * MS_100_NS;
}

static void
times_are_those_of_the_system(void **state)
{
	const uint64_t wanted = UINT64_C(10) * A_WHILE * MS_100_NS, tick = 10 * MS_100_NS;
	uint64_t processors = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	FILETIME now, idle, kernel, user;
	ULONGLONG ticks = GetTickCount64();
	time_t seconds = time(NULL);

	(void)state;
	GetSystemTimeAsFileTime(&now);
	/* 11,644,473,600 s lie between 1601 and 1970. */
	assert_true(of(now) / 10000000 - UINT64_C(11644473600) - (uint64_t)seconds <= 2);
	assert_true(GetTickCount64() - ticks < PATIENT);
	assert_true(GetTickCount() - (DWORD)ticks < PATIENT);
	assert_true(GetSystemTimes(&idle, &kernel, &user));
	assert_true(of(kernel) > of(idle));
	/* No processor counts faster than time passes, but for its tick at either end. */
	assert_true((work_until_counted(wanted) + 2 * tick) * processors >= wanted);
	assert_true(GetSystemTimes(NULL, NULL, NULL));
}

static void
the_machine_is_described(void **state)
{
	PROCESSOR_NUMBER number;
	SYSTEM_INFO info;

	(void)state;
	GetSystemInfo(&info);
	assert_int_equal(info.dwPageSize, sysconf(_SC_PAGESIZE));
	assert_int_equal(info.dwAllocationGranularity, GRANULARITY);
	assert_true(info.dwNumberOfProcessors >= 1);
	assert_true(info.dwActiveProcessorMask & 1);
	assert_int_equal(info.wProcessorArchitecture, PROCESSOR_ARCHITECTURE_AMD64);
	assert_true((char *)&info > (char *)info.lpMinimumApplicationAddress);
	assert_true((char *)&info < (char *)info.lpMaximumApplicationAddress);
	GetCurrentProcessorNumberEx(&number);
	assert_true(number.Group * 64 + number.Number < sysconf(_SC_NPROCESSORS_CONF));
	assert_int_equal(GetCurrentProcessId(), getpid());
	assert_ptr_equal(GetCurrentProcess(), INVALID_HANDLE_VALUE);
}

static bool
all(const unsigned char *bytes, size_t n, unsigned char what)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != what)
			return false;
	return true;
}

static void
the_heap_gives_grows_and_takes(void **state)
{
	HANDLE heap = GetProcessHeap();
	unsigned char *block = HeapAlloc(heap, HEAP_ZERO_MEMORY, 1000);

	(void)state;
	assert_non_null(block);
	assert_int_equal((uintptr_t)block % 16, 0);
	assert_true(all(block, 1000, 0));
	memset(block, STALE, 1000);
	/* What is new is zero, to the byte. */
	block = HeapReAlloc(heap, HEAP_ZERO_MEMORY, block, 1001);
	assert_true(all(block, 1000, STALE));
	assert_int_equal(block[1000], 0);
	block = HeapReAlloc(heap, 0, block, 10);
	assert_true(all(block, 10, STALE));
	block = HeapReAlloc(heap, HEAP_ZERO_MEMORY, block, MIB);
	assert_true(all(block, 10, STALE) && all(block + 10, MIB - 10, 0));
	assert_true(HeapFree(heap, 0, block));
	assert_true(HeapFree(heap, 0, NULL));
	block = HeapAlloc(heap, 0, 0);
	assert_non_null(block);
	assert_true(HeapFree(heap, 0, block));
}

static void
what_is_no_heap_or_block_is_refused(void **state)
{
	_Alignas(16) char memory[64] = {0};
	HANDLE heap = GetProcessHeap();

	(void)state;
	assert_null(HeapAlloc(NULL, 0, 10));
	assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
	assert_false(HeapFree(memory, 0, NULL));
	assert_null(HeapAlloc(heap, 0, SIZE_MAX));
	assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
	assert_null(HeapReAlloc(heap, 0, NULL, 10));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_false(HeapFree(heap, 0, memory + 32));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
}

static void
pages_come_aligned_and_zeroed(void **state)
{
	unsigned char *pages =
		VirtualAlloc(NULL, MIB + 1, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
	unsigned char *more = VirtualAlloc(NULL, 1, MEM_COMMIT, PAGE_READWRITE);
	unsigned char *large = VirtualAlloc(
		NULL, 3 * MIB, MEM_COMMIT | MEM_RESERVE | MEM_LARGE_PAGES, PAGE_READWRITE);

	(void)state;
	assert_non_null(pages);
	assert_int_equal((uintptr_t)pages % GRANULARITY, 0);
	assert_int_equal((uintptr_t)more % GRANULARITY, 0);
	assert_int_equal((uintptr_t)large % (2 * MIB), 0);
	assert_true(all(pages, MIB + 1, 0));
	memset(pages, 1, MIB + 4096);
	memset(large, 1, 4 * MIB); /* whole large pages */
	assert_true(VirtualFree(pages, 0, MEM_RELEASE));
	assert_true(VirtualFree(more, 0, MEM_RELEASE));
	assert_true(VirtualFree(large, 0, MEM_RELEASE));
	assert_false(VirtualFree(pages, 0, MEM_RELEASE));
	assert_int_equal(GetLastError(), ERROR_INVALID_ADDRESS);
}

/* ---- pages from elsewhere ---- */

static void *given;
static bool is_empty;
static unsigned returned;

static void *
give(size_t bytes)
{
	given = is_empty ? NULL : calloc(1, bytes);
	return given;
}

static void
take_back(void *memory)
{
	assert_ptr_equal(memory, given);
	free(memory);
	returned++;
}

static void
pages_come_from_the_source_that_is_set(void **state)
{
	static const struct plx_page_source source = {give, take_back};
	unsigned char *pages, *reserved, *hidden;

	(void)state;
	plx_set_page_source(&source);
	pages = VirtualAlloc(NULL, MIB + 1, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
	assert_int_equal((uintptr_t)pages % GRANULARITY, 0);
	assert_true(pages >= (unsigned char *)given &&
		    pages < (unsigned char *)given + GRANULARITY);
	memset(pages, 1, MIB + 4096);
	/* What is not for reading and writing at once is the kernel's, ... */
	reserved = VirtualAlloc(NULL, MIB, MEM_RESERVE, PAGE_READWRITE);
	hidden = VirtualAlloc(NULL, MIB, MEM_COMMIT, PAGE_NOACCESS);
	assert_true(VirtualFree(reserved, 0, MEM_RELEASE));
	assert_true(VirtualFree(hidden, 0, MEM_RELEASE));
	assert_int_equal(returned, 0);
	/* ... and each goes back to where it came from. */
	plx_set_page_source(NULL);
	assert_true(VirtualFree(pages, 0, MEM_RELEASE));
	assert_int_equal(returned, 1);
	is_empty = true;
	plx_set_page_source(&source);
	pages = VirtualAlloc(NULL, MIB, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
	plx_set_page_source(NULL);
	memset(pages, 1, MIB);
	assert_true(VirtualFree(pages, 0, MEM_RELEASE));
	assert_int_equal(returned, 1);
}

static void
reserved_pages_are_committed_later(void **state)
{
	unsigned char *pages = VirtualAlloc(NULL, MIB, MEM_RESERVE, PAGE_READWRITE);

	(void)state;
	assert_non_null(pages);
	assert_ptr_equal(VirtualAlloc(pages + 5000, 10, MEM_COMMIT, PAGE_READWRITE), pages + 4096);
	memset(pages + 4096, 1, 4096);
	assert_null(VirtualAlloc(pages + MIB - 1, 2, MEM_COMMIT, PAGE_READWRITE));
	assert_int_equal(GetLastError(), ERROR_INVALID_ADDRESS);
	assert_true(VirtualFree(pages, 0, MEM_RELEASE));
}

/* What /proc says of the mapping that holds an address, as "rw-p". */
static void
assert_protection(const void *at, const char *wanted)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512], protection[8] = "";

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, protection) == 3 &&
		    from <= (uintptr_t)at && (uintptr_t)at < to)
			break;
	fclose(maps);
	assert_string_equal(protection, wanted);
}

static void
pages_are_protected_as_wished(void **state)
{
	static const struct {
		DWORD wish;
		const char *protection;
	} cases[] = {
		{PAGE_NOACCESS, "---p"},
		{PAGE_READONLY, "r--p"},
		{PAGE_READWRITE, "rw-p"},
		{PAGE_EXECUTE_READWRITE, "rwxp"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAYSIZE(cases); i++) {
		void *pages = VirtualAlloc(NULL, 1, MEM_COMMIT, cases[i].wish);
		void *reserved = VirtualAlloc(NULL, 1, MEM_RESERVE, cases[i].wish);

		assert_protection(pages, cases[i].protection);
		assert_protection(reserved, "---p");
		assert_ptr_equal(VirtualAlloc(reserved, 1, MEM_COMMIT, cases[i].wish), reserved);
		assert_protection(reserved, cases[i].protection);
		assert_true(VirtualFree(pages, 0, MEM_RELEASE));
		assert_true(VirtualFree(reserved, 0, MEM_RELEASE));
	}
}

static void
senseless_wishes_for_pages_are_refused(void **state)
{
	char here;

	(void)state;
	assert_null(VirtualAlloc(NULL, 0, MEM_COMMIT, PAGE_READWRITE));
	assert_null(VirtualAlloc(NULL, SIZE_MAX, MEM_COMMIT, PAGE_READWRITE));
	assert_null(VirtualAlloc(NULL, 1, 0, PAGE_READWRITE));
	assert_null(VirtualAlloc(NULL, 1, MEM_COMMIT | 1, PAGE_READWRITE));
	assert_null(VirtualAlloc(NULL, 1, MEM_COMMIT, 0x77));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	assert_null(VirtualAlloc(&here, 1, MEM_COMMIT, PAGE_READWRITE));
	assert_int_equal(GetLastError(), ERROR_INVALID_ADDRESS);
	assert_null(VirtualAlloc(&here, 1, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE));
	assert_int_equal(GetLastError(), ERROR_INVALID_ADDRESS);
	assert_false(VirtualFree(&here, 0, MEM_RELEASE));
	assert_int_equal(GetLastError(), ERROR_INVALID_ADDRESS);
	assert_false(VirtualFree(&here, 1, MEM_RELEASE));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
}

static void *
sets_its_own(void *unused)
{
	assert_int_equal(GetLastError(), 0);
	SetLastError(5);
	return unused;
}

static void
the_last_error_is_the_threads(void **state)
{
	(void)state;
	SetLastError(77);
	join_thread(start_thread(sets_its_own, NULL));
	assert_int_equal(GetLastError(), 77);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counter_counts_100_ns),
		cmocka_unit_test(the_clock_of_the_day_is_hardly_adjusted),
		cmocka_unit_test(times_are_those_of_the_system),
		cmocka_unit_test(the_machine_is_described),
		cmocka_unit_test(the_heap_gives_grows_and_takes),
		cmocka_unit_test(what_is_no_heap_or_block_is_refused),
		cmocka_unit_test(pages_come_aligned_and_zeroed),
		cmocka_unit_test(pages_come_from_the_source_that_is_set),
		cmocka_unit_test(reserved_pages_are_committed_later),
		cmocka_unit_test(pages_are_protected_as_wished),
		cmocka_unit_test(senseless_wishes_for_pages_are_refused),
		cmocka_unit_test(the_last_error_is_the_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
