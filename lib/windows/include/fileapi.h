/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files, opened, read and written synchronously. Paths are those of Linux; narrow paths are UTF-8.
 * Overlapped access (FILE_FLAG_OVERLAPPED) and features without an equivalent on Linux are refused.
 * Sharing modes are ignored, since Linux has no such locks.
 *
 * Threads: every call from any thread. Tests: tests/unit/windows/objects/disk.c
 */
#ifndef PLX_WIN_FILEAPI_H
#define PLX_WIN_FILEAPI_H

#include "winbase.h"

#define CREATE_NEW        1
#define CREATE_ALWAYS     2
#define OPEN_EXISTING     3
#define OPEN_ALWAYS       4
#define TRUNCATE_EXISTING 5

#define FILE_FLAG_WRITE_THROUGH      0x80000000
#define FILE_FLAG_OVERLAPPED         0x40000000
#define FILE_FLAG_NO_BUFFERING       0x20000000
#define FILE_FLAG_RANDOM_ACCESS      0x10000000
#define FILE_FLAG_SEQUENTIAL_SCAN    0x08000000
#define FILE_FLAG_DELETE_ON_CLOSE    0x04000000
#define FILE_FLAG_BACKUP_SEMANTICS   0x02000000
#define FILE_FLAG_OPEN_REPARSE_POINT 0x00200000

#define FILE_BEGIN   0
#define FILE_CURRENT 1
#define FILE_END     2

#define FILE_TYPE_UNKNOWN 0
#define FILE_TYPE_DISK    1
#define FILE_TYPE_CHAR    2
#define FILE_TYPE_PIPE    3

#define INVALID_FILE_ATTRIBUTES ((DWORD)-1)
#define INVALID_FILE_SIZE       ((DWORD)0xFFFFFFFF)

typedef struct _BY_HANDLE_FILE_INFORMATION {
	DWORD dwFileAttributes;
	FILETIME ftCreationTime; /* the last change, if the file system does not record creation */
	FILETIME ftLastAccessTime;
	FILETIME ftLastWriteTime;
	DWORD dwVolumeSerialNumber; /* of the device */
	DWORD nFileSizeHigh;
	DWORD nFileSizeLow;
	DWORD nNumberOfLinks;
	DWORD nFileIndexHigh; /* of the inode, shared by all names of a file */
	DWORD nFileIndexLow;
} BY_HANDLE_FILE_INFORMATION, *PBY_HANDLE_FILE_INFORMATION, *LPBY_HANDLE_FILE_INFORMATION;

PLX_WIN_BEGIN

/**
 * @param access    GENERIC_READ, GENERIC_WRITE, or 0 to look at attributes only
 * @param share     not looked at
 * @param creation  CREATE_NEW ... TRUNCATE_EXISTING
 * @param flags     attributes, of which FILE_ATTRIBUTE_READONLY matters to a new file, and flags:
 *                  WRITE_THROUGH; BACKUP_SEMANTICS opens a folder, too; NO_BUFFERING, RANDOM_ACCESS
 *                  and SEQUENTIAL_SCAN are hints
 * Returns: INVALID_HANDLE_VALUE: ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_ACCESS_DENIED,
 * ERROR_FILE_EXISTS, ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED and others. A handle, with
 * ERROR_ALREADY_EXISTS when CREATE_ALWAYS or OPEN_ALWAYS found the file
 */
HANDLE WINAPI CreateFileA(LPCSTR path, DWORD access, DWORD share, LPSECURITY_ATTRIBUTES security,
			  DWORD creation, DWORD flags, HANDLE pattern) PLX_WIN_NAME(CreateFileA);
HANDLE WINAPI CreateFileW(LPCWSTR path, DWORD access, DWORD share, LPSECURITY_ATTRIBUTES security,
			  DWORD creation, DWORD flags, HANDLE pattern) PLX_WIN_NAME(CreateFileW);
/** Read from a file. Returns: FALSE, and an error; TRUE and 0 bytes: end of file. @param o NULL, or
 * the position to read at: then the end is ERROR_HANDLE_EOF. The call is synchronous in either case
 */
BOOL WINAPI ReadFile(HANDLE file, LPVOID to, DWORD bytes, LPDWORD done, LPOVERLAPPED o)
	PLX_WIN_NAME(ReadFile);
BOOL WINAPI WriteFile(HANDLE file, LPCVOID from, DWORD bytes, LPDWORD done, LPOVERLAPPED o)
	PLX_WIN_NAME(WriteFile);
BOOL WINAPI FlushFileBuffers(HANDLE file) PLX_WIN_NAME(FlushFileBuffers);
/** Errors: ERROR_NEGATIVE_SEEK, ERROR_INVALID_PARAMETER */
BOOL WINAPI SetFilePointerEx(HANDLE file, LARGE_INTEGER distance, LARGE_INTEGER *at, DWORD from)
	PLX_WIN_NAME(SetFilePointerEx);
/** Set the end of the file to the file pointer. */
BOOL WINAPI SetEndOfFile(HANDLE file) PLX_WIN_NAME(SetEndOfFile);
BOOL WINAPI GetFileSizeEx(HANDLE file, LARGE_INTEGER *bytes) PLX_WIN_NAME(GetFileSizeEx);
DWORD WINAPI GetFileType(HANDLE file) PLX_WIN_NAME(GetFileType);
BOOL WINAPI GetFileInformationByHandle(HANDLE file, LPBY_HANDLE_FILE_INFORMATION information)
	PLX_WIN_NAME(GetFileInformationByHandle);
/** Returns: DIRECTORY, READONLY (no write permission at all), REPARSE_POINT (a symbolic link, in
 * addition to its target's attributes), or NORMAL; INVALID_FILE_ATTRIBUTES */
DWORD WINAPI GetFileAttributesA(LPCSTR path) PLX_WIN_NAME(GetFileAttributesA);
DWORD WINAPI GetFileAttributesW(LPCWSTR path) PLX_WIN_NAME(GetFileAttributesW);
BOOL WINAPI DeleteFileA(LPCSTR path) PLX_WIN_NAME(DeleteFileA);
BOOL WINAPI DeleteFileW(LPCWSTR path) PLX_WIN_NAME(DeleteFileW);

PLX_WIN_END

#ifdef UNICODE
#define CreateFile        CreateFileW
#define GetFileAttributes GetFileAttributesW
#define DeleteFile        DeleteFileW
#else
#define CreateFile        CreateFileA
#define GetFileAttributes GetFileAttributesA
#define DeleteFile        DeleteFileA
#endif

#endif
