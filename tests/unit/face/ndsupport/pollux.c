/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Nd functions with Pollux's own provider, beside another one: addresses of both, the way to a
 * remote address by the configuration's routes, an adapter and what is made on it.
 */
#include "scene.h"

#include <plx_ndsupport.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char config[] =
	"adapters = (\n"
	"  { name = \"p0\"; device = \"net_wire0,end=0\"; idle = \"yield\"; packets = 4096;\n"
	"    address = [ \"10.78.6.1/24\", \"fd78:6::1/64\" ]; },\n"
	"  { name = \"p1\"; device = \"net_wire0,end=1\"; idle = \"yield\"; packets = 4096;\n"
	"    address = [ \"10.78.7.1/24\" ]; routes = [ \"10.99.0.0/16 via 10.78.7.254\" ]; }\n"
	");\n";

static void
begin(const char *configuration)
{
	scene_provider("second", 0x77);
	scene_write("a-pollux.conf",
		    "id = \"{7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}\";\nlibrary = \"%s\";\n",
		    getenv("TEST_POLLUX"));
	scene_configure(configuration);
	assert_hr(NdStartup(), ND_SUCCESS);
}

static void
addresses_of_both_providers_are_listed(void **state)
{
	static const char *const all[] = {"10.78.6.1", "fd78:6::1", "10.78.7.1", "192.0.2.77"};
	unsigned char room[512];
	SOCKET_ADDRESS *entry = (SOCKET_ADDRESS *)(void *)(room + 8);
	SIZE_T bytes = sizeof(room);

	(void)state;
	begin(config);
	assert_hr(NdQueryAddressList(0, (void *)room, &bytes), ND_SUCCESS);
	assert_int_equal(((SOCKET_ADDRESS_LIST *)(void *)room)->iAddressCount, 4);
	for (int i = 0; i < 4; i++) {
		struct sockaddr *wanted = scene_address(all[i]);

		assert_int_equal(entry[i].iSockaddrLength, scene_bytes(wanted));
		assert_memory_equal(entry[i].lpSockaddr, wanted, scene_bytes(wanted));
		assert_hr(NdCheckAddress(wanted, scene_bytes(wanted)), ND_SUCCESS);
	}
	assert_hr(NdCleanup(), ND_SUCCESS);
}

static void
expect_local(const char *remote, const char *local)
{
	struct sockaddr *to = scene_address(remote), *from = scene_address(local);
	struct sockaddr_storage out;
	SIZE_T bytes = sizeof(out);

	assert_hr(NdResolveAddress(to, scene_bytes(to), (void *)&out, &bytes), ND_SUCCESS);
	assert_int_equal(bytes, scene_bytes(from));
	assert_memory_equal(&out, from, bytes);
}

static void
routes_of_the_configuration_lead_to_local_addresses(void **state)
{
	(void)state;
	begin(config);
	expect_local("10.78.6.2", "10.78.6.1");
	expect_local("fd78:6::2", "fd78:6::1");
	expect_local("10.78.7.9", "10.78.7.1");
	expect_local("10.99.1.2", "10.78.7.1");
	expect_local("10.78.7.1", "10.78.7.1");
	assert_hr(NdCleanup(), ND_SUCCESS);
}

static void
open_and_use(const char *local, UINT64 *id)
{
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	struct sockaddr *address = scene_address(local);
	ULONG bytes = sizeof(info);
	void *adapter = NULL, *cq = NULL;
	HANDLE file;

	assert_hr(NdOpenAdapter(&IID_IND2Adapter, address, scene_bytes(address), &adapter),
		  ND_SUCCESS);
	assert_hr(IND2Adapter_Query(adapter, &info, &bytes), ND_SUCCESS);
	*id = info.AdapterId;
	assert_hr(IND2Adapter_CreateOverlappedFile(adapter, &file), ND_SUCCESS);
	assert_hr(IND2Adapter_CreateCompletionQueue(adapter, &IID_IND2CompletionQueue, file, 16, 0,
						    0, &cq),
		  ND_SUCCESS);
	assert_int_equal(IND2Adapter_Release((IND2Adapter *)adapter), 0);
	/* the adapter's last child keeps everything; to flush is harmless */
	NdFlushProviders();
	assert_int_equal(IND2CompletionQueue_GetResults((IND2CompletionQueue *)cq, NULL, 0), 0);
	assert_int_equal(IND2CompletionQueue_Release((IND2CompletionQueue *)cq), 0);
	assert_true(CloseHandle(file));
	NdFlushProviders();
}

static void
an_adapter_is_opened_by_each_of_its_addresses(void **state)
{
	UINT64 v4, v6, other;

	(void)state;
	begin(config);
	open_and_use("10.78.6.1", &v4);
	open_and_use("fd78:6::1", &v6);
	open_and_use("10.78.7.1", &other);
	assert_true(v4 == v6);
	assert_true(v4 != other);
	assert_hr(NdCleanup(), ND_SUCCESS);
}

static void
a_wrong_configuration_leaves_the_other_provider(void **state)
{
	struct sockaddr *mine = scene_address("192.0.2.77"), *lost = scene_address("10.78.6.1");
	char told[1024];

	(void)state;
	begin("adapters = ( { name = \"p0\"; } );\n");
	assert_hr(NdCheckAddress(mine, 16), ND_SUCCESS);
	assert_hr(NdCheckAddress(lost, 16), ND_INVALID_ADDRESS);
	assert_int_equal(plx_ndsupport_check(told, sizeof(told)), 2);
	assert_non_null(strstr(told, "/pollux.conf:1: adapter \"p0\": "));
	assert_non_null(strstr(told, "provider {7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}: its "
				     "QueryAddressList returned 0xc00000a3"));
	assert_hr(NdCleanup(), ND_SUCCESS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(addresses_of_both_providers_are_listed),
		SCENE_TEST(routes_of_the_configuration_lead_to_local_addresses),
		SCENE_TEST(an_adapter_is_opened_by_each_of_its_addresses),
		SCENE_TEST(a_wrong_configuration_leaves_the_other_provider),
	};

	return scene_run("pollux", tests, sizeof(tests) / sizeof(tests[0]));
}
