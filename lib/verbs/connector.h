/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The structs of channels, listeners and connectors, and functions that their files share.
 * It owns no state. Start with struct plx_connector.
 */
#ifndef PLX_VERBS_CONNECTOR_H
#define PLX_VERBS_CONNECTOR_H

#include "objects.h"

struct plx_event_channel {
	struct plx_adapter *adapter;
	struct plx_engine_eq *engine_eq;
};

struct plx_listener {
	struct plx_event_channel *channel;
	struct plx_engine_listener *engine_listener;
	uint64_t cookie, context;
};

struct plx_connector {
	struct plx_event_channel *channel;
	struct plx_engine_connector *engine_connector;
	uint64_t cookie, context;
	struct plx_connector_info info; /* protected by the adapter's lock; local.version 0: idle */
};

/* connector.c: create the connector of a request. NULL: the peer has given up, or there is no
 * memory */
struct plx_connector *connector_adopt(struct plx_event_channel *channel,
				      const struct plx_engine_connector_event *event,
				      const struct plx_connector_info *info);

#endif
