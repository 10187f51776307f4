/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening and closing a port: capabilities, configuration, queues, start. It owns no packet and
 * knows no PMD by name: device.c finds the port, quirks.c knows what the port does not report,
 * burst.c is the hot path. Start with plx_ethdev_open().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "burst.h"
#include "device.h"
#include "guard.h"
#include "plx_ethdev.h"
#include "quirks.h"

enum {
	DESCRIPTORS = 1024,
	FRAME_USUAL = 1514, /* [bytes] minimum frame size of every port */
	ETHERNET_FRAME_OVERHEAD = 18,
	START_PAUSE_US = 20000, /* between two attempts to start */
};

struct plx_ethdev {
	struct device device;
	const struct quirk *quirk;
	struct rte_eth_dev_info info;
	struct plx_ethdev_config config;
	struct plx_port_caps caps;
	uint16_t mtu; /* to configure; 0: none */
	bool scatter; /* a frame may come in several buffers */
	bool named;   /* its address is derived from its name, so it does not filter by address */
	bool interrupts;       /* asked for */
	bool touched, running; /* configured; started */
	struct queue queues[];
};

static enum plx_status
check_config(const struct plx_ethdev_config *config, struct plx_why *why)
{
	if (config->device == NULL || config->pool == NULL) {
		plx_why_set(why, "a port needs the name of a device and a pool for its packets");
		return PLX_INVALID;
	}
	if (config->group_count > PLX_ETHDEV_GROUPS_MAX) {
		plx_why_set(why, "device \"%.60s\": %u groups; it is at most %d", config->device,
			    config->group_count, PLX_ETHDEV_GROUPS_MAX);
		return PLX_INVALID;
	}
	if (config->queues == 0 || config->queues > RTE_MAX_QUEUES_PER_PORT) {
		plx_why_set(why, "device \"%.60s\": %u queues; it is 1 to %u", config->device,
			    config->queues, RTE_MAX_QUEUES_PER_PORT);
		return PLX_INVALID;
	}
	return PLX_OK;
}

/* Check the arguments against the limits of the device. */
static enum plx_status
check_numbers(const struct plx_ethdev *dev, struct plx_why *why)
{
	const struct plx_ethdev_config *config = &dev->config;
	const struct rte_eth_desc_lim *rx = &dev->info.rx_desc_lim;
	const struct rte_eth_desc_lim *tx = &dev->info.tx_desc_lim;
	uint16_t queues = RTE_MIN(dev->info.max_rx_queues, dev->info.max_tx_queues);

	if (dev->quirk->queues != 0)
		queues = RTE_MIN(queues, dev->quirk->queues);
	if (config->queues > queues) {
		plx_why_set(why,
			    "device \"%.60s\" has %u pairs of RX and TX queues, and %u engines "
			    "need one each; set engines lower",
			    dev->device.name, queues, config->queues);
		return PLX_INVALID;
	}
	if (config->rx_descriptors != 0 &&
	    (config->rx_descriptors < rx->nb_min || config->rx_descriptors > rx->nb_max)) {
		plx_why_set(why, "device \"%.60s\": %u RX descriptors; it takes %u to %u",
			    dev->device.name, config->rx_descriptors, rx->nb_min, rx->nb_max);
		return PLX_INVALID;
	}
	if (config->tx_descriptors != 0 &&
	    (config->tx_descriptors < tx->nb_min || config->tx_descriptors > tx->nb_max)) {
		plx_why_set(why, "device \"%.60s\": %u TX descriptors; it takes %u to %u",
			    dev->device.name, config->tx_descriptors, tx->nb_min, tx->nb_max);
		return PLX_INVALID;
	}
	return PLX_OK;
}

/* The limit that the device itself reports, as ethdev computes it. */
static struct frame_limit
asked_limit(const struct rte_eth_dev_info *info)
{
	uint32_t overhead = ETHERNET_FRAME_OVERHEAD;
	uint32_t mtu = info->max_mtu;

	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		overhead = info->max_rx_pktlen - info->max_mtu;
	if (info->max_rx_pktlen < mtu + overhead)
		mtu = info->max_rx_pktlen > overhead ? info->max_rx_pktlen - overhead : 0;
	return (struct frame_limit){RTE_MIN(mtu + ETHERNET_BYTES, (uint32_t)FRAME_MAX),
				    "choose a smaller path MTU"};
}

static uint32_t
room_of(const struct plx_ethdev_config *config)
{
	uint32_t room = rte_pktmbuf_data_room_size(config->pool);

	return room > RTE_PKTMBUF_HEADROOM ? room - RTE_PKTMBUF_HEADROOM : 0;
}

static enum plx_status
check_frame(const struct plx_ethdev_config *config, int name_bytes, struct frame_limit limit,
	    struct plx_why *why)
{
	if (config->frame_want <= limit.bytes)
		return PLX_OK;
	plx_why_set(why, "device \"%.*s\": a frame of %u bytes does not fit, %u do; %s", name_bytes,
		    config->device, config->frame_want, limit.bytes, limit.cure);
	return PLX_TOO_LONG;
}

/* Check the arguments alone, before a device is created that may be hard to remove. */
static enum plx_status
check_spec(const struct plx_ethdev_config *config, struct plx_why *why)
{
	const char *args = strchr(config->device, ',');
	const struct quirk *quirk = quirk_of_name(config->device);

	if (args == NULL || quirk->limit == NULL)
		return PLX_OK;
	return check_frame(config, (int)RTE_MIN(args - config->device, 60), quirk->limit(args + 1),
			   why);
}

static enum plx_status
set_frame_limit(struct plx_ethdev *dev, struct plx_why *why)
{
	uint32_t want = RTE_MAX(dev->config.frame_want, (uint32_t)FRAME_USUAL);
	uint32_t room = room_of(&dev->config);
	const char *args = device_arguments(dev->info.device);
	struct frame_limit limit =
		dev->quirk->limit ? dev->quirk->limit(args) : asked_limit(&dev->info);

	dev->scatter = dev->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	/* If both are too small, report the device's own limit. */
	if (room < limit.bytes && limit.bytes >= dev->config.frame_want && !dev->scatter)
		limit = (struct frame_limit){room, "give the pool larger buffers"};
	if (check_frame(&dev->config, 60, limit, why) != PLX_OK)
		return PLX_TOO_LONG;
	dev->caps.frame_max = RTE_MIN(limit.bytes, (uint32_t)FRAME_MAX);
	if (!dev->quirk->mtu_unset) {
		dev->caps.frame_max = RTE_MIN(want, limit.bytes);
		dev->mtu = (uint16_t)(dev->caps.frame_max - ETHERNET_BYTES);
	}
	dev->scatter = dev->scatter && room < dev->caps.frame_max;
	return PLX_OK;
}

/* A virtual device may have no address. Derive one from its name: locally administered, always the
 * same, and different for the two ends of a link. */
static void
address_from_name(const char *name, uint8_t mac[static 6])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	mac[0] = 0x02;
	for (int i = 1; i < 6; i++)
		mac[i] = (uint8_t)(hash >> 8 * i);
}

static void
set_caps(struct plx_ethdev *dev)
{
	struct plx_port_caps *caps = &dev->caps;
	struct rte_ether_addr mac = {{0}};

	snprintf(caps->name, sizeof(caps->name), "%s", dev->device.name);
	caps->socket = rte_eth_dev_socket_id(dev->device.port_id);
	caps->segments =
		dev->quirk->segments && dev->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	caps->tx_lost_on_exit = dev->quirk->tx_lost_on_exit;
	/* No device reports it; the devices that handle chains correctly were all checked. */
	caps->external = caps->segments;
	rte_eth_macaddr_get(dev->device.port_id, &mac);
	memcpy(caps->mac, mac.addr_bytes, sizeof(caps->mac));
	dev->named = rte_is_zero_ether_addr(&mac);
	if (dev->named)
		address_from_name(dev->device.name, caps->mac);
}

static enum plx_status
refused(const struct plx_ethdev *dev, const char *what, int error, struct plx_why *why)
{
	plx_why_set(why, "device \"%.60s\": %s is refused (%s); the EAL's log says more",
		    dev->device.name, what, strerror(-error));
	return PLX_NO_DEVICE;
}

static enum plx_status
configure(struct plx_ethdev *dev, struct plx_why *why)
{
	uint64_t rss = dev->info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP);
	struct rte_eth_conf conf = {0};
	int failed;

	conf.intr_conf.rxq = dev->interrupts;
	conf.rxmode.mtu = dev->mtu;
	conf.rxmode.offloads = dev->info.rx_offload_capa &
			       (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM);
	if (dev->scatter)
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads = dev->caps.segments ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : 0;
	if (dev->config.queues > 1 && rss != 0) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = rss;
	}
	failed = rte_eth_dev_configure(dev->device.port_id, dev->config.queues, dev->config.queues,
				       &conf);
	dev->touched = !failed;
	if (failed == -EBUSY) {
		plx_why_set(why,
			    "device \"%.60s\" is running, another part of this program uses it; "
			    "stop it there or name another one",
			    dev->device.name);
		return PLX_NO_DEVICE;
	}
	return failed ? refused(dev, "the configuration", failed, why) : PLX_OK;
}

static enum plx_status
set_queues_up(struct plx_ethdev *dev, struct plx_why *why)
{
	uint16_t rx = dev->config.rx_descriptors ? dev->config.rx_descriptors : DESCRIPTORS;
	uint16_t tx = dev->config.tx_descriptors ? dev->config.tx_descriptors : DESCRIPTORS;
	uint16_t id = dev->device.port_id;
	unsigned int socket = (unsigned int)dev->caps.socket;
	int failed = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx);

	for (uint16_t i = 0; i < dev->config.queues && !failed; i++) {
		failed = rte_eth_rx_queue_setup(id, i, rx, socket, NULL, dev->config.pool);
		if (!failed)
			failed = rte_eth_tx_queue_setup(id, i, tx, socket, NULL);
	}
	return failed ? refused(dev, "a queue", failed, why) : PLX_OK;
}

static enum plx_status
start(struct plx_ethdev *dev, uint32_t timeout_ms, struct plx_why *why)
{
	uint64_t hz = rte_get_timer_hz();
	uint64_t end = rte_get_timer_cycles() + timeout_ms * hz / 1000;
	uint16_t id = dev->device.port_id;

	while (rte_eth_dev_start(id) != 0) {
		if (rte_get_timer_cycles() >= end) {
			plx_why_set(why,
				    "device \"%.60s\" did not start within %u ms; is its other "
				    "end there? (a memif client needs its server)",
				    dev->device.name, timeout_ms);
			return PLX_TIMEOUT;
		}
		rte_delay_us_sleep(START_PAUSE_US);
	}
	dev->running = true;
	return PLX_OK;
}

/* Set the list of groups; false: the device has no list. */
static bool
list_groups(const struct plx_ethdev *dev)
{
	struct rte_ether_addr list[PLX_ETHDEV_GROUPS_MAX];

	for (uint32_t i = 0; i < dev->config.group_count; i++)
		memcpy(list[i].addr_bytes, dev->config.groups + (size_t)i * RTE_ETHER_ADDR_LEN,
		       RTE_ETHER_ADDR_LEN);
	return rte_eth_dev_set_mc_addr_list(dev->device.port_id, list, dev->config.group_count) ==
	       0;
}

/* Set which frames to receive besides broadcasts. If the device refuses even promiscuous mode, it
 * has no filter to open: net_memif and others pass everything. */
static void
open_filter(const struct plx_ethdev *dev)
{
	uint16_t id = dev->device.port_id;
	bool listens = dev->config.group_count == 0;

	if (!listens)
		listens = list_groups(dev) || rte_eth_allmulticast_enable(id) == 0;
	if (!listens || dev->named)
		(void)rte_eth_promiscuous_enable(id);
}

static enum plx_status
configure_and_start(struct plx_ethdev *dev, uint32_t timeout_ms, struct plx_why *why)
{
	enum plx_status status = configure(dev, why);

	if (status == PLX_OK)
		status = set_queues_up(dev, why);
	if (status == PLX_OK)
		status = start(dev, timeout_ms, why);
	return status;
}

/* With interrupts, if they are wanted and the device may have some. One that does not start with
 * them at once starts without (VFIO without MSI-X). Of virtual devices it is known. */
static enum plx_status
try_interrupts(struct plx_ethdev *dev, struct plx_why *why)
{
	struct plx_why unsaid;

	dev->interrupts =
		dev->config.wakes && (dev->quirk->driver[0] == '\0' || dev->quirk->rx_fd_is_data);
	if (dev->interrupts && configure_and_start(dev, 0, &unsaid) == PLX_OK)
		return PLX_OK;
	dev->interrupts = false;
	return configure_and_start(dev, dev->config.start_timeout_ms, why);
}

/* The descriptor of a queue's interrupt, if the queue has one that can be armed. */
static int
interrupt_of(const struct plx_ethdev *dev, uint16_t queue)
{
	uint16_t id = dev->device.port_id;
	int fd;

	if (!dev->interrupts)
		return -1;
	fd = rte_eth_dev_rx_intr_ctl_q_get_fd(id, queue);
	if (fd < 0 || dev->quirk->rx_fd_is_data)
		return fd;
	/* Not armed yet: a thread that never sleeps needs no interrupts. */
	return rte_eth_dev_rx_intr_disable(id, queue) == 0 ? fd : -1;
}

static enum plx_status
bring_up(struct plx_ethdev *dev, struct plx_why *why)
{
	enum plx_status status;
	int failed = rte_eth_dev_info_get(dev->device.port_id, &dev->info);

	if (failed)
		return refused(dev, "a question for what it can do", failed, why);
	dev->quirk = quirk_of(dev->info.driver_name);
	status = check_numbers(dev, why);
	if (status == PLX_OK)
		status = set_frame_limit(dev, why);
	if (status != PLX_OK)
		return status;
	set_caps(dev);
	status = try_interrupts(dev, why);
	if (status == PLX_OK)
		open_filter(dev);
	return status;
}

enum plx_status
plx_ethdev_open(const struct plx_ethdev_config *config, struct plx_ethdev **out,
		struct plx_why *why)
{
	struct plx_ethdev *dev;
	enum plx_status status = check_config(config, why);

	if (status == PLX_OK)
		status = check_spec(config, why);
	if (status != PLX_OK)
		return status;
	dev = calloc(1, sizeof(*dev) + config->queues * sizeof(dev->queues[0]));
	if (dev == NULL) {
		plx_why_set(why, "device \"%.60s\": no memory for its queues", config->device);
		return PLX_NO_MEMORY;
	}
	status = device_acquire(config->device, &dev->device, why);
	if (status != PLX_OK) {
		free(dev);
		return status;
	}
	dev->config = *config;
	dev->config.device = dev->device.name;
	dev->quirk = quirk_of("");
	status = bring_up(dev, why);
	dev->config.groups = NULL; /* it belongs to the caller */
	if (status != PLX_OK) {
		plx_ethdev_close(dev);
		return status;
	}
	for (uint16_t i = 0; i < config->queues; i++)
		dev->queues[i] = (struct queue){
			.port = {.rx = queue_rx,
				 .tx = queue_tx,
				 .rx_fd = queue_rx_fd,
				 .rx_arm = dev->quirk->rx_fd_is_data ? NULL : queue_rx_arm,
				 .caps = dev->caps},
			.port_id = dev->device.port_id,
			.index = i,
			.rx_fd = interrupt_of(dev, i),
		};
	for (uint16_t i = 0; i < config->queues && dev->quirk->guard; i++)
		(void)guard_add(&dev->queues[i], dev->quirk->driver);
	*out = dev;
	return PLX_OK;
}

static enum device_fate
fate_of(const struct plx_ethdev *dev)
{
	const char *args = device_arguments(dev->info.device);

	if (dev->quirk->stays != NULL && dev->quirk->stays(args, dev->device.made))
		return DEVICE_LEAVE;
	if (dev->device.made)
		return DEVICE_REMOVE;
	return dev->touched ? DEVICE_CLOSE : DEVICE_LEAVE;
}

/* An order to stop a port on the EAL's interrupt thread. */
struct stop_order {
	uint16_t port_id;
	bool done;
};

static void
stop_here(void *arg)
{
	struct stop_order *order = arg;

	rte_eth_dev_stop(order->port_id);
	__atomic_store_n(&order->done, true, __ATOMIC_RELEASE);
}

/*
 * When the peer leaves, some PMDs tear down their connection on the interrupt thread, without a
 * lock. Such a port is stopped on that thread, too: an alarm runs there between two interrupts, so
 * the two never overlap. If the alarm has not run after a second, the port is stopped here.
 */
static void
stop(struct plx_ethdev *dev)
{
	struct stop_order order = {.port_id = dev->device.port_id};
	uint32_t naps = 0;

	if (dev->quirk->stop_by_alarm && rte_eal_alarm_set(1, stop_here, &order) == 0) {
		while (!__atomic_load_n(&order.done, __ATOMIC_ACQUIRE) && naps++ < 10000)
			usleep(100);
		rte_eal_alarm_cancel(stop_here, &order);
	}
	if (!__atomic_load_n(&order.done, __ATOMIC_ACQUIRE))
		rte_eth_dev_stop(order.port_id);
}

void
plx_ethdev_close(struct plx_ethdev *dev)
{
	if (dev->running)
		stop(dev);
	for (uint16_t i = 0; i < dev->config.queues; i++)
		guard_remove(&dev->queues[i]);
	device_release(&dev->device, fate_of(dev));
	free(dev);
}

struct plx_port *
plx_ethdev_queue(struct plx_ethdev *dev, uint16_t i)
{
	PLX_ASSERT(i < dev->config.queues);
	return &dev->queues[i].port;
}

uint16_t
plx_ethdev_port_id(const struct plx_ethdev *dev)
{
	return dev->device.port_id;
}

bool
plx_ethdev_link(const struct plx_ethdev *dev)
{
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(dev->device.port_id, &link) == 0 && link.link_status;
}

void
plx_ethdev_stats(const struct plx_ethdev *dev, struct plx_ethdev_stats *out)
{
	struct rte_eth_stats stats = {0};

	(void)rte_eth_stats_get(dev->device.port_id, &stats);
	*out = (struct plx_ethdev_stats){
		.rx_packets = stats.ipackets,
		.rx_bytes = stats.ibytes,
		.rx_missed = stats.imissed,
		.rx_errors = stats.ierrors,
		.rx_no_buffer = stats.rx_nombuf,
		.tx_packets = stats.opackets,
		.tx_bytes = stats.obytes,
		.tx_errors = stats.oerrors,
	};
}
