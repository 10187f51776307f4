/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages to the service manager: datagrams to the socket that NOTIFY_SOCKET names, sd_notify(3).
 * The protocol is these few lines; libsystemd would bring its own libraries into a process with
 * rights. A message that cannot be sent is lost: nothing depends on it here. Start with notify().
 */
#include "polluxd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
	struct sockaddr_un address;
	socklen_t bytes; /* 0: nobody is to be told */
} manager;

void
notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path != NULL ? strlen(path) : 0;

	if (length > 1 && length < sizeof(manager.address.sun_path) &&
	    (*path == '/' || *path == '@')) {
		manager.address.sun_family = AF_UNIX;
		memcpy(manager.address.sun_path, path, length);
		if (*path == '@') /* an abstract name */
			manager.address.sun_path[0] = '\0';
		manager.bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	}
	unsetenv("NOTIFY_SOCKET");
}

void
notify(const char *text)
{
	int socket_fd;

	if (manager.bytes == 0)
		return;
	socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (socket_fd < 0)
		return;
	(void)!sendto(socket_fd, text, strlen(text), MSG_NOSIGNAL,
		      (const struct sockaddr *)&manager.address, manager.bytes);
	close(socket_fd);
}
