/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalog of providers, and the loader of libraries: what is not in Windows' own calls
 * (../include/ws2spi.h, winbase.h). It owns the list of libraries that have a DllMain().
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

/* ---- the catalog of providers -------------------------------------------------------------------
 *
 * Its calls are those of Winsock (ws2spi.h); these tell a person what is wrong with it.
 */

/**
 * Read the catalog as WSCEnumProtocols() does. A drop-in file that is wrong is left out of it, and
 * is told of here: file, line, setting, value, range.
 *
 * @param text [size] the sentences, one a line; empty: nothing is wrong
 * Returns: how many there are
 * Tests: tests/unit/windows/catalog/entries.c
 */
PLX_WIN_API uint32_t plx_catalog_check(char *text, size_t size);

/** Why this thread's last LoadLibrary() failed, in the loader's words; "" when it did not. Never
 * NULL; good until the thread's next LoadLibrary(). Tests: tests/unit/windows/catalog/library.c */
PLX_WIN_API const char *plx_library_error(void);

/** Is this thread in LoadLibrary() or FreeLibrary()? libpollux-dllmain.a asks: what is loaded with
 * the process, and unloaded at its end, is not. Tests: tests/clients/wrapper */
PLX_WIN_API bool plx_library_in_call(void);

/* ---- libraries with a DllMain() -----------------------------------------------------------------
 *
 * Called by libpollux-dllmain.a, from the constructor and the destructor of such a library. Threads
 * of CreateThread() then tell it of themselves.
 */

typedef int32_t plx_dll_main_fn(void *instance, uint32_t reason, void *reserved);

/* In the library's own memory; libpollux-win's from plx_dll_begin() to plx_dll_end(). */
struct plx_dll {
	plx_dll_main_fn *main;
	void *instance;
	const char *path;
	uint64_t id;
	pthread_t by; /* who attaches it, or is in a call */
	uint32_t calls;
	bool ready, quiet;
	struct plx_dll *next;
};

/**
 * DLL_PROCESS_ATTACH is about to be told, by this thread. Threads that begin wait for the next.
 *
 * @param main     DllMain()
 * @param instance what LoadLibrary() returns for the library
 * @param path     as the loader has it, as long as the library is loaded
 */
PLX_WIN_API void plx_dll_begin(struct plx_dll *dll, plx_dll_main_fn *main, void *instance,
			       const char *path);
/** It has been told and accepted: threads are told of from now on. */
PLX_WIN_API void plx_dll_ready(struct plx_dll *dll);
/** No thread is told of any more, and none is in DllMain() for it, this one excepted. Before
 * DLL_PROCESS_DETACH. Tests: tests/unit/windows/catalog/told.c */
PLX_WIN_API void plx_dll_end(struct plx_dll *dll);

/** Tell every library that wants to know: DLL_THREAD_ATTACH or DLL_THREAD_DETACH of this thread.
 * Cost: one load when no library has a DllMain() */
void win_dll_tell(uint32_t reason);

#ifdef __cplusplus
}
#endif

#endif
