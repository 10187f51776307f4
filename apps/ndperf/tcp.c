/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The TCP connection: sockets, and waits that poll an inline adapter. The queue pairs are connected
 * by exchanged addresses, with plx_qp_connect(). It knows nothing of messages.
 * Start with wait_for().
 */
#include "talk.h"

#include "clock.h"
#include "options.h"
#include "side.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static bool
polls(const struct talk *talk)
{
	return !talk->may_sleep && talk->side->is_inline &&
	       (talk->side->adapter != NULL || talk->side->face != NULL);
}

/* Wait until the socket is ready for `events`.
 * Returns: false: interrupted, or timeout */
static bool
wait_for(const struct talk *talk, int fd, short events, uint64_t deadline_ms)
{
	struct pollfd one = {.fd = fd, .events = events};
	while (!interrupted) {
		uint64_t now = now_ms();
		bool is_polling = polls(talk);
		/* an idle adapter needs polling only now and then */
		for (int i = 0; is_polling && i < 64; i++)
			side_poll(talk->side);
		if (poll(&one, 1, is_polling ? 0 : 20) > 0)
			return true;
		if (now >= deadline_ms)
			return false;
		if (is_polling)
			poll(&one, 1, 1);
	}
	return false;
}

/* ---- sockets ---- */

static struct addrinfo *
resolve(const struct options *o, int flags, struct plx_why *why)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *found = NULL;
	int error = getaddrinfo(o->oob_host, o->oob_port, &hints, &found);
	if (error != 0) {
		why_set(why, "--oob %.100s:%s: %s", o->oob_host, o->oob_port, gai_strerror(error));
		return NULL;
	}
	return found;
}

static bool
tcp_listen(struct talk *talk, struct plx_why *why)
{
	const struct options *o = talk->options;
	struct addrinfo *at = resolve(o, AI_PASSIVE, why);
	if (at == NULL)
		return false;
	int yes = 1;
	int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, 8) != 0) {
		why_set(why,
			"cannot listen on --oob %.100s:%s: %s; use an address of this machine and "
			"a "
			"free port",
			o->oob_host, o->oob_port, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(at);
	talk->listening = fd;
	return fd >= 0;
}

static void
tcp_shut(struct talk *talk)
{
	if (talk->listening >= 0)
		close(talk->listening);
	talk->listening = -1;
}

static void
ready_socket(struct talk *talk, int fd)
{
	int yes = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	talk->fd = fd;
}

static bool
tcp_accept(struct talk *talk, struct plx_why *why)
{
	struct sockaddr_storage from;
	socklen_t length = sizeof(from);
	char host[100] = "?", port[16] = "?";
	why->text[0] = '\0';
	talk->may_sleep = true;
	if (!wait_for(talk, talk->listening, POLLIN, UINT64_MAX))
		return false;
	int fd = accept4(talk->listening, (struct sockaddr *)&from, &length, SOCK_CLOEXEC);
	if (fd < 0)
		return why_set(why, "cannot accept a client: %s", strerror(errno));
	getnameinfo((struct sockaddr *)&from, length, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(talk->peer, sizeof(talk->peer), "the client %s:%s", host, port);
	ready_socket(talk, fd);
	return true;
}

/* Try one address.
 * Returns: the socket, or -1 with errno */
static int
try_once(const struct talk *talk, const struct addrinfo *at, uint64_t deadline_ms)
{
	int error = 0;
	socklen_t length = sizeof(error);
	int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, at->ai_addr, at->ai_addrlen) != 0)
		error = errno;
	if (error == EINPROGRESS) {
		error = ETIMEDOUT;
		if (wait_for(talk, fd, POLLOUT, deadline_ms))
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
	}
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

static bool
tcp_connect(struct talk *talk, struct plx_why *why)
{
	const struct options *o = talk->options;
	uint64_t deadline = now_ms() + talk->timeout_ms;
	struct addrinfo *at = resolve(o, 0, why);
	int fd = -1;
	snprintf(talk->peer, sizeof(talk->peer), "the server %.200s:%s", o->oob_host, o->oob_port);
	if (at == NULL)
		return false;
	while (!interrupted) {
		fd = try_once(talk, at, deadline);
		if (fd >= 0 || now_ms() >= deadline)
			break;
		struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
		nanosleep(&moment, NULL);
	}
	if (fd < 0)
		why_set(why,
			"%s does not answer within %u ms (%s); start `ndperf server` with this "
			"--oob "
			"first, or give a longer --timeout",
			talk->peer, talk->timeout_ms,
			interrupted ? "interrupted" : strerror(errno));
	freeaddrinfo(at);
	if (fd >= 0)
		ready_socket(talk, fd);
	return fd >= 0;
}

/* ---- bytes ---- */

static bool
tcp_read(struct talk *talk, void *to, size_t size, uint64_t deadline_ms, bool *none,
	 struct plx_why *why)
{
	size_t have = 0;
	*none = false;
	while (have < size) {
		ssize_t n = recv(talk->fd, (uint8_t *)to + have, size - have, MSG_DONTWAIT);
		if (n > 0) {
			have += (size_t)n;
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			*none = n == 0 && have == 0;
			return why_set(why, "%s has vanished: %s", talk->peer,
				       n == 0 ? "it closed the side channel" : strerror(errno));
		}
		if (!wait_for(talk, talk->fd, POLLIN, deadline_ms))
			return why_set(why,
				       interrupted ? "interrupted while waiting for %s"
						   : "%s sent nothing within the timeout",
				       talk->peer);
	}
	return true;
}

static bool
tcp_write(struct talk *talk, const void *from, size_t size, struct plx_why *why)
{
	uint64_t deadline = now_ms() + talk->timeout_ms;
	size_t have = 0;
	while (have < size) {
		ssize_t n = send(talk->fd, (const uint8_t *)from + have, size - have,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			have += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return why_set(why, "%s has vanished: %s", talk->peer, strerror(errno));
		else if (!wait_for(talk, talk->fd, POLLOUT, deadline))
			return why_set(why, "%s accepted no data within %u ms", talk->peer,
				       talk->timeout_ms);
	}
	return true;
}

static bool
tcp_has_news(struct talk *talk)
{
	struct pollfd one = {.fd = talk->fd, .events = POLLIN};
	return poll(&one, 1, 0) > 0;
}

static void
tcp_close(struct talk *talk)
{
	if (talk->fd >= 0)
		close(talk->fd);
	talk->fd = -1;
}

/* ---- queue pairs ---- */

static bool
tcp_join(struct talk *talk, const struct card *cards)
{
	struct side *side = talk->side;
	uint64_t deadline = ticks() + ticks_of_ms(talk->timeout_ms);
	enum plx_status status;
	char ip[64];
	while ((status = side_connect(side, cards)) == PLX_AGAIN) {
		if (ticks() > deadline)
			return side_fail(side,
					 "%s does not answer to ARP or neighbour discovery within "
					 "%u ms; check the device and both --address",
					 ip_text(&cards[0].address.ip, ip, sizeof(ip)),
					 talk->timeout_ms);
		if (interrupted)
			return side_fail(side, "interrupted");
		side_pause(side);
	}
	return status == PLX_OK;
}

/* No packet announces that a queue pair is destroyed. */
static void
tcp_part(struct talk *talk, bool is_orderly)
{
	(void)talk;
	(void)is_orderly;
}

const struct carrier carrier_tcp = {
	.listen = tcp_listen,
	.accept = tcp_accept,
	.shut = tcp_shut,
	.connect = tcp_connect,
	.read = tcp_read,
	.write = tcp_write,
	.has_news = tcp_has_news,
	.join = tcp_join,
	.part = tcp_part,
	.close = tcp_close,
};
