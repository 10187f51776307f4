/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Descriptors, and the upcalls of their sockets. Start with sanqp_find().
 */
#include <sched.h>
#include <stdlib.h>

#include "provider.h"

int
sanqp_error(int error, LPINT lpErrno)
{
	*lpErrno = error;
	return SOCKET_ERROR;
}

struct sanqp_socket *
sanqp_place(struct sanqp *process, uint64_t number)
{
	return number >= 1 && number <= SANQP_SOCKETS_MAX
		       ? atomic_load_explicit(&process->socket[number - 1], memory_order_acquire)
		       : NULL;
}

struct sanqp_socket *
sanqp_find(SOCKET s, LPINT lpErrno)
{
	struct sanqp *process = sanqp_current();
	struct sanqp_socket *socket = process != NULL ? sanqp_place(process, s) : NULL;

	if (socket != NULL) {
		pthread_mutex_lock(&socket->lock);
		if (socket->state != SANQP_FREE && socket->state != SANQP_CLOSING)
			return socket;
		pthread_mutex_unlock(&socket->lock);
	}
	*lpErrno = process != NULL ? WSAENOTSOCK : WSAENETDOWN;
	return NULL;
}

static struct sanqp_socket *
make_place(struct sanqp *process, uint32_t i)
{
	struct sanqp_socket *socket = calloc(1, sizeof(*socket));

	if (socket == NULL)
		return NULL;
	pthread_mutex_init(&socket->lock, NULL);
	socket->process = process;
	socket->number = i + 1;
	atomic_store_explicit(&process->socket[i], socket, memory_order_release);
	return socket;
}

/* process->lock is held: nobody else takes a free place. */
static struct sanqp_socket *
find_free(struct sanqp *process, LPINT lpErrno)
{
	for (uint32_t i = process->first_free; i < SANQP_SOCKETS_MAX; i++) {
		struct sanqp_socket *socket = atomic_load(&process->socket[i]);

		if (socket == NULL) {
			socket = make_place(process, i);
			if (socket == NULL) {
				*lpErrno = WSAENOBUFS;
				return NULL;
			}
		}
		if (pthread_mutex_trylock(&socket->lock) != 0)
			continue;
		if (socket->state == SANQP_FREE) {
			process->first_free = i + 1;
			return socket;
		}
		pthread_mutex_unlock(&socket->lock);
	}
	*lpErrno = WSAEMFILE;
	return NULL;
}

struct sanqp_socket *
sanqp_new(struct sanqp *process, LPINT lpErrno)
{
	struct sanqp_socket *socket;

	pthread_mutex_lock(&process->lock);
	socket = find_free(process, lpErrno);
	pthread_mutex_unlock(&process->lock);
	if (socket == NULL)
		return NULL;
	memset(&socket->state, 0, sizeof(*socket) - offsetof(struct sanqp_socket, state));
	socket->state = SANQP_MADE;
	return socket;
}

bool
sanqp_new_handle(struct sanqp_socket *socket, LPINT lpErrno)
{
	SOCKET handle;

	pthread_mutex_unlock(&socket->lock);
	handle = socket->process->upcalls.lpWPUCreateSocketHandle(SANQP_CATALOG_ENTRY,
								  socket->number, lpErrno);
	pthread_mutex_lock(&socket->lock);
	socket->handle = handle;
	return handle != INVALID_SOCKET;
}

void
sanqp_forget(struct sanqp_socket *socket)
{
	struct sanqp *process = socket->process;
	uint32_t i = (uint32_t)socket->number - 1;

	socket->state = SANQP_FREE;
	pthread_mutex_unlock(&socket->lock);
	pthread_mutex_lock(&process->lock);
	if (i < process->first_free)
		process->first_free = i;
	pthread_mutex_unlock(&process->lock);
}

/* ---- upcalls ---- */

/* The next completion that the switch is to be told of; those that it polls are passed over. */
static bool
next_told(struct sanqp_ring *ring, struct sanqp_request *out)
{
	while (ring->told != ring->complete) {
		*out = ring->request[ring->told++ & (ring->depth - 1)];
		if (!out->polled)
			return true;
	}
	return false;
}

static bool
tell_one(struct sanqp_socket *socket)
{
	struct sanqp_connection *connection = socket->connection;
	const WSPUPCALLTABLEEX *upcalls = &socket->process->upcalls;
	struct sanqp_request request;
	SOCKET handle = socket->handle;
	WSAEVENT event = socket->event;
	int ignored;

	if (socket->event_due) {
		socket->event_due = false;
		pthread_mutex_unlock(&socket->lock);
		if (event != NULL)
			upcalls->lpWPUSetEvent(event, &ignored);
	} else if (connection != NULL && (next_told(&connection->receives, &request) ||
					  next_told(&connection->sends, &request))) {
		pthread_mutex_unlock(&socket->lock);
		upcalls->lpWPUCompleteOverlappedRequest(handle, request.overlapped, request.error,
							request.bytes, &ignored);
	} else {
		return false;
	}
	pthread_mutex_lock(&socket->lock);
	return true;
}

static bool
is_told_by_others(const struct sanqp_socket *socket)
{
	return socket->telling && !pthread_equal(socket->teller, pthread_self());
}

/* One thread at a time, so that upcalls have the order of requests. */
void
sanqp_tell(struct sanqp_socket *socket)
{
	if (is_told_by_others(socket))
		return;
	socket->telling = true;
	socket->teller = pthread_self();
	while (tell_one(socket))
		;
	socket->telling = false;
}

/* Another thread's upcall may take its time; an upcall that leads here is not waited for. */
void
sanqp_tell_all(struct sanqp_socket *socket)
{
	while (is_told_by_others(socket)) {
		pthread_mutex_unlock(&socket->lock);
		sched_yield();
		pthread_mutex_lock(&socket->lock);
	}
	sanqp_tell(socket);
}

void
sanqp_leave(struct sanqp_socket *socket)
{
	sanqp_tell(socket);
	pthread_mutex_unlock(&socket->lock);
}
