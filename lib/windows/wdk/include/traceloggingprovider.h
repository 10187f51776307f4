/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TraceLogging's macros, for a system where no session ever enables a provider: registration
 * succeeds, TraceLoggingProviderEnabled() is FALSE, and an event is compiled, with its fields, but
 * neither written nor are its arguments evaluated. What is to be read, WPP prints (plx_wpp.h).
 */
#ifndef PLX_WDK_TRACELOGGINGPROVIDER_H
#define PLX_WDK_TRACELOGGINGPROVIDER_H

#include "wdmstring.h"

#include "winmeta.h"

struct _tlgProvider_t {
	const char *Name;
	GUID Id;
};
typedef const struct _tlgProvider_t *TraceLoggingHProvider;

/* ---- providers ---- */

#define TRACELOGGING_DECLARE_PROVIDER(handleVariable) \
	EXTERN_C const TraceLoggingHProvider handleVariable
/** @param providerName a string literal; behind it are the id in parentheses, and options */
#define TRACELOGGING_DEFINE_PROVIDER(handleVariable, providerName, ...)                    \
	static const struct _tlgProvider_t PlxProvider_##handleVariable = {                \
		"" providerName, PLX_TLG_AGAIN(PLX_TLG_ID PLX_TLG_FIRST(__VA_ARGS__, 0))}; \
	EXTERN_C const TraceLoggingHProvider handleVariable;                               \
	const TraceLoggingHProvider handleVariable = &PlxProvider_##handleVariable
#define PLX_TLG_AGAIN(x)      x
#define PLX_TLG_FIRST(a, ...) a
#define PLX_TLG_ID(a, b, c, d, e, f, g, h, i, j, k) \
	{                                           \
		a, b, c,                            \
		{                                   \
			d, e, f, g, h, i, j, k      \
		}                                   \
	}
#define TraceLoggingOptionGroup(...) 0

/** Returns: STATUS_SUCCESS */
static inline NTSTATUS
TraceLoggingRegister(TraceLoggingHProvider provider)
{
	(void)provider;
	return STATUS_SUCCESS;
}

static inline VOID
TraceLoggingUnregister(TraceLoggingHProvider provider)
{
	(void)provider;
}

static inline GUID
TraceLoggingProviderId(TraceLoggingHProvider provider)
{
	return provider->Id;
}

/** Returns: FALSE */
static inline BOOLEAN
TraceLoggingProviderEnabled(TraceLoggingHProvider provider, UCHAR level, ULONGLONG keyword)
{
	(void)provider, (void)level, (void)keyword;
	return FALSE;
}

/* ---- events ---- */

static inline void
PlxTraceLogging(TraceLoggingHProvider provider, const char *name, ...)
{
	(void)provider, (void)name;
}

static inline int
PlxTraceLoggingMemory(const VOID *at, SIZE_T size)
{
	return at != NULL && size != 0;
}

/** TraceLoggingWrite(provider, "name", fields...) */
#define TraceLoggingWrite(provider, ...) (0 ? PlxTraceLogging((provider), __VA_ARGS__) : (void)0)
/** TraceLoggingWriteActivity(provider, "name", activity id, related id, fields...) */
#define TraceLoggingWriteActivity(provider, ...) TraceLoggingWrite(provider, __VA_ARGS__)

#define TraceLoggingLevel(level)         ((UCHAR)(level))
#define TraceLoggingKeyword(keyword)     ((ULONGLONG)(keyword))
#define TraceLoggingOpcode(opcode)       ((UCHAR)(opcode))
#define TraceLoggingChannel(channel)     ((UCHAR)(channel))
#define TraceLoggingEventTag(tag)        ((ULONG)(tag))
#define TraceLoggingDescription(text)    ("" text)
#define TraceLoggingStruct(count, ...)   ((UCHAR)(count))
#define TraceLoggingCustomAttribute(...) 0

/* ---- fields: a value, and behind it a name, a description and a tag ---- */

#define PLX_TLG_VALUE(type, value) ((type)(value))

#define TraceLoggingInt8(value, ...)          PLX_TLG_VALUE(INT8, value)
#define TraceLoggingUInt8(value, ...)         PLX_TLG_VALUE(UINT8, value)
#define TraceLoggingInt16(value, ...)         PLX_TLG_VALUE(INT16, value)
#define TraceLoggingUInt16(value, ...)        PLX_TLG_VALUE(UINT16, value)
#define TraceLoggingInt32(value, ...)         PLX_TLG_VALUE(INT32, value)
#define TraceLoggingUInt32(value, ...)        PLX_TLG_VALUE(UINT32, value)
#define TraceLoggingInt64(value, ...)         PLX_TLG_VALUE(INT64, value)
#define TraceLoggingUInt64(value, ...)        PLX_TLG_VALUE(UINT64, value)
#define TraceLoggingHexInt8(value, ...)       PLX_TLG_VALUE(INT8, value)
#define TraceLoggingHexUInt8(value, ...)      PLX_TLG_VALUE(UINT8, value)
#define TraceLoggingHexInt16(value, ...)      PLX_TLG_VALUE(INT16, value)
#define TraceLoggingHexUInt16(value, ...)     PLX_TLG_VALUE(UINT16, value)
#define TraceLoggingHexInt32(value, ...)      PLX_TLG_VALUE(INT32, value)
#define TraceLoggingHexUInt32(value, ...)     PLX_TLG_VALUE(UINT32, value)
#define TraceLoggingHexInt64(value, ...)      PLX_TLG_VALUE(INT64, value)
#define TraceLoggingHexUInt64(value, ...)     PLX_TLG_VALUE(UINT64, value)
#define TraceLoggingIntPtr(value, ...)        PLX_TLG_VALUE(INT_PTR, value)
#define TraceLoggingUIntPtr(value, ...)       PLX_TLG_VALUE(UINT_PTR, value)
#define TraceLoggingLong(value, ...)          PLX_TLG_VALUE(LONG, value)
#define TraceLoggingULong(value, ...)         PLX_TLG_VALUE(ULONG, value)
#define TraceLoggingHexLong(value, ...)       PLX_TLG_VALUE(LONG, value)
#define TraceLoggingHexULong(value, ...)      PLX_TLG_VALUE(ULONG, value)
#define TraceLoggingBool(value, ...)          PLX_TLG_VALUE(INT32, value)
#define TraceLoggingBoolean(value, ...)       PLX_TLG_VALUE(UCHAR, value)
#define TraceLoggingChar(value, ...)          PLX_TLG_VALUE(char, value)
#define TraceLoggingWChar(value, ...)         PLX_TLG_VALUE(WCHAR, value)
#define TraceLoggingFloat32(value, ...)       PLX_TLG_VALUE(float, value)
#define TraceLoggingFloat64(value, ...)       PLX_TLG_VALUE(double, value)
#define TraceLoggingPid(value, ...)           PLX_TLG_VALUE(UINT32, value)
#define TraceLoggingTid(value, ...)           PLX_TLG_VALUE(UINT32, value)
#define TraceLoggingPort(value, ...)          PLX_TLG_VALUE(UINT16, value)
#define TraceLoggingIPv4Address(value, ...)   PLX_TLG_VALUE(UINT32, value)
#define TraceLoggingIPv6Address(value, ...)   PLX_TLG_VALUE(const VOID *, value)
#define TraceLoggingNTStatus(value, ...)      PLX_TLG_VALUE(NTSTATUS, value)
#define TraceLoggingHResult(value, ...)       PLX_TLG_VALUE(HRESULT, value)
#define TraceLoggingWinError(value, ...)      PLX_TLG_VALUE(ULONG, value)
#define TraceLoggingPointer(value, ...)       PLX_TLG_VALUE(const VOID *, value)
#define TraceLoggingCodePointer(value, ...)   PLX_TLG_VALUE(const VOID *, value)
#define TraceLoggingFileTime(value, ...)      (value).dwLowDateTime
#define TraceLoggingGuid(value, ...)          (value).Data1
#define TraceLoggingString(value, ...)        PLX_TLG_VALUE(const char *, value)
#define TraceLoggingUtf8String(value, ...)    PLX_TLG_VALUE(const char *, value)
#define TraceLoggingWideString(value, ...)    PLX_TLG_VALUE(const WCHAR *, value)
#define TraceLoggingUnicodeString(value, ...) PLX_TLG_VALUE(const UNICODE_STRING *, value)
#define TraceLoggingAnsiString(value, ...)    PLX_TLG_VALUE(const ANSI_STRING *, value)
#define TraceLoggingSid(value, ...)           PLX_TLG_VALUE(const VOID *, value)
/* A value and a count */
#define TraceLoggingCountedString(value, count, ...)     PlxTraceLoggingMemory((value), (count))
#define TraceLoggingCountedWideString(value, count, ...) PlxTraceLoggingMemory((value), (count))
#define TraceLoggingBinary(value, size, ...)             PlxTraceLoggingMemory((value), (size))
#define TraceLoggingSocketAddress(value, size, ...)      PlxTraceLoggingMemory((value), (size))
#define TraceLoggingUInt8Array(value, count, ...)        PlxTraceLoggingMemory((value), (count))
#define TraceLoggingUInt32Array(value, count, ...)       PlxTraceLoggingMemory((value), (count))
#define TraceLoggingUInt64Array(value, count, ...)       PlxTraceLoggingMemory((value), (count))
/* A type that the compiler knows */
#define TraceLoggingValue(value, ...) (value)

#endif
