/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of a process whose driver has broken a rule: one sentence, then SIGABRT. It frees
 * nothing. Start with plx_wdk_stop().
 */
#include "plx_wdk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
plx_wdk_stop(const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "pollux-ndk: %s\n", text);
	abort();
}
