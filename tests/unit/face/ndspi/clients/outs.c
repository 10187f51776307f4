/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client in C that gives each call the address of the pointer it wants filled, without a cast and
 * with one. Nothing is called: it is compiled.
 */
#include <initguid.h>
#include <ndspi.h>
#include <ndsupport.h>

static HRESULT
Make(IND2Adapter *adapter, HANDLE file)
{
	IND2CompletionQueue *cq;
	IND2SharedReceiveQueue *srq;
	IND2MemoryRegion *region;
	IND2MemoryWindow *window;
	IND2QueuePair *qp;
	IND2Connector *connector;
	IND2Listener *listener;
	IND2Overlapped *overlapped;
	VOID *any;
	HRESULT hr;

	hr = adapter->lpVtbl->CreateCompletionQueue(adapter, &IID_IND2CompletionQueue, file, 8, 0,
						    0, &cq);
	hr |= adapter->lpVtbl->CreateSharedReceiveQueue(adapter, &IID_IND2SharedReceiveQueue, file,
							8, 1, 0, 0, 0, &srq);
	hr |= IND2Adapter_CreateMemoryRegion(adapter, &IID_IND2MemoryRegion, file, &region);
	hr |= IND2Adapter_CreateMemoryWindow(adapter, &IID_IND2MemoryWindow, &window);
	hr |= adapter->lpVtbl->CreateQueuePair(adapter, &IID_IND2QueuePair, (IUnknown *)cq,
					       (IUnknown *)cq, NULL, 8, 8, 1, 1, 0, &qp);
	hr |= adapter->lpVtbl->CreateQueuePairWithSrq(adapter, &IID_IND2QueuePair, (IUnknown *)cq,
						      (IUnknown *)cq, (IUnknown *)srq, NULL, 8, 1,
						      0, &qp);
	hr |= IND2Adapter_CreateConnector(adapter, &IID_IND2Connector, file, &connector);
	hr |= IND2Adapter_CreateListener(adapter, &IID_IND2Listener, file, &listener);
	hr |= connector->lpVtbl->QueryInterface(connector, &IID_IND2Overlapped, &overlapped);
	/* as careful ones have it */
	hr |= IND2Adapter_CreateListener(adapter, &IID_IND2Listener, file, (void **)&listener);
	hr |= IND2Adapter_CreateListener(adapter, &IID_IND2Listener, file, (VOID **)&listener);
	hr |= IND2Adapter_CreateListener(adapter, &IID_IND2Listener, file, &any);
	hr |= IND2Adapter_CreateListener(adapter, &IID_IND2Listener, file, NULL);
	return hr;
}

static HRESULT
Open(LPFNGETCLASSOBJECT get, const struct sockaddr *address)
{
	IND2Provider *provider;
	IND2Adapter *adapter;
	HRESULT hr = get(&IID_IND2Provider, &IID_IND2Provider, &provider);

	hr |= provider->lpVtbl->OpenAdapter(provider, &IID_IND2Adapter, 1, &adapter);
	hr |= NdOpenAdapter(&IID_IND2Adapter, address, sizeof(*address), &adapter);
	return hr | Make(adapter, NULL);
}

/* By each of the tags that source has. */
static int
IsSend(enum ND2_REQUEST_TYPE type)
{
	enum _ND2_REQUEST_TYPE same = type;
	ND2_REQUEST_TYPE again = same;

	return again == Nd2RequestTypeSend;
}

int
main(int argc, char *argv[])
{
	HRESULT (*volatile open)(LPFNGETCLASSOBJECT, const struct sockaddr *) = Open;

	(void)argv;
	if (argc > 1000)
		return (int)open(NULL, NULL);
	return IsSend(Nd2RequestTypeSend) ? 0 : 1;
}
