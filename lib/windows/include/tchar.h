/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names for text that is wide in a Unicode build (the default, see windef.h) and bytes with _MBCS.
 */
#ifndef PLX_WIN_TCHAR_H
#define PLX_WIN_TCHAR_H

#include "windows.h"

typedef TCHAR _TCHAR, _TSCHAR, _TUCHAR, _TXCHAR;

#define _T(s)    __TEXT(s)
#define _TEXT(s) __TEXT(s)

#ifdef _UNICODE

typedef wint_t _TINT;
#define _TEOF WEOF

#define _tmain wmain

#define _tprintf     wprintf
#define _ftprintf    fwprintf
#define _stprintf    swprintf
#define _stprintf_s  swprintf_s
#define _sntprintf   _snwprintf
#define _vtprintf    vwprintf
#define _vftprintf   vfwprintf
#define _vstprintf_s vswprintf_s
#define _stscanf     swscanf
#define _putts       _putws
#define _fputts      fputws
#define _fputtc      fputwc
#define _puttchar    putwchar
#define _tfopen      _wfopen
#define _tfopen_s    _wfopen_s
#define _tfreopen    _wfreopen
#define _tcslen      wcslen
#define _tcscmp      wcscmp
#define _tcsncmp     wcsncmp
#define _tcsicmp     _wcsicmp
#define _tcsnicmp    _wcsnicmp
#define _tcscpy      wcscpy
#define _tcscat      wcscat
#define _tcsncpy     wcsncpy
#define _tcscpy_s    wcscpy_s
#define _tcscat_s    wcscat_s
#define _tcsncpy_s   wcsncpy_s
#define _tcschr      wcschr
#define _tcsrchr     wcsrchr
#define _tcsstr      wcsstr
#define _tcsspn      wcsspn
#define _tcscspn     wcscspn
#define _tcstok_s    wcstok_s
#define _tcsdup      _wcsdup
#define _tcstol      wcstol
#define _tcstoul     wcstoul
#define _tcstoi64    _wcstoi64
#define _tcstoui64   _wcstoui64
#define _tcstod      wcstod
#define _ttoi        _wtoi
#define _ttol        _wtol
#define _ttoi64      _wtoi64
#define _tstoi       _wtoi
#define _tstol       _wtol
#define _tstoi64     _wtoi64
#define _tstof       _wtof
#define _totupper    towupper
#define _totlower    towlower
#define _istdigit    iswdigit
#define _istxdigit   iswxdigit
#define _istalpha    iswalpha
#define _istalnum    iswalnum
#define _istspace    iswspace

#else

typedef int _TINT;
#define _TEOF EOF

#define _tmain main

#define _tprintf     printf
#define _ftprintf    fprintf
#define _stprintf    sprintf
#define _stprintf_s  sprintf_s
#define _sntprintf   _snprintf
#define _vtprintf    vprintf
#define _vftprintf   vfprintf
#define _vstprintf_s vsprintf_s
#define _stscanf     sscanf
#define _putts       puts
#define _fputts      fputs
#define _fputtc      fputc
#define _puttchar    putchar
#define _tfopen      fopen
#define _tfopen_s    fopen_s
#define _tfreopen    freopen
#define _tcslen      strlen
#define _tcscmp      strcmp
#define _tcsncmp     strncmp
#define _tcsicmp     _stricmp
#define _tcsnicmp    _strnicmp
#define _tcscpy      strcpy
#define _tcscat      strcat
#define _tcsncpy     strncpy
#define _tcscpy_s    strcpy_s
#define _tcscat_s    strcat_s
#define _tcsncpy_s   strncpy_s
#define _tcschr      strchr
#define _tcsrchr     strrchr
#define _tcsstr      strstr
#define _tcsspn      strspn
#define _tcscspn     strcspn
#define _tcstok_s    strtok_s
#define _tcsdup      _strdup
#define _tcstol      strtol
#define _tcstoul     strtoul
#define _tcstoi64    _strtoi64
#define _tcstoui64   _strtoui64
#define _tcstod      strtod
#define _ttoi        atoi
#define _ttol        atol
#define _ttoi64      _atoi64
#define _tstoi       atoi
#define _tstol       atol
#define _tstoi64     _atoi64
#define _tstof       atof
#define _totupper    toupper
#define _totlower    tolower
#define _istdigit    isdigit
#define _istxdigit   isxdigit
#define _istalpha    isalpha
#define _istalnum    isalnum
#define _istspace    isspace

#endif

#include <ctype.h>

#endif
