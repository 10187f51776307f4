/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of ports share: a private EAL, a private network namespace, pools, distinguishable
 * frames, and sending them from one port to another. It asserts that each step succeeds, and does
 * not depend on a PMD. Start with lab_start().
 */
#ifndef LAB_H
#define LAB_H

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "test.h"
#include "plx_port.h"

enum {
	LAB_ROOM = 4608, /* [bytes] of a buffer, without headroom */
	LAB_BUFFERS = 8192,
	LAB_ETHERTYPE = 0x88b5, /* IEEE 802 local experimental */
};

enum lab_shape {
	LAB_FLAT,     /* one buffer */
	LAB_CHAIN,    /* three buffers */
	LAB_EXTERNAL, /* headers, and an external buffer that a counter watches */
	LAB_SHAPES,
};

/** Start the EAL without hugepages, PCI, or files that another process would see.
 * @param vdev more devices, as "--vdev=..."; NULL ends the list */
void lab_start(const char *vdev, ...);

/** Remove its traces from the file system. Returns: `failed`, for main */
int lab_stop(int failed);

/** Move the process into a network namespace that vanishes with it; before lab_start(). */
void lab_namespace(void);

/** Run a shell command that must succeed. */
void lab_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A pool with LAB_BUFFERS buffers of `room` bytes behind the headroom. */
struct rte_mempool *lab_pool(uint16_t room);

/** Wait until every buffer is back: polls for up to a second, because a kernel may hold some. */
void lab_pool_is_whole(struct rte_mempool *pool);

/** A frame of `bytes` bytes with that number; its contents follow from both. */
struct rte_mbuf *lab_frame(struct rte_mempool *pool, enum lab_shape shape, uint32_t number,
			   uint32_t bytes);

/** The number of a frame that lab_frame() made; asserts that every byte of it is right.
 * @param damaged NULL, or set to true instead of asserting */
uint32_t lab_number(const struct rte_mbuf *frame, bool *damaged);

/** External buffers of lab_frame() that are not freed yet. */
uint32_t lab_external_out(void);

/** Wait until the port accepts it, at most five seconds. */
void lab_send(struct plx_port *port, struct rte_mbuf *frame);

/** The next frame of ours, ignoring those of the kernel; NULL after `wait_ms`. */
struct rte_mbuf *lab_receive(struct plx_port *port, uint32_t wait_ms);

/** Send one frame and assert that it arrives: once, whole, with this length. */
void lab_pass(struct plx_port *from, struct plx_port *to, struct rte_mempool *pool,
	      enum lab_shape shape, uint32_t bytes);

/** lab_pass() in both directions, in every shape that the ports support, at lengths in between,
 * with both limits, and with every length within 4 bytes of 2048 and 4096. */
void lab_pass_all(struct plx_port *a, struct plx_port *b, struct rte_mempool *pool, uint32_t first,
		  uint32_t last);

/** Is `part` in `text`? Prints both when not. */
void lab_says(const struct plx_why *why, const char *part);

#endif
