/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structures and small inline functions of windows.h beyond the plain types: 64 bits in two halves,
 * lists, alignment, memory, and the record that contains a member. Interlocked functions are in
 * interlockedapi.h.
 */
#ifndef PLX_WIN_WINNT_H
#define PLX_WIN_WINNT_H

#include "windef.h"
#include "guiddef.h"
#include "interlockedapi.h"

/* The same five as in ntstatus.h, for programs that do not include it. */
#define STATUS_WAIT_0           ((NTSTATUS)0x00000000)
#define STATUS_ABANDONED_WAIT_0 ((NTSTATUS)0x00000080)
#define STATUS_TIMEOUT          ((NTSTATUS)0x00000102)
#define STATUS_PENDING          ((NTSTATUS)0x00000103)

typedef union _LARGE_INTEGER {
	__extension__ struct {
		DWORD LowPart;
		LONG HighPart;
	};
	struct {
		DWORD LowPart;
		LONG HighPart;
	} u;
	LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

typedef union _ULARGE_INTEGER {
	__extension__ struct {
		DWORD LowPart;
		DWORD HighPart;
	};
	struct {
		DWORD LowPart;
		DWORD HighPart;
	} u;
	ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef struct _LIST_ENTRY {
	struct _LIST_ENTRY *Flink;
	struct _LIST_ENTRY *Blink;
} LIST_ENTRY, *PLIST_ENTRY;

typedef struct _SINGLE_LIST_ENTRY {
	struct _SINGLE_LIST_ENTRY *Next;
} SINGLE_LIST_ENTRY, *PSINGLE_LIST_ENTRY;

typedef struct _PROCESSOR_NUMBER {
	WORD Group;
	BYTE Number;
	BYTE Reserved;
} PROCESSOR_NUMBER, *PPROCESSOR_NUMBER;

typedef struct _GROUP_AFFINITY {
	KAFFINITY Mask;
	WORD Group;
	WORD Reserved[3];
} GROUP_AFFINITY, *PGROUP_AFFINITY;

#define MAXBYTE   0xff
#define MAXWORD   0xffff
#define MAXDWORD  0xffffffff
#define MAXUSHORT 0xffff
#define MAXULONG  0xffffffff
#define MAXLONG   0x7fffffff
#define MINLONG   ((LONG)0x80000000)

#define PAGE_NOACCESS                0x01
#define PAGE_READONLY                0x02
#define PAGE_READWRITE               0x04
#define PAGE_EXECUTE_READWRITE       0x40
#define MEM_COMMIT                   0x00001000
#define MEM_RESERVE                  0x00002000
#define MEM_RELEASE                  0x00008000
#define MEM_LARGE_PAGES              0x20000000
#define HEAP_NO_SERIALIZE            0x00000001
#define HEAP_ZERO_MEMORY             0x00000008
#define SYNCHRONIZE                  0x00100000
#define EVENT_MODIFY_STATE           0x00000002
#define EVENT_ALL_ACCESS             0x001F0003
#define MAXIMUM_WAIT_OBJECTS         64
#define PROCESSOR_ARCHITECTURE_AMD64 9

/* Reasons for calling DllMain(), in a library linked by pollux-cc. */
#define DLL_PROCESS_DETACH 0
#define DLL_PROCESS_ATTACH 1
#define DLL_THREAD_ATTACH  2
#define DLL_THREAD_DETACH  3

#define ANYSIZE_ARRAY 1

#ifdef __cplusplus
template <class T, size_t n> char (&plx_win_array(T (&)[n]))[n];
#define ARRAYSIZE(a) sizeof(plx_win_array(a))
#else
#define ARRAYSIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#define _countof(a)                 ARRAYSIZE(a)
#define RTL_NUMBER_OF(a)            ARRAYSIZE(a)
#define FIELD_OFFSET(type, field)   ((LONG) __builtin_offsetof(type, field))
#define RTL_FIELD_SIZE(type, field) sizeof(((type *)0)->field)
#define RTL_SIZEOF_THROUGH_FIELD(type, field) \
	(__builtin_offsetof(type, field) + RTL_FIELD_SIZE(type, field))
#define RTL_NUMBER_OF_FIELD(type, field) RTL_NUMBER_OF(((type *)0)->field)
/* Does a struct of this size, which says so itself, have the field? */
#define RTL_CONTAINS_FIELD(at, size, field) \
	((char *)&(at)->field + sizeof((at)->field) <= (char *)(at) + (size))
#define ARGUMENT_PRESENT(pointer) ((pointer) != NULL)

#define C_ASSERT(e) typedef char plx_win_assert[(e) ? 1 : -1] __attribute__((__unused__))

/* Also of classes that have bases and virtual functions, of which quiet.h lets gcc say nothing. */
#define CONTAINING_RECORD(address, type, field) \
	((type *)((char *)(address) - __builtin_offsetof(type, field)))

/* Operators for an enumeration of flags; C needs none. */
#ifdef __cplusplus
#include <type_traits>

#define DEFINE_ENUM_FLAG_OPERATORS(E)                                                  \
	extern "C++" {                                                                 \
	inline constexpr E                                                             \
	operator|(E a, E b)                                                            \
	{                                                                              \
		return static_cast<E>(static_cast<std::underlying_type<E>::type>(a) |  \
				      static_cast<std::underlying_type<E>::type>(b));  \
	}                                                                              \
	inline constexpr E                                                             \
	operator&(E a, E b)                                                            \
	{                                                                              \
		return static_cast<E>(static_cast<std::underlying_type<E>::type>(a) &  \
				      static_cast<std::underlying_type<E>::type>(b));  \
	}                                                                              \
	inline constexpr E                                                             \
	operator^(E a, E b)                                                            \
	{                                                                              \
		return static_cast<E>(static_cast<std::underlying_type<E>::type>(a) ^  \
				      static_cast<std::underlying_type<E>::type>(b));  \
	}                                                                              \
	inline constexpr E                                                             \
	operator~(E a)                                                                 \
	{                                                                              \
		return static_cast<E>(~static_cast<std::underlying_type<E>::type>(a)); \
	}                                                                              \
	inline E &                                                                     \
	operator|=(E &a, E b)                                                          \
	{                                                                              \
		return a = a | b;                                                      \
	}                                                                              \
	inline E &                                                                     \
	operator&=(E &a, E b)                                                          \
	{                                                                              \
		return a = a & b;                                                      \
	}                                                                              \
	inline E &                                                                     \
	operator^=(E &a, E b)                                                          \
	{                                                                              \
		return a = a ^ b;                                                      \
	}                                                                              \
	}
#else
#define DEFINE_ENUM_FLAG_OPERATORS(E)
#endif

/* End the process at once, without running anything else; the code is for a debugger. A macro,
 * since clang has a builtin function of that name under -fms-extensions. */
static inline DECLSPEC_NORETURN void
plx_win_fastfail(unsigned int code)
{
	volatile unsigned int seen = code;

	(void)seen;
	__builtin_trap();
}
#define __fastfail(code)                     plx_win_fastfail(code)
#define FAST_FAIL_LEGACY_GS_VIOLATION        0
#define FAST_FAIL_STACK_COOKIE_CHECK_FAILURE 2
#define FAST_FAIL_CORRUPT_LIST_ENTRY         3
#define FAST_FAIL_INVALID_ARG                5
#define FAST_FAIL_FATAL_APP_EXIT             7
#define FAST_FAIL_RANGE_CHECK_FAILURE        8
#define FAST_FAIL_INVALID_REFERENCE_COUNT    14

/* Text for a debugger, of which nothing remains. */
#define __annotation(...) ((void)0)

/* ---- languages ---- */

#define MAKELANGID(primary, sub) ((WORD)((WORD)(sub) << 10 | (WORD)(primary)))
#define PRIMARYLANGID(id)        ((WORD)(id)&0x3ff)
#define SUBLANGID(id)            ((WORD)(id) >> 10)
#define MAKELCID(language, sort) ((DWORD)(WORD)(sort) << 16 | (DWORD)(WORD)(language))
#define LANGIDFROMLCID(lcid)     ((WORD)(lcid))

#define LANG_NEUTRAL          0x00
#define LANG_ENGLISH          0x09
#define LANG_INVARIANT        0x7f
#define SUBLANG_NEUTRAL       0x00
#define SUBLANG_DEFAULT       0x01
#define SUBLANG_SYS_DEFAULT   0x02
#define SUBLANG_ENGLISH_US    0x01
#define SUBLANG_ENGLISH_UK    0x02
#define SORT_DEFAULT          0x0
#define LANG_SYSTEM_DEFAULT   MAKELANGID(LANG_NEUTRAL, SUBLANG_SYS_DEFAULT)
#define LANG_USER_DEFAULT     MAKELANGID(LANG_NEUTRAL, SUBLANG_DEFAULT)
#define LOCALE_NEUTRAL        MAKELCID(MAKELANGID(LANG_NEUTRAL, SUBLANG_NEUTRAL), SORT_DEFAULT)
#define LOCALE_SYSTEM_DEFAULT MAKELCID(LANG_SYSTEM_DEFAULT, SORT_DEFAULT)
#define LOCALE_USER_DEFAULT   MAKELCID(LANG_USER_DEFAULT, SORT_DEFAULT)

/* ---- files ---- */

#define GENERIC_READ                 0x80000000
#define GENERIC_WRITE                0x40000000
#define GENERIC_EXECUTE              0x20000000
#define GENERIC_ALL                  0x10000000
#define FILE_READ_DATA               0x0001
#define FILE_WRITE_DATA              0x0002
#define FILE_APPEND_DATA             0x0004
#define FILE_READ_ATTRIBUTES         0x0080
#define FILE_WRITE_ATTRIBUTES        0x0100
#define FILE_SHARE_READ              0x1
#define FILE_SHARE_WRITE             0x2
#define FILE_SHARE_DELETE            0x4
#define FILE_ATTRIBUTE_READONLY      0x00000001
#define FILE_ATTRIBUTE_HIDDEN        0x00000002
#define FILE_ATTRIBUTE_SYSTEM        0x00000004
#define FILE_ATTRIBUTE_DIRECTORY     0x00000010
#define FILE_ATTRIBUTE_ARCHIVE       0x00000020
#define FILE_ATTRIBUTE_DEVICE        0x00000040
#define FILE_ATTRIBUTE_NORMAL        0x00000080
#define FILE_ATTRIBUTE_TEMPORARY     0x00000100
#define FILE_ATTRIBUTE_REPARSE_POINT 0x00000400

/* The casts are for C++ objects, which gcc otherwise warns not to fill. */
#define RtlZeroMemory(to, bytes)       ((void)memset((void *)(to), 0, (bytes)))
#define RtlFillMemory(to, bytes, fill) ((void)memset((void *)(to), (fill), (bytes)))
#define RtlCopyMemory(to, from, bytes) ((void)memcpy((void *)(to), (from), (bytes)))
#define RtlMoveMemory(to, from, bytes) ((void)memmove((void *)(to), (from), (bytes)))
#define RtlEqualMemory(a, b, bytes)    (memcmp((a), (b), (bytes)) == 0)
#define ZeroMemory                     RtlZeroMemory
#define FillMemory                     RtlFillMemory
#define CopyMemory                     RtlCopyMemory
#define MoveMemory                     RtlMoveMemory

#define MemoryBarrier()     __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define _ReadWriteBarrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#ifdef __x86_64__
#define YieldProcessor() __builtin_ia32_pause()
#else
#define YieldProcessor() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#endif

#endif
