/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an event channel carries from the engine to a program.
 */
#ifndef PLX_LINK_EVENT_H
#define PLX_LINK_EVENT_H

#include "plx_cm.h"

/* An event and the cookie of its connector; for REQUESTED the listener's. */
struct plx_link_event {
	uint64_t cookie;
	struct plx_cm_event cm;
};

#endif
