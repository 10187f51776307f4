/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A minimal ND2 provider that is not Pollux: one address, one adapter, which supports only Query.
 * DllCanUnloadNow is truthful. It is built several times, each with a quirk of real providers:
 *
 *   SECOND_ID       last byte of its ProviderId, which it insists on
 *   SECOND_EMPTY    no addresses; returns ND_SUCCESS when queried for the size of the list
 *   SECOND_CROOKED  its list has invalid entries beside its address
 *   SECOND_REFUSES  OpenAdapter fails
 *   SECOND_MUTE     does not export DllCanUnloadNow
 *
 * Start with DllGetClassObject().
 */
#define PLX_COM_IMPLEMENTS
#include <ndspi.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifndef SECOND_ID
#define SECOND_ID 0x77
#endif

enum {
	ADAPTER_ID = 0x7700 + SECOND_ID,
	VENDOR = 0x7777,
};

static const GUID provider_id = {0x5ec04d00, 0x4e44, 0x4e44, {0x80, 0, 0, 0, 0, 0, 0, SECOND_ID}};

/* Objects that live. */
static atomic_int alive;

struct object {
	const void *table;
	atomic_uint references;
};

static HRESULT
query_interface(void *face, const IID *mine, REFIID iid, void **out)
{
	if (!out)
		return E_POINTER;
	*out = NULL;
	if (!IsEqualGUID(iid, mine) && !IsEqualGUID(iid, &IID_IUnknown))
		return E_NOINTERFACE;
	atomic_fetch_add(&((struct object *)face)->references, 1);
	*out = face;
	return S_OK;
}

static ULONG
add_ref(void *face)
{
	return atomic_fetch_add(&((struct object *)face)->references, 1) + 1;
}

static ULONG
release(void *face)
{
	ULONG left = atomic_fetch_sub(&((struct object *)face)->references, 1) - 1;

	if (left)
		return left;
	free(face);
	atomic_fetch_sub(&alive, 1);
	return 0;
}

/* The three for a table, as NAME_query_interface() and so on. */
#define IUNKNOWN(name, Face)                                                      \
	static HRESULT name##_query_interface(Face *face, REFIID iid, void **out) \
	{                                                                         \
		return query_interface(face, &IID_##Face, iid, out);              \
	}                                                                         \
	static ULONG name##_add_ref(Face *face)                                   \
	{                                                                         \
		return add_ref(face);                                             \
	}                                                                         \
	static ULONG name##_release(Face *face)                                   \
	{                                                                         \
		return release(face);                                             \
	}

static void *
create(const void *table)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->table = table;
	object->references = 1;
	atomic_fetch_add(&alive, 1);
	return object;
}

/* ---- addresses ---- */

static HRESULT
list_addresses(SOCKET_ADDRESS_LIST *list, ULONG *bytes)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
#ifdef SECOND_EMPTY
	(void)list;
	(void)address;
	*bytes = 0;
	return ND_SUCCESS;
#else
#ifdef SECOND_CROOKED
	const int n = 4; /* another family, too short, nothing, and the address */
#else
	const int n = 1;
#endif
	const ULONG need =
		(ULONG)(sizeof(*list) + (n - 1) * sizeof(SOCKET_ADDRESS) + n * sizeof(address));
	SOCKET_ADDRESS *entry;
	struct sockaddr_in *behind;

	if (!list || *bytes < need) {
		*bytes = need;
		return ND_BUFFER_OVERFLOW;
	}
	*bytes = need;
	inet_pton(AF_INET, "192.0.2.77", &address.sin_addr);
	memset(list, 0, need);
	list->iAddressCount = n;
	entry = (void *)((char *)list + offsetof(SOCKET_ADDRESS_LIST, Address));
	behind = (void *)(entry + n);
	for (int i = 0; i < n; i++) {
		memcpy(&behind[i], &address, sizeof(address));
		entry[i].lpSockaddr = (struct sockaddr *)(void *)&behind[i];
		entry[i].iSockaddrLength = sizeof(address);
	}
	if (n > 1) {
		behind[0].sin_family = AF_UNIX;
		behind[1].sin_family = AF_INET6;
		entry[2].lpSockaddr = NULL;
	}
	return ND_SUCCESS;
#endif
}

/* ---- IND2Adapter ---- */

IUNKNOWN(adapter, IND2Adapter)

static HRESULT
adapter_query(IND2Adapter *face, ND2_ADAPTER_INFO *info, ULONG *bytes)
{
	(void)face;
	if (!info || *bytes < sizeof(*info)) {
		*bytes = sizeof(*info);
		return ND_BUFFER_OVERFLOW;
	}
	memset(info, 0, sizeof(*info));
	info->InfoVersion = ND_VERSION_2;
	info->VendorId = VENDOR;
	info->AdapterId = ADAPTER_ID;
	info->MaxTransferLength = 1;
	*bytes = sizeof(*info);
	return ND_SUCCESS;
}

static HRESULT
adapter_query_address_list(IND2Adapter *face, SOCKET_ADDRESS_LIST *list, ULONG *bytes)
{
	(void)face;
	return list_addresses(list, bytes);
}

static HRESULT
create_file(IND2Adapter *face, HANDLE *out)
{
	(void)face;
	*out = NULL;
	return ND_NOT_SUPPORTED;
}

static HRESULT
create_cq(IND2Adapter *face, REFIID iid, HANDLE file, ULONG depth, USHORT group, KAFFINITY affinity,
	  VOID **out)
{
	(void)face, (void)iid, (void)file, (void)depth, (void)group, (void)affinity;
	*out = NULL;
	return ND_NOT_SUPPORTED;
}

/* Regions, connectors, listeners: the same shape. */
static HRESULT
create_on_file(IND2Adapter *face, REFIID iid, HANDLE file, VOID **out)
{
	(void)face, (void)iid, (void)file;
	*out = NULL;
	return ND_NOT_SUPPORTED;
}

static HRESULT
create_mw(IND2Adapter *face, REFIID iid, VOID **out)
{
	(void)face, (void)iid;
	*out = NULL;
	return ND_NOT_SUPPORTED;
}

static HRESULT
create_srq(IND2Adapter *face, REFIID iid, HANDLE file, ULONG depth, ULONG sges, ULONG threshold,
	   USHORT group, KAFFINITY affinity, VOID **out)
{
	(void)face, (void)iid, (void)file, (void)depth, (void)sges, (void)threshold, (void)group;
	(void)affinity;
	*out = NULL;
	return ND_NOT_SUPPORTED;
}

static HRESULT
create_qp(IND2Adapter *face, REFIID iid, IUnknown *receive, IUnknown *initiator, VOID *context,
	  ULONG receive_depth, ULONG initiator_depth, ULONG receive_sges, ULONG initiator_sges,
	  ULONG inline_bytes, VOID **out)
{
	(void)face, (void)iid, (void)receive, (void)initiator, (void)context, (void)receive_depth;
	(void)initiator_depth, (void)receive_sges, (void)initiator_sges, (void)inline_bytes;
	*out = NULL;
	return ND_NOT_SUPPORTED;
}

static HRESULT
create_qp_with_srq(IND2Adapter *face, REFIID iid, IUnknown *receive, IUnknown *initiator,
		   IUnknown *srq, VOID *context, ULONG initiator_depth, ULONG initiator_sges,
		   ULONG inline_bytes, VOID **out)
{
	(void)face, (void)iid, (void)receive, (void)initiator, (void)srq, (void)context;
	(void)initiator_depth, (void)initiator_sges, (void)inline_bytes;
	*out = NULL;
	return ND_NOT_SUPPORTED;
}

static const IND2AdapterVtbl adapter_table = {
	.QueryInterface = adapter_query_interface,
	.AddRef = adapter_add_ref,
	.Release = adapter_release,
	.CreateOverlappedFile = create_file,
	.Query = adapter_query,
	.QueryAddressList = adapter_query_address_list,
	.CreateCompletionQueue = create_cq,
	.CreateMemoryRegion = create_on_file,
	.CreateMemoryWindow = create_mw,
	.CreateSharedReceiveQueue = create_srq,
	.CreateQueuePair = create_qp,
	.CreateQueuePairWithSrq = create_qp_with_srq,
	.CreateConnector = create_on_file,
	.CreateListener = create_on_file,
};

/* ---- IND2Provider ---- */

IUNKNOWN(provider, IND2Provider)

static HRESULT
provider_query_address_list(IND2Provider *face, SOCKET_ADDRESS_LIST *list, ULONG *bytes)
{
	(void)face;
	return list_addresses(list, bytes);
}

static HRESULT
provider_resolve(IND2Provider *face, const struct sockaddr *address, ULONG bytes, UINT64 *id)
{
	struct sockaddr_in mine;

	(void)face;
	if (bytes < sizeof(mine) || address->sa_family != AF_INET)
		return ND_INVALID_ADDRESS;
	memcpy(&mine, address, sizeof(mine));
	if (mine.sin_addr.s_addr != inet_addr("192.0.2.77"))
		return ND_INVALID_ADDRESS;
	*id = ADAPTER_ID;
	return ND_SUCCESS;
}

static HRESULT
provider_open(IND2Provider *face, REFIID iid, UINT64 id, VOID **out)
{
	(void)face;
	*out = NULL;
	if (id != ADAPTER_ID)
		return ND_INVALID_PARAMETER;
	if (!IsEqualGUID(iid, &IID_IND2Adapter))
		return E_NOINTERFACE;
#ifdef SECOND_REFUSES
	(void)adapter_table;
	return ND_INSUFFICIENT_RESOURCES;
#else
	*out = create(&adapter_table);
	return *out ? ND_SUCCESS : ND_NO_MEMORY;
#endif
}

static const IND2ProviderVtbl provider_table = {
	.QueryInterface = provider_query_interface,
	.AddRef = provider_add_ref,
	.Release = provider_release,
	.QueryAddressList = provider_query_address_list,
	.ResolveAddress = provider_resolve,
	.OpenAdapter = provider_open,
};

/* ---- exported functions ---- */

HRESULT STDAPICALLTYPE
DllGetClassObject(REFCLSID clsid, REFIID iid, LPVOID *object)
{
	void *provider;
	HRESULT status;

	if (!object)
		return E_POINTER;
	*object = NULL;
	if (!IsEqualGUID(clsid, &provider_id))
		return CLASS_E_CLASSNOTAVAILABLE;
	provider = create(&provider_table);
	if (!provider)
		return E_OUTOFMEMORY;
	status = query_interface(provider, &IID_IND2Provider, iid, object);
	release(provider);
	return status;
}

#ifndef SECOND_MUTE
HRESULT STDAPICALLTYPE
DllCanUnloadNow(void)
{
	return atomic_load(&alive) == 0 ? S_OK : S_FALSE;
}
#endif
