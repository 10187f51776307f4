/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C run-time functions that the Windows rooms share: conversion between narrow and wide text,
 * translation of errors, the last error of a thread. Clients use the Windows names (../include).
 * libpollux-win exports only the PLX_WIN_API functions of this header.
 * It owns no state. Start with utf8_of_wide() and win_fail().
 *
 * Threads: every function here may be called from any thread.
 */
#ifndef PLX_CRT_H
#define PLX_CRT_H

#include <windows.h>

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_WIN_API __attribute__((visibility("default")))

/* Conversion between wide strings of Windows programs and the UTF-8 of files and paths, in any
 * locale */

/**
 * Convert wide text to UTF-8.
 *
 * @param size [bytes] of `out`, including the final 0; 0: nothing is written
 * Returns: the bytes of the complete result, without the 0. Invalid characters become U+FFFD. A
 * result that does not fit is truncated after a whole character.
 */
size_t utf8_of_wide(const wchar_t *text, char *out, size_t size);

/** Convert UTF-8 to wide text, otherwise as utf8_of_wide(). @param size [characters] */
size_t wide_of_utf8(const char *text, wchar_t *out, size_t size);

/* Errors */

/** The Win32 error of an errno, as Windows' file functions report it. */
uint32_t win_error_of_errno(int number);
/** The WSAE... error of an errno */
int win_wsa_of_errno(int number);

/** SetLastError, for `return win_fail(...)`. Returns: FALSE */
BOOL win_fail(DWORD error);

/* Pages of VirtualAlloc() */

/** Where VirtualAlloc() takes memory from that is reserved and committed at once, for reading and
 * writing. */
struct plx_page_source {
	/* Zeroed. NULL: none is left, and VirtualAlloc() asks the kernel */
	void *(*alloc)(size_t bytes);
	void (*free)(void *memory);
};

/** Memory that is allocated from now on comes from there; it goes back there, whatever the source
 * is then. @param source outlives the process' memory; NULL: the kernel */
PLX_WIN_API void plx_set_page_source(const struct plx_page_source *source);

/* Programs that begin in wmain() */

/**
 * Convert UTF-8 strings to wide strings, in any locale. main() of libpollux-wmain passes them on.
 *
 * Returns: `count` strings and a NULL, in one block to be passed to free(); NULL: no memory
 */
PLX_WIN_API wchar_t **plx_wide_strings(int count, char *const *narrow);

#ifdef __cplusplus
}
#endif

#endif
