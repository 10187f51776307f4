/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What library.c, which owns the loaded modules, provides to dll.c, which notifies them of threads.
 * It owns no state. Start with win_library_lock().
 */
#ifndef PLX_WIN_LOADER_H
#define PLX_WIN_LOADER_H

#include <stdbool.h>

/** The loader lock. It is held by LoadLibrary and FreeLibrary, and while libraries are notified of
 * a thread. It is recursive. */
void win_library_lock(void);
/** @param unused for pthread_cleanup_push() */
void win_library_unlock(void *unused);
/** Call dlclose(); the library sees it as FreeLibrary. */
void win_library_close(void *handle);
bool win_library_is_known(const void *handle);

#endif
