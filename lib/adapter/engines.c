/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engines of an adapter, one for each pair of queues of its port, and their threads.
 * It never decides what an engine does. Start with adapter_make_engines().
 */
#include <stdlib.h>

#include <rte_rcu_qsbr.h>

#include "adapter.h"
#include "plx_engine_group.h"

enum {
	HANDOFFS_OF_POOL = 4, /* an engine that does not run holds at most 1/4 of the packets */
};

static enum plx_status
make_rcu(struct host_adapter *adapter, struct plx_why *why)
{
	void *memory;

	if (adapter->inline_mode)
		return PLX_OK;
	if (posix_memalign(&memory, RTE_CACHE_LINE_SIZE,
			   rte_rcu_qsbr_get_memsize(PLX_ENGINES_MAX))) {
		plx_why_set(why, "there is no memory for the engines' quiescent states");
		return PLX_NO_MEMORY;
	}
	adapter->rcu = memory;
	rte_rcu_qsbr_init(adapter->rcu, PLX_ENGINES_MAX);
	return PLX_OK;
}

static enum plx_status
make_group(struct host_adapter *adapter, struct plx_why *why)
{
	uint32_t depth = adapter->options.packets / (HANDOFFS_OF_POOL * adapter->engines);
	const struct plx_engine_group_config config = {
		.engines = adapter->engines,
		.handoff_depth = depth < PLX_HANDOFF_DEPTH ? depth : PLX_HANDOFF_DEPTH,
		.socket = plx_ethdev_queue(adapter->dev, 0)->caps.socket,
	};

	if (adapter->engines == 1 || plx_engine_group_create(&config, &adapter->group) == PLX_OK)
		return PLX_OK;
	plx_why_set(why, "there is no memory for the rings between %u engines", adapter->engines);
	return PLX_NO_MEMORY;
}

static enum plx_status
make_engine(struct host_adapter *adapter, uint32_t i, struct plx_why *why)
{
	struct plx_engine_config config = {
		.port = plx_ethdev_queue(adapter->dev, (uint16_t)i),
		.mem = adapter->mem,
		.net = adapter->net[0],
		.link = &plx_link,
		.cm = i == 0 ? adapter->cm : NULL,
		.pool = adapter->pool,
		.rcu = adapter->rcu,
		.index = i,
		.engines = adapter->engines,
		.group = adapter->group,
		.qps = adapter->options.qps,
		.inline_mode = adapter->inline_mode,
		.line_rate = adapter->options.rate_mbps * UINT64_C(1000000),
		.secret = adapter->secret,
	};
	enum plx_status status = plx_engine_create(&config, &adapter->engine[i], why);

	plx_secret_wipe(&config.secret, sizeof(config.secret));
	return status;
}

enum plx_status
adapter_make_engines(struct host_adapter *adapter, struct plx_why *why)
{
	enum plx_status status = make_rcu(adapter, why);

	if (status == PLX_OK)
		status = make_group(adapter, why);
	for (uint32_t i = 0; i < adapter->engines && status == PLX_OK; i++)
		status = make_engine(adapter, i, why);
	if (status == PLX_OK && !adapter->inline_mode)
		status = worker_get(adapter, why);
	return status;
}

void
adapter_unmake_engines(struct host_adapter *adapter)
{
	worker_put(adapter);
	for (uint32_t i = 0; i < adapter->engines; i++)
		if (adapter->engine[i])
			plx_engine_destroy(adapter->engine[i]);
	if (adapter->group)
		plx_engine_group_destroy(adapter->group);
	free(adapter->rcu);
}
