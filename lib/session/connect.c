/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every interface above verbs does alike with listeners, and with the events of connections.
 * It keeps nothing between calls. Start with plx_session_listen().
 */
#include "internal.h"

enum {
	PATH_MTU_MIN = 256,
};

/* ---- listeners ---- */

enum plx_status
plx_session_listen(struct plx_session *session, uint32_t addresses, uint16_t port,
		   struct plx_session_subscriber *subscriber, struct plx_listener **listeners)
{
	struct plx_listen_options options = {.port = port, .context = (uintptr_t)subscriber};
	enum plx_status status = PLX_OK;
	struct plx_why why = {""};

	for (uint32_t i = 0; i < session->info.addresses && status == PLX_OK; i++) {
		if (!(addresses >> i & 1) || listeners[i])
			continue;
		options.local = session->info.address[i];
		status = plx_listen(session->channel, &options, &listeners[i], &why);
	}
	if (status != PLX_OK)
		session_log(session, "listen: %s", why.text);
	return status;
}

enum plx_status
plx_session_stop_listening(struct plx_listener **listeners)
{
	for (uint32_t i = 0; i < PLX_ADAPTER_ADDRESSES_MAX; i++) {
		if (listeners[i] && plx_listener_destroy(listeners[i]) == PLX_TIMEOUT)
			return PLX_TIMEOUT;
		listeners[i] = NULL;
	}
	return PLX_OK;
}

/* ---- events of connections ---- */

uint32_t
plx_session_private_bytes(const struct plx_connector_event *event, uint32_t most)
{
	for (uint32_t i = most; i < event->private_bytes; i++)
		if (event->private_data[i] != 0)
			return event->private_bytes;
	return event->private_bytes < most ? event->private_bytes : most;
}

bool
plx_session_connect_again(const struct plx_session *session, struct plx_connector *connector,
			  struct plx_qp *qp, struct plx_connect_options *options,
			  const struct plx_connector_event *event)
{
	uint32_t mtu = options->path_mtu ? options->path_mtu : session->info.path_mtu;
	struct plx_why why = {""};

	if (event->kind != PLX_CM_EVENT_REJECTED || event->reason != PLX_CM_REASON_PATH_MTU ||
	    mtu <= PATH_MTU_MIN)
		return false;
	options->path_mtu = mtu / 2;
	return plx_connect(connector, qp, options, &why) == PLX_OK;
}
