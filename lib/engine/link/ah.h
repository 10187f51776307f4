/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the duty cycle calls of address handles: these are the members of struct plx_link_ops of
 * similar names. It owns no code. Start with ah_resolve().
 */
#ifndef PLX_ENGINE_AH_H
#define PLX_ENGINE_AH_H

#include "plx_link.h"
#include "plx_engine_ud.h"

enum plx_status ah_table_ensure(struct plx_engine *engine);
bool ah_resolve(struct engine_ah *ah);
void ah_enqueue(struct engine_ah *ah, struct rte_mbuf *m);
void ah_table_resolve(struct plx_engine *engine);
void ah_table_reap(struct plx_engine *engine);
/* Also drops the queued datagrams. */
void ah_table_free(struct plx_engine *engine);

#endif
