/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: counted strings. The code page of ANSI strings is UTF-8.
 *
 * A WCHAR has 16 bits where drivers are compiled, with -fshort-wchar; the functions that handle
 * WCHAR text are declared only there. Case is that of Unicode for single 16-bit characters, except
 * that no other character becomes an ASCII one.
 */
#ifndef PLX_WDK_WDMSTRING_H
#define PLX_WDK_WDMSTRING_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef const char *PCSZ;

/* Length and MaximumLength are bytes; Length does not count a final 0, which need not be there. */
typedef struct _STRING {
	USHORT Length;
	USHORT MaximumLength;
	PCHAR Buffer;
} STRING, *PSTRING, ANSI_STRING, *PANSI_STRING, OEM_STRING, *POEM_STRING, UTF8_STRING,
	*PUTF8_STRING;
typedef const STRING *PCSTRING, *PCANSI_STRING, *PCUTF8_STRING;

typedef struct _UNICODE_STRING {
	USHORT Length;
	USHORT MaximumLength;
	PWCH Buffer;
} UNICODE_STRING, *PUNICODE_STRING;
typedef const UNICODE_STRING *PCUNICODE_STRING;

#define UNICODE_NULL              ((WCHAR)0)
#define ANSI_NULL                 ((CHAR)0)
#define UNICODE_STRING_MAX_BYTES  ((USHORT)65534)
#define UNICODE_STRING_MAX_CHARS  32767
#define UNICODE_STRING_MAX_LENGTH UNICODE_STRING_MAX_BYTES

/* Initializers of a counted string. The text is a literal. */
#ifdef __cplusplus
extern "C++" {
template <class T>
constexpr T *
plx_win_writable(const T *text)
{
	return const_cast<T *>(text);
}
}
#define RTL_CONSTANT_STRING(s)                                             \
	{                                                                  \
		sizeof(s) - sizeof((s)[0]), sizeof(s), plx_win_writable(s) \
	}
#else
#define RTL_CONSTANT_STRING(s)                                                \
	{                                                                     \
		sizeof(s) - sizeof((s)[0]), sizeof(s), (void *)(ULONG_PTR)(s) \
	}
#endif
#define DECLARE_CONST_UNICODE_STRING(var, string)                \
	const WCHAR var##_buffer[] = string;                     \
	__attribute__((__unused__)) const UNICODE_STRING var = { \
		sizeof(string) - sizeof(WCHAR),                  \
		sizeof(string),                                  \
		(PWCH)(ULONG_PTR)(var##_buffer),                 \
	}
#define DECLARE_GLOBAL_CONST_UNICODE_STRING(var, string)    \
	extern const DECLSPEC_SELECTANY UNICODE_STRING var; \
	const DECLSPEC_SELECTANY UNICODE_STRING var = RTL_CONSTANT_STRING(string)
#define DECLARE_UNICODE_STRING_SIZE(var, characters) \
	WCHAR var##_buffer[characters];              \
	UNICODE_STRING var = {0, (characters) * sizeof(WCHAR), var##_buffer}

/* ---- narrow strings ---- */

/** Count a string. @param SourceString NULL: Buffer is NULL and the lengths are 0 */
VOID RtlInitString(PSTRING DestinationString, PCSZ SourceString) PLX_WIN_NAME(RtlInitString);
VOID RtlInitAnsiString(PANSI_STRING DestinationString, PCSZ SourceString)
	PLX_WIN_NAME(RtlInitAnsiString);
VOID RtlInitUTF8String(PUTF8_STRING DestinationString, PCSZ SourceString)
	PLX_WIN_NAME(RtlInitUTF8String);
/** Errors: STATUS_NAME_TOO_LONG: it has 65,535 bytes or more */
NTSTATUS RtlInitStringEx(PSTRING DestinationString, PCSZ SourceString)
	PLX_WIN_NAME(RtlInitStringEx);
NTSTATUS RtlInitAnsiStringEx(PANSI_STRING DestinationString, PCSZ SourceString)
	PLX_WIN_NAME(RtlInitAnsiStringEx);
NTSTATUS RtlInitUTF8StringEx(PUTF8_STRING DestinationString, PCSZ SourceString)
	PLX_WIN_NAME(RtlInitUTF8StringEx);

/** Copy as much as fits. @param SourceString NULL: the destination becomes empty */
VOID RtlCopyString(PSTRING DestinationString, const STRING *SourceString)
	PLX_WIN_NAME(RtlCopyString);
/** Compare bytes; of CaseInSensitive, the capitals of ASCII. Returns: <0, 0, >0 */
LONG RtlCompareString(const STRING *String1, const STRING *String2, BOOLEAN CaseInSensitive)
	PLX_WIN_NAME(RtlCompareString);
BOOLEAN RtlEqualString(const STRING *String1, const STRING *String2, BOOLEAN CaseInSensitive)
	PLX_WIN_NAME(RtlEqualString);
CHAR RtlUpperChar(CHAR Character) PLX_WIN_NAME(RtlUpperChar);
VOID RtlUpperString(PSTRING DestinationString, const STRING *SourceString)
	PLX_WIN_NAME(RtlUpperString);
/**
 * Read a number.
 * @param Base 2, 8, 10, 16; 0: by a prefix 0b, 0o or 0x, otherwise 10
 * Errors: STATUS_INVALID_PARAMETER: another base. Digits beyond 32 bits are lost.
 */
NTSTATUS RtlCharToInteger(PCSZ String, ULONG Base, PULONG Value) PLX_WIN_NAME(RtlCharToInteger);

static inline VOID
RtlInitEmptyAnsiString(PANSI_STRING AnsiString, PCHAR Buffer, USHORT BufferSize)
{
	AnsiString->Length = 0;
	AnsiString->MaximumLength = BufferSize;
	AnsiString->Buffer = Buffer;
}

/* The buffer of a result that was allocated; the string becomes empty. */
VOID RtlFreeAnsiString(PANSI_STRING AnsiString) PLX_WIN_NAME(RtlFreeAnsiString);
VOID RtlFreeUTF8String(PUTF8_STRING Utf8String) PLX_WIN_NAME(RtlFreeUTF8String);

#if __SIZEOF_WCHAR_T__ == 2

/* ---- wide strings ---- */

static inline VOID
RtlInitEmptyUnicodeString(PUNICODE_STRING UnicodeString, PWCHAR Buffer, USHORT BufferSize)
{
	UnicodeString->Length = 0;
	UnicodeString->MaximumLength = BufferSize;
	UnicodeString->Buffer = Buffer;
}

/** Count a string, of which at most 32,766 characters are counted.
 * @param SourceString NULL: Buffer is NULL and the lengths are 0 */
VOID RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString)
	PLX_WIN_NAME(RtlInitUnicodeString);
/** Errors: STATUS_NAME_TOO_LONG: it has more than 32,766 characters */
NTSTATUS RtlInitUnicodeStringEx(PUNICODE_STRING DestinationString, PCWSTR SourceString)
	PLX_WIN_NAME(RtlInitUnicodeStringEx);
/** Free the buffer of a result that was allocated; the string becomes empty. */
VOID RtlFreeUnicodeString(PUNICODE_STRING UnicodeString) PLX_WIN_NAME(RtlFreeUnicodeString);
/** Errors: STATUS_INVALID_PARAMETER: odd lengths, Length over MaximumLength, no buffer
 * @param Flags 0 */
NTSTATUS RtlValidateUnicodeString(ULONG Flags, PCUNICODE_STRING String)
	PLX_WIN_NAME(RtlValidateUnicodeString);

/** Copy as much as fits, and a 0 if it fits, too.
 * @param SourceString NULL: the destination becomes empty */
VOID RtlCopyUnicodeString(PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString)
	PLX_WIN_NAME(RtlCopyUnicodeString);
/** Append, and a 0 if it fits. Errors: STATUS_BUFFER_TOO_SMALL: nothing is appended */
NTSTATUS RtlAppendUnicodeToString(PUNICODE_STRING Destination, PCWSTR Source)
	PLX_WIN_NAME(RtlAppendUnicodeToString);
NTSTATUS RtlAppendUnicodeStringToString(PUNICODE_STRING Destination, PCUNICODE_STRING Source)
	PLX_WIN_NAME(RtlAppendUnicodeStringToString);
#define RTL_DUPLICATE_UNICODE_STRING_NULL_TERMINATE       0x1
#define RTL_DUPLICATE_UNICODE_STRING_ALLOCATE_NULL_STRING 0x2
/** Copy into a new buffer, for RtlFreeUnicodeString().
 * Errors: STATUS_INVALID_PARAMETER, STATUS_NAME_TOO_LONG, STATUS_NO_MEMORY */
NTSTATUS RtlDuplicateUnicodeString(ULONG Flags, PCUNICODE_STRING StringIn,
				   PUNICODE_STRING StringOut)
	PLX_WIN_NAME(RtlDuplicateUnicodeString);

/** Compare characters, a prefix first. Returns: <0, 0, >0 */
LONG RtlCompareUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
			     BOOLEAN CaseInSensitive) PLX_WIN_NAME(RtlCompareUnicodeString);
/** @param String1Length [characters] */
LONG RtlCompareUnicodeStrings(PCWCH String1, SIZE_T String1Length, PCWCH String2,
			      SIZE_T String2Length, BOOLEAN CaseInSensitive)
	PLX_WIN_NAME(RtlCompareUnicodeStrings);
BOOLEAN RtlEqualUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
			      BOOLEAN CaseInSensitive) PLX_WIN_NAME(RtlEqualUnicodeString);
/** Is String1 the beginning of String2? */
BOOLEAN RtlPrefixUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
			       BOOLEAN CaseInSensitive) PLX_WIN_NAME(RtlPrefixUnicodeString);
/** Is String1 the end of String2? */
BOOLEAN RtlSuffixUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
			       BOOLEAN CaseInSensitive) PLX_WIN_NAME(RtlSuffixUnicodeString);
#define HASH_STRING_ALGORITHM_DEFAULT 0
#define HASH_STRING_ALGORITHM_X65599  1
#define HASH_STRING_ALGORITHM_INVALID 0xffffffff
/** Errors: STATUS_INVALID_PARAMETER: another algorithm, no string, no value */
NTSTATUS RtlHashUnicodeString(PCUNICODE_STRING String, BOOLEAN CaseInSensitive, ULONG HashAlgorithm,
			      PULONG HashValue) PLX_WIN_NAME(RtlHashUnicodeString);

WCHAR RtlUpcaseUnicodeChar(WCHAR SourceCharacter) PLX_WIN_NAME(RtlUpcaseUnicodeChar);
WCHAR RtlDowncaseUnicodeChar(WCHAR SourceCharacter) PLX_WIN_NAME(RtlDowncaseUnicodeChar);
/**
 * @param AllocateDestinationString TRUE: the buffer is for RtlFreeUnicodeString()
 * Errors: STATUS_BUFFER_OVERFLOW: the buffer is too small; STATUS_NO_MEMORY
 */
NTSTATUS RtlUpcaseUnicodeString(PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString,
				BOOLEAN AllocateDestinationString)
	PLX_WIN_NAME(RtlUpcaseUnicodeString);
NTSTATUS RtlDowncaseUnicodeString(PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString,
				  BOOLEAN AllocateDestinationString)
	PLX_WIN_NAME(RtlDowncaseUnicodeString);

/* ---- wide and narrow ---- */

/** Bytes of the result with its 0. */
ULONG RtlxAnsiStringToUnicodeSize(PCANSI_STRING AnsiString)
	PLX_WIN_NAME(RtlxAnsiStringToUnicodeSize);
ULONG RtlxUnicodeStringToAnsiSize(PCUNICODE_STRING UnicodeString)
	PLX_WIN_NAME(RtlxUnicodeStringToAnsiSize);
#define RtlAnsiStringToUnicodeSize(String) RtlxAnsiStringToUnicodeSize(String)
#define RtlUnicodeStringToAnsiSize(String) RtlxUnicodeStringToAnsiSize(String)
/**
 * Convert, and append a 0.
 * @param AllocateDestinationString TRUE: the buffer is for the RtlFree function of its kind
 * Errors: STATUS_BUFFER_OVERFLOW: the buffer is too small; an ANSI string then has what fits;
 *         STATUS_INVALID_PARAMETER_2: over 65,535 bytes; STATUS_NO_MEMORY
 */
NTSTATUS RtlAnsiStringToUnicodeString(PUNICODE_STRING DestinationString, PCANSI_STRING SourceString,
				      BOOLEAN AllocateDestinationString)
	PLX_WIN_NAME(RtlAnsiStringToUnicodeString);
NTSTATUS RtlUnicodeStringToAnsiString(PANSI_STRING DestinationString, PCUNICODE_STRING SourceString,
				      BOOLEAN AllocateDestinationString)
	PLX_WIN_NAME(RtlUnicodeStringToAnsiString);
NTSTATUS RtlUTF8StringToUnicodeString(PUNICODE_STRING DestinationString, PCUTF8_STRING SourceString,
				      BOOLEAN AllocateDestinationString)
	PLX_WIN_NAME(RtlUTF8StringToUnicodeString);
NTSTATUS RtlUnicodeStringToUTF8String(PUTF8_STRING DestinationString, PCUNICODE_STRING SourceString,
				      BOOLEAN AllocateDestinationString)
	PLX_WIN_NAME(RtlUnicodeStringToUTF8String);
/**
 * Convert without a final 0. What is not valid becomes U+FFFD.
 * @param UTF8StringDestination NULL: only the length is wanted
 * Errors: STATUS_SOME_NOT_MAPPED (a success): something was not valid; STATUS_BUFFER_TOO_SMALL: as
 *         many whole characters as fit are there; STATUS_INVALID_PARAMETER,
 *         STATUS_INVALID_PARAMETER_4: no source
 */
NTSTATUS RtlUnicodeToUTF8N(PCHAR UTF8StringDestination, ULONG UTF8StringMaxByteCount,
			   PULONG UTF8StringActualByteCount, PCWCH UnicodeStringSource,
			   ULONG UnicodeStringByteCount) PLX_WIN_NAME(RtlUnicodeToUTF8N);
NTSTATUS RtlUTF8ToUnicodeN(PWSTR UnicodeStringDestination, ULONG UnicodeStringMaxByteCount,
			   PULONG UnicodeStringActualByteCount, PCCH UTF8StringSource,
			   ULONG UTF8StringByteCount) PLX_WIN_NAME(RtlUTF8ToUnicodeN);

/** As RtlCharToInteger(). Errors: STATUS_INVALID_PARAMETER: the string is empty, too */
NTSTATUS RtlUnicodeStringToInteger(PCUNICODE_STRING String, ULONG Base, PULONG Value)
	PLX_WIN_NAME(RtlUnicodeStringToInteger);
/**
 * @param Base 2, 8, 10, 16; 0: 10
 * Errors: STATUS_BUFFER_OVERFLOW: no room for the digits and a 0; STATUS_INVALID_PARAMETER: base
 */
NTSTATUS RtlIntegerToUnicodeString(ULONG Value, ULONG Base, PUNICODE_STRING String)
	PLX_WIN_NAME(RtlIntegerToUnicodeString);
NTSTATUS RtlInt64ToUnicodeString(ULONGLONG Value, ULONG Base, PUNICODE_STRING String)
	PLX_WIN_NAME(RtlInt64ToUnicodeString);
#define RtlIntPtrToUnicodeString(Value, Base, String) RtlInt64ToUnicodeString(Value, Base, String)

/** Errors: STATUS_INVALID_PARAMETER: not of the form {8-4-4-4-12} hexadecimal digits */
NTSTATUS RtlGUIDFromString(PCUNICODE_STRING GuidString, GUID *Guid) PLX_WIN_NAME(RtlGUIDFromString);
/** Write a GUID with small letters. @param GuidString for RtlFreeUnicodeString() */
NTSTATUS RtlStringFromGUID(REFGUID Guid, PUNICODE_STRING GuidString)
	PLX_WIN_NAME(RtlStringFromGUID);

#endif

#ifdef __cplusplus
}
#endif

#endif
