/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints a table of options for people and for programs. Start with print_help().
 */
#ifndef COMMON_HELP_H
#define COMMON_HELP_H

#include "options.h"

/** For people, on stdout. */
void print_help(const struct program *program);

/** Print one JSON object on stdout, from which other pages can be generated. */
void print_help_json(const struct program *program);

/** Row `i`, counted over all parts; NULL: out of range.
 * @param offset out: of its part; may be NULL */
const struct option_row *program_row(const struct program *program, uint32_t i, size_t *offset);

#endif
