/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Doorbells: which queue pairs were posted to, and whose rings are watched without a doorbell
 * (decision 9). Nothing here waits for a posting thread, wherever it was preempted.
 * Start with engine_serve_doorbells().
 */
#include "plx_engine_cycle.h"

#define EVERY (~UINT64_C(0))

/* The unusual cases, UD and ERROR, are handled apart from connections. */
static __attribute__((noinline)) uint32_t
fetch_unusual(struct engine_qp *qp, unsigned state)
{
	if (state_of(state) == PLX_QP_ERROR)
		engine_rq_fetch(&qp->own);
	return state & STATE_UD ? engine_sq_fetch_datagrams(&qp->sq) : engine_sq_fetch(&qp->sq);
}

uint32_t
engine_qp_fetch(struct engine_qp *qp)
{
	unsigned state = qp->sq.state;

	if (qp->sq.ring.shared == NULL)
		return 0;
	if (plx_unlikely(state >= PLX_QP_ERROR))
		return fetch_unusual(qp, state);
	return engine_sq_fetch(&qp->sq);
}

void
engine_qp_fetch_all(struct engine_qp *qp)
{
	uint32_t most = qp->sq.ring.slots, fetched = 0, n;

	/* What was posted before fits the ring: a program that keeps on posting is not waited for.
	 */
	while (fetched < most && (n = engine_qp_fetch(qp)) > 0)
		fetched += n;
}

/* A queue pair that was just posted to will probably be posted to again, so its ring is polled
 * without a doorbell, which would cost both sides two more cache lines. */
uint32_t
engine_serve_recent(struct plx_engine *engine)
{
	uint32_t served = 0;

	for (uint32_t i = 0; i < engine->recent_used; i++) {
		struct engine_qp *qp = engine->recent[i];

		if (qp == NULL || engine_qp_fetch(qp) == 0)
			continue;
		engine_schedule(engine, qp);
		served++;
	}
	return served;
}

/* Is there a thread that locked the producer while the ring was watched, and will not ring? It is
 * looked for before the ring is: when it has unlocked, what it posted is in the ring. */
static bool
has_silent_poster(struct engine_qp *qp)
{
	if (plx_likely(!qp->sq.has_silent_poster))
		return false;
	qp->sq.has_silent_poster = atomic_load(&qp->sq.front->producer.locked);
	return qp->sq.has_silent_poster;
}

/* Fetch from a ring that is not watched. It may hold more than one burst, and posters need not
 * ring again; then the engine rings the doorbell itself. */
static void
serve(struct plx_engine *engine, struct engine_qp *qp)
{
	bool again = has_silent_poster(qp);

	again |= engine_qp_fetch(qp) == POSTS_BURST;
	if (again)
		engine_ring_doorbell(&qp->sq.doorbell);
	engine_schedule(engine, qp);
}

/* Stop watching a ring. A thread that locks the producer after this rings the doorbell. A thread
 * that holds the lock may have seen the ring watched: until it unlocks, the engine rings in its
 * place. Each side stores, then loads what the other side stores, sequentially consistent: at least
 * one of the two sees the other's store. */
static void
unwatch(struct plx_engine *engine, struct engine_qp *qp)
{
	engine_sq_set_watched(&qp->sq, false);
	qp->sq.has_silent_poster = true;
	serve(engine, qp);
}

void
engine_forget_recent(const struct engine_qp *qp)
{
	for (uint32_t i = 0; i < RECENT; i++)
		if (qp->engine->recent[i] == qp)
			qp->engine->recent[i] = NULL;
}

void
engine_unwatch_all(struct plx_engine *engine)
{
	for (uint32_t i = 0; i < engine->recent_used; i++) {
		struct engine_qp *qp = engine->recent[i];

		engine->recent[i] = NULL;
		if (qp != NULL)
			unwatch(engine, qp);
	}
	engine->recent_used = 0;
	engine->recent_next = 0;
}

/* Watch this queue pair's ring instead of the one watched longest. */
static void
watch(struct plx_engine *engine, struct engine_qp *qp)
{
	struct engine_qp **place = &engine->recent[engine->recent_next % RECENT];
	struct engine_qp *old = *place;

	if (qp->sq.watched)
		return;
	/* More queue pairs are busy than can be watched: doorbells serve them well enough. */
	if (old != NULL && engine->now - engine->recent_since < WATCH_NS)
		return;
	if (old != NULL)
		unwatch(engine, old);
	engine->recent_since = engine->now;
	engine->recent_next++;
	if (engine->recent_used < RECENT)
		engine->recent_used++;
	*place = qp;
	engine_sq_set_watched(&qp->sq, true);
}

/* Serve the queue pairs of one word of doorbells.
 * @param left how many more may be served
 * Returns: bits not served, because the limit was reached */
static uint64_t
serve_word(struct plx_engine *engine, uint32_t word, uint64_t bits, uint32_t *left)
{
	for (; bits != 0 && *left > 0; bits &= bits - 1) {
		uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
		struct engine_qp *qp = engine->table[slot].qp;

		if (qp == NULL)
			continue; /* its number is reserved */
		serve(engine, qp);
		watch(engine, qp);
		--*left;
	}
	return bits;
}

/* Serve the words of one summary that are in `mask`; in the first word of `mask` only the
 * doorbells in `first`. A program can ring doorbells of others: they are dropped.
 * Returns: false: the limit was reached, and the next cycle continues after the last one served */
static bool
serve_summary(struct plx_engine *engine, struct engine_seat *seat, uint32_t top, uint64_t mask,
	      uint64_t first, uint32_t *left)
{
	struct seat_front *front = seat->front;
	/* Sequentially consistent, as engine_ring_doorbell() is. */
	uint64_t rung = atomic_exchange(&front->summary[top], 0) & seat->words[top];
	uint64_t words = rung & mask, rest = rung & ~mask;
	bool all = true;

	for (; words != 0 && all; words &= words - 1) {
		uint32_t word = top * 64 + (uint32_t)__builtin_ctzll(words);
		uint64_t doorbells =
			atomic_exchange(&front->doorbells[word], 0) & seat->slots[word];
		uint64_t now = word % 64 == (uint32_t)__builtin_ctzll(mask) ? first : EVERY;
		uint64_t more = serve_word(engine, word, doorbells & now, left);

		if (more != 0 && !PLX_MUTANT(DOORBELLS_FROM_SLOT_0))
			seat->next = word * 64 + (uint32_t)__builtin_ctzll(more);
		all = more == 0;
		more |= doorbells & ~now;
		if (plx_unlikely(more != 0)) {
			atomic_fetch_or(&front->doorbells[word], more);
			rest |= words & -words;
		}
	}
	rest |= words;
	if (plx_unlikely(rest != 0))
		atomic_fetch_or(&front->summary[top], rest);
	return all;
}

/* Serve queue pairs of a seat that rang, in the order of their slots, starting where the last cycle
 * stopped: none is served twice before all that rang earlier were served once.
 * Returns: how many */
static uint32_t
serve_seat(struct plx_engine *engine, struct engine_seat *seat, uint32_t most)
{
	uint32_t tops = PLX_BITMAP_WORDS(seat->doorbell_words), left = most;
	uint32_t from = seat->next, word = from / 64;
	uint64_t doorbells = EVERY << from % 64, words = EVERY << word % 64;
	uint64_t others =
		~words |
		(words & -words); /* including the first word, whose lower doorbells remain */
	bool all = true;

	seat->next = 0;
	/* A scan that begins in the middle of a summary visits that summary twice. */
	for (uint32_t i = 0; i < tops + (from > 0) && all; i++) {
		uint32_t top = (word / 64 + i) % tops;

		if (plx_likely(atomic_load_explicit(&seat->front->summary[top],
						    memory_order_relaxed) == 0))
			continue;
		if (i == 0)
			all = serve_summary(engine, seat, top, words, doorbells, &left);
		else
			all = serve_summary(engine, seat, top, i == tops ? others : EVERY, EVERY,
					    &left);
	}
	return most - left;
}

/* Sequentially consistent, as engine_ring_doorbell() is: whoever has not seen `asleep` is seen. */
bool
engine_is_rung(const struct plx_engine *engine)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &engine->seats) {
		const struct engine_seat *seat = plx_list_entry(node, struct engine_seat, link);

		for (uint32_t i = 0; i < PLX_BITMAP_WORDS(seat->doorbell_words); i++)
			if ((atomic_load(&seat->front->summary[i]) & seat->words[i]) != 0)
				return true;
	}
	return false;
}

/* Does the port take packets, or has it for less than 10 ms not? */
static inline bool
is_port_open(const struct plx_engine *engine)
{
	return engine->tx_since == PLX_NEVER || engine->now - engine->tx_since < LATE_NS;
}

/* As many queue pairs of the seat wait for the port as a cycle sends packets. What is fetched long
 * before it is sent has left the cache, so the next doorbells wait as well, unless the port is
 * stuck: their queue pairs may need another. */
static inline bool
has_enough(const struct plx_engine *engine, const struct engine_seat *seat)
{
	return plx_unlikely(seat->turns[WAIT_PORT].count >= engine->bulk_room) &&
	       is_port_open(engine);
}

/* Serve seats in turn. The first of a cycle is the last of the next one. */
uint32_t
engine_serve_doorbells(struct plx_engine *engine)
{
	struct plx_list *first = engine->seats.next, *node, *after;
	uint32_t served = 0;

	plx_list_for_each (node, after, &engine->seats) {
		struct engine_seat *seat = plx_list_entry(node, struct engine_seat, link);

		if (!has_enough(engine, seat))
			served += serve_seat(engine, seat, engine->seat_share);
		if (plx_unlikely(served >= DOORBELLS_BURST))
			break;
	}
	if (plx_unlikely(engine->seat_count > 1)) {
		plx_list_remove(first);
		plx_list_append(&engine->seats, first);
	}
	if (served > 0)
		plx_count(&engine->counters.doorbells, served);
	return served;
}
