/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalog of providers, which says whose code an ND2 program loads.
 */
#include "planted.h"

#include <winsock2.h>
#include <ws2spi.h>

#include <plx_catalog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define FOLDER          "/tmp/providers.d"
#define FILE_IN_IT      FOLDER "/x.conf"
#define PROVIDER(id)                                                       \
	"id = \"{7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa9" id "}\";\nlibrary = " \
	"\"/tmp/hers/x.so\";\n"

static void
check(char *out)
{
	setenv("ND2_PROVIDERS_DIR", FOLDER, 1);
	(void)plx_catalog_check(out, 512);
}

/* Those that are wrong are left out, and the others stay. */
static void
check_one_is_left(char *out)
{
	DWORD length = 0;
	int error = 0;

	check(out);
	if (WSCEnumProtocols(NULL, NULL, &length, &error) != SOCKET_ERROR ||
	    length != 2 * sizeof(WSAPROTOCOL_INFOW))
		snprintf(out, 512, "there are %lu bytes of entries", (unsigned long)length);
}

static void
own_folder(void)
{
	planted_folder(FOLDER, 01777);
	planted_file(FOLDER "/own.conf", PROVIDER("01"), 0644);
}

static void
own_file_open_to_all(void)
{
	own_folder();
	planted_file(FILE_IN_IT, PROVIDER("02"), 0646);
}

static void
plants_provider(void)
{
	planted_file(FILE_IN_IT, PROVIDER("02"), 0644);
}

static void
plants_link(void)
{
	planted_file(HERS "/x.conf", PROVIDER("02"), 0644);
	planted_link(HERS "/x.conf", FILE_IN_IT);
}

static void
plants_fifo(void)
{
	planted_fifo(FILE_IN_IT);
}

static void
plants_socket(void)
{
	planted_socket(FILE_IN_IT);
}

static void
plants_folder(void)
{
	planted_folder(FILE_IN_IT, 0777);
}

static const struct planted_row drop_ins[] = {
	{"its own", USER, own_folder, NULL, check_one_is_left, ""},
	{"one that others may write to", USER, own_file_open_to_all, NULL, check_one_is_left,
	 FILE_IN_IT " is not read: its mode 0646"},
	{"a file", USER, own_folder, plants_provider, check_one_is_left,
	 FILE_IN_IT " is not read: it belongs to user 64102"},
	{"a file, for root", 0, own_folder, plants_provider, check_one_is_left,
	 FILE_IN_IT " is not read: it belongs to user 64102"},
	{"a link", 0, own_folder, plants_link, check_one_is_left,
	 "is a symbolic link of user 64102"},
	{"a FIFO", 0, own_folder, plants_fifo, check_one_is_left,
	 FILE_IN_IT " cannot be read: it is not a file"},
	{"a socket", 0, own_folder, plants_socket, check_one_is_left, "it is not a file"},
	{"a folder", 0, own_folder, plants_folder, check_one_is_left, "it is not a file"},
};

static void
only_trusted_providers_are_known(void **state)
{
	(void)state;
	planted_play(drop_ins, COUNT_OF(drop_ins));
}

/* ---- installing ---- */

static GUID id = {0x1, 0x2, 0x3, {4, 5, 6, 7, 8, 9, 10, 11}};

static void
install(char *out)
{
	WSAPROTOCOL_INFOW entry;
	int error = 0;

	setenv("ND2_PROVIDERS_DIR", FOLDER, 1);
	memset(&entry, 0, sizeof(entry));
	entry.ProtocolChain.ChainLen = BASE_PROTOCOL;
	entry.iAddressFamily = AF_INET;
	entry.iVersion = 0x20000;
	wcscpy(entry.szProtocol, L"x");
	if (WSCInstallProvider(&id, L"/opt/x.so", &entry, 1, &error) != 0)
		snprintf(out, 512, "refused: %d", error);
}

/* WSANO_RECOVERY, as without the right to */
#define NOT_INSTALLED "refused: 11003"

static void
install_and_remove(char *out)
{
	int error = 0;

	install(out);
	if (*out)
		return;
	if (plx_catalog_check(out, 512) != 0)
		return;
	if (WSCDeinstallProvider(&id, &error) != 0)
		snprintf(out, 512, "not removed: %d", error);
	else if (access(FOLDER "/00000001-0002-0003-0405-060708090a0b.conf", F_OK) == 0)
		snprintf(out, 512, "its file is still there");
}

static void
folder_of_all(void)
{
	planted_folder(FOLDER, 0777);
}

static void
plants_link_to_a_folder(void)
{
	planted_link(MINE, FOLDER);
}

static void
plants_folder_of_hers(void)
{
	planted_folder(FOLDER, 0777);
}

static void
plants_link_under_its_name(void)
{
	planted_link(MINE "/precious", FOLDER "/00000001-0002-0003-0405-060708090a0b.conf");
}

static const struct planted_row installs[] = {
	{"into nothing yet", USER, NULL, NULL, install_and_remove, ""},
	{"into its own", USER, own_folder, NULL, install_and_remove, ""},
	{"into a folder open to all", USER, folder_of_all, NULL, install, NOT_INSTALLED},
	{"beyond a link", 0, NULL, plants_link_to_a_folder, install, NOT_INSTALLED},
	{"into a folder of hers", 0, NULL, plants_folder_of_hers, install, NOT_INSTALLED},
	/* WSAEINVAL: there is one of that name */
	{"over a link of hers", 0, own_folder, plants_link_under_its_name, install,
	 "refused: 10022"},
};

static void
providers_are_installed_in_trusted_folders_only(void **state)
{
	(void)state;
	planted_play(installs, COUNT_OF(installs));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_trusted_providers_are_known),
		cmocka_unit_test(providers_are_installed_in_trusted_folders_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
