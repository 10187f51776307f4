/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A FIFO of copies between shadows and the private memory that they stand for (decision 48): an
 * engine asks for them, and one thread carries them out, since they may wait and call the kernel.
 * It copies nothing but what is placed, into a buffer of its own. Start with plx_copier_load().
 *
 * Threads: calls of the engine's part from one thread, those of the thread's part from one other;
 * plx_copier_stop() and plx_copier_is_idle() from any
 */
#ifndef PLX_COPY_H
#define PLX_COPY_H

#include "plx_base.h"

enum {
	PLX_COPIES_MAX = 1024,     /* asked for and not taken back yet */
	PLX_COPY_BYTES_MAX = 4096, /* placed by one; one loads any number */
};

struct plx_copy {
	void *shadow;
	const uint8_t *staged; /* to be placed; NULL: load the shadow */
	uint32_t bytes;
};

struct plx_copier;

/** Returns: NULL if out of memory; the staged bytes cost memory (4 MiB) when they are used */
struct plx_copier *plx_copier_create(void) PLX_MUST_CHECK;
/** Neither part is called any more. NULL is allowed. */
void plx_copier_free(struct plx_copier *copier);

/* ---- the engine's part: it never waits ---- */

/** How many copies it has room for. */
uint32_t plx_copier_room(const struct plx_copier *copier);
/** Ask for a load of a shadow. There is room. */
void plx_copier_load(struct plx_copier *copier, void *shadow, uint32_t bytes);
/** Ask for `bytes` to be written to what a shadow stands for; they are copied here. There is room.
 * @param bytes up to PLX_COPY_BYTES_MAX */
void plx_copier_place(struct plx_copier *copier, void *shadow, const uint8_t *from, uint32_t bytes);
/** Wake the thread, if it sleeps: after some were asked for. Cost: a system call if it does */
void plx_copier_ring(struct plx_copier *copier);
/** Take back the oldest copy. Returns: false: it is not finished, or there is none */
bool plx_copier_take(struct plx_copier *copier, bool *failed);

/* ---- the thread's part ---- */

/** Wait for the next copy. Returns: false: stopped */
bool plx_copier_wait(struct plx_copier *copier, struct plx_copy *copy);
/** The copy is finished; everything that it read and wrote was before. */
void plx_copier_finish(struct plx_copier *copier, bool failed);

/** Make plx_copier_wait() return false, now or when it is called. */
void plx_copier_stop(struct plx_copier *copier);
/** Has everything been finished that was asked for before this call? */
bool plx_copier_is_idle(const struct plx_copier *copier, uint32_t asked);
/** How many copies have been asked for, modulo 2^32: for plx_copier_is_idle(). */
uint32_t plx_copier_asked(const struct plx_copier *copier);

#endif
