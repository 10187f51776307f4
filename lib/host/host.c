/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of operations. Start with plx_host_call().
 */
#include <time.h>

#include "host.h"

static const host_destroy_fn destroy[HOST_KINDS] = {
	[HOST_PD] = host_pd_destroy,
	[HOST_MR] = host_mr_destroy,
	[HOST_MW] = host_mw_destroy,
	[HOST_CQ] = host_cq_destroy,
	[HOST_SRQ] = host_srq_destroy,
	[HOST_QP] = host_qp_destroy,
	[HOST_AH] = host_ah_destroy,
	[HOST_CHANNEL] = host_channel_destroy,
	[HOST_LISTENER] = host_listener_destroy,
	[HOST_CONNECTOR] = host_connector_destroy,
};

static HOST_FN(host_destroy)
{
	const struct plx_ipc_object *request = arg;
	struct host_object *object = host_find_any(seat, request->object);

	(void)reply;
	(void)why;
	return object != NULL ? destroy[object->kind](seat, object) : PLX_NO_KEY;
}

void
host_pause(void)
{
	static const struct timespec pause = {.tv_nsec = PLX_MSEC};

	nanosleep(&pause, NULL);
}

bool
host_destroy_all(struct host_seat *seat, enum host_kind kind)
{
	struct host_object *object;
	bool all = true;

	for (uint32_t i = 0; (object = host_next(seat, &i)) != NULL; i++)
		if (object->kind == kind && !host_lingers(seat, object) &&
		    destroy[kind](seat, object) != PLX_OK)
			all = false;
	return all;
}

/* Without ATTACH, which is served before there is a seat. */
static const host_fn serve[PLX_IPC_OP_COUNT] = {
	[PLX_IPC_CLOSE] = host_close,
	[PLX_IPC_SEGMENT_ADD] = host_segment_add,
	[PLX_IPC_SEGMENT_READY] = host_segment_ready,
	[PLX_IPC_ARENA_IMPORT] = host_arena_import,
	[PLX_IPC_ARENA_DROP] = host_arena_drop,
	[PLX_IPC_PRIVATE_MEMORY] = host_private_memory,
	[PLX_IPC_OPEN] = host_open,
	[PLX_IPC_INFO] = host_info,
	[PLX_IPC_RUNNING] = host_running,
	[PLX_IPC_COUNTERS] = host_counters,
	[PLX_IPC_RESOLVE] = host_resolve,
	[PLX_IPC_PING] = host_ping,
	[PLX_IPC_PONG] = host_pong,
	[PLX_IPC_DESCRIPTOR] = host_descriptor,
	[PLX_IPC_BELL] = host_bell,
	[PLX_IPC_BARRIER] = host_barrier,
	[PLX_IPC_DESTROY] = host_destroy,
	[PLX_IPC_PD_CREATE] = host_pd_create,
	[PLX_IPC_MR_REGISTER] = host_mr_register,
	[PLX_IPC_MR_PAGES] = host_mr_pages,
	[PLX_IPC_MR_FAST] = host_mr_fast,
	[PLX_IPC_MR_DEREGISTER] = host_mr_deregister,
	[PLX_IPC_REG_PROMISE] = host_reg_promise,
	[PLX_IPC_REG_VOID] = host_reg_void,
	[PLX_IPC_MW_CREATE] = host_mw_create,
	[PLX_IPC_MW_BIND] = host_mw_bind,
	[PLX_IPC_MW_UNBIND] = host_mw_unbind,
	[PLX_IPC_CQ_CREATE] = host_cq_create,
	[PLX_IPC_CQ_RESIZE] = host_cq_resize,
	[PLX_IPC_SRQ_CREATE] = host_srq_create,
	[PLX_IPC_SRQ_ARM] = host_srq_arm,
	[PLX_IPC_QP_CREATE] = host_qp_create,
	[PLX_IPC_QP_MODIFY] = host_qp_modify,
	[PLX_IPC_QP_QUERY] = host_qp_query,
	[PLX_IPC_QP_FLUSH] = host_qp_flush,
	[PLX_IPC_QP_COUNTERS] = host_qp_counters,
	[PLX_IPC_QP_ADDRESS] = host_qp_address,
	[PLX_IPC_QP_LINGER] = host_qp_linger,
	[PLX_IPC_QP_EXPORT] = host_qp_export,
	[PLX_IPC_QP_LEND] = host_qp_lend,
	[PLX_IPC_QP_IMPORT] = host_qp_import,
	[PLX_IPC_AH_CREATE] = host_ah_create,
	[PLX_IPC_CHANNEL_CREATE] = host_channel_create,
	[PLX_IPC_CHANNEL_REFUSE] = host_channel_refuse,
	[PLX_IPC_LISTEN] = host_listen,
	[PLX_IPC_CONNECTOR_CREATE] = host_connector_create,
	[PLX_IPC_CONNECTOR_ADOPT] = host_connector_adopt,
	[PLX_IPC_CONNECT] = host_connect,
	[PLX_IPC_SIDR_REQUEST] = host_sidr_request,
	[PLX_IPC_ESTABLISH] = host_establish,
	[PLX_IPC_ACCEPT] = host_accept,
	[PLX_IPC_REJECT] = host_reject,
	[PLX_IPC_DISCONNECT] = host_disconnect,
};

enum plx_status
plx_host_call(struct host_seat *seat, enum plx_ipc_op op, const void *request, void *reply,
	      struct plx_why *why)
{
	enum plx_status status;

	if ((unsigned)op >= PLX_IPC_OP_COUNT || serve[op] == NULL) {
		plx_why_set(why, "operation %u is none of this host's", (unsigned)op);
		return PLX_INVALID;
	}
	if (!seat->foreign)
		return serve[op](seat, request, reply, why);
	pthread_mutex_lock(&seat->served);
	status = serve[op](seat, request, reply, why);
	pthread_mutex_unlock(&seat->served);
	return status;
}
