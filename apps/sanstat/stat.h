/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The broker's answer as lines for people. Start with stat_print().
 */
#ifndef SANSTAT_STAT_H
#define SANSTAT_STAT_H

#include <stdbool.h>
#include <stdio.h>

/** Returns: false: `text` is no JSON object, and nothing has been printed */
bool stat_print(const char *text, FILE *to);

#endif
