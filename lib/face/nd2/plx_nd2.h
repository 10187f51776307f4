/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What programs of ours that link this room ask of it beside ND2's own interfaces. Clients never
 * see it: they have ndspi.h, and the library exports nothing of this.
 */
#ifndef PLX_ND2_H
#define PLX_ND2_H

#include <ndspi.h>

#include "plx_verbs.h"

/** What plx_adapter_query() says of the adapter below one of ND2's. @param face one of this room's
 */
void plx_nd2_adapter_info(IND2Adapter *face, struct plx_adapter_info *out);

/** The adapter below one of ND2's, for objects of plx_verbs.h beside those of ND2. It is not
 * closed, and lives as long as `face`. Its events (plx_adapter_next_async_event()) are ND2's. */
struct plx_adapter *plx_nd2_adapter_verbs(IND2Adapter *face);

#endif
