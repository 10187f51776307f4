/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The assertion hook that programs may replace.
 * It never prints: a pure room has no output.
 */
#include "plx_base.h"

__attribute__((weak)) void
plx_assert_failed(const char *expr, const char *file, int line)
{
	(void)expr;
	(void)file;
	(void)line;
	__builtin_trap();
}
