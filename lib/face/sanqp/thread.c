/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The provider's thread: it sleeps until something completes or happens that the switch is to be
 * told of. Start with run().
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "provider.h"

enum {
	EVENTS = 16,
	/* what a descriptor is: its number is below */
	OF_SOCKET = 0,
	OF_ADAPTER = 1,
	OF_WAKE = 2,
};

static uint64_t
mark(uint32_t kind, uint64_t number)
{
	return (uint64_t)kind << 32 | number;
}

static bool
watch(struct sanqp *process, int fd, uint64_t data)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = data};

	return fd >= 0 && epoll_ctl(process->watch, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* ---- the thread ---- */

static bool
awaits_upcall(const struct sanqp_ring *ring)
{
	for (uint32_t i = ring->complete; i != ring->made; i++)
		if (!ring->request[i & (ring->depth - 1)].polled)
			return true;
	return false;
}

/* Whoever arms a queue has to look once more: what came before is not told of. */
static void
run_socket(struct sanqp *process, uint64_t number)
{
	struct sanqp_socket *socket = sanqp_place(process, number);
	struct sanqp_connection *connection;

	if (socket == NULL)
		return;
	pthread_mutex_lock(&socket->lock);
	connection = socket->connection;
	if (connection != NULL && connection->watched) {
		(void)plx_cq_get_event(connection->cq);
		sanqp_progress(socket);
		if (awaits_upcall(&connection->receives) || awaits_upcall(&connection->sends)) {
			sanqp_ignore(plx_cq_arm(connection->cq, PLX_CQ_NOTIFY_ANY, NULL));
			sanqp_progress(socket);
		}
	}
	sanqp_leave(socket);
}

/* A host that has gone completes nothing any more: all sockets are looked at. */
static void
run_adapter(struct sanqp *process, uint32_t i)
{
	struct sanqp_adapter *adapter = &process->adapter[i];

	sanqp_run_events(process, adapter);
	if (!atomic_load(&adapter->gone))
		return;
	for (uint64_t number = 1; sanqp_place(process, number) != NULL; number++)
		run_socket(process, number);
}

static void *
run(void *arg)
{
	struct sanqp *process = arg;
	struct epoll_event event[EVENTS];

	for (;;) {
		int n = epoll_wait(process->watch, event, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			uint64_t data = event[i].data.u64;
			uint32_t number = (uint32_t)data;

			if (data >> 32 == OF_WAKE)
				return NULL;
			if (data >> 32 == OF_ADAPTER)
				run_adapter(process, number);
			else
				run_socket(process, number);
		}
	}
}

/* ---- for other threads ---- */

static bool
start(struct sanqp *process)
{
	process->watch = epoll_create1(EPOLL_CLOEXEC);
	process->wake = eventfd(0, EFD_CLOEXEC);
	if (process->watch >= 0 && process->wake >= 0 &&
	    watch(process, process->wake, mark(OF_WAKE, 0)) &&
	    pthread_create(&process->thread, NULL, run, process) == 0)
		return true;
	if (process->watch >= 0)
		close(process->watch);
	if (process->wake >= 0)
		close(process->wake);
	return false;
}

bool
sanqp_thread_watch_adapter(struct sanqp *process, uint32_t i)
{
	struct sanqp_adapter *adapter = &process->adapter[i];

	if (!process->threaded || adapter->watched || adapter->channel == NULL)
		return true;
	adapter->watched =
		watch(process, plx_event_channel_fd(adapter->channel), mark(OF_ADAPTER, i)) &&
		watch(process, plx_adapter_async_fd(adapter->adapter), mark(OF_ADAPTER, i));
	return adapter->watched;
}

bool
sanqp_thread_start(struct sanqp *process)
{
	bool all;

	pthread_mutex_lock(&process->lock);
	if (!process->threaded)
		process->threaded = start(process);
	all = process->threaded;
	for (uint32_t i = 0; i < process->adapters && all; i++)
		all = sanqp_thread_watch_adapter(process, i);
	pthread_mutex_unlock(&process->lock);
	return all;
}

void
sanqp_thread_end(struct sanqp *process)
{
	if (!process->threaded)
		return;
	(void)eventfd_write(process->wake, 1);
	pthread_join(process->thread, NULL);
	close(process->watch);
	close(process->wake);
	process->threaded = false;
}

bool
sanqp_thread_watch(struct sanqp_socket *socket)
{
	struct sanqp_connection *connection = socket->connection;

	if (!connection->watched)
		connection->watched = sanqp_thread_start(socket->process) &&
				      watch(socket->process, plx_cq_fd(connection->cq),
					    mark(OF_SOCKET, socket->number));
	return connection->watched && plx_cq_arm(connection->cq, PLX_CQ_NOTIFY_ANY, NULL) == PLX_OK;
}

void
sanqp_thread_forget(struct sanqp *process, struct sanqp_connection *connection)
{
	if (connection->watched)
		(void)epoll_ctl(process->watch, EPOLL_CTL_DEL, plx_cq_fd(connection->cq), NULL);
	connection->watched = false;
}
