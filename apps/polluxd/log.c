/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The log of polluxd: lines on stderr, which a service manager keeps. Start with polluxd_log().
 */
#include "polluxd.h"

#include <stdio.h>
#include <string.h>

enum {
	LINE_MAX_BYTES = 1024, /* longer than any sentence */
};

void
polluxd_log(void *context, const char *line)
{
	char clean[LINE_MAX_BYTES];
	size_t i;

	(void)context;
	for (i = 0; line[i] != '\0' && i < sizeof(clean) - 1; i++)
		clean[i] = (unsigned char)line[i] < ' ' || line[i] == 0x7f ? '?' : line[i];
	clean[i] = '\0';
	fprintf(stderr, "polluxd: %s\n", clean);
}
