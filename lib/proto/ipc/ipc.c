/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of the operations. Start with plx_ipc_request_bytes().
 */
#include "plx_ipc.h"

static const struct {
	const char *name;
	uint16_t request_bytes, reply_bytes;
} ops[PLX_IPC_OP_COUNT] = {[PLX_IPC_NONE] = {"none", 0, 0},
#define PLX_X(name, request, reply) \
	[PLX_IPC_##                 \
		name] = {#name, sizeof(struct plx_ipc_##request), sizeof(struct plx_ipc_##reply)},
			   PLX_IPC_OP_LIST(PLX_X)
#undef PLX_X
};

size_t
plx_ipc_request_bytes(uint32_t op)
{
	return op < PLX_IPC_OP_COUNT ? ops[op].request_bytes : 0;
}

size_t
plx_ipc_reply_bytes(uint32_t op)
{
	return op < PLX_IPC_OP_COUNT ? ops[op].reply_bytes : 0;
}

const char *
plx_ipc_op_name(uint32_t op)
{
	return op < PLX_IPC_OP_COUNT ? ops[op].name : "not an operation";
}
