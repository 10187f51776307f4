/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rotations and orders of bytes under the names of Microsoft's C library, for drivers and for who
 * includes intrin.h. They are macros, since compilers know functions of these names.
 */
#ifndef PLX_WIN_CRTBITS_H
#define PLX_WIN_CRTBITS_H

#include "winnt.h"

#define PLX_WIN_ROTATE(bits, type)                                                \
	static inline type PlxRotateLeft##bits(type value, int shift)             \
	{                                                                         \
		unsigned int n = (unsigned int)shift & ((bits)-1);                \
                                                                                  \
		return (type)(n == 0 ? value : value << n | value >> ((bits)-n)); \
	}
PLX_WIN_ROTATE(8, UCHAR)
PLX_WIN_ROTATE(16, USHORT)
PLX_WIN_ROTATE(32, UINT32)
PLX_WIN_ROTATE(64, UINT64)
#undef PLX_WIN_ROTATE

#define _rotl8(value, shift)  PlxRotateLeft8((value), (shift))
#define _rotr8(value, shift)  PlxRotateLeft8((value), -(int)(shift))
#define _rotl16(value, shift) PlxRotateLeft16((value), (shift))
#define _rotr16(value, shift) PlxRotateLeft16((value), -(int)(shift))
#define _rotl64(value, shift) PlxRotateLeft64((value), (shift))
#define _rotr64(value, shift) PlxRotateLeft64((value), -(int)(shift))
/* The compilers' headers of intrinsics define these two, too. */
#ifndef _rotl
#define _rotl(value, shift) PlxRotateLeft32((value), (shift))
#define _rotr(value, shift) PlxRotateLeft32((value), -(int)(shift))
#endif

#define _byteswap_ushort(value) __builtin_bswap16((USHORT)(value))
#define _byteswap_ulong(value)  __builtin_bswap32((UINT32)(value))
#define _byteswap_uint64(value) ((UINT64)__builtin_bswap64((UINT64)(value)))

#endif
