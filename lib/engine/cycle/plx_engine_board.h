/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The board: neighbours that engine 0 has resolved for the other engines of its group. Engine 0
 * writes it, the others look there without a lock, and ask engine 0 for what they do not find.
 * lib/proto/net knows nothing of it. Nothing outside this room includes this. Start with
 * board_find().
 *
 * An address may be in the four entries of its set; a newer one replaces an older one there. When
 * a neighbour has moved or was lost, all entries go, and what is in use is asked for again: so the
 * board needs no list of what is in use, and nothing on it is stale.
 */
#ifndef PLX_ENGINE_BOARD_H
#define PLX_ENGINE_BOARD_H

#include <stdatomic.h>

#include "plx_net.h"

enum {
	BOARD_WAYS = 4,
	BOARD_SETS = 512, /* twice as many entries as an adapter has neighbours */
	BOARD_ENTRIES = BOARD_SETS * BOARD_WAYS,
	BOARD_WANTED_MAX = 256, /* neighbours being resolved; whoever needs more asks again */
};

/* How long an engine believes that a neighbour does not answer. */
#define BOARD_NEGATIVE_NS (100 * PLX_MSEC)

/* One writer. `sequence` is odd while it writes; a reader that saw no even and equal values before
 * and after has found nothing. Each word is stored with release and loaded with acquire, so no
 * fence is needed. */
struct board_entry {
	PLX_ALIGNED_LINE atomic_uint sequence;
	atomic_ulong ip[2];
	atomic_ulong answer; /* version of the address, verdict, MAC; 0: empty */
	atomic_ulong until;  /* by the caller's clock; PLX_NEVER: until the board is cleared */
};

struct board {
	/* read by the other engines in each cycle */
	PLX_ALIGNED_PAIR atomic_uint version; /* changes when the board was cleared */
	atomic_uint news;                     /* ... or an entry written */

	PLX_ALIGNED_PAIR struct plx_secret key; /* of the sets; never changes */

	/* engine 0's */
	uint32_t wanted_count;
	struct plx_ip wanted[BOARD_WANTED_MAX];
	uint32_t used_count;
	uint16_t used[BOARD_ENTRIES]; /* entries written since the board was cleared */
	uint8_t way[BOARD_SETS];      /* the entry to replace next */
	struct board_entry entry[BOARD_ENTRIES];
};

/** What the board has of a neighbour. Threads: any.
 * @param ip canonical
 * @param clock the caller's
 * Returns: READY, with `mac`; NO_ANSWER; WAIT: nothing */
enum plx_net_verdict board_find(const struct board *board, const struct plx_ip *ip, uint64_t clock,
				uint8_t *mac);

/* ---- engine 0 ---- */

/** Resolve a neighbour and write the answer, now or when there is one. */
void board_want(struct board *board, struct plx_net *net, const struct plx_ip *ip, uint64_t now,
		uint64_t clock);
/** Look again for those without an answer.
 * Returns: are there more? */
bool board_serve(struct board *board, struct plx_net *net, uint64_t now, uint64_t clock);
/** A neighbour has moved or was lost. */
void board_clear(struct board *board);

#endif
