/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects of an engine with both of their halves in one process, as tests of engines and the
 * simulator use them: the engine's half (plx_back.h, plx_link.h) and a program's half on its front.
 * It checks nothing: lib/host and lib/verbs do, for programs. Start with plx_engine_qp_create().
 */
#ifndef PLX_TEST_WHOLE_H
#define PLX_TEST_WHOLE_H

#include "plx_back.h"
#include "plx_eq_front.h"
#include "plx_link.h"
#include "plx_qp_front.h"

/* ---- seats ---- */

struct whole_seat {
	struct engine_seat *back;
};

enum plx_status whole_seat_create(struct plx_engine *engine,
				  struct whole_seat **seat) PLX_MUST_CHECK;
enum plx_status whole_seat_destroy(struct whole_seat *seat) PLX_MUST_CHECK;
bool whole_seat_next_async_event(struct whole_seat *seat, struct plx_async_event *out);
/** The same of the engine's own seat. */
bool plx_engine_next_async_event(struct plx_engine *engine, struct plx_async_event *out);
int plx_engine_async_event_fd(struct plx_engine *engine);

/* ---- queues ---- */

/** The engine's half. */
struct engine_cq *whole_cq_back(const struct plx_cq *cq);
struct engine_srq *whole_srq_back(const struct plx_srq *srq);

enum plx_status plx_engine_cq_create(struct plx_engine *engine,
				     const struct plx_engine_cq_config *config,
				     struct plx_cq **cq) PLX_MUST_CHECK;
/** @param seat NULL: the engine's own */
enum plx_status whole_cq_create_on(struct plx_engine *engine, struct whole_seat *seat,
				   const struct plx_engine_cq_config *config,
				   struct plx_cq **cq) PLX_MUST_CHECK;
enum plx_status plx_engine_cq_destroy(struct plx_cq *cq) PLX_MUST_CHECK;
enum plx_status plx_engine_cq_resize(struct plx_cq *cq, uint32_t depth) PLX_MUST_CHECK;

enum plx_status plx_engine_srq_create(struct plx_engine *engine,
				      const struct plx_engine_srq_config *config,
				      struct plx_srq **srq) PLX_MUST_CHECK;
enum plx_status whole_srq_create_on(struct plx_engine *engine, struct whole_seat *seat,
				    const struct plx_engine_srq_config *config,
				    struct plx_srq **srq) PLX_MUST_CHECK;
enum plx_status plx_engine_srq_destroy(struct plx_srq *srq) PLX_MUST_CHECK;
enum plx_status plx_engine_srq_arm(struct plx_srq *srq, uint32_t threshold) PLX_MUST_CHECK;

/* ---- queue pairs ---- */

struct plx_engine_qp_config {
	enum plx_qp_type type;
	struct plx_domain domain;
	struct plx_cq *send_cq, *recv_cq;
	struct plx_srq *srq; /* NULL: a receive queue of its own */
	struct plx_rc_caps caps;
	uint32_t rq_depth, rq_sges;
	uint32_t qkey;
	uint64_t context;
	enum plx_congestion congestion;
};

enum plx_status plx_engine_qp_create(struct plx_engine *engine,
				     const struct plx_engine_qp_config *config,
				     struct plx_qp **qp) PLX_MUST_CHECK;
enum plx_status plx_engine_qp_destroy(struct plx_qp *qp) PLX_MUST_CHECK;
enum plx_status plx_engine_qp_modify(struct plx_qp *qp, enum plx_qp_state to,
				     const struct plx_rc_attr *attr,
				     const struct plx_engine_path *path) PLX_MUST_CHECK;
enum plx_status plx_engine_qp_flush(struct plx_qp *qp) PLX_MUST_CHECK;
enum plx_status plx_engine_qp_query(struct plx_qp *qp, struct plx_rc_view *out) PLX_MUST_CHECK;
const struct plx_rc_counters *plx_engine_qp_counters(const struct plx_qp *qp);
/** What it was created with. */
const struct plx_engine_qp_config *plx_engine_qp_config(const struct plx_qp *qp);

/** The engine's half has got another number: post to it as before. */
void whole_qp_moved(struct plx_qp *qp);

/* ---- connections ---- */

struct whole_channel {
	struct eq events; /* of struct plx_link_event */
	struct engine_channel *back;
};

struct whole_listener {
	struct whole_channel *channel;
	struct engine_listener *back; /* NULL: it does not listen */
	uint64_t cookie;
};

struct whole_connector {
	struct whole_channel *channel;
	struct engine_connector *back;
	uint64_t cookie;
};

enum plx_status plx_link_channel_create(struct plx_engine *engine, uint32_t depth,
					struct whole_channel **channel) PLX_MUST_CHECK;
enum plx_status plx_link_channel_destroy(struct whole_channel *channel) PLX_MUST_CHECK;
bool plx_link_channel_next(struct whole_channel *channel, struct plx_link_event *out);
int plx_link_channel_fd(struct whole_channel *channel);
enum plx_status plx_link_refuse_request(struct whole_channel *channel,
					const struct plx_cm_event *requested) PLX_MUST_CHECK;

enum plx_status plx_link_listen(struct whole_channel *channel, const struct plx_cm_listen *listen,
				uint64_t cookie, struct whole_listener **listener) PLX_MUST_CHECK;
enum plx_status plx_link_listener_destroy(struct whole_listener *listener) PLX_MUST_CHECK;

enum plx_status plx_link_connector_create(struct whole_channel *channel, uint64_t cookie,
					  struct whole_connector **connector) PLX_MUST_CHECK;
enum plx_status plx_link_connector_destroy(struct whole_connector *connector) PLX_MUST_CHECK;
enum plx_status plx_link_adopt(struct whole_connector *connector,
			       const struct plx_cm_event *requested) PLX_MUST_CHECK;
enum plx_status plx_link_connect(struct whole_connector *connector, struct plx_qp *qp,
				 const struct plx_link_attr *attr) PLX_MUST_CHECK;
enum plx_status plx_link_establish(struct whole_connector *connector) PLX_MUST_CHECK;
enum plx_status plx_link_accept(struct whole_connector *connector, struct plx_qp *qp,
				const struct plx_link_attr *attr) PLX_MUST_CHECK;
enum plx_status plx_link_reject(struct whole_connector *connector, const void *private_data,
				uint32_t private_bytes) PLX_MUST_CHECK;
enum plx_status plx_link_disconnect(struct whole_connector *connector) PLX_MUST_CHECK;
enum plx_status plx_link_sidr_request(struct whole_connector *connector,
				      const struct plx_link_attr *attr) PLX_MUST_CHECK;

/* ---- address handles ---- */

enum plx_status plx_link_ah_create(struct plx_engine *engine, struct plx_domain domain,
				   const struct plx_engine_path *path,
				   struct plx_ah **ah) PLX_MUST_CHECK;
enum plx_status plx_link_ah_destroy(struct plx_ah *ah) PLX_MUST_CHECK;

#endif
