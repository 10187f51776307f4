/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files and folders that other users of the machine cannot have written, planted or redirected.
 * Everything that Pollux takes instructions from, or removes, is opened here first. No symbolic
 * link of another user is followed. Only regular files are opened, so that a FIFO never blocks and
 * a device is never accessed. A file that another user owns or may write to is refused with a
 * sentence. Start with plx_files_config().
 */
#ifndef PLX_FILES_H
#define PLX_FILES_H

#include "plx_base.h"

enum {
	PLX_FILES_TEXT_MAX = 1 << 20, /* [bytes] largest file that is read */
	PLX_FILES_LINKS_MAX = 40,     /* symbolic links on one path, as in Linux */
};

/* Why something was refused, as one sentence that begins with the path. */
struct plx_files_why {
	char text[384];
};

/**
 * Open a regular file for reading. It must belong to root or to the effective user, nobody else may
 * write to it, and only symbolic links of these two users may lead to it. The file that was checked
 * is the file that is opened; it cannot be exchanged in between.
 *
 * Returns: a descriptor, or -1 with errno and a sentence (EPERM: it exists but is not trusted)
 */
int plx_files_open(const char *path, struct plx_files_why *why) PLX_MUST_CHECK;

/**
 * Read a file, opened as by plx_files_open().
 *
 * @param bytes out
 * Returns: its bytes, followed by a 0, to be free()d; or NULL with errno and a sentence (EFBIG:
 * more than PLX_FILES_TEXT_MAX)
 */
char *plx_files_read(const char *path, size_t *bytes, struct plx_files_why *why) PLX_MUST_CHECK;

/**
 * Read a configuration file, opened as by plx_files_open(), for libconfig. A file that includes
 * others is refused, because libconfig would open them without checking who wrote them.
 *
 * Returns: the text, ended by a 0, to be free()d; or NULL with errno and a sentence
 */
char *plx_files_config(const char *path, struct plx_files_why *why) PLX_MUST_CHECK;

enum plx_files_folder {
	PLX_FILES_PRIVATE, /* nobody else may write to it */
	PLX_FILES_STICKY,  /* others may add files, as in /tmp, but cannot replace ours */
};

/**
 * Open a folder that belongs to root or to the effective user, reached as in plx_files_open().
 *
 * @param create create it and its missing parents (mode 0755)
 * Returns: a descriptor for openat() and similar calls, or -1 with errno and a sentence
 */
int plx_files_folder(const char *path, enum plx_files_folder kind, bool create,
		     struct plx_files_why *why) PLX_MUST_CHECK;

/**
 * Open `name` in `folder`, which must be a folder of the effective user, not a symbolic link, and
 * not writable by anybody else. The caller closes the descriptor.
 *
 * Returns: a descriptor, or -1 with errno: EPERM: not a folder, or not trusted
 */
int plx_files_own_folder(int folder, const char *name) PLX_MUST_CHECK;

/** Does `name` in `folder` belong to the effective user, and is it not a folder? A link is
 * examined, not followed. */
bool plx_files_is_own(int folder, const char *name) PLX_MUST_CHECK;

#endif
