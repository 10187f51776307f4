/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that the files of this room share. It owns no state.
 */
#ifndef PLX_SESSION_INTERNAL_H
#define PLX_SESSION_INTERNAL_H

#include "plx_session.h"

/* ---- session.c ---- */

/* Log a sentence for diagnosis, if the interface has a log. */
void session_log(const struct plx_session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- dispatch.c ---- */

/* Errors: NO_MEMORY, FULL */
enum plx_status session_dispatch_start(struct plx_session *session) PLX_MUST_CHECK;
void session_dispatch_stop(struct plx_session *session);
/* Make the dispatcher check again what it waits for. Inline mode: no effect. */
void session_dispatch_wake(struct plx_session *session);
/* Is this thread delivering events? If so, it must not wait for delivery to end. */
bool session_is_delivering(void);

/* ---- deferred.c ---- */

void session_deferred_init(struct plx_session *session);
/* Wait, without limit, until nothing is deferred. The dispatcher has stopped. */
void session_deferred_drain(struct plx_session *session);
/* Finish what can be finished. Called by the dispatcher. Takes milliseconds while the engine is
 * stalled. */
void session_deferred_run(struct plx_session *session);
/* Time until session_deferred_run() is due [ms]; -1: nothing is deferred. */
int session_deferred_wait_ms(const struct plx_session *session);
/* Call the object's teardown().
 * Returns: false: the dispatcher will call it later, and then destroy() */
bool session_teardown(struct plx_session_object *object);

/* ---- hold.c ---- */

/* End the object. It has no hold left, and the engine no longer uses it. */
void session_object_end(struct plx_session_object *object);

/* ---- linger.c ---- */

/* Disconnect all connections at process exit, before session_linger_stop(). Wait at most
 * PLX_SESSION_LINGER_MS until every disconnect has been answered. Changes nothing else, because
 * other threads may still be in any call. */
void session_linger_all(struct plx_session *session);
/* Stop waiting for lingering disconnects. Afterwards no event is delivered and no object is
 * used. */
void session_linger_stop(struct plx_session *session);

#endif
