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
	T(NDIS_STATUS, INT)  \
	T(NDIS_OID, INT)     \
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
	T(SID, POINTER)      \
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

/* How a type of the driver's own is printed: by names (CUSTOM_TYPE), as bytes (DEFINE_CPLX_TYPE).
 */
enum PLX_WPP_ITEM {
	PLX_WPP_LIST = 1,
	PLX_WPP_SET,
	PLX_WPP_HEXDUMP,
	PLX_WPP_TEXT,
	PLX_WPP_WIDE_TEXT,
	PLX_WPP_GUID,
	PLX_WPP_IPV4,
	PLX_WPP_IPV6,
	PLX_WPP_MAC
};

struct PLX_WPP_NAME {
	LONGLONG Value;
	const char *Text;
};

struct PLX_WPP_PAIR {
	const void *Address;
	SIZE_T Bytes;
};

struct PLX_WPP_CUSTOM {
	const char *Name; /* NULL: the end of a table */
	enum PLX_WPP_ITEM Item;
	const struct PLX_WPP_NAME *Names; /* the last has no text */
	/* The memory of an argument: length and bytes, or bytes alone. Returns: pairs */
	ULONG (*Pairs)(struct PLX_WPP_PAIR *pairs, const void *argument);
	BOOLEAN IsRecord; /* its argument is passed by address */
};
#define PLX_WPP_PAIRS_MAX 4

/**
 * Print one message and a line's end by DbgPrintEx, if tracing is on.
 * @param customs the driver's own types, which its .tmh lists; NULL: none
 * @param level   as the source writes it: "TRACE_LEVEL_ERROR", "2"; empty if the call has none
 * @param flags   as the source writes them
 * @param format  that of DbgPrintEx, and the types above
 * Returns: 1
 */
int PlxWppTrace(const struct PLX_WPP_CONTROL *control, const struct PLX_WPP_CUSTOM *customs,
		const char *level, const char *flags, const char *component, const char *function,
		const char *file, int line, const char *format, ...) PLX_WIN_NAME(PlxWppTrace);

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

/* ---- arguments ---- */

/* What the helper macros of DEFINE_CPLX_TYPE are made of. */
#define WPP_LOGPAIR(Size, Address) {(Address), (SIZE_T)(Size)},

/* An argument as it is passed on: a record by the address of a copy, which lives as long as the
 * call; anything else as it is. */
#ifdef __cplusplus
#define PLX_WPP_IS_RECORD(T) (__is_class(T) || __is_union(T))
extern "C++" {
template <bool is_record> struct PLX_WPP_PASS {
	template <class T>
	static const T &
	as(const T &argument)
	{
		return argument;
	}
};
template <> struct PLX_WPP_PASS<true> {
	template <class T>
	static const T *
	as(const T &argument)
	{
		return &argument;
	}
};
template <class T> struct PLX_WPP_KIND {
	static const bool is_record = PLX_WPP_IS_RECORD(T);
};
template <class T>
static inline auto
PlxWppPass(const T &argument) -> decltype(PLX_WPP_PASS<PLX_WPP_KIND<T>::is_record>::as(argument))
{
	return PLX_WPP_PASS<PLX_WPP_KIND<T>::is_record>::as(argument);
}
}
#define PLX_WPP_ARGUMENT(a) PlxWppPass(a)
#else
#define PLX_WPP_CLASS_IS_RECORD(c) ((c) == 12 || (c) == 13) /* structs and unions */
#define PLX_WPP_IS_RECORD(T)       PLX_WPP_CLASS_IS_RECORD(__builtin_classify_type(*(T *)0))
#define PLX_WPP_RECORD_OR_0(a) \
	__builtin_choose_expr(PLX_WPP_CLASS_IS_RECORD(__builtin_classify_type(a)), (a), 0)
#define PLX_WPP_ARGUMENT(a)                                                                      \
	__builtin_choose_expr(PLX_WPP_CLASS_IS_RECORD(__builtin_classify_type(a)),               \
			      ((__typeof__(PLX_WPP_RECORD_OR_0(a))[1]){PLX_WPP_RECORD_OR_0(a)}), \
			      (a))
#endif

/* PLX_WPP_ARGUMENTS(0, a, b): ", a, b" as they are passed on, of up to 20. */
#define PLX_WPP_ARGUMENTS(...)                                                                     \
	PLX_WPP_PASTE(PLX_WPP_ARGUMENTS_,                                                          \
		      PLX_WPP_COUNT(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, \
				    7, 6, 5, 4, 3, 2, 1, 0, 0))                                    \
	(__VA_ARGS__)
#define PLX_WPP_PASTE(a, b)  PLX_WPP_PASTE_(a, b)
#define PLX_WPP_PASTE_(a, b) a##b
/* N is the number that so many arguments move there. */
#define PLX_WPP_COUNT(z, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, N, ...) N
#define PLX_WPP_ARGUMENTS_0(z)
#define PLX_WPP_ARGUMENTS_1(z, a)       , PLX_WPP_ARGUMENT(a)
#define PLX_WPP_ARGUMENTS_2(z, a, ...)  , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_1(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_3(z, a, ...)  , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_2(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_4(z, a, ...)  , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_3(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_5(z, a, ...)  , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_4(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_6(z, a, ...)  , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_5(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_7(z, a, ...)  , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_6(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_8(z, a, ...)  , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_7(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_9(z, a, ...)  , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_8(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_10(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_9(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_11(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_10(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_12(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_11(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_13(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_12(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_14(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_13(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_15(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_14(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_16(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_15(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_17(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_16(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_18(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_17(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_19(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_18(z, __VA_ARGS__)
#define PLX_WPP_ARGUMENTS_20(z, a, ...) , PLX_WPP_ARGUMENT(a) PLX_WPP_ARGUMENTS_19(z, __VA_ARGS__)

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
