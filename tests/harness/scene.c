/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The folder that is the tests' catalog, and its contents. Outside of it, it changes only the
 * environment of this process. Start with scene_run().
 */
#include "scene.h"
#include "namespace.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PATH_BYTES = 512,
};

static char root[64], folder[96];

const char *
scene_folder(void)
{
	return folder;
}

static void
empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char file[PATH_BYTES];

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		assert_int_equal(remove(file), 0);
	}
	closedir(dir);
}

static int
set_up(void **state)
{
	(void)state;
	empty(folder);
	setenv("ND2_PROVIDERS_DIR", folder, 1);
	unsetenv("ND2_PROVIDER");
	scene_configure("adapters = ();\n");
	return 0;
}

static void
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

void
scene_write(const char *name, const char *format, ...)
{
	char path[PATH_BYTES], text[4096];
	va_list list;

	va_start(list, format);
	assert_true(vsnprintf(text, sizeof(text), format, list) < (int)sizeof(text));
	va_end(list);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	write_text(path, text);
}

void
scene_remove(const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(unlink(path), 0);
}

void
scene_configure(const char *text)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/pollux.conf", root);
	write_text(path, text);
	setenv("POLLUX_CONFIG", path, 1);
}

const char *
scene_library(const char *name)
{
	static __thread char path[PATH_BYTES];
	const char *libraries = getenv("TEST_LIBRARIES");

	snprintf(path, sizeof(path), "%s/libnd2-%s.so", libraries ? libraries : ".", name);
	return path;
}

GUID
scene_id(uint8_t last)
{
	return (GUID){0x5ec04d00, 0x4e44, 0x4e44, {0x80, 0, 0, 0, 0, 0, 0, last}};
}

void
scene_provider(const char *name, uint8_t last)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.conf", name);
	scene_write(file, "id = \"{5ec04d00-4e44-4e44-8000-0000000000%02x}\";\nlibrary = \"%s\";\n",
		    last, scene_library(name));
}

bool
scene_is_loaded(const char *name)
{
	void *library = dlopen(scene_library(name), RTLD_NOW | RTLD_NOLOAD);

	if (library)
		dlclose(library);
	return library != NULL;
}

struct sockaddr *
scene_address(const char *text)
{
	static __thread struct sockaddr_storage ring[4];
	static __thread unsigned turn;
	struct sockaddr_storage *out = &ring[turn++ % 4];
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
		memcpy(out, &v4, sizeof(v4));
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
		memcpy(out, &v6, sizeof(v6));
	}
	return (struct sockaddr *)out;
}

SIZE_T
scene_bytes(const struct sockaddr *address)
{
	return address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
					     : sizeof(struct sockaddr_in6);
}

bool
scene_network(void)
{
	return namespace_network(
		"set -e; ip link set lo up; ip link add plx-test type veth peer name plx-peer; "
		"ip addr add 198.51.100.1/25 dev plx-test; "
		"ip addr add 2001:db8::1/64 dev plx-test nodad; ip link set plx-test up; "
		"ip link set plx-peer up; ip route add unreachable 198.51.100.128/25");
}

int
scene_run(const char *name, const struct CMUnitTest *tests, size_t n)
{
	struct CMUnitTest *all = calloc(n, sizeof(*all));
	int failures;

	snprintf(root, sizeof(root), "/tmp/ndsupport-XXXXXX");
	if (!all || !mkdtemp(root))
		return 1;
	snprintf(folder, sizeof(folder), "%s/providers.d", root);
	if (mkdir(folder, 0755) != 0)
		return 1;
	for (size_t i = 0; i < n; i++) {
		all[i] = tests[i];
		all[i].setup_func = set_up;
	}
	failures = _cmocka_run_group_tests(name, all, n, NULL, NULL);
	free(all);
	empty(folder);
	rmdir(folder);
	empty(root);
	rmdir(root);
	return failures;
}
