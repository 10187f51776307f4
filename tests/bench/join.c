/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Start with join().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "join.h"
#include "must.h"

#define ADDRESS "10.77.0.2"

static struct sockaddr_in
name_of(uint16_t port)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};

	if (inet_pton(AF_INET, ADDRESS, &name.sin_addr) != 1)
		stop(ADDRESS " is no address");
	return name;
}

void
must_be(bool is_so, const char *what)
{
	if (!is_so)
		stop("%s: %s", what, strerror(errno));
}

int
listen_at(uint16_t port)
{
	const struct sockaddr_in name = name_of(port);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	must_be(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
			bind(listener, (const struct sockaddr *)&name, sizeof(name)) == 0 &&
			listen(listener, 1) == 0,
		"listen");
	return listener;
}

void
join(int listener, uint16_t port, int fd[2])
{
	const struct sockaddr_in name = name_of(port);
	int one = 1;

	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must_be(connect(fd[0], (const struct sockaddr *)&name, sizeof(name)) == 0, "connect");
	fd[1] = accept(listener, NULL, NULL);
	must_be(fd[1] >= 0, "accept");
	for (int i = 0; i < 2; i++)
		must_be(setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0,
			"TCP_NODELAY");
}
