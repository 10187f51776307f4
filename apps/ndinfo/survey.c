/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The survey: catalog, libraries, providers, addresses, adapters, in the steps that ND2's documents
 * describe. A failure is recorded where it occurs, and the rest continues. It prints nothing.
 * Start with survey_take().
 */
#include "info.h"

#include <plx_catalog.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TRIES = 8, /* a list may grow between the query for its size and reading it */
};

static bool __attribute__((format(printf, 2, 3)))
note(struct found_provider *provider, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(provider->sentence, sizeof(provider->sentence), format, list);
	va_end(list);
	return false;
}

/* ---- the catalog ---- */

static bool
is_nd2(const WSAPROTOCOL_INFOW *entry)
{
	const DWORD service = XP1_GUARANTEED_DELIVERY | XP1_GUARANTEED_ORDER |
			      XP1_MESSAGE_ORIENTED | XP1_CONNECT_DATA;
	const DWORD provider = PFL_HIDDEN | PFL_NETWORKDIRECT_PROVIDER;

	return (entry->dwServiceFlags1 & service) == service &&
	       (entry->dwProviderFlags & provider) == provider && entry->iVersion == ND_VERSION_2 &&
	       (entry->iAddressFamily == AF_INET || entry->iAddressFamily == AF_INET6) &&
	       entry->iSocketType == -1 && entry->iProtocol == 0 && entry->iProtocolMaxOffset == 0;
}

static struct found_provider *
provider_of(struct survey *survey, const WSAPROTOCOL_INFOW *entry)
{
	struct found_provider *fresh;

	for (uint32_t i = 0; i < survey->providers; i++)
		if (IsEqualGUID(&survey->provider[i].id, &entry->ProviderId))
			return &survey->provider[i];
	if (survey->providers == PROVIDERS_MAX)
		return NULL;
	fresh = &survey->provider[survey->providers++];
	fresh->id = entry->ProviderId;
	fresh->version = entry->iVersion;
	text_of_wide(entry->szProtocol, fresh->name, sizeof(fresh->name));
	return fresh;
}

/* Returns: false: no memory */
static bool
read_catalog(struct survey *survey)
{
	WSAPROTOCOL_INFOW *entries = NULL;
	int n = SOCKET_ERROR, error = WSAENOBUFS;
	DWORD length = 0;

	for (int i = 0; i < TRIES && n == SOCKET_ERROR && error == WSAENOBUFS; i++) {
		free(entries);
		entries = length ? malloc(length) : NULL;
		if (length && !entries)
			return false;
		n = WSCEnumProtocols(NULL, entries, &length, &error);
	}
	for (int i = 0; i < n; i++) {
		struct found_provider *provider = provider_of(survey, &entries[i]);

		if (!provider)
			break;
		provider->is_nd2 |= is_nd2(&entries[i]);
		if (provider->families < FAMILIES_MAX)
			provider->family[provider->families++] = entries[i].iAddressFamily;
	}
	free(entries);
	plx_catalog_check(survey->complaints, sizeof(survey->complaints));
	return true;
}

/* ---- interfaces ---- */

static IP_ADAPTER_ADDRESSES *
read_interfaces(void)
{
	IP_ADAPTER_ADDRESSES *all = NULL;
	ULONG size = 0;

	for (int i = 0; i < TRIES; i++) {
		ULONG status = GetAdaptersAddresses(AF_UNSPEC, 0, NULL, all, &size);

		if (status == NO_ERROR)
			return all;
		free(all);
		all = status == ERROR_BUFFER_OVERFLOW ? malloc(size) : NULL;
		if (!all)
			return NULL;
	}
	free(all);
	return NULL;
}

static bool
same_address(const SOCKET_ADDRESS *a, const SOCKADDR_STORAGE *b)
{
	if (a->lpSockaddr->sa_family != b->ss_family)
		return false;
	if (b->ss_family == AF_INET)
		return memcmp((const char *)a->lpSockaddr + offsetof(SOCKADDR_IN, sin_addr),
			      (const char *)b + offsetof(SOCKADDR_IN, sin_addr), 4) == 0;
	return memcmp((const char *)a->lpSockaddr + offsetof(SOCKADDR_IN6, sin6_addr),
		      (const char *)b + offsetof(SOCKADDR_IN6, sin6_addr), 16) == 0;
}

static void
name_interface(struct found_adapter *adapter, const IP_ADAPTER_ADDRESSES *all)
{
	for (; all && !adapter->index; all = all->Next)
		for (const IP_ADAPTER_UNICAST_ADDRESS *at = all->FirstUnicastAddress; at;
		     at = at->Next) {
			if (!same_address(&at->Address, &adapter->address[0].as))
				continue;
			adapter->index = all->IfIndex;
			snprintf(adapter->name, sizeof(adapter->name), "%s", all->AdapterName);
			text_of_wide(all->Description, adapter->description,
				     sizeof(adapter->description));
		}
}

/* ---- adapters ---- */

static struct found_adapter *
adapter_of(struct found_provider *provider, UINT64 id)
{
	for (uint32_t i = 0; i < provider->adapters; i++)
		if (provider->adapter[i].id == id)
			return &provider->adapter[i];
	if (provider->adapters == ADAPTERS_MAX)
		return NULL;
	provider->adapter[provider->adapters].id = id;
	provider->adapter[provider->adapters].status = ND_PENDING;
	return &provider->adapter[provider->adapters++];
}

static void
add_address(struct found_provider *found, IND2Provider *provider, const SOCKET_ADDRESS *told)
{
	struct found_adapter *adapter;
	struct found_address *to;
	const void *bytes;
	UINT64 id = 0;

	if (!told->lpSockaddr || told->iSockaddrLength < (INT)sizeof(SOCKADDR_IN) ||
	    told->iSockaddrLength > (INT)sizeof(SOCKADDR_STORAGE) ||
	    IND2Provider_ResolveAddress(provider, told->lpSockaddr, (ULONG)told->iSockaddrLength,
					&id) != ND_SUCCESS)
		return;
	adapter = adapter_of(found, id);
	if (!adapter || adapter->addresses == ADDRESSES_MAX)
		return;
	to = &adapter->address[adapter->addresses++];
	memcpy(&to->as, told->lpSockaddr, (size_t)told->iSockaddrLength);
	bytes = (const char *)&to->as + (to->as.ss_family == AF_INET
						 ? offsetof(SOCKADDR_IN, sin_addr)
						 : offsetof(SOCKADDR_IN6, sin6_addr));
	inet_ntop(to->as.ss_family, bytes, to->text, sizeof(to->text));
}

static bool
read_addresses(struct found_provider *found, IND2Provider *provider)
{
	SOCKET_ADDRESS_LIST *list = NULL;
	HRESULT status = ND_BUFFER_OVERFLOW;
	char room[16];
	ULONG bytes = 0;

	for (int i = 0; i < TRIES && status == ND_BUFFER_OVERFLOW; i++) {
		free(list);
		list = bytes ? calloc(1, bytes) : NULL;
		if (bytes && !list)
			return note(found, "no memory for its addresses");
		status = IND2Provider_QueryAddressList(provider, list, &bytes);
	}
	for (int i = 0; status == ND_SUCCESS && list && i < list->iAddressCount; i++)
		add_address(found, provider, &list->Address[i]);
	free(list);
	return status == ND_SUCCESS ||
	       note(found, "its QueryAddressList returned %s", status_name(status, room));
}

static void
open_adapter(struct found_adapter *adapter, IND2Provider *provider)
{
	ULONG bytes = sizeof(adapter->limits);
	void *object = NULL;

	adapter->status =
		IND2Provider_OpenAdapter(provider, &IID_IND2Adapter, adapter->id, &object);
	if (adapter->status != ND_SUCCESS)
		return;
	adapter->limits.InfoVersion = ND_VERSION_2;
	adapter->status = IND2Adapter_Query(object, &adapter->limits, &bytes);
	IND2Adapter_Release((IND2Adapter *)object);
}

/* ---- providers ---- */

static bool
look_inside(struct found_provider *found, IND2Provider *provider, const struct options *options)
{
	IP_ADAPTER_ADDRESSES *interfaces;

	found->adapter = calloc(ADAPTERS_MAX, sizeof(*found->adapter));
	if (!found->adapter)
		return note(found, "no memory for its adapters");
	if (!read_addresses(found, provider))
		return false;
	interfaces = read_interfaces();
	for (uint32_t i = 0; i < found->adapters; i++) {
		name_interface(&found->adapter[i], interfaces);
		if (!options->closed)
			open_adapter(&found->adapter[i], provider);
	}
	free(interfaces);
	return true;
}

static bool
use_library(struct found_provider *found, HMODULE library, const struct options *options)
{
	FARPROC get = GetProcAddress(library, "DllGetClassObject");
	FARPROC can = GetProcAddress(library, "DllCanUnloadNow");
	LPFNGETCLASSOBJECT get_class_object;
	LPFNCANUNLOADNOW can_unload_now;
	void *provider = NULL;
	char room[16];
	HRESULT status;
	bool good;

	if (!get || !can) {
		FreeLibrary(library);
		return note(found, "its library has no %s",
			    get ? "DllCanUnloadNow" : "DllGetClassObject");
	}
	memcpy(&get_class_object, &get, sizeof(get));
	memcpy(&can_unload_now, &can, sizeof(can));
	status = get_class_object(&found->id, &IID_IND2Provider, &provider);
	good = status == S_OK && provider != NULL;
	if (good) {
		good = look_inside(found, provider, options);
		IND2Provider_Release((IND2Provider *)provider);
	} else {
		note(found, "its DllGetClassObject returned %s", status_name(status, room));
	}
	if (can_unload_now() == S_OK)
		FreeLibrary(library);
	return good;
}

static bool
look_at(struct found_provider *found, const struct options *options)
{
	WCHAR path[TEXT_MAX], expanded[4 * TEXT_MAX];
	int length = TEXT_MAX, error = 0;
	DWORD n = 0;
	HMODULE library;

	if (WSCGetProviderPath(&found->id, path, &length, &error) == 0)
		n = ExpandEnvironmentStringsW(path, expanded, 4 * TEXT_MAX);
	if (n == 0 || n > 4 * TEXT_MAX)
		return note(found, "the catalog gives no path for it (error %d)", error);
	text_of_wide(expanded, found->library, sizeof(found->library));
	if (!found->is_nd2)
		return true; /* not for us to load */
	library = LoadLibraryExW(expanded, NULL, 0);
	if (!library)
		return note(found, "its library cannot be loaded: %.400s", plx_library_error());
	return use_library(found, library, options);
}

struct survey *
survey_take(const struct options *options)
{
	struct survey *survey = calloc(1, sizeof(*survey));

	if (!survey)
		return NULL;
	survey->provider = calloc(PROVIDERS_MAX, sizeof(*survey->provider));
	if (!survey->provider || !read_catalog(survey)) {
		survey_free(survey);
		return NULL;
	}
	survey->is_good = !*survey->complaints;
	for (uint32_t i = 0; i < survey->providers; i++) {
		struct found_provider *provider = &survey->provider[i];

		survey->is_good &= look_at(provider, options);
		for (uint32_t k = 0; k < provider->adapters; k++)
			survey->is_good &= !FAILED(provider->adapter[k].status);
	}
	return survey;
}

void
survey_free(struct survey *survey)
{
	for (uint32_t i = 0; i < survey->providers; i++)
		free(survey->provider[i].adapter);
	free(survey->provider);
	free(survey);
}
