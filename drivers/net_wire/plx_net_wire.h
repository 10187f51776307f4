/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The embedded link: two ports in one process, joined by rings. It can inject faults: seeded
 * loss, duplication, reordering, corruption, delay, pacing and ECN marks. Without faults there is
 * no callback, and it is as fast as net_ring. Start with plx_net_wire_attach(); docs/ports.md lists
 * the arguments.
 */
#ifndef PLX_NET_WIRE_H
#define PLX_NET_WIRE_H

#include "plx_port.h"

enum {
	PLX_NET_WIRE_LINKS_MAX = 16,
	PLX_NET_WIRE_QUEUES_MAX = 16, /* pairs of RX and TX queues of each end */
	PLX_NET_WIRE_RING = 2048,     /* slots per queue and direction; one of them stays free */
	PLX_NET_WIRE_HOLD_MAX = 4096, /* packets of a queue held back by delay, pacing, or a full
					 burst */
	PLX_NET_WIRE_DEPTH_MAX = 256, /* maximum of depth= */
};

/*
 * Arguments after the name, comma-separated. `end` is required; all others apply to the packets
 * that this end receives. P is a probability, 0 .. 1; defaults are in parentheses.
 *
 * - end=0|1           which end
 * - shift=N           what the peer sends on queue q arrives on queue q + N, modulo their number
 * (0)
 * - seed=N            seed of all faults of this end (1)
 * - loss=P            drop
 * - duplicate=P       deliver twice
 * - corrupt=P         flip one bit after the Ethernet header
 * - reorder=P,depth=N hold back until up to N (8) later packets arrived, or none for 50 us
 * - delay_us=N        delay every packet [us]
 * - rate_mbps=N       pace each queue to this rate
 * - mark=P            change ECT to CE
 * - mark_us=N         the same for packets that wait longer [us] for the wire of rate_mbps
 * - flood=N           add N hostile datagrams per second for queue pair 1, after the first packet
 */

/**
 * Prepare one end of link N for plx_ethdev_open(): create its port, and the rings if it is the
 * first of the two ends.
 *
 * @param device "net_wireN,end=0" or "net_wireN,end=0,loss=0.001"; N below
 *               PLX_NET_WIRE_LINKS_MAX
 * @param queues pairs of RX and TX queues, 1 to PLX_NET_WIRE_QUEUES_MAX; both ends have as many
 * @param name   [64] out: the DPDK name of the port of this end
 * Errors (each with a sentence): INVALID (an argument: which, its value, its range; the other
 * end has another number of queues); BUSY (this end is already attached); NO_MEMORY
 * Threads: any
 * Tests:   tests/unit/net_wire/args.c, tests/unit/net_wire/link.c, tests/unit/net_wire/faults.c
 */
enum plx_status plx_net_wire_attach(const char *device, uint32_t queues, char *name,
				    struct plx_why *why) PLX_MUST_CHECK;

/**
 * Detach the end, after plx_ethdev_close(); detaching the second end removes the rings. Packets in
 * flight to this end are freed. Packets in flight to the other end, and their pool, stay until that
 * end has received them or is detached.
 * Threads: any, after polling of this end has stopped
 * Tests:   tests/unit/net_wire/link.c
 */
void plx_net_wire_detach(const char *device);

/** Is this the device string of an embedded link? */
bool plx_net_wire_is(const char *device);

/* Faults applied to packets that this end received. X(name, text) */
#define PLX_NET_WIRE_COUNTER_LIST(X)                               \
	X(received, "packets that came off the wire")              \
	X(lost, "packets dropped by loss")                         \
	X(duplicated, "packets delivered twice")                   \
	X(corrupted, "packets with a bit flipped")                 \
	X(reordered, "packets overtaken by later ones")            \
	X(marked, "packets marked CE")                             \
	X(flooded, "hostile datagrams put among the others")       \
	X(held_over, "packets dropped because too many were held") \
	X(no_buffer, "faults left out because no buffer was free for the copy")

struct plx_net_wire_counters {
#define PLX_X(name, text) uint64_t name;
	PLX_NET_WIRE_COUNTER_LIST(PLX_X)
#undef PLX_X
};

/** Counters of an attached end; false if it is not attached. Any thread; values may be a little
 * old. Tests: tests/unit/net_wire/faults.c */
bool plx_net_wire_counters(const char *device, struct plx_net_wire_counters *out);

#endif
