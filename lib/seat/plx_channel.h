/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sending and receiving messages of a channel: both of its ends use this. Nothing is interpreted.
 * Start with plx_channel_send().
 */
#ifndef PLX_CHANNEL_H
#define PLX_CHANNEL_H

#include "plx_ipc_message.h"

/**
 * Send one message, with descriptors, which stay the caller's.
 * @param bytes of it, the head included
 * Returns: false: the other end has gone, or does not read
 */
bool plx_channel_send(int fd, const struct plx_ipc_message *message, size_t bytes, const int *fds,
		      uint32_t count);

/**
 * Receive one message and its descriptors, which are the caller's from then on.
 * @param count [out] at most PLX_IPC_FDS_MAX; more are closed, and the message is no message
 * Returns: [bytes]; 0: the other end has gone; -1: nothing is there
 */
ssize_t plx_channel_receive(int fd, struct plx_ipc_message *message, int fds[PLX_IPC_FDS_MAX],
			    uint32_t *count);

#endif
