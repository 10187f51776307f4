/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of the file system as Windows handles: one descriptor each, read and written synchronously.
 * The overlapped files of NetworkDirect are in file.c.
 * Start with CreateFileA().
 */
#include "win_objects.h"

#include <fileapi.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
	PATH_BYTES = 4096,
	NS_PER_TICK = 100,
	HZ = 10000000, /* of a FILETIME */
	MODE_NEW = 0666,
	MODE_READ_ONLY = 0444,
};

#define EPOCH_TICKS UINT64_C(116444736000000000) /* 1601 to 1970 [100 ns] */

struct disk_file {
	struct win_object object;
	int descriptor;
};

_Static_assert(sizeof(struct disk_file) <= WIN_SLOT, "a file fits its slot");

void
win_disk_destroy(struct win_object *object)
{
	close(((struct disk_file *)object)->descriptor);
}

static BOOL
fail(void)
{
	return win_fail(win_error_of_errno(errno));
}

/* ENOENT may concern the file or a folder of its path. */
static BOOL
fail_of_path(const char *path)
{
	char folder[PATH_BYTES];
	const char *slash = strrchr(path, '/');
	struct stat status;
	int number = errno;

	if (number == ENOENT && slash && slash != path) {
		memcpy(folder, path, (size_t)(slash - path));
		folder[slash - path] = '\0';
		if (stat(folder, &status) || !S_ISDIR(status.st_mode))
			return win_fail(ERROR_PATH_NOT_FOUND);
	}
	return win_fail(win_error_of_errno(number));
}

/* ---- opening ---- */

/* Returns: flags for open(); -1: the error is set */
static int
mode_of(DWORD access, DWORD creation, DWORD flags)
{
	static const int how[] = {
		[CREATE_NEW] = O_CREAT | O_EXCL,
		[CREATE_ALWAYS] = O_CREAT | O_TRUNC,
		[OPEN_EXISTING] = 0,
		[OPEN_ALWAYS] = O_CREAT,
		[TRUNCATE_EXISTING] = O_TRUNC,
	};
	const DWORD known = FILE_FLAG_WRITE_THROUGH | FILE_FLAG_NO_BUFFERING |
			    FILE_FLAG_RANDOM_ACCESS | FILE_FLAG_SEQUENTIAL_SCAN |
			    FILE_FLAG_BACKUP_SEMANTICS | 0xffff /* attributes */;
	bool reads = access & (GENERIC_READ | GENERIC_ALL | FILE_READ_DATA);
	bool writes = access & (GENERIC_WRITE | GENERIC_ALL | FILE_WRITE_DATA | FILE_APPEND_DATA);

	if (creation < CREATE_NEW || creation > TRUNCATE_EXISTING ||
	    (creation == TRUNCATE_EXISTING && !writes)) {
		win_fail(ERROR_INVALID_PARAMETER);
		return -1;
	}
	if (flags & ~known) {
		win_fail(ERROR_NOT_SUPPORTED);
		return -1;
	}
	return how[creation] | O_CLOEXEC | O_NOCTTY |
	       (flags & FILE_FLAG_WRITE_THROUGH ? O_DSYNC : 0) |
	       (writes ? reads ? O_RDWR
			 : access & FILE_APPEND_DATA &&
					 !(access & (GENERIC_WRITE | FILE_WRITE_DATA))
				 ? O_WRONLY | O_APPEND
				 : O_WRONLY
		       : O_RDONLY);
}

/* Returns: a descriptor; -1: the error is set */
static int
open_file(const char *path, int mode, DWORD flags, bool *was_there)
{
	struct stat status;
	int fd;

	/* Try O_EXCL first, to know whether this call created the file. */
	*was_there = false;
	fd = mode & O_CREAT ? open(path, mode | O_EXCL,
				   flags & FILE_ATTRIBUTE_READONLY ? MODE_READ_ONLY : MODE_NEW)
			    : -1;
	if (fd < 0 && !(mode & O_EXCL) && (!(mode & O_CREAT) || errno == EEXIST)) {
		*was_there = true;
		fd = open(path, mode & ~O_CREAT);
	}
	if (fd < 0) {
		fail_of_path(path);
		return -1;
	}
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) &&
	    !(flags & FILE_FLAG_BACKUP_SEMANTICS)) {
		close(fd);
		win_fail(ERROR_ACCESS_DENIED);
		return -1;
	}
	return fd;
}

HANDLE
CreateFileA(LPCSTR path, DWORD access, DWORD share, LPSECURITY_ATTRIBUTES security, DWORD creation,
	    DWORD flags, HANDLE pattern)
{
	struct disk_file *file;
	bool was_there;
	int mode, fd;

	(void)share;
	(void)security;
	(void)pattern; /* attributes of another file, which do not exist here */
	if (!path || !*path || strlen(path) >= PATH_BYTES) {
		win_fail(!path || !*path ? ERROR_PATH_NOT_FOUND : ERROR_FILENAME_EXCED_RANGE);
		return INVALID_HANDLE_VALUE;
	}
	mode = mode_of(access, creation, flags);
	fd = mode < 0 ? -1 : open_file(path, mode, flags, &was_there);
	if (fd < 0)
		return INVALID_HANDLE_VALUE;
	file = (struct disk_file *)win_object_create(WIN_DISK);
	if (!file) {
		close(fd);
		return INVALID_HANDLE_VALUE;
	}
	file->descriptor = fd;
	SetLastError(was_there && (creation == CREATE_ALWAYS || creation == OPEN_ALWAYS)
			     ? ERROR_ALREADY_EXISTS
			     : NO_ERROR);
	return win_object_open(&file->object);
}

/* A path in bytes. Returns: false: the error is set */
static bool
narrow_path(LPCWSTR path, char bytes[PATH_BYTES])
{
	if (!path)
		return win_fail(ERROR_PATH_NOT_FOUND);
	return utf8_of_wide(path, bytes, PATH_BYTES) < PATH_BYTES ||
	       win_fail(ERROR_FILENAME_EXCED_RANGE);
}

HANDLE
CreateFileW(LPCWSTR path, DWORD access, DWORD share, LPSECURITY_ATTRIBUTES security, DWORD creation,
	    DWORD flags, HANDLE pattern)
{
	char bytes[PATH_BYTES];

	return narrow_path(path, bytes)
		       ? CreateFileA(bytes, access, share, security, creation, flags, pattern)
		       : INVALID_HANDLE_VALUE;
}

/* ---- contents ---- */

static struct disk_file *
hold(HANDLE handle)
{
	return (struct disk_file *)win_object_hold(handle, WIN_DISK);
}

static void
release(struct disk_file *file)
{
	win_object_release(&file->object);
}

static off_t
offset_of(const OVERLAPPED *overlapped)
{
	return (off_t)((uint64_t)overlapped->OffsetHigh << 32 | overlapped->Offset);
}

/* Read or write everything, despite signals. Returns: bytes; -1 and errno */
static ssize_t
move(int fd, char *to, const char *from, size_t bytes, const OVERLAPPED *at)
{
	size_t all = 0;
	ssize_t n = 0;

	while (all < bytes) {
		off_t offset = at ? offset_of(at) + (off_t)all : 0;

		if (to)
			n = at ? pread(fd, to + all, bytes - all, offset)
			       : read(fd, to + all, bytes - all);
		else
			n = at ? pwrite(fd, from + all, bytes - all, offset)
			       : write(fd, from + all, bytes - all);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		all += (size_t)n;
		/* A terminal or a pipe may return less. */
		if (to && !at && lseek(fd, 0, SEEK_CUR) < 0)
			break;
	}
	return n < 0 && !all ? -1 : (ssize_t)all;
}

static BOOL
transfer(HANDLE handle, char *to, const char *from, DWORD bytes, LPDWORD done, LPOVERLAPPED o)
{
	struct disk_file *file;
	BOOL good = TRUE;
	ssize_t n;

	if (done)
		*done = 0;
	if ((!to && !from && bytes) || (!done && !o))
		return win_fail(ERROR_INVALID_PARAMETER);
	file = hold(handle);
	if (!file)
		return FALSE;
	n = move(file->descriptor, to, from, bytes, o);
	if (n < 0) {
		/* EBADF: the handle lacks that right. */
		good = errno == EBADF ? win_fail(ERROR_ACCESS_DENIED) : fail();
	} else if (!n && bytes && to && o) {
		good = win_fail(ERROR_HANDLE_EOF);
	}
	if (n >= 0 && done)
		*done = (DWORD)n;
	if (o) {
		o->Internal = good ? 0 : 0xC0000001; /* STATUS_UNSUCCESSFUL */
		o->InternalHigh = n < 0 ? 0 : (ULONG_PTR)n;
	}
	release(file);
	return good;
}

BOOL
ReadFile(HANDLE handle, LPVOID to, DWORD bytes, LPDWORD done, LPOVERLAPPED o)
{
	static char nothing;

	return transfer(handle, bytes ? to : &nothing, NULL, bytes, done, o);
}

BOOL
WriteFile(HANDLE handle, LPCVOID from, DWORD bytes, LPDWORD done, LPOVERLAPPED o)
{
	return transfer(handle, NULL, bytes ? from : "", bytes, done, o);
}

BOOL
FlushFileBuffers(HANDLE handle)
{
	struct disk_file *file = hold(handle);
	BOOL good;

	if (!file)
		return FALSE;
	/* EINVAL: the file needs no flush. */
	good = fsync(file->descriptor) == 0 || errno == EINVAL || fail();
	release(file);
	return good;
}

BOOL
SetFilePointerEx(HANDLE handle, LARGE_INTEGER distance, LARGE_INTEGER *at, DWORD from)
{
	static const int whence[] = {SEEK_SET, SEEK_CUR, SEEK_END};
	struct disk_file *file;
	off_t now;

	if (from > FILE_END)
		return win_fail(ERROR_INVALID_PARAMETER);
	file = hold(handle);
	if (!file)
		return FALSE;
	now = lseek(file->descriptor, distance.QuadPart, whence[from]);
	release(file);
	if (now < 0)
		return errno == EINVAL ? win_fail(ERROR_NEGATIVE_SEEK) : fail();
	if (at)
		at->QuadPart = now;
	return TRUE;
}

BOOL
SetEndOfFile(HANDLE handle)
{
	struct disk_file *file = hold(handle);
	off_t now;
	BOOL good;

	if (!file)
		return FALSE;
	now = lseek(file->descriptor, 0, SEEK_CUR);
	good = (now >= 0 && ftruncate(file->descriptor, now) == 0) ||
	       (errno == EINVAL ? win_fail(ERROR_ACCESS_DENIED) : fail());
	release(file);
	return good;
}

/* ---- attributes ---- */

static DWORD
attributes_of(mode_t mode)
{
	DWORD attributes = 0;

	if (S_ISDIR(mode))
		attributes |= FILE_ATTRIBUTE_DIRECTORY;
	if (!(mode & (S_IWUSR | S_IWGRP | S_IWOTH)))
		attributes |= FILE_ATTRIBUTE_READONLY;
	return attributes ? attributes : FILE_ATTRIBUTE_NORMAL;
}

static FILETIME
file_time(const struct statx_timestamp *time)
{
	uint64_t ticks = (uint64_t)time->tv_sec * HZ + time->tv_nsec / NS_PER_TICK + EPOCH_TICKS;

	return (FILETIME){.dwLowDateTime = (DWORD)ticks, .dwHighDateTime = (DWORD)(ticks >> 32)};
}

BOOL
GetFileInformationByHandle(HANDLE handle, LPBY_HANDLE_FILE_INFORMATION information)
{
	struct disk_file *file;
	struct statx now;
	int error;

	if (!information)
		return win_fail(ERROR_INVALID_PARAMETER);
	file = hold(handle);
	if (!file)
		return FALSE;
	error = statx(file->descriptor, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &now);
	release(file);
	if (error)
		return fail();
	*information = (BY_HANDLE_FILE_INFORMATION){
		.dwFileAttributes = attributes_of(now.stx_mode),
		.ftCreationTime =
			file_time(now.stx_mask & STATX_BTIME ? &now.stx_btime : &now.stx_mtime),
		.ftLastAccessTime = file_time(&now.stx_atime),
		.ftLastWriteTime = file_time(&now.stx_mtime),
		.dwVolumeSerialNumber = (DWORD)makedev(now.stx_dev_major, now.stx_dev_minor),
		.nFileSizeHigh = (DWORD)(now.stx_size >> 32),
		.nFileSizeLow = (DWORD)now.stx_size,
		.nNumberOfLinks = now.stx_nlink,
		.nFileIndexHigh = (DWORD)(now.stx_ino >> 32),
		.nFileIndexLow = (DWORD)now.stx_ino,
	};
	return TRUE;
}

/* Returns: false: the error is set */
static bool
status_of(HANDLE handle, struct stat *status)
{
	struct disk_file *file = hold(handle);
	int error;

	if (!file)
		return false;
	error = fstat(file->descriptor, status);
	release(file);
	return !error || fail();
}

BOOL
GetFileSizeEx(HANDLE handle, LARGE_INTEGER *bytes)
{
	struct stat status;

	if (!bytes)
		return win_fail(ERROR_INVALID_PARAMETER);
	if (!status_of(handle, &status))
		return FALSE;
	bytes->QuadPart = status.st_size;
	return TRUE;
}

DWORD
GetFileType(HANDLE handle)
{
	struct stat status;

	if (!status_of(handle, &status))
		return FILE_TYPE_UNKNOWN;
	SetLastError(NO_ERROR);
	return S_ISCHR(status.st_mode)                                ? FILE_TYPE_CHAR
	       : S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ? FILE_TYPE_PIPE
								      : FILE_TYPE_DISK;
}

DWORD
GetFileAttributesA(LPCSTR path)
{
	struct stat status, link;

	if (!path || !*path || strlen(path) >= PATH_BYTES) {
		win_fail(!path || !*path ? ERROR_PATH_NOT_FOUND : ERROR_FILENAME_EXCED_RANGE);
		return INVALID_FILE_ATTRIBUTES;
	}
	if (lstat(path, &link)) {
		fail_of_path(path);
		return INVALID_FILE_ATTRIBUTES;
	}
	if (!S_ISLNK(link.st_mode))
		return attributes_of(link.st_mode);
	if (stat(path, &status))
		status = link; /* a dangling link */
	return (attributes_of(status.st_mode) & ~(DWORD)FILE_ATTRIBUTE_NORMAL) |
	       FILE_ATTRIBUTE_REPARSE_POINT;
}

DWORD
GetFileAttributesW(LPCWSTR path)
{
	char bytes[PATH_BYTES];

	return narrow_path(path, bytes) ? GetFileAttributesA(bytes) : INVALID_FILE_ATTRIBUTES;
}

BOOL
DeleteFileA(LPCSTR path)
{
	if (!path || !*path || strlen(path) >= PATH_BYTES)
		return win_fail(!path || !*path ? ERROR_PATH_NOT_FOUND
						: ERROR_FILENAME_EXCED_RANGE);
	return unlink(path) == 0 || fail_of_path(path);
}

BOOL
DeleteFileW(LPCWSTR path)
{
	char bytes[PATH_BYTES];

	return narrow_path(path, bytes) && DeleteFileA(bytes);
}
