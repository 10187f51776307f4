/* SPDX-License-Identifier: BSD-3-Clause
 *
 * printf and scanf by the rules of Windows (see crt.h), under their own names.
 * The names are function-like macros, so that an attribute or a pointer that says printf keeps the
 * function of this system. The compiler does not check these formats, since its rules differ.
 */
#ifndef PLX_WIN_CRTFORMAT_H
#define PLX_WIN_CRTFORMAT_H

#include "crt.h"

#include <inttypes.h>

/* Formats of <inttypes.h> say "l" for 64 bits, which is 32 here. */
#undef PRId64
#undef PRIi64
#undef PRIo64
#undef PRIu64
#undef PRIx64
#undef PRIX64
#undef SCNd64
#undef SCNi64
#undef SCNo64
#undef SCNu64
#undef SCNx64
#define PRId64 "lld"
#define PRIi64 "lli"
#define PRIo64 "llo"
#define PRIu64 "llu"
#define PRIx64 "llx"
#define PRIX64 "llX"
#define SCNd64 "lld"
#define SCNi64 "lli"
#define SCNo64 "llo"
#define SCNu64 "llu"
#define SCNx64 "llx"
#undef PRIdPTR
#undef PRIuPTR
#undef PRIxPTR
#undef PRIXPTR
#define PRIdPTR "zd"
#define PRIuPTR "zu"
#define PRIxPTR "zx"
#define PRIXPTR "zX"

/* A function with "..." of one with a va_list. `last` is the parameter before the dots. */
#define PLX_WIN_FORMATTED(name, parameters, last, call) \
	static inline int name parameters               \
	{                                               \
		va_list args;                           \
		int done;                               \
                                                        \
		va_start(args, last);                   \
		done = call;                            \
		va_end(args);                           \
		return done;                            \
	}

/* A result of the _s kind, or of swprintf: what does not fit is an error. */
static inline int
plx_win_fits(int length, size_t size)
{
	return length >= 0 && (size_t)length < size ? length : -1;
}

static inline int
plx_win_vsprintf_s(char *to, size_t size, const char *format, va_list args)
{
	int done = plx_win_fits(plx_win_vsnprintf(to, size, format, args), size);

	if (done < 0 && size)
		to[0] = 0;
	return done;
}

static inline int
plx_win_vswprintf_s(wchar_t *to, size_t size, const wchar_t *format, va_list args)
{
	int done = plx_win_fits(plx_win_vsnwprintf(to, size, format, args), size);

	if (done < 0 && size)
		to[0] = 0;
	return done;
}

static inline int
plx_win_vswprintf(wchar_t *to, size_t size, const wchar_t *format, va_list args)
{
	return plx_win_fits(plx_win_vsnwprintf(to, size, format, args), size);
}

static inline int
plx_win_vsprintf(char *to, const char *format, va_list args)
{
	return plx_win_vsnprintf(to, (size_t)INT32_MAX, format, args);
}

PLX_WIN_FORMATTED(plx_win_printf, (const char *format, ...), format,
		  plx_win_vfprintf(stdout, format, args))
PLX_WIN_FORMATTED(plx_win_fprintf, (FILE * file, const char *format, ...), format,
		  plx_win_vfprintf(file, format, args))
PLX_WIN_FORMATTED(plx_win_sprintf, (char *to, const char *format, ...), format,
		  plx_win_vsprintf(to, format, args))
PLX_WIN_FORMATTED(plx_win_snprintf, (char *to, size_t size, const char *format, ...), format,
		  plx_win_vsnprintf(to, size, format, args))
PLX_WIN_FORMATTED(plx_win_sprintf_s, (char *to, size_t size, const char *format, ...), format,
		  plx_win_vsprintf_s(to, size, format, args))
PLX_WIN_FORMATTED(plx_win_wprintf, (const wchar_t *format, ...), format,
		  plx_win_vfwprintf(stdout, format, args))
PLX_WIN_FORMATTED(plx_win_fwprintf, (FILE * file, const wchar_t *format, ...), format,
		  plx_win_vfwprintf(file, format, args))
PLX_WIN_FORMATTED(plx_win_swprintf, (wchar_t * to, size_t size, const wchar_t *format, ...), format,
		  plx_win_vswprintf(to, size, format, args))
PLX_WIN_FORMATTED(plx_win_swprintf_s, (wchar_t * to, size_t size, const wchar_t *format, ...),
		  format, plx_win_vswprintf_s(to, size, format, args))
PLX_WIN_FORMATTED(plx_win_sscanf, (const char *from, const char *format, ...), format,
		  plx_win_vsscanf(from, format, args))
PLX_WIN_FORMATTED(plx_win_swscanf, (const wchar_t *from, const wchar_t *format, ...), format,
		  plx_win_vswscanf(from, format, args))

static inline int
plx_win_put(FILE *file, const wchar_t *text, const wchar_t *format)
{
	return plx_win_fwprintf(file, format, text) < 0 ? -1 : 0;
}

static inline wint_t
plx_win_putwc(wchar_t c, FILE *file)
{
	return plx_win_fwprintf(file, L"%c", c) < 0 ? WEOF : (wint_t)c;
}

#ifdef __cplusplus
/* C++ programs leave the size of an array to the compiler. */
template <size_t size, class... Args>
inline int
plx_win_sprintf_s(char (&to)[size], const char *format, Args... args)
{
	return plx_win_sprintf_s(to, size, format, args...);
}

template <size_t size, class... Args>
inline int
plx_win_swprintf_s(wchar_t (&to)[size], const wchar_t *format, Args... args)
{
	return plx_win_swprintf_s(to, size, format, args...);
}

/* std::printf becomes std::plx_win_printf. */
namespace std
{
using ::plx_win_fprintf;
using ::plx_win_fwprintf;
using ::plx_win_printf;
using ::plx_win_snprintf;
using ::plx_win_sprintf;
using ::plx_win_sscanf;
using ::plx_win_swprintf;
using ::plx_win_swscanf;
using ::plx_win_vfprintf;
using ::plx_win_vsnprintf;
using ::plx_win_wprintf;
} // namespace std
#endif

#define printf(...)    plx_win_printf(__VA_ARGS__)
#define fprintf(...)   plx_win_fprintf(__VA_ARGS__)
#define sprintf(...)   plx_win_sprintf(__VA_ARGS__)
#define snprintf(...)  plx_win_snprintf(__VA_ARGS__)
#define sprintf_s(...) plx_win_sprintf_s(__VA_ARGS__)
#define _snprintf(...) plx_win_snprintf(__VA_ARGS__)

#define vprintf(format, args)              plx_win_vfprintf(stdout, format, args)
#define vfprintf(file, format, args)       plx_win_vfprintf(file, format, args)
#define vsprintf(to, format, args)         plx_win_vsprintf(to, format, args)
#define vsnprintf(to, size, format, args)  plx_win_vsnprintf(to, size, format, args)
#define _vsnprintf                         vsnprintf
#define vsprintf_s(to, size, format, args) plx_win_vsprintf_s(to, size, format, args)

#define wprintf(...)    plx_win_wprintf(__VA_ARGS__)
#define fwprintf(...)   plx_win_fwprintf(__VA_ARGS__)
#define swprintf(...)   plx_win_swprintf(__VA_ARGS__)
#define swprintf_s(...) plx_win_swprintf_s(__VA_ARGS__)
#define _snwprintf(...) plx_win_swprintf(__VA_ARGS__)

#define vwprintf(format, args)              plx_win_vfwprintf(stdout, format, args)
#define vfwprintf(file, format, args)       plx_win_vfwprintf(file, format, args)
#define vswprintf(to, size, format, args)   plx_win_vswprintf(to, size, format, args)
#define vswprintf_s(to, size, format, args) plx_win_vswprintf_s(to, size, format, args)

#define _putws(text)       plx_win_put(stdout, text, L"%s\n")
#define fputws(text, file) plx_win_put(file, text, L"%s")
#define putwchar(c)        plx_win_putwc(c, stdout)
#define putwc(c, file)     plx_win_putwc(c, file)
#define fputwc(c, file)    plx_win_putwc(c, file)

#define sscanf(...)  plx_win_sscanf(__VA_ARGS__)
#define swscanf(...) plx_win_swscanf(__VA_ARGS__)

#endif
