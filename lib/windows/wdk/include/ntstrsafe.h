/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Strings that know their bounds. A result that does not fit is truncated and
 * STATUS_BUFFER_OVERFLOW; a wrong argument is STATUS_INVALID_PARAMETER and changes nothing.
 *
 * A name says whether sizes are characters (Cch) or bytes (Cb), and whether text is narrow (A) or
 * wide (W). Sizes of destinations count the final 0, lengths of sources do not. Each function is a
 * line of the lists below; plx_ntstr_... functions of the library do the work.
 */
#ifndef PLX_WDK_NTSTRSAFE_H
#define PLX_WDK_NTSTRSAFE_H

#include "wdmstring.h"

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NTSTRSAFE_MAX_CCH                2147483647
#define STRSAFE_MAX_CCH                  NTSTRSAFE_MAX_CCH
#define NTSTRSAFE_MAX_LENGTH             (NTSTRSAFE_MAX_CCH - 1)
#define NTSTRSAFE_UNICODE_STRING_MAX_CCH (0xffff / sizeof(WCHAR))

typedef char *NTSTRSAFE_PSTR;
typedef const char *NTSTRSAFE_PCSTR;
typedef WCHAR *NTSTRSAFE_PWSTR;
typedef const WCHAR *NTSTRSAFE_PCWSTR;

/* Flags of the Ex functions. The low byte is what FILL flags fill with. */
#define STRSAFE_IGNORE_NULLS               0x00000100 /* NULL is an empty string */
#define STRSAFE_FILL_BEHIND_NULL           0x00000200 /* fill what is behind the final 0 */
#define STRSAFE_FILL_ON_FAILURE            0x00000400 /* fill the destination of a failure */
#define STRSAFE_NULL_ON_FAILURE            0x00000800 /* the destination of a failure is empty */
#define STRSAFE_NO_TRUNCATION              0x00001000 /* what does not fit is not copied in part */
#define STRSAFE_ZERO_LENGTH_ON_FAILURE     STRSAFE_NULL_ON_FAILURE
#define STRSAFE_FILL_BEHIND                STRSAFE_FILL_BEHIND_NULL
#define STRSAFE_VALID_FLAGS                0x00001fff
#define STRSAFE_UNICODE_STRING_VALID_FLAGS STRSAFE_VALID_FLAGS
#define STRSAFE_FILL_BYTE(x)               ((ULONG)(((x)&0xff) | STRSAFE_FILL_BEHIND_NULL))
#define STRSAFE_FAILURE_BYTE(x)            ((ULONG)(((x)&0xff) | STRSAFE_FILL_ON_FAILURE))

#define PLX_NTSTR_ALL ((size_t)-1) /* of a source without a length */

/* What is behind the names: all sizes are characters.
 * @param append keep what is there @param length [characters] of the source at most
 * @param end, remaining may be NULL */
NTSTATUS plx_ntstr_put_a(char *to, size_t size, int append, const char *from, size_t length,
			 char **end, size_t *remaining, ULONG flags) PLX_WIN_NAME(ntstr_put_a);
NTSTATUS plx_ntstr_format_a(char *to, size_t size, char **end, size_t *remaining, ULONG flags,
			    const char *format, va_list args) PLX_WIN_NAME(ntstr_format_a);
/** Returns: STATUS_INVALID_PARAMETER: there is no 0 within size, and the length is 0 */
NTSTATUS plx_ntstr_length_a(const char *s, size_t size, size_t *length)
	PLX_WIN_NAME(ntstr_length_a);
#if __SIZEOF_WCHAR_T__ == 2
NTSTATUS plx_ntstr_put_w(WCHAR *to, size_t size, int append, const WCHAR *from, size_t length,
			 WCHAR **end, size_t *remaining, ULONG flags) PLX_WIN_NAME(ntstr_put_w);
NTSTATUS plx_ntstr_format_w(WCHAR *to, size_t size, WCHAR **end, size_t *remaining, ULONG flags,
			    const WCHAR *format, va_list args) PLX_WIN_NAME(ntstr_format_w);
NTSTATUS plx_ntstr_length_w(const WCHAR *s, size_t size, size_t *length)
	PLX_WIN_NAME(ntstr_length_w);
#endif

/* What remains, in the unit of the name; of bytes that are no whole character, too. */
#define PLX_NTSTR_LEFT(remaining, size, left, unit) \
	((void)((remaining) ? (*(remaining) = (left) * (unit) + (size) % (unit)) : 0))

#define PLX_NTSTR_PUT(verb, append, U, X, type, core, unit)                                        \
	static inline NTSTATUS RtlString##U##verb##X(type *Dest, size_t size, const type *Src)     \
	{                                                                                          \
		return core(Dest, size / (unit), append, Src, PLX_NTSTR_ALL, NULL, NULL, 0);       \
	}                                                                                          \
	static inline NTSTATUS RtlString##U##verb##N##X(type *Dest, size_t size, const type *Src,  \
							size_t length)                             \
	{                                                                                          \
		return core(Dest, size / (unit), append, Src, length / (unit), NULL, NULL, 0);     \
	}                                                                                          \
	static inline NTSTATUS RtlString##U##verb##NEx##X(                                         \
		type *Dest, size_t size, const type *Src, size_t length, type **DestEnd,           \
		size_t *Remaining, ULONG Flags)                                                    \
	{                                                                                          \
		size_t left = (size_t)-1;                                                          \
		NTSTATUS status = core(Dest, size / (unit), append, Src, length / (unit), DestEnd, \
				       &left, Flags);                                              \
                                                                                                   \
		if (left != (size_t)-1)                                                            \
			PLX_NTSTR_LEFT(Remaining, size, left, unit);                               \
		return status;                                                                     \
	}                                                                                          \
	static inline NTSTATUS RtlString##U##verb##Ex##X(type *Dest, size_t size, const type *Src, \
							 type **DestEnd, size_t *Remaining,        \
							 ULONG Flags)                              \
	{                                                                                          \
		size_t left = (size_t)-1;                                                          \
		NTSTATUS status = core(Dest, size / (unit), append, Src, PLX_NTSTR_ALL, DestEnd,   \
				       &left, Flags);                                              \
                                                                                                   \
		if (left != (size_t)-1)                                                            \
			PLX_NTSTR_LEFT(Remaining, size, left, unit);                               \
		return status;                                                                     \
	}

#define PLX_NTSTR_PRINT(U, X, type, core, unit)                                                    \
	static inline NTSTATUS RtlString##U##VPrintf##X(type *Dest, size_t size,                   \
							const type *Format, va_list args)          \
	{                                                                                          \
		return core(Dest, size / (unit), NULL, NULL, 0, Format, args);                     \
	}                                                                                          \
	static inline NTSTATUS RtlString##U##VPrintfEx##X(type *Dest, size_t size, type **DestEnd, \
							  size_t *Remaining, ULONG Flags,          \
							  const type *Format, va_list args)        \
	{                                                                                          \
		size_t left = (size_t)-1;                                                          \
		NTSTATUS status = core(Dest, size / (unit), DestEnd, &left, Flags, Format, args);  \
                                                                                                   \
		if (left != (size_t)-1)                                                            \
			PLX_NTSTR_LEFT(Remaining, size, left, unit);                               \
		return status;                                                                     \
	}                                                                                          \
	static inline NTSTATUS RtlString##U##Printf##X(type *Dest, size_t size,                    \
						       const type *Format, ...)                    \
	{                                                                                          \
		NTSTATUS status;                                                                   \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, Format);                                                            \
		status = RtlString##U##VPrintf##X(Dest, size, Format, args);                       \
		va_end(args);                                                                      \
		return status;                                                                     \
	}                                                                                          \
	static inline NTSTATUS RtlString##U##PrintfEx##X(type *Dest, size_t size, type **DestEnd,  \
							 size_t *Remaining, ULONG Flags,           \
							 const type *Format, ...)                  \
	{                                                                                          \
		NTSTATUS status;                                                                   \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, Format);                                                            \
		status = RtlString##U##VPrintfEx##X(Dest, size, DestEnd, Remaining, Flags, Format, \
						    args);                                         \
		va_end(args);                                                                      \
		return status;                                                                     \
	}

/* @param length may be NULL; it does not count the final 0 */
#define PLX_NTSTR_LENGTH(U, X, type, core, unit)                                     \
	static inline NTSTATUS RtlString##U##Length##X(const type *psz, size_t size, \
						       size_t *length)               \
	{                                                                            \
		size_t characters = 0;                                               \
		NTSTATUS status = core(psz, size / (unit), &characters);             \
                                                                                     \
		if (length)                                                          \
			*length = characters * (unit);                               \
		return status;                                                       \
	}

#define PLX_NTSTR(U, X, type, kind, unit)                              \
	PLX_NTSTR_PUT(Copy, 0, U, X, type, plx_ntstr_put_##kind, unit) \
	PLX_NTSTR_PUT(Cat, 1, U, X, type, plx_ntstr_put_##kind, unit)  \
	PLX_NTSTR_PRINT(U, X, type, plx_ntstr_format_##kind, unit)     \
	PLX_NTSTR_LENGTH(U, X, type, plx_ntstr_length_##kind, unit)
PLX_NTSTR(Cch, A, char, a, 1)
PLX_NTSTR(Cb, A, char, a, 1)
#if __SIZEOF_WCHAR_T__ == 2
PLX_NTSTR(Cch, W, WCHAR, w, 1)
PLX_NTSTR(Cb, W, WCHAR, w, sizeof(WCHAR))

/* ---- counted strings ---- */

/** Copy or append, without a 0. @param remaining [out] what is behind the text; may be NULL
 * @param length [characters] */
NTSTATUS plx_ntstr_put_u(PUNICODE_STRING to, int append, const WCHAR *from, size_t length,
			 PUNICODE_STRING remaining, ULONG flags) PLX_WIN_NAME(ntstr_put_u);
NTSTATUS plx_ntstr_put_uu(PUNICODE_STRING to, int append, PCUNICODE_STRING from, size_t length,
			  PUNICODE_STRING remaining, ULONG flags) PLX_WIN_NAME(ntstr_put_uu);
NTSTATUS plx_ntstr_format_u(PUNICODE_STRING to, PUNICODE_STRING remaining, ULONG flags,
			    const WCHAR *format, va_list args) PLX_WIN_NAME(ntstr_format_u);
/** Count a string. Errors: STATUS_INVALID_PARAMETER: it has more than 32,767 characters
 * @param psz NULL: the string is empty, without a buffer; of Ex, only with STRSAFE_IGNORE_NULLS
 *            is there then a buffer of one 0 */
NTSTATUS RtlUnicodeStringInit(PUNICODE_STRING DestinationString, NTSTRSAFE_PCWSTR pszSrc)
	PLX_WIN_NAME(RtlUnicodeStringInit);
NTSTATUS RtlUnicodeStringInitEx(PUNICODE_STRING DestinationString, NTSTRSAFE_PCWSTR pszSrc,
				ULONG dwFlags) PLX_WIN_NAME(RtlUnicodeStringInitEx);
/** Errors: STATUS_INVALID_PARAMETER: odd lengths, Length over MaximumLength, no buffer */
NTSTATUS RtlUnicodeStringValidate(PCUNICODE_STRING SourceString)
	PLX_WIN_NAME(RtlUnicodeStringValidate);
NTSTATUS RtlUnicodeStringValidateEx(PCUNICODE_STRING SourceString, ULONG dwFlags)
	PLX_WIN_NAME(RtlUnicodeStringValidateEx);

/* RtlUnicodeStringCopy, ...Ex, ...CchN, ...; Src is a PCUNICODE_STRING or, of String, a text. */
#define PLX_NTSTR_COUNTED(verb, kind, append, source, core)                                        \
	static inline NTSTATUS RtlUnicodeString##verb##kind(PUNICODE_STRING Dest, source Src)      \
	{                                                                                          \
		return core(Dest, append, Src, PLX_NTSTR_ALL, NULL, 0);                            \
	}                                                                                          \
	static inline NTSTATUS RtlUnicodeString##verb##kind##Ex(                                   \
		PUNICODE_STRING Dest, source Src, PUNICODE_STRING Remaining, ULONG Flags)          \
	{                                                                                          \
		return core(Dest, append, Src, PLX_NTSTR_ALL, Remaining, Flags);                   \
	}                                                                                          \
	static inline NTSTATUS RtlUnicodeStringCch##verb##kind##N(PUNICODE_STRING Dest,            \
								  source Src, size_t length)       \
	{                                                                                          \
		return core(Dest, append, Src, length, NULL, 0);                                   \
	}                                                                                          \
	static inline NTSTATUS RtlUnicodeStringCch##verb##kind##NEx(                               \
		PUNICODE_STRING Dest, source Src, size_t length, PUNICODE_STRING Remaining,        \
		ULONG Flags)                                                                       \
	{                                                                                          \
		return core(Dest, append, Src, length, Remaining, Flags);                          \
	}                                                                                          \
	static inline NTSTATUS RtlUnicodeStringCb##verb##kind##N(PUNICODE_STRING Dest, source Src, \
								 size_t length)                    \
	{                                                                                          \
		return core(Dest, append, Src, length / sizeof(WCHAR), NULL, 0);                   \
	}                                                                                          \
	static inline NTSTATUS RtlUnicodeStringCb##verb##kind##NEx(                                \
		PUNICODE_STRING Dest, source Src, size_t length, PUNICODE_STRING Remaining,        \
		ULONG Flags)                                                                       \
	{                                                                                          \
		return core(Dest, append, Src, length / sizeof(WCHAR), Remaining, Flags);          \
	}
PLX_NTSTR_COUNTED(Copy, String, 0, NTSTRSAFE_PCWSTR, plx_ntstr_put_u)
PLX_NTSTR_COUNTED(Cat, String, 1, NTSTRSAFE_PCWSTR, plx_ntstr_put_u)
PLX_NTSTR_COUNTED(Copy, , 0, PCUNICODE_STRING, plx_ntstr_put_uu)
PLX_NTSTR_COUNTED(Cat, , 1, PCUNICODE_STRING, plx_ntstr_put_uu)

/* Copy a counted string to one that ends with a 0. */
static inline NTSTATUS
plx_ntstr_put_wu(WCHAR *to, size_t size, PCUNICODE_STRING from, WCHAR **end, size_t *remaining,
		 ULONG flags)
{
	const WCHAR *text = NULL;
	size_t length = 0;

	if (from != NULL) {
		static const WCHAR empty[1] = {0};

		if (from->Length % sizeof(WCHAR) != 0 || from->Length > from->MaximumLength ||
		    (from->Buffer == NULL && from->Length != 0))
			return STATUS_INVALID_PARAMETER;
		text = from->Buffer != NULL ? from->Buffer : empty;
		length = from->Length / sizeof(WCHAR);
	}
	return plx_ntstr_put_w(to, size, 0, text, length, end, remaining, flags);
}

#define PLX_NTSTR_OF_COUNTED(U, unit)                                                              \
	static inline NTSTATUS RtlString##U##CopyUnicodeString(NTSTRSAFE_PWSTR Dest, size_t size,  \
							       PCUNICODE_STRING Src)               \
	{                                                                                          \
		return plx_ntstr_put_wu(Dest, size / (unit), Src, NULL, NULL, 0);                  \
	}                                                                                          \
	static inline NTSTATUS RtlString##U##CopyUnicodeStringEx(                                  \
		NTSTRSAFE_PWSTR Dest, size_t size, PCUNICODE_STRING Src, NTSTRSAFE_PWSTR *DestEnd, \
		size_t *Remaining, ULONG Flags)                                                    \
	{                                                                                          \
		size_t left = (size_t)-1;                                                          \
		NTSTATUS status =                                                                  \
			plx_ntstr_put_wu(Dest, size / (unit), Src, DestEnd, &left, Flags);         \
                                                                                                   \
		if (left != (size_t)-1)                                                            \
			PLX_NTSTR_LEFT(Remaining, size, left, unit);                               \
		return status;                                                                     \
	}
PLX_NTSTR_OF_COUNTED(Cb, sizeof(WCHAR))
PLX_NTSTR_OF_COUNTED(Cch, 1)

static inline NTSTATUS
RtlUnicodeStringVPrintf(PUNICODE_STRING Dest, NTSTRSAFE_PCWSTR Format, va_list args)
{
	return plx_ntstr_format_u(Dest, NULL, 0, Format, args);
}

static inline NTSTATUS
RtlUnicodeStringVPrintfEx(PUNICODE_STRING Dest, PUNICODE_STRING Remaining, ULONG Flags,
			  NTSTRSAFE_PCWSTR Format, va_list args)
{
	return plx_ntstr_format_u(Dest, Remaining, Flags, Format, args);
}

static inline NTSTATUS
RtlUnicodeStringPrintf(PUNICODE_STRING Dest, NTSTRSAFE_PCWSTR Format, ...)
{
	NTSTATUS status;
	va_list args;

	va_start(args, Format);
	status = plx_ntstr_format_u(Dest, NULL, 0, Format, args);
	va_end(args);
	return status;
}

static inline NTSTATUS
RtlUnicodeStringPrintfEx(PUNICODE_STRING Dest, PUNICODE_STRING Remaining, ULONG Flags,
			 NTSTRSAFE_PCWSTR Format, ...)
{
	NTSTATUS status;
	va_list args;

	va_start(args, Format);
	status = plx_ntstr_format_u(Dest, Remaining, Flags, Format, args);
	va_end(args);
	return status;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
