/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From an address to an adapter: interfaces by netioapi.h, adapters by WSK. Start with SideOpen().
 */
#include "storage.h"

static const WSK_CLIENT_DISPATCH ClientDispatch = {MAKE_WSK_VERSION(1, 0), 0, NULL};
static WSK_REGISTRATION Registration;
static WSK_PROVIDER_NPI Wsk;
static WSK_PROVIDER_NDK_DISPATCH Ndk;

NTSTATUS
ProviderOpen(VOID)
{
	WSK_CLIENT_NPI Npi = {NULL, &ClientDispatch};
	NTSTATUS Status;

	Status = WskRegister(&Npi, &Registration);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = WskCaptureProviderNPI(&Registration, WSK_INFINITE_WAIT, &Wsk);
	if (NT_SUCCESS(Status)) {
		Status = Wsk.Dispatch->WskControlClient(Wsk.Client,
							WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0,
							NULL, sizeof(Ndk), &Ndk, NULL, NULL);
		if (NT_SUCCESS(Status))
			return Status;
		WskReleaseProviderNPI(&Registration);
	}
	WskDeregister(&Registration);
	return Status;
}

VOID
ProviderClose(VOID)
{
	WskReleaseProviderNPI(&Registration);
	WskDeregister(&Registration);
}

static NTSTATUS
FindInterface(_In_ const SOCKADDR_INET *Address, _Out_ NET_IFINDEX *Index)
{
	PMIB_UNICASTIPADDRESS_TABLE Table = NULL;
	NTSTATUS Status;
	ULONG i;

	*Index = NET_IFINDEX_UNSPECIFIED;
	Status = GetUnicastIpAddressTable(AF_INET, &Table);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = STATUS_NOT_FOUND;
	for (i = 0; i < Table->NumEntries; i++) {
		if (!IN4_ADDR_EQUAL(&Table->Table[i].Address.Ipv4.sin_addr,
				    &Address->Ipv4.sin_addr))
			continue;
		*Index = Table->Table[i].InterfaceIndex;
		Status = STATUS_SUCCESS;
		break;
	}
	FreeMibTable(Table);
	return Status;
}

VOID
AdapterClose(PSTORAGE_SIDE Side)
{
	Ndk.WskCloseNdkAdapter(Wsk.Client, Side->Adapter);
}

NTSTATUS
SideOpen(PSTORAGE_SIDE Side)
{
	NDK_VERSION Version = {2, 1};
	NET_IFINDEX Index;
	NTSTATUS Status;

	Status = FindInterface(&Side->Address, &Index);
	if (NT_SUCCESS(Status))
		Status = Ndk.WskOpenNdkAdapter(Wsk.Client, Version, Index, &Side->Adapter);
	if (!NT_SUCCESS(Status))
		return Status;
	CREATE_AND_WAIT(Status, Side->Pd, Side->Adapter->Dispatch->NdkCreatePd, Side->Adapter);
	if (!NT_SUCCESS(Status))
		AdapterClose(Side);
	return Status;
}

VOID
SideClose(PSTORAGE_SIDE Side)
{
	CloseAndWait(Side->Pd->Dispatch->NdkClosePd, &Side->Pd->Header);
	AdapterClose(Side);
}
