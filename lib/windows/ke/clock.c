/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time in units of 100 ns. Start with ke_now().
 */
#include "ke.h"

enum {
	HZ = 10000000, /* units of 100 ns in a second; also the performance counter's */
	NS_PER_TICK = 100,
	NS_PER_US = 1000,
	INCREMENT = 156250, /* between two ticks of the clock: 1/64 s, as on Windows */
};

/* From 1601, the epoch of Windows, to 1970. */
#define EPOCH (116444736000000000LL)

static LONGLONG
read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (LONGLONG)now.tv_sec * HZ + now.tv_nsec / NS_PER_TICK;
}

LONGLONG
ke_now(clockid_t clock)
{
	return read_clock(clock) + (clock == CLOCK_REALTIME ? EPOCH : 0);
}

struct ke_due
ke_due(LONGLONG time)
{
	struct ke_due due = {.clock = CLOCK_REALTIME, .at = time};

	if (time <= 0) {
		due.clock = CLOCK_MONOTONIC;
		if (__builtin_sub_overflow(ke_now(CLOCK_MONOTONIC), time, &due.at))
			due.at = INT64_MAX;
	}
	return due;
}

struct timespec
ke_timespec(struct ke_due due)
{
	LONGLONG ticks = due.at - (due.clock == CLOCK_REALTIME ? EPOCH : 0);

	if (ticks < 0)
		ticks = 0;
	return (struct timespec){.tv_sec = ticks / HZ, .tv_nsec = ticks % HZ * NS_PER_TICK};
}

LARGE_INTEGER
KeQueryPerformanceCounter(PLARGE_INTEGER frequency)
{
	if (frequency != NULL)
		frequency->QuadPart = HZ;
	return (LARGE_INTEGER){.QuadPart = ke_now(CLOCK_MONOTONIC)};
}

VOID
KeQuerySystemTime(PLARGE_INTEGER time)
{
	time->QuadPart = ke_now(CLOCK_REALTIME);
}

VOID
KeQuerySystemTimePrecise(PLARGE_INTEGER time)
{
	time->QuadPart = ke_now(CLOCK_REALTIME);
}

ULONGLONG
KeQueryInterruptTime(VOID)
{
	return (ULONGLONG)ke_now(CLOCK_BOOTTIME);
}

ULONG64
KeQueryInterruptTimePrecise(PULONG64 counter)
{
	*counter = (ULONG64)ke_now(CLOCK_MONOTONIC);
	return (ULONG64)ke_now(CLOCK_BOOTTIME);
}

ULONGLONG
KeQueryUnbiasedInterruptTime(VOID)
{
	return (ULONGLONG)ke_now(CLOCK_MONOTONIC);
}

ULONGLONG
KeQueryUnbiasedInterruptTimePrecise(PULONG64 counter)
{
	*counter = (ULONG64)ke_now(CLOCK_MONOTONIC);
	return *counter;
}

VOID
KeQueryTickCount(PLARGE_INTEGER count)
{
	count->QuadPart = ke_now(CLOCK_BOOTTIME) / INCREMENT;
}

ULONG
KeQueryTimeIncrement(VOID)
{
	return INCREMENT;
}

VOID
KeStallExecutionProcessor(ULONG us)
{
	struct timespec now;
	LONGLONG end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = (LONGLONG)now.tv_sec * HZ * NS_PER_TICK + now.tv_nsec + (LONGLONG)us * NS_PER_US;
	do {
		YieldProcessor();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((LONGLONG)now.tv_sec * HZ * NS_PER_TICK + now.tv_nsec < end);
}

/* How far local time is ahead of UTC now, as Windows takes it, whatever the time to convert. */
static LONGLONG
bias(void)
{
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	return (LONGLONG)local.tm_gmtoff * HZ;
}

VOID
ExSystemTimeToLocalTime(PLARGE_INTEGER system, PLARGE_INTEGER local)
{
	local->QuadPart = system->QuadPart + bias();
}

VOID
ExLocalTimeToSystemTime(PLARGE_INTEGER local, PLARGE_INTEGER system)
{
	system->QuadPart = local->QuadPart - bias();
}
