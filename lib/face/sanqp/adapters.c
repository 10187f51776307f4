/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The adapters of a process, opened when they are first needed. Start with sanqp_adapter_at().
 */
#include <stdlib.h>

#include "provider.h"

enum {
	CHANNEL_DEPTH = 256, /* events of connections; further ones wait */
};

int
sanqp_adapters_read(struct sanqp *process)
{
	struct plx_session_names names;
	struct plx_why why;

	if (plx_session_names_read(&names, &why) != PLX_OK)
		return WSAENETDOWN;
	for (uint32_t i = 0; i < names.n && i < SANQP_ADAPTERS_MAX; i++) {
		struct sanqp_adapter *adapter = &process->adapter[process->adapters++];

		memcpy(adapter->name, names.name[i], sizeof(adapter->name));
		pthread_mutex_init(&adapter->events, NULL);
	}
	free(names.name);
	return 0;
}

bool
sanqp_adapters_add(struct sanqp *process, const char *name, const char *host)
{
	struct sanqp_adapter *adapter;
	bool added = true;

	pthread_mutex_lock(&process->lock);
	for (uint32_t i = 0; i < process->adapters && added; i++)
		added = strcmp(process->adapter[i].name, name) != 0;
	if (!added || process->adapters == SANQP_ADAPTERS_MAX ||
	    strlen(name) > PLX_ADAPTER_NAME_MAX || strlen(host) >= SANQP_HOST_PATH) {
		pthread_mutex_unlock(&process->lock);
		return !added;
	}
	adapter = &process->adapter[process->adapters];
	memcpy(adapter->name, name, strlen(name) + 1);
	memcpy(adapter->host, host, strlen(host) + 1);
	pthread_mutex_init(&adapter->events, NULL);
	process->adapters++;
	pthread_mutex_unlock(&process->lock);
	return true;
}

static void
close_one(struct sanqp_adapter *adapter)
{
	if (adapter->channel != NULL)
		sanqp_ignore(plx_event_channel_destroy(adapter->channel));
	if (adapter->adapter != NULL)
		sanqp_ignore(plx_adapter_close(adapter->adapter));
	adapter->channel = NULL;
	adapter->adapter = NULL;
}

/* The provider's thread and polling programs use an adapter at once. */
static bool
open_one(struct sanqp_adapter *adapter)
{
	struct plx_adapter_options options;

	plx_adapter_options_init(&options);
	memcpy(options.host, adapter->host, sizeof(adapter->host));
	if (plx_adapter_open(adapter->name, adapter->host[0] != '\0' ? &options : NULL,
			     &adapter->adapter, &adapter->why) != PLX_OK) {
		adapter->adapter = NULL;
		return false;
	}
	plx_adapter_query(adapter->adapter, &adapter->info);
	if (adapter->info.mode != PLX_MODE_INLINE &&
	    plx_event_channel_create(adapter->adapter, CHANNEL_DEPTH, &adapter->channel) == PLX_OK)
		return true;
	adapter->channel = NULL;
	close_one(adapter);
	return false;
}

struct sanqp_adapter *
sanqp_adapter_at(struct sanqp *process, uint32_t i)
{
	struct sanqp_adapter *adapter = &process->adapter[i];
	bool open;

	pthread_mutex_lock(&process->lock);
	open = adapter->adapter != NULL ||
	       (open_one(adapter) && sanqp_thread_watch_adapter(process, i));
	pthread_mutex_unlock(&process->lock);
	return open ? adapter : NULL;
}

void
sanqp_adapters_close(struct sanqp *process)
{
	for (uint32_t i = 0; i < process->adapters; i++) {
		close_one(&process->adapter[i]);
		pthread_mutex_destroy(&process->adapter[i].events);
	}
}

/* IPv6's unspecified address is both families'. */
bool
sanqp_adapter_has(const struct sanqp_adapter *adapter, const struct plx_ip *ip)
{
	bool any = plx_session_ip_is_any(ip);

	for (uint32_t i = 0; i < adapter->info.addresses; i++) {
		const struct plx_ip *mine = &adapter->info.address[i];

		if (any ? ip->version == 6 || mine->version == 4 : plx_session_ip_equal(mine, ip))
			return true;
	}
	return false;
}

/* ---- SIO_ADDRESS_LIST_QUERY ---- */

/* The list, then the addresses, each where it is aligned. */
static DWORD
list(struct sanqp *process, SOCKET_ADDRESS_LIST *out, DWORD room)
{
	DWORD n = 0, entries, at;

	for (uint32_t i = 0; i < process->adapters; i++)
		if (sanqp_adapter_at(process, i) != NULL)
			n += process->adapter[i].info.addresses;
	entries = (DWORD)(offsetof(SOCKET_ADDRESS_LIST, Address) + n * sizeof(SOCKET_ADDRESS));
	at = entries;
	if (entries + n * sizeof(struct sockaddr_in6) > room)
		return (DWORD)(entries + n * sizeof(struct sockaddr_in6));
	out->iAddressCount = (INT)n;
	n = 0;
	for (uint32_t i = 0; i < process->adapters; i++) {
		const struct sanqp_adapter *adapter = &process->adapter[i];

		for (uint32_t k = 0; adapter->adapter != NULL && k < adapter->info.addresses; k++) {
			const struct plx_ip *ip = &adapter->info.address[k];
			SOCKET_ADDRESS *entry = &out->Address[n++];

			entry->lpSockaddr = (LPSOCKADDR)((char *)out + at);
			entry->iSockaddrLength = (INT)plx_session_sockaddr_bytes(ip);
			plx_session_sockaddr_write(ip, 0, entry->lpSockaddr);
			at += sizeof(struct sockaddr_in6);
		}
	}
	return at;
}

int
sanqp_adapters_list(struct sanqp *process, void *out, DWORD bytes, DWORD *used)
{
	*used = list(process, out, out != NULL ? bytes : 0);
	return out != NULL && *used <= bytes ? 0 : WSAEFAULT;
}
