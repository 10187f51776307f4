/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Callbacks instead of packets: BindIoCompletionCallback, with one service thread on its own port
 * for the whole process. The thread never calls pumps: an adapter in inline mode progresses when
 * the client's threads wait, not unasked.
 * Start with serve().
 */
#include "win_objects.h"
#include "plx_catalog.h"

#include <signal.h>

static struct win_port *service; /* never destroyed */
static pthread_mutex_t service_lock = PTHREAD_MUTEX_INITIALIZER;

static void *
serve(void *argument)
{
	struct win_port *port = argument;

	win_pump_never();
	win_dll_tell(DLL_THREAD_ATTACH); /* it runs client code, and never ends */
	for (;;) {
		struct win_packet *packet = win_port_pop(port, INFINITE);
		LPOVERLAPPED_COMPLETION_ROUTINE routine;
		struct win_packet told;

		if (!packet)
			continue;
		told.status = packet->status;
		told.information = packet->information;
		told.overlapped = packet->overlapped;
		routine = (LPOVERLAPPED_COMPLETION_ROUTINE)packet->key;
		win_packet_release(packet);
		/* The error is passed as a status, as on Windows, whatever the documentation says.
		 */
		routine((DWORD)told.status, (DWORD)told.information, told.overlapped);
	}
	return NULL;
}

/* Start the thread with the program's signals blocked. Returns: false: it could not be started */
static bool
start_serving(struct win_port *port)
{
	sigset_t all, before;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, serve, port);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_detach(thread);
	return !error;
}

/* The port, created on first use. Returns: NULL: no memory */
static struct win_port *
service_port(void)
{
	struct win_port *port;

	pthread_mutex_lock(&service_lock);
	if (!service) {
		port = win_port_create();
		if (port && !start_serving(port)) {
			win_object_release(&port->object);
			port = NULL;
			win_fail(ERROR_NOT_ENOUGH_MEMORY);
		}
		service = port;
	}
	port = service;
	pthread_mutex_unlock(&service_lock);
	return port;
}

BOOL
BindIoCompletionCallback(HANDLE handle, LPOVERLAPPED_COMPLETION_ROUTINE routine, ULONG flags)
{
	struct plx_file *file;
	struct win_port *port;
	BOOL bound = FALSE;

	if (!routine || flags)
		return win_fail(ERROR_INVALID_PARAMETER);
	file = plx_file_hold(handle);
	if (!file)
		return FALSE;
	port = service_port();
	if (port) {
		bound = win_file_associate(file, port, (ULONG_PTR)routine);
		if (!bound)
			win_fail(ERROR_INVALID_PARAMETER);
	}
	plx_file_release(file);
	return bound;
}
