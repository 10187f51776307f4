/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A port on any DPDK ethdev: a NIC, net_tap, net_af_packet, net_memif, net_ring. It queries the
 * device's capabilities; one table corrects PMDs that report them wrongly.
 * It never inspects a packet. Start with plx_ethdev_open(); docs/ports.md describes the PMDs.
 */
#ifndef PLX_ETHDEV_H
#define PLX_ETHDEV_H

#include "plx_port.h"

struct plx_ethdev;

enum {
	PLX_ETHDEV_GROUPS_MAX = 32
};

struct plx_ethdev_config {
	/* a device that the EAL knows ("0000:3b:00.0"), or a virtual device to create, with its
	 * arguments ("net_tap0,iface=plx0") */
	const char *device;
	struct rte_mempool *pool; /* for packets received */
	uint32_t frame_want;      /* [bytes] longest frame that the caller will send */
	uint16_t queues;          /* RX/TX queue pairs: 1 .. the device's limit */
	uint16_t rx_descriptors, tx_descriptors; /* 0: 1024, or the device's limit */
	/* Ethernet groups to receive besides broadcast; copied */
	const uint8_t *groups;     /* [group_count] of six bytes */
	uint32_t group_count;      /* 0 .. PLX_ETHDEV_GROUPS_MAX */
	bool wakes;                /* set interrupts up, if it has them: plx_port.rx_fd */
	uint32_t start_timeout_ms; /* maximum time to start (a memif client waits for its server);
				    * 0: one try */
};

/**
 * Create the device if necessary, configure and start it, with RX checksum offload if supported. It
 * receives frames to its own Ethernet address, broadcasts and the configured groups. It receives
 * all groups if it has no list of them, and all frames (promiscuous) only if it can do neither or
 * does not filter by our address.
 *
 * @param config copied; the pool must outlive the port and all packets that it received
 * @param why    may be NULL
 * Changes: a refused open leaves no device behind, except a memif server (docs/ports.md)
 * Errors (each with a sentence): NO_DEVICE (unknown, used by another adapter, cannot be
 * configured); TIMEOUT (does not start); INVALID (queues, descriptors); TOO_LONG (a frame of
 * `frame_want` does not fit: the sentence has the limit and how to change it); NO_MEMORY
 * Threads: any, but one open or close at a time
 * Cost:    may block for `start_timeout_ms`
 * Tests:   tests/unit/ethdev/open.c, tests/unit/ethdev/quirks.c
 */
enum plx_status plx_ethdev_open(const struct plx_ethdev_config *config, struct plx_ethdev **dev,
				struct plx_why *why) PLX_MUST_CHECK;

/**
 * Stop and close the device, and remove it if plx_ethdev_open() created it. One that existed before
 * stays and can be opened again; so does every memif server (docs/ports.md).
 * Threads: any, after polling of its queues has stopped
 * Tests:   tests/unit/ethdev/open.c, tests/unit/ethdev/tap.c
 */
void plx_ethdev_close(struct plx_ethdev *dev);

/**
 * Queue pair `i` of those opened, for an engine to poll; valid until the close.
 * Tests: tests/unit/ethdev/memif.c, tests/unit/ethdev/packet.c, tests/unit/ethdev/tap.c
 */
struct plx_port *plx_ethdev_queue(struct plx_ethdev *dev, uint16_t i);

/** DPDK's port id. */
uint16_t plx_ethdev_port_id(const struct plx_ethdev *dev);

/** Is the link up? Any thread; a memif's link is up while its peer is connected. */
bool plx_ethdev_link(const struct plx_ethdev *dev);

/* The device's own counters, for telemetry. */
struct plx_ethdev_stats {
	uint64_t rx_packets, rx_bytes, rx_missed, rx_errors, rx_no_buffer;
	uint64_t tx_packets, tx_bytes, tx_errors;
};

/** Any thread. Tests: tests/unit/ethdev/memif.c */
void plx_ethdev_stats(const struct plx_ethdev *dev, struct plx_ethdev_stats *out);

#endif
