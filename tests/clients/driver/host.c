/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Loads the image of a driver, enters it, and unloads it: afterwards it is not there.
 */
#include <dlfcn.h>
#include <stdio.h>

int errors = 2;

int
main(int count, char **arguments)
{
	void *image = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
	union {
		void *symbol;
		int (*call)(void *, void *);
	} entry = {image ? dlsym(image, "DriverEntry") : NULL};

	if (!entry.symbol) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	printf("%08x\n", (unsigned)entry.call(NULL, NULL));
	dlclose(image);
	printf("%s\n", dlopen(arguments[1], RTLD_NOW | RTLD_NOLOAD) ? "still there" : "unloaded");
	return 0;
}
