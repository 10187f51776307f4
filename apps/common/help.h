/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of options as people and as programs read it. Start with print_help().
 */
#ifndef COMMON_HELP_H
#define COMMON_HELP_H

#include "options.h"

/** For people, on stdout. */
void print_help(const struct program *program);

/** One JSON object on stdout, from which other pages can be made. */
void print_help_json(const struct program *program);

/** Row `i` of all parts; NULL: there are fewer. @param offset out: of its part; or NULL */
const struct option_row *program_row(const struct program *program, uint32_t i, size_t *offset);

#endif
