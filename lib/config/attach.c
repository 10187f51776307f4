/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of an adapter that need no file: the defaults, and the host that POLLUX_HOST names.
 * It needs the C library alone. Start with plx_adapter_options_attach().
 */
#include <stdlib.h>
#include <string.h>

#include "plx_host_config.h"

enum {
	DISCONNECT_GRACE_DEFAULT = 10,
};

void
plx_adapter_options_init(struct plx_adapter_options *options)
{
	memset(options, 0, sizeof(*options));
	options->core = -1;
	options->dispatcher_core = -1;
	options->disconnect_grace_ms = DISCONNECT_GRACE_DEFAULT;
}

enum plx_status
plx_adapter_options_attach(struct plx_adapter_options *options, struct plx_why *why)
{
	const char *host = secure_getenv("POLLUX_HOST");

	if (!host || !*host)
		return PLX_OK;
	if (*host != '/' || strlen(host) >= sizeof(options->host)) {
		plx_why_set(why,
			    "POLLUX_HOST = \"%.60s\" is not the absolute path of a socket, of at "
			    "most %zu characters",
			    host, sizeof(options->host) - 1);
		return PLX_CONFIG;
	}
	memcpy(options->host, host, strlen(host) + 1);
	return PLX_OK;
}
