/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks a path part by part. Each part is opened relative to the previous one with O_PATH, which
 * reads nothing, never blocks and follows no link. Checks look at the descriptor, never at the
 * name. It keeps nothing between calls. Start with plx_files_open().
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plx_files.h"

enum {
	OTHERS_WRITE = S_IWGRP | S_IWOTH,
};

static int __attribute__((format(printf, 3, 4)))
refuse(struct plx_files_why *why, int error, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (why)
		vsnprintf(why->text, sizeof(why->text), format, list);
	va_end(list);
	errno = error;
	return -1;
}

static bool
is_trusted(uid_t user)
{
	return user == 0 || user == geteuid();
}

/* In a user namespace, root of the machine appears as another number: the owner of "/". Its
 * directories and links may be followed, but files that we obey must pass is_trusted(). */
static bool
may_lead(uid_t user)
{
	struct stat top;

	return is_trusted(user) || (stat("/", &top) == 0 && top.st_uid == user);
}

/* ---- walking ---- */

struct walk {
	const char *path; /* as requested */
	struct plx_files_why *why;
	bool create;
	int at; /* descriptor of the part reached */
	struct stat status;
	uint32_t links;
	char left[PATH_MAX]; /* the rest of the path */
};

/* Remove and return the first part of the rest.
 * Returns: false: nothing is left */
static bool
next_part(struct walk *walk, char part[NAME_MAX + 1])
{
	size_t slashes = strspn(walk->left, "/");
	size_t length = strcspn(walk->left + slashes, "/");

	if (length == 0 || length > NAME_MAX)
		return false;
	memcpy(part, walk->left + slashes, length);
	part[length] = '\0';
	memmove(walk->left, walk->left + slashes + length,
		strlen(walk->left + slashes + length) + 1);
	return true;
}

static void
close_keeping_errno(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

static int
move_to(struct walk *walk, int fd)
{
	if (walk->at >= 0)
		close(walk->at);
	walk->at = fd;
	return fd < 0 || fstat(fd, &walk->status) != 0 ? -1 : 0;
}

/* The target of a link is relative to the link's directory; an absolute one starts from the
 * root. */
static int
follow(struct walk *walk, int link, const struct stat *status, const char *part)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t length;

	if (!may_lead(status->st_uid))
		return refuse(walk->why, EPERM,
			      "%s is not used: its part \"%s\" is a symbolic link of user %u, whom "
			      "the program (user %u) does not obey",
			      walk->path, part, status->st_uid, geteuid());
	length = readlinkat(link, "", target, sizeof(target) - 1);
	if (length < 0)
		return -1;
	target[length] = '\0';
	if (++walk->links > PLX_FILES_LINKS_MAX) {
		errno = ELOOP;
		return -1;
	}
	memcpy(rest, walk->left, strlen(walk->left) + 1);
	if ((size_t)snprintf(walk->left, sizeof(walk->left), "%s%s", target, rest) >=
	    sizeof(walk->left)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (*target == '/')
		return move_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	return 0;
}

static int
step(struct walk *walk, const char *part)
{
	int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(walk->at, part, flags), result;
	struct stat status;

	if (fd < 0 && errno == ENOENT && walk->create &&
	    (mkdirat(walk->at, part, 0755) == 0 || errno == EEXIST))
		fd = openat(walk->at, part, flags);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) != 0 || !S_ISLNK(status.st_mode))
		return move_to(walk, fd);
	result = follow(walk, fd, &status, part);
	close(fd);
	return result;
}

/* Walk to the end of a path.
 * Returns: its O_PATH descriptor; or -1, with a sentence if a link is not trusted, otherwise
 * without */
static int
reach(struct walk *walk)
{
	char part[NAME_MAX + 1];
	int result;

	walk->at = -1;
	if (walk->why)
		*walk->why->text = '\0';
	if ((size_t)snprintf(walk->left, sizeof(walk->left), "%s", walk->path) >=
	    sizeof(walk->left)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	result = move_to(walk,
			 open(*walk->path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (!*walk->path) {
		errno = ENOENT;
		result = -1;
	}
	while (result == 0 && next_part(walk, part))
		result = step(walk, part);
	if (result == 0 && walk->left[strspn(walk->left, "/")]) {
		errno = ENAMETOOLONG;
		result = -1;
	}
	if (result != 0 && walk->at >= 0)
		close_keeping_errno(walk->at);
	return result == 0 ? walk->at : -1;
}

/* Set the sentence for a failed call, unless there is a more specific one. */
static int
failed(const struct walk *walk)
{
	int error = errno;

	if (walk->why && *walk->why->text)
		return -1;
	return refuse(walk->why, error, "%s cannot be read: %s", walk->path, strerror(error));
}

/* ---- files ---- */

static int
judge_file(const struct walk *walk)
{
	const struct stat *status = &walk->status;

	if (!S_ISREG(status->st_mode))
		return refuse(walk->why, EPERM, "%s cannot be read: it is not a file", walk->path);
	if (!is_trusted(status->st_uid))
		return refuse(walk->why, EPERM,
			      "%s is not read: it belongs to user %u, and the program runs as user "
			      "%u; what it obeys belongs to that user or to root",
			      walk->path, status->st_uid, geteuid());
	if (status->st_mode & OTHERS_WRITE)
		return refuse(walk->why, EPERM,
			      "%s is not read: its mode %04o lets others than its owner write to "
			      "it; chmod go-w it",
			      walk->path, status->st_mode & 07777);
	return 0;
}

int
plx_files_open(const char *path, struct plx_files_why *why)
{
	struct walk walk = {.path = path, .why = why};
	char again[32];
	int fd;

	if (reach(&walk) < 0)
		return failed(&walk);
	fd = judge_file(&walk);
	if (fd == 0) {
		/* reopen the same file for reading */
		snprintf(again, sizeof(again), "/proc/self/fd/%d", walk.at);
		fd = open(again, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			(void)failed(&walk);
	}
	close_keeping_errno(walk.at);
	return fd;
}

/* The line of the first @include, as libconfig's scanner finds it; 0: none. */
static uint32_t
line_of_include(const char *text)
{
	uint32_t line = 1;

	for (; *text; line++) {
		text += strspn(text, " \t");
		if (strncmp(text, "@include", strlen("@include")) == 0)
			return line;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return 0;
}

/* Read an open file completely.
 * Returns: NULL, with errno */
static char *
read_all(int fd, size_t *bytes)
{
	char *text = malloc(PLX_FILES_TEXT_MAX + 1);
	size_t used = 0;
	ssize_t got = 0;

	while (text && used <= PLX_FILES_TEXT_MAX &&
	       (got = read(fd, text + used, PLX_FILES_TEXT_MAX + 1 - used)) > 0)
		used += (size_t)got;
	if (!text || got < 0 || used > PLX_FILES_TEXT_MAX) {
		free(text);
		if (used > PLX_FILES_TEXT_MAX)
			errno = EFBIG;
		return NULL;
	}
	text[used] = '\0';
	*bytes = used;
	return text;
}

char *
plx_files_read(const char *path, size_t *bytes, struct plx_files_why *why)
{
	int fd = plx_files_open(path, why);
	char *text;

	if (fd < 0)
		return NULL;
	text = read_all(fd, bytes);
	if (!text)
		(void)refuse(why, errno, "%s cannot be read: %s", path, strerror(errno));
	close_keeping_errno(fd);
	return text;
}

char *
plx_files_config(const char *path, struct plx_files_why *why)
{
	size_t bytes;
	char *text = plx_files_read(path, &bytes, why);
	uint32_t line;

	line = text ? line_of_include(text) : 0;
	if (line == 0)
		return text;
	free(text);
	(void)refuse(why, EPERM, "%s:%u: @include is not taken; write all settings into one file",
		     path, line);
	return NULL;
}

/* ---- folders ---- */

static int
judge_folder(const struct walk *walk, enum plx_files_folder kind)
{
	const struct stat *status = &walk->status;
	bool is_sticky = (status->st_mode & S_ISVTX) != 0;

	if (!S_ISDIR(status->st_mode))
		return refuse(walk->why, ENOTDIR, "%s is not used: it is not a folder", walk->path);
	if (!may_lead(status->st_uid))
		return refuse(walk->why, EPERM,
			      "%s is not used: it belongs to user %u, and the program runs as user "
			      "%u",
			      walk->path, status->st_uid, geteuid());
	if ((status->st_mode & OTHERS_WRITE) && !(kind == PLX_FILES_STICKY && is_sticky))
		return refuse(walk->why, EPERM,
			      "%s is not used: its mode %04o lets others than its owner replace "
			      "what is in it; chmod go-w it",
			      walk->path, status->st_mode & 07777);
	return 0;
}

int
plx_files_folder(const char *path, enum plx_files_folder kind, bool create,
		 struct plx_files_why *why)
{
	struct walk walk = {.path = path, .why = why, .create = create};
	int fd;

	if (reach(&walk) < 0)
		return failed(&walk);
	fd = judge_folder(&walk, kind);
	if (fd == 0) {
		fd = openat(walk.at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			(void)failed(&walk);
	}
	close_keeping_errno(walk.at);
	return fd;
}

int
plx_files_own_folder(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0) {
		/* a link, or not a folder */
		if (errno == ELOOP || errno == ENOTDIR)
			errno = EPERM;
		return -1;
	}
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    !(status.st_mode & OTHERS_WRITE))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

bool
plx_files_is_own(int folder, const char *name)
{
	struct stat status;

	return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       status.st_uid == geteuid() && !S_ISDIR(status.st_mode);
}
