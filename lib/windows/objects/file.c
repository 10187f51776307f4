/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlapped files: requests are pending on them, and their port is notified when requests finish.
 * They hold no requests; the objects created on a file have lists of them.
 * Start with plx_file_create().
 */
#include "win_objects.h"

#include <sys/eventfd.h>

HANDLE
plx_file_create(void)
{
	struct plx_file *file = (struct plx_file *)win_object_create(WIN_FILE);

	if (!file)
		return NULL;
	atomic_store_explicit(&file->port, NULL, memory_order_relaxed);
	file->key = 0;
	return win_object_open(&file->object);
}

void
plx_file_set_pump(HANDLE handle, struct plx_pump *pump)
{
	struct plx_file *file = plx_file_hold(handle);

	if (!file)
		return;
	atomic_fetch_or(&file->object.pumps, win_pump_bit(pump));
	plx_file_release(file);
}

struct plx_file *
plx_file_hold(HANDLE handle)
{
	return (struct plx_file *)win_object_hold(handle, WIN_FILE);
}

void
plx_file_release(struct plx_file *file)
{
	win_object_release(&file->object);
}

void
win_file_destroy(struct win_object *object)
{
	struct plx_file *file = (struct plx_file *)object;
	struct win_port *port = atomic_load_explicit(&file->port, memory_order_relaxed);

	if (port)
		win_object_release(&port->object);
}

bool
win_file_associate(struct plx_file *file, struct win_port *port, ULONG_PTR key)
{
	bool first;

	pthread_mutex_lock(&file->object.lock);
	first = !atomic_load_explicit(&file->port, memory_order_relaxed);
	if (first) {
		win_object_hold_again(&port->object);
		file->key = key;
		/* Release: a thread that sees the port also sees its key. */
		atomic_store_explicit(&file->port, port, memory_order_release);
		atomic_fetch_or(&port->object.pumps, atomic_load(&file->object.pumps));
	}
	pthread_mutex_unlock(&file->object.lock);
	return first;
}

void
win_file_tick(struct plx_file *file)
{
	/* Acquire: pairs with plx_handle_fd(), which stores the descriptor first. */
	if (win_unlikely(atomic_load_explicit(&file->object.state, memory_order_acquire) &
			 WIN_POLLED))
		eventfd_write(file->object.fd, 1);
}

BOOL
SetFileCompletionNotificationModes(HANDLE handle, UCHAR modes)
{
	const UCHAR known = FILE_SKIP_COMPLETION_PORT_ON_SUCCESS | FILE_SKIP_SET_EVENT_ON_HANDLE;
	struct plx_file *file;

	if (modes & ~known)
		return win_fail(ERROR_INVALID_PARAMETER);
	file = plx_file_hold(handle);
	if (!file)
		return FALSE;
	/* Both modes are always on, and as on Windows they cannot be reset. */
	plx_file_release(file);
	return TRUE;
}
