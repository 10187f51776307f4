/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engines of one adapter: one for each pair of RX and TX queues of its port. A port spreads
 * packets over its queues by addresses and UDP ports, and so does not know whose they are: an
 * engine hands over what belongs to another one (decision 42). Start with
 * plx_engine_group_create().
 */
#ifndef PLX_ENGINE_GROUP_H
#define PLX_ENGINE_GROUP_H

#include "plx_base.h"

struct plx_engine_group;

enum {
	/* packets on their way from one engine to another: as many as an RX ring has */
	PLX_HANDOFF_DEPTH = 1024,
};

struct plx_engine_group_config {
	uint32_t engines;       /* 2 .. PLX_ENGINES_MAX */
	uint32_t handoff_depth; /* 1 .. PLX_HANDOFF_DEPTH */
	int socket;             /* NUMA node; -1: any */
};

/**
 * Create a group without engines; plx_engine_create() adds them, each with its index.
 * Threads: any
 * Errors:  INVALID, NO_MEMORY
 * Tests:   tests/unit/engine/cycle/handoff.c
 */
enum plx_status plx_engine_group_create(const struct plx_engine_group_config *config,
					struct plx_engine_group **group) PLX_MUST_CHECK;

/**
 * Destroy a group and the packets between its engines. No thread polls one of them any more, and
 * they are destroyed.
 */
void plx_engine_group_destroy(struct plx_engine_group *group);

#endif
