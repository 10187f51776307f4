/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interlocked functions. Each is a full barrier unless its suffix says otherwise (Acquire, Release,
 * NoFence). On Windows LONG, long and unsigned have the same width, and programs pass pointers to
 * any of them; here the width is that of the object pointed at. Programs should keep their counters
 * in a LONG.
 */
#ifndef PLX_WIN_INTERLOCKEDAPI_H
#define PLX_WIN_INTERLOCKEDAPI_H

#include "windef.h"

#ifdef __cplusplus

/* The second operand takes the type of the first: InterlockedExchange(&counter, 0). */
template <class T> struct plx_win_same {
	typedef T type;
};

#define PLX_WIN_INTERLOCKED1(name, builtin, order)       \
	template <class T> inline T name(T volatile *at) \
	{                                                \
		return builtin(at, 1, order);            \
	}
#define PLX_WIN_INTERLOCKED2(name, builtin, order)                                             \
	template <class T> inline T name(T volatile *at, typename plx_win_same<T>::type value) \
	{                                                                                      \
		return builtin(at, value, order);                                              \
	}
#define PLX_WIN_INTERLOCKED(suffix, order)                                                         \
	PLX_WIN_INTERLOCKED1(InterlockedIncrement##suffix, __atomic_add_fetch, order)              \
	PLX_WIN_INTERLOCKED1(InterlockedDecrement##suffix, __atomic_sub_fetch, order)              \
	PLX_WIN_INTERLOCKED2(InterlockedExchange##suffix, __atomic_exchange_n, order)              \
	PLX_WIN_INTERLOCKED2(InterlockedExchangeAdd##suffix, __atomic_fetch_add, order)            \
	PLX_WIN_INTERLOCKED2(InterlockedAdd##suffix, __atomic_add_fetch, order)                    \
	PLX_WIN_INTERLOCKED2(InterlockedAnd##suffix, __atomic_fetch_and, order)                    \
	PLX_WIN_INTERLOCKED2(InterlockedOr##suffix, __atomic_fetch_or, order)                      \
	PLX_WIN_INTERLOCKED2(InterlockedXor##suffix, __atomic_fetch_xor, order)                    \
	template <class T>                                                                         \
	inline T InterlockedCompareExchange##suffix(T volatile *at,                                \
						    typename plx_win_same<T>::type value,          \
						    typename plx_win_same<T>::type expected)       \
	{                                                                                          \
		__atomic_compare_exchange_n(at, &expected, value, false, order,                    \
					    order == __ATOMIC_ACQUIRE || order == __ATOMIC_SEQ_CST \
						    ? order                                        \
						    : __ATOMIC_RELAXED);                           \
		return expected;                                                                   \
	}
PLX_WIN_INTERLOCKED(, __ATOMIC_SEQ_CST)
PLX_WIN_INTERLOCKED(Acquire, __ATOMIC_ACQUIRE)
PLX_WIN_INTERLOCKED(Release, __ATOMIC_RELEASE)
PLX_WIN_INTERLOCKED(NoFence, __ATOMIC_RELAXED)

#else

#define InterlockedIncrement(at)              __atomic_add_fetch((at), 1, __ATOMIC_SEQ_CST)
#define InterlockedDecrement(at)              __atomic_sub_fetch((at), 1, __ATOMIC_SEQ_CST)
#define InterlockedExchange(at, by)           __atomic_exchange_n((at), (by), __ATOMIC_SEQ_CST)
#define InterlockedExchangeAdd(at, by)        __atomic_fetch_add((at), (by), __ATOMIC_SEQ_CST)
#define InterlockedAdd(at, by)                __atomic_add_fetch((at), (by), __ATOMIC_SEQ_CST)
#define InterlockedAnd(at, by)                __atomic_fetch_and((at), (by), __ATOMIC_SEQ_CST)
#define InterlockedOr(at, by)                 __atomic_fetch_or((at), (by), __ATOMIC_SEQ_CST)
#define InterlockedXor(at, by)                __atomic_fetch_xor((at), (by), __ATOMIC_SEQ_CST)
#define InterlockedIncrementAcquire(at)       __atomic_add_fetch((at), 1, __ATOMIC_ACQUIRE)
#define InterlockedDecrementAcquire(at)       __atomic_sub_fetch((at), 1, __ATOMIC_ACQUIRE)
#define InterlockedExchangeAcquire(at, by)    __atomic_exchange_n((at), (by), __ATOMIC_ACQUIRE)
#define InterlockedExchangeAddAcquire(at, by) __atomic_fetch_add((at), (by), __ATOMIC_ACQUIRE)
#define InterlockedAddAcquire(at, by)         __atomic_add_fetch((at), (by), __ATOMIC_ACQUIRE)
#define InterlockedAndAcquire(at, by)         __atomic_fetch_and((at), (by), __ATOMIC_ACQUIRE)
#define InterlockedOrAcquire(at, by)          __atomic_fetch_or((at), (by), __ATOMIC_ACQUIRE)
#define InterlockedXorAcquire(at, by)         __atomic_fetch_xor((at), (by), __ATOMIC_ACQUIRE)
#define InterlockedIncrementRelease(at)       __atomic_add_fetch((at), 1, __ATOMIC_RELEASE)
#define InterlockedDecrementRelease(at)       __atomic_sub_fetch((at), 1, __ATOMIC_RELEASE)
#define InterlockedExchangeRelease(at, by)    __atomic_exchange_n((at), (by), __ATOMIC_RELEASE)
#define InterlockedExchangeAddRelease(at, by) __atomic_fetch_add((at), (by), __ATOMIC_RELEASE)
#define InterlockedAddRelease(at, by)         __atomic_add_fetch((at), (by), __ATOMIC_RELEASE)
#define InterlockedAndRelease(at, by)         __atomic_fetch_and((at), (by), __ATOMIC_RELEASE)
#define InterlockedOrRelease(at, by)          __atomic_fetch_or((at), (by), __ATOMIC_RELEASE)
#define InterlockedXorRelease(at, by)         __atomic_fetch_xor((at), (by), __ATOMIC_RELEASE)
#define InterlockedIncrementNoFence(at)       __atomic_add_fetch((at), 1, __ATOMIC_RELAXED)
#define InterlockedDecrementNoFence(at)       __atomic_sub_fetch((at), 1, __ATOMIC_RELAXED)
#define InterlockedExchangeNoFence(at, by)    __atomic_exchange_n((at), (by), __ATOMIC_RELAXED)
#define InterlockedExchangeAddNoFence(at, by) __atomic_fetch_add((at), (by), __ATOMIC_RELAXED)
#define InterlockedAddNoFence(at, by)         __atomic_add_fetch((at), (by), __ATOMIC_RELAXED)
#define InterlockedAndNoFence(at, by)         __atomic_fetch_and((at), (by), __ATOMIC_RELAXED)
#define InterlockedOrNoFence(at, by)          __atomic_fetch_or((at), (by), __ATOMIC_RELAXED)
#define InterlockedXorNoFence(at, by)         __atomic_fetch_xor((at), (by), __ATOMIC_RELAXED)

/* The old value comes back in every case, which the built-in of this name gives; it is a full
 * barrier. */
#define InterlockedCompareExchange(at, value, expected) \
	__sync_val_compare_and_swap((at), (expected), (value))
#define InterlockedCompareExchangeAcquire InterlockedCompareExchange
#define InterlockedCompareExchangeRelease InterlockedCompareExchange
#define InterlockedCompareExchangeNoFence InterlockedCompareExchange

#endif

/* The width is that of what the pointer points at, whatever the name says. */
#define InterlockedIncrement16              InterlockedIncrement
#define InterlockedIncrement16Acquire       InterlockedIncrementAcquire
#define InterlockedIncrement16Release       InterlockedIncrementRelease
#define InterlockedIncrement16NoFence       InterlockedIncrementNoFence
#define InterlockedIncrement64              InterlockedIncrement
#define InterlockedIncrement64Acquire       InterlockedIncrementAcquire
#define InterlockedIncrement64Release       InterlockedIncrementRelease
#define InterlockedIncrement64NoFence       InterlockedIncrementNoFence
#define InterlockedDecrement16              InterlockedDecrement
#define InterlockedDecrement16Acquire       InterlockedDecrementAcquire
#define InterlockedDecrement16Release       InterlockedDecrementRelease
#define InterlockedDecrement16NoFence       InterlockedDecrementNoFence
#define InterlockedDecrement64              InterlockedDecrement
#define InterlockedDecrement64Acquire       InterlockedDecrementAcquire
#define InterlockedDecrement64Release       InterlockedDecrementRelease
#define InterlockedDecrement64NoFence       InterlockedDecrementNoFence
#define InterlockedExchange8                InterlockedExchange
#define InterlockedExchange8Acquire         InterlockedExchangeAcquire
#define InterlockedExchange8Release         InterlockedExchangeRelease
#define InterlockedExchange8NoFence         InterlockedExchangeNoFence
#define InterlockedExchange16               InterlockedExchange
#define InterlockedExchange16Acquire        InterlockedExchangeAcquire
#define InterlockedExchange16Release        InterlockedExchangeRelease
#define InterlockedExchange16NoFence        InterlockedExchangeNoFence
#define InterlockedExchange64               InterlockedExchange
#define InterlockedExchange64Acquire        InterlockedExchangeAcquire
#define InterlockedExchange64Release        InterlockedExchangeRelease
#define InterlockedExchange64NoFence        InterlockedExchangeNoFence
#define InterlockedExchangeAdd8             InterlockedExchangeAdd
#define InterlockedExchangeAdd8Acquire      InterlockedExchangeAddAcquire
#define InterlockedExchangeAdd8Release      InterlockedExchangeAddRelease
#define InterlockedExchangeAdd8NoFence      InterlockedExchangeAddNoFence
#define InterlockedExchangeAdd16            InterlockedExchangeAdd
#define InterlockedExchangeAdd16Acquire     InterlockedExchangeAddAcquire
#define InterlockedExchangeAdd16Release     InterlockedExchangeAddRelease
#define InterlockedExchangeAdd16NoFence     InterlockedExchangeAddNoFence
#define InterlockedExchangeAdd64            InterlockedExchangeAdd
#define InterlockedExchangeAdd64Acquire     InterlockedExchangeAddAcquire
#define InterlockedExchangeAdd64Release     InterlockedExchangeAddRelease
#define InterlockedExchangeAdd64NoFence     InterlockedExchangeAddNoFence
#define InterlockedAdd64                    InterlockedAdd
#define InterlockedAdd64Acquire             InterlockedAddAcquire
#define InterlockedAdd64Release             InterlockedAddRelease
#define InterlockedAdd64NoFence             InterlockedAddNoFence
#define InterlockedAnd8                     InterlockedAnd
#define InterlockedAnd8Acquire              InterlockedAndAcquire
#define InterlockedAnd8Release              InterlockedAndRelease
#define InterlockedAnd8NoFence              InterlockedAndNoFence
#define InterlockedAnd16                    InterlockedAnd
#define InterlockedAnd16Acquire             InterlockedAndAcquire
#define InterlockedAnd16Release             InterlockedAndRelease
#define InterlockedAnd16NoFence             InterlockedAndNoFence
#define InterlockedAnd64                    InterlockedAnd
#define InterlockedAnd64Acquire             InterlockedAndAcquire
#define InterlockedAnd64Release             InterlockedAndRelease
#define InterlockedAnd64NoFence             InterlockedAndNoFence
#define InterlockedOr8                      InterlockedOr
#define InterlockedOr8Acquire               InterlockedOrAcquire
#define InterlockedOr8Release               InterlockedOrRelease
#define InterlockedOr8NoFence               InterlockedOrNoFence
#define InterlockedOr16                     InterlockedOr
#define InterlockedOr16Acquire              InterlockedOrAcquire
#define InterlockedOr16Release              InterlockedOrRelease
#define InterlockedOr16NoFence              InterlockedOrNoFence
#define InterlockedOr64                     InterlockedOr
#define InterlockedOr64Acquire              InterlockedOrAcquire
#define InterlockedOr64Release              InterlockedOrRelease
#define InterlockedOr64NoFence              InterlockedOrNoFence
#define InterlockedXor8                     InterlockedXor
#define InterlockedXor8Acquire              InterlockedXorAcquire
#define InterlockedXor8Release              InterlockedXorRelease
#define InterlockedXor8NoFence              InterlockedXorNoFence
#define InterlockedXor16                    InterlockedXor
#define InterlockedXor16Acquire             InterlockedXorAcquire
#define InterlockedXor16Release             InterlockedXorRelease
#define InterlockedXor16NoFence             InterlockedXorNoFence
#define InterlockedXor64                    InterlockedXor
#define InterlockedXor64Acquire             InterlockedXorAcquire
#define InterlockedXor64Release             InterlockedXorRelease
#define InterlockedXor64NoFence             InterlockedXorNoFence
#define InterlockedCompareExchange16        InterlockedCompareExchange
#define InterlockedCompareExchange16Acquire InterlockedCompareExchangeAcquire
#define InterlockedCompareExchange16Release InterlockedCompareExchangeRelease
#define InterlockedCompareExchange16NoFence InterlockedCompareExchangeNoFence
#define InterlockedCompareExchange64        InterlockedCompareExchange
#define InterlockedCompareExchange64Acquire InterlockedCompareExchangeAcquire
#define InterlockedCompareExchange64Release InterlockedCompareExchangeRelease
#define InterlockedCompareExchange64NoFence InterlockedCompareExchangeNoFence

/* Microsoft has the width behind the order in some of them, before it in others. */
#define InterlockedIncrementAcquire16       InterlockedIncrementAcquire
#define InterlockedIncrementRelease16       InterlockedIncrementRelease
#define InterlockedIncrementNoFence16       InterlockedIncrementNoFence
#define InterlockedIncrementAcquire64       InterlockedIncrementAcquire
#define InterlockedIncrementRelease64       InterlockedIncrementRelease
#define InterlockedIncrementNoFence64       InterlockedIncrementNoFence
#define InterlockedDecrementAcquire16       InterlockedDecrementAcquire
#define InterlockedDecrementRelease16       InterlockedDecrementRelease
#define InterlockedDecrementNoFence16       InterlockedDecrementNoFence
#define InterlockedDecrementAcquire64       InterlockedDecrementAcquire
#define InterlockedDecrementRelease64       InterlockedDecrementRelease
#define InterlockedDecrementNoFence64       InterlockedDecrementNoFence
#define InterlockedExchangeAcquire8         InterlockedExchangeAcquire
#define InterlockedExchangeRelease8         InterlockedExchangeRelease
#define InterlockedExchangeNoFence8         InterlockedExchangeNoFence
#define InterlockedExchangeAcquire16        InterlockedExchangeAcquire
#define InterlockedExchangeRelease16        InterlockedExchangeRelease
#define InterlockedExchangeNoFence16        InterlockedExchangeNoFence
#define InterlockedExchangeAcquire64        InterlockedExchangeAcquire
#define InterlockedExchangeRelease64        InterlockedExchangeRelease
#define InterlockedExchangeNoFence64        InterlockedExchangeNoFence
#define InterlockedExchangeAddAcquire8      InterlockedExchangeAddAcquire
#define InterlockedExchangeAddRelease8      InterlockedExchangeAddRelease
#define InterlockedExchangeAddNoFence8      InterlockedExchangeAddNoFence
#define InterlockedExchangeAddAcquire16     InterlockedExchangeAddAcquire
#define InterlockedExchangeAddRelease16     InterlockedExchangeAddRelease
#define InterlockedExchangeAddNoFence16     InterlockedExchangeAddNoFence
#define InterlockedExchangeAddAcquire64     InterlockedExchangeAddAcquire
#define InterlockedExchangeAddRelease64     InterlockedExchangeAddRelease
#define InterlockedExchangeAddNoFence64     InterlockedExchangeAddNoFence
#define InterlockedAddAcquire64             InterlockedAddAcquire
#define InterlockedAddRelease64             InterlockedAddRelease
#define InterlockedAddNoFence64             InterlockedAddNoFence
#define InterlockedAndAcquire8              InterlockedAndAcquire
#define InterlockedAndRelease8              InterlockedAndRelease
#define InterlockedAndNoFence8              InterlockedAndNoFence
#define InterlockedAndAcquire16             InterlockedAndAcquire
#define InterlockedAndRelease16             InterlockedAndRelease
#define InterlockedAndNoFence16             InterlockedAndNoFence
#define InterlockedAndAcquire64             InterlockedAndAcquire
#define InterlockedAndRelease64             InterlockedAndRelease
#define InterlockedAndNoFence64             InterlockedAndNoFence
#define InterlockedOrAcquire8               InterlockedOrAcquire
#define InterlockedOrRelease8               InterlockedOrRelease
#define InterlockedOrNoFence8               InterlockedOrNoFence
#define InterlockedOrAcquire16              InterlockedOrAcquire
#define InterlockedOrRelease16              InterlockedOrRelease
#define InterlockedOrNoFence16              InterlockedOrNoFence
#define InterlockedOrAcquire64              InterlockedOrAcquire
#define InterlockedOrRelease64              InterlockedOrRelease
#define InterlockedOrNoFence64              InterlockedOrNoFence
#define InterlockedXorAcquire8              InterlockedXorAcquire
#define InterlockedXorRelease8              InterlockedXorRelease
#define InterlockedXorNoFence8              InterlockedXorNoFence
#define InterlockedXorAcquire16             InterlockedXorAcquire
#define InterlockedXorRelease16             InterlockedXorRelease
#define InterlockedXorNoFence16             InterlockedXorNoFence
#define InterlockedXorAcquire64             InterlockedXorAcquire
#define InterlockedXorRelease64             InterlockedXorRelease
#define InterlockedXorNoFence64             InterlockedXorNoFence
#define InterlockedCompareExchangeAcquire16 InterlockedCompareExchangeAcquire
#define InterlockedCompareExchangeRelease16 InterlockedCompareExchangeRelease
#define InterlockedCompareExchangeNoFence16 InterlockedCompareExchangeNoFence
#define InterlockedCompareExchangeAcquire64 InterlockedCompareExchangeAcquire
#define InterlockedCompareExchangeRelease64 InterlockedCompareExchangeRelease
#define InterlockedCompareExchangeNoFence64 InterlockedCompareExchangeNoFence

/* The bit's old value. Bits of a LONG are 0 to 31, of a LONG64 0 to 63. */
#define PLX_WIN_BIT(bit, kind) ((kind)((kind)1 << ((bit) & (8 * sizeof(kind) - 1))))
#define InterlockedBitTestAndSet(at, bit)                                              \
	((BOOLEAN)((__atomic_fetch_or((volatile ULONG *)(at), PLX_WIN_BIT(bit, ULONG), \
				      __ATOMIC_SEQ_CST) &                              \
		    PLX_WIN_BIT(bit, ULONG)) != 0))
#define InterlockedBitTestAndReset(at, bit)                                                     \
	((BOOLEAN)((__atomic_fetch_and((volatile ULONG *)(at), (ULONG)~PLX_WIN_BIT(bit, ULONG), \
				       __ATOMIC_SEQ_CST) &                                      \
		    PLX_WIN_BIT(bit, ULONG)) != 0))
#define InterlockedBitTestAndComplement(at, bit)                                        \
	((BOOLEAN)((__atomic_fetch_xor((volatile ULONG *)(at), PLX_WIN_BIT(bit, ULONG), \
				       __ATOMIC_SEQ_CST) &                              \
		    PLX_WIN_BIT(bit, ULONG)) != 0))
#define InterlockedBitTestAndSet64(at, bit)                                                \
	((BOOLEAN)((__atomic_fetch_or((volatile ULONG64 *)(at), PLX_WIN_BIT(bit, ULONG64), \
				      __ATOMIC_SEQ_CST) &                                  \
		    PLX_WIN_BIT(bit, ULONG64)) != 0))
#define InterlockedBitTestAndReset64(at, bit)                                                   \
	((BOOLEAN)((__atomic_fetch_and((volatile ULONG64 *)(at),                                \
				       (ULONG64)~PLX_WIN_BIT(bit, ULONG64), __ATOMIC_SEQ_CST) & \
		    PLX_WIN_BIT(bit, ULONG64)) != 0))
#define InterlockedBitTestAndComplement64(at, bit)                                          \
	((BOOLEAN)((__atomic_fetch_xor((volatile ULONG64 *)(at), PLX_WIN_BIT(bit, ULONG64), \
				       __ATOMIC_SEQ_CST) &                                  \
		    PLX_WIN_BIT(bit, ULONG64)) != 0))
#define InterlockedBitTestAndSetAcquire   InterlockedBitTestAndSet
#define InterlockedBitTestAndSetRelease   InterlockedBitTestAndSet
#define InterlockedBitTestAndSetNoFence   InterlockedBitTestAndSet
#define InterlockedBitTestAndResetAcquire InterlockedBitTestAndReset
#define InterlockedBitTestAndResetRelease InterlockedBitTestAndReset
#define InterlockedBitTestAndResetNoFence InterlockedBitTestAndReset

static inline PVOID
InterlockedExchangePointer(PVOID volatile *at, PVOID value)
{
	return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}

static inline PVOID
InterlockedCompareExchangePointer(PVOID volatile *at, PVOID value, PVOID expected)
{
	__atomic_compare_exchange_n(at, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return expected;
}

#define InterlockedExchangePointerAcquire        InterlockedExchangePointer
#define InterlockedExchangePointerNoFence        InterlockedExchangePointer
#define InterlockedCompareExchangePointerAcquire InterlockedCompareExchangePointer
#define InterlockedCompareExchangePointerRelease InterlockedCompareExchangePointer
#define InterlockedCompareExchangePointerNoFence InterlockedCompareExchangePointer

#define InterlockedIncrementSizeT(at)              __atomic_add_fetch((at), 1, __ATOMIC_SEQ_CST)
#define InterlockedDecrementSizeT(at)              __atomic_sub_fetch((at), 1, __ATOMIC_SEQ_CST)
#define InterlockedExchangeAddSizeT(at, by)        __atomic_fetch_add((at), (by), __ATOMIC_SEQ_CST)
#define InterlockedExchangeAddSizeTAcquire(at, by) __atomic_fetch_add((at), (by), __ATOMIC_ACQUIRE)
#define InterlockedExchangeAddSizeTNoFence(at, by) __atomic_fetch_add((at), (by), __ATOMIC_RELAXED)
#define InterlockedAndAffinity(at, by)             __atomic_fetch_and((at), (by), __ATOMIC_SEQ_CST)
#define InterlockedOrAffinity(at, by)              __atomic_fetch_or((at), (by), __ATOMIC_SEQ_CST)

/* Two words, aligned to 16. If they are those of *expected, they become low and high and 1 is
 * returned; else *expected becomes what they are. */
#ifdef __x86_64__
static inline UCHAR
InterlockedCompareExchange128(LONG64 volatile *at, LONG64 high, LONG64 low, LONG64 *expected)
{
	UCHAR equal;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(equal), "+m"(*at), "+a"(expected[0]), "+d"(expected[1])
			 : "b"(low), "c"(high)
			 : "memory");
	return equal;
}
#endif

/* ---- bits that no other thread uses ----
 *
 * The bit's old value. A bit may lie beyond the first word.
 */

#define PLX_WIN_BIT_FUNCTIONS(suffix, kind, word)                            \
	static inline UCHAR BitTest##suffix(kind const *at, kind bit)        \
	{                                                                    \
		kind const *in = at + bit / (kind)(8 * sizeof(kind));        \
		return ((word)*in & PLX_WIN_BIT(bit, word)) != 0;            \
	}                                                                    \
	static inline UCHAR BitTestAndSet##suffix(kind *at, kind bit)        \
	{                                                                    \
		UCHAR old = BitTest##suffix(at, bit);                        \
		kind *in = at + bit / (kind)(8 * sizeof(kind));              \
		*in = (kind)((word)*in | PLX_WIN_BIT(bit, word));            \
		return old;                                                  \
	}                                                                    \
	static inline UCHAR BitTestAndReset##suffix(kind *at, kind bit)      \
	{                                                                    \
		UCHAR old = BitTest##suffix(at, bit);                        \
		kind *in = at + bit / (kind)(8 * sizeof(kind));              \
		*in = (kind)((word)*in & (word)~PLX_WIN_BIT(bit, word));     \
		return old;                                                  \
	}                                                                    \
	static inline UCHAR BitTestAndComplement##suffix(kind *at, kind bit) \
	{                                                                    \
		UCHAR old = BitTest##suffix(at, bit);                        \
		kind *in = at + bit / (kind)(8 * sizeof(kind));              \
		*in = (kind)((word)*in ^ PLX_WIN_BIT(bit, word));            \
		return old;                                                  \
	}
PLX_WIN_BIT_FUNCTIONS(, LONG, ULONG)
PLX_WIN_BIT_FUNCTIONS(64, LONG64, ULONG64)

/* Returns: 0: no bit is set, and *index has not changed; else 1, and *index is the lowest (Forward)
 * or the highest bit (Reverse) */
#define PLX_WIN_SCAN(name, kind, zeros, top)                   \
	static inline UCHAR name(ULONG *index, kind mask)      \
	{                                                      \
		if (mask)                                      \
			*index = (ULONG)((top) ^ zeros(mask)); \
		return mask != 0;                              \
	}
PLX_WIN_SCAN(BitScanForward, ULONG, __builtin_ctz, 0)
PLX_WIN_SCAN(BitScanReverse, ULONG, __builtin_clz, 31)
PLX_WIN_SCAN(BitScanForward64, ULONG64, __builtin_ctzll, 0)
PLX_WIN_SCAN(BitScanReverse64, ULONG64, __builtin_clzll, 63)

/* ---- reads and writes ----
 *
 * ReadAcquire(), WriteRelease() and their kin, for each type. "Raw" is for what the compiler may
 * not move or split, which NoFence promises too.
 */

#define PLX_WIN_READ(name, kind, order)                    \
	static inline kind name(kind const volatile *from) \
	{                                                  \
		return __atomic_load_n(from, order);       \
	}
#define PLX_WIN_WRITE(name, kind, order)                       \
	static inline void name(kind volatile *to, kind value) \
	{                                                      \
		__atomic_store_n(to, value, order);            \
	}
#define PLX_WIN_READ_WRITE(infix, kind)                              \
	PLX_WIN_READ(Read##infix##Acquire, kind, __ATOMIC_ACQUIRE)   \
	PLX_WIN_READ(Read##infix##NoFence, kind, __ATOMIC_RELAXED)   \
	PLX_WIN_READ(Read##infix##Raw, kind, __ATOMIC_RELAXED)       \
	PLX_WIN_WRITE(Write##infix##Release, kind, __ATOMIC_RELEASE) \
	PLX_WIN_WRITE(Write##infix##NoFence, kind, __ATOMIC_RELAXED) \
	PLX_WIN_WRITE(Write##infix##Raw, kind, __ATOMIC_RELAXED)
#define PLX_WIN_READ_WRITE_BITS(bits, kind)                       \
	PLX_WIN_READ(ReadAcquire##bits, kind, __ATOMIC_ACQUIRE)   \
	PLX_WIN_READ(ReadNoFence##bits, kind, __ATOMIC_RELAXED)   \
	PLX_WIN_READ(ReadRaw##bits, kind, __ATOMIC_RELAXED)       \
	PLX_WIN_WRITE(WriteRelease##bits, kind, __ATOMIC_RELEASE) \
	PLX_WIN_WRITE(WriteNoFence##bits, kind, __ATOMIC_RELAXED) \
	PLX_WIN_WRITE(WriteRaw##bits, kind, __ATOMIC_RELAXED)
PLX_WIN_READ_WRITE_BITS(8, CHAR)
PLX_WIN_READ_WRITE_BITS(16, SHORT)
PLX_WIN_READ_WRITE(, LONG)
PLX_WIN_READ_WRITE_BITS(64, LONG64)
PLX_WIN_READ_WRITE(UChar, UCHAR)
PLX_WIN_READ_WRITE(UShort, USHORT)
PLX_WIN_READ_WRITE(ULong, ULONG)
PLX_WIN_READ_WRITE(ULong64, ULONG64)
PLX_WIN_READ_WRITE(Pointer, PVOID)
PLX_WIN_READ_WRITE(Boolean, BOOLEAN)
#define ReadSizeTAcquire(from) __atomic_load_n((SIZE_T const volatile *)(from), __ATOMIC_ACQUIRE)
#define ReadSizeTNoFence(from) __atomic_load_n((SIZE_T const volatile *)(from), __ATOMIC_RELAXED)
#define WriteSizeTRelease(to, value) \
	__atomic_store_n((SIZE_T volatile *)(to), (value), __ATOMIC_RELEASE)
#define WriteSizeTNoFence(to, value) \
	__atomic_store_n((SIZE_T volatile *)(to), (value), __ATOMIC_RELAXED)

/* ---- lists ----
 *
 * A stack of entries that any thread may push to and pop from. Entries are aligned to
 * MEMORY_ALLOCATION_ALIGNMENT, as those of malloc() and HeapAlloc() are. A head is
 * InitializeSListHead's and is never copied. On Windows a depth of 65,536 is counted as 0, and so
 * it is here. Tests: tests/unit/windows/objects/slist.c
 */

#define MEMORY_ALLOCATION_ALIGNMENT 16

typedef struct __attribute__((__aligned__(16))) _SLIST_ENTRY {
	struct _SLIST_ENTRY *Next;
} SLIST_ENTRY, *PSLIST_ENTRY;

typedef union __attribute__((__aligned__(16))) _SLIST_HEADER {
	ULONGLONG Alignment;
	ULONGLONG room[2];
} SLIST_HEADER, *PSLIST_HEADER;

PLX_WIN_BEGIN

VOID WINAPI InitializeSListHead(PSLIST_HEADER head) PLX_WIN_NAME(InitializeSListHead);
/** Returns: the first entry before; NULL: it was empty */
PSLIST_ENTRY WINAPI InterlockedPushEntrySList(PSLIST_HEADER head, PSLIST_ENTRY entry)
	PLX_WIN_NAME(InterlockedPushEntrySList);
/** The entries from first to last, linked by Next. @param count how many. Returns: as above */
PSLIST_ENTRY WINAPI InterlockedPushListSListEx(PSLIST_HEADER head, PSLIST_ENTRY first,
					       PSLIST_ENTRY last, ULONG count)
	PLX_WIN_NAME(InterlockedPushListSListEx);
/** Returns: what was pushed last; NULL: it is empty */
PSLIST_ENTRY WINAPI InterlockedPopEntrySList(PSLIST_HEADER head)
	PLX_WIN_NAME(InterlockedPopEntrySList);
/** Returns: all entries, linked by Next */
PSLIST_ENTRY WINAPI InterlockedFlushSList(PSLIST_HEADER head) PLX_WIN_NAME(InterlockedFlushSList);
USHORT WINAPI QueryDepthSList(PSLIST_HEADER head) PLX_WIN_NAME(QueryDepthSList);

PLX_WIN_END

#endif
