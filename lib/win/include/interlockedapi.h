/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interlocked functions, each a full barrier. On Windows LONG, long and unsigned have one width and
 * programs pass pointers to any of them; here the width is that of what the pointer points at.
 * A program should hold its counters in LONG, as everywhere.
 */
#ifndef PLX_WIN_INTERLOCKEDAPI_H
#define PLX_WIN_INTERLOCKEDAPI_H

#include "windef.h"

#ifdef __cplusplus

/* The second operand takes the type of the first: InterlockedExchange(&counter, 0). */
template <class T> struct plx_win_same {
	typedef T type;
};

template <class T>
inline T
InterlockedIncrement(T volatile *at)
{
	return __atomic_add_fetch(at, 1, __ATOMIC_SEQ_CST);
}

template <class T>
inline T
InterlockedDecrement(T volatile *at)
{
	return __atomic_sub_fetch(at, 1, __ATOMIC_SEQ_CST);
}

template <class T>
inline T
InterlockedExchange(T volatile *at, typename plx_win_same<T>::type value)
{
	return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}

template <class T>
inline T
InterlockedExchangeAdd(T volatile *at, typename plx_win_same<T>::type value)
{
	return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}

template <class T>
inline T
InterlockedCompareExchange(T volatile *at, typename plx_win_same<T>::type value,
			   typename plx_win_same<T>::type expected)
{
	__atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return expected;
}

template <class T>
inline T
InterlockedAnd(T volatile *at, typename plx_win_same<T>::type value)
{
	return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);
}

template <class T>
inline T
InterlockedOr(T volatile *at, typename plx_win_same<T>::type value)
{
	return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);
}

template <class T>
inline T
InterlockedXor(T volatile *at, typename plx_win_same<T>::type value)
{
	return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST);
}

#else

#define InterlockedIncrement(at)          __atomic_add_fetch((at), 1, __ATOMIC_SEQ_CST)
#define InterlockedDecrement(at)          __atomic_sub_fetch((at), 1, __ATOMIC_SEQ_CST)
#define InterlockedExchange(at, value)    __atomic_exchange_n((at), (value), __ATOMIC_SEQ_CST)
#define InterlockedExchangeAdd(at, value) __atomic_fetch_add((at), (value), __ATOMIC_SEQ_CST)
#define InterlockedAnd(at, value)         __atomic_fetch_and((at), (value), __ATOMIC_SEQ_CST)
#define InterlockedOr(at, value)          __atomic_fetch_or((at), (value), __ATOMIC_SEQ_CST)
#define InterlockedXor(at, value)         __atomic_fetch_xor((at), (value), __ATOMIC_SEQ_CST)

/* The old value comes back in every case, which the built-in of this name gives. */
#define InterlockedCompareExchange(at, value, expected) \
	__sync_val_compare_and_swap((at), (expected), (value))

#endif

#define InterlockedIncrement64       InterlockedIncrement
#define InterlockedDecrement64       InterlockedDecrement
#define InterlockedExchange64        InterlockedExchange
#define InterlockedExchangeAdd64     InterlockedExchangeAdd
#define InterlockedCompareExchange64 InterlockedCompareExchange
#define InterlockedAdd(at, value)    (InterlockedExchangeAdd((at), (value)) + (value))
#define InterlockedAdd64             InterlockedAdd

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

#endif
