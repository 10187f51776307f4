/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs of other engines than that of the communication manager. What a connector and its
 * queue pair do to each other crosses in messages; what a call of a program does, in commands of
 * its thread to one engine after another. Start with struct far_qp of connector.h.
 *
 * A connector and what crosses about it: only calls of programs bind a queue pair to it, and before
 * they bind another one, or free the connector, they run a command on the engine of the former.
 * That engine first serves the messages that came before, so none is ever about a later binding.
 */
#ifndef PLX_ENGINE_FAR_H
#define PLX_ENGINE_FAR_H

#include "connector.h"
#include "plx_engine_member.h"

/* ---- far.c: on engine 0 ---- */

/* Must ESTABLISHED wait until the queue pair is in RTS? */
bool far_holds_event(struct engine_connector *connector);
/* End the association with the queue pair: by a message, as soon as there is room. */
void far_unbind(struct engine_connector *connector, enum far_end how);
/* The same, if the caller tells the other engine.
 * Returns: how it has to end there */
enum far_end far_forget(struct engine_connector *connector);
/* Send what found no room.
 * Returns: is there more? */
bool far_send_ends(struct plx_engine *engine);

/* ---- far.c: on the engine of the queue pair ---- */

enum plx_status far_bind(struct engine_connector *connector, struct engine_qp *qp);
void far_end_here(struct engine_connector *connector, enum far_end how);
enum plx_status far_to_rtr(struct engine_connector *connector);
enum plx_status far_to_rts(struct engine_connector *connector);
/* The connection has got its id. */
void far_set_id(struct engine_connector *connector, struct plx_cm_id id);
void far_on_first_packet(struct engine_qp *qp);
void far_on_failure(struct engine_qp *qp);
void far_on_detach(struct engine_qp *qp);
/* Returns: the number of messages sent */
uint32_t far_serve(struct plx_engine *engine);

/* ---- far.c: on both ---- */

void far_on_message(struct plx_engine *engine, const struct engine_message *message);

/* ---- far_command.c: on the caller's thread, as the calls of plx_link.h ---- */

enum plx_status far_connect(struct engine_connector *connector, struct engine_qp *qp,
			    const struct plx_link_attr *attr);
enum plx_status far_establish(struct engine_connector *connector);
enum plx_status far_accept(struct engine_connector *connector, struct engine_qp *qp,
			   const struct plx_link_attr *attr);
enum plx_status far_reject(struct engine_connector *connector, const uint8_t *private_data,
			   uint32_t private_bytes);
enum plx_status far_disconnect(struct engine_connector *connector);
enum plx_status far_close(struct engine_connector *connector);
/* Wait until the engine of the former queue pair has let go of it, and forget that.
 * @param passive the connector has a connection that a peer has requested; else it has none
 * Errors:  STATE (it has another one), TIMEOUT */
enum plx_status far_settle(struct engine_connector *connector, bool passive);

#endif
