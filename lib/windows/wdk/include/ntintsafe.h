/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arithmetic that tells of an overflow: RtlULongAdd(a, b, &sum) and its kin. A result that the type
 * cannot hold is STATUS_INTEGER_OVERFLOW, and all bits of the result are set.
 */
#ifndef PLX_WDK_NTINTSAFE_H
#define PLX_WDK_NTINTSAFE_H

#include "wdmtypes.h"

#define PLX_WDK_INTSAFE(overflows, result, type) \
	((overflows) ? (*(result) = (type)-1, STATUS_INTEGER_OVERFLOW) : STATUS_SUCCESS)

#define PLX_WDK_SUM(name, type)                                                                  \
	static inline NTSTATUS Rtl##name##Add(type Augend, type Addend, type *Result)            \
	{                                                                                        \
		return PLX_WDK_INTSAFE(__builtin_add_overflow(Augend, Addend, Result), Result,   \
				       type);                                                    \
	}                                                                                        \
	static inline NTSTATUS Rtl##name##Sub(type Minuend, type Subtrahend, type *Result)       \
	{                                                                                        \
		return PLX_WDK_INTSAFE(__builtin_sub_overflow(Minuend, Subtrahend, Result),      \
				       Result, type);                                            \
	}                                                                                        \
	static inline NTSTATUS Rtl##name##Mult(type Multiplicand, type Multiplier, type *Result) \
	{                                                                                        \
		return PLX_WDK_INTSAFE(__builtin_mul_overflow(Multiplicand, Multiplier, Result), \
				       Result, type);                                            \
	}
PLX_WDK_SUM(Int8, INT8)
PLX_WDK_SUM(UInt8, UINT8)
PLX_WDK_SUM(Short, SHORT)
PLX_WDK_SUM(UShort, USHORT)
PLX_WDK_SUM(Int, INT)
PLX_WDK_SUM(UInt, UINT)
PLX_WDK_SUM(Long, LONG)
PLX_WDK_SUM(ULong, ULONG)
PLX_WDK_SUM(LongLong, LONGLONG)
PLX_WDK_SUM(ULongLong, ULONGLONG)
PLX_WDK_SUM(IntPtr, INT_PTR)
PLX_WDK_SUM(UIntPtr, UINT_PTR)
PLX_WDK_SUM(LongPtr, LONG_PTR)
PLX_WDK_SUM(ULongPtr, ULONG_PTR)
#undef PLX_WDK_SUM

/* The same widths under other names. */
#define RtlSizeTAdd      RtlULongPtrAdd
#define RtlSizeTSub      RtlULongPtrSub
#define RtlSizeTMult     RtlULongPtrMult
#define RtlSSIZETAdd     RtlLongPtrAdd
#define RtlSSIZETSub     RtlLongPtrSub
#define RtlSSIZETMult    RtlLongPtrMult
#define RtlPtrdiffTAdd   RtlLongPtrAdd
#define RtlPtrdiffTSub   RtlLongPtrSub
#define RtlPtrdiffTMult  RtlLongPtrMult
#define RtlUInt16Add     RtlUShortAdd
#define RtlUInt16Sub     RtlUShortSub
#define RtlUInt16Mult    RtlUShortMult
#define RtlInt16Add      RtlShortAdd
#define RtlInt16Sub      RtlShortSub
#define RtlInt16Mult     RtlShortMult
#define RtlUInt32Add     RtlUIntAdd
#define RtlUInt32Sub     RtlUIntSub
#define RtlUInt32Mult    RtlUIntMult
#define RtlInt32Add      RtlIntAdd
#define RtlInt32Sub      RtlIntSub
#define RtlInt32Mult     RtlIntMult
#define RtlUInt64Add     RtlULongLongAdd
#define RtlUInt64Sub     RtlULongLongSub
#define RtlUInt64Mult    RtlULongLongMult
#define RtlInt64Add      RtlLongLongAdd
#define RtlInt64Sub      RtlLongLongSub
#define RtlInt64Mult     RtlLongLongMult
#define RtlWordAdd       RtlUShortAdd
#define RtlWordSub       RtlUShortSub
#define RtlWordMult      RtlUShortMult
#define RtlDWordAdd      RtlULongAdd
#define RtlDWordSub      RtlULongSub
#define RtlDWordMult     RtlULongMult
#define RtlDWordPtrAdd   RtlULongPtrAdd
#define RtlDWordPtrSub   RtlULongPtrSub
#define RtlDWordPtrMult  RtlULongPtrMult
#define RtlDWordLongAdd  RtlULongLongAdd
#define RtlDWordLongSub  RtlULongLongSub
#define RtlDWordLongMult RtlULongLongMult

#define PLX_WDK_CONVERSION(from_name, from, to_name, to)                                        \
	static inline NTSTATUS Rtl##from_name##To##to_name(from Operand, to *Result)            \
	{                                                                                       \
		return PLX_WDK_INTSAFE(__builtin_add_overflow(Operand, 0, Result), Result, to); \
	}
#define PLX_WDK_CONVERSIONS(name, type)                      \
	PLX_WDK_CONVERSION(name, type, Int8, INT8)           \
	PLX_WDK_CONVERSION(name, type, UInt8, UINT8)         \
	PLX_WDK_CONVERSION(name, type, UChar, UCHAR)         \
	PLX_WDK_CONVERSION(name, type, Short, SHORT)         \
	PLX_WDK_CONVERSION(name, type, UShort, USHORT)       \
	PLX_WDK_CONVERSION(name, type, Int, INT)             \
	PLX_WDK_CONVERSION(name, type, UInt, UINT)           \
	PLX_WDK_CONVERSION(name, type, Long, LONG)           \
	PLX_WDK_CONVERSION(name, type, ULong, ULONG)         \
	PLX_WDK_CONVERSION(name, type, LongLong, LONGLONG)   \
	PLX_WDK_CONVERSION(name, type, ULongLong, ULONGLONG) \
	PLX_WDK_CONVERSION(name, type, IntPtr, INT_PTR)      \
	PLX_WDK_CONVERSION(name, type, UIntPtr, UINT_PTR)    \
	PLX_WDK_CONVERSION(name, type, LongPtr, LONG_PTR)    \
	PLX_WDK_CONVERSION(name, type, ULongPtr, ULONG_PTR)  \
	PLX_WDK_CONVERSION(name, type, SizeT, SIZE_T)        \
	PLX_WDK_CONVERSION(name, type, Word, WORD)           \
	PLX_WDK_CONVERSION(name, type, DWord, DWORD)
PLX_WDK_CONVERSIONS(Short, SHORT)
PLX_WDK_CONVERSIONS(UShort, USHORT)
PLX_WDK_CONVERSIONS(Int, INT)
PLX_WDK_CONVERSIONS(UInt, UINT)
PLX_WDK_CONVERSIONS(Long, LONG)
PLX_WDK_CONVERSIONS(ULong, ULONG)
PLX_WDK_CONVERSIONS(LongLong, LONGLONG)
PLX_WDK_CONVERSIONS(ULongLong, ULONGLONG)
PLX_WDK_CONVERSIONS(IntPtr, INT_PTR)
PLX_WDK_CONVERSIONS(UIntPtr, UINT_PTR)
PLX_WDK_CONVERSIONS(LongPtr, LONG_PTR)
PLX_WDK_CONVERSIONS(ULongPtr, ULONG_PTR)
PLX_WDK_CONVERSIONS(SizeT, SIZE_T)
PLX_WDK_CONVERSIONS(DWord, DWORD)
#undef PLX_WDK_CONVERSIONS
#undef PLX_WDK_CONVERSION

#endif
