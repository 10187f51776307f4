/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: the version of Windows that the kernel surface says it is (10.0, build 20348), and dates.
 */
#ifndef PLX_WDK_WDMVERSION_H
#define PLX_WDK_WDMVERSION_H

#include "wdmtypes.h"

#include <sdkddkver.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VER_NT_WORKSTATION       1
#define VER_NT_DOMAIN_CONTROLLER 2
#define VER_NT_SERVER            3

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
#endif
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

#ifdef __cplusplus
}
#endif

#endif
