/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers that a test takes from its environment, such as POLLUX_ROUNDS. There is one function,
 * test_asked().
 */
#ifndef PLX_TEST_ASKED_H
#define PLX_TEST_ASKED_H

#include <stdint.h>
#include <stdlib.h>

/** The number in this variable; `usual` without it. */
static inline uint64_t
test_asked(const char *name, uint64_t usual)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : usual;
}

#endif
