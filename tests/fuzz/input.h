/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A fuzzer's input as a target reads it.
 * It never runs out: behind the end there are zeros. Start with input_byte().
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *bytes;
	size_t left;
};

/* The next byte; zeros when there are no more, so that every program has an end. */
static inline uint8_t
input_byte(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->bytes++;
}

static inline uint32_t
input_word(struct input *in)
{
	uint32_t v = input_byte(in);

	v = v << 8 | input_byte(in);
	v = v << 8 | input_byte(in);
	return v << 8 | input_byte(in);
}

#endif
