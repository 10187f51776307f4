/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the trace headers that pollux-tmh writes stand on: the words of WPP that drivers use in
 * their own macros, and the call that prints a message. A driver includes it by its .tmh alone.
 *
 * Here no session chooses what is traced: from WPP_INIT_TRACING to WPP_CLEANUP every flag is set
 * and every level enabled, and DbgPrintEx filters what is printed. With WPP_VANISH defined nothing
 * is traced, and no code remains.
 */
#ifndef PLX_WPP_H
#define PLX_WPP_H

#include "wdmtypes.h"

#include "evntrace.h"

/* What may stand between "%!" and "!" in a message, in any case of letters: T(NAME, argument). NONE
 * takes no argument; the others one of 32 or 64 bits, or a pointer. A line each: pollux-tmh reads
 * them here. */
#define PLX_WPP_TYPES(T)     \
	T(FUNC, NONE)        \
	T(FILE, NONE)        \
	T(LINE, NONE)        \
	T(LEVEL, NONE)       \
	T(FLAGS, NONE)       \
	T(COMPNAME, NONE)    \
	T(STDPREFIX, NONE)   \
	T(SPACE, NONE)       \
	T(STATUS, INT)       \
	T(NTSTATUS, INT)     \
	T(HRESULT, INT)      \
	T(WINERROR, INT)     \
	T(IRQL, INT)         \
	T(BOOL, INT)         \
	T(BOOLEAN, INT)      \
	T(PORT, INT)         \
	T(IPADDR, INT)       \
	T(SINT, INT)         \
	T(UINT, INT)         \
	T(XINT, INT)         \
	T(SLONG, INT)        \
	T(ULONG, INT)        \
	T(XLONG, INT)        \
	T(SINT64, QUAD)      \
	T(UINT64, QUAD)      \
	T(XINT64, QUAD)      \
	T(DELTA, QUAD)       \
	T(DUE, QUAD)         \
	T(WAITTIME, QUAD)    \
	T(DATE, QUAD)        \
	T(TIME, QUAD)        \
	T(DATETIME, QUAD)    \
	T(TIMESTAMP, QUAD)   \
	T(HANDLE, POINTER)   \
	T(PTR, POINTER)      \
	T(IPV6ADDR, POINTER) \
	T(GUID, POINTER)     \
	T(CLSID, POINTER)    \
	T(LIBID, POINTER)    \
	T(IID, POINTER)      \
	T(ASTR, POINTER)     \
	T(WSTR, POINTER)     \
	T(ANSTR, POINTER)    \
	T(USTR, POINTER)

#ifdef __cplusplus
extern "C" {
#endif

/* Of an image; every source that traces defines it, and the linker keeps one. */
struct PLX_WPP_CONTROL {
	BOOLEAN On;
	UCHAR Level;
	ULONG Flags[8];
	ULONG64 Logger;
};
__attribute__((__weak__, __visibility__("hidden"))) struct PLX_WPP_CONTROL plx_wpp_control = {
	0, 0, {0}, 0};

/**
 * Print one message and a line's end by DbgPrintEx, if tracing is on.
 * @param level   as the source writes it: "TRACE_LEVEL_ERROR", "2"; empty if the call has none
 * @param flags   as the source writes them
 * @param format  that of DbgPrintEx, and the types above
 * Returns: 1
 */
int PlxWppTrace(const struct PLX_WPP_CONTROL *control, const char *level, const char *flags,
		const char *component, const char *function, const char *file, int line,
		const char *format, ...) PLX_WIN_NAME(PlxWppTrace);

static inline void
PlxWppSwitch(BOOLEAN on, ...)
{
	plx_wpp_control.On = on;
	plx_wpp_control.Level = on ? 0xff : 0;
	memset(plx_wpp_control.Flags, on ? 0xff : 0, sizeof(plx_wpp_control.Flags));
}

#ifdef __cplusplus
}
#endif

#ifdef WPP_VANISH
#define PLX_WPP_IF(enabled) 0
#else
#define PLX_WPP_IF(enabled) (plx_wpp_control.On && (enabled))
#endif

#define WPP_INIT_TRACING(...)     PlxWppSwitch(1, __VA_ARGS__)
#define WPP_CLEANUP(DriverObject) PlxWppSwitch(0, DriverObject)

/* ---- flags and levels ---- */

/* WPP_CONTROL_GUIDS, which the driver defines, as a list of constants. */
#define WPP_DEFINE_CONTROL_GUID(Name, Guid, Bits) Bits
#define WPP_DEFINE_BIT(Name)                      WPP_BIT_##Name,

#define WPP_CONTROL(Bit) plx_wpp_control
#define WPP_FLAG_NO(Bit) ((Bit) >> 5)
#define WPP_MASK(Bit)    (1u << ((Bit)&31))
#define WPP_LEVEL_ENABLED(Flag) \
	((plx_wpp_control.Flags[WPP_FLAG_NO(WPP_BIT_##Flag)] & WPP_MASK(WPP_BIT_##Flag)) != 0)
#define WPP_FLAG_ENABLED(Flag)  WPP_LEVEL_ENABLED(Flag)
#define WPP_FLAGS_ENABLED(Flag) WPP_LEVEL_ENABLED(Flag)
#define WPP_LEVEL_LOGGER(Flag)  (plx_wpp_control.Logger),
#define WPP_FLAG_LOGGER(Flag)   WPP_LEVEL_LOGGER(Flag)
#define WPP_FLAGS_LOGGER(Flag)  WPP_LEVEL_LOGGER(Flag)

#endif
