/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sentence that explains a refused call. It never allocates and never fails; long sentences are
 * cut.
 */
#include <stdarg.h>
#include <stdio.h>

#include "plx_base.h"

void
plx_why_set(struct plx_why *why, const char *format, ...)
{
	va_list args;

	if (why == NULL)
		return;
	va_start(args, format);
	if (vsnprintf(why->text, sizeof(why->text), format, args) < 0)
		why->text[0] = '\0';
	va_end(args);
}
