/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of channels, listeners and connectors share. It owns no state. The structs are in
 * plx_link.h.
 */
#ifndef PLX_VERBS_CONNECTOR_H
#define PLX_VERBS_CONNECTOR_H

#include "objects.h"

static inline struct plx_adapter *
adapter_of_connector(const struct plx_connector *connector)
{
	return plx_link_channel_adapter(connector->channel);
}

/* Create a connector: an idle one, or that of a request.
 * @param requested NULL: an idle one
 * Errors:  NO_MEMORY; STATE (the peer has given up), TIMEOUT */
enum plx_status connector_make(struct plx_event_channel *channel,
			       const struct plx_cm_event *requested,
			       struct plx_connector **connector);

#endif
