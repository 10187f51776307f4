/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The duty cycle: the one function that everything in an engine happens in, on one screen.
 * It never blocks, allocates, or takes a lock. Start with plx_engine_poll().
 */
#include <rte_rcu_qsbr.h>

#include "conn.h"

void
engine_set_online(struct plx_engine *engine, bool online)
{
	struct rte_rcu_qsbr *rcu = engine->config.rcu;

	if (rcu == NULL || engine->attached == online)
		return;
	engine->attached = online;
	if (online)
		rte_rcu_qsbr_thread_online(rcu, engine->config.index);
	else
		rte_rcu_qsbr_thread_offline(rcu, engine->config.index);
}

/* The answers that an RX burst calls for, before any send queue is looked at (decision 3). */
static void
answer(struct plx_engine *engine)
{
	for (uint32_t i = 0; i < engine->heard_count; i++) {
		struct plx_qpair *qp = engine->heard[i];

		qp->noted = false;
		/* Requests leave the reserve alone; of what is in it each answer takes one place,
		 * so that requests of one do not shut out the answers of others (H6). */
		if (plx_likely(engine->tx_count < TX_ROOM - TX_RESERVE))
			engine_transmit(engine, qp, TX_ROOM - TX_RESERVE - engine->tx_count);
		else if (engine->tx_count < TX_ROOM && plx_rc_owes(qp->rc))
			engine_transmit(engine, qp, 1);
		engine_schedule(engine, qp);
	}
	engine->heard_count = 0;
}

static uint32_t
run_timers(struct plx_engine *engine)
{
	uint32_t fired = 0;
	struct timer *timer;

	/* At most so many; those that fire for ever are the caller's next cycle. */
	while (fired < DOORS_BURST && (timer = wheel_take(&engine->wheel, engine->now)) != NULL) {
		fired++;
		if (timer == &engine->net_timer) {
			plx_net_on_tick(engine->config.net, engine->now);
			continue;
		}
		if (engine->gsi != NULL && timer == &engine->gsi->timer) {
			gsi_on_tick(engine);
			continue;
		}
		struct plx_qpair *qp = plx_list_entry(timer, struct plx_qpair, timer);

		/* In ERROR a post may have raced with the error: look into both rings again. */
		if (plx_unlikely(atomic_load_explicit(&qp->state, memory_order_relaxed) >=
				 PLX_QP_ERROR)) {
			rqueue_pull(&qp->own);
			qpair_pull(qp);
		}
		plx_rc_on_tick(qp->rc, engine->now, &engine->actions);
		engine_execute(engine, qp);
		if (!PLX_MUTANT(TIMER_NOT_SET_AGAIN))
			engine_schedule(engine, qp);
	}
	if (fired > 0)
		plx_count(&engine->counters.ticks, fired);
	return fired;
}

/* Who was posted to a moment ago is likely to be posted to again: its ring is looked into without
 * a bell, which would be two cache lines more for both sides. */
static uint32_t
serve_recent(struct plx_engine *engine)
{
	uint32_t served = 0;

	for (uint32_t i = 0; i < engine->recent_used; i++) {
		struct plx_qpair *qp = engine->recent[i];

		if (qp == NULL || qpair_pull(qp) == 0)
			continue;
		engine_schedule(engine, qp);
		served++;
	}
	return served;
}

/* Whoever takes a turn at posting after this rings the door. Who is in one may have seen the ring
 * watched, and then it still is. Both sides store, then load what the other stores, sequentially
 * consistent: one of the two sees the other. Returns: it is not watched any more */
static bool
unwatch(struct plx_engine *engine, struct plx_qpair *qp)
{
	atomic_store(&qp->watched, false);
	if (plx_unlikely(atomic_load(&qp->turn.taken))) {
		atomic_store(&qp->watched, true);
		return false;
	}
	qpair_pull(qp);
	engine_schedule(engine, qp);
	return true;
}

/* Watch this one's ring from now on, instead of the one that has been watched longest. */
static void
watch(struct plx_engine *engine, struct plx_qpair *qp)
{
	struct plx_qpair **place = &engine->recent[engine->recent_next % RECENT];
	struct plx_qpair *old = *place;

	if (atomic_load_explicit(&qp->watched, memory_order_relaxed))
		return;
	/* More are busy than can be watched: then the bells serve them well enough. */
	if (old != NULL && engine->now - engine->recent_since < WATCH_NS)
		return;
	if (old != NULL && !unwatch(engine, old))
		return;
	engine->recent_since = engine->now;
	engine->recent_next++;
	if (engine->recent_used < RECENT)
		engine->recent_used++;
	*place = qp;
	atomic_store(&qp->watched, true);
}

/* The queue pairs of one word of doorbells. Returns: bits not served, because enough were */
static uint64_t
serve_word(struct plx_engine *engine, uint32_t word, uint64_t bits, uint32_t *served)
{
	for (; bits != 0 && *served < DOORS_BURST; bits &= bits - 1) {
		uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
		struct plx_qpair *qp = engine->table[slot].qp;

		if (qp == NULL)
			continue; /* rung, then destroyed */
		if (qpair_pull(qp) == POSTS_BURST)
			plx_qpair_ring(qp);
		watch(engine, qp);
		engine_schedule(engine, qp);
		++*served;
	}
	return bits;
}

/* Queue pairs that were posted to. */
static uint32_t
serve_doors(struct plx_engine *engine)
{
	uint32_t served = 0;

	for (uint32_t top = 0; top < PLX_BITMAP_WORDS(engine->door_words); top++) {
		uint64_t words;

		if (plx_likely(atomic_load_explicit(&engine->door_summary[top],
						    memory_order_relaxed) == 0))
			continue;
		/* Sequentially consistent, as plx_qpair_ring() is. */
		words = atomic_exchange(&engine->door_summary[top], 0);
		for (; words != 0; words &= words - 1) {
			uint32_t word = top * 64 + (uint32_t)__builtin_ctzll(words);
			uint64_t left = serve_word(
				engine, word, atomic_exchange(&engine->doors[word], 0), &served);

			if (plx_unlikely(left != 0)) {
				atomic_fetch_or(&engine->doors[word], left);
				atomic_fetch_or(&engine->door_summary[top], words);
				break;
			}
		}
	}
	if (served > 0)
		plx_count(&engine->counters.doorbells, served);
	return served;
}

/* Everyone who has something to send, in turn, while there is room. */
static uint32_t
send_ready(struct plx_engine *engine)
{
	struct plx_list turn;
	uint32_t sent = 0;

	if (plx_list_empty(&engine->ready))
		return 0;
	/* Those of this turn first; who has more to send queues up behind the others. */
	turn = engine->ready;
	turn.next->prev = turn.prev->next = &turn;
	plx_list_init(&engine->ready);
	while (!plx_list_empty(&turn)) {
		struct plx_qpair *qp = plx_list_entry(turn.next, struct plx_qpair, ready_link);
		uint32_t room = TX_ROOM - TX_RESERVE;

		plx_list_remove(&qp->ready_link);
		room = engine->tx_count < room ? room - engine->tx_count : 0;
		sent += engine_transmit(engine, qp, room);
		engine_schedule(engine, qp);
	}
	return sent;
}

/* What has come may take a queue pair to RTS, later in this cycle. Its first message is not told
 * before: who hears of it may answer. */
static inline bool
connects(const struct plx_engine *engine)
{
	return plx_unlikely(engine->gsi != NULL && engine->gsi->busy);
}

uint32_t
plx_engine_poll(struct plx_engine *engine, uint64_t now)
{
	uint32_t done = 0, received;

	PLX_ASSERT(now >= engine->now);
	engine->now = now;
	done += command_serve(engine);
	received = engine_receive(engine);
	done += received;
	engine->late =
		(engine->late || now - engine->last_poll > LATE_NS) && received == PLX_ENGINE_BURST;
	engine->last_poll = now;
	answer(engine);
	if (engine->recvs.count > 0 && !engine->config.inline_mode && !connects(engine)) {
		/* Somebody on another core waits for these; their ACKs are on their way first. */
		engine_seal(engine);
		engine_flush(engine);
		engine_publish(engine);
	}
	if (!engine->late)
		done += run_timers(engine);
	if (!engine->config.inline_mode) {
		done += serve_recent(engine);
		done += serve_doors(engine);
	}
	done += send_ready(engine);
	engine_seal(engine);
	engine_transmit_net(engine);
	if (engine->gsi != NULL && (engine->gsi->busy || now >= engine->gsi->look_at))
		done += gsi_serve(engine);
	engine_flush(engine);
	engine_publish(engine);
	if (engine->attached)
		rte_rcu_qsbr_quiescent(engine->config.rcu, engine->config.index);
	plx_count(&engine->counters.cycles, 1);
	if (done > 0)
		plx_count(&engine->counters.busy_cycles, 1);
	return done;
}

void
plx_engine_send(struct plx_engine *engine, uint64_t now)
{
	PLX_ASSERT(now >= engine->now);
	engine->now = now;
	send_ready(engine);
	engine_seal(engine);
	engine_flush(engine);
}

uint64_t
plx_engine_wake_ns(const struct plx_engine *engine)
{
	if (!plx_list_empty(&engine->ready) || engine->tx_count > 0 || engine->loop_count > 0 ||
	    !plx_list_empty(&engine->spilled) || !plx_list_empty(&engine->notices) ||
	    !plx_list_empty(&engine->srq_notices) || !plx_list_empty(&engine->cq_notices) ||
	    engine->sends.count + engine->recvs.count > 0 ||
	    plx_net_wake_ns(engine->config.net) == 0 || (engine->gsi != NULL && engine->gsi->busy))
		return 0;
	return plx_time_min(engine->gsi != NULL ? engine->gsi->look_at : PLX_NEVER,
			    wheel_wake_ns(&engine->wheel));
}
