/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Routines of the kernel by name: those that this library exports. Start with
 * MmGetSystemRoutineAddress().
 */
#include "io.h"

#include <dlfcn.h>
#include <stdio.h>

enum {
	NAME_ROOM = 128, /* more than the longest name */
};

static const char own_place = 0;

/* Is it of this image? Its dependencies export names of Windows, too, for programs. */
static bool
is_ours(const void *address)
{
	Dl_info own, other;

	return dladdr((const void *)&own_place, &own) != 0 && dladdr(address, &other) != 0 &&
	       own.dli_fbase == other.dli_fbase;
}

PVOID
MmGetSystemRoutineAddress(PUNICODE_STRING name)
{
	char symbol[NAME_ROOM + 16], text[NAME_ROOM];
	PVOID address;

	plx_ke_require("MmGetSystemRoutineAddress", PASSIVE_LEVEL);
	text_to_utf8(text, sizeof(text), name);
	snprintf(symbol, sizeof(symbol), "plx_win_%s", text);
	address = dlsym(RTLD_DEFAULT, symbol);
	return address != NULL && is_ours(address) ? address : NULL;
}
