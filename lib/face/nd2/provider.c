/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The entry points: the exports of the library, the class factory, and IND2Provider. Address
 * queries are answered from the configuration file, so they neither start the EAL nor open a
 * device. It keeps nothing between calls. Start with DllGetClassObject().
 */
#include <stdlib.h>

#include "nd2.h"

static atomic_uint locks; /* of LockServer() */

/* An invalid configuration file yields "not ready" and a logged sentence. */
static HRESULT
names_status(enum plx_status status, const struct plx_why *why)
{
	if (status != PLX_OK && *why->text)
		nd2_log("%s", why->text);
	return nd2_call_status(status);
}

static HRESULT
read_directory(struct plx_session_directory *directory)
{
	struct plx_why why = {""};
	enum plx_status status = plx_session_directory_read(directory, &why);

	return status == PLX_OK ? ND_SUCCESS : names_status(status, &why);
}

/* ---- IND2Provider ---- */

ND2_IUNKNOWN(provider, IND2Provider);

static HRESULT STDMETHODCALLTYPE
provider_query_address_list(IND2Provider *face, SOCKET_ADDRESS_LIST *list, ULONG *length)
{
	struct plx_session_directory directory;
	HRESULT status;

	(void)face;
	if (!length)
		return ND_INVALID_PARAMETER;
	status = read_directory(&directory);
	if (status != ND_SUCCESS)
		return status;
	status = nd2_address_list(directory.ip, directory.n, list, length);
	plx_session_directory_free(&directory);
	return status;
}

static HRESULT STDMETHODCALLTYPE
provider_resolve_address(IND2Provider *face, const struct sockaddr *address, ULONG length,
			 UINT64 *id)
{
	struct plx_session_directory directory;
	struct plx_ip ip;
	const char *name;
	uint16_t port;
	HRESULT status;

	(void)face;
	if (!id)
		return ND_INVALID_PARAMETER;
	status = nd2_address_read(address, length, &ip, &port);
	if (status != ND_SUCCESS)
		return status;
	status = read_directory(&directory);
	if (status != ND_SUCCESS)
		return status;
	name = plx_session_directory_find(&directory, &ip);
	if (name)
		*id = nd2_adapter_id(name);
	plx_session_directory_free(&directory);
	return name ? ND_SUCCESS : ND_INVALID_ADDRESS;
}

static HRESULT STDMETHODCALLTYPE
provider_open_adapter(IND2Provider *face, REFIID iid, UINT64 id, void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2Adapter, out);
	struct plx_why why = {""};
	const char *wanted = NULL;
	struct plx_session_names names;
	struct plx_session *session;

	(void)face;
	if (status == ND_SUCCESS)
		status = names_status(plx_session_names_read(&names, &why), &why);
	if (status != ND_SUCCESS)
		return status;
	for (uint32_t i = 0; i < names.n && !wanted; i++)
		if (nd2_adapter_id(names.name[i]) == id)
			wanted = names.name[i];
	status = wanted ? nd2_call_status(plx_session_get(wanted, &nd2_hooks, &session))
			: ND_INVALID_PARAMETER;
	free(names.name);
	if (status != ND_SUCCESS)
		return status;
	status = nd2_adapter_create(session, iid, out);
	if (status != ND_SUCCESS)
		plx_session_put(session);
	return status;
}

static const IND2ProviderVtbl provider_table = {
	.QueryInterface = provider_query_interface,
	.AddRef = provider_add_ref,
	.Release = provider_release,
	.QueryAddressList = provider_query_address_list,
	.ResolveAddress = provider_resolve_address,
	.OpenAdapter = provider_open_adapter,
};

static const struct nd2_kind provider_kind = {
	.table = &provider_table,
	.iid = &IID_IND2Provider,
	.bytes = sizeof(struct nd2_object),
	.base.destroy = nd2_object_free,
};

/* Create an object that belongs to no session: requested by the interface id of its kind or as
 * IUnknown. */
static HRESULT
create(const struct nd2_kind *kind, REFIID iid, void **out)
{
	HRESULT status;
	struct nd2_object *object = nd2_object_alloc(kind, NULL, NULL, &status);

	if (!object)
		return status;
	nd2_object_init(object, NULL);
	status = nd2_query_interface(object, iid, out);
	nd2_release(object); /* the initial reference */
	return status;
}

/* ---- IClassFactory ---- */

ND2_IUNKNOWN(factory, IClassFactory);

static HRESULT STDMETHODCALLTYPE
factory_create_instance(IClassFactory *face, IUnknown *outer, REFIID iid, void **out)
{
	(void)face;
	if (!out)
		return E_POINTER;
	*out = NULL;
	return outer ? CLASS_E_NOAGGREGATION : create(&provider_kind, iid, out);
}

static HRESULT STDMETHODCALLTYPE
factory_lock_server(IClassFactory *face, BOOL lock)
{
	unsigned int held = atomic_load(&locks);

	(void)face;
	if (lock) {
		atomic_fetch_add(&locks, 1);
		return S_OK;
	}
	while (held && !atomic_compare_exchange_weak(&locks, &held, held - 1))
		;
	return held ? S_OK : E_FAIL;
}

static const IClassFactoryVtbl factory_table = {
	.QueryInterface = factory_query_interface,
	.AddRef = factory_add_ref,
	.Release = factory_release,
	.CreateInstance = factory_create_instance,
	.LockServer = factory_lock_server,
};

static const struct nd2_kind factory_kind = {
	.table = &factory_table,
	.iid = &IID_IClassFactory,
	.bytes = sizeof(struct nd2_object),
	.base.destroy = nd2_object_free,
};

/* ---- what the library exports ---- */

/* There is one class, whatever id a catalog gives it. ND2 clients request the provider, COM clients
 * its factory. */
HRESULT STDMETHODCALLTYPE
DllGetClassObject(REFCLSID class_id, REFIID iid, void **out)
{
	(void)class_id;
	if (!out)
		return E_POINTER;
	*out = NULL;
	if (!iid)
		return E_NOINTERFACE;
	if (memcmp(iid, &IID_IND2Provider, sizeof(*iid)) == 0)
		return create(&provider_kind, iid, out);
	return create(&factory_kind, iid, out);
}

HRESULT STDMETHODCALLTYPE
DllCanUnloadNow(void)
{
	return plx_session_objects_alive() || atomic_load(&locks) ? S_FALSE : S_OK;
}
