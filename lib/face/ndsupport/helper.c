/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Nd functions of ndsupport.h. Each reads the current catalog, queries the providers that it
 * needs, and releases them. It caches no addresses: a change is seen by the next call. Start with
 * NdOpenAdapter().
 */
#define PLX_COM_IMPLEMENTS
#include "address.h"
#include "plx_ndsupport.h"
#include "plx_verbs.h"
#include "plx_catalog.h"
#include "plx_interfaces.h"

#include <ndsupport.h>

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t startups;

static bool
is_started(void)
{
	bool started;

	pthread_mutex_lock(&lock);
	started = startups > 0;
	pthread_mutex_unlock(&lock);
	return started;
}

HRESULT
NdStartup(VOID)
{
	pthread_mutex_lock(&lock);
	startups++;
	pthread_mutex_unlock(&lock);
	return ND_SUCCESS;
}

HRESULT
NdCleanup(VOID)
{
	bool started, last;

	pthread_mutex_lock(&lock);
	started = startups > 0;
	last = startups == 1;
	startups -= started;
	pthread_mutex_unlock(&lock);
	if (!started)
		return ND_DEVICE_NOT_READY;
	/* a library with a live adapter stays loaded: its code is still called */
	if (last)
		providers_flush();
	return ND_SUCCESS;
}

VOID
NdFlushProviders(VOID)
{
	if (is_started())
		providers_flush();
}

/* ---- addresses ---- */

static SIZE_T
size_of(const struct address_list *list)
{
	SIZE_T bytes = offsetof(SOCKET_ADDRESS_LIST, Address);

	for (uint32_t i = 0; i < list->count; i++)
		bytes += sizeof(SOCKET_ADDRESS) + list->one[i].bytes;
	return bytes;
}

/* Write the array, followed by the addresses that its entries point to. */
static void
copy_out(const struct address_list *list, SOCKET_ADDRESS_LIST *out)
{
	char *behind = (char *)out + offsetof(SOCKET_ADDRESS_LIST, Address) +
		       list->count * sizeof(SOCKET_ADDRESS);
	/* the structure declares one entry; there may be more */
	SOCKET_ADDRESS *entry = (void *)((char *)out + offsetof(SOCKET_ADDRESS_LIST, Address));

	out->iAddressCount = (INT)list->count;
	for (uint32_t i = 0; i < list->count; i++) {
		entry[i].lpSockaddr = (void *)behind;
		entry[i].iSockaddrLength = (INT)list->one[i].bytes;
		memcpy(behind, &list->one[i].as, list->one[i].bytes);
		behind += list->one[i].bytes;
	}
}

HRESULT
NdQueryAddressList(DWORD flags, SOCKET_ADDRESS_LIST *list, SIZE_T *bytes)
{
	struct address_list all;
	HRESULT status;
	SIZE_T need;

	if (!is_started())
		return ND_DEVICE_NOT_READY;
	if (!bytes)
		return ND_INVALID_PARAMETER_3;
	/* no address is of NDv1 or an emulator, so the other flags exclude nothing */
	if (flags & ND_QUERY_EXCLUDE_NDv2_ADDRESSES) {
		*bytes = 0;
		return ND_SUCCESS;
	}
	status = address_list_read(&all);
	if (status != ND_SUCCESS)
		return status;
	need = all.count ? size_of(&all) : 0;
	if (need && (!list || *bytes < need))
		status = ND_BUFFER_OVERFLOW;
	else if (need)
		copy_out(&all, list);
	*bytes = need;
	address_list_free(&all);
	return status;
}

HRESULT
NdCheckAddress(const struct sockaddr *address, SIZE_T bytes)
{
	struct address_list all;
	struct plx_ip ip;
	HRESULT status;

	if (!is_started())
		return ND_DEVICE_NOT_READY;
	if (!address)
		return ND_INVALID_PARAMETER_1;
	status = address_read(address, bytes, &ip, NULL);
	if (status != ND_SUCCESS)
		return status;
	status = address_list_read(&all);
	if (status != ND_SUCCESS)
		return status;
	status = address_list_has(&all, &ip) ? ND_SUCCESS : ND_INVALID_ADDRESS;
	address_list_free(&all);
	return status;
}

static HRESULT
status_of_errno(int error)
{
	switch (error) {
	case 0:
		return ND_SUCCESS;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
		return ND_NETWORK_UNREACHABLE;
	case EINVAL:
		return ND_INVALID_ADDRESS;
	default:
		return ND_UNSUCCESSFUL;
	}
}

HRESULT
NdResolveAddress(const struct sockaddr *remote, SIZE_T remoteBytes, struct sockaddr *local,
		 SIZE_T *localBytes)
{
	struct address_list all;
	struct plx_route route = {.interface_index = 0};
	struct plx_ip ip;
	uint32_t scope;
	HRESULT status;
	SIZE_T need;

	if (!is_started())
		return ND_DEVICE_NOT_READY;
	if (!remote || !localBytes)
		return remote ? ND_INVALID_PARAMETER_4 : ND_INVALID_PARAMETER_1;
	status = address_read(remote, remoteBytes, &ip, &scope);
	if (status != ND_SUCCESS)
		return status;
	if (!address_is_unicast(&ip))
		return ND_INVALID_ADDRESS;
	status = address_list_read(&all);
	if (status != ND_SUCCESS)
		return status;
	if (address_list_has(&all, &ip))
		route.local = ip; /* the address is local */
	else
		status = status_of_errno(plx_route_find(&ip, scope, 0, &route));
	need = ip.version == 4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	if (status == ND_SUCCESS && !address_list_has(&all, &route.local))
		status = ND_INVALID_ADDRESS;
	address_list_free(&all);
	if (status == ND_SUCCESS && (!local || *localBytes < need))
		status = ND_BUFFER_OVERFLOW;
	if (status == ND_SUCCESS || status == ND_BUFFER_OVERFLOW)
		*localBytes = need;
	if (status == ND_SUCCESS)
		address_write(&route.local, local);
	return status;
}

/* ---- adapters ---- */

static HRESULT
open_at(struct provider *provider, REFIID iid, const struct address *address, VOID **adapter)
{
	IND2Provider *object;
	HRESULT status;
	UINT64 id = 0;

	if (provider_open(provider, &object) != ND_SUCCESS)
		return ND_INVALID_ADDRESS;
	status = IND2Provider_ResolveAddress(object, &address->as.any, (ULONG)address->bytes, &id);
	if (FAILED(status))
		status = ND_INVALID_ADDRESS;
	else
		status = IND2Provider_OpenAdapter(object, iid, id, adapter);
	IND2Provider_Release(object);
	if (FAILED(status))
		*adapter = NULL;
	return status;
}

HRESULT
NdOpenAdapter(REFIID iid, const struct sockaddr *address, SIZE_T bytes, VOID **adapter)
{
	HRESULT status, opened = ND_INVALID_ADDRESS;
	struct address_list all;
	struct plx_ip ip;

	if (adapter)
		*adapter = NULL;
	if (!is_started())
		return ND_DEVICE_NOT_READY;
	if (!adapter)
		return E_POINTER;
	if (!iid || !address)
		return iid ? ND_INVALID_PARAMETER_2 : ND_INVALID_PARAMETER_1;
	status = address_read(address, bytes, &ip, NULL);
	if (status != ND_SUCCESS)
		return status;
	status = address_list_read(&all);
	if (status != ND_SUCCESS)
		return status;
	for (uint32_t i = 0; i < all.count; i++) {
		if (!address_same(&all.one[i].ip, &ip))
			continue;
		/* another provider may have the address too, and succeed */
		opened = open_at(all.one[i].provider, iid, &all.one[i], adapter);
		if (!FAILED(opened))
			break;
	}
	address_list_free(&all);
	return opened;
}

/* ---- diagnostics ---- */

uint32_t
plx_ndsupport_check(char *text, size_t size)
{
	char all[16384] = "";
	uint32_t count = plx_catalog_check(all, sizeof(all));
	struct plx_why why = {""};
	size_t used;

	if (plx_adapter_list(NULL, 0, &why) < 0) {
		used = strlen(all);
		snprintf(all + used, sizeof(all) - used, "%s%s", used ? "\n" : "", why.text);
		count++;
	}
	count += providers_complain(all, sizeof(all));
	if (size)
		snprintf(text, size, "%s", all);
	return count;
}
