/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attaches and opens both ends of an embedded link. Start with cable_open().
 */
#include "cable.h"

#include <stdio.h>

void
cable_open_end(struct cable *cable, int number, int end, const char *faults,
	       struct rte_mempool *pool)
{
	uint32_t queues = cable->queues ? cable->queues : 1;
	struct plx_ethdev_config config;
	struct plx_why why = {""};
	char name[64];

	snprintf(cable->device[end], sizeof(cable->device[end]), "net_wire%d,end=%d%s", number, end,
		 faults);
	if (plx_net_wire_attach(cable->device[end], queues, name, &why) != PLX_OK)
		fail_msg("%s", why.text);
	config = device_config(name, pool, 4200, 0);
	config.queues = (uint16_t)queues;
	cable->dev[end] = device_open(config);
	cable->port[end] = plx_ethdev_queue(cable->dev[end], 0);
}

void
cable_open(struct cable *cable, int number, const char *faults, struct rte_mempool *pool)
{
	cable_open_end(cable, number, 0, "", pool);
	cable_open_end(cable, number, 1, faults, pool);
}

void
cable_close_end(struct cable *cable, int end)
{
	plx_ethdev_close(cable->dev[end]);
	plx_net_wire_detach(cable->device[end]);
}

void
cable_close(struct cable *cable, int first)
{
	cable_close_end(cable, first);
	cable_close_end(cable, !first);
}

struct plx_net_wire_counters
cable_counters(const struct cable *cable)
{
	struct plx_net_wire_counters counters;

	assert_true(plx_net_wire_counters(cable->device[1], &counters));
	return counters;
}
