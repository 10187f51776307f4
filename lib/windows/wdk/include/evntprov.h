/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Providers of ETW's events, for a system where no session ever enables one: a registration
 * succeeds, its callback is not called, nothing is enabled, and an event that is written is not
 * recorded, which is success. What is to be read, WPP prints (plx_wpp.h).
 * Threads: every call from any thread. Tests: tests/unit/windows/io/etw.c
 */
#ifndef PLX_WDK_EVNTPROV_H
#define PLX_WDK_EVNTPROV_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_EVENT_DATA_DESCRIPTORS 128

typedef ULONGLONG REGHANDLE, *PREGHANDLE;

typedef struct _EVENT_DATA_DESCRIPTOR {
	ULONGLONG Ptr;
	ULONG Size; /* [bytes] */
	ULONG Reserved;
} EVENT_DATA_DESCRIPTOR, *PEVENT_DATA_DESCRIPTOR;

typedef struct _EVENT_DESCRIPTOR {
	USHORT Id;
	UCHAR Version;
	UCHAR Channel;
	UCHAR Level;
	UCHAR Opcode;
	USHORT Task;
	ULONGLONG Keyword;
} EVENT_DESCRIPTOR, *PEVENT_DESCRIPTOR;
typedef const EVENT_DESCRIPTOR *PCEVENT_DESCRIPTOR;

typedef struct _EVENT_FILTER_DESCRIPTOR {
	ULONGLONG Ptr;
	ULONG Size;
	ULONG Type;
} EVENT_FILTER_DESCRIPTOR, *PEVENT_FILTER_DESCRIPTOR;

typedef VOID (*PETWENABLECALLBACK)(LPCGUID SourceId, ULONG ControlCode, UCHAR Level,
				   ULONGLONG MatchAnyKeyword, ULONGLONG MatchAllKeyword,
				   PEVENT_FILTER_DESCRIPTOR FilterData, PVOID CallbackContext);

/** Describe a part of an event's data. */
static inline VOID
EventDataDescCreate(PEVENT_DATA_DESCRIPTOR EventDataDescriptor, const VOID *DataPtr, ULONG DataSize)
{
	EventDataDescriptor->Ptr = (ULONGLONG)(ULONG_PTR)DataPtr;
	EventDataDescriptor->Size = DataSize;
	EventDataDescriptor->Reserved = 0;
}

/**
 * Register a provider, at or below APC_LEVEL.
 * @param EnableCallback NULL, or what would be called when a session enables it
 * @param RegHandle      [out] for EtwUnregister(); not 0
 * Returns: STATUS_SUCCESS; STATUS_INVALID_PARAMETER (a NULL pointer); STATUS_NO_MEMORY
 */
NTSTATUS EtwRegister(LPCGUID ProviderId, PETWENABLECALLBACK EnableCallback, PVOID CallbackContext,
		     PREGHANDLE RegHandle) PLX_WIN_NAME(EtwRegister);
/** At or below APC_LEVEL. Returns: STATUS_SUCCESS; STATUS_INVALID_HANDLE */
NTSTATUS EtwUnregister(REGHANDLE RegHandle) PLX_WIN_NAME(EtwUnregister);
/** Returns: FALSE */
BOOLEAN EtwEventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor)
	PLX_WIN_NAME(EtwEventEnabled);
BOOLEAN EtwProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword)
	PLX_WIN_NAME(EtwProviderEnabled);
/**
 * Write an event, which nobody records.
 * @param UserDataCount at most MAX_EVENT_DATA_DESCRIPTORS
 * Returns: STATUS_SUCCESS; STATUS_INVALID_HANDLE; STATUS_INVALID_PARAMETER (UserDataCount)
 */
NTSTATUS EtwWrite(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor, LPCGUID ActivityId,
		  ULONG UserDataCount, PEVENT_DATA_DESCRIPTOR UserData) PLX_WIN_NAME(EtwWrite);
NTSTATUS EtwWriteTransfer(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor,
			  LPCGUID ActivityId, LPCGUID RelatedActivityId, ULONG UserDataCount,
			  PEVENT_DATA_DESCRIPTOR UserData) PLX_WIN_NAME(EtwWriteTransfer);

#ifdef __cplusplus
}
#endif

#endif
