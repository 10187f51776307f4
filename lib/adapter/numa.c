/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether the parts of an adapter are on one NUMA node: its port, its packets, and the cores of its
 * workers. It moves nothing. There is one function.
 */
#include <numa.h>
#include <stdio.h>

#include <rte_mempool.h>

#include "adapter.h"

/* The node of the first worker's core that is not on `node`; -1: there is none. */
static int
other_node(const struct host_adapter *adapter, int node, int *core)
{
	int first = adapter->options.core;

	if (first < 0 || adapter->inline_mode || numa_available() < 0)
		return -1;
	for (*core = first; *core < first + (int)adapter->engines; ++*core) {
		int its = numa_node_of_cpu(*core);

		if (its >= 0 && its != node)
			return its;
	}
	return -1;
}

void
adapter_check_numa(const struct host_adapter *adapter)
{
	int port = plx_ethdev_queue(adapter->dev, 0)->caps.socket;
	int packets = adapter->pool->socket_id, core = -1, cores;
	int node = port >= 0 ? port : packets;
	char line[160];
	size_t used;

	if (node < 0)
		return;
	cores = other_node(adapter, node, &core);
	if (cores < 0 && (packets < 0 || packets == node))
		return;
	used = (size_t)snprintf(line, sizeof(line), "the %s on NUMA node %d",
				port >= 0 ? "port is" : "packet buffers are", node);
	if (packets >= 0 && packets != node)
		used += (size_t)snprintf(line + used, sizeof(line) - used,
					 ", its packet buffers are on node %d", packets);
	if (cores >= 0)
		used += (size_t)snprintf(line + used, sizeof(line) - used,
					 ", core %d of a worker is on node %d", core, cores);
	plx_log_line("%s: %s", adapter->info.name, line);
}
