/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What Microsoft's build of a driver defines on the command line. pollux-cc -kernel puts it before
 * the first line of every source; wdm.h brings it too. It includes and declares nothing. Each name
 * may be defined before, by -D.
 */
#ifndef PLX_WDK_POLLUX_KERNEL_H
#define PLX_WDK_POLLUX_KERNEL_H
#ifndef __ASSEMBLER__

#ifndef _KERNEL_MODE
#define _KERNEL_MODE 1
#endif
#ifndef _WIN64
#define _WIN64 1
#endif
#if defined(__x86_64__) && !defined(_AMD64_)
#define _AMD64_ 1
#endif
#if defined(__x86_64__) && !defined(AMD64)
#define AMD64 1
#endif
#if defined(__aarch64__) && !defined(_ARM64_)
#define _ARM64_ 1
#endif
#if defined(__aarch64__) && !defined(ARM64)
#define ARM64 1
#endif

/* Windows Server 2022, which has NDKPI 2.1. */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#endif
#ifndef WINVER
#define WINVER 0x0A00
#endif
#ifndef NTDDI_VERSION
#define NTDDI_VERSION 0x0A00000A
#endif
#ifndef WINNT
#define WINNT 1
#endif

#if !defined(DBG) && !defined(NDEBUG)
#define DBG 1
#endif

#endif
#endif
