/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The keywords of Microsoft's compiler as macros for gcc and clang, in C and C++. It includes and
 * declares nothing, so a compiler wrapper may include it in front of every source file (-include).
 * windows.h brings it too. Every name here belongs to the implementation on both systems (an
 * underscore in front), and tests/unit/face/ndspi/compile holds that no system header uses one.
 */
#ifndef PLX_WIN_POLLUX_MSVC_H
#define PLX_WIN_POLLUX_MSVC_H

/* x86-64 has one calling convention. */
#define __cdecl
#define __stdcall
#define __fastcall
#define __thiscall
#define __vectorcall
#define _cdecl
#define _stdcall
#define _fastcall

#define __int8 char
#define __int16 short
#define __int32 int
#define __int64 long long

#define __wchar_t wchar_t
#define __ptr32
#define __ptr64
#define __unaligned
#define __w64
#define __forceinline inline __attribute__((__always_inline__))
#define _forceinline __forceinline

/* A promise to the optimizer; 0 says that the line is never reached. */
#define __assume(e)    ((e) ? (void)0 : __builtin_unreachable())
#define __debugbreak() __builtin_trap()
#define __noop(...)    ((void)0)
/* clang has it with -fms-extensions. */
#ifndef __pragma
#define __pragma(...) PLX_MSVC_PRAGMA(__VA_ARGS__)
#endif
#define __FUNCSIG__ __PRETTY_FUNCTION__
#define PLX_MSVC_PRAGMA(...) _Pragma(#__VA_ARGS__)

/* __declspec(word) or __declspec(word(...)): the word picks the attribute. */
#define __declspec(...) PLX_DECLSPEC_##__VA_ARGS__
#define _declspec(...) PLX_DECLSPEC_##__VA_ARGS__
#define PLX_DECLSPEC_align(n)    __attribute__((__aligned__(n)))
#define PLX_DECLSPEC_allocate(s) __attribute__((__section__(s)))
#define PLX_DECLSPEC_allocator
#define PLX_DECLSPEC_code_seg(s) __attribute__((__section__(s)))
#define PLX_DECLSPEC_deprecated  __attribute__((__deprecated__))
#define PLX_DECLSPEC_dllexport   __attribute__((__visibility__("default")))
#define PLX_DECLSPEC_dllimport   __attribute__((__visibility__("default")))
#define PLX_DECLSPEC_empty_bases
#define PLX_DECLSPEC_guard(...)
#define PLX_DECLSPEC_naked __attribute__((__naked__))
#define PLX_DECLSPEC_noalias
#define PLX_DECLSPEC_noinline __attribute__((__noinline__))
#define PLX_DECLSPEC_noreturn __attribute__((__noreturn__))
#define PLX_DECLSPEC_nothrow  __attribute__((__nothrow__))
#define PLX_DECLSPEC_novtable
#define PLX_DECLSPEC_property(...)
#define PLX_DECLSPEC_restrict
#define PLX_DECLSPEC_safebuffers
#define PLX_DECLSPEC_selectany __attribute__((__weak__))
#define PLX_DECLSPEC_spectre(...)
#define PLX_DECLSPEC_thread __thread
#define PLX_DECLSPEC_uuid(...)

#endif
