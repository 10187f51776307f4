/* SPDX-License-Identifier: BSD-3-Clause
 *
 * DllMain() of a library, called when it is loaded and when it is unloaded; of threads it is not
 * told. In an archive of its own, which pollux-cc links to shared libraries. A library without
 * DllMain() is loaded as any other. Start with attach().
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "plx_win.h"

enum {
	PROCESS_DETACH,
	PROCESS_ATTACH,
	INIT_FAILED = 0x42, /* what fits of STATUS_DLL_INIT_FAILED */
};

typedef int32_t dll_main_fn(void *instance, uint32_t reason, void *reserved);

/* In C++ the linker's name tells the parameters: HINSTANCE and HMODULE are one type, HANDLE
 * another. */
dll_main_fn DllMain __attribute__((weak));
dll_main_fn dll_main_of_instance __asm__("_Z7DllMainP11HINSTANCE__jPv") __attribute__((weak));
dll_main_fn dll_main_of_handle __asm__("_Z7DllMainPvjS_") __attribute__((weak));

static int is_refused;

/* Has DllMain() refused to be loaded? LoadLibrary asks each library that it loads. */
__attribute__((visibility("default"))) int plx_dll_refused(void);

int
plx_dll_refused(void)
{
	return is_refused;
}

/* The library itself, as LoadLibrary knows it. */
static void *
instance_of(const Dl_info *self)
{
	void *handle = dlopen(self->dli_fname, RTLD_LAZY | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle;
}

static int32_t
call(uint32_t reason, const char **path)
{
	dll_main_fn *const kinds[] = {DllMain, dll_main_of_instance, dll_main_of_handle};
	Dl_info self = {0};

	dladdr(&is_refused, &self);
	*path = self.dli_fname;
	/* the third argument is NULL when LoadLibrary or FreeLibrary asks, not with the process */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i])
			return kinds[i](instance_of(&self), reason,
					plx_library_asked() ? NULL : &is_refused);
	}
	return 1;
}

__attribute__((constructor)) static void
attach(void)
{
	const char *path;

	if (call(PROCESS_ATTACH, &path))
		return;
	is_refused = 1;
	if (plx_library_asked())
		return;
	/* Windows does not start a program of which a library refuses. */
	fprintf(stderr, "%s: its DllMain() has refused DLL_PROCESS_ATTACH\n", path);
	_exit(INIT_FAILED);
}

__attribute__((destructor)) static void
detach(void)
{
	const char *path;

	if (!is_refused)
		call(PROCESS_DETACH, &path);
}
