/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions: one open adapter for all users that opened its name, and its end at process exit. It
 * never accesses an object of an interface. Start with plx_session_get().
 *
 * A session is OPENING, OPEN or CLOSING, protected by `sessions_lock`. A thread that finds it
 * opening or closing waits, because the device cannot be opened twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum {
	CLOSE_TIMEOUT_MS = 2 * PLX_SESSION_LINGER_MS,
};

static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sessions_changed = PTHREAD_COND_INITIALIZER;
static struct plx_list sessions = {&sessions, &sessions};
static pid_t owner; /* the process that opened the first session; a forked child has no session */

void
session_log(const struct plx_session *session, const char *format, ...)
{
	va_list arguments;

	if (!session->hooks->log)
		return;
	va_start(arguments, format);
	session->hooks->log(format, arguments);
	va_end(arguments);
}

/* ---- opening and closing ---- */

static void
close_parts(struct plx_session *session)
{
	if (session->started) {
		session_linger_all(session);
		if (session->hooks->stop)
			session->hooks->stop(session);
	}
	session_dispatch_stop(session);
	session_linger_stop(session);
	if (session->adapter)
		session_deferred_drain(session);
	if (session->channel && plx_event_channel_destroy(session->channel) != PLX_OK)
		session_log(session, "adapter %s: its channel is in use still", session->name);
	if (session->adapter && plx_adapter_close(session->adapter) != PLX_OK)
		session_log(session, "adapter %s: an object of it is left", session->name);
	pthread_mutex_destroy(&session->lock);
	pthread_mutex_destroy(&session->events);
}

static enum plx_status
start(struct plx_session *session)
{
	enum plx_status status = session_dispatch_start(session);

	if (status == PLX_OK && session->hooks->start)
		status = session->hooks->start(session);
	session->started = status == PLX_OK;
	return status;
}

static enum plx_status
open_parts(struct plx_session *session)
{
	struct plx_why why = {""};
	enum plx_status opened, status;

	pthread_mutex_init(&session->events, NULL);
	pthread_mutex_init(&session->lock, NULL);
	plx_list_init(&session->cqs);
	plx_list_init(&session->srqs);
	plx_list_init(&session->lingering);
	session_deferred_init(session);
	atomic_init(&session->next_id, 1);
	opened = plx_adapter_open(session->name, NULL, &session->adapter, &why);
	if (opened == PLX_OK) {
		plx_adapter_query(session->adapter, &session->info);
		session->inline_mode = session->info.mode == PLX_MODE_INLINE;
		opened = plx_event_channel_create(session->adapter, PLX_SESSION_CHANNEL_DEPTH,
						  &session->channel);
	}
	if (opened != PLX_OK) {
		session_log(session, "adapter %s cannot be opened: %s", session->name,
			    *why.text ? why.text : plx_status_text(opened));
		status = opened == PLX_NO_MEMORY ? PLX_NO_MEMORY : PLX_NO_DEVICE;
	} else {
		status = start(session);
	}
	if (status != PLX_OK)
		close_parts(session);
	return status;
}

/* The lock is held; waits until no other thread is opening or closing it. */
static struct plx_session *
find(const char *name)
{
	struct plx_list *node, *after;

again:
	plx_list_for_each (node, after, &sessions) {
		struct plx_session *session = plx_list_entry(node, struct plx_session, node);

		if (strcmp(session->name, name) != 0)
			continue;
		if (session->state == PLX_SESSION_OPEN)
			return session;
		pthread_cond_wait(&sessions_changed, &sessions_lock);
		goto again;
	}
	return NULL;
}

/* The lock is held: the session has no user left. */
static void
forget(struct plx_session *session)
{
	plx_list_remove(&session->node);
	pthread_cond_broadcast(&sessions_changed);
	free(session);
}

static void *
close_session(void *context)
{
	struct plx_session *session = context;

	close_parts(session);
	pthread_mutex_lock(&sessions_lock);
	forget(session);
	pthread_mutex_unlock(&sessions_lock);
	return NULL;
}

static bool
close_elsewhere(struct plx_session *session)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int failed;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	failed = pthread_create(&thread, &attributes, close_session, session);
	pthread_attr_destroy(&attributes);
	return !failed;
}

void
plx_session_put(struct plx_session *session)
{
	bool last, here = !session_is_delivering();

	pthread_mutex_lock(&sessions_lock);
	last = --session->users == 0;
	if (last)
		session->state = PLX_SESSION_CLOSING;
	/* If no thread can be started, the session stays open for the next user. */
	if (last && !here && !close_elsewhere(session)) {
		session->state = PLX_SESSION_OPEN;
		pthread_cond_broadcast(&sessions_changed);
	}
	pthread_mutex_unlock(&sessions_lock);
	if (last && here)
		close_session(session);
}

/* ---- process exit ---- */

/* Find an open session that has not lingered yet, and keep it from closing. The lock is held. */
static struct plx_session *
pin_next(void)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &sessions) {
		struct plx_session *session = plx_list_entry(node, struct plx_session, node);

		if (session->state != PLX_SESSION_OPEN || session->lingered)
			continue;
		session->lingered = true;
		session->users++;
		return session;
	}
	return NULL;
}

static bool
one_is_closing(void)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &sessions)
		if (plx_list_entry(node, struct plx_session, node)->state == PLX_SESSION_CLOSING)
			return true;
	return false;
}

/* Disconnect and linger in sessions that no thread is closing; wait for those that another thread
 * is closing. A child process has the sessions' memory but none of their threads. */
static void
at_exit(void)
{
	struct plx_session *session;
	struct timespec until;
	bool late = false;

	if (getpid() != owner)
		return;
	pthread_mutex_lock(&sessions_lock);
	while ((session = pin_next()) != NULL) {
		pthread_mutex_unlock(&sessions_lock);
		session_linger_all(session);
		pthread_mutex_lock(&sessions_lock);
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_TIMEOUT_MS / 1000;
	while (!late && one_is_closing())
		late = pthread_cond_timedwait(&sessions_changed, &sessions_lock, &until) != 0;
	pthread_mutex_unlock(&sessions_lock);
}

enum plx_status
plx_session_get(const char *name, const struct plx_session_hooks *hooks, struct plx_session **out)
{
	struct plx_session *session;
	enum plx_status status = PLX_OK;

	pthread_mutex_lock(&sessions_lock);
	session = find(name);
	if (session) {
		if (session->hooks == hooks)
			session->users++;
		else
			status = PLX_BUSY;
		pthread_mutex_unlock(&sessions_lock);
		*out = session;
		return status;
	}
	session = calloc(1, sizeof(*session));
	if (!session) {
		pthread_mutex_unlock(&sessions_lock);
		return PLX_NO_MEMORY;
	}
	snprintf(session->name, sizeof(session->name), "%s", name);
	session->hooks = hooks;
	session->state = PLX_SESSION_OPENING;
	session->users = 1;
	plx_list_append(&sessions, &session->node);
	pthread_mutex_unlock(&sessions_lock);

	status = open_parts(session);

	pthread_mutex_lock(&sessions_lock);
	/* Register after the EAL has started, so that this runs before handlers that end with the
	 * EAL. */
	if (status == PLX_OK && owner != getpid()) {
		owner = getpid();
		atexit(at_exit);
	}
	if (status == PLX_OK) {
		session->state = PLX_SESSION_OPEN;
		pthread_cond_broadcast(&sessions_changed);
		*out = session;
	} else {
		forget(session);
	}
	pthread_mutex_unlock(&sessions_lock);
	return status;
}
