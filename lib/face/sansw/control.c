/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between programs and the broker.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "plx_san_control.h"

union with_fd {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int
san_control_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool
san_control_send(int socket, const struct san_control *message, int fd)
{
	struct san_control copy = *message;
	struct iovec part = {.iov_base = &copy, .iov_len = sizeof(copy)};
	union with_fd control = {.bytes = {0}};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	copy.version = SAN_CONTROL_VERSION;
	if (fd >= 0) {
		struct cmsghdr *head;

		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		head = CMSG_FIRSTHDR(&m);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	do
		sent = sendmsg(socket, &m, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(copy);
}

/* More than one descriptor does not fit: the kernel has closed the others. */
static int
fd_of(struct msghdr *m)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(m);
	int fd = -1;

	if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

enum san_control_got
san_control_receive(int socket, struct san_control *message, int *fd)
{
	struct iovec part = {.iov_base = message, .iov_len = sizeof(*message)};
	union with_fd control;
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	ssize_t got;

	*fd = -1;
	do
		got = recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return SAN_CONTROL_NOTHING_YET;
	*fd = got >= 0 ? fd_of(&m) : -1;
	if (got == (ssize_t)sizeof(*message) && message->version == SAN_CONTROL_VERSION &&
	    message->kind > SAN_CONTROL_NONE && message->kind < SAN_CONTROL_COUNT)
		return SAN_CONTROL_GOT;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return SAN_CONTROL_GONE;
}
