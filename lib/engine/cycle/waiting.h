/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs that wait to be served, in the rotations of their engine. Start with ready_append().
 */
#ifndef PLX_ENGINE_WAITING_H
#define PLX_ENGINE_WAITING_H

#include "plx_engine_cycle.h"

/* Where a queue pair with something to send waits. In ERROR it only flushes. */
static inline struct seat_turn *
ready_turn_of(const struct engine_qp *qp)
{
	bool is_error = engine_qp_state(qp) == PLX_QP_ERROR;

	if (plx_likely(!is_error && !qp->loops))
		return &qp->seat->turns[WAIT_PORT];
	return &qp->seat->turns[is_error ? WAIT_FLUSH : WAIT_LOOP];
}

static inline void
ready_append(struct plx_engine *engine, struct engine_qp *qp)
{
	qp->ready_turn = ready_turn_of(qp);
	rotation_append(qp->ready_turn, &qp->ready_link);
	engine->ready_count++;
}

static inline void
ready_prepend(struct plx_engine *engine, struct engine_qp *qp)
{
	qp->ready_turn = ready_turn_of(qp);
	rotation_prepend(qp->ready_turn, &qp->ready_link);
	engine->ready_count++;
}

/* Take it out to serve it. Its seat keeps its place until rotation_settle(). */
static inline void
ready_take(struct plx_engine *engine, struct engine_qp *qp)
{
	if (plx_list_empty(&qp->ready_link))
		return;
	rotation_take(qp->ready_turn, &qp->ready_link);
	engine->ready_count--;
}

static inline void
ready_remove(struct plx_engine *engine, struct engine_qp *qp)
{
	if (plx_list_empty(&qp->ready_link))
		return;
	ready_take(engine, qp);
	rotation_settle(qp->ready_turn);
}

/* Its ACK, NAK or CNP found no room. */
static inline void
owing_append(struct engine_qp *qp)
{
	if (!plx_list_empty(&qp->owing_link))
		return;
	qp->owing_turn = &qp->seat->turns[qp->loops ? WAIT_ACK_LOOP : WAIT_ACK_PORT];
	rotation_append(qp->owing_turn, &qp->owing_link);
}

/* The queue pair is about to be destroyed. Its seat keeps no place without members: it may be
 * destroyed next. */
static inline void
waiting_end(struct plx_engine *engine, struct engine_qp *qp)
{
	ready_take(engine, qp);
	if (!plx_list_empty(&qp->owing_link))
		rotation_take(qp->owing_turn, &qp->owing_link);
	for (uint32_t kind = 0; kind < WAIT_KINDS; kind++)
		rotation_leave(&qp->seat->turns[kind]);
}

#endif
