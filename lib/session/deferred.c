/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Work that waits for a stalled engine: its worker was preempted, stopped, or is in a debugger. An
 * object released meanwhile keeps its memory and its parents until the engine no longer uses it,
 * because an event or a peer's packet may still refer to it. What an interface defers stays
 * pending. The session's dispatcher finishes everything in the order in which it was deferred, once
 * the engine has completed a duty cycle. A caller never waits, except when out of memory. Start
 * with session_teardown().
 *
 * The list is no longer than the number of objects that were alive, which the adapter's limits
 * bound. When a call has timed out waiting for the engine, `stalled` is set until the engine runs
 * again, and no further call waits. In inline mode the caller is the engine, so nothing is ever
 * deferred.
 */
#include <stdlib.h>

#include "internal.h"

enum {
	LOOK_MS = 5,    /* wait for a duty cycle, before any call to the engine */
	REPEAT_MS = 20, /* interval between two such checks */
};

/* A public connector that the interface's connector has left behind. */
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

/* Record that an engine did not answer. */
static void
set_stalled(struct plx_session *session)
{
	if (!atomic_exchange(&session->stalled, true))
		session_log(session,
			    "adapter %s: its worker has stalled; what is released meanwhile ends "
			    "when it runs again",
			    session->name);
}

/* ---- objects ---- */

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

/* ---- public connectors ---- */

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

	/* Its later events are dropped. */
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

/* ---- finishing ---- */

/* Remove and return the first entry. It counts as deferred until it is finished. */
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

/* Put it back in its place. */
static void
push_front(struct plx_session *session, struct plx_session_deferred *deferred)
{
	pthread_mutex_lock(&session->deferred_lock);
	plx_list_append(session->deferred.next, &deferred->node); /* before the first */
	pthread_mutex_unlock(&session->deferred_lock);
}

/* Run entries until the engine stalls. */
static void
finish_all(struct plx_session *session)
{
	struct plx_session_deferred *deferred;

	/* A host that has gone has no object of ours. */
	if (!plx_session_host_has_gone(session) &&
	    !plx_adapter_is_running(session->adapter, LOOK_MS))
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
