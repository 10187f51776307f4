/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver whose events are TraceLogging's: a provider, levels, fields of every kind. It is
 * compiled, and never run.
 */
#include <ntddk.h>
#include <TraceLoggingProvider.h>
#include <winmeta.h>

TRACELOGGING_DECLARE_PROVIDER(EventsProvider);
TRACELOGGING_DEFINE_PROVIDER(EventsProvider, "Pollux.Events",
			     (0xb3864c38, 0x4273, 0x58c5, 0x54, 0x5b, 0x8b, 0x36, 0x08, 0x34, 0x34,
			      0x71));
TRACELOGGING_DEFINE_PROVIDER(EventsGrouped, "Pollux.Grouped",
			     (0xb3864c38, 0x4273, 0x58c5, 0x54, 0x5b, 0x8b, 0x36, 0x08, 0x34, 0x34,
			      0x72),
			     TraceLoggingOptionGroup(0xfaaf2f61, 0x9b26, 0x4591, 0x9b, 0xb1, 0xb9,
						     0xb8, 0xba, 0xe2, 0xd3, 0x4c));

EXTERN_C_START
NTSTATUS EventsUse(PUNICODE_STRING Name, PVOID Buffer, ULONG Length, NTSTATUS Status);
EXTERN_C_END

NTSTATUS
EventsUse(PUNICODE_STRING Name, PVOID Buffer, ULONG Length, NTSTATUS Status)
{
	GUID id = TraceLoggingProviderId(EventsProvider);
	NTSTATUS status = TraceLoggingRegister(EventsProvider);
	const char *text = "text";

	if (!NT_SUCCESS(status))
		return status;
	TraceLoggingWrite(EventsProvider, "Start");
	TraceLoggingWrite(EventsProvider, "Read", TraceLoggingLevel(WINEVENT_LEVEL_ERROR),
			  TraceLoggingKeyword(0x1), TraceLoggingOpcode(WINEVENT_OPCODE_START),
			  TraceLoggingUInt32(Length, "Length"), TraceLoggingNTStatus(Status),
			  TraceLoggingPointer(Buffer, "Buffer", "where it is"),
			  TraceLoggingUnicodeString(Name, "Name"), TraceLoggingString(text, "Text"),
			  TraceLoggingBinary(Buffer, Length, "Bytes"), TraceLoggingGuid(id, "Id"),
			  TraceLoggingBoolean(TRUE, "Yes"), TraceLoggingWideString(L"wide"),
			  TraceLoggingStruct(2, "Pair"), TraceLoggingInt64(-1, "A"),
			  TraceLoggingHexUInt64(1, "B"));
	TraceLoggingWriteActivity(EventsGrouped, "Stop", &id, NULL, TraceLoggingValue(Length));
	if (TraceLoggingProviderEnabled(EventsProvider, WINEVENT_LEVEL_VERBOSE, 0))
		TraceLoggingWrite(EventsProvider, "Never");
	TraceLoggingUnregister(EventsProvider);
	return STATUS_SUCCESS;
}
