/* SPDX-License-Identifier: BSD-3-Clause
 *
 * IND2Adapter: queries, and the methods that create objects.
 * Apart from its protection domain it has no lock and no state: any number of threads may call its
 * methods at once. Start with `adapter_table`, at the end.
 */
#include "nd2.h"
#include "plx_nd2.h"

ND2_IUNKNOWN(adapter, IND2Adapter);

static HRESULT STDMETHODCALLTYPE
adapter_create_overlapped_file(IND2Adapter *face, HANDLE *out)
{
	struct plx_pump *pump = nd2_session_of(nd2_adapter_of(face)->session)->pump;

	if (!out)
		return ND_INVALID_PARAMETER;
	*out = plx_file_create();
	if (*out && pump)
		plx_file_set_pump(*out, pump);
	return *out ? ND_SUCCESS : ND_NO_MEMORY;
}

static HRESULT STDMETHODCALLTYPE
adapter_query(IND2Adapter *face, ND2_ADAPTER_INFO *info, ULONG *length)
{
	ULONG given;

	if (!length)
		return ND_INVALID_PARAMETER;
	given = *length;
	*length = sizeof(*info);
	if (!info || given < sizeof(*info))
		return ND_BUFFER_OVERFLOW;
	/* the reference pages say 1, all clients use 2 */
	if (info->InfoVersion != ND_VERSION_2 && info->InfoVersion != ND_VERSION_1)
		return ND_NOT_SUPPORTED;
	*info = *nd2_limits(nd2_adapter_of(face)->session);
	return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE
adapter_query_address_list(IND2Adapter *face, SOCKET_ADDRESS_LIST *list, ULONG *length)
{
	const struct plx_adapter_info *info = &nd2_adapter_of(face)->session->info;

	return nd2_address_list(info->address, info->addresses, list, length);
}

/* ---- objects it creates ---- */

static struct nd2_adapter *
begin_call(IND2Adapter *face)
{
	struct nd2_adapter *adapter = nd2_adapter_of(face);

	nd2_session_claim(adapter->session);
	return adapter;
}

static HRESULT STDMETHODCALLTYPE
adapter_create_completion_queue(IND2Adapter *face, REFIID iid, HANDLE file, ULONG depth,
				USHORT group, KAFFINITY affinity, void **out)
{
	(void)group, (void)affinity; /* hints, ignored: one thread delivers everything */
	return nd2_cq_create(begin_call(face), iid, file, depth, out);
}

static HRESULT STDMETHODCALLTYPE
adapter_create_memory_region(IND2Adapter *face, REFIID iid, HANDLE file, void **out)
{
	return nd2_mr_create(begin_call(face), iid, file, out);
}

static HRESULT STDMETHODCALLTYPE
adapter_create_memory_window(IND2Adapter *face, REFIID iid, void **out)
{
	return nd2_mw_create(begin_call(face), iid, out);
}

static HRESULT STDMETHODCALLTYPE
adapter_create_shared_receive_queue(IND2Adapter *face, REFIID iid, HANDLE file, ULONG depth,
				    ULONG sges, ULONG threshold, USHORT group, KAFFINITY affinity,
				    void **out)
{
	(void)group, (void)affinity;
	return nd2_srq_create(begin_call(face), iid, file, depth, sges, threshold, out);
}

static HRESULT STDMETHODCALLTYPE
adapter_create_queue_pair(IND2Adapter *face, REFIID iid, IUnknown *receive_cq,
			  IUnknown *initiator_cq, void *context, ULONG receive_depth,
			  ULONG initiator_depth, ULONG receive_sges, ULONG initiator_sges,
			  ULONG inline_bytes, void **out)
{
	const struct nd2_qp_init_attr attr = {
		.receive_cq = receive_cq,
		.initiator_cq = initiator_cq,
		.context = context,
		.receive_depth = receive_depth,
		.initiator_depth = initiator_depth,
		.receive_sges = receive_sges,
		.initiator_sges = initiator_sges,
		.inline_bytes = inline_bytes,
	};

	return nd2_qp_create(begin_call(face), iid, &attr, out);
}

static HRESULT STDMETHODCALLTYPE
adapter_create_queue_pair_with_srq(IND2Adapter *face, REFIID iid, IUnknown *receive_cq,
				   IUnknown *initiator_cq, IUnknown *srq, void *context,
				   ULONG initiator_depth, ULONG initiator_sges, ULONG inline_bytes,
				   void **out)
{
	const struct nd2_qp_init_attr attr = {
		.receive_cq = receive_cq,
		.initiator_cq = initiator_cq,
		.srq = srq,
		.with_srq = true,
		.context = context,
		.initiator_depth = initiator_depth,
		.initiator_sges = initiator_sges,
		.inline_bytes = inline_bytes,
	};

	return nd2_qp_create(begin_call(face), iid, &attr, out);
}

static HRESULT STDMETHODCALLTYPE
adapter_create_connector(IND2Adapter *face, REFIID iid, HANDLE file, void **out)
{
	return nd2_connector_create(begin_call(face), iid, file, out);
}

static HRESULT STDMETHODCALLTYPE
adapter_create_listener(IND2Adapter *face, REFIID iid, HANDLE file, void **out)
{
	return nd2_listener_create(begin_call(face), iid, file, out);
}

/* ---- lifetime ---- */

static const IND2AdapterVtbl adapter_table = {
	.QueryInterface = adapter_query_interface,
	.AddRef = adapter_add_ref,
	.Release = adapter_release,
	.CreateOverlappedFile = adapter_create_overlapped_file,
	.Query = adapter_query,
	.QueryAddressList = adapter_query_address_list,
	.CreateCompletionQueue = adapter_create_completion_queue,
	.CreateMemoryRegion = adapter_create_memory_region,
	.CreateMemoryWindow = adapter_create_memory_window,
	.CreateSharedReceiveQueue = adapter_create_shared_receive_queue,
	.CreateQueuePair = adapter_create_queue_pair,
	.CreateQueuePairWithSrq = adapter_create_queue_pair_with_srq,
	.CreateConnector = adapter_create_connector,
	.CreateListener = adapter_create_listener,
};

static void
adapter_destroy(struct plx_session_object *object)
{
	const struct nd2_adapter *adapter = plx_list_entry(object, struct nd2_adapter, object.base);
	struct plx_session *session = adapter->session;

	nd2_session_claim(session);
	if (plx_pd_destroy(adapter->pd) != PLX_OK)
		nd2_log("adapter %s: its protection domain still has objects", session->name);
	nd2_object_free(object);
	plx_session_put(session);
}

static const struct nd2_kind adapter_kind = {
	.table = &adapter_table,
	.iid = &IID_IND2Adapter,
	.bytes = sizeof(struct nd2_adapter),
	.base.destroy = adapter_destroy,
};

HRESULT
nd2_adapter_create(struct plx_session *session, REFIID iid, void **out)
{
	HRESULT status = nd2_check_create(iid, &IID_IND2Adapter, out);
	struct nd2_adapter *adapter;
	enum plx_status made;

	if (status != ND_SUCCESS)
		return status;
	adapter = nd2_object_alloc(&adapter_kind, NULL, NULL, &status);
	if (!adapter)
		return status;
	nd2_session_claim(session);
	made = plx_pd_create(session->adapter, &adapter->pd);
	if (made != PLX_OK) {
		nd2_object_free(&adapter->object.base);
		return nd2_call_status(made);
	}
	adapter->session = session;
	nd2_object_init(&adapter->object, session);
	*out = adapter;
	return ND_SUCCESS;
}

void
plx_nd2_adapter_info(IND2Adapter *face, struct plx_adapter_info *out)
{
	*out = nd2_adapter_of(face)->session->info;
}

struct plx_adapter *
plx_nd2_adapter_verbs(IND2Adapter *face)
{
	return nd2_adapter_of(face)->session->adapter;
}
