/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls a library's DllMain() when the library is loaded and unloaded; libpollux-win calls it for
 * threads. It is in its own archive, which pollux-cc links into shared libraries. A library without
 * DllMain() is loaded like any other. Start with attach().
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "plx_catalog.h"

enum {
	PROCESS_DETACH,
	PROCESS_ATTACH,
	INIT_FAILED = 0x42, /* the part of STATUS_DLL_INIT_FAILED that fits an exit code */
};

/* In C++ the linker name encodes the parameters: HINSTANCE and HMODULE are one type, HANDLE
 * another. */
plx_dll_main_fn DllMain __attribute__((weak));
plx_dll_main_fn dll_main_of_instance __asm__("_Z7DllMainP11HINSTANCE__jPv") __attribute__((weak));
plx_dll_main_fn dll_main_of_handle __asm__("_Z7DllMainPvjS_") __attribute__((weak));

static int is_refused;
static int is_attached;
static struct plx_dll self;

/* Has DllMain() refused to be loaded? LoadLibrary calls this in each library that it loads. */
__attribute__((visibility("default"))) int plx_dll_refused(void);

int
plx_dll_refused(void)
{
	return is_refused;
}

/* The handle of the library, as LoadLibrary returns it. */
static void *
instance_of(const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle;
}

/* The third argument is NULL for LoadLibrary and FreeLibrary, but not at the start and end of the
 * process. */
static int32_t
call(uint32_t reason)
{
	return self.main(self.instance, reason, plx_library_in_call() ? NULL : &is_refused);
}

__attribute__((constructor)) static void
attach(void)
{
	plx_dll_main_fn *const kinds[] = {DllMain, dll_main_of_instance, dll_main_of_handle};
	plx_dll_main_fn *mine = NULL;
	Dl_info info = {0};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !mine; i++)
		mine = kinds[i];
	if (!mine)
		return;
	dladdr(&is_refused, &info);
	plx_dll_begin(&self, mine, instance_of(info.dli_fname), info.dli_fname);
	is_attached = call(PROCESS_ATTACH) != 0;
	if (is_attached) {
		plx_dll_ready(&self);
		return;
	}
	plx_dll_end(&self);
	is_refused = 1;
	if (plx_library_in_call())
		return;
	/* Windows does not start a program if one of its libraries refuses. */
	fprintf(stderr, "%s: its DllMain() has refused DLL_PROCESS_ATTACH\n", info.dli_fname);
	_exit(INIT_FAILED);
}

__attribute__((destructor)) static void
detach(void)
{
	if (!is_attached)
		return;
	plx_dll_end(&self);
	call(PROCESS_DETACH);
}
