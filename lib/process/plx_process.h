/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a process has once, whichever of the libraries are in it: the memory for its messages, and
 * the lines for its operator. It needs the C library alone. Start with plx_mem_find_shared().
 */
#ifndef PLX_PROCESS_H
#define PLX_PROCESS_H

#include "plx_attach.h"
#include "plx_verbs.h"

/* ---- memory.c ---- */

/**
 * Find the memory of plx_mem_alloc() that has all of a range, as another process can map it.
 * Returns: false: none, or private memory, because the program does not attach to hosts
 */
bool plx_mem_find_shared(const void *memory, size_t bytes, struct plx_shared *out);
/** The program attaches to a host: memory that is allocated from now on can be shared with it. */
void plx_mem_share(void);
/** Is the memory of that serial number still allocated? */
bool plx_mem_is_alive(uint64_t serial);
/** How many allocations of the program have been freed so far? */
uint64_t plx_mem_freed(void);

/* ---- log.c ---- */

/** Log one line, if the rate limit allows. */
PLX_API void plx_log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Log an event in one line, likewise. */
void plx_log_async_event(const char *adapter, const struct plx_async_event *event);

#endif
