/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scheduling of senders (decision 26): requests and READ responses of all queue pairs in one
 * rotation, and acknowledgements before it. It never decides what is sent.
 * Start with engine_answer() and engine_send_ready().
 *
 * A queue pair with something to send is in one of two lists: `ready` if it needs the port,
 * `apart` if it does not, because its peer is behind our own port or because it is in ERROR and
 * only flushes. A full port stops the first list and not the second.
 */
#include "plx_engine_cycle.h"

/* The quantum of a queue pair in packets. It shrinks when many are waiting, so that one cycle
 * serves them all, or as many as it can with QUANTUM_MIN each. */
static inline uint32_t
quantum_of(const struct plx_engine *engine)
{
	uint32_t room = TX_ROOM - TX_RESERVE, share;

	if (plx_likely(engine->ready_count < room / QUANTUM_MAX))
		return QUANTUM_MAX;
	share = room / (engine->ready_count + 1);
	return share > QUANTUM_MIN ? share : QUANTUM_MIN;
}

/* Free room for requests and READ responses of `qp`. */
static inline uint32_t
bulk_room(const struct plx_engine *engine, const struct engine_qp *qp)
{
	uint32_t most = TX_ROOM - TX_RESERVE, used = engine->tx_count;

	if (plx_unlikely(qp->loops)) {
		most = LOOP_ROOM - LOOP_RESERVE;
		used = engine->loop_count;
	}
	return used < most ? most - used : 0;
}

/* Serve `qp`, which is in no list now: a quantum, or the rest of one that was cut short. If it has
 * more to send, it is then at the end of its list.
 * Returns: false: it has more to send and some of the quantum left, but room or buffers ran out;
 *          it is in no list */
static inline bool
send_quantum(struct plx_engine *engine, struct engine_qp *qp, uint32_t room, uint32_t *sent)
{
	uint32_t left = qp->quantum_left > 0 ? qp->quantum_left : quantum_of(engine);
	uint32_t n;

	qp->quantum_left = 0;
	do {
		n = engine_transmit(engine, qp, room < left ? room : left);
		*sent += n;
		left -= n;
		room -= n;
		engine_schedule(engine, qp);
		if (plx_likely(left == 0 || plx_list_empty(&qp->ready_link)))
			return true;
		/* Cut short either by the action list, and then it continues at once, or because
		 * room or buffers ran out. */
		if (n == 0 && room > 0 && engine->spare_count > 0 && qp->ud == NULL)
			return true;
		ready_remove(engine, qp);
	} while (n > 0 && room > 0);
	qp->quantum_left = (uint8_t)left;
	return false;
}

/* Move all of `list` to the front of `to`. */
static void
put_before(struct plx_list *to, struct plx_list *list)
{
	if (plx_list_empty(list))
		return;
	list->prev->next = to->next;
	to->next->prev = list->prev;
	to->next = list->next;
	list->next->prev = to;
	plx_list_init(list);
}

/* Serve each waiting queue pair one quantum, first come first served. A queue pair that was served
 * and has more to send moves to the end. One that was not served, or not for its whole quantum,
 * keeps its position. */
static __attribute__((noinline)) uint32_t
rotate(struct plx_engine *engine, struct plx_list *list)
{
	struct plx_list waiting, kept;
	uint32_t sent = 0;

	if (plx_likely(plx_list_empty(list)))
		return 0;
	plx_list_init(&waiting);
	plx_list_init(&kept);
	put_before(&waiting, list);
	while (!plx_list_empty(&waiting)) {
		struct engine_qp *qp = plx_list_entry(waiting.next, struct engine_qp, ready_link);
		uint32_t room = bulk_room(engine, qp);

		ready_remove(engine, qp);
		/* In ERROR flushed completions are delivered even if the port is full. */
		if ((room > 0 || (list == &engine->apart && !qp->loops)) &&
		    send_quantum(engine, qp, room, &sent))
			continue;
		ready_insert(engine, &kept, qp);
		if (list == &engine->ready && (room == 0 || engine->spare_count == 0 ||
					       engine->tx_count >= TX_ROOM - TX_RESERVE))
			break;
	}
	put_before(PLX_MUTANT(READY_LIFO) ? list->prev : list, &waiting);
	put_before(list, &kept);
	return sent;
}

/* As rotate(), for the port's list with one member. */
static inline uint32_t
send_only(struct plx_engine *engine)
{
	struct engine_qp *qp = plx_list_entry(engine->ready.next, struct engine_qp, ready_link);
	uint32_t room = bulk_room(engine, qp), sent = 0;

	if (plx_unlikely(room == 0))
		return 0;
	ready_remove(engine, qp);
	if (plx_unlikely(!send_quantum(engine, qp, room, &sent)))
		ready_insert(engine, engine->ready.next, qp);
	return sent;
}

/* ---- acknowledgements ---- */

/* Send the pending ACK, NAK or CNP, in the room left by requests and READ responses. At most one
 * is pending per received packet. Without room it is the first to be sent later. */
static void
acknowledge(struct plx_engine *engine, struct engine_qp *qp)
{
	bool room = qp->loops ? engine->loop_count < LOOP_ROOM : engine->tx_count < TX_ROOM;

	if (plx_likely(room && engine_transmit(engine, qp, 1) > 0))
		return;
	if (plx_list_empty(&qp->owing_link))
		plx_list_append(&engine->owing, &qp->owing_link);
}

/* Send the acknowledgements that found no room in an earlier cycle. */
static PLX_COLD void
acknowledge_late(struct plx_engine *engine)
{
	struct plx_list late;

	plx_list_init(&late);
	put_before(&late, &engine->owing);
	while (!plx_list_empty(&late)) {
		struct engine_qp *qp = plx_list_entry(late.next, struct engine_qp, owing_link);

		plx_list_remove(&qp->owing_link);
		if (plx_rc_owes(qp->rc))
			acknowledge(engine, qp);
		engine_schedule(engine, qp);
	}
}

static inline bool
is_next(const struct plx_list *list, const struct engine_qp *qp)
{
	return plx_list_empty(list) || list->next == &qp->ready_link || PLX_MUTANT(ANSWERS_PUSH_IN);
}

/* Send what a received packet requires, at the end of its burst. */
static void
answer(struct plx_engine *engine, struct engine_qp *qp)
{
	uint32_t room = bulk_room(engine, qp), done, sent = 0;

	/* No queue pair waits before it: it may send at once, together with the ACK. */
	if (plx_likely(room > 0 &&
		       (engine->ready_count == 0 || is_next(ready_list(engine, qp), qp)))) {
		ready_remove(engine, qp);
		if (plx_unlikely(!send_quantum(engine, qp, room, &sent)))
			ready_insert(engine, ready_list(engine, qp)->next, qp); /* at the front */
		return;
	}
	if (plx_rc_owes(qp->rc))
		acknowledge(engine, qp);
	/* A queue pair with many completions but nothing to send gets them without waiting for
	 * service. */
	do {
		done = plx_rc_sq_consumed(qp->rc);
		engine_transmit(engine, qp, 0);
	} while (plx_rc_sq_consumed(qp->rc) != done);
	engine_schedule(engine, qp);
}

void
engine_answer(struct plx_engine *engine)
{
	if (plx_unlikely(!plx_list_empty(&engine->owing)))
		acknowledge_late(engine);
	for (uint32_t i = 0; i < engine->received_count; i++) {
		struct engine_qp *qp = engine->received[i];

		qp->is_received = false;
		answer(engine, qp);
	}
	engine->received_count = 0;
}

uint32_t
engine_send_ready(struct plx_engine *engine)
{
	/* A flush since the responses may have made room for pending acknowledgements: no request
	 * overtakes them (decision 3). */
	if (plx_unlikely(!plx_list_empty(&engine->owing)))
		acknowledge_late(engine);
	if (plx_likely(engine->ready_count <= 1 && plx_list_empty(&engine->apart)))
		return engine->ready_count == 0 ? 0 : send_only(engine);
	return rotate(engine, &engine->apart) + rotate(engine, &engine->ready);
}
