/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GetAdaptersAddresses: adapters of the configuration file and interfaces of the kernel, with their
 * addresses, in the caller's buffer. In a network namespace of its own.
 */
#include "scene.h"

#include <iphlpapi.h>

#include "plx_adapter.h"

#include <net/if.h>
#include <stdlib.h>
#include <string.h>

static const char config[] =
	"adapters = (\n"
	"  { name = \"a\"; device = \"net_wire0,end=0\"; path_mtu = 2048;\n"
	"    address = [ \"10.77.0.1/24\", \"fd77::1/64\" ];\n"
	"    gateway = [ \"10.77.0.254\", \"fd77::fe\" ]; },\n"
	"  { name = \"b\"; device = \"net_wire0,end=1\"; interface_index = 7007;\n"
	"    address = [ \"10.77.1.1/25\" ]; }\n"
	");\n";

/* The list, in a buffer of exactly its size; the test's to free. */
static IP_ADAPTER_ADDRESSES *
list(ULONG family, ULONG flags)
{
	IP_ADAPTER_ADDRESSES *all;
	ULONG size = 0, need;

	assert_int_equal(GetAdaptersAddresses(family, flags, NULL, NULL, &size),
			 ERROR_BUFFER_OVERFLOW);
	all = malloc(size);
	assert_non_null(all);
	need = size - 1;
	memset(all, 0x5a, size);
	assert_int_equal(GetAdaptersAddresses(family, flags, NULL, all, &need),
			 ERROR_BUFFER_OVERFLOW);
	assert_int_equal(need, size);
	assert_int_equal(*(unsigned char *)all, 0x5a);
	assert_int_equal(GetAdaptersAddresses(family, flags, NULL, all, &size), NO_ERROR);
	return all;
}

static IP_ADAPTER_ADDRESSES *
of_index(IP_ADAPTER_ADDRESSES *at, DWORD index)
{
	while (at && at->IfIndex != index)
		at = at->Next;
	return at;
}

static void
expect_address(const SOCKET_ADDRESS *is, const char *text)
{
	const struct sockaddr *shall = scene_address(text);

	assert_int_equal(is->iSockaddrLength, scene_bytes(shall));
	assert_memory_equal(is->lpSockaddr, shall, scene_bytes(shall));
}

static void
adapters_are_told_as_the_file_describes_them(void **state)
{
	IP_ADAPTER_ADDRESSES *all, *a, *b;
	IP_ADAPTER_UNICAST_ADDRESS *at;

	(void)state;
	scene_configure(config);
	all = list(AF_UNSPEC, 0);
	a = all;
	b = all->Next;
	assert_int_equal(a->IfIndex, PLX_INTERFACE_FIRST);
	assert_int_equal(a->Ipv6IfIndex, PLX_INTERFACE_FIRST);
	assert_string_equal(a->AdapterName, "a");
	assert_int_equal(wcscmp(a->FriendlyName, L"a"), 0);
	assert_int_equal(wcscmp(a->Description, L"Pollux on net_wire0,end=0"), 0);
	assert_int_equal(a->OperStatus, IfOperStatusUp);
	assert_int_equal(a->IfType, IF_TYPE_ETHERNET_CSMACD);
	assert_int_equal(a->Mtu, 2048);
	assert_null(a->FirstAnycastAddress);
	assert_null(a->FirstMulticastAddress);
	assert_null(a->FirstDnsServerAddress);
	assert_null(a->FirstWinsServerAddress);
	assert_null(a->FirstPrefix);
	assert_null(a->FirstGatewayAddress);
	at = a->FirstUnicastAddress;
	expect_address(&at->Address, "10.77.0.1");
	assert_int_equal(at->OnLinkPrefixLength, 24);
	assert_int_equal(at->DadState, IpDadStatePreferred);
	assert_int_equal(at->ValidLifetime, UINT32_MAX);
	at = at->Next;
	expect_address(&at->Address, "fd77::1");
	assert_int_equal(at->OnLinkPrefixLength, 64);
	assert_null(at->Next);
	assert_int_equal(b->IfIndex, 7007);
	expect_address(&b->FirstUnicastAddress->Address, "10.77.1.1");
	free(all);
}

static void
the_kernels_interfaces_follow(void **state)
{
	IP_ADAPTER_ADDRESSES *all, *lo, *test;
	IP_ADAPTER_UNICAST_ADDRESS *at;

	(void)state;
	scene_configure(config);
	all = list(AF_UNSPEC, 0);
	lo = of_index(all, if_nametoindex("lo"));
	assert_non_null(lo);
	assert_int_equal(lo->IfType, IF_TYPE_SOFTWARE_LOOPBACK);
	assert_int_equal(lo->PhysicalAddressLength, 0);
	expect_address(&lo->FirstUnicastAddress->Address, "127.0.0.1");
	assert_int_equal(lo->FirstUnicastAddress->OnLinkPrefixLength, 8);
	test = of_index(all, if_nametoindex("plx-test"));
	assert_non_null(test);
	assert_string_equal(test->AdapterName, "plx-test");
	assert_int_equal(test->Mtu, 1500);
	assert_int_equal(test->PhysicalAddressLength, 6);
	assert_int_equal(test->OperStatus, IfOperStatusUp);
	at = test->FirstUnicastAddress;
	expect_address(&at->Address, "198.51.100.1");
	assert_int_equal(at->OnLinkPrefixLength, 25);
	free(all);
}

static void
a_family_leaves_the_other_out(void **state)
{
	IP_ADAPTER_ADDRESSES *all;

	(void)state;
	scene_configure(config);
	all = list(AF_INET6, 0);
	assert_int_equal(all->IfIndex, PLX_INTERFACE_FIRST);
	expect_address(&all->FirstUnicastAddress->Address, "fd77::1");
	assert_null(all->FirstUnicastAddress->Next);
	assert_null(of_index(all, 7007));
	free(all);
	all = list(AF_INET, 0);
	expect_address(&all->FirstUnicastAddress->Address, "10.77.0.1");
	assert_null(all->FirstUnicastAddress->Next);
	assert_non_null(of_index(all, 7007));
	free(all);
}

static void
flags_choose_what_is_told(void **state)
{
	IP_ADAPTER_ADDRESSES *all;

	(void)state;
	scene_configure(config);
	all = list(AF_INET, GAA_FLAG_SKIP_UNICAST | GAA_FLAG_SKIP_FRIENDLY_NAME |
				    GAA_FLAG_INCLUDE_PREFIX | GAA_FLAG_INCLUDE_GATEWAYS |
				    GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST |
				    GAA_FLAG_SKIP_DNS_SERVER);
	assert_null(all->FirstUnicastAddress);
	assert_null(all->FriendlyName);
	expect_address(&all->FirstPrefix->Address, "10.77.0.0");
	assert_int_equal(all->FirstPrefix->PrefixLength, 24);
	expect_address(&all->FirstGatewayAddress->Address, "10.77.0.254");
	assert_null(all->FirstGatewayAddress->Next);
	expect_address(&all->Next->FirstPrefix->Address, "10.77.1.0");
	assert_int_equal(all->Next->FirstPrefix->PrefixLength, 25);
	free(all);
}

static void
wrong_arguments_are_refused(void **state)
{
	ULONG size = 0;

	(void)state;
	assert_int_equal(GetAdaptersAddresses(AF_UNIX, 0, NULL, NULL, &size),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(GetAdaptersAddresses(AF_UNSPEC, 0, NULL, NULL, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(size, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(adapters_are_told_as_the_file_describes_them),
		SCENE_TEST(the_kernels_interfaces_follow),
		SCENE_TEST(a_family_leaves_the_other_out),
		SCENE_TEST(flags_choose_what_is_told),
		SCENE_TEST(wrong_arguments_are_refused),
	};

	if (!scene_network())
		return 1;
	return scene_run("interfaces", tests, sizeof(tests) / sizeof(tests[0]));
}
