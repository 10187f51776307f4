/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What Windows has the same for programs and drivers, whatever the width of their characters: how a
 * format is read, which error a status is, what UTF-8 is, by what table characters have case.
 * libpollux-win and libpollux-ndk each have it. It owns a locale. Start with
 * plx_conversion_parse().
 */
#ifndef PLX_RULES_H
#define PLX_RULES_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The Win32 error of a status; ERROR_MR_MID_NOT_FOUND if it has none. Cost: O(log n) */
uint32_t win_error_of_status(int32_t status);

/** The locale whose table of case is Unicode's. Returns: 0: the system has none, and only letters
 * of ASCII have case */
locale_t plx_unicode_locale(void);

/* UTF-8 */

#define PLX_UTF8_REPLACEMENT 0xfffd
#define PLX_UTF8_BYTES_MAX   4 /* of a character */

/** Write a character; U+FFFD for one that Unicode does not have. Returns: the bytes written */
size_t plx_utf8_encode(uint32_t c, unsigned char out[PLX_UTF8_BYTES_MAX]);
/**
 * Read a character.
 * @param left [bytes] of the text, at least 1; larger if the text ends with a 0
 * @param c    [out] U+FFFD if it is not valid
 * Returns: the bytes read
 */
size_t plx_utf8_decode(const unsigned char *at, size_t left, uint32_t *c);

/* Formats */

/* The rules by which a format is read. */
enum format_kind {
	FORMAT_PRINT = 0,
	FORMAT_SCAN = 1,   /* scanf: '*' is a flag, "[...]" a conversion */
	FORMAT_WIDE = 2,   /* a wide format: "%s" is wide and "%S" is not */
	FORMAT_KERNEL = 4, /* 'Z' is a conversion: a counted string, which "w" makes wide */
};

/* Microsoft's size prefix, and this system's for integers. */
struct plx_size_word {
	char theirs[4];
	char ours[4];
};

/* A parsed conversion. */
struct plx_conversion {
	const char *flags; /* after the '%', with width and precision */
	size_t flags_length;
	const struct plx_size_word *size; /* NULL: none */
	char type;
	const char *set; /* of "[...]", after the '[' */
	size_t set_length;
};

/** Parse the conversion after a '%'. @param kind of enum format_kind
 * Returns: the text after it; NULL: it is invalid */
const char *plx_conversion_parse(const char *at, unsigned kind, struct plx_conversion *c);
/** Has it this size prefix of Microsoft's? */
bool plx_conversion_has_size(const struct plx_conversion *c, const char *word);
/** Is its text wide? A size prefix decides, otherwise the kind of the format. */
bool plx_conversion_is_wide(const struct plx_conversion *c, unsigned kind);

#endif
