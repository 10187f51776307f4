/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ndping from its command line to its exit status: 0 every layer works, 1 one fails, 2 wrong
 * command line. Every failure is one sentence on stderr. Start with main().
 */
#include "ping.h"

#include <stdio.h>
#include <stdlib.h>

static int
try_peer(const struct options *o)
{
	struct ping *ping = calloc(1, sizeof(*ping));
	struct plx_why why;
	if (ping == NULL)
		return program_fail("no memory", STATUS_FAILURE);
	ping->options = o;
	bool is_good = station_open(&o->endpoint, &ping->at, &why);
	if (!is_good) {
		snprintf(ping->sentence, sizeof(ping->sentence), "%s", why.text);
	} else {
		if (!o->json)
			show_head(ping);
		is_good = layers_try(ping, show_layer);
		station_close(&ping->at);
	}
	bool is_shown = !o->json || show_json(ping, is_good);
	int status = is_good ? 0 : program_fail(ping->sentence, STATUS_FAILURE);
	if (!is_shown)
		status = program_fail("the JSON could not be written in full", STATUS_FAILURE);
	free(ping);
	return status;
}

int
main(int argc, char **argv)
{
	struct options options;
	struct plx_why why = {{0}};
	switch (ndping_options(argc, argv, &options, &why)) {
	case PARSED_DONE:
		return 0;
	case PARSED_WRONG:
		return program_fail(why.text, STATUS_USAGE);
	case PARSED_RUN:
		break;
	}
	catch_signals();
	ticks_hz();
	if (options.is_server)
		return serve(&options, &why) ? 0 : program_fail(why.text, STATUS_FAILURE);
	return try_peer(&options);
}
