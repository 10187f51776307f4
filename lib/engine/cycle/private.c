/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private memory in the duty cycle (decision 48): the copies that a queue pair has asked for, and
 * what waits behind them. While there is any, the queue pair sends nothing and its timers stand
 * still, and its completions queue up behind: so a peer's ACK and a program's completion come after
 * the bytes, as they do from a NIC. It never copies, and never waits: a thread of the seat does
 * (lib/engine/copy). Start with engine_private_place() and engine_serve_copies().
 */
#include "plx_back.h"
#include "plx_engine_cycle.h"

enum {
	RECORDS = 4096,
	/* free when a packet is handled, or a queue pair sends: what one list of actions may add,
	 * twice */
	RECORDS_FREE = 2 * PLX_ACTIONS_MAX,
	COPIES_BURST = 256, /* records served per cycle and seat */
};

_Static_assert((RECORDS & (RECORDS - 1)) == 0, "indexes are masked");

/* A copy that takes longer never ends: the program has memory that it does not let us read or
 * write, or the thread is stopped. */
#define COPY_NS (2 * PLX_SEC)

enum record_kind {
	RECORD_PLACE,
	RECORD_REQUEST, /* a load for a request of ours */
	RECORD_ANSWER,  /* a load for a READ of the peer */
	RECORD_COMPLETION,
};

struct record {
	struct engine_qp *qp; /* NULL: destroyed */
	enum record_kind kind;
	struct plx_psn psn; /* PLACE: of its packet, if that was a request */
	struct plx_completion completion;
};

struct engine_copier {
	struct plx_list link; /* in engine->copying while there are records */
	struct plx_copier *copier;
	uint32_t head, tail;
	uint64_t since; /* when a copy was finished, or the first asked for */
	bool asked;     /* for copies, of which the thread has not been told */
	bool broken;    /* one was not finished in time: the thread is given up */
	struct record record[RECORDS];
};

bool
engine_copier_has_room(const struct engine_copier *copier)
{
	return RECORDS - (copier->tail - copier->head) >= RECORDS_FREE &&
	       (copier->broken || plx_copier_room(copier->copier) >= RECORDS_FREE);
}

/* Returns: where to fill it in */
static struct record *
append(struct plx_engine *engine, struct engine_qp *qp, enum record_kind kind)
{
	struct engine_copier *copier = qp->seat->copier;
	struct record *record = &copier->record[copier->tail++ & (RECORDS - 1)];

	if (plx_list_empty(&copier->link)) {
		plx_list_append(&engine->copying, &copier->link);
		copier->since = engine->now;
	}
	copier->asked = true;
	record->qp = qp;
	record->kind = kind;
	qp->copies++;
	return record;
}

void
engine_private_place(struct plx_engine *engine, struct engine_qp *qp, const struct plx_place *place)
{
	const struct engine_copier *copier = qp->seat->copier;

	append(engine, qp, RECORD_PLACE)->psn = plx_psn_sub(plx_rc_expected(qp->rc), 1);
	if (!copier->broken)
		plx_copier_place(copier->copier, place->dst, place->src, place->bytes);
}

void
engine_private_load(struct plx_engine *engine, struct engine_qp *qp, const struct plx_load *load)
{
	const struct engine_copier *copier = qp->seat->copier;

	append(engine, qp, load->answers ? RECORD_ANSWER : RECORD_REQUEST);
	if (!copier->broken)
		plx_copier_load(copier->copier, load->shadow, load->bytes);
}

/* What was done before the failure has happened; what follows it is not known to have. */
static void
deliver(struct plx_engine *engine, struct engine_qp *qp, struct plx_completion *done)
{
	if (qp->copy_failed && done->status == PLX_WC_SUCCESS) {
		done->status = qp->copy_failure_told ? PLX_WC_FLUSHED : PLX_WC_LOCAL_PROTECTION;
		qp->copy_failure_told = true;
	}
	engine_stage(engine, qp, done);
}

void
engine_private_hold(struct plx_engine *engine, struct engine_qp *qp,
		    const struct plx_completion *done)
{
	const struct engine_copier *copier = qp->seat->copier;
	struct plx_completion copy = *done;

	/* Only those of failures can find no room, and all of them follow one. */
	if (plx_unlikely(copier->tail - copier->head == RECORDS))
		deliver(engine, qp, &copy);
	else
		append(engine, qp, RECORD_COMPLETION)->completion = copy;
}

static PLX_COLD void
fail(struct plx_engine *engine, struct engine_qp *qp, const struct record *record)
{
	if (record->kind == RECORD_PLACE) {
		qp->copy_failed = true;
		plx_rc_fail_place(qp->rc, record->psn, &engine->actions);
	} else {
		plx_rc_fail_load(qp->rc, record->kind == RECORD_ANSWER, &engine->actions);
	}
	engine_execute(engine, qp);
}

/* Has the copy of a record been finished, or has it failed? */
static bool
is_finished(struct plx_engine *engine, struct engine_copier *copier, bool *failed)
{
	*failed = true;
	if (copier->broken)
		return true;
	if (!plx_copier_take(copier->copier, failed)) {
		copier->broken = engine->now - copier->since > COPY_NS;
		return copier->broken;
	}
	copier->since = engine->now;
	return true;
}

static uint32_t
serve(struct plx_engine *engine, struct engine_copier *copier)
{
	uint32_t served = 0;

	while (copier->head != copier->tail && served < COPIES_BURST) {
		struct record record = copier->record[copier->head & (RECORDS - 1)];
		struct engine_qp *qp = record.qp;
		bool failed = false;

		if (record.kind != RECORD_COMPLETION && !is_finished(engine, copier, &failed))
			return served;
		copier->head++;
		served++;
		if (qp == NULL)
			continue;
		if (record.kind == RECORD_COMPLETION)
			deliver(engine, qp, &record.completion);
		else if (failed)
			fail(engine, qp, &record);
		if (--qp->copies == 0) {
			qp->copy_failed = qp->copy_failure_told = false;
			if (qp->ud == NULL)
				engine_take_kept(engine, qp);
			engine_schedule(engine, qp);
		}
	}
	if (copier->head == copier->tail)
		plx_list_remove(&copier->link);
	return served;
}

/* Once for all that a burst has asked for: a thread that is woken for each would often have to be
 * woken again for the next. */
PLX_COLD void
engine_ring_copiers(struct plx_engine *engine)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &engine->copying) {
		struct engine_copier *copier = plx_list_entry(node, struct engine_copier, link);

		if (!copier->asked)
			continue;
		copier->asked = false;
		plx_copier_ring(copier->copier);
	}
}

PLX_COLD uint32_t
engine_serve_copies(struct plx_engine *engine)
{
	struct plx_list *node, *after;
	uint32_t served = 0;

	plx_list_for_each (node, after, &engine->copying)
		served += serve(engine, plx_list_entry(node, struct engine_copier, link));
	return served;
}

void
engine_private_forget(struct engine_qp *qp)
{
	struct engine_copier *copier = qp->seat->copier;

	if (qp->copies == 0)
		return;
	for (uint32_t i = copier->head; i != copier->tail; i++)
		if (copier->record[i & (RECORDS - 1)].qp == qp)
			copier->record[i & (RECORDS - 1)].qp = NULL;
	qp->copies = 0;
	qp->copy_failed = qp->copy_failure_told = false;
}

void
engine_copier_end(struct engine_copier *copier)
{
	if (copier != NULL)
		plx_list_remove(&copier->link);
}

/* ---- on the caller's thread ---- */

struct set_call {
	struct engine_seat *seat;
	struct engine_copier *copier;
};

static enum plx_status
set_copier(struct plx_engine *engine, void *arg)
{
	const struct set_call *call = arg;

	(void)engine;
	if (call->seat->copier != NULL)
		return PLX_STATE;
	call->seat->copier = call->copier;
	return PLX_OK;
}

enum plx_status
plx_seat_back_set_copier(struct engine_seat *seat, struct plx_copier *copier)
{
	struct set_call call = {.seat = seat, .copier = plx_heap_queue(sizeof(*call.copier), -1)};
	enum plx_status status;

	if (call.copier == NULL)
		return PLX_NO_MEMORY;
	call.copier->copier = copier;
	plx_list_init(&call.copier->link);
	status = command_call(engine_of(seat->queues), set_copier, &call);
	if (status != PLX_OK)
		plx_heap_free(call.copier);
	return status;
}
