/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From here to plx_linux_end.h the system is Linux, under pollux-cc: for headers that are Linux's.
 * The standard ones do so by themselves. Between the two nothing but includes. No guard: it is
 * included in pairs. Elsewhere both do nothing that is noticed.
 */
#pragma GCC system_header
#ifdef PLX_LINUX_SIDE
#error "plx_linux_begin.h twice, without plx_linux_end.h between"
#endif
#define PLX_LINUX_SIDE 1

#pragma push_macro("_WIN32")
#pragma push_macro("_WIN64")
#pragma push_macro("WIN32")
#pragma push_macro("WIN64")
#pragma push_macro("_MSC_VER")
#pragma push_macro("_MSC_FULL_VER")
#pragma push_macro("_MSC_BUILD")
#pragma push_macro("_MSC_EXTENSIONS")
#pragma push_macro("_MSVC_LANG")
#pragma push_macro("_M_X64")
#pragma push_macro("_M_AMD64")
#pragma push_macro("_M_ARM64")
#pragma push_macro("_M_IX86")
#pragma push_macro("__in")
#pragma push_macro("__out")
#pragma push_macro("__inout")
#pragma push_macro("__reserved")
#pragma push_macro("__callback")
#pragma push_macro("__valid")
#pragma push_macro("__null")
#pragma push_macro("__fallthrough")
#pragma push_macro("__success")
#pragma push_macro("min")
#pragma push_macro("max")
#pragma push_macro("interface")
#pragma push_macro("small")
#pragma push_macro("near")
#pragma push_macro("far")
#pragma push_macro("IN")
#pragma push_macro("OUT")
#pragma push_macro("__linux__")
#pragma push_macro("__linux")
#pragma push_macro("linux")
#pragma push_macro("__gnu_linux__")
#pragma push_macro("__unix__")
#pragma push_macro("__unix")
#pragma push_macro("unix")

#undef _WIN32
#undef _WIN64
#undef WIN32
#undef WIN64
#undef _MSC_VER
#undef _MSC_FULL_VER
#undef _MSC_BUILD
#undef _MSC_EXTENSIONS
#undef _MSVC_LANG
#undef _M_X64
#undef _M_AMD64
#undef _M_ARM64
#undef _M_IX86
#undef __in
#undef __out
#undef __inout
#undef __reserved
#undef __callback
#undef __valid
#undef __null
#undef __fallthrough
#undef __success
#undef min
#undef max
#undef interface
#undef small
#undef near
#undef far
#undef IN
#undef OUT

/* as the compiler itself has them, whose words in small letters are GNU's only */
#undef __linux__
#undef __linux
#undef __gnu_linux__
#undef __unix__
#undef __unix
#undef linux
#undef unix
#define __linux__     1
#define __linux       1
#define __gnu_linux__ 1
#define __unix__      1
#define __unix        1
#ifndef __STRICT_ANSI__
#define linux 1
#define unix  1
#endif
