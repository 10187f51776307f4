/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a fuzz target says that something is wrong: it stops there. It prints nothing; the fuzzer has
 * the input and the place. Start with CHECK().
 */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

/* A property that must hold, whatever the input. */
#define CHECK(property)                   \
	do {                              \
		if (!(property))          \
			__builtin_trap(); \
	} while (0)

#endif
