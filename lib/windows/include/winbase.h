/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of Windows' kernel that ND2 programs make: handles, events, threads, completion ports,
 * time, memory, libraries. Each follows Microsoft's documentation, with the limits stated here. On
 * failure a call returns FALSE or NULL unless stated otherwise, and GetLastError() returns the
 * error (winerror.h).
 *
 * Threads: every call from any thread. Tests: tests/unit/windows.
 */
#ifndef PLX_WIN_WINBASE_H
#define PLX_WIN_WINBASE_H

#include "winnt.h"
#include "winerror.h"

#include <stdarg.h>

#define INFINITE       0xFFFFFFFF
#define WAIT_OBJECT_0  0
#define WAIT_ABANDONED 0x80
#define WAIT_FAILED    0xFFFFFFFF

#define FILE_SKIP_COMPLETION_PORT_ON_SUCCESS 0x1
#define FILE_SKIP_SET_EVENT_ON_HANDLE        0x2

typedef struct _OVERLAPPED {
	ULONG_PTR Internal;     /* the status; STATUS_PENDING until it is final */
	ULONG_PTR InternalHigh; /* bytes */
	__extension__ union {
		__extension__ struct {
			DWORD Offset;
			DWORD OffsetHigh;
		};
		PVOID Pointer;
	};
	HANDLE hEvent; /* bit 0 set: no packet for the completion port */
} OVERLAPPED, *LPOVERLAPPED;

typedef struct _OVERLAPPED_ENTRY {
	ULONG_PTR lpCompletionKey;
	LPOVERLAPPED lpOverlapped;
	ULONG_PTR Internal;
	DWORD dwNumberOfBytesTransferred;
} OVERLAPPED_ENTRY, *LPOVERLAPPED_ENTRY;

#define HasOverlappedIoCompleted(o) ((DWORD)(o)->Internal != (DWORD)STATUS_PENDING)

typedef struct _SECURITY_ATTRIBUTES {
	DWORD nLength;
	LPVOID lpSecurityDescriptor;
	BOOL bInheritHandle;
} SECURITY_ATTRIBUTES, *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

typedef struct _FILETIME {
	DWORD dwLowDateTime;
	DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;

typedef struct _SYSTEM_INFO {
	__extension__ union {
		DWORD dwOemId;
		__extension__ struct {
			WORD wProcessorArchitecture;
			WORD wReserved;
		};
	};
	DWORD dwPageSize;
	LPVOID lpMinimumApplicationAddress;
	LPVOID lpMaximumApplicationAddress;
	DWORD_PTR dwActiveProcessorMask;
	DWORD dwNumberOfProcessors;
	DWORD dwProcessorType;
	DWORD dwAllocationGranularity;
	WORD wProcessorLevel;
	WORD wProcessorRevision;
} SYSTEM_INFO, *LPSYSTEM_INFO;

typedef DWORD(WINAPI *PTHREAD_START_ROUTINE)(LPVOID);
typedef PTHREAD_START_ROUTINE LPTHREAD_START_ROUTINE;
typedef VOID(WINAPI *LPOVERLAPPED_COMPLETION_ROUTINE)(DWORD error, DWORD bytes, LPOVERLAPPED o);
typedef VOID(CALLBACK *WAITORTIMERCALLBACK)(PVOID context, BOOLEAN timer);

PLX_WIN_BEGIN

/* ---- errors and handles ---- */

DWORD WINAPI GetLastError(void) PLX_WIN_NAME(GetLastError);
VOID WINAPI SetLastError(DWORD error) PLX_WIN_NAME(SetLastError);
BOOL WINAPI CloseHandle(HANDLE h) PLX_WIN_NAME(CloseHandle);

/**
 * Get a descriptor for epoll (not on Windows). It is readable while the handle is signalled: an
 * event that is set, a port that has packets, a thread that has ended, a file on which requests
 * have finished since the descriptor was last read. The handle owns it: never close it.
 *
 * Returns: -1: h is not a handle, or no descriptor is available
 */
int plx_handle_fd(HANDLE h) __attribute__((__visibility__("default")));

DWORD WINAPI WaitForSingleObject(HANDLE h, DWORD ms) PLX_WIN_NAME(WaitForSingleObject);
DWORD WINAPI WaitForSingleObjectEx(HANDLE h, DWORD ms, BOOL alertable)
	PLX_WIN_NAME(WaitForSingleObjectEx);
DWORD WINAPI WaitForMultipleObjects(DWORD n, const HANDLE *h, BOOL all, DWORD ms)
	PLX_WIN_NAME(WaitForMultipleObjects);

/* ---- events ---- */

/* Names of events and security attributes are refused: ERROR_NOT_SUPPORTED. */
HANDLE WINAPI CreateEventA(LPSECURITY_ATTRIBUTES security, BOOL manual, BOOL set, LPCSTR name)
	PLX_WIN_NAME(CreateEventA);
HANDLE WINAPI CreateEventW(LPSECURITY_ATTRIBUTES security, BOOL manual, BOOL set, LPCWSTR name)
	PLX_WIN_NAME(CreateEventW);
BOOL WINAPI SetEvent(HANDLE h) PLX_WIN_NAME(SetEvent);
BOOL WINAPI ResetEvent(HANDLE h) PLX_WIN_NAME(ResetEvent);

/* ---- threads ---- */

HANDLE WINAPI CreateThread(LPSECURITY_ATTRIBUTES security, SIZE_T stack, LPTHREAD_START_ROUTINE run,
			   LPVOID argument, DWORD flags, LPDWORD id) PLX_WIN_NAME(CreateThread);
BOOL WINAPI GetExitCodeThread(HANDLE thread, LPDWORD code) PLX_WIN_NAME(GetExitCodeThread);
DECLSPEC_NORETURN VOID WINAPI ExitThread(DWORD code) PLX_WIN_NAME(ExitThread);
HANDLE WINAPI GetCurrentThread(void) PLX_WIN_NAME(GetCurrentThread);
DWORD WINAPI GetCurrentThreadId(void) PLX_WIN_NAME(GetCurrentThreadId);
HANDLE WINAPI GetCurrentProcess(void) PLX_WIN_NAME(GetCurrentProcess);
DWORD WINAPI GetCurrentProcessId(void) PLX_WIN_NAME(GetCurrentProcessId);
DECLSPEC_NORETURN VOID WINAPI ExitProcess(UINT code) PLX_WIN_NAME(ExitProcess);
DWORD_PTR WINAPI SetThreadAffinityMask(HANDLE thread, DWORD_PTR mask)
	PLX_WIN_NAME(SetThreadAffinityMask);
BOOL WINAPI SwitchToThread(void) PLX_WIN_NAME(SwitchToThread);
VOID WINAPI Sleep(DWORD ms) PLX_WIN_NAME(Sleep);

/* ---- critical sections ---- */

typedef struct _RTL_CRITICAL_SECTION {
	__extension__ union {
		ULONGLONG room[8];
		PVOID align;
	};
} CRITICAL_SECTION, *PCRITICAL_SECTION, *LPCRITICAL_SECTION;

VOID WINAPI InitializeCriticalSection(LPCRITICAL_SECTION s) PLX_WIN_NAME(InitializeCriticalSection);
BOOL WINAPI InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION s, DWORD spins)
	PLX_WIN_NAME(InitializeCriticalSectionAndSpinCount);
VOID WINAPI EnterCriticalSection(LPCRITICAL_SECTION s) PLX_WIN_NAME(EnterCriticalSection);
BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION s) PLX_WIN_NAME(TryEnterCriticalSection);
VOID WINAPI LeaveCriticalSection(LPCRITICAL_SECTION s) PLX_WIN_NAME(LeaveCriticalSection);
VOID WINAPI DeleteCriticalSection(LPCRITICAL_SECTION s) PLX_WIN_NAME(DeleteCriticalSection);

/* ---- completion ports ---- */

HANDLE WINAPI CreateIoCompletionPort(HANDLE file, HANDLE port, ULONG_PTR key, DWORD threads)
	PLX_WIN_NAME(CreateIoCompletionPort);
BOOL WINAPI GetQueuedCompletionStatus(HANDLE port, LPDWORD bytes, ULONG_PTR *key, LPOVERLAPPED *o,
				      DWORD ms) PLX_WIN_NAME(GetQueuedCompletionStatus);
BOOL WINAPI GetQueuedCompletionStatusEx(HANDLE port, LPOVERLAPPED_ENTRY entries, ULONG n,
					PULONG removed, DWORD ms, BOOL alertable)
	PLX_WIN_NAME(GetQueuedCompletionStatusEx);
BOOL WINAPI PostQueuedCompletionStatus(HANDLE port, DWORD bytes, ULONG_PTR key, LPOVERLAPPED o)
	PLX_WIN_NAME(PostQueuedCompletionStatus);
BOOL WINAPI BindIoCompletionCallback(HANDLE file, LPOVERLAPPED_COMPLETION_ROUTINE run, ULONG flags)
	PLX_WIN_NAME(BindIoCompletionCallback);
BOOL WINAPI SetFileCompletionNotificationModes(HANDLE file, UCHAR flags)
	PLX_WIN_NAME(SetFileCompletionNotificationModes);
BOOL WINAPI GetOverlappedResult(HANDLE file, LPOVERLAPPED o, LPDWORD bytes, BOOL wait)
	PLX_WIN_NAME(GetOverlappedResult);

/* ---- time ---- */

BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *ticks) PLX_WIN_NAME(QueryPerformanceCounter);
BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *hz) PLX_WIN_NAME(QueryPerformanceFrequency);
DWORD WINAPI GetTickCount(void) PLX_WIN_NAME(GetTickCount);
ULONGLONG WINAPI GetTickCount64(void) PLX_WIN_NAME(GetTickCount64);
VOID WINAPI GetSystemTimeAsFileTime(LPFILETIME now) PLX_WIN_NAME(GetSystemTimeAsFileTime);
/**
 * Query how the system time is adjusted.
 *
 * @param adjustment [100 ns] added to the clock at each increment
 * @param increment  [100 ns] between additions: 15.625 ms, as on most machines with Windows
 * @param disabled   TRUE: the clock is not disciplined (adjtimex() reports it as unsynchronized)
 */
BOOL WINAPI GetSystemTimeAdjustment(PDWORD adjustment, PDWORD increment, PBOOL disabled)
	PLX_WIN_NAME(GetSystemTimeAdjustment);
BOOL WINAPI GetSystemTimes(PFILETIME idle, PFILETIME kernel, PFILETIME user)
	PLX_WIN_NAME(GetSystemTimes);

/* ---- the machine and memory ---- */

VOID WINAPI GetSystemInfo(LPSYSTEM_INFO info) PLX_WIN_NAME(GetSystemInfo);
VOID WINAPI GetCurrentProcessorNumberEx(PPROCESSOR_NUMBER number)
	PLX_WIN_NAME(GetCurrentProcessorNumberEx);
HANDLE WINAPI GetProcessHeap(void) PLX_WIN_NAME(GetProcessHeap);
LPVOID WINAPI HeapAlloc(HANDLE heap, DWORD flags, SIZE_T bytes) PLX_WIN_NAME(HeapAlloc);
LPVOID WINAPI HeapReAlloc(HANDLE heap, DWORD flags, LPVOID block, SIZE_T bytes)
	PLX_WIN_NAME(HeapReAlloc);
BOOL WINAPI HeapFree(HANDLE heap, DWORD flags, LPVOID block) PLX_WIN_NAME(HeapFree);
/** Returns: [bytes] the requested size; -1: not a block of the heap */
SIZE_T WINAPI HeapSize(HANDLE heap, DWORD flags, LPCVOID block) PLX_WIN_NAME(HeapSize);

/* Local and global memory comes from the process heap. A handle of moveable memory is its address:
 * it never moves, and locking only checks the handle. */
#define LMEM_FIXED    0x0000
#define LMEM_MOVEABLE 0x0002
#define LMEM_ZEROINIT 0x0040
#define LHND          (LMEM_MOVEABLE | LMEM_ZEROINIT)
#define LPTR          (LMEM_FIXED | LMEM_ZEROINIT)
#define GMEM_FIXED    LMEM_FIXED
#define GMEM_MOVEABLE LMEM_MOVEABLE
#define GMEM_ZEROINIT LMEM_ZEROINIT
#define GHND          LHND
#define GPTR          LPTR

/** Errors: ERROR_INVALID_PARAMETER (flags), ERROR_NOT_ENOUGH_MEMORY */
HLOCAL WINAPI LocalAlloc(UINT flags, SIZE_T bytes) PLX_WIN_NAME(LocalAlloc);
HLOCAL WINAPI LocalReAlloc(HLOCAL memory, SIZE_T bytes, UINT flags) PLX_WIN_NAME(LocalReAlloc);
/** Returns: NULL; the handle itself: it is invalid, ERROR_INVALID_HANDLE. NULL may be freed */
HLOCAL WINAPI LocalFree(HLOCAL memory) PLX_WIN_NAME(LocalFree);
/** Returns: [bytes]; 0: invalid handle, ERROR_INVALID_HANDLE */
SIZE_T WINAPI LocalSize(HLOCAL memory) PLX_WIN_NAME(LocalSize);
LPVOID WINAPI LocalLock(HLOCAL memory) PLX_WIN_NAME(LocalLock);
/** Returns: FALSE and NO_ERROR: the memory is not locked */
BOOL WINAPI LocalUnlock(HLOCAL memory) PLX_WIN_NAME(LocalUnlock);
#define GlobalAlloc   LocalAlloc
#define GlobalReAlloc LocalReAlloc
#define GlobalFree    LocalFree
#define GlobalSize    LocalSize
#define GlobalLock    LocalLock
#define GlobalUnlock  LocalUnlock

LPVOID WINAPI VirtualAlloc(LPVOID at, SIZE_T bytes, DWORD type, DWORD protect)
	PLX_WIN_NAME(VirtualAlloc);
BOOL WINAPI VirtualFree(LPVOID at, SIZE_T bytes, DWORD type) PLX_WIN_NAME(VirtualFree);

/* ---- libraries ---- */

#define DONT_RESOLVE_DLL_REFERENCES         0x00000001
#define LOAD_LIBRARY_AS_DATAFILE            0x00000002
#define LOAD_WITH_ALTERED_SEARCH_PATH       0x00000008
#define LOAD_IGNORE_CODE_AUTHZ_LEVEL        0x00000010
#define LOAD_LIBRARY_AS_IMAGE_RESOURCE      0x00000020
#define LOAD_LIBRARY_AS_DATAFILE_EXCLUSIVE  0x00000040
#define LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR    0x00000100
#define LOAD_LIBRARY_SEARCH_APPLICATION_DIR 0x00000200
#define LOAD_LIBRARY_SEARCH_USER_DIRS       0x00000400
#define LOAD_LIBRARY_SEARCH_SYSTEM32        0x00000800
#define LOAD_LIBRARY_SEARCH_DEFAULT_DIRS    0x00001000

/* The path is passed to dlopen(). Flags about the search order have no effect. */
HMODULE WINAPI LoadLibraryA(LPCSTR path) PLX_WIN_NAME(LoadLibraryA);
HMODULE WINAPI LoadLibraryW(LPCWSTR path) PLX_WIN_NAME(LoadLibraryW);
HMODULE WINAPI LoadLibraryExA(LPCSTR path, HANDLE file, DWORD flags) PLX_WIN_NAME(LoadLibraryExA);
HMODULE WINAPI LoadLibraryExW(LPCWSTR path, HANDLE file, DWORD flags) PLX_WIN_NAME(LoadLibraryExW);
HMODULE WINAPI GetModuleHandleA(LPCSTR path) PLX_WIN_NAME(GetModuleHandleA);
HMODULE WINAPI GetModuleHandleW(LPCWSTR path) PLX_WIN_NAME(GetModuleHandleW);
FARPROC WINAPI GetProcAddress(HMODULE library, LPCSTR name) PLX_WIN_NAME(GetProcAddress);
BOOL WINAPI FreeLibrary(HMODULE library) PLX_WIN_NAME(FreeLibrary);
/** Stop calling the library's DllMain() for threads. Without a DllMain() the call has no effect. */
BOOL WINAPI DisableThreadLibraryCalls(HMODULE library) PLX_WIN_NAME(DisableThreadLibraryCalls);
DWORD WINAPI ExpandEnvironmentStringsA(LPCSTR from, LPSTR to, DWORD chars)
	PLX_WIN_NAME(ExpandEnvironmentStringsA);
DWORD WINAPI ExpandEnvironmentStringsW(LPCWSTR from, LPWSTR to, DWORD chars)
	PLX_WIN_NAME(ExpandEnvironmentStringsW);

/* ---- text ----
 *
 * Lengths and comparisons treat NULL as an empty string. Strings are ordered by code points,
 * ignoring case by Unicode's simple mapping where required; Windows sorts by the user's language.
 * As on Windows the copies are unbounded; strcpy_s() is bounded.
 */

int WINAPI lstrlenA(LPCSTR text) PLX_WIN_NAME(lstrlenA);
int WINAPI lstrlenW(LPCWSTR text) PLX_WIN_NAME(lstrlenW);
/** Returns: below 0, 0, above 0 */
int WINAPI lstrcmpA(LPCSTR a, LPCSTR b) PLX_WIN_NAME(lstrcmpA);
int WINAPI lstrcmpW(LPCWSTR a, LPCWSTR b) PLX_WIN_NAME(lstrcmpW);
int WINAPI lstrcmpiA(LPCSTR a, LPCSTR b) PLX_WIN_NAME(lstrcmpiA);
int WINAPI lstrcmpiW(LPCWSTR a, LPCWSTR b) PLX_WIN_NAME(lstrcmpiW);
/** Returns: to; NULL: one of them is NULL */
LPSTR WINAPI lstrcpyA(LPSTR to, LPCSTR from) PLX_WIN_NAME(lstrcpyA);
LPWSTR WINAPI lstrcpyW(LPWSTR to, LPCWSTR from) PLX_WIN_NAME(lstrcpyW);
LPSTR WINAPI lstrcatA(LPSTR to, LPCSTR from) PLX_WIN_NAME(lstrcatA);
LPWSTR WINAPI lstrcatW(LPWSTR to, LPCWSTR from) PLX_WIN_NAME(lstrcatW);
/** @param room [characters] including the final 0; a string that does not fit is truncated */
LPSTR WINAPI lstrcpynA(LPSTR to, LPCSTR from, int room) PLX_WIN_NAME(lstrcpynA);
LPWSTR WINAPI lstrcpynW(LPWSTR to, LPCWSTR from, int room) PLX_WIN_NAME(lstrcpynW);

#define FORMAT_MESSAGE_IGNORE_INSERTS  0x00000200
#define FORMAT_MESSAGE_FROM_STRING     0x00000400
#define FORMAT_MESSAGE_FROM_HMODULE    0x00000800
#define FORMAT_MESSAGE_FROM_SYSTEM     0x00001000
#define FORMAT_MESSAGE_ARGUMENT_ARRAY  0x00002000
#define FORMAT_MESSAGE_ALLOCATE_BUFFER 0x00000100
#define FORMAT_MESSAGE_MAX_WIDTH_MASK  0x000000FF

/**
 * The text of an error, or of a definition with inserts (%1, %2!08x!, %n, %0, %%).
 *
 * @param flags     FROM_SYSTEM: of the errors of winerror.h and winsock2.h, and of HRESULTs made of
 *                  them, in English. FROM_STRING: source is the definition. The low byte: 0, the
 *                  characters of a line, or FORMAT_MESSAGE_MAX_WIDTH_MASK for a single line
 * @param size      [characters] of the buffer; with ALLOCATE_BUFFER the least, `buffer` is the
 *                  address of a pointer, and LocalFree() frees it
 * @param arguments a va_list *, or with ARGUMENT_ARRAY a DWORD_PTR *
 * Returns: [characters] without the 0; 0: ERROR_INSUFFICIENT_BUFFER, ERROR_MR_MID_NOT_FOUND,
 * ERROR_RESOURCE_LANG_NOT_FOUND (neither neutral nor English), ERROR_RESOURCE_TYPE_NOT_FOUND
 * (FROM_HMODULE: libraries have no tables here), ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY
 */
DWORD WINAPI FormatMessageA(DWORD flags, LPCVOID source, DWORD message, DWORD language,
			    LPSTR buffer, DWORD size, va_list *arguments)
	PLX_WIN_NAME(FormatMessageA);
DWORD WINAPI FormatMessageW(DWORD flags, LPCVOID source, DWORD message, DWORD language,
			    LPWSTR buffer, DWORD size, va_list *arguments)
	PLX_WIN_NAME(FormatMessageW);

/** The arguments of the process, quoted so that CommandLineToArgvW() returns them. The library owns
 * the memory. */
LPSTR WINAPI GetCommandLineA(void) PLX_WIN_NAME(GetCommandLineA);
LPWSTR WINAPI GetCommandLineW(void) PLX_WIN_NAME(GetCommandLineW);

PLX_WIN_END

#ifdef UNICODE
#define lstrlen        lstrlenW
#define lstrcmp        lstrcmpW
#define lstrcmpi       lstrcmpiW
#define lstrcpy        lstrcpyW
#define lstrcat        lstrcatW
#define lstrcpyn       lstrcpynW
#define FormatMessage  FormatMessageW
#define GetCommandLine GetCommandLineW
#else
#define lstrlen        lstrlenA
#define lstrcmp        lstrcmpA
#define lstrcmpi       lstrcmpiA
#define lstrcpy        lstrcpyA
#define lstrcat        lstrcatA
#define lstrcpyn       lstrcpynA
#define FormatMessage  FormatMessageA
#define GetCommandLine GetCommandLineA
#endif

#ifdef UNICODE
#define CreateEvent              CreateEventW
#define LoadLibrary              LoadLibraryW
#define LoadLibraryEx            LoadLibraryExW
#define GetModuleHandle          GetModuleHandleW
#define ExpandEnvironmentStrings ExpandEnvironmentStringsW
#else
#define CreateEvent              CreateEventA
#define LoadLibrary              LoadLibraryA
#define LoadLibraryEx            LoadLibraryExA
#define GetModuleHandle          GetModuleHandleA
#define ExpandEnvironmentStrings ExpandEnvironmentStringsA
#endif

#endif
