/* SPDX-License-Identifier: BSD-3-Clause
 *
 * More bounded functions of Microsoft's C library, beyond those of crt.h. An invalid argument
 * yields EINVAL and a result that does not fit ERANGE, with an empty string or zeros in the
 * destination. Windows would end the program there, unless it has set a handler.
 * Tests: tests/unit/windows/crt/secure.c
 */
#ifndef PLX_WIN_CRTSECURE_H
#define PLX_WIN_CRTSECURE_H

#include "crt.h"
#include "crtblock.h"

#include <time.h>

static inline errno_t
strerror_s(char *to, size_t size, int error)
{
	errno_t done = to && size ? strncpy_s(to, size, strerror(error), _TRUNCATE) : EINVAL;

	return done == STRUNCATE ? 0 : done;
}

/** @param need [bytes] of the value with its 0; 0: there is no such variable */
static inline errno_t
getenv_s(size_t *need, char *to, size_t size, const char *name)
{
	const char *value = name ? getenv(name) : NULL;

	if (!need || !name || (!to && size))
		return EINVAL;
	if (to && size)
		to[0] = 0;
	*need = value ? strlen(value) + 1 : 0;
	if (!value || !size)
		return 0;
	return *need > size ? ERANGE : strcpy_s(to, size, value);
}

/** @param value free()'s; NULL: there is no such variable */
static inline errno_t
_dupenv_s(char **value, size_t *bytes, const char *name)
{
	const char *found = name ? getenv(name) : NULL;

	if (!value || !name)
		return EINVAL;
	*value = found ? strdup(found) : NULL;
	if (bytes)
		*bytes = *value ? strlen(found) + 1 : 0;
	return found && !*value ? ENOMEM : 0;
}

/* The destination comes first, other than in C11's annex K. */
static inline errno_t
localtime_s(struct tm *to, const time_t *from)
{
	return to && from && localtime_r(from, to) ? 0 : EINVAL;
}

static inline errno_t
gmtime_s(struct tm *to, const time_t *from)
{
	return to && from && gmtime_r(from, to) ? 0 : EINVAL;
}

#ifdef __cplusplus
template <size_t size>
inline errno_t
strerror_s(char (&to)[size], int error)
{
	return strerror_s(to, size, error);
}
#endif

#endif
