/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The provider catalog and the library loader: what Windows' own calls (../include/ws2spi.h,
 * winbase.h) do not cover. It owns the list of libraries that have a DllMain().
 * Start with plx_catalog_check() and struct plx_dll.
 *
 * Threads: every function here may be called from any thread.
 */
#ifndef PLX_CATALOG_H
#define PLX_CATALOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plx_crt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the catalog of providers ----
 *
 * The catalog is read and changed by Winsock's calls (ws2spi.h). This function reports what is
 * wrong with it.
 */

/**
 * Read the catalog as WSCEnumProtocols() does. The catalog omits an invalid drop-in file; this
 * function reports it: file, line, setting, value, range.
 *
 * @param text [size] one sentence per line; empty: no errors
 * Returns: the number of errors
 * Tests: tests/unit/windows/catalog/entries.c
 */
PLX_WIN_API uint32_t plx_catalog_check(char *text, size_t size);

/** Why this thread's last LoadLibrary() failed, in the loader's words; "" if it succeeded. Never
 * NULL; valid until the thread's next LoadLibrary(). Tests: tests/unit/windows/catalog/library.c */
PLX_WIN_API const char *plx_library_error(void);

/** Is this thread in LoadLibrary() or FreeLibrary()? libpollux-dllmain.a uses it to tell apart
 * libraries loaded with the process, and unloaded at its end. Tests: tests/clients/wrapper */
PLX_WIN_API bool plx_library_in_call(void);

/* ---- libraries with a DllMain() ----
 *
 * libpollux-dllmain.a calls these functions from the constructor and the destructor of such a
 * library. Threads of CreateThread() then notify the library when they start and end.
 */

typedef int32_t plx_dll_main_fn(void *instance, uint32_t reason, void *reserved);

/* In the library's memory; libpollux-win uses it from plx_dll_begin() to plx_dll_end(). */
struct plx_dll {
	plx_dll_main_fn *main;
	void *instance;
	const char *path;
	uint64_t id;
	pthread_t by; /* the thread that attaches it, or that is in a call */
	uint32_t calls;
	bool ready, quiet;
	struct plx_dll *next;
};

/**
 * Announce that this thread is about to call DllMain() with DLL_PROCESS_ATTACH. Threads that start
 * meanwhile wait for plx_dll_ready() or plx_dll_end().
 *
 * @param main     DllMain()
 * @param instance the value that LoadLibrary() returns for the library
 * @param path     as the loader has it; valid while the library is loaded
 */
PLX_WIN_API void plx_dll_begin(struct plx_dll *dll, plx_dll_main_fn *main, void *instance,
			       const char *path);
/** Report that DllMain() has accepted DLL_PROCESS_ATTACH. From now on threads notify the library.
 */
PLX_WIN_API void plx_dll_ready(struct plx_dll *dll);
/** Stop notifying the library of threads. When this returns, no other thread is in its DllMain()
 * for such a notification. Call it before DLL_PROCESS_DETACH.
 * Tests: tests/unit/windows/catalog/told.c */
PLX_WIN_API void plx_dll_end(struct plx_dll *dll);

/** Call every registered DllMain() with DLL_THREAD_ATTACH or DLL_THREAD_DETACH for this thread.
 * Cost: one load if no library has a DllMain() */
void win_dll_tell(uint32_t reason);

#ifdef __cplusplus
}
#endif

#endif
