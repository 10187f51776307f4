/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cmocka for text of 16-bit characters. Start with assert_wide_equal().
 */
#ifndef RTL_WIDE_H
#define RTL_WIDE_H

#include "test.h"

#include <wdm.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/** Both end at the same place and are equal. */
#define assert_wide_equal(a, b)                           \
	do {                                              \
		const WCHAR *a_ = (a), *b_ = (b);         \
                                                          \
		assert_int_equal(wcslen(a_), wcslen(b_)); \
		assert_int_equal(wcscmp(a_, b_), 0);      \
	} while (0)

/** A counted string is this text. */
#define assert_counted_equal(s, text)                                        \
	do {                                                                 \
		assert_int_equal((s)->Length, wcslen(text) * sizeof(WCHAR)); \
		assert_memory_equal((s)->Buffer, (text), (s)->Length);       \
	} while (0)

#endif
