/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Adapters as their hosts use them: open, close, query, poll.
 * It creates nothing itself: options.c checks the options, setup.c creates the parts.
 * Start with plx_host_adapter_open().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"
#include "plx_settings.h"

static enum plx_status
read_options(const char *name, const struct plx_adapter_options *given,
	     struct plx_adapter_options *options, struct plx_why *why)
{
	enum plx_status status;

	if (!adapter_name_is_right(name)) {
		plx_why_set(why,
			    "adapter name \"%.40s\" is not 1 to %d letters, digits, dots, dashes "
			    "and underscores",
			    name, PLX_ADAPTER_NAME_MAX);
		return PLX_INVALID;
	}
	*options = *given;
	status = adapter_options_check(options, NULL, why);
	if (status == PLX_OK)
		adapter_options_set_defaults(options);
	return status;
}

static void
fill_info(struct host_adapter *adapter)
{
	const struct plx_port_caps *caps = &plx_ethdev_queue(adapter->dev, 0)->caps;
	struct plx_adapter_info *info = &adapter->info;

	snprintf(info->device, sizeof(info->device), "%s", caps->name);
	memcpy(info->mac, caps->mac, sizeof(info->mac));
	info->socket = caps->socket;
	info->tx_lost_on_exit = caps->tx_lost_on_exit;
	info->path_mtu = adapter->path_mtu;
	info->vlan = adapter->options.vlan;
	info->hugepages = eal_has_hugepages();
	info->engines = adapter->engines;
	info->mode = adapter->options.mode;
	info->idle = adapter->options.idle;
	info->addresses = adapter->options.addresses;
	for (uint32_t i = 0; i < info->addresses; i++)
		info->address[i] = adapter->options.address[i].ip;
	info->qps = adapter->options.qps;
	info->keys = adapter->options.keys;
	info->cq_depth = PLX_CQ_DEPTH_MAX;
	info->queue_depth = adapter->options.queue_depth;
	info->srq_depth = adapter->options.queue_depth;
	info->sges = PLX_SGE_MAX;
	info->inline_bytes = PLX_INLINE_MAX;
	info->rd_atomic_max = PLX_RD_ATOMIC_MAX;
	info->message_max = PLX_MESSAGE_MAX;
	info->udp_port = PLX_ROCE_PORT;
	info->interface_index = adapter->options.interface_index;
	info->dispatcher_core = adapter->options.dispatcher_core;
}

/* Append DPDK's own message about a device that does not open, if there is room. */
static void
add_journal(struct plx_why *why)
{
	size_t used;
	char line[160];

	if (!why)
		return;
	eal_journal_read(line, sizeof(line));
	used = strlen(why->text);
	if (*line && used + strlen(line) + sizeof(" (DPDK: )") < sizeof(why->text))
		snprintf(why->text + used, sizeof(why->text) - used, " (DPDK: %s)", line);
}

static enum plx_status
make(struct host_adapter *adapter, struct plx_why *why)
{
	enum plx_status status = eal_ensure(device_is_pci(adapter->options.device), why);

	if (status != PLX_OK)
		return status;
	eal_journal_open();
	status = adapter_setup(adapter, why);
	if (status != PLX_OK) {
		if (status == PLX_NO_DEVICE)
			add_journal(why);
		adapter_teardown(adapter);
		return status;
	}
	fill_info(adapter);
	return PLX_OK;
}

enum plx_status
plx_host_adapter_open(const char *name, const struct plx_adapter_options *options,
		      struct host_adapter **out, struct plx_why *why)
{
	struct host_adapter *adapter = calloc(1, sizeof(*adapter));
	enum plx_status status;

	if (!adapter) {
		plx_why_set(why, "there is no memory for an adapter");
		return PLX_NO_MEMORY;
	}
	status = read_options(name, options, &adapter->options, why);
	if (status != PLX_OK) {
		free(adapter);
		return status;
	}
	pthread_mutex_init(&adapter->lock, NULL);
	plx_list_init(&adapter->qps);
	snprintf(adapter->info.name, sizeof(adapter->info.name), "%s", name);
	status = registry_reserve(adapter);
	if (status == PLX_BUSY)
		plx_why_set(why, "adapter \"%s\" is open already; close it, or choose a name",
			    name);
	else if (status == PLX_FULL)
		plx_why_set(why, "%d adapters are open; that is all a process can have",
			    PLX_ADAPTERS_MAX);
	if (status == PLX_OK) {
		status = make(adapter, why);
		if (status == PLX_OK) {
			registry_publish(adapter);
			*out = adapter;
			return PLX_OK;
		}
		registry_remove(adapter);
	}
	pthread_mutex_destroy(&adapter->lock);
	free(adapter);
	return status;
}

enum plx_status
plx_host_adapter_close(struct host_adapter *adapter)
{
	const struct plx_object_counts *count = &adapter->count;
	bool used;

	pthread_mutex_lock(&adapter->lock);
	used = count->pds || count->mrs || count->mws || count->cqs || count->srqs || count->qps ||
	       count->event_channels || count->listeners || count->connectors;
	pthread_mutex_unlock(&adapter->lock);
	if (used)
		return PLX_BUSY;
	registry_hide(adapter);
	adapter_teardown(adapter);
	/* only now may another adapter use the name, and with it the device */
	registry_remove(adapter);
	pthread_mutex_destroy(&adapter->lock);
	free(adapter);
	return PLX_OK;
}

void
plx_host_adapter_query(const struct host_adapter *adapter, struct plx_adapter_info *out)
{
	*out = adapter->info;
	out->link_up = plx_ethdev_link(adapter->dev);
}

uint32_t
plx_host_adapter_run(struct host_adapter *adapter, uint32_t engine)
{
	uint32_t done = 0;

	if (!adapter->inline_mode)
		return 0;
	if (engine != 0)
		return plx_engine_poll(adapter->engine[engine - 1], plx_clock_ns());
	for (uint32_t i = 0; i < adapter->engines; i++)
		done += plx_engine_poll(adapter->engine[i], plx_clock_ns());
	return done;
}
