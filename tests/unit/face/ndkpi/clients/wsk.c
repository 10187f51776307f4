/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a driver finds and opens its NDK adapter: interfaces and addresses by netioapi.h, the adapter
 * by WSK. As a source of C for Windows; it is compiled without a warning (`compile`), and numbers
 * and layouts are those of Windows.
 */
#include <ntddk.h>
#include <Wsk.h>
#include <NetIoApi.h>
#include <ndkpi.h>
#include <wskndk.h>

C_ASSERT(WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH == 'NDKD');
C_ASSERT(MAKE_WSK_VERSION(1, 0) == 0x0100);
C_ASSERT(WSK_MAJOR_VERSION(0x0102) == 1 && WSK_MINOR_VERSION(0x0102) == 2);
C_ASSERT(WSK_NO_WAIT == 0 && WSK_INFINITE_WAIT == 0xffffffff);
C_ASSERT(sizeof(WSK_REGISTRATION) == 24);
C_ASSERT(sizeof(WSK_PROVIDER_NPI) == 16 && sizeof(WSK_CLIENT_NPI) == 16);
C_ASSERT(FIELD_OFFSET(WSK_CLIENT_DISPATCH, WskClientEvent) == 8);
C_ASSERT(FIELD_OFFSET(WSK_PROVIDER_DISPATCH, WskSocket) == 8);
C_ASSERT(FIELD_OFFSET(WSK_PROVIDER_DISPATCH, WskSocketConnect) == 16);
C_ASSERT(FIELD_OFFSET(WSK_PROVIDER_DISPATCH, WskControlClient) == 24);
C_ASSERT(FIELD_OFFSET(WSK_PROVIDER_DISPATCH, WskGetAddressInfo) == 32);
C_ASSERT(FIELD_OFFSET(WSK_PROVIDER_DISPATCH, WskFreeAddressInfo) == 40);
C_ASSERT(FIELD_OFFSET(WSK_PROVIDER_DISPATCH, WskGetNameInfo) == 48);
C_ASSERT(FIELD_OFFSET(WSK_PROVIDER_NDK_DISPATCH, WskCloseNdkAdapter) == 8);
C_ASSERT(sizeof(WSK_TRANSPORT) == 28);
C_ASSERT(sizeof(ADDRINFOEXW) == 72);
C_ASSERT(sizeof(NET_LUID) == 8 && sizeof(SCOPE_ID) == 4);
C_ASSERT(sizeof(MIB_IF_ROW2) == 1352);
C_ASSERT(sizeof(MIB_UNICASTIPADDRESS_ROW) == 80);
C_ASSERT(sizeof(IP_ADDRESS_PREFIX) == 32);
C_ASSERT(sizeof(MIB_IPFORWARD_ROW2) == 104);
C_ASSERT(sizeof(MIB_IPINTERFACE_ROW) == 168);
C_ASSERT(MibInitialNotification == 3);

static const WSK_CLIENT_DISPATCH ClientDispatch = {MAKE_WSK_VERSION(1, 0), 0, NULL};
static WSK_REGISTRATION Registration;
static WSK_PROVIDER_NPI Wsk;
static WSK_PROVIDER_NDK_DISPATCH Ndk;
static NDK_ADAPTER *Adapter;

_IRQL_requires_(PASSIVE_LEVEL) static NTSTATUS
	FindInterface(_In_ const SOCKADDR_INET *Address, _Out_ NET_IFINDEX *Index)
{
	PMIB_UNICASTIPADDRESS_TABLE Table = NULL;
	NTSTATUS Status;
	ULONG i;

	PAGED_CODE();
	*Index = NET_IFINDEX_UNSPECIFIED;
	Status = GetUnicastIpAddressTable(Address->si_family, &Table);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = STATUS_NOT_FOUND;
	for (i = 0; i < Table->NumEntries; i++) {
		PMIB_UNICASTIPADDRESS_ROW Row = &Table->Table[i];

		if (Row->DadState != IpDadStatePreferred ||
		    !IN4_ADDR_EQUAL(&Row->Address.Ipv4.sin_addr, &Address->Ipv4.sin_addr))
			continue;
		*Index = Row->InterfaceIndex;
		Status = STATUS_SUCCESS;
		break;
	}
	FreeMibTable(Table);
	return Status;
}

static NTSTATUS
Open(_In_ const SOCKADDR_INET *Address)
{
	NDK_VERSION Version = {1, 0};
	NDK_ADAPTER_INFO Info;
	ULONG Size = sizeof(Info);
	WSK_CLIENT_NPI Npi;
	NET_IFINDEX Index;
	NTSTATUS Status;

	Status = FindInterface(Address, &Index);
	if (!NT_SUCCESS(Status))
		return Status;
	Npi.ClientContext = NULL;
	Npi.Dispatch = &ClientDispatch;
	Status = WskRegister(&Npi, &Registration);
	if (!NT_SUCCESS(Status))
		return Status;
	Status = WskCaptureProviderNPI(&Registration, WSK_NO_WAIT, &Wsk);
	if (NT_SUCCESS(Status)) {
		Status = Wsk.Dispatch->WskControlClient(Wsk.Client,
							WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0,
							NULL, sizeof(Ndk), &Ndk, NULL, NULL);
		if (NT_SUCCESS(Status))
			Status = Ndk.WskOpenNdkAdapter(Wsk.Client, Version, Index, &Adapter);
		if (NT_SUCCESS(Status))
			return Adapter->Dispatch->NdkQueryAdapterInfo(Adapter, &Info, &Size);
		WskReleaseProviderNPI(&Registration);
	}
	WskDeregister(&Registration);
	return Status;
}

EXTERN_C_START
DRIVER_INITIALIZE DriverEntry;
DRIVER_UNLOAD WskUnload;
EXTERN_C_END

_Use_decl_annotations_ VOID
WskUnload(PDRIVER_OBJECT DriverObject)
{
	UNREFERENCED_PARAMETER(DriverObject);
	Ndk.WskCloseNdkAdapter(Wsk.Client, Adapter);
	WskReleaseProviderNPI(&Registration);
	WskDeregister(&Registration);
}

_Use_decl_annotations_ NTSTATUS
DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
	SOCKADDR_INET Address;

	UNREFERENCED_PARAMETER(RegistryPath);
	RtlZeroMemory(&Address, sizeof(Address));
	Address.si_family = AF_INET;
	Address.Ipv4.sin_addr.s_addr = RtlUlongByteSwap(0x0a4e0201);
	DriverObject->DriverUnload = WskUnload;
	return Open(&Address);
}
