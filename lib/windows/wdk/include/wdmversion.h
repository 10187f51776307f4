/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: the version of Windows that the kernel surface says it is (10.0, build 20348), and dates.
 */
#ifndef PLX_WDK_WDMVERSION_H
#define PLX_WDK_WDMVERSION_H

#include "wdmstring.h"

#include <sdkddkver.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VER_NT_WORKSTATION       1
#define VER_NT_DOMAIN_CONTROLLER 2
#define VER_NT_SERVER            3

/* What RtlVerifyVersionInfo() compares. */
#define VER_MINORVERSION     0x01
#define VER_MAJORVERSION     0x02
#define VER_BUILDNUMBER      0x04
#define VER_PLATFORMID       0x08
#define VER_SERVICEPACKMINOR 0x10
#define VER_SERVICEPACKMAJOR 0x20
#define VER_SUITENAME        0x40
#define VER_PRODUCT_TYPE     0x80

/* The system's member is ... what is wanted; the last two are of suites. */
#define VER_EQUAL         1
#define VER_GREATER       2
#define VER_GREATER_EQUAL 3
#define VER_LESS          4
#define VER_LESS_EQUAL    5
#define VER_AND           6
#define VER_OR            7

typedef struct _OSVERSIONINFOW {
	ULONG dwOSVersionInfoSize;
	ULONG dwMajorVersion;
	ULONG dwMinorVersion;
	ULONG dwBuildNumber;
	ULONG dwPlatformId;
	WCHAR szCSDVersion[128];
} OSVERSIONINFOW, *POSVERSIONINFOW, *LPOSVERSIONINFOW, RTL_OSVERSIONINFOW, *PRTL_OSVERSIONINFOW;

typedef struct _OSVERSIONINFOEXW {
	ULONG dwOSVersionInfoSize;
	ULONG dwMajorVersion;
	ULONG dwMinorVersion;
	ULONG dwBuildNumber;
	ULONG dwPlatformId;
	WCHAR szCSDVersion[128];
	USHORT wServicePackMajor;
	USHORT wServicePackMinor;
	USHORT wSuiteMask;
	UCHAR wProductType;
	UCHAR wReserved;
} OSVERSIONINFOEXW, *POSVERSIONINFOEXW, RTL_OSVERSIONINFOEXW, *PRTL_OSVERSIONINFOEXW;

#if __SIZEOF_WCHAR_T__ == 2
/** @param lpVersionInformation dwOSVersionInfoSize says which of the two structs it is */
NTSTATUS RtlGetVersion(PRTL_OSVERSIONINFOW lpVersionInformation) PLX_WIN_NAME(RtlGetVersion);
/**
 * Compare members of the system's version with those of VersionInfo. Major and minor version and
 * those of the service pack are one number: the first that differs decides.
 * @param VersionInfo   dwOSVersionInfoSize, and what TypeMask names
 * @param TypeMask      of VER_MINORVERSION to VER_PRODUCT_TYPE
 * @param ConditionMask of VER_SET_CONDITION(), with a condition for each
 * Returns: STATUS_SUCCESS; STATUS_REVISION_MISMATCH; STATUS_INVALID_PARAMETER
 */
NTSTATUS RtlVerifyVersionInfo(PRTL_OSVERSIONINFOEXW VersionInfo, ULONG TypeMask,
			      ULONGLONG ConditionMask) PLX_WIN_NAME(RtlVerifyVersionInfo);
/**
 * @param MajorVersion each may be NULL
 * @param CSDVersion   gets an empty text: there is no service pack
 * Returns: FALSE: no checked build
 */
BOOLEAN PsGetVersion(PULONG MajorVersion, PULONG MinorVersion, PULONG BuildNumber,
		     PUNICODE_STRING CSDVersion) PLX_WIN_NAME(PsGetVersion);
#endif
/** Returns: the mask with a condition for one more member */
ULONGLONG VerSetConditionMask(ULONGLONG ConditionMask, ULONG TypeMask, UCHAR Condition)
	PLX_WIN_NAME(VerSetConditionMask);
#define VER_SET_CONDITION(mask, type, condition) \
	((mask) = VerSetConditionMask((mask), (type), (condition)))
/** Is the system at least this NTDDI_ version? */
BOOLEAN RtlIsNtDdiVersionAvailable(ULONG Version) PLX_WIN_NAME(RtlIsNtDdiVersionAvailable);

/* ---- dates ---- */

typedef struct _TIME_FIELDS {
	CSHORT Year;  /* from 1601 */
	CSHORT Month; /* from 1 */
	CSHORT Day;   /* from 1 */
	CSHORT Hour;
	CSHORT Minute;
	CSHORT Second;
	CSHORT Milliseconds;
	CSHORT Weekday; /* 0: Sunday */
} TIME_FIELDS, *PTIME_FIELDS;

/** @param Time [100 ns] since 1601 */
VOID RtlTimeToTimeFields(PLARGE_INTEGER Time, PTIME_FIELDS TimeFields)
	PLX_WIN_NAME(RtlTimeToTimeFields);
/** The weekday is ignored. Returns: FALSE: there is no such date, or it is before 1601 */
BOOLEAN RtlTimeFieldsToTime(PTIME_FIELDS TimeFields, PLARGE_INTEGER Time)
	PLX_WIN_NAME(RtlTimeFieldsToTime);

/** Seconds from the start of a year.
 * Returns: FALSE: it is before that, or after 2^32 - 1 seconds */
BOOLEAN RtlTimeToSecondsSince1970(PLARGE_INTEGER Time, PULONG ElapsedSeconds)
	PLX_WIN_NAME(RtlTimeToSecondsSince1970);
BOOLEAN RtlTimeToSecondsSince1980(PLARGE_INTEGER Time, PULONG ElapsedSeconds)
	PLX_WIN_NAME(RtlTimeToSecondsSince1980);
VOID RtlSecondsSince1970ToTime(ULONG ElapsedSeconds, PLARGE_INTEGER Time)
	PLX_WIN_NAME(RtlSecondsSince1970ToTime);
VOID RtlSecondsSince1980ToTime(ULONG ElapsedSeconds, PLARGE_INTEGER Time)
	PLX_WIN_NAME(RtlSecondsSince1980ToTime);

#ifdef __cplusplus
}
#endif

#endif
