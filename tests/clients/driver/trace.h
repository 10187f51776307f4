/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the driver traces, as WPP reads it: flags, levels, functions.
 */
#pragma once
#include <evntrace.h>

#define WPP_CONTROL_GUIDS                                                             \
	WPP_DEFINE_CONTROL_GUID(PingGuid, (84bdb2e9, 829e, 41b3, b891, 02f454bc2bd7), \
				WPP_DEFINE_BIT(PING_INIT) WPP_DEFINE_BIT(PING_IO))

#define WPP_LEVEL_FLAGS_LOGGER(level, flags) WPP_LEVEL_LOGGER(flags)
#define WPP_LEVEL_FLAGS_ENABLED(level, flags) \
	(WPP_LEVEL_ENABLED(flags) && WPP_CONTROL(WPP_BIT_##flags).Level >= level)

#define WPP_LEVEL_EXP_PRE(level, status) \
	{                                \
		if (!NT_SUCCESS(status)) {
#define WPP_LEVEL_EXP_POST(level, status) \
	;                                 \
	}                                 \
	}
#define WPP_LEVEL_EXP_ENABLED(level, status) WPP_LEVEL_ENABLED(level)
#define WPP_LEVEL_EXP_LOGGER(level, status)  WPP_LEVEL_LOGGER(level)

/* Memory of a message: a length, and where it is. */
typedef struct _TRACE_BYTES {
	USHORT Length;
	const VOID *Buffer;
} TRACE_BYTES;

static __inline TRACE_BYTES
TraceBytes(USHORT length, const VOID *buffer)
{
	TRACE_BYTES bytes = {length, buffer};

	return bytes;
}
#define WPP_LOGHEXDUMP(x) WPP_LOGPAIR(2, &(x).Length) WPP_LOGPAIR((x).Length, (x).Buffer)

typedef enum _SESSION_STEP {
	SessionStepNone, // before the first
	SessionStepOpen = 5,
	/* the
	 * last, */
	SessionStepClose,
} SESSION_STEP;

// clang-format off
//
// begin_wpp config
// DEFINE_CPLX_TYPE(HEXDUMP, WPP_LOGHEXDUMP, TRACE_BYTES, ItemHEXDump, "s", _HEX_, 0, 2);
// DEFINE_CPLX_TYPE(MACADDR, WPP_LOGMAC, const UCHAR *, ItemMACAddr, "s", _MAC_, 0, 1);
// WPP_FLAGS(-DWPP_LOGMAC(x) WPP_LOGPAIR((6), (x)));
// CUSTOM_TYPE(step, ItemEnum(_SESSION_STEP));
// CUSTOM_TYPE(access, ItemSetLong(Read, Write));
// TYPEMACRO(disk, ItemListShort, (Offline, "On line"));
// CUSTOM_TYPE(missing, ItemEnum(NOWHERE));
// FUNC TraceEvents(LEVEL, FLAGS, MSG, ...);
// FUNC FuncEntry{LEVEL=TRACE_LEVEL_VERBOSE}(FLAGS);
// USESUFFIX(FuncEntry, "enters %!FUNC!");
// FUNC Trace{LEVEL=TRACE_LEVEL_INFORMATION,FLAGS=PING_IO}(MSG, ...);
// USEPREFIX (Trace, "%!LEVEL! [%!FUNC!] ");
// FUNC Say{LEVEL=TRACE_LEVEL_WARNING}((FLAGS, MSG, ...));
// CUSTOM_TYPE(state, ItemListLong(Idle, Busy));
// MACRO: TRACE_FAILED
// FUNC TRACE_FAILED{LEVEL=PING_INIT}(EXP);
// USESUFFIX (TRACE_FAILED, "failed with %!STATUS!", EXP);
// end_wpp
//
