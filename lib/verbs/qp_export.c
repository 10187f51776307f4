/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs that outlive their program at a host, which does the work: they change hands
 * (lib/host/export.c), or are finished (lib/host/linger.c). Start with plx_qp_export().
 */
#include <stdlib.h>

#include "connector.h"

/* Both are asked for alike. */
static enum plx_status
ask_for_token(enum plx_ipc_op op, struct plx_qp *qp, struct plx_connector *connector, uint32_t seat,
	      struct plx_qp_token *token, struct plx_why *why)
{
	struct plx_adapter *adapter = adapter_of(qp);
	struct plx_ipc_qp_export request = {.qp = {qp->object}, .seat = seat};
	struct plx_ipc_qp_exported reply;
	enum plx_status status;

	if (connector != NULL && connector->channel->adapter != adapter) {
		plx_why_set(why, "the connector is none of adapter %s", adapter->name);
		return PLX_INVALID;
	}
	if (connector != NULL)
		request.connector = connector->object;
	status = adapter_call(adapter, op, &request, &reply, why);
	if (status == PLX_OK)
		*token = reply.token;
	return status;
}

enum plx_status
plx_qp_export(struct plx_qp *qp, struct plx_connector *connector, uint32_t seat,
	      struct plx_qp_token *token, struct plx_why *why)
{
	enum plx_status status = ask_for_token(PLX_IPC_QP_EXPORT, qp, connector, seat, token, why);

	if (status == PLX_OK && connector != NULL)
		connector_free(connector);
	return status;
}

enum plx_status
plx_qp_lend(struct plx_qp *qp, struct plx_connector *connector, uint32_t heir,
	    struct plx_qp_token *token, struct plx_why *why)
{
	return ask_for_token(PLX_IPC_QP_LEND, qp, connector, heir, token, why);
}

void
plx_qp_inherited(const struct plx_qp *qp, struct plx_qp_past *out)
{
	*out = qp->past;
}

enum plx_status
plx_qp_linger(struct plx_qp *qp, uint32_t ms, struct plx_why *why)
{
	const struct plx_ipc_qp_linger request = {.object = {qp->object}, .ms = ms};
	struct plx_ipc_nothing none;

	return adapter_call(adapter_of(qp), PLX_IPC_QP_LINGER, &request, &none, why);
}

/* Both halves that the program gets are there before the host gives anything away. */
static enum plx_status
import(struct plx_pd *pd, const struct plx_ipc_qp_import *request,
       const struct plx_qp_options *options, struct plx_qp *qp, struct plx_connector *connector,
       struct plx_why *why)
{
	struct plx_ipc_qp_imported reply;
	enum plx_status status = adapter_call(pd->adapter, PLX_IPC_QP_IMPORT, request, &reply, why);

	if (status != PLX_OK)
		return status;
	qp_open(qp, pd, options, &reply.qp);
	qp->past = reply.past;
	if (connector == NULL)
		return PLX_OK;
	pthread_mutex_lock(&pd->adapter->lock);
	connector->object = reply.connector;
	connector->info = reply.info;
	pthread_mutex_unlock(&pd->adapter->lock);
	return PLX_OK;
}

enum plx_status
plx_qp_import(struct plx_pd *pd, const struct plx_qp_token *token,
	      const struct plx_qp_options *options, struct plx_event_channel *channel,
	      struct plx_qp **out_qp, struct plx_connector **out_connector, struct plx_why *why)
{
	struct plx_ipc_qp_import request = {.token = *token, .heir = options->heir};
	struct plx_connector *connector = NULL;
	enum plx_status status = qp_check_queues(pd->adapter, options, why);
	struct plx_qp *qp;

	if (status != PLX_OK)
		return status;
	if (channel != NULL && channel->adapter != pd->adapter) {
		plx_why_set(why, "the channel is none of adapter %s", pd->adapter->name);
		return PLX_INVALID;
	}
	request.qp = qp_request_of(pd, options);
	qp = plx_object_alloc(sizeof(*qp));
	if (qp == NULL)
		return PLX_NO_MEMORY;
	if (channel != NULL) {
		connector = connector_alloc(channel);
		if (connector == NULL) {
			free(qp);
			return PLX_NO_MEMORY;
		}
		request.channel = channel->object;
		request.cookie = connector->cookie;
	}
	status = import(pd, &request, options, qp, connector, why);
	if (status != PLX_OK) {
		free(qp);
		if (connector != NULL)
			connector_free(connector);
		return status;
	}
	*out_qp = qp;
	*out_connector = connector;
	return PLX_OK;
}
