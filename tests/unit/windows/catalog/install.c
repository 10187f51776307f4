/* SPDX-License-Identifier: BSD-3-Clause
 *
 * WSCInstallProvider and WSCDeinstallProvider: what is installed is enumerated as it was told, by
 * whichever process, all of it or nothing.
 */
#include "scene.h"

#include <plx_catalog.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	THREADS = 8,
};

static WSAPROTOCOL_INFOW
usual(void)
{
	WSAPROTOCOL_INFOW e;

	memset(&e, 0, sizeof(e));
	e.dwServiceFlags1 = 0x8e;
	e.dwServiceFlags2 = 0x80000000;
	e.dwProviderFlags = 0x14;
	e.ProtocolChain.ChainLen = BASE_PROTOCOL;
	e.iVersion = ND_VERSION_2;
	e.iAddressFamily = AF_INET6;
	e.iMaxSockAddr = 28;
	e.iMinSockAddr = 0;
	e.iSocketType = -1;
	e.iProtocol = -7;
	e.dwMessageSize = UINT32_MAX;
	e.dwProviderReserved = UINT32_MAX;
	wcscpy(e.szProtocol, L"A \"quoted\" n\u00e4me\\with\ttab");
	return e;
}

static void
what_is_installed_is_enumerated_as_it_was_told(void **state)
{
	WSAPROTOCOL_INFOW told[2] = {usual(), usual()}, found[2];
	DWORD length = sizeof(found);
	GUID id = scene_id(0x42);
	int error = 0, chars = 64;
	WCHAR path[64];
	char sentence[256];

	(void)state;
	told[1].iAddressFamily = AF_INET;
	told[1].iVersion = 1;
	assert_int_equal(WSCInstallProvider(&id, L"/opt/\u00e4 b/x.so", told, 2, &error), 0);
	assert_int_equal(plx_catalog_check(sentence, sizeof(sentence)), 0);
	assert_int_equal(WSCEnumProtocols(NULL, found, &length, &error), 2);
	for (int i = 0; i < 2; i++) {
		/* these two are the catalog's */
		told[i].ProviderId = id;
		told[i].dwCatalogEntryId = (DWORD)(1001 + i);
		assert_memory_equal(&told[i], &found[i], offsetof(WSAPROTOCOL_INFOW, szProtocol));
		assert_int_equal(wcscmp(told[i].szProtocol, found[i].szProtocol), 0);
	}
	assert_int_equal(WSCGetProviderPath(&id, path, &chars, &error), 0);
	assert_int_equal(wcscmp(path, L"/opt/\u00e4 b/x.so"), 0);
	/* twice is once too often */
	assert_int_equal(WSCInstallProvider(&id, L"/opt/y.so", told, 1, &error), SOCKET_ERROR);
	assert_int_equal(error, WSAEINVAL);
	assert_int_equal(WSCDeinstallProvider(&id, &error), 0);
	assert_int_equal(WSCEnumProtocols(NULL, NULL, &length, &error), 0);
	assert_int_equal(WSCDeinstallProvider(&id, &error), SOCKET_ERROR);
	assert_int_equal(error, WSAEINVAL);
}

static void
expect_refusal(GUID *id, const WCHAR *path, WSAPROTOCOL_INFOW *entries, DWORD n, int expected)
{
	DWORD length = 0;
	int error = 0;

	assert_int_equal(WSCInstallProvider(id, path, entries, n, &error), SOCKET_ERROR);
	assert_int_equal(error, expected);
	assert_int_equal(WSCEnumProtocols(NULL, NULL, &length, &error), 0);
}

static void
a_refused_installation_changes_nothing(void **state)
{
	WSAPROTOCOL_INFOW e = usual(), many[9];
	GUID id = scene_id(0x42), none = {0, 0, 0, {0}};

	(void)state;
	for (int i = 0; i < 9; i++)
		many[i] = e;
	expect_refusal(NULL, L"/x.so", &e, 1, WSAEFAULT);
	expect_refusal(&id, NULL, &e, 1, WSAEFAULT);
	expect_refusal(&id, L"/x.so", NULL, 1, WSAEFAULT);
	expect_refusal(&none, L"/x.so", &e, 1, WSAEINVAL);
	expect_refusal(&id, L"", &e, 1, WSAEINVAL);
	expect_refusal(&id, L"x/y.so", &e, 1, WSAEINVAL);
	expect_refusal(&id, L"/x.so", &e, 0, WSAEINVAL);
	expect_refusal(&id, L"/x.so", many, 9, WSAEINVAL);
	e.ProtocolChain.ChainLen = 2; /* a layered provider, of which there are none */
	expect_refusal(&id, L"/x.so", &e, 1, WSAEINVAL);
	e = usual();
	wmemset(e.szProtocol, L'x', WSAPROTOCOL_LEN + 1);
	expect_refusal(&id, L"/x.so", &e, 1, WSAEINVAL);
	e = usual();
	e.szProtocol[0] = 0;
	expect_refusal(&id, L"/x.so", &e, 1, WSAEINVAL);
	e = usual();
	e.iMaxSockAddr = -1;
	expect_refusal(&id, L"/x.so", &e, 1, WSAEINVAL);
}

static void
a_folder_that_cannot_be_written_to_is_no_recovery(void **state)
{
	WSAPROTOCOL_INFOW e = usual();
	GUID id = scene_id(0x42);
	char path[256];
	int error = 0;

	(void)state;
	/* a file is where the folder should be: not even root can write into it */
	scene_write("file", "x");
	snprintf(path, sizeof(path), "%s/file/providers.d", scene_folder());
	setenv("ND2_PROVIDERS_DIR", path, 1);
	assert_int_equal(WSCInstallProvider(&id, L"/x.so", &e, 1, &error), SOCKET_ERROR);
	assert_int_equal(error, WSANO_RECOVERY);
}

static void
a_folder_that_is_missing_is_made(void **state)
{
	WSAPROTOCOL_INFOW e = usual();
	GUID id = scene_id(0x42);
	char path[256], inner[300];
	int error = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/nd2", scene_folder());
	snprintf(inner, sizeof(inner), "%s/providers.d", path);
	setenv("ND2_PROVIDERS_DIR", inner, 1);
	assert_int_equal(WSCInstallProvider(&id, L"/x.so", &e, 1, &error), 0);
	assert_int_equal(WSCDeinstallProvider(&id, &error), 0);
	assert_int_equal(rmdir(inner), 0);
	assert_int_equal(rmdir(path), 0);
}

static void *
install_one(void *argument)
{
	WSAPROTOCOL_INFOW e = usual();
	GUID id = scene_id(0x42);
	int *wins = argument;
	int error = 0;

	if (WSCInstallProvider(&id, L"/x.so", &e, 1, &error) == 0)
		__atomic_fetch_add(wins, 1, __ATOMIC_RELAXED);
	else if (error != WSAEINVAL)
		__atomic_fetch_add(wins, 100, __ATOMIC_RELAXED);
	return NULL;
}

static void
of_many_at_once_one_installs(void **state)
{
	pthread_t threads[THREADS];
	struct dirent *entry;
	int wins = 0, files = 0;
	DIR *dir;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, install_one, &wins), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(wins, 1);
	/* and nobody has left anything beside it */
	dir = opendir(scene_folder());
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		files += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	assert_int_equal(files, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(what_is_installed_is_enumerated_as_it_was_told),
		SCENE_TEST(a_refused_installation_changes_nothing),
		SCENE_TEST(a_folder_that_cannot_be_written_to_is_no_recovery),
		SCENE_TEST(a_folder_that_is_missing_is_made),
		SCENE_TEST(of_many_at_once_one_installs),
	};

	return scene_run("install", tests, sizeof(tests) / sizeof(tests[0]));
}
