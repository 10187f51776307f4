/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What our own programs that link this room use in addition to ND2's interfaces. Clients use
 * ndspi.h and never see this header; the library exports none of it.
 */
#ifndef PLX_ND2_H
#define PLX_ND2_H

#include <ndspi.h>

#include "plx_verbs.h"

/** Call plx_adapter_query() for the adapter behind an ND2 adapter. @param face an adapter of this
 * room */
void plx_nd2_adapter_info(IND2Adapter *face, struct plx_adapter_info *out);

/** The adapter behind an ND2 adapter, for using plx_verbs.h beside ND2. Do not close it; it lives
 * as long as `face`. ND2 consumes its events (plx_adapter_next_async_event()). */
struct plx_adapter *plx_nd2_adapter_verbs(IND2Adapter *face);

#endif
