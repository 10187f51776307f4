/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls as messages between processes: each is one datagram of a SOCK_SEQPACKET socket, with a head
 * and one struct of plx_ipc.h. Descriptors travel beside it. The receiver checks a message before
 * it uses any of it. Start with plx_ipc_check_request().
 */
#ifndef PLX_IPC_MESSAGE_H
#define PLX_IPC_MESSAGE_H

#include "plx_ipc.h"

enum {
	PLX_IPC_MAGIC = 0x31786c70, /* "plx1" */
	PLX_IPC_BODY_MAX = 4096,    /* [bytes] */
	PLX_IPC_FDS_MAX = 2,        /* with one message */
};

/* Both sides are of one machine, so numbers are in its order. */
struct plx_ipc_head {
	uint32_t magic;
	uint32_t op;
	uint32_t number; /* of the request, and of its reply */
	uint32_t status; /* of a reply: enum plx_status. Not OK: a struct plx_why follows */
};

struct plx_ipc_message {
	struct plx_ipc_head head;
	uint8_t body[PLX_IPC_BODY_MAX] __attribute__((aligned(8)));
};

/**
 * Is this a request?
 * @param bytes received
 * @param fds   descriptors received with it
 * Returns: false: the sender does not keep to the protocol
 */
bool plx_ipc_check_request(const struct plx_ipc_message *message, size_t bytes, uint32_t fds);
/** Is this the reply to a request of that number? As plx_ipc_check_request(). */
bool plx_ipc_check_reply(const struct plx_ipc_message *message, size_t bytes, uint32_t fds,
			 enum plx_ipc_op op, uint32_t number);

/** [bytes] of a reply. */
size_t plx_ipc_reply_size(enum plx_ipc_op op, enum plx_status status);

/**
 * The members of a request or of a reply that are descriptors.
 * Returns: how many
 */
uint32_t plx_ipc_request_fds(uint32_t op, void *request, int32_t *fd[PLX_IPC_FDS_MAX]);
uint32_t plx_ipc_reply_fds(uint32_t op, void *reply, int32_t *fd[PLX_IPC_FDS_MAX]);

#endif
