/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The debugging heap, reports and assertions of Microsoft's C library, empty as in its release
 * build. Use the sanitizers or valgrind instead.
 */
#ifndef PLX_WIN_CRTDBG_H
#define PLX_WIN_CRTDBG_H
#include "windows.h"

#define _CRT_WARN               0
#define _CRT_ERROR              1
#define _CRT_ASSERT             2
#define _CRTDBG_MODE_FILE       0x1
#define _CRTDBG_MODE_DEBUG      0x2
#define _CRTDBG_MODE_WNDW       0x4
#define _CRTDBG_FILE_STDOUT     ((HANDLE)(LONG_PTR)-4)
#define _CRTDBG_FILE_STDERR     ((HANDLE)(LONG_PTR)-5)
#define _CRTDBG_ALLOC_MEM_DF    0x01
#define _CRTDBG_CHECK_ALWAYS_DF 0x04
#define _CRTDBG_LEAK_CHECK_DF   0x20
#define _CRTDBG_REPORT_FLAG     (-1)

#define _ASSERT(e)                 ((void)0)
#define _ASSERTE(e)                ((void)0)
#define _ASSERT_EXPR(e, text)      ((void)0)
#define _CrtCheckMemory()          ((int)1)
#define _CrtDumpMemoryLeaks()      ((int)0)
#define _CrtSetDbgFlag(flags)      ((int)0)
#define _CrtSetReportMode(kind, m) ((int)0)
#define _CrtSetReportFile(kind, f) ((HANDLE)NULL)
#define _CrtSetBreakAlloc(number)  ((long)0)
#define _RPT0(kind, text)          ((void)0)
#define _RPT1(kind, text, a)       ((void)0)
#define _RPTF0(kind, text)         ((void)0)
#define _RPTF1(kind, text, a)      ((void)0)

#endif
