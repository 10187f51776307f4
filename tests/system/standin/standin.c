/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A host that has adapters and a socket, and serves nobody: polluxd is tested alone. Start with
 * plx_host_start().
 */
#include "plx_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "plx_base.h"

struct plx_host {
	int socket_fd;
	struct sockaddr_un address;
	struct plx_adapter *adapter[PLX_ADAPTERS_MAX];
	uint32_t adapters;
};

static enum plx_status
refuse(struct plx_host *host, const char *path, struct plx_why *why)
{
	plx_why_set(why, "%s: %s", path, strerror(errno));
	if (host && host->socket_fd >= 0)
		close(host->socket_fd);
	free(host);
	return PLX_CONFIG;
}

enum plx_status
plx_host_start(const char *path, unsigned mode, struct plx_host **host, struct plx_why *why)
{
	struct plx_host *made = calloc(1, sizeof(*made));

	if (!made)
		return PLX_NO_MEMORY;
	made->address.sun_family = AF_UNIX;
	snprintf(made->address.sun_path, sizeof(made->address.sun_path), "%s", path);
	made->socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	unlink(path);
	if (made->socket_fd < 0 ||
	    bind(made->socket_fd, (struct sockaddr *)&made->address, sizeof(made->address)) ||
	    chmod(path, mode) || listen(made->socket_fd, 16))
		return refuse(made, path, why);
	*host = made;
	return PLX_OK;
}

enum plx_status
plx_host_offer(struct plx_host *host, const char *adapter,
	       const struct plx_adapter_options *options, const struct plx_host_rights *rights,
	       struct plx_why *why)
{
	enum plx_status status =
		plx_adapter_open(adapter, options, &host->adapter[host->adapters], why);

	(void)rights;
	host->adapters += status == PLX_OK;
	return status;
}

void
plx_host_stop(struct plx_host *host)
{
	while (host->adapters)
		if (plx_adapter_close(host->adapter[--host->adapters]) != PLX_OK)
			abort();
	close(host->socket_fd);
	unlink(host->address.sun_path);
	free(host);
}
