/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens the ports of --raw: the same drivers, opened the same way as by an adapter.
 * It never sends or receives. Ports stay open between rows, because opening one takes a tenth of a
 * second and changes the addresses of the rings. Start with raw_ports_open().
 */
#include "raw_port.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "plx_ethdev.h"
#include "plx_net_wire.h"
#include "raw_hot.h"
#include "units.h"

enum {
	RING_ENTRIES = PLX_NET_WIRE_RING, /* so that both have the same size */
	/* Few buffers, reused while they are in the cache: a window each way, what both threads
	 * keep for themselves, and a burst. */
	POOL_PACKETS_LEAN = 1023,
	/* A PMD with its own descriptors fills them with buffers. */
	DESCRIPTORS = 512,
	POOL_PACKETS_WIDE = 4095,
	POOL_CACHE = 128, /* packets per thread */
	POOL_ROOM = RTE_PKTMBUF_HEADROOM + RAW_FRAME_MAX + 128,
	START_TIMEOUT_MS = 5000,
};

#define WIRE "net_wire8"
#define RING "net_ring"

/* Ports kept open for the next row. One row at a time, one thread. */
static struct {
	bool open;
	char device[2][128];
	struct raw_ports ports;
	struct plx_ethdev *dev[2];
	struct rte_ring *ring[2];
} now;

static bool
is_ring(const char *device)
{
	return device && !strcmp(device, RING);
}

static bool
is_wire(const char *device)
{
	return !device || plx_net_wire_is(device);
}

static enum plx_status
pool_make(bool lean, struct plx_why *why)
{
	now.ports.pool =
		rte_pktmbuf_pool_create("raw", lean ? POOL_PACKETS_LEAN : POOL_PACKETS_WIDE,
					POOL_CACHE, 0, POOL_ROOM, SOCKET_ID_ANY);
	if (now.ports.pool)
		return PLX_OK;
	why_set(why, "no memory for %d packets of %d bytes: %s",
		lean ? POOL_PACKETS_LEAN : POOL_PACKETS_WIDE, POOL_ROOM, rte_strerror(rte_errno));
	return PLX_NO_MEMORY;
}

static enum plx_status
dev_open(int i, const char *device, struct plx_why *why)
{
	const struct plx_ethdev_config config = {
		.device = device,
		.pool = now.ports.pool,
		.frame_want = RAW_FRAME_MAX,
		.queues = 1,
		.rx_descriptors = DESCRIPTORS,
		.tx_descriptors = DESCRIPTORS,
		.start_timeout_ms = START_TIMEOUT_MS,
	};
	enum plx_status status = plx_ethdev_open(&config, &now.dev[i], why);

	if (status == PLX_OK)
		now.ports.port[i] = plx_ethdev_port_id(now.dev[i]);
	return status;
}

/* Open an end of our own link: `name` of net_wire, without faults. */
static enum plx_status
wire_open(int i, struct plx_why *why)
{
	char device[sizeof WIRE + 8];
	char name[64];
	enum plx_status status;

	snprintf(device, sizeof device, WIRE ",end=%d", i);
	status = plx_net_wire_attach(device, 1, name, why);
	if (status != PLX_OK)
		return status;
	status = dev_open(i, name, why);
	if (status != PLX_OK)
		plx_net_wire_detach(device);
	return status;
}

/* Open a port that receives from one ring and sends into the other: DPDK's net_ring. */
static enum plx_status
ring_open(int i, struct plx_why *why)
{
	const struct rte_eth_conf conf = {0};
	const char *const names[] = {"raw_ring0", "raw_ring1"};
	int port = rte_eth_from_rings(names[i], &now.ring[i], 1, &now.ring[1 - i], 1, 0);
	int bad = port < 0 ? port : rte_eth_dev_configure((uint16_t)port, 1, 1, &conf);

	if (!bad)
		bad = rte_eth_rx_queue_setup((uint16_t)port, 0, DESCRIPTORS, 0, NULL,
					     now.ports.pool);
	if (!bad)
		bad = rte_eth_tx_queue_setup((uint16_t)port, 0, DESCRIPTORS, 0, NULL);
	if (!bad)
		bad = rte_eth_dev_start((uint16_t)port);
	if (bad) {
		why_set(why, "the ring port %s cannot be started: %s", names[i],
			rte_strerror(-bad));
		return PLX_NO_DEVICE;
	}
	now.ports.port[i] = (uint16_t)port;
	return PLX_OK;
}

static enum plx_status
rings_open(struct plx_why *why)
{
	enum plx_status status;

	for (int i = 0; i < 2; i++) {
		now.ring[i] = rte_ring_create(i ? "raw_r1" : "raw_r0", RING_ENTRIES, SOCKET_ID_ANY,
					      RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (!now.ring[i]) {
			why_set(why, "no memory for a ring of %d packets: %s", RING_ENTRIES,
				rte_strerror(rte_errno));
			return PLX_NO_MEMORY;
		}
	}
	status = ring_open(0, why);
	return status == PLX_OK ? ring_open(1, why) : status;
}

void
raw_ports_close(void)
{
	for (int i = 0; i < 2; i++) {
		char device[sizeof WIRE + 8];

		snprintf(device, sizeof device, WIRE ",end=%d", i);
		if (now.ring[i] && now.ports.port[i] != RTE_MAX_ETHPORTS) {
			rte_eth_dev_stop(now.ports.port[i]);
			rte_eth_dev_close(now.ports.port[i]);
		}
		if (now.dev[i])
			plx_ethdev_close(now.dev[i]);
		if (now.dev[i] && is_wire(now.device[0][0] ? now.device[0] : NULL))
			plx_net_wire_detach(device);
	}
	rte_ring_free(now.ring[0]);
	rte_ring_free(now.ring[1]);
	rte_mempool_free(now.ports.pool);
	memset(&now, 0, sizeof now);
}

enum plx_status
raw_ports_open(const char *device, const char *device2, struct raw_ports *out, struct plx_why *why)
{
	bool own = is_wire(device) || is_ring(device);
	const char *const names[] = {device ? device : "", own || !device2 ? "" : device2};
	enum plx_status status;

	if (!own && !device2) {
		why_set(why,
			"raw packets go from one port to another: %s needs a --device2 that "
			"it is joined to",
			device);
		return PLX_INVALID;
	}
	if (!now.open || strcmp(now.device[0], names[0]) || strcmp(now.device[1], names[1])) {
		raw_ports_close();
		now.open = true;
		now.ports.port[0] = now.ports.port[1] = RTE_MAX_ETHPORTS;
		snprintf(now.device[0], sizeof now.device[0], "%s", names[0]);
		snprintf(now.device[1], sizeof now.device[1], "%s", names[1]);
		status = pool_make(own, why);
		if (status == PLX_OK && is_ring(device))
			status = rings_open(why);
		for (int i = 0; i < 2 && status == PLX_OK && !is_ring(device); i++)
			status = own ? wire_open(i, why) : dev_open(i, names[i], why);
		if (status != PLX_OK) {
			raw_ports_close();
			return status;
		}
	}
	*out = now.ports;
	return PLX_OK;
}
