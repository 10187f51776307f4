/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a broken invariant says in a test: one line, then abort().
 * It never continues, and a program that defines its own plx_assert_failed() does not get this one.
 * Start with PLX_ASSERT in plx_base.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "plx_base.h"

void
plx_assert_failed(const char *expr, const char *file, int line)
{
	fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expr);
	abort();
}
