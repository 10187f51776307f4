/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of this room ask of each other. It owns no state.
 */
#ifndef PLX_SESSION_INTERNAL_H
#define PLX_SESSION_INTERNAL_H

#include "plx_session.h"

/* ---- session.c ----------------------------------------------------------------------------------
 */

/* A sentence for whoever looks for a fault, if the interface wants any. */
void session_log(const struct plx_session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- dispatch.c ---------------------------------------------------------------------------------
 */

/* Errors: NO_MEMORY, FULL */
enum plx_status session_dispatch_start(struct plx_session *session) PLX_MUST_CHECK;
void session_dispatch_stop(struct plx_session *session);
/* The dispatcher looks again at what it waits for. Inline mode: nothing. */
void session_dispatch_wake(struct plx_session *session);
/* Is this thread delivering events just now, so that it must not wait for their end? */
bool session_is_delivering(void);

/* ---- deferred.c ---------------------------------------------------------------------------------
 */

void session_deferred_init(struct plx_session *session);
/* No dispatcher runs any more: wait, for as long as it takes, until nothing is deferred. */
void session_deferred_drain(struct plx_session *session);
/* The dispatcher: finish what can be finished. Takes milliseconds while the engine stands still. */
void session_deferred_run(struct plx_session *session);
/* When to do that [ms, from now]; -1: nothing is deferred. */
int session_deferred_wait_ms(const struct plx_session *session);
/* An object's teardown(). Returns: false: that will be called by the dispatcher, and destroy() then
 */
bool session_teardown(struct plx_session_object *object);

/* ---- hold.c -------------------------------------------------------------------------------------
 */

/* After the last hold, when the engine has let go: it is gone. */
void session_object_end(struct plx_session_object *object);

/* ---- linger.c -----------------------------------------------------------------------------------
 */

/* At the end of the process, and before session_linger_stop(): disconnect whatever is connected
 * still, and wait PLX_SESSION_LINGER_MS at most until every disconnect was answered. Changes
 * nothing else: other threads may still be in any call. */
void session_linger_all(struct plx_session *session);
/* Forgets what session_linger_all() has waited for. No event comes any more, no object is. */
void session_linger_stop(struct plx_session *session);

#endif
