/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A link with both ends attached and open, for the tests of the embedded link. Start with
 * cable_open().
 */
#ifndef CABLE_H
#define CABLE_H

#include "device.h"
#include "plx_net_wire.h"

struct cable {
	uint32_t queues;     /* pairs of each end; 0: 1 */
	char device[2][128]; /* in the format of plx_net_wire_attach() */
	struct plx_ethdev *dev[2];
	struct plx_port *port[2]; /* of queue 0 */
};

/** Attach and open link `number`; the faults are those of what end 1 receives.
 * @param faults "" or ",loss=0.1" */
void cable_open(struct cable *cable, int number, const char *faults, struct rte_mempool *pool);

/** Close and detach the ends, first `first`. */
void cable_close(struct cable *cable, int first);

/** The counters of end 1. */
struct plx_net_wire_counters cable_counters(const struct cable *cable);

/** Attach and open one end; asserts that it works. */
void cable_open_end(struct cable *cable, int number, int end, const char *faults,
		    struct rte_mempool *pool);

void cable_close_end(struct cable *cable, int end);

#endif
