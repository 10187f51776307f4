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
	va_list arguments;

	va_start(arguments, format);
	flockfile(stderr);
	fputs("pollux-ndk: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	fflush(stderr);
	funlockfile(stderr);
	va_end(arguments);
	abort();
}
