/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interfaces, addresses and routes as netioapi.h has them for drivers: adapters of the
 * configuration file, and the kernel's. In a network namespace of its own. Start with main().
 */
#include "test.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netioapi.h>
#include <stdlib.h>
#include <unistd.h>

#include "namespace.h"
#include "plx_adapter.h"

static const char config[] =
	"adapters = (\n"
	"  { name = \"a\"; device = \"net_wire0,end=0\"; path_mtu = 2048;\n"
	"    address = [ \"10.77.0.1/24\", \"fd77::1/64\" ];\n"
	"    routes = [ \"10.88.0.0/16 via 10.77.0.254\" ]; },\n"
	"  { name = \"b\"; device = \"net_wire0,end=1\"; interface_index = 7007;\n"
	"    address = [ \"10.77.1.1/25\" ]; }\n"
	");\n";

enum {
	A = PLX_INTERFACE_FIRST,
	B = 7007,
	NONE = 4711,
};

static SOCKADDR_INET
address_of(const char *text)
{
	SOCKADDR_INET out;

	memset(&out, 0, sizeof(out));
	if (inet_pton(AF_INET, text, &out.Ipv4.sin_addr) == 1)
		out.si_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &out.Ipv6.sin6_addr) == 1)
		out.si_family = AF_INET6;
	else
		fail_msg("%s", text);
	return out;
}

static void
expect_address(const SOCKADDR_INET *is, const char *text)
{
	SOCKADDR_INET expected = address_of(text);

	assert_memory_equal(is, &expected, sizeof(expected));
}

static NET_LUID
luid_of(NET_IFINDEX index)
{
	NET_LUID luid = {.Value = 4711};

	assert_int_equal(ConvertInterfaceIndexToLuid(index, &luid), STATUS_SUCCESS);
	return luid;
}

/* ---- names ---- */

static void
an_index_is_a_luid_a_guid_and_a_name(void **state)
{
	const NET_IFINDEX indices[] = {A, B, if_nametoindex("lo"), if_nametoindex("plx-test")};
	WCHAR name[IF_MAX_STRING_SIZE + 1];
	NET_LUID luid, back;
	NET_IFINDEX index;
	GUID guid;

	(void)state;
	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
		luid = luid_of(indices[i]);
		assert_int_equal(luid.Info.NetLuidIndex, indices[i]);
		assert_int_equal(ConvertInterfaceLuidToIndex(&luid, &index), STATUS_SUCCESS);
		assert_int_equal(index, indices[i]);
		assert_int_equal(ConvertInterfaceLuidToGuid(&luid, &guid), STATUS_SUCCESS);
		assert_int_equal(ConvertInterfaceGuidToLuid(&guid, &back), STATUS_SUCCESS);
		assert_int_equal(back.Value, luid.Value);
		assert_int_equal(ConvertInterfaceLuidToAlias(&luid, name, ARRAYSIZE(name)),
				 STATUS_SUCCESS);
		assert_int_equal(ConvertInterfaceAliasToLuid(name, &back), STATUS_SUCCESS);
		assert_int_equal(back.Value, luid.Value);
		assert_int_equal(ConvertInterfaceLuidToNameW(&luid, name, ARRAYSIZE(name)),
				 STATUS_SUCCESS);
		assert_int_equal(ConvertInterfaceNameToLuidW(name, &back), STATUS_SUCCESS);
		assert_int_equal(back.Value, luid.Value);
	}
	assert_memory_equal(name, L"plx-test", sizeof(L"plx-test"));
}

static void
a_name_takes_its_room_or_nothing(void **state)
{
	NET_LUID luid = luid_of(if_nametoindex("plx-test"));
	WCHAR name[9] = {L'?', 0};

	(void)state;
	assert_int_equal(ConvertInterfaceLuidToAlias(&luid, name, 0), STATUS_NO_MEMORY);
	assert_int_equal(ConvertInterfaceLuidToAlias(&luid, name, 8), STATUS_NO_MEMORY);
	assert_int_equal(name[0], L'?');
	assert_int_equal(ConvertInterfaceLuidToAlias(&luid, name, 9), STATUS_SUCCESS);
	assert_memory_equal(name, L"plx-test", sizeof(name));
}

static void
what_names_no_interface_is_invalid(void **state)
{
	NET_LUID luid = {.Value = 4711}, none = {.Value = 4711};
	NET_IFINDEX index = 5;
	WCHAR name[9] = {L'?', 0};
	GUID guid = {1, 2, 3, {4}};

	(void)state;
	assert_int_equal(ConvertInterfaceIndexToLuid(NONE, &luid), STATUS_INVALID_PARAMETER);
	assert_int_equal(luid.Value, 0);
	assert_int_equal(ConvertInterfaceIndexToLuid(0, &luid), STATUS_INVALID_PARAMETER);
	assert_int_equal(ConvertInterfaceIndexToLuid(A, NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(ConvertInterfaceLuidToIndex(&none, &index), STATUS_INVALID_PARAMETER);
	assert_int_equal(index, NET_IFINDEX_UNSPECIFIED);
	assert_int_equal(ConvertInterfaceLuidToIndex(&none, NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(ConvertInterfaceGuidToLuid(&guid, &luid), STATUS_INVALID_PARAMETER);
	assert_int_equal(ConvertInterfaceGuidToLuid(NULL, &luid), STATUS_INVALID_PARAMETER);
	assert_int_equal(ConvertInterfaceLuidToGuid(&none, &guid), STATUS_INVALID_PARAMETER);
	assert_int_equal(guid.Data1, 0);
	assert_int_equal(ConvertInterfaceAliasToLuid(L"plx-tes", &luid), STATUS_INVALID_PARAMETER);
	assert_int_equal(ConvertInterfaceAliasToLuid(L"plx-test2", &luid),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(ConvertInterfaceLuidToNameW(&none, name, 9), STATUS_INVALID_PARAMETER);
	assert_int_equal(ConvertInterfaceLuidToNameW(NULL, name, 9), STATUS_INVALID_PARAMETER);
	assert_int_equal(name[0], L'?');
}

/* ---- interfaces ---- */

static void
an_adapter_is_told_as_the_file_describes_it(void **state)
{
	MIB_IF_ROW2 row = {.InterfaceIndex = A}, same = {.InterfaceLuid = luid_of(A)};

	(void)state;
	assert_int_equal(GetIfEntry2(&row), STATUS_SUCCESS);
	assert_int_equal(row.InterfaceLuid.Value, luid_of(A).Value);
	assert_memory_equal(row.Alias, L"a", sizeof(L"a"));
	assert_memory_equal(row.Description, L"Pollux on net_wire0,end=0",
			    sizeof(L"Pollux on net_wire0,end=0"));
	assert_int_equal(row.Type, IF_TYPE_ETHERNET_CSMACD);
	assert_int_equal(row.Mtu, 2048);
	assert_int_equal(row.MediaType, NdisMedium802_3);
	assert_int_equal(row.PhysicalMediumType, NdisPhysicalMedium802_3);
	assert_int_equal(row.AccessType, NET_IF_ACCESS_BROADCAST);
	assert_true(row.InterfaceAndOperStatusFlags.HardwareInterface);
	assert_true(row.InterfaceAndOperStatusFlags.ConnectorPresent);
	assert_int_equal(row.OperStatus, IfOperStatusUp);
	assert_int_equal(row.MediaConnectState, MediaConnectStateConnected);
	assert_int_equal(row.PhysicalAddressLength, 0);
	assert_true(row.TransmitLinkSpeed == UINT64_MAX);
	/* the LUID counts before the index */
	same.InterfaceIndex = B;
	assert_int_equal(GetIfEntry2Ex(MibIfEntryNormalWithoutStatistics, &same), STATUS_SUCCESS);
	assert_memory_equal(&same, &row, sizeof(row));
}

static void
all_interfaces_are_listed_adapters_first(void **state)
{
	PMIB_IF_TABLE2 table = NULL;
	const MIB_IF_ROW2 *row;

	(void)state;
	assert_int_equal(GetIfTable2(&table), STATUS_SUCCESS);
	assert_in_range(table->NumEntries, 4, 100);
	row = table->Table;
	assert_int_equal(row[0].InterfaceIndex, A);
	assert_int_equal(row[1].InterfaceIndex, B);
	for (ULONG i = 2; i < table->NumEntries; i++) {
		assert_false(row[i].InterfaceAndOperStatusFlags.HardwareInterface);
		if (row[i].InterfaceIndex == if_nametoindex("lo"))
			assert_int_equal(row[i].AccessType, NET_IF_ACCESS_LOOPBACK);
		else
			assert_int_equal(row[i].PhysicalAddressLength, 6);
	}
	FreeMibTable(table);
	assert_int_equal(GetIfTable2Ex(MibIfTableRaw, &table), STATUS_SUCCESS);
	FreeMibTable(table);
	FreeMibTable(NULL);
}

static void
an_interface_that_is_not_there_is_not_found(void **state)
{
	MIB_IF_ROW2 row = {.InterfaceIndex = NONE}, nothing = {.InterfaceIndex = 0};
	PMIB_IF_TABLE2 table = NULL;

	(void)state;
	assert_int_equal(GetIfEntry2(&row), STATUS_NOT_FOUND);
	assert_int_equal(row.Type, 0);
	assert_int_equal(GetIfEntry2(&nothing), STATUS_NOT_FOUND);
	assert_int_equal(GetIfEntry2(NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(GetIfEntry2Ex((MIB_IF_ENTRY_LEVEL)1, &row), STATUS_INVALID_PARAMETER);
	assert_int_equal(GetIfTable2(NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(GetIfTable2Ex((MIB_IF_TABLE_LEVEL)3, &table), STATUS_INVALID_PARAMETER);
	assert_null(table);
}

/* ---- addresses ---- */

static void
addresses_are_listed_by_family(void **state)
{
	PMIB_UNICASTIPADDRESS_TABLE four, six, both;
	const MIB_UNICASTIPADDRESS_ROW *row;

	(void)state;
	assert_int_equal(GetUnicastIpAddressTable(AF_INET, &four), STATUS_SUCCESS);
	assert_int_equal(GetUnicastIpAddressTable(AF_INET6, &six), STATUS_SUCCESS);
	assert_int_equal(GetUnicastIpAddressTable(AF_UNSPEC, &both), STATUS_SUCCESS);
	assert_int_equal(both->NumEntries, four->NumEntries + six->NumEntries);
	row = four->Table;
	expect_address(&row[0].Address, "10.77.0.1");
	assert_int_equal(row[0].InterfaceIndex, A);
	assert_int_equal(row[0].InterfaceLuid.Value, luid_of(A).Value);
	assert_int_equal(row[0].OnLinkPrefixLength, 24);
	assert_int_equal(row[0].DadState, IpDadStatePreferred);
	assert_int_equal(row[0].ValidLifetime, UINT32_MAX);
	expect_address(&row[1].Address, "10.77.1.1");
	assert_int_equal(row[1].InterfaceIndex, B);
	row = six->Table;
	expect_address(&row[0].Address, "fd77::1");
	FreeMibTable(four);
	FreeMibTable(six);
	FreeMibTable(both);
}

static void
one_address_is_found_on_its_interface_alone(void **state)
{
	MIB_UNICASTIPADDRESS_ROW row = {.Address = address_of("10.77.1.1"), .InterfaceIndex = B};

	(void)state;
	assert_int_equal(GetUnicastIpAddressEntry(&row), STATUS_SUCCESS);
	assert_int_equal(row.OnLinkPrefixLength, 25);
	assert_int_equal(row.InterfaceLuid.Value, luid_of(B).Value);
	row = (MIB_UNICASTIPADDRESS_ROW){.Address = address_of("10.77.1.1"),
					 .InterfaceLuid = luid_of(A)};
	assert_int_equal(GetUnicastIpAddressEntry(&row), STATUS_NOT_FOUND);
	row.InterfaceLuid.Value = 0;
	row.InterfaceIndex = NONE;
	assert_int_equal(GetUnicastIpAddressEntry(&row), STATUS_NOT_FOUND);
	assert_int_equal(row.OnLinkPrefixLength, 0);
}

static void
wrong_arguments_about_addresses_are_refused(void **state)
{
	MIB_UNICASTIPADDRESS_ROW row = {.Address = address_of("10.77.1.1")};
	PMIB_UNICASTIPADDRESS_TABLE table = NULL;

	(void)state;
	assert_int_equal(GetUnicastIpAddressTable(AF_UNIX, &table), STATUS_INVALID_PARAMETER);
	assert_int_equal(GetUnicastIpAddressTable(AF_INET, NULL), STATUS_INVALID_PARAMETER);
	assert_null(table);
	assert_int_equal(GetUnicastIpAddressEntry(NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(GetUnicastIpAddressEntry(&row), STATUS_INVALID_PARAMETER);
	row.InterfaceIndex = B;
	row.Address = address_of("224.0.0.1");
	assert_int_equal(GetUnicastIpAddressEntry(&row), STATUS_INVALID_PARAMETER);
	row.Address.si_family = AF_UNIX;
	assert_int_equal(GetUnicastIpAddressEntry(&row), STATUS_INVALID_PARAMETER);
}

static void
an_initialised_address_is_no_address(void **state)
{
	MIB_UNICASTIPADDRESS_ROW row, expected = {
					      .PrefixOrigin = IpPrefixOriginUnchanged,
					      .SuffixOrigin = IpSuffixOriginUnchanged,
					      .ValidLifetime = UINT32_MAX,
					      .PreferredLifetime = UINT32_MAX,
					      .OnLinkPrefixLength = 255,
				      };

	(void)state;
	memset(&row, 0x55, sizeof(row));
	InitializeUnicastIpAddressEntry(&row);
	assert_memory_equal(&row, &expected, sizeof(row));
	InitializeUnicastIpAddressEntry(NULL);
	/* the usual way to ask */
	row.Address = address_of("10.77.1.1");
	row.InterfaceIndex = B;
	assert_int_equal(GetUnicastIpAddressEntry(&row), STATUS_SUCCESS);
	assert_int_equal(row.OnLinkPrefixLength, 25);
}

/* ---- IP interfaces ---- */

static void
an_ip_interface_is_told_for_each_family(void **state)
{
	MIB_IPINTERFACE_ROW row, none = {.Family = 0};

	(void)state;
	memset(&row, 0x55, sizeof(row));
	InitializeIpInterfaceEntry(&row);
	assert_memory_equal(&row, &none, sizeof(row));
	InitializeIpInterfaceEntry(NULL);
	row.Family = AF_INET6;
	row.InterfaceLuid = luid_of(A);
	row.InterfaceIndex = B; /* the LUID counts before it */
	assert_int_equal(GetIpInterfaceEntry(&row), STATUS_SUCCESS);
	assert_int_equal(row.Family, AF_INET6);
	assert_int_equal(row.InterfaceIndex, A);
	assert_int_equal(row.NlMtu, 2048);
	assert_true(row.Connected);
	assert_true(row.SupportsNeighborDiscovery);
	row = (MIB_IPINTERFACE_ROW){.Family = AF_INET, .InterfaceIndex = if_nametoindex("lo")};
	assert_int_equal(GetIpInterfaceEntry(&row), STATUS_SUCCESS);
	assert_int_equal(row.InterfaceLuid.Value, luid_of(if_nametoindex("lo")).Value);
	assert_false(row.SupportsNeighborDiscovery);
}

static void
an_ip_interface_that_is_not_there_is_not_found(void **state)
{
	MIB_IPINTERFACE_ROW row = {.Family = AF_INET6, .InterfaceIndex = B};

	(void)state;
	assert_int_equal(GetIpInterfaceEntry(&row), STATUS_NOT_FOUND);
	assert_int_equal(row.InterfaceLuid.Value, 0);
	row.InterfaceIndex = NONE;
	assert_int_equal(GetIpInterfaceEntry(&row), STATUS_NOT_FOUND);
	row.InterfaceIndex = 0;
	assert_int_equal(GetIpInterfaceEntry(&row), STATUS_INVALID_PARAMETER);
	row = (MIB_IPINTERFACE_ROW){.Family = AF_UNSPEC, .InterfaceIndex = B};
	assert_int_equal(GetIpInterfaceEntry(&row), STATUS_INVALID_PARAMETER);
	assert_int_equal(GetIpInterfaceEntry(NULL), STATUS_INVALID_PARAMETER);
}

static void
ip_interfaces_are_listed_by_family(void **state)
{
	PMIB_IPINTERFACE_TABLE four, six, both, none = NULL;
	const MIB_IPINTERFACE_ROW *row;

	(void)state;
	assert_int_equal(GetIpInterfaceTable(AF_INET, &four), STATUS_SUCCESS);
	assert_int_equal(GetIpInterfaceTable(AF_INET6, &six), STATUS_SUCCESS);
	assert_int_equal(GetIpInterfaceTable(AF_UNSPEC, &both), STATUS_SUCCESS);
	assert_int_equal(both->NumEntries, four->NumEntries + six->NumEntries);
	assert_int_equal(four->NumEntries, 4); /* a, b, lo and plx-test */
	row = four->Table;
	assert_int_equal(row[0].InterfaceIndex, A);
	assert_int_equal(row[1].InterfaceIndex, B);
	assert_int_equal(row[1].Family, AF_INET);
	row = six->Table;
	assert_int_equal(row[0].InterfaceIndex, A);
	assert_int_equal(row[0].Family, AF_INET6);
	FreeMibTable(four);
	FreeMibTable(six);
	FreeMibTable(both);
	assert_int_equal(GetIpInterfaceTable(AF_UNIX, &none), STATUS_INVALID_PARAMETER);
	assert_int_equal(GetIpInterfaceTable(AF_INET, NULL), STATUS_INVALID_PARAMETER);
	assert_null(none);
}

/* ---- routes ---- */

static NETIO_STATUS
best(NET_LUID *luid, NET_IFINDEX index, const char *from, const char *to, MIB_IPFORWARD_ROW2 *row,
     SOCKADDR_INET *source)
{
	SOCKADDR_INET a, b = address_of(to);

	if (from != NULL)
		a = address_of(from);
	return GetBestRoute2(luid, index, from != NULL ? &a : NULL, &b, 0, row, source);
}

static void
the_best_route_has_network_gateway_and_source(void **state)
{
	MIB_IPFORWARD_ROW2 row;
	SOCKADDR_INET source;

	(void)state;
	assert_int_equal(best(NULL, 0, NULL, "10.77.0.9", &row, &source), STATUS_SUCCESS);
	assert_int_equal(row.InterfaceIndex, A);
	assert_int_equal(row.InterfaceLuid.Value, luid_of(A).Value);
	expect_address(&row.DestinationPrefix.Prefix, "10.77.0.0");
	assert_int_equal(row.DestinationPrefix.PrefixLength, 24);
	expect_address(&row.NextHop, "0.0.0.0");
	assert_int_equal(row.Protocol, MIB_IPPROTO_LOCAL);
	assert_false(row.Loopback);
	expect_address(&source, "10.77.0.1");
	assert_int_equal(best(NULL, 0, NULL, "10.88.9.9", &row, &source), STATUS_SUCCESS);
	expect_address(&row.DestinationPrefix.Prefix, "10.88.0.0");
	assert_int_equal(row.DestinationPrefix.PrefixLength, 16);
	expect_address(&row.NextHop, "10.77.0.254");
	assert_int_equal(row.Protocol, MIB_IPPROTO_NETMGMT);
	assert_int_equal(best(NULL, 0, NULL, "fd77::1", &row, &source), STATUS_SUCCESS);
	assert_int_equal(row.DestinationPrefix.PrefixLength, 128);
	assert_true(row.Loopback);
	expect_address(&row.NextHop, "::");
	expect_address(&source, "fd77::1");
}

static void
the_kernels_routes_come_after_the_adapters(void **state)
{
	MIB_IPFORWARD_ROW2 row;
	SOCKADDR_INET source;

	(void)state;
	assert_int_equal(best(NULL, 0, NULL, "198.51.100.9", &row, &source), STATUS_SUCCESS);
	assert_int_equal(row.InterfaceIndex, if_nametoindex("plx-test"));
	expect_address(&row.DestinationPrefix.Prefix, "198.51.100.9");
	assert_int_equal(row.DestinationPrefix.PrefixLength, 32);
	expect_address(&row.NextHop, "0.0.0.0");
	expect_address(&source, "198.51.100.1");
	assert_int_equal(best(NULL, 0, NULL, "203.0.113.9", &row, &source), STATUS_SUCCESS);
	expect_address(&row.NextHop, "198.51.100.2");
}

static void
a_route_is_looked_for_on_one_interface(void **state)
{
	NET_LUID of_a = luid_of(A), of_b = luid_of(B), none = {.Value = 4711};
	MIB_IPFORWARD_ROW2 row = {.Metric = 4711};
	SOCKADDR_INET source;

	(void)state;
	assert_int_equal(best(&of_b, 0, NULL, "10.77.0.9", &row, &source),
			 STATUS_NETWORK_UNREACHABLE);
	assert_int_equal(best(NULL, B, NULL, "10.77.0.9", &row, &source),
			 STATUS_NETWORK_UNREACHABLE);
	assert_int_equal(best(&none, A, NULL, "10.77.0.9", &row, &source), STATUS_NOT_FOUND);
	assert_int_equal(best(NULL, NONE, NULL, "10.77.0.9", &row, &source), STATUS_NOT_FOUND);
	assert_int_equal(best(NULL, 0, "10.77.0.2", "10.77.0.9", &row, &source), STATUS_NOT_FOUND);
	assert_int_equal(best(&of_b, 0, "10.77.0.1", "10.77.0.9", &row, &source), STATUS_NOT_FOUND);
	assert_int_equal(row.Metric, 4711);
	assert_int_equal(best(&of_a, B, "10.77.0.1", "10.77.0.9", &row, &source), STATUS_SUCCESS);
	assert_int_equal(row.InterfaceIndex, A);
	expect_address(&source, "10.77.0.1");
	assert_int_equal(best(NULL, 0, "0.0.0.0", "10.77.0.9", &row, &source), STATUS_SUCCESS);
}

static void
what_leads_nowhere_is_refused(void **state)
{
	SOCKADDR_INET to = address_of("198.51.100.200"), source = {0};
	MIB_IPFORWARD_ROW2 row = {.Metric = 4711};

	(void)state;
	assert_int_equal(GetBestRoute2(NULL, 0, NULL, &to, 0, &row, &source),
			 STATUS_HOST_UNREACHABLE);
	assert_int_equal(best(NULL, 0, NULL, "2001:db8:9::1", &row, &source),
			 STATUS_NETWORK_UNREACHABLE);
	assert_int_equal(GetBestRoute2(NULL, 0, NULL, NULL, 0, &row, &source),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(GetBestRoute2(NULL, 0, NULL, &to, 0, NULL, &source),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(GetBestRoute2(NULL, 0, NULL, &to, 0, &row, NULL),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(best(NULL, 0, "fd77::1", "10.77.0.9", &row, &source),
			 STATUS_INVALID_PARAMETER);
	to.si_family = AF_UNIX;
	assert_int_equal(GetBestRoute2(NULL, 0, NULL, &to, 0, &row, &source),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(row.Metric, 4711);
}

/* ---- changes ---- */

struct told {
	int calls;
	HANDLE handle, seen;
};

static VOID WINAPI
on_address(PVOID context, PMIB_UNICASTIPADDRESS_ROW row, MIB_NOTIFICATION_TYPE type)
{
	struct told *told = context;

	assert_null(row);
	assert_int_equal(type, MibInitialNotification);
	told->calls++;
	told->seen = told->handle;
}

static VOID WINAPI
on_interface(PVOID context, PMIB_IPINTERFACE_ROW row, MIB_NOTIFICATION_TYPE type)
{
	on_address(context, (PMIB_UNICASTIPADDRESS_ROW)(void *)row, type);
}

static VOID WINAPI
on_route(PVOID context, PMIB_IPFORWARD_ROW2 row, MIB_NOTIFICATION_TYPE type)
{
	on_address(context, (PMIB_UNICASTIPADDRESS_ROW)(void *)row, type);
}

static void
the_initial_notification_is_the_only_one(void **state)
{
	struct told told = {0}, quiet = {0}, third = {0}, route = {0};

	(void)state;
	assert_int_equal(
		NotifyUnicastIpAddressChange(AF_INET, on_address, &told, TRUE, &told.handle),
		STATUS_SUCCESS);
	assert_int_equal(told.calls, 1);
	assert_non_null(told.handle);
	assert_ptr_equal(told.seen, told.handle);
	assert_int_equal(
		NotifyUnicastIpAddressChange(AF_UNSPEC, on_address, &quiet, FALSE, &quiet.handle),
		STATUS_SUCCESS);
	assert_int_equal(quiet.calls, 0);
	assert_int_equal(
		NotifyIpInterfaceChange(AF_INET6, on_interface, &third, TRUE, &third.handle),
		STATUS_SUCCESS);
	assert_int_equal(third.calls, 1);
	assert_int_equal(NotifyRouteChange2(AF_UNSPEC, on_route, &route, TRUE, &route.handle),
			 STATUS_SUCCESS);
	assert_int_equal(route.calls, 1);
	assert_ptr_equal(route.seen, route.handle);
	assert_int_equal(CancelMibChangeNotify2(route.handle), STATUS_SUCCESS);
	assert_int_equal(CancelMibChangeNotify2(quiet.handle), STATUS_SUCCESS);
	assert_int_equal(CancelMibChangeNotify2(quiet.handle), STATUS_INVALID_PARAMETER);
	assert_int_equal(CancelMibChangeNotify2(told.handle), STATUS_SUCCESS);
	assert_int_equal(CancelMibChangeNotify2(third.handle), STATUS_SUCCESS);
	assert_int_equal(CancelMibChangeNotify2(NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(told.calls + quiet.calls + third.calls, 2);
}

static void
a_refused_registration_calls_nothing(void **state)
{
	struct told told = {.handle = &told};

	(void)state;
	assert_int_equal(
		NotifyUnicastIpAddressChange(AF_UNIX, on_address, &told, TRUE, &told.handle),
		STATUS_INVALID_PARAMETER);
	assert_null(told.handle);
	assert_int_equal(NotifyUnicastIpAddressChange(AF_INET, on_address, &told, TRUE, NULL),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(NotifyUnicastIpAddressChange(AF_INET, NULL, &told, TRUE, &told.handle),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(NotifyIpInterfaceChange(AF_UNIX, on_interface, &told, TRUE, &told.handle),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(NotifyRouteChange2(AF_UNIX, on_route, &told, TRUE, &told.handle),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(NotifyRouteChange2(AF_INET, NULL, &told, TRUE, &told.handle),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(told.calls, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_is_a_luid_a_guid_and_a_name),
		cmocka_unit_test(a_name_takes_its_room_or_nothing),
		cmocka_unit_test(what_names_no_interface_is_invalid),
		cmocka_unit_test(an_adapter_is_told_as_the_file_describes_it),
		cmocka_unit_test(all_interfaces_are_listed_adapters_first),
		cmocka_unit_test(an_interface_that_is_not_there_is_not_found),
		cmocka_unit_test(addresses_are_listed_by_family),
		cmocka_unit_test(one_address_is_found_on_its_interface_alone),
		cmocka_unit_test(wrong_arguments_about_addresses_are_refused),
		cmocka_unit_test(an_initialised_address_is_no_address),
		cmocka_unit_test(an_ip_interface_is_told_for_each_family),
		cmocka_unit_test(an_ip_interface_that_is_not_there_is_not_found),
		cmocka_unit_test(ip_interfaces_are_listed_by_family),
		cmocka_unit_test(the_best_route_has_network_gateway_and_source),
		cmocka_unit_test(the_kernels_routes_come_after_the_adapters),
		cmocka_unit_test(a_route_is_looked_for_on_one_interface),
		cmocka_unit_test(what_leads_nowhere_is_refused),
		cmocka_unit_test(the_initial_notification_is_the_only_one),
		cmocka_unit_test(a_refused_registration_calls_nothing),
	};
	char path[] = "/tmp/netio.XXXXXX";
	int fd = mkstemp(path), failures;

	if (fd < 0 || write(fd, config, sizeof(config) - 1) != sizeof(config) - 1 ||
	    !namespace_network(
		    "set -e; ip link set lo up; ip link add plx-test type veth peer name plx-peer; "
		    "ip addr add 198.51.100.1/25 dev plx-test; ip link set plx-test up; "
		    "ip link set plx-peer up; ip route add unreachable 198.51.100.128/25; "
		    "ip route add 203.0.113.0/24 via 198.51.100.2"))
		return 1;
	close(fd);
	setenv("POLLUX_CONFIG", path, 1);
	failures = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failures;
}
