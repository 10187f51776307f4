/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time and machine: counters, ticks, processor times, pages and processors.
 * Start with QueryPerformanceCounter().
 */
#include "plx_crt.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

enum {
	HZ = 10000000, /* of the performance counter, 100 ns a tick as on Windows */
	NS_PER_TICK = 100,
	NS_PER_SECOND = 1000000000,
	MS_PER_SECOND = 1000,
	INCREMENT = 156250,  /* [100 ns] between two steps of the clock, in the units of Windows */
	GROUP = 64,          /* processors in a group */
	GRANULARITY = 65536, /* of addresses that VirtualAlloc chooses */
	AMD64 = 8664,        /* PROCESSOR_AMD_X8664 */
};

/* From 1601, the epoch of Windows, to 1970 [100 ns]. */
#define EPOCH_TICKS UINT64_C(116444736000000000)
#define LOWEST_AT   0x10000
#define HIGHEST_AT  0x7ffffffeffff

static uint64_t
ticks(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * HZ + (uint64_t)now.tv_nsec / NS_PER_TICK;
}

BOOL
QueryPerformanceCounter(LARGE_INTEGER *counter)
{
	if (!counter)
		return win_fail(ERROR_INVALID_PARAMETER);
	counter->QuadPart = (LONGLONG)ticks(CLOCK_MONOTONIC);
	return TRUE;
}

BOOL
QueryPerformanceFrequency(LARGE_INTEGER *hz)
{
	if (!hz)
		return win_fail(ERROR_INVALID_PARAMETER);
	hz->QuadPart = HZ;
	return TRUE;
}

ULONGLONG
GetTickCount64(void)
{
	return ticks(CLOCK_BOOTTIME) / (HZ / MS_PER_SECOND);
}

DWORD
GetTickCount(void)
{
	return (DWORD)GetTickCount64();
}

static FILETIME
file_time(uint64_t count)
{
	return (FILETIME){.dwLowDateTime = (DWORD)count, .dwHighDateTime = (DWORD)(count >> 32)};
}

VOID
GetSystemTimeAsFileTime(LPFILETIME now)
{
	*now = file_time(ticks(CLOCK_REALTIME) + EPOCH_TICKS);
}

/* The first eight numbers of the first line of /proc/stat: the sums over all processors. */
struct processor_times {
	unsigned long long user, nice, system, idle, wait, irq, softirq, steal;
};

static bool
read_times(struct processor_times *times)
{
	FILE *file = fopen("/proc/stat", "re");
	int n;

	if (!file)
		return false;
	n = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &times->user, &times->nice,
		   &times->system, &times->idle, &times->wait, &times->irq, &times->softirq,
		   &times->steal);
	fclose(file);
	return n == 8;
}

BOOL
GetSystemTimes(PFILETIME idle, PFILETIME kernel, PFILETIME user)
{
	uint64_t unit = HZ / (uint64_t)sysconf(_SC_CLK_TCK);
	struct processor_times times;
	uint64_t idling;

	if (!read_times(&times))
		return win_fail(ERROR_NOT_SUPPORTED);
	idling = times.idle + times.wait;
	if (idle)
		*idle = file_time(idling * unit);
	/* On Windows kernel time includes idle time. */
	if (kernel)
		*kernel = file_time((times.system + times.irq + times.softirq + idling) * unit);
	if (user)
		*user = file_time((times.user + times.nice) * unit);
	return TRUE;
}

BOOL
GetSystemTimeAdjustment(PDWORD adjustment, PDWORD increment, PBOOL disabled)
{
	const long long unit = 65536LL * 1000000; /* of the kernel's frequency: 2^-16 ppm */
	struct timex now = {.modes = 0};

	if (!adjustment || !increment || !disabled)
		return win_fail(ERROR_INVALID_PARAMETER);
	if (adjtimex(&now) < 0)
		return win_fail(ERROR_GEN_FAILURE);
	*increment = INCREMENT;
	*adjustment = (DWORD)(INCREMENT + (long long)now.freq * INCREMENT / unit);
	*disabled = (now.status & STA_UNSYNC) != 0;
	return TRUE;
}

VOID
GetSystemInfo(LPSYSTEM_INFO info)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (processors < 1)
		processors = 1;
	if (processors > GROUP)
		processors = GROUP; /* the limit of a mask and of a group on Windows */
	*info = (SYSTEM_INFO){
		.dwPageSize = (DWORD)sysconf(_SC_PAGESIZE),
		.dwNumberOfProcessors = (DWORD)processors,
		.dwProcessorType = AMD64,
		.dwAllocationGranularity = GRANULARITY,
	};
	info->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_AMD64;
	info->lpMinimumApplicationAddress = (LPVOID)(uintptr_t)LOWEST_AT;
	info->lpMaximumApplicationAddress = (LPVOID)(uintptr_t)HIGHEST_AT;
	info->dwActiveProcessorMask =
		processors == GROUP ? ~(DWORD_PTR)0 : ((DWORD_PTR)1 << processors) - 1;
}

VOID
GetCurrentProcessorNumberEx(PPROCESSOR_NUMBER number)
{
	int processor = sched_getcpu();

	if (processor < 0)
		processor = 0;
	*number = (PROCESSOR_NUMBER){.Group = (WORD)(processor / GROUP),
				     .Number = (BYTE)(processor % GROUP)};
}
