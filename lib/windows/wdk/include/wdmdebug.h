/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: what is said to a debugger, assertions, and statuses. The debugger is stderr.
 *
 * The environment variable POLLUX_DBGPRINT is the filter of all components, a mask of levels in C's
 * notation; unset, it is 1, errors alone. DbgPrint() has the level DPFLTR_INFO_LEVEL, as on
 * Windows, and is silent then. At most 512 bytes of a message are written.
 */
#ifndef PLX_WDK_WDMDEBUG_H
#define PLX_WDK_WDMDEBUG_H

#include "wdmtypes.h"

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DBG
#define DBG 0
#endif

typedef enum _DPFLTR_TYPE {
	DPFLTR_SYSTEM_ID = 0,
	DPFLTR_FLTMGR_ID = 62,
	DPFLTR_IHVDRIVER_ID = 77,
	DPFLTR_IHVVIDEO_ID = 78,
	DPFLTR_IHVAUDIO_ID = 79,
	DPFLTR_IHVNETWORK_ID = 80,
	DPFLTR_IHVSTREAMING_ID = 81,
	DPFLTR_IHVBUS_ID = 82,
	DPFLTR_DEFAULT_ID = 101,
} DPFLTR_TYPE;

/* A level below 32 is the number of a bit, another is a mask. */
#define DPFLTR_ERROR_LEVEL   0
#define DPFLTR_WARNING_LEVEL 1
#define DPFLTR_TRACE_LEVEL   2
#define DPFLTR_INFO_LEVEL    3
#define DPFLTR_MASK          0x80000000

/**
 * Write a message. Formats follow Windows' rules, with %wZ of a UNICODE_STRING and %Z of an
 * ANSI_STRING.
 * Returns: STATUS_SUCCESS
 */
ULONG DbgPrint(PCSTR Format, ...) PLX_WIN_NAME(DbgPrint);
ULONG DbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format, ...) PLX_WIN_NAME(DbgPrintEx);
ULONG vDbgPrintEx(ULONG ComponentId, ULONG Level, PCCH Format, va_list arglist)
	PLX_WIN_NAME(vDbgPrintEx);
ULONG vDbgPrintExWithPrefix(PCCH Prefix, ULONG ComponentId, ULONG Level, PCCH Format,
			    va_list arglist) PLX_WIN_NAME(vDbgPrintExWithPrefix);
/** Stop in a debugger; without one the process ends with SIGTRAP. */
VOID DbgBreakPoint(VOID) PLX_WIN_NAME(DbgBreakPoint);
VOID DbgBreakPointWithStatus(ULONG Status) PLX_WIN_NAME(DbgBreakPointWithStatus);
/** Say that an assertion failed, and stop as DbgBreakPoint() does. @param Message may be NULL */
VOID RtlAssert(PVOID VoidFailedAssertion, PVOID VoidFileName, ULONG LineNumber, PSTR MutableMessage)
	PLX_WIN_NAME(RtlAssert);

#define PLX_WDK_ASSERT(text, message)                                             \
	RtlAssert((PVOID)(ULONG_PTR)(text), (PVOID)(ULONG_PTR)__FILE__, __LINE__, \
		  (PSTR)(ULONG_PTR)(message))
#define NT_FRE_ASSERT(e)             ((e) ? (void)0 : PLX_WDK_ASSERT(#e, NULL))
#define NT_FRE_ASSERTMSG(message, e) ((e) ? (void)0 : PLX_WDK_ASSERT(#e, message))
#define NT_FRE_VERIFY(e)             ((e) ? TRUE : (PLX_WDK_ASSERT(#e, NULL), FALSE))
#define NT_FRE_VERIFYMSG(message, e) ((e) ? TRUE : (PLX_WDK_ASSERT(#e, message), FALSE))
#if DBG
#define KdPrint(arguments)    DbgPrint arguments
#define KdPrintEx(arguments)  DbgPrintEx arguments
#define vKdPrintEx(arguments) vDbgPrintEx arguments
#define KdBreakPoint()        DbgBreakPoint()
#define NT_ASSERT(e)          NT_FRE_ASSERT(e)
#define NT_ASSERTMSG(m, e)    NT_FRE_ASSERTMSG(m, e)
#define NT_ASSERTMSGW(m, e)   NT_FRE_ASSERT(e)
#define NT_VERIFY(e)          NT_FRE_VERIFY(e)
#define NT_VERIFYMSG(m, e)    NT_FRE_VERIFYMSG(m, e)
#else
#define KdPrint(arguments)    ((void)0)
#define KdPrintEx(arguments)  ((void)0)
#define vKdPrintEx(arguments) ((void)0)
#define KdBreakPoint()        ((void)0)
#define NT_ASSERT(e)          ((void)0)
#define NT_ASSERTMSG(m, e)    ((void)0)
#define NT_ASSERTMSGW(m, e)   ((void)0)
#define NT_VERIFY(e)          ((e) ? TRUE : FALSE)
#define NT_VERIFYMSG(m, e)    ((e) ? TRUE : FALSE)
#endif
#ifndef ASSERT
#define ASSERT(e) NT_ASSERT(e)
#endif
#ifndef ASSERTMSG
#define ASSERTMSG(m, e) NT_ASSERTMSG(m, e)
#endif
#define RTL_SOFT_ASSERT(e)       NT_ASSERT(e)
#define RTL_SOFT_ASSERTMSG(m, e) NT_ASSERTMSG(m, e)

#define FlagOn(flags, some)        ((flags) & (some))
#define BooleanFlagOn(flags, some) ((BOOLEAN)(((flags) & (some)) != 0))
#define SetFlag(flags, some)       ((flags) |= (some))
#define ClearFlag(flags, some)     ((flags) &= ~(some))

/** The Win32 error of a status; 317 (ERROR_MR_MID_NOT_FOUND) if it has none. */
ULONG RtlNtStatusToDosError(NTSTATUS Status) PLX_WIN_NAME(RtlNtStatusToDosError);
ULONG RtlNtStatusToDosErrorNoTeb(NTSTATUS Status) PLX_WIN_NAME(RtlNtStatusToDosErrorNoTeb);

#ifdef __cplusplus
}
#endif

#endif
