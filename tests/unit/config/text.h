/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of text, whole.
 */
#ifndef TEST_CONFIG_TEXT_H
#define TEST_CONFIG_TEXT_H

void write_file(const char *name, const char *text);
/* The text is that of the next call, too. */
const char *read_file(const char *name);

#endif
