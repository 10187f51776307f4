/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See plx_channel.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plx_channel.h"

enum {
	FDS_ROOM = 16, /* received at once, so that none beyond PLX_IPC_FDS_MAX is lost track of */
};

bool
plx_channel_send(int fd, const struct plx_ipc_message *message, size_t bytes, const int *fds,
		 uint32_t count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(PLX_IPC_FDS_MAX * sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)(uintptr_t)message, bytes};
	struct msghdr to = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	if (count > 0) {
		struct cmsghdr *head;

		to.msg_control = control.bytes;
		to.msg_controllen = CMSG_SPACE(count * sizeof(int));
		head = CMSG_FIRSTHDR(&to);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(head), fds, count * sizeof(int));
	}
	do
		sent = sendmsg(fd, &to, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)bytes;
}

/* Take the descriptors out of a message.
 * Returns: how many there were */
static uint32_t
take_fds(struct msghdr *from, int fds[PLX_IPC_FDS_MAX])
{
	uint32_t count = 0;

	for (struct cmsghdr *head = CMSG_FIRSTHDR(from); head != NULL;
	     head = CMSG_NXTHDR(from, head)) {
		uint32_t n = 0;

		if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
			n = (uint32_t)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		for (uint32_t i = 0; i < n; i++, count++) {
			int fd;

			memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(fd));
			if (count < PLX_IPC_FDS_MAX)
				fds[count] = fd;
			else
				close(fd);
		}
	}
	return count;
}

ssize_t
plx_channel_receive(int fd, struct plx_ipc_message *message, int fds[PLX_IPC_FDS_MAX],
		    uint32_t *count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FDS_ROOM * sizeof(int))];
	} control;
	struct iovec part = {message, sizeof(*message)};
	struct msghdr from = {.msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes)};
	ssize_t got;

	*count = 0;
	do
		got = recvmsg(fd, &from, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : 0;
	*count = take_fds(&from, fds);
	if (*count <= PLX_IPC_FDS_MAX && !(from.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return got;
	for (uint32_t i = 0; i < *count && i < PLX_IPC_FDS_MAX; i++)
		close(fds[i]);
	*count = 0;
	return 1; /* shorter than any */
}
