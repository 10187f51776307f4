/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words in the declarations of drivers that say nothing to the compiler: the oldest annotations,
 * and some marks of Microsoft's headers. They are plain words, which other headers may have as
 * names: what belongs to Linux is included before (plx_linux_begin.h), or by a source of its own.
 */
#ifndef PLX_WDK_WDMWORDS_H
#define PLX_WDK_WDMWORDS_H

#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef OPTIONAL
#define OPTIONAL
#endif
#ifndef NOTHING
#define NOTHING
#endif
#ifndef CRITICAL
#define CRITICAL
#endif
#ifndef RESTRICTED_POINTER
#define RESTRICTED_POINTER
#endif
#ifndef CONST
#define CONST const
#endif

#define FASTCALL
#define NTSYSAPI
#define NTSYSCALLAPI
#define NTKERNELAPI
#define NTHALAPI

#endif
