/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scheduling of senders (decisions 26 and 41): requests and READ responses in one rotation, seats
 * in turn and the queue pairs of a seat in turn within it, and acknowledgements before it. It never
 * decides what is sent. Start with engine_answer() and engine_send_ready().
 *
 * A queue pair with something to send waits for the port, for our own port if its peer is behind
 * it, or in ERROR only to flush. Each has a rotation, so that a full port stops nothing else.
 */
#include "waiting.h"

enum {
	BULK_ROOM = TX_ROOM - TX_RESERVE, /* packets of requests and READ responses */
	BULK_LOOP_ROOM = LOOP_ROOM - LOOP_RESERVE,
};

void
plx_engine_set_company(struct plx_engine *engine, bool has_company)
{
	engine->bulk_room = has_company ? PLX_PORT_BURST : BULK_ROOM;
}

/* A quantum, or a seat's turn, when so many wait. It shrinks with their number as long as one cycle
 * can serve them all. Of more than that little is in the cache when their turn comes, so what
 * brings them there has to pay. */
static inline uint32_t
share_of(uint32_t waiting)
{
	if (plx_likely(waiting <= BULK_ROOM / QUANTUM_MAX))
		return QUANTUM_MAX;
	return waiting <= BULK_ROOM / QUANTUM_MIN ? BULK_ROOM / waiting : QUANTUM_MANY;
}

/* The quantum of a queue pair in packets, which is in no list now. All seats have equal shares,
 * however many queue pairs each has. */
static inline uint32_t
quantum_of(const struct plx_engine *engine, const struct engine_qp *qp)
{
	const struct seat_turn *turn = qp->ready_turn;

	if (plx_likely(engine->ready_count == 0))
		return QUANTUM_MAX;
	return share_of((turn->count + 1) * turn->rotation->count);
}

/* The turn of a seat in packets, or the rest of one that was cut short; without limit if no other
 * seat waits. */
static inline uint32_t
turn_left(const struct seat_turn *turn)
{
	if (plx_likely(turn->rotation->count <= 1))
		return UINT32_MAX;
	return turn->left > 0 ? turn->left : share_of(turn->rotation->count);
}

/* Free room for requests and READ responses of `qp`. */
static inline uint32_t
bulk_room(const struct plx_engine *engine, const struct engine_qp *qp)
{
	uint32_t most = engine->bulk_room, used = engine->tx_count;

	if (plx_unlikely(qp->loops)) {
		most = BULK_LOOP_ROOM;
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
	uint32_t left = qp->quantum_left > 0 ? qp->quantum_left : quantum_of(engine, qp);
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
		 * room or buffers ran out. Datagrams that found no room on our own port wait for
		 * their next turn. */
		if (n == 0 && room > 0 && engine->spare_count > 0)
			return true;
		ready_take(engine, qp);
	} while (n > 0 && room > 0);
	qp->quantum_left = (uint8_t)left;
	return false;
}

/* As send_quantum(), for a queue pair that may be in a list. If it is cut short, it keeps its
 * position. Its seat keeps its place until settle(), which is not needed if no other queue pair
 * waits: then no rotation has two seats.
 * @param most packets
 * Returns: the number of packets; *done: it was not cut short */
static inline uint32_t
serve_unsettled(struct plx_engine *engine, struct engine_qp *qp, uint32_t most, bool *done)
{
	uint32_t sent = 0;

	ready_take(engine, qp);
	*done = send_quantum(engine, qp, most, &sent);
	if (plx_unlikely(!*done))
		ready_prepend(engine, qp);
	return sent;
}

/* @param turn in which it was served; it may wait in another one now, if its state has changed */
static inline void
settle(const struct engine_qp *qp, struct seat_turn *turn)
{
	rotation_settle(turn);
	if (plx_unlikely(qp->ready_turn != turn))
		rotation_settle(qp->ready_turn);
}

static inline uint32_t
serve(struct plx_engine *engine, struct engine_qp *qp, uint32_t most, bool *done)
{
	struct seat_turn *turn = qp->ready_turn;
	uint32_t sent = serve_unsettled(engine, qp, most, done);

	settle(qp, turn);
	return sent;
}

/* As serve(), beside other seats. A cycle fetches only so much from a ring, but serves seats that
 * have more in further turns: the seat of a queue pair that has sent all that was fetched would
 * lose them. */
static uint32_t
serve_beside_others(struct plx_engine *engine, struct engine_qp *qp, uint32_t most, bool *done)
{
	struct seat_turn *turn = qp->ready_turn;
	uint32_t sent = serve_unsettled(engine, qp, most, done);

	if (plx_list_empty(&qp->ready_link) && engine_qp_fetch(qp) > 0)
		engine_schedule(engine, qp);
	settle(qp, turn);
	return sent;
}

/* The queue pair that is served first in this turn. */
static inline struct engine_qp *
first_of(const struct seat_turn *turn)
{
	return plx_list_entry(turn->members.next, struct engine_qp, ready_link);
}

/* Serve queue pairs of a seat for the length of its turn. A queue pair that was served and has more
 * to send moves to the end of its seat's, and a seat to the end of the seats. What was cut short,
 * queue pair or turn, keeps its position and the rest.
 * @param work packets at most, where a service that sends nothing counts as one
 * Returns: false: room, buffers or `work` ran out */
static bool
serve_turn(struct plx_engine *engine, struct seat_turn *turn, uint32_t *work, uint32_t *sent)
{
	bool alone = turn->rotation->count <= 1, is_cut = false;
	uint32_t left = turn_left(turn);

	/* A seat that is alone serves each of its queue pairs once in a cycle. */
	while (turn->count > 0 && left > 0 && !(alone && turn->unserved == 0)) {
		struct engine_qp *qp = first_of(turn);
		uint32_t room = bulk_room(engine, qp), n;
		bool done;

		if (room > *work)
			room = *work;
		is_cut = room == 0;
		if (is_cut)
			break;
		room = room < left ? room : left;
		n = alone ? serve(engine, qp, room, &done)
			  : serve_beside_others(engine, qp, room, &done);
		*sent += n;
		n += n == 0;
		*work -= n;
		left -= n;
		is_cut = !done && left > 0;
		if (is_cut)
			break;
		turn->unserved -= done && turn->unserved > 0;
	}
	if (is_cut)
		turn->left = alone ? 0 : left;
	else
		rotation_end_turn(turn);
	return !is_cut;
}

/* Serve seats in turn, until each queue pair that waits was served once, or room runs out. Seats
 * that have served all of theirs have further turns meanwhile: all have equal shares. */
static __attribute__((noinline)) uint32_t
rotate(struct plx_engine *engine, struct rotation *rotation)
{
	uint32_t work = BULK_ROOM, sent = 0;
	bool again = rotation->count > 0;

	rotation_begin(rotation);
	while (again) {
		again = false;
		for (uint32_t turns = rotation->count; turns > 0; turns--) {
			struct seat_turn *turn = rotation_first(rotation);

			if (!serve_turn(engine, turn, &work, &sent))
				return sent;
			again |= turn->unserved > 0;
		}
	}
	return sent;
}

/* As rotate(), for the port's rotation with one member. */
static inline uint32_t
send_only(struct plx_engine *engine)
{
	struct engine_qp *qp = first_of(rotation_first(&engine->queues.rotations[WAIT_PORT]));
	uint32_t room = bulk_room(engine, qp);
	bool done;

	if (plx_unlikely(room == 0))
		return 0;
	return serve_unsettled(engine, qp, room, &done);
}

/* Deliver flushed completions, even if the port is full. A turn is one service. */
static PLX_COLD uint32_t
flush(struct plx_engine *engine, struct rotation *rotation)
{
	uint32_t services = rotation_begin(rotation), sent = 0;

	if (rotation->count > 0)
		rotation_leave(rotation_first(rotation)); /* if it was kept without members */
	if (services > FLUSH_BURST)
		services = FLUSH_BURST;
	while (services-- > 0 && rotation->count > 0) {
		struct seat_turn *turn = rotation_first(rotation);
		struct engine_qp *qp = first_of(turn);
		uint32_t room = bulk_room(engine, qp);

		ready_take(engine, qp);
		sent += engine_transmit(engine, qp, room < QUANTUM_MAX ? room : QUANTUM_MAX);
		engine_schedule(engine, qp);
		rotation_end_turn(turn);
	}
	return sent;
}

/* ---- acknowledgements ---- */

static inline bool
has_ack_room(const struct plx_engine *engine, const struct engine_qp *qp)
{
	return qp->loops ? engine->loop_count < LOOP_ROOM : engine->tx_count < TX_ROOM;
}

/* Send the pending ACK, NAK or CNP, in the room left by requests and READ responses. At most one
 * is pending per received packet. Without room it is the first to be sent later. */
static void
acknowledge(struct plx_engine *engine, struct engine_qp *qp)
{
	if (plx_unlikely(!has_ack_room(engine, qp) || engine_transmit(engine, qp, 1) == 0))
		owing_append(qp);
}

/* Send the acknowledgements that found no room in an earlier cycle. A turn is one of them. */
static PLX_COLD void
acknowledge_late(struct plx_engine *engine, struct rotation *rotation)
{
	uint32_t members = rotation_begin(rotation);

	while (members-- > 0) {
		struct seat_turn *turn = rotation_first(rotation);
		struct engine_qp *qp =
			plx_list_entry(turn->members.next, struct engine_qp, owing_link);

		if (!has_ack_room(engine, qp))
			return;
		rotation_take(turn, &qp->owing_link);
		rotation_end_turn(turn);
		if (plx_rc_owes(qp->rc))
			acknowledge(engine, qp);
		engine_schedule(engine, qp);
	}
}

/* Send what is owed before anything else (decision 3). */
static inline void
acknowledge_first(struct plx_engine *engine)
{
	struct rotation *port = &engine->queues.rotations[WAIT_ACK_PORT];
	struct rotation *loop = &engine->queues.rotations[WAIT_ACK_LOOP];

	if (plx_likely((port->count | loop->count) == 0))
		return;
	acknowledge_late(engine, port);
	acknowledge_late(engine, loop);
}

/* Is it this queue pair's turn? */
static inline bool
is_next(const struct engine_qp *qp)
{
	const struct rotation *rotation = qp->ready_turn->rotation;
	const struct seat_turn *first;

	if (rotation->count == 0 || PLX_MUTANT(ANSWERS_PUSH_IN))
		return true;
	first = rotation_first(rotation);
	return first->members.next == &qp->ready_link || first->count == 0;
}

/* Let a queue pair send before its seat's turn comes in engine_send_ready(): of this turn. */
static void
serve_early(struct plx_engine *engine, struct engine_qp *qp, uint32_t room)
{
	struct seat_turn *turn = qp->ready_turn;
	uint32_t left = turn_left(turn);
	bool done;

	left -= serve(engine, qp, room < left ? room : left, &done);
	if (left == 0)
		rotation_end_turn(turn);
	else if (turn->rotation->count > 1 && turn->count > 0)
		turn->left = left;
}

/* Send what a received packet requires, at the end of its burst. */
static void
answer(struct plx_engine *engine, struct engine_qp *qp)
{
	uint32_t room = bulk_room(engine, qp), done;
	bool whole;

	/* No queue pair waits before it: it may send at once, together with the ACK. */
	if (plx_likely(room > 0 && engine->ready_count == 0)) {
		(void)serve_unsettled(engine, qp, room, &whole);
		return;
	}
	if (plx_list_empty(&qp->ready_link))
		qp->ready_turn = ready_turn_of(qp);
	if (plx_likely(room > 0 && is_next(qp))) {
		serve_early(engine, qp, room);
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
engine_answer_held(struct plx_engine *engine)
{
	if (plx_unlikely(engine->hold.qp != NULL))
		answer(engine, engine_hold_end(engine));
}

/* @param received packets */
void
engine_answer(struct plx_engine *engine, uint32_t received)
{
	struct engine_qp *held = engine->hold.qp;

	acknowledge_first(engine);
	if (plx_unlikely(held != NULL) && !engine_holds_on(engine, received) && !held->is_received)
		answer(engine, held);
	else if (engine->received_count == 1 && held == NULL && engine->config.inline_mode &&
		 engine->member == NULL && engine_holds(engine, engine->received[0], received))
		return;
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
	struct rotation *port = &engine->queues.rotations[WAIT_PORT];
	struct rotation *loop = &engine->queues.rotations[WAIT_LOOP];
	struct rotation *flushing = &engine->queues.rotations[WAIT_FLUSH];
	uint32_t sent = engine->tx_count;

	/* A flush since the responses may have made room for pending acknowledgements: no request
	 * overtakes them, nor one that waits for company (decision 3). */
	acknowledge_first(engine);
	if (engine->ready_count == 0)
		return 0;
	engine_answer_held(engine);
	sent = engine->tx_count - sent;
	if (engine->ready_count == 0)
		return sent;
	if (plx_likely(engine->ready_count == 1 && (loop->count | flushing->count) == 0))
		return sent + send_only(engine);
	sent += flush(engine, flushing);
	sent += rotate(engine, loop);
	return sent + rotate(engine, port);
}
