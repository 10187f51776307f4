/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of providers, and the steps by which ND2's documents get from a catalog entry to a
 * provider object: compare the fields, get the path, load the library, request the object; and
 * unload a library that is not in use. It never opens an adapter. Start with providers_get().
 */
#include "providers.h"

#include "plx_catalog.h"

#include <ws2spi.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum {
	ENUMERATE_TRIES = 8, /* files may be added between querying the size and reading */
	PATH_CHARS_MAX = 4096,
};

typedef HRESULT get_class_object(REFCLSID id, REFIID iid, void **out);
typedef HRESULT can_unload_now(void);

struct provider {
	GUID id;
	HMODULE library; /* NULL: not loaded */
	get_class_object *get_class_object;
	can_unload_now *can_unload_now;
	uint32_t users; /* calls that are in it, or may soon be */
	bool listed;    /* it was in the catalog at the last read */
	char why[512];
	struct provider *next;
};

/* Recursive, since a library being loaded may call us. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct provider *first;

/* ---- the catalog ---- */

/* Is it an ND2 provider? Compares the documented fields as Microsoft's framework does. An NDv1
 * provider (version 1, hidden) is not: its interfaces differ. */
static bool
is_nd2(const WSAPROTOCOL_INFOW *entry)
{
	const DWORD service = XP1_GUARANTEED_DELIVERY | XP1_GUARANTEED_ORDER |
			      XP1_MESSAGE_ORIENTED | XP1_CONNECT_DATA;
	const DWORD flags = PFL_HIDDEN | PFL_NETWORKDIRECT_PROVIDER;

	return (entry->dwServiceFlags1 & service) == service &&
	       (entry->dwProviderFlags & flags) == flags && entry->iVersion == ND_VERSION_2 &&
	       (entry->iAddressFamily == AF_INET || entry->iAddressFamily == AF_INET6) &&
	       entry->iSocketType == -1 && entry->iProtocol == 0 && entry->iProtocolMaxOffset == 0;
}

/* The catalog's entries, to be freed. Returns: the number; -1: no memory, or unreadable */
static int
enumerate(WSAPROTOCOL_INFOW **out)
{
	DWORD length = 0;
	int error = 0, n;

	*out = NULL;
	for (int i = 0; i < ENUMERATE_TRIES; i++) {
		n = WSCEnumProtocols(NULL, *out, &length, &error);
		if (n != SOCKET_ERROR)
			return n;
		free(*out);
		*out = NULL;
		if (error != WSAENOBUFS)
			return -1;
		*out = malloc(length);
		if (!*out)
			return -1;
	}
	free(*out);
	*out = NULL;
	return -1;
}

static struct provider *
find(const GUID *id)
{
	struct provider *at = first;

	while (at && memcmp(&at->id, id, sizeof(*id)) != 0)
		at = at->next;
	return at;
}

/* Append, to keep the catalog's order. */
static struct provider *
append(const GUID *id)
{
	struct provider **end = &first, *fresh = calloc(1, sizeof(*fresh));

	if (!fresh)
		return NULL;
	while (*end)
		end = &(*end)->next;
	fresh->id = *id;
	*end = fresh;
	return fresh;
}

/* Update the list from the catalog. */
static HRESULT
follow_catalog(void)
{
	WSAPROTOCOL_INFOW *entries;
	int n = enumerate(&entries);

	if (n < 0)
		return ND_UNSUCCESSFUL;
	for (struct provider *at = first; at; at = at->next)
		at->listed = false;
	for (int i = 0; i < n; i++) {
		struct provider *provider;

		if (!is_nd2(&entries[i]))
			continue;
		provider = find(&entries[i].ProviderId);
		if (!provider)
			provider = append(&entries[i].ProviderId);
		if (!provider) {
			free(entries);
			return ND_NO_MEMORY;
		}
		provider->listed = true;
	}
	free(entries);
	return ND_SUCCESS;
}

/* ---- libraries ---- */

static HRESULT __attribute__((format(printf, 2, 3)))
fail(struct provider *provider, const char *format, ...)
{
	const uint8_t *d = provider->id.Data4;
	char text[400];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	snprintf(provider->why, sizeof(provider->why),
		 "provider {%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}: %s",
		 provider->id.Data1, provider->id.Data2, provider->id.Data3, d[0], d[1], d[2], d[3],
		 d[4], d[5], d[6], d[7], text);
	return ND_DEVICE_NOT_READY;
}

/* The path to load: the catalog's, with environment variables expanded. */
static bool
path_of(const GUID *id, wchar_t *out)
{
	wchar_t raw[PATH_CHARS_MAX];
	int length = PATH_CHARS_MAX, error;
	GUID key = *id;
	DWORD n;

	if (WSCGetProviderPath(&key, raw, &length, &error) != 0)
		return false;
	n = ExpandEnvironmentStringsW(raw, out, PATH_CHARS_MAX);
	return n > 0 && n <= PATH_CHARS_MAX;
}

/* For a message: characters other than ASCII become question marks. */
static const char *
legible(const wchar_t *path, char *out, size_t size)
{
	size_t n = 0;

	for (; path[n] && n + 1 < size; n++)
		out[n] = path[n] >= L' ' && path[n] <= L'~' ? (char)path[n] : '?';
	out[n] = '\0';
	return out;
}

static HRESULT
load(struct provider *provider)
{
	wchar_t path[PATH_CHARS_MAX];
	char text[300];
	HMODULE library;
	FARPROC get, can;

	if (provider->library)
		return ND_SUCCESS;
	if (!path_of(&provider->id, path))
		return fail(provider, "the catalog no longer has a path for it");
	library = LoadLibraryExW(path, NULL, 0);
	if (!library)
		return fail(provider, "its library cannot be loaded: %s", plx_library_error());
	get = GetProcAddress(library, "DllGetClassObject");
	can = GetProcAddress(library, "DllCanUnloadNow");
	if (!get || !can) {
		FreeLibrary(library);
		return fail(provider, "%s has no %s", legible(path, text, sizeof(text)),
			    get ? "DllCanUnloadNow" : "DllGetClassObject");
	}
	provider->library = library;
	memcpy(&provider->get_class_object, &get, sizeof(get));
	memcpy(&provider->can_unload_now, &can, sizeof(can));
	return ND_SUCCESS;
}

/* Unload a library, unless a call is in it or it reports a live object. */
static void
try_unload(struct provider *provider)
{
	if (!provider->library || provider->users || provider->can_unload_now() != S_OK)
		return;
	FreeLibrary(provider->library);
	provider->library = NULL;
}

/* Unload unused libraries, and remove providers that the catalog no longer has. */
static void
sweep(void)
{
	struct provider **at = &first;

	while (*at) {
		struct provider *provider = *at;

		try_unload(provider);
		if (provider->listed || provider->library || provider->users) {
			at = &provider->next;
			continue;
		}
		*at = provider->next;
		free(provider);
	}
}

/* ---- for the helpers ---- */

HRESULT
providers_get(struct providers *out)
{
	uint32_t n = 0;
	HRESULT status;

	*out = (struct providers){NULL, 0};
	pthread_mutex_lock(&lock);
	status = follow_catalog();
	for (struct provider *at = first; at; at = at->next)
		n += at->listed;
	if (status == ND_SUCCESS && n > 0) {
		out->one = calloc(n, sizeof(struct provider *));
		if (!out->one)
			status = ND_NO_MEMORY;
	}
	for (struct provider *at = first; status == ND_SUCCESS && at; at = at->next) {
		if (!at->listed)
			continue;
		at->users++;
		at->why[0] = '\0';
		out->one[out->count++] = at;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

void
providers_put(struct providers *list)
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < list->count; i++)
		list->one[i]->users--;
	sweep();
	pthread_mutex_unlock(&lock);
	free(list->one);
	*list = (struct providers){NULL, 0};
}

HRESULT
provider_open(struct provider *provider, IND2Provider **out)
{
	get_class_object *get = NULL;
	void *object = NULL;
	HRESULT status;

	*out = NULL;
	pthread_mutex_lock(&lock);
	status = load(provider);
	if (status == ND_SUCCESS)
		get = provider->get_class_object;
	pthread_mutex_unlock(&lock);
	if (!get)
		return status;
	status = get(&provider->id, &IID_IND2Provider, &object);
	if (FAILED(status) || !object) {
		pthread_mutex_lock(&lock);
		status =
			fail(provider, "its DllGetClassObject returned 0x%08x for IID_IND2Provider",
			     (unsigned)status);
		pthread_mutex_unlock(&lock);
		return status;
	}
	*out = object;
	return ND_SUCCESS;
}

void
provider_failed(struct provider *provider, const char *call, HRESULT status)
{
	pthread_mutex_lock(&lock);
	fail(provider, "its %s returned 0x%08x", call, (unsigned)status);
	pthread_mutex_unlock(&lock);
}

void
providers_flush(void)
{
	pthread_mutex_lock(&lock);
	sweep();
	pthread_mutex_unlock(&lock);
}

uint32_t
providers_complain(char *text, size_t size)
{
	uint32_t count = 0;
	size_t used = strlen(text);

	pthread_mutex_lock(&lock);
	for (const struct provider *at = first; at; at = at->next) {
		int n;

		if (!*at->why)
			continue;
		count++;
		n = snprintf(text + used, size - used, "%s%s", used ? "\n" : "", at->why);
		if (n > 0 && (size_t)n < size - used)
			used += (size_t)n;
		else
			text[used] = '\0';
	}
	pthread_mutex_unlock(&lock);
	return count;
}
