/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What waits for an engine that stands still: a worker that was preempted, stopped, or sits in a
 * debugger. An object that was released then keeps its memory, and its parents, until the engine
 * has let go of it: an event, or a peer's packet, finds what it names. What an interface defers
 * stays pending. The session's dispatcher finishes all of it, in the order in which it came, as
 * soon as the engine has been through a cycle. It never has a caller wait, but for want of memory.
 * Start with session_teardown().
 *
 * The list is as long as objects were alive, which the adapter's limits bound. When one call has
 * waited for the engine in vain, `stalled` says so until it runs again, and no further one waits.
 * In inline mode the caller is the engine: nothing is ever deferred.
 */
#include <stdlib.h>

#include "internal.h"

enum {
	LOOK_MS = 5,    /* for a cycle of the engine, before anything is asked of it */
	REPEAT_MS = 20, /* between two such looks */
};

/* A connection below whose connector has gone. */
struct deferred_connector {
	struct plx_session_deferred deferred;
	struct plx_session *session;
	struct plx_connector *connector;
};

void
session_deferred_init(struct plx_session *session)
{
	pthread_mutex_init(&session->deferred_lock, NULL);
	plx_list_init(&session->deferred);
}

int
session_deferred_wait_ms(const struct plx_session *session)
{
	return atomic_load(&session->deferred_count) > 0 ? REPEAT_MS : -1;
}

bool
plx_session_is_stalled(const struct plx_session *session)
{
	return atomic_load(&session->stalled);
}

void
plx_session_defer(struct plx_session *session, struct plx_session_deferred *deferred,
		  plx_session_deferred_fn *finish)
{
	deferred->finish = finish;
	pthread_mutex_lock(&session->deferred_lock);
	plx_list_append(&session->deferred, &deferred->node);
	atomic_fetch_add(&session->deferred_count, 1);
	pthread_mutex_unlock(&session->deferred_lock);
	session_dispatch_wake(session);
}

/* An engine did not answer. */
static void
set_stalled(struct plx_session *session)
{
	if (!atomic_exchange(&session->stalled, true))
		session_log(session,
			    "adapter %s: its worker stands still; what is released meanwhile ends "
			    "when it runs again",
			    session->name);
}

/* ---- objects ----------------------------------------------------------------------------------
 */

static bool
finish_object(struct plx_session_deferred *deferred)
{
	struct plx_session_object *object =
		plx_list_entry(deferred, struct plx_session_object, deferred);

	if (object->kind->teardown(object) == PLX_TIMEOUT)
		return false;
	session_object_end(object);
	return true;
}

bool
session_teardown(struct plx_session_object *object)
{
	struct plx_session *session = object->session;
	enum plx_status status =
		plx_session_is_stalled(session) ? PLX_TIMEOUT : object->kind->teardown(object);

	if (status != PLX_TIMEOUT)
		return true;
	set_stalled(session);
	plx_session_defer(session, &object->deferred, finish_object);
	return false;
}

/* ---- connections below ------------------------------------------------------------------------
 */

static bool
finish_connector(struct plx_session_deferred *deferred)
{
	struct deferred_connector *it =
		plx_list_entry(deferred, struct deferred_connector, deferred);
	struct plx_session *session = it->session;
	enum plx_status status;

	pthread_mutex_lock(&session->events);
	status = plx_connector_destroy(it->connector);
	pthread_mutex_unlock(&session->events);
	if (status != PLX_TIMEOUT)
		free(it);
	return status != PLX_TIMEOUT;
}

void
plx_session_destroy_connector(struct plx_session *session, struct plx_connector *connector)
{
	struct deferred_connector *it;

	/* What still comes of it is for nobody. */
	plx_connector_set_context(connector, 0);
	if (!plx_session_is_stalled(session) && plx_connector_destroy(connector) != PLX_TIMEOUT)
		return;
	set_stalled(session);
	it = malloc(sizeof(*it));
	if (it == NULL) {
		while (plx_connector_destroy(connector) == PLX_TIMEOUT)
			;
		atomic_store(&session->stalled, false);
		return;
	}
	it->session = session;
	it->connector = connector;
	plx_session_defer(session, &it->deferred, finish_connector);
}

/* ---- finishing --------------------------------------------------------------------------------
 */

/* The first one, out of the list; it is counted until it is finished. */
static struct plx_session_deferred *
pop_first(struct plx_session *session)
{
	struct plx_session_deferred *deferred = NULL;

	pthread_mutex_lock(&session->deferred_lock);
	if (!plx_list_empty(&session->deferred)) {
		deferred =
			plx_list_entry(session->deferred.next, struct plx_session_deferred, node);
		plx_list_remove(&deferred->node);
	}
	pthread_mutex_unlock(&session->deferred_lock);
	return deferred;
}

/* Back to where it was. */
static void
push_front(struct plx_session *session, struct plx_session_deferred *deferred)
{
	pthread_mutex_lock(&session->deferred_lock);
	plx_list_append(session->deferred.next, &deferred->node); /* in front of the first */
	pthread_mutex_unlock(&session->deferred_lock);
}

/* As far as the engine comes round. */
static void
finish_all(struct plx_session *session)
{
	struct plx_session_deferred *deferred;

	if (!plx_adapter_is_running(session->adapter, LOOK_MS))
		return;
	atomic_store(&session->stalled, false);
	while ((deferred = pop_first(session)) != NULL) {
		if (!deferred->finish(deferred)) {
			push_front(session, deferred);
			return;
		}
		atomic_fetch_sub(&session->deferred_count, 1);
	}
}

void
session_deferred_run(struct plx_session *session)
{
	if (atomic_load(&session->deferred_count) > 0)
		finish_all(session);
}

void
session_deferred_drain(struct plx_session *session)
{
	while (atomic_load(&session->deferred_count) > 0)
		finish_all(session);
	pthread_mutex_destroy(&session->deferred_lock);
}
