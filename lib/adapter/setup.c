/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of an adapter, in the order of their creation: pool, device, key table, neighbours,
 * engines, worker; and their destruction, from any point.
 * It never reads the configuration and keeps no adapter. Start with adapter_setup().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "adapter.h"
#include "plx_settings.h"

enum {
	NEIGHBOURS = 1024,
	ANNOUNCE = 2, /* number of announcements of the addresses: RFC 5227, 1.1 */
	DESCRIPTORS_MAX = 1024,
	SEGMENTS_OF_POOL =
		4, /* descriptor rings of a kind never hold more than 1/4 of the packets */
	MTU_MIN = 256,
	MTU_NEXT = 2048,
};

/* The longest frame of a path MTU: headers, their largest extensions, payload, ICRC. The payload of
 * a full packet needs no pad. */
static uint32_t
frame_of(uint32_t path_mtu)
{
	return PLX_FRAME_HEADER_MAX + PLX_PKT_HEADER_MAX + path_mtu + PLX_ICRC_BYTES;
}

/* Only one thread at a time may change or search DPDK's tables of devices. A memif client that
 * waits for its server blocks other threads meanwhile. */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the device ---- */

/* The NUMA node of the device, if it exists already. */
static int
socket_of(const char *device)
{
	int socket = SOCKET_ID_ANY;
	uint16_t port_id;

	pthread_mutex_lock(&devices_lock);
	if (rte_eth_dev_get_port_by_name(device, &port_id) == 0)
		socket = rte_eth_dev_socket_id(port_id);
	pthread_mutex_unlock(&devices_lock);
	return socket;
}

static void
addresses_of(const struct plx_adapter_options *options, struct plx_net_address *out)
{
	for (uint32_t i = 0; i < options->addresses; i++)
		out[i] = (struct plx_net_address){.ip = options->address[i].ip,
						  .prefix_bits = options->address[i].prefix_bits};
}

static uint32_t
groups_of(const struct plx_adapter_options *options, uint8_t *groups)
{
	struct plx_net_address list[PLX_ADAPTER_ADDRESSES_MAX];

	addresses_of(options, list);
	return plx_net_groups(list, options->addresses, groups);
}

static enum plx_status
open_device(struct host_adapter *adapter, const char *device, uint32_t frame_want,
	    struct plx_why *why)
{
	uint32_t descriptors =
		adapter->options.packets / (SEGMENTS_OF_POOL * adapter->options.engines);
	uint8_t groups[6 * PLX_NET_GROUPS_MAX];
	const struct plx_ethdev_config config = {
		.device = device,
		.pool = adapter->pool,
		.frame_want = frame_want,
		.groups = groups,
		.group_count = groups_of(&adapter->options, groups),
		.queues = (uint16_t)adapter->engines,
		.rx_descriptors = descriptors < DESCRIPTORS_MAX ? (uint16_t)descriptors : 0,
		.tx_descriptors = descriptors < DESCRIPTORS_MAX ? (uint16_t)descriptors : 0,
		.wakes = adapter->options.idle == PLX_IDLE_ADAPTIVE && !adapter->inline_mode,
		.start_timeout_ms = adapter->options.start_timeout_ms,
	};

	return plx_ethdev_open(&config, &adapter->dev, why);
}

/* Without a path MTU in the options, the device is set up for the largest frames that it supports.
 * That it does not support larger ones is then not an error, and not reported. */
static enum plx_status
open_widest(struct host_adapter *adapter, const char *device, struct plx_why *why)
{
	static const uint32_t mtus[] = {PLX_MTU_MAX, MTU_NEXT};

	for (uint32_t i = 0; i < PLX_COUNT_OF(mtus); i++) {
		struct plx_why unsaid = {""};
		enum plx_status status = open_device(adapter, device, frame_of(mtus[i]), &unsaid);

		if (status == PLX_TOO_LONG)
			continue;
		if (status != PLX_OK)
			plx_why_set(why, "%s", unsaid.text);
		return status;
	}
	return open_device(adapter, device, 0, why);
}

static enum plx_status
choose_path_mtu(struct host_adapter *adapter, const struct plx_port_caps *caps, struct plx_why *why)
{
	uint32_t mtu = adapter->options.path_mtu ? adapter->options.path_mtu : PLX_MTU_MAX;

	while (!adapter->options.path_mtu && mtu > MTU_MIN && frame_of(mtu) > caps->frame_max)
		mtu /= 2;
	if (frame_of(mtu) > caps->frame_max) {
		plx_why_set(why,
			    "path_mtu = %u needs frames of %u bytes, and device \"%.60s\" carries "
			    "%u; choose a smaller one, or a device (or its MTU) that carries them",
			    mtu, frame_of(mtu), caps->name, caps->frame_max);
		return PLX_TOO_LONG;
	}
	adapter->path_mtu = mtu;
	return PLX_OK;
}

/* A physical device cannot access memory that is not mapped for it. */
static bool
is_physical(const struct host_adapter *adapter)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(plx_ethdev_port_id(adapter->dev), &info) || !info.device)
		return false;
	return strcmp(rte_bus_name(rte_dev_bus(info.device)), "pci") == 0;
}

static enum plx_status
make_device_alone(struct host_adapter *adapter, struct plx_why *why)
{
	const char *device = adapter->options.device;
	char attached[64];
	enum plx_status status;

	if (plx_net_wire_is(device)) {
		status = plx_net_wire_attach(device, adapter->engines, attached, why);
		if (status != PLX_OK)
			return status;
		adapter->wire_attached = true;
		device = attached;
	}
	if (adapter->options.path_mtu)
		status = open_device(adapter, device, frame_of(adapter->options.path_mtu), why);
	else
		status = open_widest(adapter, device, why);
	if (status != PLX_OK)
		return status;
	adapter->needs_dma_map = is_physical(adapter);
	return choose_path_mtu(adapter, &plx_ethdev_queue(adapter->dev, 0)->caps, why);
}

static enum plx_status
make_device(struct host_adapter *adapter, struct plx_why *why)
{
	enum plx_status status;

	pthread_mutex_lock(&devices_lock);
	status = make_device_alone(adapter, why);
	pthread_mutex_unlock(&devices_lock);
	return status;
}

static void
unmake_device(struct host_adapter *adapter)
{
	pthread_mutex_lock(&devices_lock);
	if (adapter->dev)
		plx_ethdev_close(adapter->dev);
	if (adapter->wire_attached)
		plx_net_wire_detach(adapter->options.device);
	pthread_mutex_unlock(&devices_lock);
}

/* ---- keys, neighbours, connections ---- */

static enum plx_status
random_bytes(void *out, size_t n, struct plx_why *why)
{
	/* requests of up to 256 bytes are never truncated */
	if (getrandom(out, n, 0) == (ssize_t)n)
		return PLX_OK;
	plx_why_set(why, "the system gives no random bytes: %s", strerror(errno));
	return PLX_NO_MEMORY;
}

static enum plx_status
no_memory(const char *what, struct plx_why *why)
{
	plx_why_set(why, "there is no memory for %s", what);
	return PLX_NO_MEMORY;
}

static enum plx_status
make_keys(struct host_adapter *adapter, struct plx_why *why)
{
	const struct plx_mem_limits limits = {.slots = adapter->options.keys,
					      .domains = PLX_MEM_DOMAINS_MAX};
	struct plx_secret secret = plx_secret_for(&adapter->secret, PLX_SECRET_MEM, 0);

	adapter->mem_bytes = plx_mem_bytes(&limits);
	adapter->mem_memory = plx_guarded_alloc(adapter->mem_bytes);
	if (!adapter->mem_memory)
		return no_memory("the key table; set keys lower", why);
	adapter->mem = plx_mem_init(adapter->mem_memory, &limits, &secret);
	plx_secret_wipe(&secret, sizeof(secret));
	return PLX_OK;
}

/* Set the addresses, routes and frame sizes of the adapter. */
static void
configure_net(const struct host_adapter *adapter, struct plx_net_config *config)
{
	const struct plx_port_caps *caps = &plx_ethdev_queue(adapter->dev, 0)->caps;
	const struct plx_adapter_options *options = &adapter->options;
	uint32_t room = ADAPTER_PACKET_ROOM - RTE_PKTMBUF_HEADROOM;

	memcpy(config->mac, caps->mac, sizeof(config->mac));
	config->vlan = (uint16_t)options->vlan;
	config->neighbours = NEIGHBOURS;
	config->announce = ANNOUNCE;
	config->frame_max = RTE_MIN(caps->frame_max, RTE_MIN(room, (uint32_t)PLX_NET_FRAME_MAX));
	config->addresses = options->addresses;
	addresses_of(options, config->address);
	config->routes = options->routes;
	for (uint32_t r = 0; r < config->routes; r++)
		config->route[r] =
			(struct plx_net_route){.net = options->route[r].net,
					       .prefix_bits = options->route[r].prefix_bits,
					       .via = options->route[r].via};
}

static enum plx_status
make_net(struct host_adapter *adapter, struct plx_why *why)
{
	struct plx_net_config *config = &adapter->net_config;
	void *memory;
	size_t bytes;

	configure_net(adapter, config);
	bytes = plx_net_bytes(config);
	if (bytes == 0) {
		plx_why_set(why, "an address or a gateway is not one a port can have, or the "
				 "device's Ethernet address is a multicast one");
		return PLX_INVALID;
	}
	memory = plx_guarded_alloc(bytes);
	if (!memory)
		return no_memory("the table of neighbours", why);
	config->secret = plx_secret_for(&adapter->secret, PLX_SECRET_NET, 0);
	adapter->net_bytes = bytes;
	adapter->net[0] = plx_net_init(memory, config);
	plx_secret_wipe(&config->secret, sizeof(config->secret));
	return PLX_OK;
}

/* Half of the connections may be requests that are not accepted yet, so that a flood leaves the
 * other half. */
static enum plx_status
make_cm(struct host_adapter *adapter, struct plx_why *why)
{
	const uint8_t *mac = adapter->net_config.mac;
	struct plx_cm_config config = {.connections = adapter->options.connections,
				       .half_open = (adapter->options.connections + 1) / 2,
				       .per_peer = adapter->options.connections_per_peer,
				       .path_mtu = adapter->path_mtu};

	/* EUI-64 of the port, formed as by RNICs */
	config.ca_guid = (uint64_t)(mac[0] ^ 2) << 56 | (uint64_t)mac[1] << 48 |
			 (uint64_t)mac[2] << 40 | UINT64_C(0xfffe) << 24 | (uint64_t)mac[3] << 16 |
			 (uint64_t)mac[4] << 8 | mac[5];
	adapter->cm_bytes = plx_cm_bytes(&config);
	adapter->cm_memory = plx_guarded_alloc(adapter->cm_bytes);
	if (!adapter->cm_memory)
		return no_memory("the table of connections; set connections lower", why);
	config.secret = plx_secret_for(&adapter->secret, PLX_SECRET_CM, 0);
	adapter->cm = plx_cm_init(adapter->cm_memory, &config);
	plx_secret_wipe(&config.secret, sizeof(config.secret));
	return PLX_OK;
}

/* ---- setup and teardown ---- */

enum plx_status
adapter_setup(struct host_adapter *adapter, struct plx_why *why)
{
	enum plx_status status;

	adapter->engines = adapter->options.engines;
	adapter->inline_mode = adapter->options.mode == PLX_MODE_INLINE;
	status = random_bytes(&adapter->secret, sizeof(adapter->secret), why);
	if (status == PLX_OK)
		status = adapter_make_pool(adapter, socket_of(adapter->options.device), why);
	if (status == PLX_OK)
		status = make_device(adapter, why);
	if (status == PLX_OK)
		status = make_keys(adapter, why);
	if (status == PLX_OK)
		status = make_net(adapter, why);
	if (status == PLX_OK)
		status = make_cm(adapter, why);
	if (status == PLX_OK)
		status = adapter_make_engines(adapter, why);
	/* Everything derived from it has been computed. */
	plx_secret_wipe(&adapter->secret, sizeof(adapter->secret));
	if (status == PLX_OK)
		adapter_check_numa(adapter);
	if (status == PLX_OK && adapter->inline_mode)
		(void)plx_lcore_assign(); /* on failure it works without caches */
	return status;
}

void
adapter_teardown(struct host_adapter *adapter)
{
	adapter_unmake_engines(adapter);
	plx_guarded_free(adapter->net[0], adapter->net_bytes);
	plx_guarded_free(adapter->cm_memory, adapter->cm_bytes);
	plx_guarded_free(adapter->mem_memory, adapter->mem_bytes);
	unmake_device(adapter);
	adapter_release_pool(adapter->pool);
}
