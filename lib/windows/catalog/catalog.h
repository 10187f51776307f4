/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The provider catalog as the Winsock calls see it: the contents of the drop-in files, read anew by
 * each call. It owns no state: the files are the catalog. Start with catalog_read().
 */
#ifndef PLX_WIN_CATALOG_H
#define PLX_WIN_CATALOG_H

#include <winsock2.h>

#include <ws2spi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CATALOG_PROVIDERS_MAX = 64,
	CATALOG_ENTRIES_MAX = 8, /* of one provider */
	CATALOG_PATH_MAX = 1024, /* [bytes] of a library's path, including the 0 */
	CATALOG_FOLDERS_MAX = 2,
	CATALOG_COMPLAINTS_MAX = 8192, /* [bytes] */
	CATALOG_FIRST_ID = 1001,       /* dwCatalogEntryId of the first entry, as on Windows */
	CATALOG_GUID_TEXT = 39,        /* "{8-4-4-4-12}" and its 0 */
};

struct catalog_provider {
	GUID id;
	char library[CATALOG_PATH_MAX]; /* UTF-8; %NAMES% not expanded */
	char file[CATALOG_PATH_MAX];    /* its source; empty: ND2_PROVIDER */
	uint32_t entries;
	WSAPROTOCOL_INFOW entry[CATALOG_ENTRIES_MAX];
};

/* Errors, one sentence per line. */
struct catalog_complaints {
	uint32_t count;
	size_t used;
	char text[CATALOG_COMPLAINTS_MAX];
};

struct catalog {
	struct catalog_provider *provider; /* [providers] */
	uint32_t providers;
	struct catalog_complaints complaints;
};

/**
 * Read the catalog: ND2_PROVIDER if set, otherwise every *.conf of the folders, sorted by name. An
 * invalid file is omitted, with a sentence in `complaints`; the others stay.
 * Returns: NULL: no memory
 */
struct catalog *catalog_read(void);
void catalog_free(struct catalog *catalog);

/** Find a provider. Returns: NULL: no provider has that id */
struct catalog_provider *catalog_find(struct catalog *catalog, const GUID *id);

/**
 * The folders of drop-in files; new files are written to the first.
 * Returns: the number of folders
 */
uint32_t catalog_folders(char (*folder)[CATALOG_PATH_MAX]);

void catalog_complain(struct catalog_complaints *complaints, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- catalog_file.c: one drop-in file ---- */

/** Read one file. Returns: false: it is invalid, and a sentence says why */
bool catalog_file_read(const char *path, struct catalog_provider *out,
		       struct catalog_complaints *complaints);

/** The entry of a provider whose file only gives id and library. */
void catalog_entry_default(WSAPROTOCOL_INFOW *entry, const GUID *id, int family);

/** Is it absolute, a bare name that the loader searches for, or does it begin with %NAME%? */
bool catalog_library_is_right(const char *library);

/** "{7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}" */
bool catalog_guid_parse(const char *text, GUID *out);
void catalog_guid_print(const GUID *id, char out[CATALOG_GUID_TEXT]);

/* ---- catalog_write.c ---- */

/** Write a provider's drop-in file atomically, in a folder owned by root or the user. Returns: 0,
 * or errno: EEXIST: a file of that name exists; EPERM: the folder is owned by another user */
int catalog_file_write(const char *folder, const struct catalog_provider *provider);

/** Remove the drop-in file at `path`, as returned by catalog_file_read(). Returns: 0, or errno */
int catalog_file_remove(const char *path);

#endif
