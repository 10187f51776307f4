/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Disables warnings of -Wall and -Wextra about constructs that are common in good Windows source.
 * They stay disabled after windows.h; a program that wants them defines PLX_WIN_ALL_WARNINGS first.
 */
#ifndef PLX_WIN_QUIET_H
#define PLX_WIN_QUIET_H

#ifndef PLX_WIN_ALL_WARNINGS
/* #pragma comment(lib, ...), #pragma warning(...). g++ hears of this only by the flags of
 * pkg-config. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#ifdef __clang__
/* pshpack1.h changes the alignment of what follows it: that is its purpose. */
#pragma clang diagnostic ignored "-Wpragma-pack"
#endif
/* struct in_addr a = {x}: it is a union here, as on Windows. */
#pragma GCC diagnostic ignored "-Wmissing-braces"
#ifndef __cplusplus
/* A length of Winsock is an int, where socklen_t is unsigned. */
#pragma GCC diagnostic ignored "-Wpointer-sign"
#endif
#ifdef __cplusplus
/* An object of COM deletes itself in Release; its class has no virtual destructor and must not. */
#pragma GCC diagnostic ignored "-Wdelete-non-virtual-dtor"
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
/* CONTAINING_RECORD of a class with bases: the offset is right on every system we know. */
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
/* OVERLAPPED o = {0}; and addresses of nested structures without inner braces. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces"
/* Microsoft's compiler does not speak of these: members out of order, delete of a void pointer,
 * a DWORD that counts to a LONG. */
#pragma GCC diagnostic ignored "-Wreorder"
#pragma GCC diagnostic ignored "-Wdelete-incomplete"
#pragma GCC diagnostic ignored "-Wsign-compare"
#endif
#endif

#endif
