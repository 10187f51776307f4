/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the program of told.c has for the libraries of told_library.c.
 */
#ifndef PLX_TESTS_TOLD_H
#define PLX_TESTS_TOLD_H

#include <windows.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOLD_EXPORT __attribute__((visibility("default")))

TOLD_EXPORT void told_enter(char name, DWORD reason, const void *reserved, BOOL itself);
TOLD_EXPORT void told_leave(void);
/* A library's own: its letter. */
TOLD_EXPORT char told_name(void);
TOLD_EXPORT DWORD WINAPI told_routine(void *argument);

#ifdef __cplusplus
}
#endif

#endif
