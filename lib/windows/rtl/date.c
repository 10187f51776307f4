/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Dates, in units of 100 ns since 1601. Start with RtlTimeToTimeFields().
 */
#include <wdm.h>

#include <stdbool.h>

enum {
	YEAR_FIRST = 1601,
	YEAR_LAST = 30827, /* what 63 bits hold */
	MONDAY = 1,        /* the first of January 1601 */
};

#define UNITS_MS     10000ll
#define UNITS_SECOND (1000 * UNITS_MS)
#define UNITS_DAY    (86400000 * UNITS_MS)
/* Their first days, from that of 1601. */
#define EPOCH_1970 (134774 * UNITS_DAY)
#define EPOCH_1980 (138426 * UNITS_DAY)

static bool
is_leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int
days_of_month(int year, int month)
{
	static const signed char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from the first day of 1601 to that of a year. */
static long long
days_before(int year)
{
	long long n = year - YEAR_FIRST;

	return n * 365 + n / 4 - n / 100 + n / 400;
}

VOID
RtlTimeToTimeFields(PLARGE_INTEGER time, PTIME_FIELDS fields)
{
	long long days = time->QuadPart / UNITS_DAY, ms = time->QuadPart % UNITS_DAY / UNITS_MS;
	int year = (int)(YEAR_FIRST + days / 366), month = 1;

	fields->Weekday = (CSHORT)((days + MONDAY) % 7);
	while (days_before(year + 1) <= days)
		year++;
	days -= days_before(year);
	for (; days >= days_of_month(year, month); month++)
		days -= days_of_month(year, month);
	fields->Year = (CSHORT)year;
	fields->Month = (CSHORT)month;
	fields->Day = (CSHORT)(days + 1);
	fields->Hour = (CSHORT)(ms / 3600000);
	fields->Minute = (CSHORT)(ms / 60000 % 60);
	fields->Second = (CSHORT)(ms / 1000 % 60);
	fields->Milliseconds = (CSHORT)(ms % 1000);
}

static bool
is_within(int value, int from, int to)
{
	return value >= from && value <= to;
}

BOOLEAN
RtlTimeFieldsToTime(PTIME_FIELDS fields, PLARGE_INTEGER time)
{
	long long days, ms;

	if (!is_within(fields->Year, YEAR_FIRST, YEAR_LAST) || !is_within(fields->Month, 1, 12) ||
	    !is_within(fields->Day, 1, days_of_month(fields->Year, fields->Month)) ||
	    !is_within(fields->Hour, 0, 23) || !is_within(fields->Minute, 0, 59) ||
	    !is_within(fields->Second, 0, 59) || !is_within(fields->Milliseconds, 0, 999))
		return FALSE;
	days = days_before(fields->Year) + fields->Day - 1;
	for (int month = 1; month < fields->Month; month++)
		days += days_of_month(fields->Year, month);
	ms = ((fields->Hour * 60ll + fields->Minute) * 60 + fields->Second) * 1000 +
	     fields->Milliseconds;
	time->QuadPart = days * UNITS_DAY + ms * UNITS_MS;
	return TRUE;
}

/* ---- seconds ---- */

/* Returns: FALSE: before the epoch, or too far behind it */
static BOOLEAN
seconds_since(LONGLONG epoch, const LARGE_INTEGER *time, PULONG seconds)
{
	long long since;

	if (time->QuadPart < epoch)
		return FALSE;
	since = (time->QuadPart - epoch) / UNITS_SECOND;
	if (since > UINT32_MAX)
		return FALSE;
	*seconds = (ULONG)since;
	return TRUE;
}

BOOLEAN
RtlTimeToSecondsSince1970(PLARGE_INTEGER time, PULONG seconds)
{
	return seconds_since(EPOCH_1970, time, seconds);
}

VOID
RtlSecondsSince1970ToTime(ULONG seconds, PLARGE_INTEGER time)
{
	time->QuadPart = EPOCH_1970 + seconds * UNITS_SECOND;
}

BOOLEAN
RtlTimeToSecondsSince1980(PLARGE_INTEGER time, PULONG seconds)
{
	return seconds_since(EPOCH_1980, time, seconds);
}

VOID
RtlSecondsSince1980ToTime(ULONG seconds, PLARGE_INTEGER time)
{
	time->QuadPart = EPOCH_1980 + seconds * UNITS_SECOND;
}
