/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plain types, and the keywords of Microsoft's compilers used in declarations.
 * It declares no functions except those of its last lines, min and max.
 * Start with PLX_WIN_NAME, which every function of lib/windows is declared with.
 */
#ifndef PLX_WIN_WINDEF_H
#define PLX_WIN_WINDEF_H

#include "basetsd.h"
#include "pollux-msvc.h"
#include "sal.h"

#include <wchar.h>

/* Unicode is the default, as in a new project of Visual Studio; _MBCS chooses bytes, as there. */
#ifndef _MBCS
#ifndef UNICODE
#define UNICODE 1
#endif
#ifndef _UNICODE
#define _UNICODE 1
#endif
#endif

/* A Windows function keeps its name in C; its linker name is plx_win_<name>, so that it cannot
 * clash with another library. The macro follows the parameters of a declaration. */
#define PLX_WIN_NAME(f) __asm__("plx_win_" #f) __attribute__((__visibility__("default")))

#ifdef __cplusplus
#define PLX_WIN_BEGIN extern "C" {
#define PLX_WIN_END   }
#define EXTERN_C      extern "C"
#else
#define PLX_WIN_BEGIN
#define PLX_WIN_END
#define EXTERN_C extern
#endif
#define EXTERN_C_START PLX_WIN_BEGIN
#define EXTERN_C_END   PLX_WIN_END

#define WINAPI
#define WINAPIV
#define APIENTRY
#define CALLBACK
#define PASCAL
#define NTAPI
#define WSAAPI
#define FAR
#define NEAR
#define CONST const
#define VOID  void

#define UNALIGNED   __unaligned
#define UNALIGNED64 __unaligned
#define FORCEINLINE __forceinline

#define DECLSPEC_ALIGN(n)    __declspec(align(n))
#define DECLSPEC_NOINLINE    __declspec(noinline)
#define DECLSPEC_NORETURN    __declspec(noreturn)
#define DECLSPEC_NOVTABLE    __declspec(novtable)
#define DECLSPEC_SELECTANY   __declspec(selectany)
#define DECLSPEC_IMPORT      __declspec(dllimport)
#define DECLSPEC_EXPORT      __declspec(dllexport)
#define DECLSPEC_NOTHROW     __declspec(nothrow)
#define DECLSPEC_SAFEBUFFERS __declspec(safebuffers)
#define DECLSPEC_UUID(id)
#define DECLSPEC_DEPRECATED __declspec(deprecated)
#define DECLSPEC_GUARDIGNORE
#define DECLSPEC_GUARDNOCF
#define DECLSPEC_GUARD_SUPPRESS
#define DECLSPEC_ADDRSAFE
#define DECLSPEC_CHPE_GUEST
#define DECLSPEC_INTRIN_TYPE
#define DECLSPEC_CACHEALIGN DECLSPEC_ALIGN(64)
#define DECLSPEC_XFGVIRT(base, func)

typedef int32_t BOOL, *PBOOL, *LPBOOL;
typedef uint8_t BOOLEAN, *PBOOLEAN;
typedef uint8_t BYTE, *PBYTE, *LPBYTE;
typedef char CHAR, *PCHAR, CCHAR;
typedef unsigned char UCHAR, *PUCHAR;
typedef int16_t SHORT, *PSHORT;
typedef uint16_t USHORT, *PUSHORT, WORD, *PWORD, *LPWORD;
typedef int32_t INT, *PINT, *LPINT;
typedef uint32_t UINT, *PUINT, *LPUINT;
typedef int32_t LONG, *PLONG, *LPLONG;
typedef uint32_t ULONG, *PULONG, DWORD, *PDWORD, *LPDWORD;
typedef long long LONGLONG, *PLONGLONG;
typedef unsigned long long ULONGLONG, *PULONGLONG, DWORDLONG, *PDWORDLONG;
typedef float FLOAT, *PFLOAT;
typedef double DOUBLE;

typedef int32_t HRESULT;
typedef int32_t NTSTATUS, *PNTSTATUS;

typedef void *PVOID, *LPVOID;
typedef const void *PCVOID, *LPCVOID;
typedef void *HANDLE, **PHANDLE, **LPHANDLE;

#define DECLARE_HANDLE(name) typedef struct name##__ *name
DECLARE_HANDLE(HINSTANCE);
typedef HINSTANCE HMODULE;
typedef HANDLE HGLOBAL, HLOCAL;

typedef wchar_t WCHAR, *PWCHAR, *PWSTR, *LPWSTR, *PWCH, *LPWCH;
typedef const wchar_t *PCWSTR, *LPCWSTR, *PCWCH, *LPCWCH;
typedef char *PSTR, *LPSTR, *PCH, *LPCH;
typedef const char *PCSTR, *LPCSTR, *PCCH, *LPCCH;

#ifdef UNICODE
typedef WCHAR TCHAR, *PTCHAR;
typedef LPWSTR PTSTR, LPTSTR;
typedef LPCWSTR PCTSTR, LPCTSTR;
#define __TEXT(s) L##s
#else
typedef char TCHAR, *PTCHAR;
typedef LPSTR PTSTR, LPTSTR;
typedef LPCSTR PCTSTR, LPCTSTR;
#define __TEXT(s) s
#endif
#define TEXT(s) __TEXT(s)

/* Pointer to nothing in particular; gcc lets it be cast to every kind of function. */
typedef void (*FARPROC)(void);
typedef FARPROC PROC;

#ifndef FALSE
#define FALSE 0
#endif
#ifndef TRUE
#define TRUE 1
#endif
#ifndef NULL
#define NULL 0
#endif

#define MAX_PATH             260
#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)

#define MAKEWORD(low, high) ((WORD)((BYTE)(low) | (WORD)((WORD)(BYTE)(high) << 8)))
#define MAKELONG(low, high) ((LONG)((WORD)(low) | ((DWORD)(WORD)(high) << 16)))
#define LOBYTE(w)           ((BYTE)((w)&0xff))
#define HIBYTE(w)           ((BYTE)(((w) >> 8) & 0xff))
#define LOWORD(l)           ((WORD)((l)&0xffff))
#define HIWORD(l)           ((WORD)(((l) >> 16) & 0xffff))

#define UNREFERENCED_PARAMETER(p)          ((void)(p))
#define DBG_UNREFERENCED_PARAMETER(p)      ((void)(p))
#define UNREFERENCED_LOCAL_VARIABLE(v)     ((void)(v))
#define DBG_UNREFERENCED_LOCAL_VARIABLE(v) ((void)(v))

#include "minmax.h"

#endif
