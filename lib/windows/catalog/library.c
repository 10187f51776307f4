/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loading libraries as Windows programs do, on top of dlopen(), and environment variables in their
 * paths. It owns the list of loaded modules: an unknown handle is refused, not dereferenced. The
 * loader decides where to search. Start with LoadLibraryExW().
 */
#include "loader.h"
#include "plx_catalog.h"

#include <winsock2.h>

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	PATH_BYTES_MAX = 4096,
	NAME_BYTES_MAX = 256,
	AS_IMAGE_RESOURCE = 0x20,
	AS_DATAFILE_EXCLUSIVE = 0x40,
	ORDINAL_MAX = 0xffff, /* "names" up to here are ordinals, which ELF does not have */
};

struct module {
	void *handle;
	uint32_t loads;
	struct module *next;
};

/* recursive, as the loader lock of Windows: code run by loading a library may load another */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct module *modules;

static __thread struct {
	char text[512];
} why;

/* The LoadLibrary and FreeLibrary calls that this thread is in; a library being loaded may load
 * another */
static __thread struct {
	unsigned int depth;
} asked;

bool
plx_library_in_call(void)
{
	return asked.depth > 0;
}

void
win_library_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
win_library_unlock(void *unused)
{
	(void)unused;
	pthread_mutex_unlock(&lock);
}

const char *
plx_library_error(void)
{
	return why.text;
}

static struct module **
find(const void *handle)
{
	struct module **at = &modules;

	while (*at && (*at)->handle != handle)
		at = &(*at)->next;
	return at;
}

bool
win_library_is_known(const void *handle)
{
	bool known;

	pthread_mutex_lock(&lock);
	known = handle && *find(handle);
	pthread_mutex_unlock(&lock);
	return known;
}

/* ---- loading ---- */

/* The Windows error for the loader's refusal. The loader only returns text. */
static DWORD
error_of(const char *path, const char *words)
{
	struct stat status;

	if (strstr(words, "undefined symbol"))
		return ERROR_PROC_NOT_FOUND;
	if (strstr(words, "invalid ELF header") || strstr(words, "file too short") ||
	    strstr(words, "wrong ELF class") || strstr(words, "only ET_DYN") ||
	    strstr(words, "cannot dynamically load"))
		return ERROR_BAD_EXE_FORMAT;
	if (strchr(path, '/') && stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode) || strstr(words, "Permission denied"))
			return ERROR_ACCESS_DENIED;
	}
	return ERROR_MOD_NOT_FOUND;
}

static void *own_symbol(void *handle, const char *name);

/* Has its DllMain() refused? pollux-cc gives such a library a function that reports it. */
static bool
is_refused(void *handle)
{
	void *address = own_symbol(handle, "plx_dll_refused");
	int (*tells)(void);

	memcpy(&tells, &address, sizeof(tells));
	return address && tells();
}

void
win_library_close(void *handle)
{
	asked.depth++;
	dlclose(handle);
	asked.depth--;
}

static HMODULE
load(const char *path, int mode)
{
	struct module *module;
	void *handle;
	const char *words;

	pthread_mutex_lock(&lock);
	asked.depth++;
	handle = dlopen(path, mode | RTLD_LOCAL);
	asked.depth--;
	if (!handle) {
		words = dlerror();
		snprintf(why.text, sizeof(why.text), "%s", words ? words : path);
		pthread_mutex_unlock(&lock);
		SetLastError(error_of(path, why.text));
		return NULL;
	}
	if (is_refused(handle)) {
		win_library_close(handle);
		pthread_mutex_unlock(&lock);
		snprintf(why.text, sizeof(why.text), "%s: its DllMain() has refused to be loaded",
			 path);
		SetLastError(ERROR_DLL_INIT_FAILED);
		return NULL;
	}
	module = *find(handle);
	if (!module) {
		module = calloc(1, sizeof(*module));
		if (!module) {
			win_library_close(handle);
			pthread_mutex_unlock(&lock);
			snprintf(why.text, sizeof(why.text), "%s: no memory", path);
			SetLastError(ERROR_NOT_ENOUGH_MEMORY);
			return NULL;
		}
		module->handle = handle;
		module->next = modules;
		modules = module;
	}
	module->loads++;
	pthread_mutex_unlock(&lock);
	why.text[0] = '\0';
	return (HMODULE)handle;
}

HMODULE WINAPI
LoadLibraryExA(LPCSTR path, HANDLE file, DWORD flags)
{
	const DWORD data = LOAD_LIBRARY_AS_DATAFILE | AS_IMAGE_RESOURCE | AS_DATAFILE_EXCLUSIVE;

	if (!path || !*path || file || (flags & data)) {
		snprintf(why.text, sizeof(why.text), "%s",
			 flags & data ? "a library is loaded to be called, not as data"
				      : "no path of a library was given");
		SetLastError(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	return load(path, flags & DONT_RESOLVE_DLL_REFERENCES ? RTLD_LAZY : RTLD_NOW);
}

HMODULE WINAPI
LoadLibraryExW(LPCWSTR path, HANDLE file, DWORD flags)
{
	char bytes[PATH_BYTES_MAX];

	if (!path)
		return LoadLibraryExA(NULL, file, flags);
	if (utf8_of_wide(path, bytes, sizeof(bytes)) >= sizeof(bytes)) {
		snprintf(why.text, sizeof(why.text), "the path has more than %d bytes",
			 PATH_BYTES_MAX - 1);
		SetLastError(ERROR_MOD_NOT_FOUND);
		return NULL;
	}
	return LoadLibraryExA(bytes, file, flags);
}

HMODULE WINAPI
LoadLibraryA(LPCSTR path)
{
	return LoadLibraryExA(path, NULL, 0);
}

HMODULE WINAPI
LoadLibraryW(LPCWSTR path)
{
	return LoadLibraryExW(path, NULL, 0);
}

BOOL WINAPI
FreeLibrary(HMODULE library)
{
	struct module **at, *module;

	pthread_mutex_lock(&lock);
	at = find(library);
	module = *at;
	if (!library || !module || !module->loads) {
		pthread_mutex_unlock(&lock);
		SetLastError(library ? ERROR_MOD_NOT_FOUND : ERROR_INVALID_HANDLE);
		return FALSE;
	}
	if (--module->loads == 0) {
		*at = module->next;
		free(module);
	}
	win_library_close(library);
	pthread_mutex_unlock(&lock);
	return TRUE;
}

/* ---- loaded libraries ---- */

HMODULE WINAPI
GetModuleHandleA(LPCSTR path)
{
	struct module *module = NULL;
	void *handle;

	pthread_mutex_lock(&lock);
	handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (handle)
		module = *find(handle);
	if (handle && module) {
		dlclose(handle); /* a lookup must not add a reference */
	} else if (handle) {
		/* not loaded by LoadLibrary(): the program's own, or one that it is linked with */
		module = calloc(1, sizeof(*module));
		if (module) {
			module->handle = handle;
			module->next = modules;
			modules = module;
		} else {
			dlclose(handle);
			handle = NULL;
		}
	}
	pthread_mutex_unlock(&lock);
	if (!handle)
		SetLastError(ERROR_MOD_NOT_FOUND);
	return (HMODULE)handle;
}

HMODULE WINAPI
GetModuleHandleW(LPCWSTR path)
{
	char bytes[PATH_BYTES_MAX];

	if (!path)
		return GetModuleHandleA(NULL);
	if (utf8_of_wide(path, bytes, sizeof(bytes)) >= sizeof(bytes)) {
		SetLastError(ERROR_MOD_NOT_FOUND);
		return NULL;
	}
	return GetModuleHandleA(bytes);
}

/* ---- symbols ---- */

/* dlsym() also searches the library's dependencies; GetProcAddress() only finds its own symbols. */
static void *
own_symbol(void *handle, const char *name)
{
	void *address = dlsym(handle, name);
	struct link_map *mine = NULL, *whose = NULL;
	void *extra = NULL;
	Dl_info info;

	if (!address || dlinfo(handle, RTLD_DI_LINKMAP, &mine) != 0 ||
	    !dladdr1(address, &info, &extra, RTLD_DL_LINKMAP))
		return NULL;
	whose = extra;
	return mine == whose ? address : NULL;
}

FARPROC WINAPI
GetProcAddress(HMODULE library, LPCSTR name)
{
	void *address = NULL;
	FARPROC function = NULL;
	bool known;

	pthread_mutex_lock(&lock);
	known = library && *find(library);
	if (known && (uintptr_t)name > ORDINAL_MAX)
		address = own_symbol(library, name);
	pthread_mutex_unlock(&lock);
	if (!known)
		SetLastError(library ? ERROR_MOD_NOT_FOUND : ERROR_INVALID_HANDLE);
	else if (!address)
		SetLastError(ERROR_PROC_NOT_FOUND);
	memcpy(&function, &address, sizeof(function));
	return function;
}

/* ---- the environment ---- */

/* Stores as much text as fits; counts all of it. */
struct sink {
	char *out;
	size_t size, used;
};

static void
put(struct sink *to, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++, to->used++)
		if (to->used < to->size)
			to->out[to->used] = text[i];
}

/* Expand %NAME%; unset names and a lone % stay as they are. In a program with more rights than its
 * caller (setuid) all names count as unset, because libraries are loaded by them. */
static void
expand(const char *from, struct sink *to)
{
	char name[NAME_BYTES_MAX];

	while (*from) {
		const char *end = *from == '%' ? strchr(from + 1, '%') : NULL;
		size_t length = end ? (size_t)(end - from) - 1 : 0;
		const char *value = NULL;

		if (end && length && length < sizeof(name)) {
			memcpy(name, from + 1, length);
			name[length] = '\0';
			value = secure_getenv(name);
		}
		if (value) {
			put(to, value, strlen(value));
			from = end + 1;
		} else {
			put(to, from, 1);
			from++;
		}
	}
	put(to, "", 1);
}

DWORD WINAPI
ExpandEnvironmentStringsA(LPCSTR from, LPSTR to, DWORD chars)
{
	struct sink sink = {NULL, 0, 0};

	if (!from) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return 0;
	}
	expand(from, &sink);
	/* a buffer that is too small is not modified */
	if (to && sink.used <= chars) {
		sink = (struct sink){to, chars, 0};
		expand(from, &sink);
	}
	return (DWORD)sink.used;
}

DWORD WINAPI
ExpandEnvironmentStringsW(LPCWSTR from, LPWSTR to, DWORD chars)
{
	char *narrow, *expanded = NULL;
	struct sink sink = {NULL, 0, 0};
	DWORD need = 0;

	if (!from) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return 0;
	}
	size_t size = utf8_of_wide(from, NULL, 0) + 1;
	narrow = malloc(size);
	if (narrow) {
		utf8_of_wide(from, narrow, size);
		expand(narrow, &sink);
		expanded = malloc(sink.used);
	}
	if (expanded) {
		sink = (struct sink){expanded, sink.used, 0};
		expand(narrow, &sink);
		need = (DWORD)wide_of_utf8(expanded, NULL, 0) + 1;
		if (to && chars >= need)
			wide_of_utf8(expanded, to, chars);
	} else {
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
	}
	free(narrow);
	free(expanded);
	return need;
}
