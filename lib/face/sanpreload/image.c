/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Will a program that is to be executed have this library? Not if it is linked statically, has more
 * rights than its caller, or is given an environment without it. Start with preload_will_have().
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload.h"

enum {
	HEAD_BYTES = 4096, /* of a file: its headers, in all that linkers make */
	SCRIPTS_MAX = 4,   /* whose interpreter is a script, as the kernel */
};

static bool
is_in_environment(char *const *environment)
{
	bool library = false, socket = false;

	for (; environment != NULL && *environment != NULL; environment++) {
		if (strncmp(*environment, "LD_PRELOAD=", 11) == 0)
			library = strstr(*environment, "libpollux-sockets") != NULL;
		if (strncmp(*environment, "POLLUX_SOCKETS=", 15) == 0)
			socket = true;
	}
	return library && socket;
}

/* Of another kind, or cut: it is taken for one that has an interpreter. */
static bool
has_linker(const char *head, size_t bytes)
{
	Elf64_Ehdr elf;
	Elf64_Phdr part;

	if (bytes < sizeof(elf) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return true;
	memcpy(&elf, head, sizeof(elf));
	for (unsigned i = 0; i < elf.e_phnum; i++) {
		size_t at = elf.e_phoff + (size_t)i * sizeof(part);

		if (elf.e_phoff > bytes || at + sizeof(part) > bytes)
			return true;
		memcpy(&part, head + at, sizeof(part));
		if (part.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* The interpreter that the first line of a script names. Returns: false: it is none */
static bool
interpreter_of(const char *head, char path[static PATH_MAX])
{
	size_t n;

	if (strncmp(head, "#!", 2) != 0)
		return false;
	head += 2 + strspn(head + 2, " \t");
	n = strcspn(head, " \t\n");
	if (n == 0 || n >= PATH_MAX)
		return false;
	memcpy(path, head, n);
	path[n] = '\0';
	return true;
}

/* What cannot be read the kernel refuses, or has no more to say about. */
static bool
will_load(const char *file)
{
	char path[PATH_MAX], head[HEAD_BYTES + 1];
	struct stat about;

	if (strlen(file) >= sizeof(path))
		return true;
	strcpy(path, file);
	for (int i = 0; i < SCRIPTS_MAX; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd >= 0 ? REAL(read)(fd, head, HEAD_BYTES) : -1;
		bool asked = fd >= 0 && fstat(fd, &about) == 0;

		if (fd >= 0)
			REAL(close)(fd);
		if (n < 0 || !asked)
			return true;
		if (about.st_mode & (S_ISUID | S_ISGID))
			return false;
		head[n] = '\0';
		if (!interpreter_of(head, path))
			return has_linker(head, (size_t)n);
	}
	return true;
}

/* As execvp() looks for it. */
static bool
find(const char *name, char path[static PATH_MAX])
{
	const char *at = secure_getenv("PATH");

	if (strchr(name, '/') != NULL || at == NULL)
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	for (;;) {
		int n = (int)strcspn(at, ":");

		if (snprintf(path, PATH_MAX, "%.*s/%s", n, at, name) < PATH_MAX &&
		    access(path, X_OK) == 0)
			return true;
		if (at[n] == '\0')
			return false;
		at += n + 1;
	}
}

bool
preload_will_have(const char *file, char *const *environment)
{
	char path[PATH_MAX];

	return is_in_environment(environment) && (!find(file, path) || will_load(path));
}
