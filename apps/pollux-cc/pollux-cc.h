/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What pollux-cc and pollux-c++ put before the first line of every source: the system is Windows,
 * and Microsoft's keywords are there. It includes no header of the system, so that what the source
 * defines for them still comes first. Assembler sources see none of it: the calling convention is
 * Linux's.
 */
#ifndef PLX_POLLUX_CC_H
#define PLX_POLLUX_CC_H
#ifndef __ASSEMBLER__
#pragma GCC system_header

#undef __linux__
#undef __linux
#undef linux
#undef __gnu_linux__
#undef __unix__
#undef __unix
#undef unix

/* What gcc defines on Windows. _MSC_VER is not among it: the compiler is none of Microsoft's. */
#ifndef _WIN32
#define _WIN32 1
#endif
#ifndef WIN32
#define WIN32 1
#endif
#ifdef __LP64__
#ifndef _WIN64
#define _WIN64 1
#endif
#ifndef WIN64
#define WIN64 1
#endif
#endif

#include <pollux-msvc.h>

/* What Microsoft's compiler takes is no news here. gcc has no name for it. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wmicrosoft"
#endif

#endif
#endif
