/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks of messages. Start with plx_ipc_check_request().
 */
#include "plx_ipc_message.h"

#define PLX_X(name, request, reply)                                                \
	_Static_assert(sizeof(struct plx_ipc_##request) <= PLX_IPC_BODY_MAX &&     \
			       sizeof(struct plx_ipc_##reply) <= PLX_IPC_BODY_MAX, \
		       "a message holds it");
PLX_IPC_OP_LIST(PLX_X)
#undef PLX_X
_Static_assert(sizeof(struct plx_why) <= PLX_IPC_BODY_MAX, "or a sentence");

uint32_t
plx_ipc_request_fds(uint32_t op, void *request, int32_t *fd[PLX_IPC_FDS_MAX])
{
	if (op == PLX_IPC_ATTACH)
		fd[0] = &((struct plx_ipc_attach *)request)->net;
	else if (op == PLX_IPC_ARENA_IMPORT)
		fd[0] = &((struct plx_ipc_arena_import *)request)->fd;
	else if (op == PLX_IPC_PRIVATE_MEMORY)
		fd[0] = &((struct plx_ipc_private_memory *)request)->fd;
	else
		return 0;
	return 1;
}

uint32_t
plx_ipc_reply_fds(uint32_t op, void *reply, int32_t *fd[PLX_IPC_FDS_MAX])
{
	struct plx_ipc_descriptor *descriptor = reply;

	if (op == PLX_IPC_SEGMENT_ADD) {
		fd[0] = &((struct plx_ipc_segment_added *)reply)->fd;
		return 1;
	}
	if (op == PLX_IPC_BELL) {
		fd[0] = &((struct plx_ipc_bell *)reply)->fd;
		return 1;
	}
	if (op != PLX_IPC_DESCRIPTOR)
		return 0;
	fd[0] = &descriptor->fd;
	fd[1] = &descriptor->wake_fd;
	return 2;
}

bool
plx_ipc_check_request(const struct plx_ipc_message *message, size_t bytes, uint32_t fds)
{
	int32_t *fd[PLX_IPC_FDS_MAX];
	uint32_t op;
	size_t body;

	if (bytes < sizeof(message->head) || message->head.magic != PLX_IPC_MAGIC)
		return false;
	op = message->head.op;
	body = plx_ipc_request_bytes(op);
	/* The members are not read: only their number counts. */
	return body != 0 && bytes == sizeof(message->head) + body &&
	       fds == plx_ipc_request_fds(op, (void *)(uintptr_t)message->body, fd);
}

size_t
plx_ipc_reply_size(enum plx_ipc_op op, enum plx_status status)
{
	size_t body = status == PLX_OK ? plx_ipc_reply_bytes(op) : sizeof(struct plx_why);

	return sizeof(struct plx_ipc_head) + body;
}

bool
plx_ipc_check_reply(const struct plx_ipc_message *message, size_t bytes, uint32_t fds,
		    enum plx_ipc_op op, uint32_t number)
{
	const struct plx_ipc_head *head = &message->head;
	int32_t *fd[PLX_IPC_FDS_MAX];
	uint32_t want = 0;

	if (bytes < sizeof(*head) || head->magic != PLX_IPC_MAGIC || head->op != op ||
	    head->number != number || head->status >= PLX_STATUS_COUNT)
		return false;
	if (head->status == PLX_OK)
		want = plx_ipc_reply_fds(op, (void *)(uintptr_t)message->body, fd);
	return fds == want && bytes == plx_ipc_reply_size(op, (enum plx_status)head->status);
}
