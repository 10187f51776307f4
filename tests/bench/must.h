/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the benchmark's own programs cannot go on without. Start with must().
 */
#ifndef BENCH_MUST_H
#define BENCH_MUST_H

#include "plx_verbs.h"

extern struct plx_why why; /* for the calls of must() */

/** Say why on standard error, and end with status 2. */
void stop(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/** Stop unless it is OK. */
void must(enum plx_status status, const char *what);

#endif
