/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Completion ports: a queue of packets, and the threads waiting for one, last in first out.
 * Packets bring their own memory, so queueing cannot fail.
 * Start with win_port_push() and win_port_pop().
 */
#include "plx_rules.h"
#include "win_objects.h"

#include <stdlib.h>

void
win_packet_hold(struct win_packet *packet)
{
	atomic_fetch_add_explicit(&packet->holds, 1, memory_order_relaxed);
}

void
win_packet_release(struct win_packet *packet)
{
	/* The holder of the only hold needs no atomic operation to release it. */
	if (atomic_load_explicit(&packet->holds, memory_order_acquire) == 1 ||
	    atomic_fetch_sub_explicit(&packet->holds, 1, memory_order_acq_rel) == 1)
		free(packet);
}

struct win_port *
win_port_create(void)
{
	struct win_port *port = (struct win_port *)win_object_create(WIN_PORT);

	if (port) {
		port->first = port->last = NULL;
		port->closed = false;
	}
	return port;
}

bool
win_port_has_packets(const struct win_object *object)
{
	return ((const struct win_port *)object)->first != NULL;
}

bool
win_port_is_closed(struct win_port *port)
{
	bool closed;

	pthread_mutex_lock(&port->object.lock);
	closed = port->closed;
	pthread_mutex_unlock(&port->object.lock);
	return closed;
}

/* The thread that began to wait last, whose caches are warmest, removed from the list. */
static struct win_sleeper *
pick_waiter(struct win_port *port)
{
	struct win_waiter *last = port->object.waiters.last;

	if (!last)
		return NULL;
	win_waiters_remove(&port->object.waiters, last);
	win_wake_mark(last->sleeper);
	return last->sleeper;
}

bool
win_port_push(struct win_port *port, struct win_packet *packet)
{
	struct win_sleeper *woken = NULL;
	bool closed;

	packet->next = NULL;
	pthread_mutex_lock(&port->object.lock);
	closed = port->closed;
	if (win_likely(!closed)) {
		if (port->first)
			port->last->next = packet;
		else
			port->first = packet;
		port->last = packet;
		woken = pick_waiter(port);
		win_fd_follow(&port->object, true);
	}
	pthread_mutex_unlock(&port->object.lock);
	/* The sleeper may no longer exist; its address still serves, and at most causes a spurious
	 * wake. */
	if (win_unlikely(woken != NULL))
		win_wake_call(woken);
	return !closed;
}

/* The port's lock is held. */
static struct win_packet *
pop_locked(struct win_port *port)
{
	struct win_packet *packet = port->first;

	if (packet) {
		port->first = packet->next;
		win_fd_follow(&port->object, port->first != NULL);
	}
	return packet;
}

/* Pop a packet; if there is none, add `waiter` to the list of waiters unless it is NULL. */
static struct win_packet *
pop_or_watch(struct win_port *port, struct win_waiter *waiter)
{
	struct win_packet *packet;

	pthread_mutex_lock(&port->object.lock);
	packet = pop_locked(port);
	if (!packet && waiter && !waiter->listed)
		win_waiters_add(&port->object.waiters, waiter);
	pthread_mutex_unlock(&port->object.lock);
	return packet;
}

static struct win_packet *
wait_for_packet(struct win_port *port, uint64_t deadline_ns)
{
	struct win_sleeper sleeper;
	struct win_waiter waiter = {.sleeper = &sleeper};
	struct win_packet *packet;
	bool awake = true;

	win_sleep_begin(&sleeper);
	/* Check once more after the timeout: a thread picked for a packet takes it, unless another
	 * did. */
	while (!(packet = pop_or_watch(port, &waiter)) && awake && !win_port_is_closed(port))
		awake = win_sleep(&sleeper, deadline_ns);
	pthread_mutex_lock(&port->object.lock);
	win_waiters_remove(&port->object.waiters, &waiter);
	pthread_mutex_unlock(&port->object.lock);
	win_sleep_end(&sleeper);
	return packet;
}

struct win_packet *
win_port_pop(struct win_port *port, DWORD milliseconds)
{
	struct win_packet *packet = pop_or_watch(port, NULL);

	if (packet)
		return packet;
	win_pumps_mine(atomic_load(&port->object.pumps));
	if (milliseconds)
		return wait_for_packet(port, win_deadline(milliseconds));
	return win_pump_once() ? pop_or_watch(port, NULL) : NULL;
}

/* Closing the last handle ends the queue: its packets are dropped, and so are later ones. */
void
win_port_close(struct win_object *object)
{
	struct win_port *port = (struct win_port *)object;
	struct win_packet *packet;

	pthread_mutex_lock(&object->lock);
	port->closed = true;
	packet = port->first;
	port->first = NULL;
	win_waiters_wake(&object->waiters);
	win_fd_follow(object, false);
	pthread_mutex_unlock(&object->lock);
	while (packet) {
		struct win_packet *next = packet->next;

		win_packet_release(packet);
		packet = next;
	}
}

HANDLE
CreateIoCompletionPort(HANDLE file_handle, HANDLE port_handle, ULONG_PTR key, DWORD threads)
{
	struct plx_file *file = NULL;
	struct win_port *port;
	HANDLE result = NULL;

	/* All calling threads run; the number is a hint for the scheduler of Windows. */
	(void)threads;
	if (file_handle != INVALID_HANDLE_VALUE) {
		file = (struct plx_file *)win_object_hold(file_handle, WIN_FILE);
		if (!file)
			return NULL;
	} else if (port_handle) {
		win_fail(ERROR_INVALID_PARAMETER);
		return NULL;
	}
	port = port_handle ? (struct win_port *)win_object_hold(port_handle, WIN_PORT)
			   : win_port_create();
	if (port && file && !win_file_associate(file, port, key))
		win_fail(ERROR_INVALID_PARAMETER);
	else if (port)
		result = port_handle ? &port->object : win_object_open(&port->object);
	if (port && (port_handle || !result))
		win_object_release(&port->object);
	if (file)
		win_object_release(&file->object);
	return result;
}

/* The error for a missing packet. */
static DWORD
nothing_why(struct win_port *port)
{
	return win_port_is_closed(port) ? (DWORD)ERROR_ABANDONED_WAIT_0 : (DWORD)WAIT_TIMEOUT;
}

BOOL
GetQueuedCompletionStatus(HANDLE handle, LPDWORD bytes, ULONG_PTR *key, LPOVERLAPPED *overlapped,
			  DWORD milliseconds)
{
	struct win_packet *packet;
	struct win_port *port;
	int32_t status;

	if (!bytes || !key || !overlapped)
		return win_fail(ERROR_INVALID_PARAMETER);
	*overlapped = NULL;
	port = (struct win_port *)win_object_hold(handle, WIN_PORT);
	if (!port)
		return FALSE;
	packet = win_port_pop(port, milliseconds);
	if (!packet)
		win_fail(nothing_why(port));
	win_object_release(&port->object);
	if (!packet)
		return FALSE;
	*bytes = (DWORD)packet->information;
	*key = packet->key;
	*overlapped = packet->overlapped;
	status = packet->status;
	win_packet_release(packet);
	return status >= 0 ? TRUE : win_fail(win_error_of_status(status));
}

BOOL
GetQueuedCompletionStatusEx(HANDLE handle, LPOVERLAPPED_ENTRY entries, ULONG n, PULONG removed,
			    DWORD milliseconds, BOOL alertable)
{
	struct win_port *port;
	struct win_packet *packet;
	ULONG count = 0;

	(void)alertable; /* APCs are not supported */
	if (!entries || !n || !removed)
		return win_fail(ERROR_INVALID_PARAMETER);
	*removed = 0;
	port = (struct win_port *)win_object_hold(handle, WIN_PORT);
	if (!port)
		return FALSE;
	/* Wait for the first packet only; take the others that are queued. */
	packet = win_port_pop(port, milliseconds);
	if (!packet)
		win_fail(nothing_why(port));
	while (packet) {
		entries[count++] = (OVERLAPPED_ENTRY){.lpCompletionKey = packet->key,
						      .lpOverlapped = packet->overlapped,
						      .Internal = (DWORD)packet->status,
						      .dwNumberOfBytesTransferred =
							      (DWORD)packet->information};
		win_packet_release(packet);
		packet = count < n ? pop_or_watch(port, NULL) : NULL;
	}
	win_object_release(&port->object);
	*removed = count;
	return count > 0;
}

BOOL
PostQueuedCompletionStatus(HANDLE handle, DWORD bytes, ULONG_PTR key, LPOVERLAPPED overlapped)
{
	struct win_port *port = (struct win_port *)win_object_hold(handle, WIN_PORT);
	struct win_packet *packet;

	if (!port)
		return FALSE;
	packet = malloc(sizeof(*packet));
	if (packet) {
		*packet = (struct win_packet){
			.overlapped = overlapped, .key = key, .information = bytes};
		atomic_init(&packet->holds, 1);
		if (!win_port_push(port, packet))
			win_packet_release(packet);
	}
	win_object_release(&port->object);
	return packet ? TRUE : win_fail(ERROR_NOT_ENOUGH_MEMORY);
}
