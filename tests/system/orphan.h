/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program whose host has gone: what each of its calls and waits must end with, how it gives up
 * what it has, and what the process has then. Start with orphan_calls_end().
 */
#ifndef PLX_TEST_ORPHAN_H
#define PLX_TEST_ORPHAN_H

#include <stdbool.h>

#include "program_steps.h"

/** Make every call and every wait that the program's objects allow: each ends, with PLX_GONE if it
 * has a status and needs the host. A wrong end is said on stderr, and ends the process. */
void orphan_calls_end(struct program *p);

/** Destroy what there is, and close the adapter: with or without a host, each must succeed. */
void orphan_close(struct program *p);

/* What a process has of the system's. */
struct orphan_holds {
	unsigned descriptors, shared_mappings;
};

struct orphan_holds orphan_count(void);
/** Returns: whether it is what it was; else the difference is said on stderr */
bool orphan_holds_no_more(const struct orphan_holds *before);

#endif
