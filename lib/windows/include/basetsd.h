/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Integer types of fixed width, with the names of Windows, on LP64 Linux.
 * A Windows LONG has 32 bits and Linux's long has 64, so only the types as wide as a pointer use
 * long. 64-bit types are long long, so that "%llx" fits them.
 * Start with windef.h, which has the other plain types.
 */
#ifndef PLX_WIN_BASETSD_H
#define PLX_WIN_BASETSD_H

#include <stddef.h>
#include <stdint.h>

typedef int8_t INT8, *PINT8;
typedef int16_t INT16, *PINT16;
typedef int32_t INT32, *PINT32;
typedef long long INT64, *PINT64;
typedef uint8_t UINT8, *PUINT8;
typedef uint16_t UINT16, *PUINT16;
typedef uint32_t UINT32, *PUINT32;
typedef unsigned long long UINT64, *PUINT64;

typedef int32_t LONG32, *PLONG32;
typedef uint32_t ULONG32, *PULONG32, DWORD32, *PDWORD32;
typedef long long LONG64, *PLONG64;
typedef unsigned long long ULONG64, *PULONG64, DWORD64, *PDWORD64;

typedef intptr_t INT_PTR, *PINT_PTR, LONG_PTR, *PLONG_PTR;
typedef size_t UINT_PTR, *PUINT_PTR, ULONG_PTR, *PULONG_PTR, DWORD_PTR, *PDWORD_PTR;
typedef size_t SIZE_T, *PSIZE_T;
typedef intptr_t SSIZE_T, *PSSIZE_T;
typedef size_t KAFFINITY, *PKAFFINITY;

#endif
