/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of base's enums, and the assertion hook that programs may replace.
 * It never prints: a pure room has no output.
 */
#include "plx_base.h"

static const char *const status_texts[PLX_STATUS_COUNT] = {
#define PLX_X(name, text) [PLX_##name] = text,
	PLX_STATUS_LIST(PLX_X)
#undef PLX_X
};

const char *
plx_status_text(enum plx_status status)
{
	if ((unsigned)status >= PLX_STATUS_COUNT)
		return "not a status";
	return status_texts[status];
}

__attribute__((weak)) void
plx_assert_failed(const char *expr, const char *file, int line)
{
	(void)expr;
	(void)file;
	(void)line;
	__builtin_trap();
}
