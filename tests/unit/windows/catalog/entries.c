/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalog: drop-in files to WSAPROTOCOL_INFOW entries, and every mistake to one sentence.
 */
#include "scene.h"

#include <plx_catalog.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ID      "id = \"{5ec04d00-4e44-4e44-8000-000000000077}\";\n"
#define LIBRARY "library = \"/lib/libx.so\";\n"

/* All entries, and the two-call pattern on the way to them. */
static WSAPROTOCOL_INFOW *
enumerate(int *n)
{
	WSAPROTOCOL_INFOW *entries;
	DWORD length = 0, room;
	int error = 0;

	*n = WSCEnumProtocols(NULL, NULL, &length, &error);
	if (*n == 0)
		return NULL;
	assert_int_equal(*n, SOCKET_ERROR);
	assert_int_equal(error, WSAENOBUFS);
	assert_int_equal(length % sizeof(*entries), 0);
	room = length;
	entries = malloc(length);
	assert_non_null(entries);
	*n = WSCEnumProtocols(NULL, entries, &room, &error);
	assert_int_equal(room, length);
	assert_int_equal((size_t)*n * sizeof(*entries), length);
	return entries;
}

static void
expect_mistake(const char *text, const char *sentence)
{
	char told[4096], expected[512];
	int n;

	scene_write("wrong.conf", "%s", text);
	snprintf(expected, sizeof(expected), "%s/wrong.conf%s", scene_folder(), sentence);
	assert_int_equal(plx_catalog_check(told, sizeof(told)), 1);
	if (strcmp(told, expected) != 0)
		fail_msg("\"%s\" and not \"%s\"", told, expected);
	free(enumerate(&n));
	assert_int_equal(n, 0);
}

static void
a_file_of_id_and_library_is_an_nd2_provider_of_both_families(void **state)
{
	WSAPROTOCOL_INFOW *entries;
	char told[256];
	GUID id = scene_id(0x77);
	int n;

	(void)state;
	scene_write("a.conf", ID LIBRARY);
	entries = enumerate(&n);
	assert_int_equal(n, 2);
	for (int i = 0; i < n; i++) {
		assert_int_equal(entries[i].dwServiceFlags1, 0x8e);
		assert_int_equal(entries[i].dwProviderFlags, 0x14);
		assert_int_equal(entries[i].iVersion, 0x20000);
		assert_int_equal(entries[i].iSocketType, -1);
		assert_int_equal(entries[i].iProtocol, 0);
		assert_int_equal(entries[i].iProtocolMaxOffset, 0);
		assert_int_equal(entries[i].ProtocolChain.ChainLen, 1);
		assert_memory_equal(&entries[i].ProviderId, &id, sizeof(id));
	}
	assert_int_equal(entries[0].iAddressFamily, AF_INET);
	assert_int_equal(entries[0].iMaxSockAddr, 16);
	assert_int_equal(entries[1].iAddressFamily, AF_INET6);
	assert_int_equal(entries[1].iMinSockAddr, 28);
	assert_int_not_equal(entries[0].dwCatalogEntryId, entries[1].dwCatalogEntryId);
	assert_int_equal(plx_catalog_check(told, sizeof(told)), 0);
	assert_string_equal(told, "");
	free(entries);
}

static void
every_field_can_be_told(void **state)
{
	WSAPROTOCOL_INFOW *e;
	int n;

	(void)state;
	scene_write("a.conf", ID LIBRARY
		    "name = \"N\xc3\xa4mlich\"; service_flags = 1; service_flags2 = 2;\n"
		    "service_flags3 = 3; service_flags4 = 0x80000004L; provider_flags = 5;\n"
		    "version = 6; max_sockaddr = 7; min_sockaddr = 8; socket_type = 9;\n"
		    "protocol = 10; protocol_max_offset = 11; byte_order = 1;\n"
		    "security_scheme = 12; message_size = 4294967295L; reserved = 13;\n"
		    "families = [ 99 ];\n");
	e = enumerate(&n);
	assert_int_equal(n, 1);
	assert_int_equal(wcscmp(e->szProtocol, L"N\u00e4mlich"), 0);
	assert_int_equal(e->dwServiceFlags1, 1);
	assert_int_equal(e->dwServiceFlags2, 2);
	assert_int_equal(e->dwServiceFlags3, 3);
	assert_int_equal(e->dwServiceFlags4, 0x80000004);
	assert_int_equal(e->dwProviderFlags, 5);
	assert_int_equal(e->iVersion, 6);
	assert_int_equal(e->iAddressFamily, 99);
	assert_int_equal(e->iMaxSockAddr, 7);
	assert_int_equal(e->iMinSockAddr, 8);
	assert_int_equal(e->iSocketType, 9);
	assert_int_equal(e->iProtocol, 10);
	assert_int_equal(e->iProtocolMaxOffset, 11);
	assert_int_equal(e->iNetworkByteOrder, 1);
	assert_int_equal(e->iSecurityScheme, 12);
	assert_int_equal(e->dwMessageSize, UINT32_MAX);
	assert_int_equal(e->dwProviderReserved, 13);
	free(e);
}

static void
entries_say_what_differs(void **state)
{
	WSAPROTOCOL_INFOW *e;
	int n;

	(void)state;
	scene_write("a.conf", ID LIBRARY "name = \"usual\"; version = 1;\n"
					 "entries = ( { family = \"IPv6\"; },\n"
					 "  { name = \"other\"; version = 0x20000; } );\n");
	e = enumerate(&n);
	assert_int_equal(n, 2);
	assert_int_equal(wcscmp(e[0].szProtocol, L"usual"), 0);
	assert_int_equal(e[0].iVersion, 1);
	assert_int_equal(e[0].iAddressFamily, AF_INET6);
	assert_int_equal(e[0].iMaxSockAddr, 28);
	assert_int_equal(wcscmp(e[1].szProtocol, L"other"), 0);
	assert_int_equal(e[1].iVersion, 0x20000);
	assert_int_equal(e[1].iAddressFamily, AF_INET);
	assert_int_equal(e[1].iMaxSockAddr, 16);
	free(e);
}

static void
files_are_read_by_name_and_only_conf(void **state)
{
	WSAPROTOCOL_INFOW *e;
	GUID id;
	int n;

	(void)state;
	scene_provider("b", 2);
	scene_provider("a", 1);
	scene_provider("c", 3);
	scene_write("d.conf~", "nonsense");
	scene_write(".conf", "nonsense");
	scene_write("README", "nonsense");
	e = enumerate(&n);
	assert_int_equal(n, 6);
	for (int i = 0; i < n; i++) {
		id = scene_id((uint8_t)(1 + i / 2));
		assert_memory_equal(&e[i].ProviderId, &id, sizeof(id));
		assert_int_equal(e[i].dwCatalogEntryId, 1001 + i);
	}
	free(e);
}

static void
each_mistake_has_its_sentence(void **state)
{
	(void)state;
	expect_mistake("id = ;", ":1: syntax error");
	expect_mistake(ID, ": the provider has no library");
	expect_mistake(LIBRARY, ": the provider has no id");
	expect_mistake(ID LIBRARY "libary = 1;", ":3: there is no setting libary");
	expect_mistake(LIBRARY "id = \"{5ec04d00}\";",
		       ":2: id = \"{5ec04d00}\" is not a GUID, such as "
		       "\"{7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}\"");
	expect_mistake(LIBRARY "id = 5;", ":2: id = \"?\" is not a GUID, such as "
					  "\"{7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}\"");
	expect_mistake(LIBRARY "id = \"{00000000-0000-0000-0000-000000000000}\";",
		       ":2: id = \"{00000000-0000-0000-0000-000000000000}\" is not a GUID, such as "
		       "\"{7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}\"");
	expect_mistake(
		ID "library = \"lib/libx.so\";",
		":2: library = \"lib/libx.so\" is neither absolute nor a bare name nor begins "
		"with an environment variable such as %HOME%");
	expect_mistake(ID "library = \"\";", ":2: library has 0 bytes; it needs 1 to 1023");
	expect_mistake(ID "library = 1;", ":2: library is not a string in quotes");
	expect_mistake(ID LIBRARY "name = \"\";",
		       ":3: name = \"\" has 0 characters; it needs 1 to 255");
	expect_mistake(ID LIBRARY "name = 1;", ":3: name is not a string in quotes");
	expect_mistake(ID LIBRARY "version = \"2\";",
		       ":3: version is not a whole number; it needs 0 to 2147483647");
	expect_mistake(
		ID LIBRARY "version = -1;",
		":3: version = -1 is outside its range of 0 to 2147483647 (beyond 2147483647 "
		"a number ends in L)");
	expect_mistake(ID LIBRARY "message_size = 4294967296L;",
		       ":3: message_size = 4294967296 is outside its range of 0 to 4294967295 "
		       "(beyond 2147483647 a number ends in L)");
	expect_mistake(ID LIBRARY "families = [ \"IPv5\" ];",
		       ":3: family \"IPv5\" is not one of \"IPv4\", \"IPv6\"");
	expect_mistake(ID LIBRARY "families = \"IPv4\";",
		       ":3: families is not a list such as [ \"IPv4\", \"IPv6\" ]");
	expect_mistake(ID LIBRARY "families = [ \"IPv4\" ];\nentries = ( { } );",
		       ": families and entries exclude each other");
	expect_mistake(ID LIBRARY "entries = ( );",
		       ":3: entries is not a list of 1 to 8 groups: ( { ... }, { ... } )");
	expect_mistake(ID LIBRARY "entries = ( 1 );",
		       ":3: an entry is not a group of settings in braces");
	expect_mistake(ID LIBRARY "entries = ( {\n id = \"x\"; } );",
		       ":4: an entry has no setting id");
}

static void
a_wrong_file_leaves_the_others(void **state)
{
	char told[1024], expected[512];
	int n;

	(void)state;
	scene_write("a.conf", "nonsense");
	scene_provider("b", 0x77);
	free(enumerate(&n));
	assert_int_equal(n, 2);
	assert_int_equal(plx_catalog_check(told, sizeof(told)), 1);
	snprintf(expected, sizeof(expected), "%s/a.conf:1: syntax error", scene_folder());
	assert_string_equal(told, expected);
	/* a text that has no room is cut, not overrun */
	assert_int_equal(plx_catalog_check(told, 10), 1);
	assert_int_equal(strlen(told), 9);
	assert_int_equal(plx_catalog_check(NULL, 0), 1);
}

static void
an_id_is_one_provider(void **state)
{
	char told[1024];
	int n;

	(void)state;
	scene_provider("a", 0x77);
	scene_provider("b", 0x77);
	free(enumerate(&n));
	assert_int_equal(n, 2);
	assert_int_equal(plx_catalog_check(told, sizeof(told)), 1);
	assert_non_null(strstr(told, "/b.conf: id = \"{5ec04d00-4e44-4e44-8000-000000000077}\" is "
				     "that of "));
	assert_non_null(strstr(told, "/a.conf too, which came first"));
}

static void
an_empty_catalog_needs_no_room(void **state)
{
	DWORD length = 7;
	char told[256];
	int error = -1;

	(void)state;
	assert_int_equal(WSCEnumProtocols(NULL, NULL, &length, &error), 0);
	assert_int_equal(length, 0);
	assert_int_equal(plx_catalog_check(told, sizeof(told)), 0);
	/* a folder that somebody names has to be there */
	setenv("ND2_PROVIDERS_DIR", "/nowhere/at/all", 1);
	assert_int_equal(WSCEnumProtocols(NULL, NULL, &length, &error), 0);
	assert_int_equal(plx_catalog_check(told, sizeof(told)), 1);
	assert_string_equal(told, "/nowhere/at/all cannot be read: No such file or directory");
}

static void
too_little_room_changes_only_the_length(void **state)
{
	WSAPROTOCOL_INFOW entries[2], before[2];
	DWORD length = sizeof(entries) - 1;
	int error = 0;

	(void)state;
	scene_provider("a", 1);
	memset(entries, 0x5a, sizeof(entries));
	memcpy(before, entries, sizeof(before));
	assert_int_equal(WSCEnumProtocols(NULL, entries, &length, &error), SOCKET_ERROR);
	assert_int_equal(error, WSAENOBUFS);
	assert_int_equal(length, sizeof(entries));
	assert_memory_equal(entries, before, sizeof(before));
	assert_int_equal(WSCEnumProtocols(NULL, entries, &length, &error), 2);
	assert_int_equal(WSCEnumProtocols(NULL, entries, NULL, &error), SOCKET_ERROR);
	assert_int_equal(error, WSAEFAULT);
	/* the error is where it is wanted */
	assert_int_equal(WSCEnumProtocols(NULL, entries, NULL, NULL), SOCKET_ERROR);
}

static void
protocols_choose_entries(void **state)
{
	WSAPROTOCOL_INFOW entries[4];
	DWORD length = sizeof(entries);
	INT tcp[] = {6, 0}, none[] = {0};
	int error;

	(void)state;
	scene_write("a.conf", ID LIBRARY "entries = ( { protocol = 6; }, { protocol = 17; } );\n");
	assert_int_equal(WSCEnumProtocols(tcp, entries, &length, &error), 1);
	assert_int_equal(entries[0].iProtocol, 6);
	assert_int_equal(length, sizeof(entries[0]));
	assert_int_equal(WSCEnumProtocols(none, entries, &length, &error), 0);
}

static void
a_path_is_given_as_the_file_has_it(void **state)
{
	GUID id = scene_id(0x77), other = scene_id(0x78);
	WCHAR path[64] = L"before";
	int length = 0, error = 0;

	(void)state;
	scene_write("a.conf", ID "library = \"%%SCENE%%/lib\xc3\xa4.so\";\n");
	assert_int_equal(WSCGetProviderPath(&id, NULL, &length, &error), SOCKET_ERROR);
	assert_int_equal(error, WSAEFAULT);
	assert_int_equal(length, 16);
	length = 15;
	assert_int_equal(WSCGetProviderPath(&id, path, &length, &error), SOCKET_ERROR);
	assert_int_equal(error, WSAEFAULT);
	assert_int_equal(length, 16);
	assert_int_equal(wcscmp(path, L"before"), 0);
	assert_int_equal(WSCGetProviderPath(&id, path, &length, &error), 0);
	assert_int_equal(wcscmp(path, L"%SCENE%/lib\u00e4.so"), 0);
	assert_int_equal(WSCGetProviderPath(&other, path, &length, &error), SOCKET_ERROR);
	assert_int_equal(error, WSAEINVAL);
	assert_int_equal(WSCGetProviderPath(NULL, path, &length, &error), SOCKET_ERROR);
	assert_int_equal(error, WSAEFAULT);
	assert_int_equal(WSCGetProviderPath(&id, path, NULL, &error), SOCKET_ERROR);
	assert_int_equal(error, WSAEFAULT);
}

static void
the_environment_names_libraries_instead(void **state)
{
	WSAPROTOCOL_INFOW *e;
	GUID id = scene_id(0x99), pollux;
	WCHAR path[64];
	char told[1024];
	int n, length = 64, error;

	(void)state;
	scene_provider("a", 0x77);
	setenv("ND2_PROVIDER",
	       "/x/libpollux-nd2.so:/y/other.so:"
	       "{5ec04d00-4e44-4e44-8000-000000000099}/z/third.so",
	       1);
	e = enumerate(&n);
	assert_int_equal(n, 6);
	pollux = e[0].ProviderId;
	assert_int_equal(pollux.Data1, 0x7b0d8c5e);
	assert_int_equal(e[0].iAddressFamily, AF_INET);
	assert_int_equal(e[1].iAddressFamily, AF_INET6);
	assert_int_equal(e[0].dwServiceFlags1, 0x8e);
	assert_int_equal(wcscmp(e[2].szProtocol, L"other.so"), 0);
	assert_memory_equal(&e[4].ProviderId, &id, sizeof(id));
	assert_int_equal(WSCGetProviderPath(&e[2].ProviderId, path, &length, &error), 0);
	assert_int_equal(wcscmp(path, L"/y/other.so"), 0);
	length = 64;
	assert_int_equal(WSCGetProviderPath(&id, path, &length, &error), 0);
	assert_int_equal(wcscmp(path, L"/z/third.so"), 0);
	/* who has no file cannot be deinstalled */
	assert_int_equal(WSCDeinstallProvider(&id, &error), SOCKET_ERROR);
	assert_int_equal(error, WSANO_RECOVERY);
	free(e);
	setenv("ND2_PROVIDER", "x/y.so", 1);
	free(enumerate(&n));
	assert_int_equal(n, 0);
	assert_int_equal(plx_catalog_check(told, sizeof(told)), 1);
	assert_string_equal(told, "ND2_PROVIDER: \"x/y.so\" is not the absolute path of a library, "
				  "or {GUID} and such a path");
}

static void
what_is_no_file_is_told_of(void **state)
{
	char path[256], told[512], expected[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/a.conf", scene_folder());
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(plx_catalog_check(told, sizeof(told)), 1);
	snprintf(expected, sizeof(expected), "%s cannot be read: it is not a file", path);
	assert_string_equal(told, expected);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(a_file_of_id_and_library_is_an_nd2_provider_of_both_families),
		SCENE_TEST(every_field_can_be_told),
		SCENE_TEST(entries_say_what_differs),
		SCENE_TEST(files_are_read_by_name_and_only_conf),
		SCENE_TEST(each_mistake_has_its_sentence),
		SCENE_TEST(a_wrong_file_leaves_the_others),
		SCENE_TEST(an_id_is_one_provider),
		SCENE_TEST(an_empty_catalog_needs_no_room),
		SCENE_TEST(too_little_room_changes_only_the_length),
		SCENE_TEST(protocols_choose_entries),
		SCENE_TEST(a_path_is_given_as_the_file_has_it),
		SCENE_TEST(the_environment_names_libraries_instead),
		SCENE_TEST(what_is_no_file_is_told_of),
	};

	return scene_run("catalog", tests, sizeof(tests) / sizeof(tests[0]));
}
