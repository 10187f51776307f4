/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The dispatcher of a session: tasks that run one at a time, in order, on the session's delivering
 * thread, and without any lock. Everything that waits for the engine is such a task, and every
 * callback of a consumer runs in one. Start with ndk_post().
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "ndk.h"
#include "plx_ke.h"

enum {
	BURST = 64, /* tasks in a row; then connections have their turn */
};

static __thread unsigned int callbacks;

KIRQL
ndk_callback_begin(void)
{
	callbacks++;
	return plx_ke_callback_begin();
}

void
ndk_callback_end(const char *callback, KIRQL old)
{
	plx_ke_callback_end(callback, old);
	callbacks--;
}

bool
ndk_in_callback(void)
{
	return callbacks > 0;
}

/* ---- running ---- */

static void
wake(struct ndk_dispatcher *dispatcher)
{
	const uint64_t one = 1;

	/* an eventfd with a low count never blocks */
	(void)!write(dispatcher->watch.fd, &one, sizeof(one));
}

static struct ndk_task *
take(struct ndk_dispatcher *dispatcher)
{
	struct ndk_task *task = NULL;

	pthread_mutex_lock(&dispatcher->lock);
	if (!plx_list_empty(&dispatcher->tasks)) {
		task = plx_list_entry(dispatcher->tasks.next, struct ndk_task, node);
		plx_list_remove(&task->node);
	}
	pthread_mutex_unlock(&dispatcher->lock);
	return task;
}

static void
tasks_ready(struct plx_session_watch *watch)
{
	struct ndk_dispatcher *dispatcher = plx_list_entry(watch, struct ndk_dispatcher, watch);
	struct ndk_task *task;
	uint64_t count;

	(void)!read(watch->fd, &count, sizeof(count));
	for (uint32_t i = 0; i < BURST; i++) {
		task = take(dispatcher);
		if (task == NULL)
			return;
		task->run(task);
	}
	wake(dispatcher);
}

/* ---- delayed tasks ---- */

/* Set the timer for the first of them. The lock is held. */
static void
set_timer(struct ndk_dispatcher *dispatcher)
{
	const struct ndk_task *first =
		plx_list_entry(dispatcher->delayed.next, struct ndk_task, node);

	plx_session_timer_set(dispatcher->timer.fd,
			      plx_list_empty(&dispatcher->delayed) ? PLX_NEVER : first->due_ns);
}

static void
timer_ready(struct plx_session_watch *watch)
{
	struct ndk_dispatcher *dispatcher = plx_list_entry(watch, struct ndk_dispatcher, timer);
	uint64_t now = plx_session_now_ns();

	plx_session_timer_clear(watch->fd);
	pthread_mutex_lock(&dispatcher->lock);
	while (!plx_list_empty(&dispatcher->delayed)) {
		struct ndk_task *first =
			plx_list_entry(dispatcher->delayed.next, struct ndk_task, node);

		if (first->due_ns > now)
			break;
		plx_list_remove(&first->node);
		plx_list_append(&dispatcher->tasks, &first->node);
	}
	set_timer(dispatcher);
	pthread_mutex_unlock(&dispatcher->lock);
	wake(dispatcher);
}

/* ---- posting ---- */

void
ndk_post(struct ndk_dispatcher *dispatcher, struct ndk_task *task)
{
	bool first;

	pthread_mutex_lock(&dispatcher->lock);
	first = plx_list_empty(&dispatcher->tasks);
	plx_list_remove(&task->node);
	plx_list_append(&dispatcher->tasks, &task->node);
	/* With the lock: once it is released the task may run, and end the dispatcher. */
	if (first)
		wake(dispatcher);
	pthread_mutex_unlock(&dispatcher->lock);
}

void
ndk_post_at(struct ndk_dispatcher *dispatcher, struct ndk_task *task, uint64_t due_ns)
{
	struct plx_list *behind;

	pthread_mutex_lock(&dispatcher->lock);
	plx_list_remove(&task->node);
	task->due_ns = due_ns;
	behind = dispatcher->delayed.prev;
	while (behind != &dispatcher->delayed &&
	       plx_list_entry(behind, struct ndk_task, node)->due_ns > due_ns)
		behind = behind->prev;
	plx_list_append(behind->next, &task->node);
	set_timer(dispatcher);
	pthread_mutex_unlock(&dispatcher->lock);
}

void
ndk_unpost(struct ndk_dispatcher *dispatcher, struct ndk_task *task)
{
	pthread_mutex_lock(&dispatcher->lock);
	plx_list_remove(&task->node);
	set_timer(dispatcher);
	pthread_mutex_unlock(&dispatcher->lock);
}

/* ---- lifetime ---- */

void
ndk_dispatcher_stop(struct ndk_dispatcher *dispatcher)
{
	plx_session_watch_remove(dispatcher->session, &dispatcher->watch);
	plx_session_watch_remove(dispatcher->session, &dispatcher->timer);
	if (dispatcher->watch.fd >= 0)
		close(dispatcher->watch.fd);
	plx_session_timer_close(dispatcher->timer.fd);
	pthread_mutex_destroy(&dispatcher->lock);
}

enum plx_status
ndk_dispatcher_start(struct ndk_dispatcher *dispatcher, struct plx_session *session)
{
	enum plx_status status = PLX_FULL;

	*dispatcher = (struct ndk_dispatcher){
		.session = session,
		.watch = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = tasks_ready},
		.timer = {.fd = plx_session_timer_open(), .ready = timer_ready},
	};
	pthread_mutex_init(&dispatcher->lock, NULL);
	plx_list_init(&dispatcher->tasks);
	plx_list_init(&dispatcher->delayed);
	if (dispatcher->watch.fd >= 0 && dispatcher->timer.fd >= 0)
		status = plx_session_watch_add(session, &dispatcher->watch);
	if (status == PLX_OK)
		status = plx_session_watch_add(session, &dispatcher->timer);
	if (status != PLX_OK)
		ndk_dispatcher_stop(dispatcher);
	return status;
}
