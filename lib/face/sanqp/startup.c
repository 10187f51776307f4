/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The provider is loaded into a process, and leaves it. Start with WSPStartupEx().
 */
#include <stdlib.h>

#include "plx_sanqp.h"
#include "provider.h"

static _Atomic(struct sanqp *) current;

static atomic_bool without_file;

void
plx_sanqp_without_file(void)
{
	atomic_store(&without_file, true);
}

struct sanqp *
sanqp_use(struct sanqp *process)
{
	return atomic_exchange(&current, process);
}

struct sanqp *
sanqp_current(void)
{
	return atomic_load_explicit(&current, memory_order_acquire);
}

static void
free_process(struct sanqp *process)
{
	sanqp_thread_end(process);
	for (uint32_t i = 0; i < SANQP_SOCKETS_MAX; i++) {
		struct sanqp_socket *socket = atomic_load(&process->socket[i]);

		if (socket == NULL)
			continue;
		pthread_mutex_destroy(&socket->lock);
		free(socket);
	}
	sanqp_adapters_close(process);
	pthread_mutex_destroy(&process->lock);
	free(process);
}

static void
close_all(struct sanqp *process)
{
	for (uint32_t i = 0; i < SANQP_SOCKETS_MAX; i++) {
		int error;

		if (atomic_load(&process->socket[i]) != NULL)
			(void)sanqp_close(i + 1, &error);
	}
}

static int WSPAPI
cleanup(LPINT lpErrno)
{
	struct sanqp *process = sanqp_current();
	bool last;

	if (process == NULL)
		return sanqp_error(WSAENETDOWN, lpErrno);
	pthread_mutex_lock(&process->lock);
	last = --process->users == 0;
	pthread_mutex_unlock(&process->lock);
	if (last) {
		close_all(process);
		(void)sanqp_use(NULL);
		free_process(process);
	}
	return 0;
}

static struct sanqp *
make_process(const WSPUPCALLTABLEEX *upcalls)
{
	struct sanqp *process = calloc(1, sizeof(*process));

	if (process == NULL)
		return NULL;
	process->upcalls = *upcalls;
	pthread_mutex_init(&process->lock, NULL);
	if (atomic_load(&without_file) || sanqp_adapters_read(process) == 0)
		return process;
	free_process(process);
	return NULL;
}

static void
describe(LPWSPDATA out)
{
	static const char text[] = "Pollux";

	*out = (WSPDATA){.wVersion = MAKEWORD(2, 2), .wHighVersion = MAKEWORD(2, 2)};
	for (uint32_t i = 0; i < sizeof(text); i++)
		out->szDescription[i] = (WCHAR)text[i];
}

int WSPAPI
WSPStartupEx(WORD wVersionRequested, LPWSPDATA lpWSPData, LPWSAPROTOCOL_INFOW lpProtocolInfo,
	     LPWSPUPCALLTABLEEX lpUpcallTable, LPWSPPROC_TABLE lpProcTable)
{
	struct sanqp *process = sanqp_current();

	(void)lpProtocolInfo;
	if (lpWSPData == NULL || lpUpcallTable == NULL || lpProcTable == NULL)
		return WSAEINVAL;
	if (wVersionRequested != MAKEWORD(2, 2))
		return WSAVERNOTSUPPORTED;
	if (process == NULL) {
		process = make_process(lpUpcallTable);
		if (process == NULL)
			return WSAENOBUFS;
		(void)sanqp_use(process);
	}
	pthread_mutex_lock(&process->lock);
	process->users++;
	pthread_mutex_unlock(&process->lock);
	describe(lpWSPData);
	*lpProcTable =
		(WSPPROC_TABLE){.lpWSPCleanup = cleanup, .lpWSPDuplicateSocket = sanqp_duplicate};
	sanqp_fill_sockets(lpProcTable);
	sanqp_fill_connect(lpProcTable);
	sanqp_fill_transfer(lpProcTable);
	return 0;
}
