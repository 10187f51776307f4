/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the provider has beside its contract. Start with plx_sanqp_arm().
 */
#include "plx_sanqp.h"
#include "provider.h"

/* With its lock held. NULL: it has no connection */
static struct sanqp_socket *
find_connected(SOCKET s)
{
	int ignored;
	struct sanqp_socket *socket = sanqp_find(s, &ignored);

	if (socket == NULL)
		return NULL;
	if (socket->connection != NULL)
		return socket;
	sanqp_leave(socket);
	return NULL;
}

bool
plx_sanqp_arm(SOCKET s, int fds[PLX_SANQP_FDS])
{
	struct sanqp_socket *socket = find_connected(s);
	struct sanqp_connection *connection;
	struct sanqp_adapter *adapter;
	struct sanqp *process;
	bool armed;

	if (socket == NULL)
		return false;
	process = socket->process;
	connection = socket->connection;
	adapter = connection->adapter;
	fds[0] = plx_cq_fd(connection->cq);
	fds[1] = plx_adapter_async_fd(adapter->adapter);
	(void)plx_cq_get_event(connection->cq);
	armed = plx_cq_arm(connection->cq, PLX_CQ_NOTIFY_ANY, NULL) == PLX_OK;
	sanqp_leave(socket);
	/* Its descriptor says so again until it is read. */
	sanqp_run_events(process, adapter);
	return armed && fds[0] >= 0 && fds[1] >= 0;
}

void
plx_sanqp_heir(const char *adapter, DWORD process)
{
	struct sanqp *of = sanqp_current();

	for (uint32_t i = 0; of != NULL && i < of->adapters; i++)
		if (strcmp(of->adapter[i].name, adapter) == 0)
			atomic_store(&of->adapter[i].heir, process);
}

void
plx_sanqp_past(SOCKET s, uint32_t *requests, uint32_t *receives)
{
	struct sanqp_socket *socket = find_connected(s);
	struct plx_qp_past past = {0};

	if (socket != NULL) {
		plx_qp_inherited(socket->connection->qp, &past);
		sanqp_leave(socket);
	}
	*requests = past.requests;
	*receives = past.receives;
}

bool
plx_sanqp_adapter(SOCKET s, char name[PLX_ADAPTER_NAME_MAX + 1])
{
	struct sanqp_socket *socket = find_connected(s);

	if (socket == NULL)
		return false;
	memcpy(name, socket->connection->adapter->name, PLX_ADAPTER_NAME_MAX + 1);
	sanqp_leave(socket);
	return true;
}

bool
plx_sanqp_adapter_name(uint32_t i, char name[PLX_ADAPTER_NAME_MAX + 1])
{
	const struct sanqp *process = sanqp_current();

	if (process == NULL || i >= process->adapters)
		return false;
	memcpy(name, process->adapter[i].name, PLX_ADAPTER_NAME_MAX + 1);
	return true;
}

const char *
plx_sanqp_open(uint32_t i)
{
	struct sanqp *process = sanqp_current();

	if (process == NULL || i >= process->adapters)
		return "there is no such adapter";
	if (sanqp_adapter_at(process, i) != NULL)
		return NULL;
	return process->adapter[i].why.text[0] != '\0' ? process->adapter[i].why.text
						       : "its host or a descriptor is missing";
}

DWORD
plx_sanqp_process(const char *adapter)
{
	struct sanqp *process = sanqp_current();

	for (uint32_t i = 0; process != NULL && i < process->adapters; i++)
		if (strcmp(process->adapter[i].name, adapter) == 0 &&
		    sanqp_adapter_at(process, i) != NULL)
			return process->adapter[i].info.seat;
	return 0;
}

bool
plx_sanqp_addresses(SOCKET s, struct plx_connector_info *out)
{
	struct sanqp_socket *socket = find_connected(s);

	if (socket == NULL)
		return false;
	*out = socket->info;
	sanqp_leave(socket);
	return true;
}

void
plx_sanqp_forget(void)
{
	(void)sanqp_use(NULL);
}

bool
plx_sanqp_add(const char *name, const char *host)
{
	struct sanqp *process = sanqp_current();

	return process != NULL && sanqp_adapters_add(process, name, host);
}

void
plx_sanqp_host(const char *adapter, char *out, size_t n)
{
	struct plx_adapter_options options;
	struct plx_why why;
	size_t bytes;

	memset(out, 0, n);
	if (plx_adapter_options_load(adapter, &options, &why) != PLX_OK)
		return;
	bytes = strlen(options.host);
	if (bytes < n)
		memcpy(out, options.host, bytes);
}
