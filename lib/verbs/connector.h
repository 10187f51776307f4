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

/* The program's half of one that the host has not made yet. NULL: out of memory */
struct plx_connector *connector_alloc(struct plx_event_channel *channel);
/* ... and of one that it has no more. */
void connector_free(struct plx_connector *connector);
/* Create a connector: an idle one, or that of a request.
 * @param requested NULL: an idle one
 * Errors:  NO_MEMORY; STATE (the peer has given up), TIMEOUT */
enum plx_status connector_make(struct plx_event_channel *channel,
			       const struct plx_cm_event *requested,
			       struct plx_connector **connector);

#endif
