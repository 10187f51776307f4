/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of Pollux that are loaded when they are wanted: the host half, with DPDK, when a
 * program opens an adapter of its own, and the reader of pollux.conf, with libconfig, when it opens
 * one by its name alone (decision 49). It owns no state. Start with find().
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "plx_adapter.h"
#include "plx_host.h"

static const char host_library[] = "libpollux-host.so.0";
static const char config_library[] = "libpollux-config.so.0";

/* Load a library from the folder that this one is in. Not by its name alone: a sanitizer that
 * stands before dlopen() hides in which folders this library looks. Returns: NULL: dlerror() says
 * why */
static void *
open_beside(const char *library)
{
	char path[PATH_MAX];
	const char *end;
	Dl_info own;

	if (dladdr(host_library, &own) == 0)
		return NULL;
	end = strrchr(own.dli_fname, '/');
	/* A path that is cut short is that of no library. */
	(void)snprintf(path, sizeof(path), "%.*s%s",
		       end != NULL ? (int)(end + 1 - own.dli_fname) : 0, own.dli_fname, library);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The library is of the same version, for they share structs. It stays loaded.
 * Returns: NULL: it cannot be loaded */
static void *
find(const char *library, const char *call, struct plx_why *why)
{
	void *handle = open_beside(library);
	void *found = handle != NULL ? dlvsym(handle, call, PLX_PRIVATE) : NULL;

	if (found == NULL)
		plx_why_set(why, "%s is needed beside libpollux.so, of the same version: %.200s",
			    library, dlerror());
	return found;
}

enum plx_status
plx_host_embed(const char *name, const struct plx_adapter_options *options, struct plx_seat **seat,
	       struct plx_why *why)
{
	enum plx_status (*embed)(const char *, const struct plx_adapter_options *,
				 struct plx_seat **, struct plx_why *);

	/* of a function, POSIX says that it may be had like this */
	*(void **)&embed = find(host_library, "plx_host_embed", why);
	return embed != NULL ? embed(name, options, seat, why) : PLX_CONFIG;
}

enum plx_status
plx_eal_start(const char *arguments, struct plx_why *why)
{
	enum plx_status (*start)(const char *, struct plx_why *);

	*(void **)&start = find(host_library, "plx_eal_start", why);
	return start != NULL ? start(arguments, why) : PLX_CONFIG;
}

enum plx_status
plx_adapter_options_load(const char *adapter, struct plx_adapter_options *options,
			 struct plx_why *why)
{
	enum plx_status (*load)(const char *, struct plx_adapter_options *, struct plx_why *);

	*(void **)&load = find(config_library, "plx_adapter_options_load", why);
	return load != NULL ? load(adapter, options, why) : PLX_CONFIG;
}

int
plx_adapter_list(char (*names)[PLX_ADAPTER_NAME_MAX + 1], uint32_t n, struct plx_why *why)
{
	int (*list)(char(*)[PLX_ADAPTER_NAME_MAX + 1], uint32_t, struct plx_why *);

	*(void **)&list = find(config_library, "plx_adapter_list", why);
	return list != NULL ? list(names, n, why) : -1;
}
