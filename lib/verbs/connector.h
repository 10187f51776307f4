/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of channels, listeners and connectors share. It owns no state.
 */
#ifndef PLX_VERBS_CONNECTOR_H
#define PLX_VERBS_CONNECTOR_H

#include "plx_objects.h"

static inline struct plx_adapter *
adapter_of_connector(const struct plx_connector *connector)
{
	return connector->channel->adapter;
}

/* Create a connector: an idle one, or that of a request.
 * @param requested NULL: an idle one
 * Errors:  NO_MEMORY; STATE (the peer has given up), TIMEOUT */
enum plx_status connector_make(struct plx_event_channel *channel,
			       const struct plx_cm_event *requested,
			       struct plx_connector **connector);

#endif
