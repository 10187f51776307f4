/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ends of a stream over a provider, one of a host with two processes, with programs that write
 * and read a pattern. Start with sides_begin().
 */
#ifndef PLX_TEST_SANSW_SIDES_H
#define PLX_TEST_SANSW_SIDES_H

#include "plx_san_companion.h"
#include "stage.h"

enum {
	CREDITS = 4,
	PAYLOAD = 256,
	RING = 2048,
	SENDS = 4,
	RECEIVES = CREDITS + PLX_SAN_RESERVED,
	LARGE = 100000,
};

/* One end: its rings are the host's, its memory for messages each process's own. */
struct side {
	struct san_companion companion;
	DWORD process;
	uint8_t in[RING], out[RING];
	struct plx_san_rings rings;
	uint8_t messages[2][(RECEIVES + SENDS) * (PLX_SAN_HEAD_MAX + PAYLOAD)];
	uint32_t which; /* of these */
	uint64_t written, read;
};

extern struct side side[2];
extern uint8_t sides_large[LARGE];

/** Connect A and B, and let both say HELLO. */
void sides_begin(bool reads);
/** Close both, and B's listener; nothing must be left. */
void sides_end(void);
/** Do what the process in control of an end can. */
void sides_run(uint32_t i);
/** ... of both, and the network, once. Returns: as world_run() */
bool sides_turn(void);
/** ... until nothing can be done. */
void sides_settle(void);
/** ... with programs that read everything. */
void sides_drain(void);

/** Returns: how many bytes */
uint32_t sides_write(uint32_t i, uint32_t n);
uint32_t sides_read(uint32_t i);
/** Offer LARGE bytes. */
void sides_offer(uint32_t i);

/** The process of end 0 that has no control. */
DWORD sides_next(void);
/** It takes what was given away. Returns: the error, 0 */
int sides_take(void);
/** ... and that went well; the one before closes its socket. */
void sides_hand_over(void);
/** All of it. */
void sides_swap(void);

#endif
