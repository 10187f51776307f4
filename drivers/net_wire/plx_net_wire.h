/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The embedded link: two ports in one process, joined by two rings, and on request a bad cable
 * between them: seeded loss, duplication, reordering, corruption, delay, pacing and ECN marks.
 * Without a fault there is no callback, and it is as fast as net_ring.
 * Start with plx_net_wire_attach(); docs/ports.md lists the arguments.
 */
#ifndef PLX_NET_WIRE_H
#define PLX_NET_WIRE_H

#include "plx_port.h"

enum {
	PLX_NET_WIRE_LINKS_MAX = 16,
	PLX_NET_WIRE_RING = 2048,     /* slots in one direction; one of them stays free */
	PLX_NET_WIRE_HOLD_MAX = 4096, /* packets held back by delay, pacing, or a full burst */
	PLX_NET_WIRE_DEPTH_MAX = 256, /* of reordering */
};

/*
 * Arguments after the name, comma-separated; `end` is needed. All others act on what this end
 * receives:
 *
 * - end=0|1           which end
 * - seed=N            of all faults of this end (1)
 * - loss=P            probability of 0 .. 1
 * - duplicate=P       a second copy follows
 * - corrupt=P         one bit anywhere behind the Ethernet header is flipped
 * - reorder=P,depth=N held back until up to N (8) later packets have come, or none for 50 us
 * - delay_us=N        every packet [us]
 * - rate_mbps=N       paced to this rate
 * - mark=P            ECT becomes CE
 * - flood=N           so many hostile datagrams for queue pair 1 a second, once a packet has passed
 */

/**
 * Make one end of link N ready for plx_ethdev_open(): its port, and the rings when it is the first
 * of the two.
 *
 * @param device "net_wireN,end=0" or "net_wireN,end=0,loss=0.001"; N below
 *               PLX_NET_WIRE_LINKS_MAX
 * @param name   [64] out: the DPDK name of the port of this end
 * Errors (each with a sentence): INVALID (an argument: which, its value, its range); BUSY (this end
 * is attached already); NO_MEMORY
 * Threads: any
 * Tests:   tests/unit/net_wire/args.c, tests/unit/net_wire/link.c, tests/unit/net_wire/faults.c
 */
enum plx_status plx_net_wire_attach(const char *device, char *name,
				    struct plx_why *why) PLX_MUST_CHECK;

/**
 * After plx_ethdev_close(): give the end back; with the second one the rings are removed. Packets
 * on their way to this end are freed. Those on their way to the other end stay there, and so does
 * their pool, until that end has received them or is detached.
 * Threads: any, when nobody polls this end any more
 * Tests:   tests/unit/net_wire/link.c
 */
void plx_net_wire_detach(const char *device);

/** Is this device string one of ours? */
bool plx_net_wire_is(const char *device);

/* Faults dealt out to what this end received. X(name, text) */
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

/** Counters of an attached end; false when it is not attached. Any thread; values may be a little
 * old. Tests: tests/unit/net_wire/faults.c */
bool plx_net_wire_counters(const char *device, struct plx_net_wire_counters *out);

#endif
