/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ke and Ex: time, and processors. Times are in units of 100 ns: system time since 1601 in UTC,
 * interrupt time since the machine started. A processor is one that was online when the library
 * first counted them, numbered without gaps; a group has 64.
 * Threads: every call from any thread, at any IRQL. Tests: tests/unit/windows/ke/clock.c
 */
#ifndef PLX_WDK_WDMTIME_H
#define PLX_WDK_WDMTIME_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- time ---- */

/** @param PerformanceFrequency NULL, or gets the counts in a second */
LARGE_INTEGER KeQueryPerformanceCounter(PLARGE_INTEGER PerformanceFrequency)
	PLX_WIN_NAME(KeQueryPerformanceCounter);
VOID KeQuerySystemTime(PLARGE_INTEGER CurrentTime) PLX_WIN_NAME(KeQuerySystemTime);
VOID KeQuerySystemTimePrecise(PLARGE_INTEGER CurrentTime) PLX_WIN_NAME(KeQuerySystemTimePrecise);
/** Returns: including the time that the machine slept */
ULONGLONG KeQueryInterruptTime(VOID) PLX_WIN_NAME(KeQueryInterruptTime);
/** @param QpcTimeStamp gets the performance counter of that moment */
ULONG64 KeQueryInterruptTimePrecise(PULONG64 QpcTimeStamp)
	PLX_WIN_NAME(KeQueryInterruptTimePrecise);
/** Returns: without the time that the machine slept */
ULONGLONG KeQueryUnbiasedInterruptTime(VOID) PLX_WIN_NAME(KeQueryUnbiasedInterruptTime);
/** @param QpcTimeStamp gets the performance counter of that moment */
ULONGLONG KeQueryUnbiasedInterruptTimePrecise(PULONG64 QpcTimeStamp)
	PLX_WIN_NAME(KeQueryUnbiasedInterruptTimePrecise);
/** @param CurrentCount gets the interrupt time divided by KeQueryTimeIncrement() */
VOID KeQueryTickCount(PLARGE_INTEGER CurrentCount) PLX_WIN_NAME(KeQueryTickCount);
/** Returns: units of 100 ns in a tick, 156,250 */
ULONG KeQueryTimeIncrement(VOID) PLX_WIN_NAME(KeQueryTimeIncrement);
/** Spin. @param MicroSeconds keep it below 50 */
VOID KeStallExecutionProcessor(ULONG MicroSeconds) PLX_WIN_NAME(KeStallExecutionProcessor);
VOID ExSystemTimeToLocalTime(PLARGE_INTEGER SystemTime, PLARGE_INTEGER LocalTime)
	PLX_WIN_NAME(ExSystemTimeToLocalTime);
VOID ExLocalTimeToSystemTime(PLARGE_INTEGER LocalTime, PLARGE_INTEGER SystemTime)
	PLX_WIN_NAME(ExLocalTimeToSystemTime);

/* ---- processors ---- */

#define ALL_PROCESSOR_GROUPS 0xffff

/** @param ActiveProcessors NULL, or gets a bit for each
 *  Returns: how many group 0 has */
ULONG KeQueryActiveProcessorCount(PKAFFINITY ActiveProcessors)
	PLX_WIN_NAME(KeQueryActiveProcessorCount);
/** @param GroupNumber or ALL_PROCESSOR_GROUPS
 *  Returns: 0: there is no such group */
ULONG KeQueryActiveProcessorCountEx(USHORT GroupNumber) PLX_WIN_NAME(KeQueryActiveProcessorCountEx);
/** Returns: as above, with those that may come online */
ULONG KeQueryMaximumProcessorCount(VOID) PLX_WIN_NAME(KeQueryMaximumProcessorCount);
ULONG KeQueryMaximumProcessorCountEx(USHORT GroupNumber)
	PLX_WIN_NAME(KeQueryMaximumProcessorCountEx);
KAFFINITY KeQueryActiveProcessors(VOID) PLX_WIN_NAME(KeQueryActiveProcessors);
/** Returns: a bit for each of the group's; 0: there is no such group */
KAFFINITY KeQueryGroupAffinity(USHORT GroupNumber) PLX_WIN_NAME(KeQueryGroupAffinity);
USHORT KeQueryActiveGroupCount(VOID) PLX_WIN_NAME(KeQueryActiveGroupCount);
USHORT KeQueryMaximumGroupCount(VOID) PLX_WIN_NAME(KeQueryMaximumGroupCount);
/** Returns: the highest number of a NUMA node; 0 if there is one, or the system does not tell */
USHORT KeQueryHighestNodeNumber(VOID) PLX_WIN_NAME(KeQueryHighestNodeNumber);
/** Returns: the node of the processor where the thread runs */
USHORT KeGetCurrentNodeNumber(VOID) PLX_WIN_NAME(KeGetCurrentNodeNumber);
/**
 * Describe the processors of a node in that group which has most of them.
 * @param Affinity NULL, or gets the group and a bit for each; no bit: there are none
 * @param Count    NULL, or gets how many bits are set
 */
VOID KeQueryNodeActiveAffinity(USHORT NodeNumber, PGROUP_AFFINITY Affinity, PUSHORT Count)
	PLX_WIN_NAME(KeQueryNodeActiveAffinity);
/** Returns: where the thread runs, unless it moves in that moment; in its group */
ULONG KeGetCurrentProcessorNumber(VOID) PLX_WIN_NAME(KeGetCurrentProcessorNumber);
/** @param ProcNumber NULL, or gets group and number
 *  Returns: the same as an index, over all groups */
ULONG KeGetCurrentProcessorNumberEx(PPROCESSOR_NUMBER ProcNumber)
	PLX_WIN_NAME(KeGetCurrentProcessorNumberEx);
#define KeGetCurrentProcessorIndex() KeGetCurrentProcessorNumberEx(NULL)
/** Returns: STATUS_SUCCESS; STATUS_INVALID_PARAMETER */
NTSTATUS KeGetProcessorNumberFromIndex(ULONG ProcIndex, PPROCESSOR_NUMBER ProcNumber)
	PLX_WIN_NAME(KeGetProcessorNumberFromIndex);
/** Returns: INVALID_PROCESSOR_INDEX: there is no such processor */
ULONG KeGetProcessorIndexFromNumber(PPROCESSOR_NUMBER ProcNumber)
	PLX_WIN_NAME(KeGetProcessorIndexFromNumber);
#define INVALID_PROCESSOR_INDEX 0xffffffff

#ifdef __cplusplus
}
#endif

#endif
