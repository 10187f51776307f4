/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files and folders that other users of the machine cannot have written, planted or redirected.
 * Whatever Pollux reads its orders from, or removes, is opened here first: no symbolic link of
 * another user is followed, nothing but regular files is opened (so that a FIFO blocks nobody and
 * a device is not touched), and a file of others, or one that others may write to, is refused by
 * a sentence. Start with plx_files_config().
 */
#ifndef PLX_FILES_H
#define PLX_FILES_H

#include "plx_base.h"

enum {
	PLX_FILES_TEXT_MAX = 1 << 20, /* [bytes] of a file that is read whole */
	PLX_FILES_LINKS_MAX = 40,     /* symbolic links on one path, as in Linux */
};

/* Why something was refused, as one sentence that begins with its path. */
struct plx_files_why {
	char text[384];
};

/**
 * Open a regular file for reading. Trusted are files of root and of the effective user that nobody
 * else may write to, reached by symbolic links of the same two users only. What was looked at is
 * what is opened: it cannot be exchanged in between.
 *
 * Returns: a descriptor, or -1 with errno and a sentence (EPERM: it is there and not to be trusted)
 */
int plx_files_open(const char *path, struct plx_files_why *why) PLX_MUST_CHECK;

/**
 * The text of a configuration file that plx_files_open() opens, for libconfig. One that includes
 * others is refused: libconfig would open those by itself, whoever has written them.
 *
 * Returns: the text, ended by a 0, to be free()d; or NULL with errno and a sentence
 */
char *plx_files_config(const char *path, struct plx_files_why *why) PLX_MUST_CHECK;

enum plx_files_folder {
	PLX_FILES_PRIVATE, /* nobody else may write to it */
	PLX_FILES_STICKY,  /* others may add to it, as to /tmp, but not replace what is ours */
};

/**
 * Open a folder of root's or of the effective user's, reached as in plx_files_open().
 *
 * @param create make it, and what it lies in, if it is missing (mode 0755)
 * Returns: a descriptor for openat() and its kin, or -1 with errno and a sentence
 */
int plx_files_folder(const char *path, enum plx_files_folder kind, bool create,
		     struct plx_files_why *why) PLX_MUST_CHECK;

/**
 * Open `name` in `folder` as a folder of the effective user's alone: no symbolic link, and nobody
 * else may write to it. Its descriptor has to be closed.
 *
 * Returns: a descriptor, or -1 with errno: EPERM: it is something else, or somebody else's
 */
int plx_files_own_folder(int folder, const char *name) PLX_MUST_CHECK;

/** Is `name` in `folder` the effective user's, and no folder? A link is looked at, not followed. */
bool plx_files_is_own(int folder, const char *name) PLX_MUST_CHECK;

#endif
