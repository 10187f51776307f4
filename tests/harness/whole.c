/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See whole.h. The owner of fronts knows their objects by the addresses of the engine's halves.
 */
#include "whole.h"

#include "plx_engine_cycle.h"

/* ---- what a program's half asks ---- */

static int
cq_descriptor(struct front_owner *owner, uint64_t object, int *wake_fd)
{
	(void)owner;
	*wake_fd = plx_cq_back_fd((struct engine_cq *)(uintptr_t)object);
	return *wake_fd;
}

static enum plx_status
cq_barrier(struct front_owner *owner, uint64_t object)
{
	struct engine_cq *cq = (struct engine_cq *)(uintptr_t)object;

	(void)owner;
	return plx_seat_back_barrier(cq->seat);
}

static int
channel_descriptor(struct front_owner *owner, uint64_t object, int *wake_fd)
{
	(void)owner;
	*wake_fd = plx_channel_back_fd((struct engine_channel *)(uintptr_t)object);
	return *wake_fd;
}

static int
seat_descriptor(struct front_owner *owner, uint64_t object, int *wake_fd)
{
	(void)owner;
	*wake_fd = plx_seat_back_fd((struct engine_seat *)(uintptr_t)object);
	return *wake_fd;
}

static struct front_owner owner_of_cqs = {.descriptor = cq_descriptor, .barrier = cq_barrier};
static struct front_owner owner_of_channels = {.descriptor = channel_descriptor};
static struct front_owner owner_of_seats = {.descriptor = seat_descriptor};

/* ---- seats ---- */

enum plx_status
whole_seat_create(struct plx_engine *engine, struct whole_seat **out)
{
	struct whole_seat *seat = plx_heap_alloc(sizeof(*seat), -1);
	enum plx_status status = PLX_NO_MEMORY;

	if (seat != NULL)
		status = plx_seat_back_create(engine, NULL, &seat->back);
	if (status != PLX_OK) {
		plx_heap_free(seat);
		return status;
	}
	*out = seat;
	return PLX_OK;
}

enum plx_status
whole_seat_destroy(struct whole_seat *seat)
{
	enum plx_status status = plx_seat_back_destroy(seat->back);

	if (status == PLX_OK)
		plx_heap_free(seat);
	return status;
}

/* An event queue that keeps nothing from call to call. */
static struct eq
events_of(struct engine_seat *seat)
{
	struct seat_fronts fronts;
	struct eq eq;

	plx_seat_back_fronts(seat, &fronts);
	eq_open(&eq, fronts.async_events, sizeof(struct plx_async_event), &owner_of_seats,
		(uintptr_t)seat);
	atomic_init(&eq.fd, atomic_load(&seat->async_events.fd));
	atomic_init(&eq.wake_fd, atomic_load(&seat->async_events.fd));
	return eq;
}

static bool
next_async_event(struct engine_seat *seat, struct plx_async_event *out)
{
	struct eq eq = events_of(seat);

	return eq_pop(&eq, out);
}

bool
whole_seat_next_async_event(struct whole_seat *seat, struct plx_async_event *out)
{
	return next_async_event(seat->back, out);
}

bool
plx_engine_next_async_event(struct plx_engine *engine, struct plx_async_event *out)
{
	return next_async_event(plx_seat_back_own(engine), out);
}

int
plx_engine_async_event_fd(struct plx_engine *engine)
{
	struct eq eq = events_of(plx_seat_back_own(engine));

	return eq_fd(&eq);
}

static struct engine_seat *
seat_of(struct plx_engine *engine, struct whole_seat *seat)
{
	return seat != NULL ? seat->back : plx_seat_back_own(engine);
}

/* ---- queues ---- */

struct engine_cq *
whole_cq_back(const struct plx_cq *cq)
{
	return (struct engine_cq *)(uintptr_t)cq->object;
}

struct engine_srq *
whole_srq_back(const struct plx_srq *srq)
{
	return (struct engine_srq *)(uintptr_t)srq->object;
}

enum plx_status
whole_cq_create_on(struct plx_engine *engine, struct whole_seat *seat,
		   const struct plx_engine_cq_config *config, struct plx_cq **out)
{
	struct plx_cq *cq = plx_heap_alloc(sizeof(*cq), -1);
	enum plx_status status = PLX_NO_MEMORY;
	struct engine_cq *back;

	if (cq != NULL)
		status = plx_cq_back_create(seat_of(engine, seat), config, &back);
	if (status != PLX_OK) {
		plx_heap_free(cq);
		return status;
	}
	cq_open(cq, plx_cq_back_front(back), config->depth, engine->config.inline_mode,
		&owner_of_cqs, (uintptr_t)back);
	*out = cq;
	return PLX_OK;
}

enum plx_status
plx_engine_cq_create(struct plx_engine *engine, const struct plx_engine_cq_config *config,
		     struct plx_cq **cq)
{
	return whole_cq_create_on(engine, NULL, config, cq);
}

enum plx_status
plx_engine_cq_destroy(struct plx_cq *cq)
{
	enum plx_status status = plx_cq_back_destroy(whole_cq_back(cq));

	if (status == PLX_OK)
		plx_heap_free(cq);
	return status;
}

enum plx_status
plx_engine_cq_resize(struct plx_cq *cq, uint32_t depth)
{
	return plx_cq_back_resize(whole_cq_back(cq), depth);
}

/* @param back what inline mode posts to; NULL: there is a ring */
static const struct plx_here *
here_of(const void *back)
{
	return back != NULL ? &plx_engine_here : NULL;
}

enum plx_status
whole_srq_create_on(struct plx_engine *engine, struct whole_seat *seat,
		    const struct plx_engine_srq_config *config, struct plx_srq **out)
{
	struct plx_srq *srq = plx_heap_alloc(sizeof(*srq), -1);
	enum plx_status status = PLX_NO_MEMORY;
	struct engine_srq *back;

	if (srq != NULL)
		status = plx_srq_back_create(seat_of(engine, seat), config, &back);
	if (status != PLX_OK) {
		plx_heap_free(srq);
		return status;
	}
	rq_open(&srq->queue, plx_srq_back_front(back),
		config->depth_max > config->depth ? config->depth_max : config->depth, config->sges,
		here_of(plx_srq_back_inline(back)), plx_srq_back_inline(back));
	atomic_init(&srq->queue.limit, config->depth);
	srq->object = (uintptr_t)back;
	*out = srq;
	return PLX_OK;
}

enum plx_status
plx_engine_srq_create(struct plx_engine *engine, const struct plx_engine_srq_config *config,
		      struct plx_srq **srq)
{
	return whole_srq_create_on(engine, NULL, config, srq);
}

enum plx_status
plx_engine_srq_destroy(struct plx_srq *srq)
{
	enum plx_status status = plx_srq_back_destroy(whole_srq_back(srq));

	if (status == PLX_OK)
		plx_heap_free(srq);
	return status;
}

enum plx_status
plx_engine_srq_arm(struct plx_srq *srq, uint32_t threshold)
{
	return plx_srq_back_arm(whole_srq_back(srq), threshold);
}

/* ---- queue pairs ---- */

struct whole_qp {
	struct plx_qp qp;
	struct plx_engine_qp_config config;
};

static void
open_qp(struct plx_qp *qp, struct engine_qp *back)
{
	struct qp_back_made made;
	struct seat_fronts fronts;
	struct sq_config sq;

	plx_qp_back_made(back, &made);
	plx_seat_back_fronts(back->seat, &fronts);
	qp->here = here_of(made.sq);
	qp->back = back;
	qp->engine = back->engine;
	qp->qpn = made.qpn;
	qp->first_psn = made.first_psn;
	qp->has_srq = made.has_srq;
	qp->object = (uintptr_t)back;
	sq = (struct sq_config){
		.front = made.sq_front,
		.caps = made.caps,
		.doorbell =
			seat_doorbell(fronts.doorbells, made.slot, plx_engine_bell(back->engine)),
		.ud = made.type == PLX_QP_UD,
		.domain = made.domain,
		.owner = back->engine,
		.back = made.sq,
	};
	sq_open(&qp->sq, &sq);
	if (!made.has_srq)
		rq_open(&qp->rq, made.rq_front, made.rq_depth, made.rq_sges, qp->here, made.rq);
}

void
whole_qp_moved(struct plx_qp *qp)
{
	struct qp_back_made made;
	struct seat_fronts fronts;

	plx_qp_back_made(qp->back, &made);
	plx_seat_back_fronts(qp->back->seat, &fronts);
	qp->qpn = made.qpn;
	qp->sq.doorbell =
		seat_doorbell(fronts.doorbells, made.slot, plx_engine_bell(qp->back->engine));
}

enum plx_status
plx_engine_qp_create(struct plx_engine *engine, const struct plx_engine_qp_config *config,
		     struct plx_qp **out)
{
	const struct qp_back_config half = {
		.type = config->type,
		.domain = config->domain,
		.send_cq = whole_cq_back(config->send_cq),
		.recv_cq = whole_cq_back(config->recv_cq),
		.srq = config->srq != NULL ? whole_srq_back(config->srq) : NULL,
		.caps = config->caps,
		.rq_depth = config->rq_depth,
		.rq_sges = config->rq_sges,
		.qkey = config->qkey,
		.congestion = config->congestion,
		.context = config->context,
	};
	struct whole_qp *whole = plx_heap_alloc(sizeof(*whole), -1);
	enum plx_status status = PLX_NO_MEMORY;
	struct engine_qp *back;

	(void)engine;
	if (whole != NULL)
		status = plx_qp_back_create(&half, &back);
	if (status != PLX_OK) {
		plx_heap_free(whole);
		return status;
	}
	whole->config = *config;
	open_qp(&whole->qp, back);
	*out = &whole->qp;
	return PLX_OK;
}

enum plx_status
plx_engine_qp_destroy(struct plx_qp *qp)
{
	enum plx_status status = plx_qp_back_destroy(qp->back);

	if (status == PLX_OK)
		plx_heap_free(plx_list_entry(qp, struct whole_qp, qp));
	return status;
}

enum plx_status
plx_engine_qp_modify(struct plx_qp *qp, enum plx_qp_state to, const struct plx_rc_attr *attr,
		     const struct plx_engine_path *path)
{
	return plx_qp_back_modify(qp->back, to, attr, path);
}

enum plx_status
plx_engine_qp_flush(struct plx_qp *qp)
{
	return plx_qp_back_flush(qp->back);
}

enum plx_status
plx_engine_qp_query(struct plx_qp *qp, struct plx_rc_view *out)
{
	return plx_qp_back_query(qp->back, out);
}

const struct plx_rc_counters *
plx_engine_qp_counters(const struct plx_qp *qp)
{
	return plx_qp_back_counters(qp->back);
}

const struct plx_engine_qp_config *
plx_engine_qp_config(const struct plx_qp *qp)
{
	const uint8_t *at = (const uint8_t *)qp - offsetof(struct whole_qp, qp);

	return &((const struct whole_qp *)(const void *)at)->config;
}

/* ---- connections ---- */

enum plx_status
plx_link_channel_create(struct plx_engine *engine, uint32_t depth, struct whole_channel **out)
{
	struct whole_channel *channel = plx_heap_alloc(sizeof(*channel), -1);
	enum plx_status status = PLX_NO_MEMORY;

	if (channel != NULL)
		status = plx_channel_back_create(plx_seat_back_own(engine), depth, &channel->back);
	if (status != PLX_OK) {
		plx_heap_free(channel);
		return status;
	}
	eq_open(&channel->events, plx_channel_back_front(channel->back),
		sizeof(struct plx_link_event), &owner_of_channels, (uintptr_t)channel->back);
	*out = channel;
	return PLX_OK;
}

enum plx_status
plx_link_channel_destroy(struct whole_channel *channel)
{
	enum plx_status status = plx_channel_back_destroy(channel->back);

	if (status == PLX_OK)
		plx_heap_free(channel);
	return status;
}

bool
plx_link_channel_next(struct whole_channel *channel, struct plx_link_event *out)
{
	return eq_pop(&channel->events, out);
}

int
plx_link_channel_fd(struct whole_channel *channel)
{
	return eq_fd(&channel->events);
}

enum plx_status
plx_link_refuse_request(struct whole_channel *channel, const struct plx_cm_event *requested)
{
	return plx_channel_back_refuse(channel->back, requested->id);
}

enum plx_status
plx_link_listen(struct whole_channel *channel, const struct plx_cm_listen *listen, uint64_t cookie,
		struct whole_listener **out)
{
	struct whole_listener *listener = plx_heap_alloc(sizeof(*listener), -1);
	enum plx_status status = PLX_NO_MEMORY;

	if (listener != NULL)
		status = plx_listener_back_create(channel->back, listen, cookie, &listener->back);
	if (status != PLX_OK) {
		plx_heap_free(listener);
		return status;
	}
	listener->channel = channel;
	listener->cookie = cookie;
	*out = listener;
	return PLX_OK;
}

enum plx_status
plx_link_listener_destroy(struct whole_listener *listener)
{
	enum plx_status status = plx_listener_back_destroy(listener->back);

	if (status == PLX_OK)
		plx_heap_free(listener);
	return status;
}

enum plx_status
plx_link_connector_create(struct whole_channel *channel, uint64_t cookie,
			  struct whole_connector **out)
{
	struct whole_connector *connector = plx_heap_alloc(sizeof(*connector), -1);
	enum plx_status status = PLX_NO_MEMORY;

	if (connector != NULL)
		status = plx_connector_back_create(channel->back, cookie, &connector->back);
	if (status != PLX_OK) {
		plx_heap_free(connector);
		return status;
	}
	connector->channel = channel;
	connector->cookie = cookie;
	*out = connector;
	return PLX_OK;
}

enum plx_status
plx_link_connector_destroy(struct whole_connector *connector)
{
	enum plx_status status = plx_connector_back_destroy(connector->back);

	if (status == PLX_OK)
		plx_heap_free(connector);
	return status;
}

enum plx_status
plx_link_adopt(struct whole_connector *connector, const struct plx_cm_event *requested)
{
	return plx_connector_back_adopt(connector->back, requested->id);
}

enum plx_status
plx_link_connect(struct whole_connector *connector, struct plx_qp *qp,
		 const struct plx_link_attr *attr)
{
	return plx_connector_back_connect(connector->back, qp->back, attr);
}

enum plx_status
plx_link_establish(struct whole_connector *connector)
{
	return plx_connector_back_establish(connector->back);
}

enum plx_status
plx_link_accept(struct whole_connector *connector, struct plx_qp *qp,
		const struct plx_link_attr *attr)
{
	return plx_connector_back_accept(connector->back, qp->back, attr);
}

enum plx_status
plx_link_reject(struct whole_connector *connector, const void *private_data, uint32_t private_bytes)
{
	return plx_connector_back_reject(connector->back, private_data, private_bytes);
}

enum plx_status
plx_link_disconnect(struct whole_connector *connector)
{
	return plx_connector_back_disconnect(connector->back);
}

enum plx_status
plx_link_sidr_request(struct whole_connector *connector, const struct plx_link_attr *attr)
{
	return plx_connector_back_sidr_request(connector->back, attr);
}

/* ---- address handles ---- */

enum plx_status
plx_link_ah_create(struct plx_engine *engine, struct plx_domain domain,
		   const struct plx_engine_path *path, struct plx_ah **out)
{
	struct plx_ah *ah = plx_heap_alloc(sizeof(*ah), -1);
	enum plx_status status = PLX_NO_MEMORY;

	if (ah != NULL)
		status = plx_ah_back_create(engine, domain, path, &ah->number[0]);
	if (status != PLX_OK) {
		plx_heap_free(ah);
		return status;
	}
	ah->owner = engine;
	ah->domain = domain;
	ah->object = (uintptr_t)engine;
	*out = ah;
	return PLX_OK;
}

enum plx_status
plx_link_ah_destroy(struct plx_ah *ah)
{
	enum plx_status status =
		plx_ah_back_destroy((struct plx_engine *)(uintptr_t)ah->object, ah->number[0]);

	if (status == PLX_OK)
		plx_heap_free(ah);
	return status;
}
