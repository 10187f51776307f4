/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private memory of a program in another process (decision 48): memory that it cannot share, as
 * that of malloc(). Each region has a shadow in the host, at which its pages in the key table are,
 * and a thread for each engine copies between both, by the program's own /proc/self/mem. After the
 * program executes another one that descriptor reaches nothing. Start with private_begin().
 */
#ifndef PLX_HOST_PRIVATE_MEMORY_H
#define PLX_HOST_PRIVATE_MEMORY_H

#include "plx_back.h"
#include "plx_mem.h"

struct private_memory;
struct shadow;

/**
 * Take the descriptor by which a program's memory is reached, and begin its threads.
 * @param fd   stays the caller's
 * @param back [engines] the seats that use the memory
 * Errors: INVALID (not a /proc/PID/mem that can be written: with a sentence), NO_MEMORY, TIMEOUT;
 *         then *memory is NULL, or what private_end() has to end
 */
enum plx_status private_begin(int fd, struct engine_seat *const *back, uint32_t engines,
			      struct private_memory **memory, struct plx_why *why) PLX_MUST_CHECK;
/* No engine uses it any more. A thread that hangs in the program's memory is left to itself, with
 * what it needs. NULL is allowed. */
void private_end(struct private_memory *memory);

/**
 * A shadow for a region [va, va + length), which the program has at `at`; need not be its memory.
 * Errors: NO_MEMORY
 */
enum plx_status private_shadow(struct private_memory *memory, uint64_t at, uint64_t va,
			       uint64_t length, struct shadow **shadow) PLX_MUST_CHECK;
/** A shadow of pages that need not follow each other, of none yet. Errors: NO_MEMORY */
enum plx_status private_shadow_list(struct private_memory *memory, uint64_t pages,
				    struct shadow **shadow) PLX_MUST_CHECK;
/** The first pages of such a shadow stand for these from now on. It waits as private_unshadow().
 * @param page [pages] where the program has them */
void private_assign(struct private_memory *memory, struct shadow *shadow, const uint64_t *page,
		    uint64_t pages);
/** The first pages of a shadow, for the key table. */
void private_pages(const struct shadow *shadow, uint64_t pages, uint64_t *page);
/** The map of such a shadow, whose pages get their places from engines. */
struct plx_page_map private_map(const struct shadow *shadow);
/* No engine asks for copies of it any more: wait until those are finished that were asked for, or
 * for two seconds, after which they are given up. */
void private_unshadow(struct private_memory *memory, struct shadow *shadow);

#endif
