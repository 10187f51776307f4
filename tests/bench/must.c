/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See must.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "must.h"

struct plx_why why;

void
stop(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	_exit(2);
}

void
must(enum plx_status status, const char *what)
{
	if (status != PLX_OK)
		stop("%s: %s (%s)", what, plx_status_text(status), why.text);
}
