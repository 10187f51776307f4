/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A polluxd for a test of ND2 or NDK, which then has its adapters attached. It ends with the test.
 * Start with polluxd_is_wanted().
 */
#ifndef PLX_TEST_POLLUXD_H
#define PLX_TEST_POLLUXD_H

#include <stdbool.h>
#include <sys/types.h>

/** Does TEST_POLLUXD name the program? */
bool polluxd_is_wanted(void);
/** Start it, and wait until it answers.
 * @param adapters its configuration, with "nd0" and "nd1"
 * Returns: that of a program which is attached to both; valid until the end */
const char *polluxd_begin(const char *adapters);
/** Its process. */
pid_t polluxd_pid(void);

#endif
