/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The catalog's calls in Winsock: enumerate, path, install, deinstall. Each reads the files anew,
 * so a provider installed by one process is seen by the next call of another. They never load a
 * library. Start with WSCEnumProtocols().
 */
#include "catalog.h"

#include "plx_crt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fail as Winsock does: store the error where the caller wants it. */
static int
fail(LPINT out, int error)
{
	if (out)
		*out = error;
	return SOCKET_ERROR;
}

/* Is an entry of one of the requested protocols? */
static bool
is_wanted(const WSAPROTOCOL_INFOW *entry, const INT *protocols)
{
	if (!protocols)
		return true;
	for (; *protocols; protocols++)
		if (*protocols == entry->iProtocol)
			return true;
	return false;
}

/* Copy the selected entries; only count if `out` is NULL. */
static uint32_t
collect(const struct catalog *catalog, const INT *protocols, WSAPROTOCOL_INFOW *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < catalog->providers; i++)
		for (uint32_t k = 0; k < catalog->provider[i].entries; k++) {
			const WSAPROTOCOL_INFOW *entry = &catalog->provider[i].entry[k];

			if (!is_wanted(entry, protocols))
				continue;
			if (out)
				out[n] = *entry;
			n++;
		}
	return n;
}

int WSAAPI
WSCEnumProtocols(LPINT protocols, LPWSAPROTOCOL_INFOW buffer, LPDWORD length, LPINT error)
{
	struct catalog *catalog;
	uint32_t n;
	DWORD need;

	if (!length)
		return fail(error, WSAEFAULT);
	catalog = catalog_read();
	if (!catalog)
		return fail(error, WSA_NOT_ENOUGH_MEMORY);
	n = collect(catalog, protocols, NULL);
	need = (DWORD)(n * sizeof(*buffer));
	if (need && (!buffer || *length < need)) {
		*length = need;
		catalog_free(catalog);
		return fail(error, WSAENOBUFS);
	}
	if (need)
		collect(catalog, protocols, buffer);
	*length = need;
	catalog_free(catalog);
	return (int)n;
}

int WSAAPI
WSCGetProviderPath(LPGUID id, WCHAR *path, LPINT length, LPINT error)
{
	struct catalog *catalog;
	const struct catalog_provider *provider;
	int status = 0, need;

	if (!id || !length)
		return fail(error, WSAEFAULT);
	catalog = catalog_read();
	if (!catalog)
		return fail(error, WSA_NOT_ENOUGH_MEMORY);
	provider = catalog_find(catalog, id);
	if (!provider) {
		status = fail(error, WSAEINVAL);
	} else {
		need = (int)wide_of_utf8(provider->library, NULL, 0) + 1;
		if (!path || *length < need)
			status = fail(error, WSAEFAULT);
		else
			wide_of_utf8(provider->library, path, (size_t)need);
		*length = need;
	}
	catalog_free(catalog);
	return status;
}

/* ---- installing ---- */

static bool
entry_is_right(const WSAPROTOCOL_INFOW *entry)
{
	bool ends = false;

	for (int i = 0; i <= WSAPROTOCOL_LEN && !ends; i++)
		ends = entry->szProtocol[i] == L'\0';
	return ends && entry->szProtocol[0] && entry->ProtocolChain.ChainLen == BASE_PROTOCOL &&
	       entry->iAddressFamily >= 0 && entry->iAddressFamily <= UINT16_MAX &&
	       entry->iVersion >= 0 && entry->iMaxSockAddr >= 0 && entry->iMinSockAddr >= 0 &&
	       entry->iSocketType >= -1 && entry->iProtocolMaxOffset >= 0 &&
	       entry->iNetworkByteOrder >= 0 && entry->iSecurityScheme >= 0;
}

static int
describe(const GUID *id, const WCHAR *path, const WSAPROTOCOL_INFOW *entries, DWORD n,
	 struct catalog_provider *out)
{
	static const GUID none;

	if (memcmp(id, &none, sizeof(none)) == 0 || n < 1 || n > CATALOG_ENTRIES_MAX ||
	    utf8_of_wide(path, out->library, sizeof(out->library)) >= sizeof(out->library) ||
	    !catalog_library_is_right(out->library))
		return WSAEINVAL;
	out->id = *id;
	for (; out->entries < n; out->entries++) {
		if (!entry_is_right(&entries[out->entries]))
			return WSAEINVAL;
		out->entry[out->entries] = entries[out->entries];
	}
	return 0;
}

int WSAAPI
WSCInstallProvider(LPGUID id, const WCHAR *path, const LPWSAPROTOCOL_INFOW entries, DWORD n,
		   LPINT error)
{
	struct catalog_provider *fresh;
	struct catalog *catalog;
	char folder[CATALOG_FOLDERS_MAX][CATALOG_PATH_MAX];
	int cause;

	if (!id || !path || !entries)
		return fail(error, WSAEFAULT);
	fresh = calloc(1, sizeof(*fresh));
	catalog = catalog_read();
	if (!fresh || !catalog) {
		cause = WSAENOBUFS;
	} else {
		cause = describe(id, path, entries, n, fresh);
		if (!cause && catalog_find(catalog, id))
			cause = WSAEINVAL;
	}
	if (!cause) {
		catalog_folders(folder);
		switch (catalog_file_write(folder[0], fresh)) {
		case 0:
			break;
		case EEXIST:
			cause = WSAEINVAL;
			break;
		default:
			cause = WSANO_RECOVERY;
			break;
		}
	}
	free(fresh);
	catalog_free(catalog);
	return cause ? fail(error, cause) : 0;
}

int WSAAPI
WSCDeinstallProvider(LPGUID id, LPINT error)
{
	struct catalog *catalog;
	const struct catalog_provider *provider;
	int cause = 0;

	if (!id)
		return fail(error, WSAEFAULT);
	catalog = catalog_read();
	if (!catalog)
		return fail(error, WSA_NOT_ENOUGH_MEMORY);
	provider = catalog_find(catalog, id);
	/* a provider named by ND2_PROVIDER has no file to remove */
	if (!provider)
		cause = WSAEINVAL;
	else if (!*provider->file)
		cause = WSANO_RECOVERY;
	else if ((cause = catalog_file_remove(provider->file)) != 0)
		cause = cause == ENOENT ? 0 : WSANO_RECOVERY;
	catalog_free(catalog);
	return cause ? fail(error, cause) : 0;
}
