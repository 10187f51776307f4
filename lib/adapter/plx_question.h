/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A query of telemetry: its parameters and its answer. Start with plx_question_parse().
 */
#ifndef PLX_QUESTION_H
#define PLX_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PLX_QUESTION_BYTES = 128, /* of its parameters */
};

struct rte_tel_data;

struct plx_question {
	struct rte_tel_data *answer;
	char name[PLX_QUESTION_BYTES];
	uint32_t number; /* follows the name */
	bool has_number;
	bool answered;
	uint32_t passed; /* entries so far, of an answer that skips some */
};

/** Take "NAME" or "NAME,NUMBER" apart. Returns: false: it is neither */
bool plx_question_parse(const char *parameters, struct plx_question *question);
/** Add the next number of a list to the answer, an array: unless it is one of those to skip, as
 * many as the number that followed the name says, or the answer is full. */
void plx_question_add_number(struct plx_question *question, uint64_t number);

#endif
