/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A port on any DPDK ethdev: a NIC, net_tap, net_af_packet, net_memif, net_ring. What the device
 * can do is asked, and where a PMD is known not to do what it reports, one table says so.
 * It never looks into a packet. Start with plx_ethdev_open(); docs/ports.md has the PMDs.
 */
#ifndef PLX_ETHDEV_H
#define PLX_ETHDEV_H

#include "plx_port.h"

struct plx_ethdev;

enum {
	PLX_ETHDEV_GROUPS_MAX = 32
};

struct plx_ethdev_config {
	/* the name of a device that the EAL knows ("0000:3b:00.0"), or a virtual one to be made
	 * now, with its arguments ("net_tap0,iface=plx0") */
	const char *device;
	struct rte_mempool *pool; /* for packets received */
	uint32_t frame_want;      /* [bytes] the longest frame the user means to send */
	uint16_t queues;          /* 1 .. what the device has; RX/TX queue pairs */
	uint16_t rx_descriptors, tx_descriptors; /* 0: 1024, or what the device allows */
	/* Ethernet groups that must come in, broadcast not counted; copied */
	const uint8_t *groups;     /* [group_count] of six bytes */
	uint32_t group_count;      /* 0 .. PLX_ETHDEV_GROUPS_MAX */
	uint32_t start_timeout_ms; /* how long a device may need to start (a memif client waits for
				      its server); 0: one try */
};

/**
 * Make the device if need be, configure and start it, with checksum verification on receive where
 * it has it. It lets in what goes to its own Ethernet address, broadcasts and the groups that are
 * asked for; all groups if it knows no list, and everything (promiscuous) only if it can do
 * neither, or if our address is not the one it filters by.
 *
 * @param config copied; the pool must outlive the port, and whatever the port has received
 * @param why    may be NULL
 * Changes: a refused open leaves no device behind, but a memif server (docs/ports.md)
 * Errors (each with a sentence): NO_DEVICE (unknown, in use by another, cannot be configured);
 * TIMEOUT (does not start); INVALID (queues, descriptors); TOO_LONG (a frame of `frame_want` does
 * not fit: the sentence names what does, and how to change it); NO_MEMORY
 * Threads: any, but one open or close at a time
 * Cost:    may block for `start_timeout_ms`
 * Tests:   tests/unit/ethdev/open.c, tests/unit/ethdev/quirks.c
 */
enum plx_status plx_ethdev_open(const struct plx_ethdev_config *config, struct plx_ethdev **dev,
				struct plx_why *why) PLX_MUST_CHECK;

/**
 * Stop and close; a virtual device that plx_ethdev_open() made is removed. One that was there
 * before stays known and can be opened again; so does every memif server (docs/ports.md).
 * Threads: any, when nobody polls its queues any more
 * Tests:   tests/unit/ethdev/open.c, tests/unit/ethdev/tap.c
 */
void plx_ethdev_close(struct plx_ethdev *dev);

/**
 * Queue pair `i`, one of those that were opened, as an engine polls it; good until the close.
 * Tests: tests/unit/ethdev/memif.c, tests/unit/ethdev/packet.c, tests/unit/ethdev/tap.c
 */
struct plx_port *plx_ethdev_queue(struct plx_ethdev *dev, uint16_t i);

/** DPDK's number of the port. */
uint16_t plx_ethdev_port_id(const struct plx_ethdev *dev);

/** Is the link up? Any thread; a memif's link is up while its peer is there. */
bool plx_ethdev_link(const struct plx_ethdev *dev);

/* What the device itself counts, for telemetry. */
struct plx_ethdev_stats {
	uint64_t rx_packets, rx_bytes, rx_missed, rx_errors, rx_no_buffer;
	uint64_t tx_packets, tx_bytes, tx_errors;
};

/** Any thread. Tests: tests/unit/ethdev/memif.c */
void plx_ethdev_stats(const struct plx_ethdev *dev, struct plx_ethdev_stats *out);

#endif
