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

// clang-format off
//
// begin_wpp config
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
