/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalog as a whole: which folders, which files, in which order, and the environment's word
 * before theirs. It keeps nothing between calls and loads no library. Start with catalog_read().
 */
#include "catalog.h"

#include "plx_catalog.h"

#include <catalog_paths.h> /* made by Meson: PLX_SYSCONFDIR */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/nd2/providers.d"

/* {7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}: of libpollux-nd2.so, in config/nd2-pollux.conf too */
static const GUID pollux_id = {
	0x7b0d8c5e, 0x3f41, 0x4b77, {0x9c, 0x6a, 0x2d, 0x0e, 0x5b, 0x1f, 0xa9, 0x04}};

void
catalog_complain(struct catalog_complaints *complaints, const char *format, ...)
{
	size_t left = sizeof(complaints->text) - complaints->used;
	char text[512];
	va_list list;
	int n;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	complaints->count++;
	n = snprintf(complaints->text + complaints->used, left, "%s%s",
		     complaints->used ? "\n" : "", text);
	if (n > 0 && (size_t)n < left)
		complaints->used += (size_t)n;
	else
		complaints->text[complaints->used] = '\0';
}

uint32_t
catalog_folders(char (*folder)[CATALOG_PATH_MAX])
{
	const char *named = secure_getenv("ND2_PROVIDERS_DIR");

	if (named && *named) {
		snprintf(folder[0], CATALOG_PATH_MAX, "%s", named);
		return 1;
	}
	snprintf(folder[0], CATALOG_PATH_MAX, "/etc%s", FOLDER);
	if (strcmp(PLX_SYSCONFDIR, "/etc") == 0)
		return 1;
	snprintf(folder[1], CATALOG_PATH_MAX, "%s%s", PLX_SYSCONFDIR, FOLDER);
	return 2;
}

struct catalog_provider *
catalog_find(struct catalog *catalog, const GUID *id)
{
	for (uint32_t i = 0; i < catalog->providers; i++)
		if (memcmp(&catalog->provider[i].id, id, sizeof(*id)) == 0)
			return &catalog->provider[i];
	return NULL;
}

/* What was read into the place behind the last provider becomes one more. */
static void
add(struct catalog *catalog)
{
	struct catalog_provider *fresh = &catalog->provider[catalog->providers];
	const struct catalog_provider *twin = catalog_find(catalog, &fresh->id);
	char id[CATALOG_GUID_TEXT];

	if (!twin) {
		catalog->providers++;
		return;
	}
	catalog_guid_print(&fresh->id, id);
	catalog_complain(&catalog->complaints,
			 "%s: id = \"%s\" is that of %s too, which came first; give it one of its "
			 "own",
			 *fresh->file ? fresh->file : fresh->library, id,
			 *twin->file ? twin->file : twin->library);
}

/* ---- the environment --------------------------------------------------------------------------
 */

static const char *
name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The id of a library of which only the path is known: of its name, the same everywhere. */
static GUID
guid_of_path(const char *path)
{
	const char *name = name_of(path);
	uint64_t a = UINT64_C(0xcbf29ce484222325), b = UINT64_C(0x9ae16a3b2f90404f);
	GUID id;

	if (strncmp(name, "libpollux-nd2.so", strlen("libpollux-nd2.so")) == 0)
		return pollux_id;
	for (; *name; name++) {
		a = (a ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
		b = (b ^ (unsigned char)*name) * UINT64_C(0x100000001b3) + a;
	}
	memcpy(&id, &a, sizeof(a));
	memcpy(id.Data4, &b, sizeof(b));
	return id;
}

/* "/lib/a.so" or "{id}/lib/a.so" */
static void
add_named(struct catalog *catalog, const char *word, size_t length)
{
	struct catalog_provider *fresh = &catalog->provider[catalog->providers];
	char text[CATALOG_PATH_MAX + CATALOG_GUID_TEXT], id[CATALOG_GUID_TEXT] = "";
	const char *path = text;
	static const int families[] = {AF_INET, AF_INET6};

	memset(fresh, 0, sizeof(*fresh));
	if (length >= sizeof(text)) {
		catalog_complain(&catalog->complaints, "ND2_PROVIDER: %zu bytes are too many",
				 length);
		return;
	}
	memcpy(text, word, length);
	text[length] = '\0';
	if (*text == '{' && length >= CATALOG_GUID_TEXT - 1) {
		memcpy(id, text, CATALOG_GUID_TEXT - 1);
		path = text + CATALOG_GUID_TEXT - 1;
	}
	fresh->id = guid_of_path(path);
	if ((*id && !catalog_guid_parse(id, &fresh->id)) || !*name_of(path) ||
	    !catalog_library_is_right(path) || strlen(path) >= sizeof(fresh->library)) {
		catalog_complain(&catalog->complaints,
				 "ND2_PROVIDER: \"%.200s\" is not the absolute path of a library, "
				 "or {GUID} and such a path",
				 text);
		return;
	}
	memcpy(fresh->library, path, strlen(path) + 1);
	for (; fresh->entries < 2; fresh->entries++) {
		WSAPROTOCOL_INFOW *entry = &fresh->entry[fresh->entries];

		catalog_entry_default(entry, &fresh->id, families[fresh->entries]);
		wide_of_utf8(name_of(path), entry->szProtocol, WSAPROTOCOL_LEN + 1);
	}
	add(catalog);
}

static void
read_environment(struct catalog *catalog, const char *list)
{
	while (*list && catalog->providers < CATALOG_PROVIDERS_MAX) {
		size_t length = strcspn(list, ":");

		if (length)
			add_named(catalog, list, length);
		list += length + (list[length] == ':');
	}
}

/* ---- folders ----------------------------------------------------------------------------------
 */

static int
is_drop_in(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > strlen(".conf") && *entry->d_name != '.' &&
	       strcmp(entry->d_name + length - strlen(".conf"), ".conf") == 0;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* A file of this name in an earlier folder stands for it. */
static bool
is_hidden(char (*folder)[CATALOG_PATH_MAX], uint32_t at, const char *name)
{
	char path[CATALOG_PATH_MAX];
	int n;

	for (uint32_t i = 0; i < at; i++) {
		n = snprintf(path, sizeof(path), "%s/%s", folder[i], name);
		if (n > 0 && (size_t)n < sizeof(path) && access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static void
read_folder(struct catalog *catalog, char (*folder)[CATALOG_PATH_MAX], uint32_t at)
{
	char path[CATALOG_PATH_MAX];
	struct dirent **list = NULL;
	int n = scandir(folder[at], &list, is_drop_in, by_name);

	if (n < 0) {
		/* no folder is an empty catalog, unless somebody has named it */
		if (errno != ENOENT || secure_getenv("ND2_PROVIDERS_DIR"))
			catalog_complain(&catalog->complaints, "%s cannot be read: %s", folder[at],
					 strerror(errno));
		return;
	}
	for (int i = 0; i < n; i++) {
		struct catalog_provider *fresh = &catalog->provider[catalog->providers];
		int length = snprintf(path, sizeof(path), "%s/%s", folder[at], list[i]->d_name);

		if (length < 0 || (size_t)length >= sizeof(path))
			catalog_complain(&catalog->complaints, "%s: the path is too long",
					 list[i]->d_name);
		else if (catalog->providers == CATALOG_PROVIDERS_MAX)
			catalog_complain(&catalog->complaints,
					 "%s is ignored: there are already %d providers", path,
					 CATALOG_PROVIDERS_MAX);
		else if (!is_hidden(folder, at, list[i]->d_name) &&
			 catalog_file_read(path, fresh, &catalog->complaints))
			add(catalog);
		free(list[i]);
	}
	free(list);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static void
number_entries(struct catalog *catalog)
{
	DWORD id = CATALOG_FIRST_ID;

	for (uint32_t i = 0; i < catalog->providers; i++)
		for (uint32_t k = 0; k < catalog->provider[i].entries; k++)
			catalog->provider[i].entry[k].dwCatalogEntryId = id++;
}

struct catalog *
catalog_read(void)
{
	struct catalog *catalog = calloc(1, sizeof(*catalog));
	const char *named = secure_getenv("ND2_PROVIDER");
	char folder[CATALOG_FOLDERS_MAX][CATALOG_PATH_MAX];
	uint32_t folders;

	if (!catalog)
		return NULL;
	/* one more than there can be: where the next one is read */
	catalog->provider = calloc(CATALOG_PROVIDERS_MAX + 1, sizeof(*catalog->provider));
	if (!catalog->provider) {
		free(catalog);
		return NULL;
	}
	if (named && *named) {
		read_environment(catalog, named);
	} else {
		folders = catalog_folders(folder);
		for (uint32_t i = 0; i < folders; i++)
			read_folder(catalog, folder, i);
	}
	number_entries(catalog);
	return catalog;
}

void
catalog_free(struct catalog *catalog)
{
	if (!catalog)
		return;
	free(catalog->provider);
	free(catalog);
}

uint32_t
plx_catalog_check(char *text, size_t size)
{
	struct catalog *catalog = catalog_read();
	uint32_t count = catalog ? catalog->complaints.count : 1;

	if (size)
		snprintf(text, size, "%s",
			 catalog ? catalog->complaints.text : "no memory for the catalog");
	catalog_free(catalog);
	return count;
}
