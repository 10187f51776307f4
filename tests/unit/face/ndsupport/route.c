/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which adapter leads where: the configuration file's by the longest prefix, the kernel's for the
 * rest, and NdResolveAddress on both. In a network namespace of its own, whose kernel knows two
 * networks.
 */
#include "scene.h"

#include <iphlpapi.h>

#include "plx_adapter.h"

#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char config[] =
	"adapters = (\n"
	"  { name = \"a\"; device = \"net_wire0,end=0\";\n"
	"    address = [ \"10.77.0.1/24\", \"fd77::1/64\" ];\n"
	"    routes = [ \"10.88.0.0/16 via 10.77.0.254\", \"10.88.9.0/24 via 10.77.0.253\" ]; },\n"
	"  { name = \"b\"; device = \"net_wire0,end=1\";\n"
	"    address = [ \"10.77.0.129/25\", \"192.0.2.77/24\" ];\n"
	"    routes = [ \"10.88.9.0/25 via 192.0.2.1\" ]; }\n"
	");\n";

#define WITH_GATEWAY                                        \
	"adapters = (\n"                                    \
	"  { name = \"a\"; device = \"net_wire0,end=0\";\n" \
	"    address = [ \"10.77.0.1/24\" ];\n"             \
	"    gateway = \"10.77.0.254\"; }\n"                \
	");\n"

enum {
	A = PLX_INTERFACE_FIRST,
	B,
};

static DWORD
best(const char *to)
{
	DWORD index = 0;

	assert_int_equal(GetBestInterfaceEx(scene_address(to), &index), NO_ERROR);
	return index;
}

static DWORD
refusal(const char *to)
{
	DWORD index = 4711;
	DWORD error = GetBestInterfaceEx(scene_address(to), &index);

	assert_int_equal(index, 4711);
	return error;
}

static void
the_longest_prefix_of_all_adapters_counts(void **state)
{
	(void)state;
	scene_configure(config);
	assert_int_equal(best("10.77.0.5"), A);
	assert_int_equal(best("10.77.0.200"), B); /* 25 bits before 24 */
	assert_int_equal(best("10.88.1.1"), A);
	assert_int_equal(best("10.88.9.200"), A);
	assert_int_equal(best("10.88.9.1"), B);
	assert_int_equal(best("192.0.2.1"), B);
	assert_int_equal(best("fd77::9"), A);
}

static void
of_equal_prefixes_the_first_in_the_file_counts(void **state)
{
	(void)state;
	scene_configure(
		"adapters = (\n"
		"  { name = \"a\"; device = \"net_wire0,end=0\"; address = [ \"10.9.0.1/24\" ]; "
		"},\n"
		"  { name = \"b\"; device = \"net_wire0,end=1\"; address = [ \"10.9.0.2/24\" ]; }\n"
		");\n");
	assert_int_equal(best("10.9.0.3"), A);
	assert_int_equal(best("10.9.0.1"), A);
	assert_int_equal(best("10.9.0.2"), B);
}

static void
an_address_of_an_adapter_is_that_adapters(void **state)
{
	(void)state;
	scene_configure(config);
	assert_int_equal(best("10.77.0.1"), A);
	assert_int_equal(best("10.77.0.129"), B);
	assert_int_equal(best("fd77::1"), A);
}

static void
a_gateway_leads_everywhere_but_to_this_host(void **state)
{
	(void)state;
	scene_configure(WITH_GATEWAY);
	assert_int_equal(best("203.0.113.7"), A);
	assert_int_equal(best("198.51.100.1"), A);
	assert_int_equal(best("127.0.0.1"), if_nametoindex("lo"));
	assert_int_equal(best("::1"), if_nametoindex("lo"));
}

static void
what_no_adapter_routes_is_the_kernels(void **state)
{
	DWORD index = 0;

	(void)state;
	scene_configure(config);
	assert_int_equal(best("198.51.100.9"), if_nametoindex("plx-test"));
	assert_int_equal(best("2001:db8::9"), if_nametoindex("plx-test"));
	assert_int_equal(GetBestInterface(inet_addr("198.51.100.9"), &index), NO_ERROR);
	assert_int_equal(index, if_nametoindex("plx-test"));
	assert_int_equal(GetBestInterface(inet_addr("10.77.0.5"), &index), NO_ERROR);
	assert_int_equal(index, A);
	assert_int_equal(refusal("203.0.113.1"), ERROR_NETWORK_UNREACHABLE);
	assert_int_equal(refusal("198.51.100.128"), ERROR_HOST_UNREACHABLE);
	assert_int_equal(refusal("fd99::1"), ERROR_NETWORK_UNREACHABLE);
}

static void
without_a_file_or_with_a_wrong_one_there_is_the_kernel(void **state)
{
	(void)state;
	scene_configure("nonsense");
	assert_int_equal(best("198.51.100.9"), if_nametoindex("plx-test"));
	assert_int_equal(refusal("10.77.0.5"), ERROR_NETWORK_UNREACHABLE);
}

static void
what_is_no_address_is_an_invalid_parameter(void **state)
{
	struct sockaddr_storage address;
	DWORD index;

	(void)state;
	memset(&address, 0, sizeof(address));
	address.ss_family = AF_UNIX;
	assert_int_equal(GetBestInterfaceEx((void *)&address, &index), ERROR_INVALID_PARAMETER);
	assert_int_equal(GetBestInterfaceEx(NULL, &index), ERROR_INVALID_PARAMETER);
	assert_int_equal(GetBestInterfaceEx(scene_address("10.0.0.1"), NULL),
			 ERROR_INVALID_PARAMETER);
}

/* ---- NdResolveAddress ---- */

static HRESULT
resolve(const char *to, const char *expected)
{
	struct sockaddr *remote = scene_address(to);
	unsigned char room[64], before[64];
	SIZE_T bytes = sizeof(room);
	HRESULT status;

	memset(room, 0x5a, sizeof(room));
	memcpy(before, room, sizeof(before));
	((struct sockaddr_in *)(void *)remote)->sin_port = htons(4711);
	status = NdResolveAddress(remote, scene_bytes(remote), (void *)room, &bytes);
	if (status != ND_SUCCESS) {
		assert_memory_equal(room, before, sizeof(room));
		assert_int_equal(bytes, sizeof(room));
		return status;
	}
	/* of the exact length, with port 0 */
	assert_int_equal(bytes, scene_bytes(scene_address(expected)));
	assert_memory_equal(room, scene_address(expected), bytes);
	assert_memory_equal(room + bytes, before + bytes, sizeof(room) - bytes);
	return status;
}

static void
a_remote_address_resolves_to_a_providers_address(void **state)
{
	(void)state;
	scene_configure(config);
	scene_provider("second", 0x77);
	assert_hr(NdStartup(), ND_SUCCESS);
	assert_hr(resolve("192.0.2.9", "192.0.2.77"), ND_SUCCESS);
	/* behind a gateway in that network */
	assert_hr(resolve("10.88.9.1", "192.0.2.77"), ND_SUCCESS);
	/* its own */
	assert_hr(resolve("192.0.2.77", "192.0.2.77"), ND_SUCCESS);
	/* adapters that no provider of this catalog has */
	assert_hr(resolve("10.77.0.5", NULL), ND_INVALID_ADDRESS);
	assert_hr(resolve("fd77::9", NULL), ND_INVALID_ADDRESS);
	assert_hr(resolve("198.51.100.9", NULL), ND_INVALID_ADDRESS);
	assert_hr(resolve("127.0.0.1", NULL), ND_INVALID_ADDRESS);
	/* no way */
	assert_hr(resolve("203.0.113.1", NULL), ND_NETWORK_UNREACHABLE);
	assert_hr(resolve("198.51.100.128", NULL), ND_NETWORK_UNREACHABLE);
	/* nobody's */
	assert_hr(resolve("0.0.0.0", NULL), ND_INVALID_ADDRESS);
	assert_hr(resolve("::", NULL), ND_INVALID_ADDRESS);
	assert_hr(resolve("224.0.0.1", NULL), ND_INVALID_ADDRESS);
	assert_hr(resolve("255.255.255.255", NULL), ND_INVALID_ADDRESS);
	assert_hr(resolve("ff02::1", NULL), ND_INVALID_ADDRESS);
	assert_hr(NdCleanup(), ND_SUCCESS);
}

static void
a_provider_on_an_address_of_the_kernel_is_found_by_its_routes(void **state)
{
	(void)state;
	scene_configure("adapters = ();\n");
	scene_provider("second", 0x77);
	assert_int_equal(system("ip addr add 192.0.2.77/24 dev plx-test"), 0);
	assert_hr(NdStartup(), ND_SUCCESS);
	assert_hr(resolve("192.0.2.9", "192.0.2.77"), ND_SUCCESS);
	assert_hr(NdCleanup(), ND_SUCCESS);
	assert_int_equal(system("ip addr del 192.0.2.77/24 dev plx-test"), 0);
}

static void
resolving_into_too_little_room_says_how_much(void **state)
{
	struct sockaddr *remote = scene_address("192.0.2.9");
	unsigned char room[16] = "before";
	SIZE_T bytes = 15;

	(void)state;
	scene_configure(config);
	scene_provider("second", 0x77);
	assert_hr(NdStartup(), ND_SUCCESS);
	assert_hr(NdResolveAddress(remote, 16, (void *)room, &bytes), ND_BUFFER_OVERFLOW);
	assert_int_equal(bytes, 16);
	assert_string_equal((char *)room, "before");
	bytes = 0;
	assert_hr(NdResolveAddress(remote, 16, NULL, &bytes), ND_BUFFER_OVERFLOW);
	assert_int_equal(bytes, 16);
	assert_hr(NdResolveAddress(remote, 15, (void *)room, &bytes), ND_INVALID_PARAMETER_2);
	assert_hr(NdResolveAddress(NULL, 16, (void *)room, &bytes), ND_INVALID_PARAMETER_1);
	assert_hr(NdResolveAddress(remote, 16, (void *)room, NULL), ND_INVALID_PARAMETER_4);
	remote->sa_family = AF_UNIX;
	assert_hr(NdResolveAddress(remote, 16, (void *)room, &bytes), ND_INVALID_ADDRESS);
	assert_hr(NdCleanup(), ND_SUCCESS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(the_longest_prefix_of_all_adapters_counts),
		SCENE_TEST(of_equal_prefixes_the_first_in_the_file_counts),
		SCENE_TEST(an_address_of_an_adapter_is_that_adapters),
		SCENE_TEST(a_gateway_leads_everywhere_but_to_this_host),
		SCENE_TEST(what_no_adapter_routes_is_the_kernels),
		SCENE_TEST(without_a_file_or_with_a_wrong_one_there_is_the_kernel),
		SCENE_TEST(what_is_no_address_is_an_invalid_parameter),
		SCENE_TEST(a_remote_address_resolves_to_a_providers_address),
		SCENE_TEST(a_provider_on_an_address_of_the_kernel_is_found_by_its_routes),
		SCENE_TEST(resolving_into_too_little_room_says_how_much),
	};

	if (!scene_network())
		return 1;
	return scene_run("route", tests, sizeof(tests) / sizeof(tests[0]));
}
