/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles a failed invariant in tests: prints one line, then calls abort(). It never continues. A
 * program that defines its own plx_assert_failed() does not link this one. Start with PLX_ASSERT in
 * plx_base.h.
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
