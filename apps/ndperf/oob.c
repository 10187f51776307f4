/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the TCP connection and the framing: a greeting of 12 bytes, then messages of a kind, a
 * length and a body, numbers in network byte order. What a peer says is checked before it is
 * believed. It never looks into a body. Start with oob_receive_any().
 */
#include "oob.h"

#include "options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const uint8_t magic[8] = {'n', 'd', 'p', 'e', 'r', 'f', '\r', '\n'};

volatile int interrupted;

static uint64_t
now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Wait until the socket is ready for `events`. Returns: false: interrupted, or the time is over */
static bool
wait_for(const struct oob *oob, int fd, short events, uint64_t deadline_ms)
{
	struct pollfd one = {.fd = fd, .events = events};
	while (!interrupted) {
		uint64_t now = now_ms();
		/* an adapter that has nothing to do needs no more than a look now and then */
		for (int i = 0; oob->idle != NULL && i < 64; i++)
			oob->idle(oob->arg);
		if (poll(&one, 1, oob->idle != NULL ? 0 : 20) > 0)
			return true;
		if (now >= deadline_ms)
			return false;
		if (oob->idle != NULL)
			poll(&one, 1, 1);
	}
	return false;
}

static struct addrinfo *
resolve(const struct options *o, int flags, struct plx_why *why)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags}, *found = NULL;
	int error = getaddrinfo(o->oob_host, o->oob_port, &hints, &found);
	if (error != 0) {
		say(why, "--oob %.100s:%s: %s", o->oob_host, o->oob_port, gai_strerror(error));
		return NULL;
	}
	return found;
}

int
oob_listen(const struct options *o, struct plx_why *why)
{
	struct addrinfo *at = resolve(o, AI_PASSIVE, why);
	if (at == NULL)
		return -1;
	int yes = 1;
	int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, 8) != 0) {
		say(why,
		    "cannot listen on --oob %.100s:%s: %s; take an address of this machine and a "
		    "port that is free",
		    o->oob_host, o->oob_port, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(at);
	return fd;
}

static void
ready_socket(struct oob *oob, int fd)
{
	int yes = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	oob->fd = fd;
}

bool
oob_accept(struct oob *oob, int listening, struct plx_why *why)
{
	struct sockaddr_storage from;
	socklen_t length = sizeof(from);
	char host[100] = "?", port[16] = "?";
	why->text[0] = '\0';
	if (!wait_for(oob, listening, POLLIN, UINT64_MAX))
		return false;
	int fd = accept4(listening, (struct sockaddr *)&from, &length, SOCK_CLOEXEC);
	if (fd < 0)
		return say(why, "cannot accept a client: %s", strerror(errno));
	getnameinfo((struct sockaddr *)&from, length, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(oob->peer, sizeof(oob->peer), "the client %s:%s", host, port);
	ready_socket(oob, fd);
	return true;
}

/* One try at one address. Returns: the socket, or -1 with errno */
static int
try_once(const struct oob *oob, const struct addrinfo *at, uint64_t deadline_ms)
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
		if (wait_for(oob, fd, POLLOUT, deadline_ms))
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
	}
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

bool
oob_connect(struct oob *oob, const struct options *o, struct plx_why *why)
{
	uint64_t deadline = now_ms() + oob->timeout_ms;
	struct addrinfo *at = resolve(o, 0, why);
	int fd = -1;
	snprintf(oob->peer, sizeof(oob->peer), "the server %.200s:%s", o->oob_host, o->oob_port);
	if (at == NULL)
		return false;
	while (!interrupted) {
		fd = try_once(oob, at, deadline);
		if (fd >= 0 || now_ms() >= deadline)
			break;
		struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
		nanosleep(&moment, NULL);
	}
	if (fd < 0)
		say(why,
		    "%s does not answer within %u ms (%s); start `ndperf server` with this --oob "
		    "first, or give a longer --timeout",
		    oob->peer, oob->timeout_ms, interrupted ? "interrupted" : strerror(errno));
	freeaddrinfo(at);
	if (fd >= 0)
		ready_socket(oob, fd);
	return fd >= 0;
}

/* All of it, or the sentence; `*none` when the peer had closed before the first byte. */
static bool
read_all(struct oob *oob, void *to, size_t size, uint64_t deadline_ms, bool *none,
	 struct plx_why *why)
{
	size_t have = 0;
	*none = false;
	while (have < size) {
		ssize_t n = recv(oob->fd, (uint8_t *)to + have, size - have, MSG_DONTWAIT);
		if (n > 0) {
			have += (size_t)n;
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			*none = n == 0 && have == 0;
			return say(why, "%s has vanished: %s", oob->peer,
				   n == 0 ? "it closed the side channel" : strerror(errno));
		}
		if (!wait_for(oob, oob->fd, POLLIN, deadline_ms))
			return say(why,
				   interrupted ? "interrupted while waiting for %s"
					       : "%s says nothing within the timeout",
				   oob->peer);
	}
	return true;
}

static bool
write_all(struct oob *oob, const void *from, size_t size, struct plx_why *why)
{
	uint64_t deadline = now_ms() + oob->timeout_ms;
	size_t have = 0;
	while (have < size) {
		ssize_t n = send(oob->fd, (const uint8_t *)from + have, size - have,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			have += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return say(why, "%s has vanished: %s", oob->peer, strerror(errno));
		else if (!wait_for(oob, oob->fd, POLLOUT, deadline))
			return say(why, "%s takes nothing within %u ms", oob->peer,
				   oob->timeout_ms);
	}
	return true;
}

bool
oob_hello(struct oob *oob, struct plx_why *why)
{
	uint8_t ours[12], theirs[12];
	uint32_t version = htonl(OOB_VERSION);
	bool none;
	memcpy(ours, magic, 8);
	memcpy(ours + 8, &version, 4);
	if (!write_all(oob, ours, sizeof(ours), why) ||
	    !read_all(oob, theirs, sizeof(theirs), now_ms() + oob->timeout_ms, &none, why))
		return false;
	if (memcmp(theirs, magic, sizeof(magic)) != 0)
		return say(why, "%s is no ndperf; check --oob", oob->peer);
	memcpy(&version, theirs + 8, 4);
	if (ntohl(version) != OOB_VERSION)
		return say(why,
			   "%s speaks version %u of the side channel, this ndperf version %d; use "
			   "the same release at both ends",
			   oob->peer, ntohl(version), OOB_VERSION);
	return true;
}

bool
oob_send(struct oob *oob, enum message kind, struct plx_why *why)
{
	uint32_t head[2] = {htonl((uint32_t)kind), htonl(oob->length)};
	return write_all(oob, head, sizeof(head), why) &&
	       write_all(oob, oob->body, oob->length, why);
}

enum message
oob_receive_any(struct oob *oob, uint32_t timeout_ms, struct plx_why *why)
{
	uint32_t head[2];
	bool none;
	if (!read_all(oob, head, sizeof(head), now_ms() + timeout_ms, &none, why)) {
		if (none)
			why->text[0] = '\0';
		return MESSAGE_NONE;
	}
	uint32_t kind = ntohl(head[0]), length = ntohl(head[1]);
	if (kind == MESSAGE_NONE || kind >= MESSAGE_COUNT || length > OOB_BODY_MAX) {
		say(why, "%s sends a message of kind %u with %u bytes, which is none of version %d",
		    oob->peer, kind, length, OOB_VERSION);
		return MESSAGE_NONE;
	}
	if (!read_all(oob, oob->body, length, now_ms() + oob->timeout_ms, &none, why))
		return MESSAGE_NONE;
	oob->length = length;
	return (enum message)kind;
}

/* The peer's words, as far as they are words. */
static void
repeat(const struct oob *oob, struct plx_why *why)
{
	char said[180];
	uint32_t n = 0;
	for (uint32_t i = 0; i < oob->length && n < sizeof(said) - 1; i++) {
		if (oob->body[i] >= ' ' && oob->body[i] < 0x7f)
			said[n++] = (char)oob->body[i];
	}
	said[n] = '\0';
	say(why, "%.60s: %s", oob->peer, said);
}

bool
oob_receive(struct oob *oob, enum message kind, struct plx_why *why)
{
	enum message got = oob_receive_any(oob, oob->timeout_ms, why);
	if (got == kind)
		return true;
	if (got == MESSAGE_REFUSED)
		repeat(oob, why);
	else if (got != MESSAGE_NONE)
		say(why, "%s sends message %u where %u is due", oob->peer, got, kind);
	else if (why->text[0] == '\0')
		say(why, "%s has vanished: it closed the side channel", oob->peer);
	return false;
}

bool
oob_has_news(const struct oob *oob)
{
	struct pollfd one = {.fd = oob->fd, .events = POLLIN};
	return poll(&one, 1, 0) > 0;
}

void
oob_refuse(struct oob *oob, const char *sentence)
{
	struct plx_why why;
	size_t length = strnlen(sentence, sizeof(why.text) - 1);
	memcpy(oob->body, sentence, length);
	oob->length = (uint32_t)length;
	(void)oob_send(oob, MESSAGE_REFUSED, &why);
}

void
oob_close(struct oob *oob)
{
	if (oob->fd >= 0)
		close(oob->fd);
	oob->fd = -1;
}
