/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The board of neighbours between the engines of a group: entries with a sequence number each. It
 * never decides whom to resolve: neighbour.c does. Start with board_find().
 */
#include "plx_bytes.h"
#include "plx_engine_board.h"

enum {
	MAC_BYTES = 6,
	VERDICT_SHIFT = 8,
	MAC_SHIFT = 16,
};

/* ---- words ---- */

static void
split(const struct plx_ip *ip, uint64_t words[2])
{
	memcpy(words, ip->v, 2 * sizeof(words[0]));
}

static uint64_t
pack(uint8_t version, enum plx_net_verdict verdict, const uint8_t *mac)
{
	uint64_t word = (uint64_t)version | (uint64_t)verdict << VERDICT_SHIFT;

	for (int i = 0; i < MAC_BYTES; i++)
		word |= (uint64_t)mac[i] << (MAC_SHIFT + 8 * i);
	return word;
}

static uint32_t
set_of(const struct board *board, const uint64_t words[2])
{
	return (uint32_t)plx_secret_hash(&board->key, words, 2) % BOARD_SETS * BOARD_WAYS;
}

/* ---- reading ---- */

/* A copy of an entry that was not written meanwhile.
 * Returns: false: it was */
static bool
copy(const struct board_entry *entry, uint64_t ip[2], uint64_t *answer, uint64_t *until)
{
	uint32_t sequence = atomic_load_explicit(&entry->sequence, memory_order_acquire);

	ip[0] = atomic_load_explicit(&entry->ip[0], memory_order_acquire);
	ip[1] = atomic_load_explicit(&entry->ip[1], memory_order_acquire);
	*answer = atomic_load_explicit(&entry->answer, memory_order_acquire);
	*until = atomic_load_explicit(&entry->until, memory_order_acquire);
	return sequence % 2 == 0 &&
	       atomic_load_explicit(&entry->sequence, memory_order_relaxed) == sequence;
}

enum plx_net_verdict
board_find(const struct board *board, const struct plx_ip *ip, uint64_t clock, uint8_t *mac)
{
	uint64_t want[2], has[2], answer, until;
	const struct board_entry *entry;

	split(ip, want);
	entry = &board->entry[set_of(board, want)];
	for (uint32_t i = 0; i < BOARD_WAYS; i++, entry++) {
		if (!copy(entry, has, &answer, &until) || (uint8_t)answer != ip->version ||
		    has[0] != want[0] || has[1] != want[1] || clock >= until)
			continue;
		if ((uint8_t)(answer >> VERDICT_SHIFT) != PLX_NET_READY)
			return PLX_NET_NO_ANSWER;
		for (int b = 0; b < MAC_BYTES; b++)
			mac[b] = (uint8_t)(answer >> (MAC_SHIFT + 8 * b));
		return PLX_NET_READY;
	}
	return PLX_NET_WAIT;
}

/* ---- writing: engine 0 ---- */

static void
write_entry(struct board_entry *entry, const uint64_t ip[2], uint64_t answer, uint64_t until)
{
	uint32_t sequence = atomic_load_explicit(&entry->sequence, memory_order_relaxed);

	atomic_store_explicit(&entry->sequence, sequence + 1, memory_order_relaxed);
	/* Whoever loads one of these words then loads at least that sequence number. */
	atomic_store_explicit(&entry->ip[0], ip[0], memory_order_release);
	atomic_store_explicit(&entry->ip[1], ip[1], memory_order_release);
	atomic_store_explicit(&entry->answer, answer, memory_order_release);
	atomic_store_explicit(&entry->until, until, memory_order_release);
	atomic_store_explicit(&entry->sequence, sequence + 2, memory_order_release);
}

/* The entry of an address: its own, else an empty one, else the next one to be replaced. */
static uint32_t
place_of(struct board *board, const struct plx_ip *ip, const uint64_t words[2])
{
	uint32_t first = set_of(board, words), empty = BOARD_ENTRIES, turn;

	for (uint32_t at = first; at < first + BOARD_WAYS; at++) {
		const struct board_entry *entry = &board->entry[at];
		uint64_t answer = atomic_load_explicit(&entry->answer, memory_order_relaxed);

		if ((uint8_t)answer == ip->version &&
		    atomic_load_explicit(&entry->ip[0], memory_order_relaxed) == words[0] &&
		    atomic_load_explicit(&entry->ip[1], memory_order_relaxed) == words[1])
			return at;
		if (answer == 0 && empty == BOARD_ENTRIES)
			empty = at;
	}
	if (empty != BOARD_ENTRIES) {
		board->used[board->used_count++] = (uint16_t)empty;
		return empty;
	}
	turn = board->way[first / BOARD_WAYS]++ % BOARD_WAYS;
	return first + turn;
}

/* Returns: false: no answer yet */
static bool
resolve(struct board *board, struct plx_net *net, const struct plx_ip *ip, uint64_t now,
	uint64_t clock)
{
	uint8_t mac[MAC_BYTES] = {0};
	enum plx_net_verdict verdict = plx_net_resolve(net, ip, now, mac);
	uint64_t words[2];

	if (verdict == PLX_NET_WAIT)
		return false;
	split(ip, words);
	write_entry(&board->entry[place_of(board, ip, words)], words,
		    pack(ip->version, verdict, mac),
		    verdict == PLX_NET_READY ? PLX_NEVER : plx_time_add(clock, BOARD_NEGATIVE_NS));
	atomic_fetch_add(&board->news, 1);
	return true;
}

void
board_want(struct board *board, struct plx_net *net, const struct plx_ip *ip, uint64_t now,
	   uint64_t clock)
{
	if (resolve(board, net, ip, now, clock) || board->wanted_count == BOARD_WANTED_MAX)
		return;
	for (uint32_t i = 0; i < board->wanted_count; i++)
		if (plx_ip_equal(&board->wanted[i], ip))
			return;
	board->wanted[board->wanted_count++] = *ip;
}

bool
board_serve(struct board *board, struct plx_net *net, uint64_t now, uint64_t clock)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < board->wanted_count; i++)
		if (!resolve(board, net, &board->wanted[i], now, clock))
			board->wanted[kept++] = board->wanted[i];
	board->wanted_count = kept;
	return kept > 0;
}

void
board_clear(struct board *board)
{
	static const uint64_t nothing[2];

	if (PLX_MUTANT(BOARD_NOT_CLEARED))
		return;
	for (uint32_t i = 0; i < board->used_count; i++)
		write_entry(&board->entry[board->used[i]], nothing, 0, 0);
	board->used_count = 0;
	/* After the entries: whoever sees it finds none of them. */
	atomic_fetch_add(&board->version, 1);
}
