/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Creation of an engine's queues, and the operations on them that its thread must execute, as
 * commands. Posting, polling and arming do not pass through here. Start with
 * plx_cq_back_create().
 */
#include "plx_back.h"
#include "plx_engine_cycle.h"

/* ---- on the engine's thread ---- */

struct resize_call {
	struct engine_cq *cq;
	uint32_t depth;
	struct plx_wc *spare; /* a new backlog; exchanged for the old one, which the caller frees */
	uint32_t spare_room;
};

static enum plx_status
resize_cq(struct plx_engine *engine, void *arg)
{
	struct resize_call *call = arg;

	(void)engine;
	if (engine_cq_unreaped(call->cq) > call->depth)
		return PLX_BUSY;
	return engine_cq_grow(call->cq, call->depth, 0, &call->spare, call->spare_room);
}

static enum plx_status
detach_cq(struct plx_engine *engine, void *arg)
{
	struct engine_cq *cq = arg;

	(void)engine;
	if (cq->users > 0)
		return PLX_BUSY;
	plx_list_remove(&cq->spilled_link);
	plx_list_remove(&cq->broken_link);
	plx_list_remove(&cq->async_event_link);
	return PLX_OK;
}

struct arm_call {
	struct engine_srq *srq;
	uint32_t threshold;
};

/* If the queue is already below the threshold, the event is raised at once; else when a message
 * consumes an entry. */
static enum plx_status
arm_srq(struct plx_engine *engine, void *arg)
{
	const struct arm_call *call = arg;
	struct engine_srq *srq = call->srq;
	uint32_t threshold = call->threshold;

	(void)engine;
	engine_rq_fetch(&srq->queue);
	srq->threshold = threshold;
	engine_rq_set_low(&srq->queue, threshold);
	if (threshold > 0 && plx_rq_count(srq->queue.rq) < threshold) {
		plx_rq_arm(srq->queue.rq, 0);
		engine_raise_srq_event(srq);
		return PLX_OK;
	}
	plx_rq_arm(srq->queue.rq, threshold);
	return PLX_OK;
}

static enum plx_status
detach_srq(struct plx_engine *engine, void *arg)
{
	struct engine_srq *srq = arg;

	(void)engine;
	if (srq->users > 0)
		return PLX_BUSY;
	plx_list_remove(&srq->async_event_link);
	plx_list_remove(&srq->queue.broken_link);
	return PLX_OK;
}

static void
share_out(struct plx_engine *engine, uint32_t seats)
{
	uint32_t share = DOORBELLS_BURST / (seats > 0 ? seats : 1);

	engine->seat_count = seats;
	engine->seat_share = share < SEAT_BURST_MIN ? SEAT_BURST_MIN : share;
}

void
engine_seat_add_slot(struct plx_engine *engine, struct engine_seat *seat, uint32_t slot)
{
	plx_bitmap_set(seat->slots, slot);
	plx_bitmap_set(seat->words, slot / 64);
	if (seat->slots_used++ > 0)
		return;
	plx_list_append(&engine->seats, &seat->link);
	share_out(engine, engine->seat_count + 1);
}

void
engine_seat_remove_slot(struct plx_engine *engine, struct engine_seat *seat, uint32_t slot)
{
	plx_bitmap_clear(seat->slots, slot);
	if (seat->slots[slot / 64] == 0)
		plx_bitmap_clear(seat->words, slot / 64);
	if (--seat->slots_used > 0)
		return;
	plx_list_remove(&seat->link);
	share_out(engine, engine->seat_count - 1);
}

static enum plx_status
detach_seat(struct plx_engine *engine, void *arg)
{
	struct engine_seat *seat = arg;

	(void)engine;
	if (atomic_load(&seat->users) > 0)
		return PLX_BUSY;
	plx_list_remove(&seat->eventful_link);
	engine_copier_end(seat->copier);
	return PLX_OK;
}

static enum plx_status
do_nothing(struct plx_engine *engine, void *call)
{
	(void)engine;
	(void)call;
	return PLX_OK;
}

/* ---- on the caller's thread ---- */

/* A command is a barrier. */
static enum plx_status
make_barrier(struct engine_queues *queues)
{
	return command_call(engine_of(queues), do_nothing, NULL);
}

void
engine_queues_init(struct plx_engine *engine)
{
	struct engine_queues *queues = &engine->queues;

	plx_list_init(&queues->spilled);
	plx_list_init(&queues->broken);
	plx_list_init(&queues->broken_rqs);
	plx_list_init(&queues->eventful);
	queues->cq_spilled = &engine->counters.cq_spilled;
	queues->cq_overruns = &engine->counters.cq_overruns;
	queues->notifications = &engine->counters.notifications;
	queues->posts_refused = &engine->counters.posts_refused;
	queues->rings_forged = &engine->counters.rings_forged;
	queues->inline_mode = engine->config.inline_mode;
	queues->socket = engine->port->caps.socket;
	front_memory_init(&queues->memory, queues->socket);
	queues->barrier = make_barrier;
}

/* ---- seats ---- */

enum plx_status
engine_seat_make(struct plx_engine *engine, const struct seat_config *config,
		 struct engine_seat **out)
{
	return engine_seat_create(&engine->queues, config, 1u << engine->place_bits,
				  ASYNC_EVENTS_MAX, sizeof(struct plx_async_event), out);
}

enum plx_status
plx_seat_back_create(struct plx_engine *engine, const struct seat_config *config,
		     struct engine_seat **out)
{
	struct engine_seat *seat = NULL;
	enum plx_status status = engine_seat_make(engine, config, &seat);

	/* whose queue pairs it will serve, if it runs */
	if (status == PLX_OK)
		status = command_call(engine, do_nothing, NULL);
	if (status != PLX_OK) {
		engine_seat_free(seat);
		return status;
	}
	atomic_fetch_add(&engine->queues.users, 1);
	*out = seat;
	return PLX_OK;
}

enum plx_status
plx_seat_back_destroy(struct engine_seat *seat)
{
	struct engine_queues *queues = seat->queues;
	enum plx_status status = command_call(engine_of(queues), detach_seat, seat);

	if (status != PLX_OK)
		return status;
	atomic_fetch_sub(&queues->users, 1);
	engine_seat_free(seat);
	return PLX_OK;
}

struct engine_seat *
plx_seat_back_own(struct plx_engine *engine)
{
	return engine->own;
}

void
plx_seat_back_fronts(const struct engine_seat *seat, struct seat_fronts *out)
{
	*out = (struct seat_fronts){.doorbells = seat->front,
				    .async_events = seat->async_events.ring.shared};
}

int
plx_seat_back_fd(struct engine_seat *seat)
{
	return engine_eq_fd(&seat->async_events);
}

static bool
set_fd(atomic_int *to, int fd)
{
	int none = -1;

	return atomic_compare_exchange_strong(to, &none, fd);
}

bool
plx_seat_back_set_fd(struct engine_seat *seat, int fd)
{
	return set_fd(&seat->async_events.fd, fd);
}

enum plx_status
plx_seat_back_barrier(struct engine_seat *seat)
{
	return seat->queues->barrier(seat->queues);
}

/* ---- queues ---- */

enum plx_status
plx_cq_back_create(struct engine_seat *seat, const struct plx_engine_cq_config *config,
		   struct engine_cq **cq)
{
	return engine_cq_create(seat, config, cq);
}

enum plx_status
plx_cq_back_destroy(struct engine_cq *cq)
{
	enum plx_status status = command_call(engine_of(cq->queues), detach_cq, cq);

	if (status == PLX_OK)
		engine_cq_free(cq);
	return status;
}

void
plx_cq_back_place(struct engine_cq *cq, struct engine_seat *seat)
{
	engine_cq_place(cq, seat);
}

enum plx_status
plx_cq_back_resize(struct engine_cq *cq, uint32_t depth)
{
	struct resize_call call = {.cq = cq, .depth = depth};
	enum plx_status status;

	if (depth < 1 || depth > PLX_CQ_DEPTH_MAX)
		return PLX_INVALID;
	do {
		call.spare_room = engine_cq_spare_room(cq, depth, 0);
		call.spare = NULL;
		if (call.spare_room > 0)
			call.spare = plx_heap_queue(call.spare_room * sizeof(struct plx_wc),
						    cq->queues->socket);
		if (call.spare_room > 0 && call.spare == NULL)
			return PLX_NO_MEMORY;
		status = command_call(engine_of(cq->queues), resize_cq, &call);
		plx_heap_free(call.spare);
	} while (status == PLX_AGAIN);
	return status;
}

struct cq_front *
plx_cq_back_front(const struct engine_cq *cq)
{
	return cq->front;
}

int
plx_cq_back_fd(struct engine_cq *cq)
{
	return engine_cq_fd(cq);
}

bool
plx_cq_back_set_fd(struct engine_cq *cq, int fd)
{
	return set_fd(&cq->fd, fd);
}

enum plx_status
plx_srq_back_create(struct engine_seat *seat, const struct plx_engine_srq_config *config,
		    struct engine_srq **srq)
{
	return engine_srq_create(seat, config, srq);
}

enum plx_status
plx_srq_back_destroy(struct engine_srq *srq)
{
	enum plx_status status = command_call(engine_of(srq->queue.queues), detach_srq, srq);

	if (status == PLX_OK)
		engine_srq_free(srq);
	return status;
}

void
plx_srq_back_place(struct engine_srq *srq, struct engine_seat *seat)
{
	engine_srq_place(srq, seat);
}

enum plx_status
plx_srq_back_arm(struct engine_srq *srq, uint32_t threshold)
{
	struct arm_call call = {srq, threshold};

	if (threshold > srq->queue.depth)
		return PLX_INVALID;
	return command_call(engine_of(srq->queue.queues), arm_srq, &call);
}

struct rq_front *
plx_srq_back_front(const struct engine_srq *srq)
{
	return srq->queue.front;
}

struct engine_rq *
plx_srq_back_inline(struct engine_srq *srq)
{
	return srq->queue.queues->inline_mode ? &srq->queue : NULL;
}
