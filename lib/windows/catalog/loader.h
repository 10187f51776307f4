/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What library.c, which owns the modules that are loaded, has for dll.c, which tells them of
 * threads. It owns no state. Start with win_library_lock().
 */
#ifndef PLX_WIN_LOADER_H
#define PLX_WIN_LOADER_H

#include <stdbool.h>

/** The loader lock: LoadLibrary and FreeLibrary have it, and who tells libraries of a thread. The
 * same thread may take it again. */
void win_library_lock(void);
/** @param unused for pthread_cleanup_push() */
void win_library_unlock(void *unused);
/** dlclose(), of a library that is told it was FreeLibrary's doing. */
void win_library_close(void *handle);
bool win_library_is_known(const void *handle);

#endif
