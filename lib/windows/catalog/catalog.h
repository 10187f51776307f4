/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The provider catalog as the Winsock calls see it: what the drop-in files say, read anew by each
 * call. It owns no state: the files are the catalog. Start with catalog_read().
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
	CATALOG_PATH_MAX = 1024, /* [bytes] of a library's path, with its 0 */
	CATALOG_FOLDERS_MAX = 2,
	CATALOG_COMPLAINTS_MAX = 8192, /* [bytes] */
	CATALOG_FIRST_ID = 1001,       /* dwCatalogEntryId of the first entry, as on Windows */
	CATALOG_GUID_TEXT = 39,        /* "{8-4-4-4-12}" and its 0 */
};

struct catalog_provider {
	GUID id;
	char library[CATALOG_PATH_MAX]; /* UTF-8; %NAMES% not expanded */
	char file[CATALOG_PATH_MAX];    /* it comes from; empty: from ND2_PROVIDER */
	uint32_t entries;
	WSAPROTOCOL_INFOW entry[CATALOG_ENTRIES_MAX];
};

/* What is wrong, a sentence a line. */
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
 * The whole catalog: ND2_PROVIDER when it is set, else every *.conf of the folders, by name. A
 * file that is wrong is left out, with a sentence in `complaints`; the others stay.
 * Returns: NULL: no memory
 */
struct catalog *catalog_read(void);
void catalog_free(struct catalog *catalog);

/** NULL: there is none of that id. */
struct catalog_provider *catalog_find(struct catalog *catalog, const GUID *id);

/** Where drop-in files are looked for, the first of them being the one that is written to.
 * Returns: how many there are */
uint32_t catalog_folders(char (*folder)[CATALOG_PATH_MAX]);

void catalog_complain(struct catalog_complaints *complaints, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- catalog_file.c: one drop-in file
 * ------------------------------------------------------------
 */

/** Read one file. Returns: false: it is wrong, and a sentence says how */
bool catalog_file_read(const char *path, struct catalog_provider *out,
		       struct catalog_complaints *complaints);

/** What a provider's entry is when a file says nothing but id and library. */
void catalog_entry_default(WSAPROTOCOL_INFOW *entry, const GUID *id, int family);

/** Absolute, or a bare name that the loader looks for, or beginning with %NAME%. */
bool catalog_library_is_right(const char *library);

/** "{7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}" */
bool catalog_guid_parse(const char *text, GUID *out);
void catalog_guid_print(const GUID *id, char out[CATALOG_GUID_TEXT]);

/* ---- catalog_write.c
 * -----------------------------------------------------------------------------
 */

/** A drop-in file of that provider, all at once, in a folder of root's or the user's own. Returns:
 * 0, or errno: EEXIST: there is one of that name already; EPERM: the folder is somebody else's */
int catalog_file_write(const char *folder, const struct catalog_provider *provider);

/** Remove the drop-in file at `path`, which catalog_file_read() has read. Returns: 0, or errno */
int catalog_file_remove(const char *path);

#endif
