/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The safe strings of ntstrsafe.h that end with a 0: copy, append, format, length. Flags are dealt
 * with in one place, failed(). Start with plx_ntstr_put_w().
 */
#include "format.h"

#include <ntstrsafe.h>

/* The checks of a destination that ends with a 0. With STRSAFE_IGNORE_NULLS it may have no room. */
static NTSTATUS
checked(const void *to, size_t size, ULONG flags)
{
	if (flags & ~(ULONG)STRSAFE_VALID_FLAGS || size > NTSTRSAFE_MAX_CCH)
		return STATUS_INVALID_PARAMETER;
	if (to == NULL ? size != 0 || !(flags & STRSAFE_IGNORE_NULLS)
		       : size == 0 && !(flags & STRSAFE_IGNORE_NULLS))
		return STATUS_INVALID_PARAMETER;
	return STATUS_SUCCESS;
}

/* One set of functions for each kind of character. `used` is the length of the text that is there,
 * `was` what it was before. */
#define STRSAFE(kind, length_name, put_name, format_name, format_text, failed, ended)           \
	NTSTATUS length_name(const kind *s, size_t size, size_t *length)                        \
	{                                                                                       \
		*length = 0;                                                                    \
		if (s == NULL || size == 0 || size > NTSTRSAFE_MAX_CCH)                         \
			return STATUS_INVALID_PARAMETER;                                        \
		for (size_t n = 0; n < size; n++)                                               \
			if (s[n] == 0) {                                                        \
				*length = n;                                                    \
				return STATUS_SUCCESS;                                          \
			}                                                                       \
		return STATUS_INVALID_PARAMETER;                                                \
	}                                                                                       \
	/* What the flags make of a text that did not fit. Returns: the length that is left */  \
	static size_t failed(kind *to, size_t size, size_t was, size_t used, ULONG flags)       \
	{                                                                                       \
		if (flags & STRSAFE_NO_TRUNCATION)                                              \
			used = was;                                                             \
		if (flags & STRSAFE_FILL_ON_FAILURE) {                                          \
			memset(to, (int)(flags & 0xff), size * sizeof(kind));                   \
			used = (flags & 0xff) != 0 ? size - 1 : 0;                              \
		}                                                                               \
		if (flags & STRSAFE_NULL_ON_FAILURE)                                            \
			used = 0;                                                               \
		to[used] = 0;                                                                   \
		return used;                                                                    \
	}                                                                                       \
	/* `used` characters are there, of more if not `fits`. */                               \
	static NTSTATUS ended(kind *to, size_t size, size_t was, size_t used, int fits,         \
			      kind **end, size_t *remaining, ULONG flags)                       \
	{                                                                                       \
		if (size > 0) {                                                                 \
			to[used] = 0;                                                           \
			if (!fits)                                                              \
				used = failed(to, size, was, used, flags);                      \
			else if (flags & STRSAFE_FILL_BEHIND_NULL)                              \
				memset(to + used + 1, (int)(flags & 0xff),                      \
				       (size - used - 1) * sizeof(kind));                       \
		} else if (!fits && to == NULL) {                                               \
			return STATUS_INVALID_PARAMETER;                                        \
		}                                                                               \
		if (end)                                                                        \
			*end = to ? to + used : to;                                             \
		if (remaining)                                                                  \
			*remaining = size - used;                                               \
		return fits ? STATUS_SUCCESS : STATUS_BUFFER_OVERFLOW;                          \
	}                                                                                       \
	NTSTATUS put_name(kind *to, size_t size, int append, const kind *from, size_t length,   \
			  kind **end, size_t *remaining, ULONG flags)                           \
	{                                                                                       \
		NTSTATUS status = checked(to, size, flags);                                     \
		static const kind empty[1];                                                     \
		size_t was = 0, used;                                                           \
                                                                                                \
		if (status == STATUS_SUCCESS && append && size > 0)                             \
			status = length_name(to, size, &was);                                   \
		if (status != STATUS_SUCCESS)                                                   \
			return status;                                                          \
		if (length > NTSTRSAFE_MAX_LENGTH && length != PLX_NTSTR_ALL)                   \
			return STATUS_INVALID_PARAMETER;                                        \
		if (from == NULL && flags & STRSAFE_IGNORE_NULLS)                               \
			from = empty;                                                           \
		if (from == NULL)                                                               \
			return STATUS_INVALID_PARAMETER;                                        \
		used = was;                                                                     \
		for (; length > 0 && *from && used + 1 < size; length--)                        \
			to[used++] = *from++;                                                   \
		return ended(to, size, was, used, length == 0 || *from == 0, end, remaining,    \
			     flags);                                                            \
	}                                                                                       \
	NTSTATUS format_name(kind *to, size_t size, kind **end, size_t *remaining, ULONG flags, \
			     const kind *format, va_list args)                                  \
	{                                                                                       \
		NTSTATUS status = checked(to, size, flags);                                     \
		static const kind empty[1];                                                     \
		size_t room = size > 0 ? size - 1 : 0, length;                                  \
                                                                                                \
		if (format == NULL && flags & STRSAFE_IGNORE_NULLS)                             \
			format = empty;                                                         \
		if (status != STATUS_SUCCESS || format == NULL)                                 \
			return STATUS_INVALID_PARAMETER;                                        \
		length = format_text(to, room, format, args);                                   \
		return ended(to, size, 0, length < room ? length : room, length <= room, end,   \
			     remaining, flags);                                                 \
	}
STRSAFE(char, plx_ntstr_length_a, plx_ntstr_put_a, plx_ntstr_format_a, rtl_format_narrow, failed_a,
	ended_a)
STRSAFE(WCHAR, plx_ntstr_length_w, plx_ntstr_put_w, plx_ntstr_format_w, rtl_format_wide, failed_w,
	ended_w)
