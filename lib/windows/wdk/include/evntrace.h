/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The levels of trace messages, which sources name with WPP's macros. Sessions of ETW are not here.
 */
#ifndef PLX_WDK_EVNTRACE_H
#define PLX_WDK_EVNTRACE_H

#define TRACE_LEVEL_NONE        0
#define TRACE_LEVEL_CRITICAL    1
#define TRACE_LEVEL_FATAL       1
#define TRACE_LEVEL_ERROR       2
#define TRACE_LEVEL_WARNING     3
#define TRACE_LEVEL_INFORMATION 4
#define TRACE_LEVEL_VERBOSE     5
#define TRACE_LEVEL_RESERVED6   6
#define TRACE_LEVEL_RESERVED7   7
#define TRACE_LEVEL_RESERVED8   8
#define TRACE_LEVEL_RESERVED9   9

#endif
