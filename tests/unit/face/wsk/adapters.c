/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From interface index to adapter, as a consumer goes: interfaces and addresses by netioapi.h, the
 * adapter by WSK, the rest by NDK. Two adapters on the embedded link. Start with main().
 */
#include "ndk_pair.h"

#include <netinet/in.h>
#include <netioapi.h>
#include <ntstatus.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <wskndk.h>

#include "plx_adapter.h"
#include "subprocess.h"
#include "thread.h"

static const WSK_CLIENT_DISPATCH dispatch = {MAKE_WSK_VERSION(1, 0), 0, NULL};
static WSK_REGISTRATION registration;
static WSK_PROVIDER_NPI wsk;
static WSK_PROVIDER_NDK_DISPATCH ndk;

static int
client_open(void **state)
{
	WSK_CLIENT_NPI npi = {NULL, &dispatch};

	(void)state;
	assert_nt(WskRegister(&npi, &registration), STATUS_SUCCESS);
	assert_nt(WskCaptureProviderNPI(&registration, WSK_NO_WAIT, &wsk), STATUS_SUCCESS);
	assert_nt(wsk.Dispatch->WskControlClient(wsk.Client, WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH,
						 0, NULL, sizeof(ndk), &ndk, NULL, NULL),
		  STATUS_SUCCESS);
	return 0;
}

static int
client_close(void **state)
{
	(void)state;
	WskReleaseProviderNPI(&registration);
	WskDeregister(&registration);
	return 0;
}

/* The interface that has an address of IPv4. Returns: 0: none has */
static NET_IFINDEX
index_of(ULONG address)
{
	PMIB_UNICASTIPADDRESS_TABLE table = NULL;
	NET_IFINDEX index = 0;

	assert_nt(GetUnicastIpAddressTable(AF_INET, &table), STATUS_SUCCESS);
	for (ULONG i = 0; i < table->NumEntries; i++)
		if (table->Table[i].Address.Ipv4.sin_addr.s_addr == htonl(address))
			index = table->Table[i].InterfaceIndex;
	FreeMibTable(table);
	return index;
}

static NDK_ADAPTER *
open_by_address(ULONG address, NDK_VERSION version)
{
	NDK_ADAPTER *adapter = NULL;

	assert_nt(ndk.WskOpenNdkAdapter(wsk.Client, version, index_of(address), &adapter),
		  STATUS_SUCCESS);
	assert_non_null(adapter);
	return adapter;
}

static void
expect_version(NDK_ADAPTER *adapter, USHORT major, USHORT minor)
{
	NDK_ADAPTER_INFO info;
	ULONG bytes = sizeof(info);

	assert_nt(adapter->Dispatch->NdkQueryAdapterInfo(adapter, &info, &bytes), STATUS_SUCCESS);
	assert_int_equal(info.Version.Major, major);
	assert_int_equal(info.Version.Minor, minor);
	assert_int_equal(info.RdmaTechnology, NdkRoCEv2);
}

static void
two_adapters_are_opened_by_the_index_of_their_address(void **state)
{
	NDK_ADAPTER *a = open_by_address(0x0a4e0201, (NDK_VERSION){1, 0});
	NDK_ADAPTER *b = open_by_address(0x0a4e0202, (NDK_VERSION){2, 0});
	NDK_PD *of_a, *of_b;

	(void)state;
	assert_ptr_not_equal(a, b);
	expect_version(a, 1, 2);
	expect_version(b, 2, 1);
	of_a = ndk_create(NDK_PD, a->Dispatch->NdkCreatePd, a);
	of_b = ndk_create(NDK_PD, b->Dispatch->NdkCreatePd, b);
	assert_non_null(of_a);
	assert_non_null(of_b);
	ndk_end(of_a->Dispatch->NdkClosePd, of_a);
	ndk_end(of_b->Dispatch->NdkClosePd, of_b);
	ndk.WskCloseNdkAdapter(wsk.Client, b);
	ndk.WskCloseNdkAdapter(wsk.Client, a);
}

static void
an_adapter_is_opened_twice_and_again_after_its_close(void **state)
{
	const NET_IFINDEX index = PLX_INTERFACE_FIRST;
	NDK_ADAPTER *first = NULL, *second = NULL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_nt(ndk.WskOpenNdkAdapter(wsk.Client, (NDK_VERSION){1, 2}, index, &first),
			  STATUS_SUCCESS);
		assert_nt(ndk.WskOpenNdkAdapter(wsk.Client, (NDK_VERSION){1, 2}, index, &second),
			  STATUS_SUCCESS);
		assert_ptr_not_equal(first, second);
		ndk.WskCloseNdkAdapter(wsk.Client, first);
		ndk.WskCloseNdkAdapter(wsk.Client, second);
	}
}

static void
what_cannot_be_opened_has_its_status_and_changes_nothing(void **state)
{
	static const struct {
		NDK_VERSION version;
		NET_IFINDEX index;
		NTSTATUS status;
	} rows[] = {
		{{1, 2}, 0, STATUS_NOT_FOUND},
		{{1, 2}, PLX_INTERFACE_FIRST + 2, STATUS_NOT_FOUND},
		{{1, 2}, 0xffffffff, STATUS_NOT_FOUND},
		{{1, 2}, 1, STATUS_NOT_SUPPORTED}, /* lo */
		{{0, 1}, PLX_INTERFACE_FIRST, NDIS_STATUS_BAD_VERSION},
		{{1, 3}, PLX_INTERFACE_FIRST, NDIS_STATUS_BAD_VERSION},
		{{2, 2}, PLX_INTERFACE_FIRST, NDIS_STATUS_BAD_VERSION},
		{{3, 0}, PLX_INTERFACE_FIRST, NDIS_STATUS_BAD_VERSION},
	};
	NDK_ADAPTER *const before = (NDK_ADAPTER *)(void *)&registration, *adapter = before;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_nt(
			ndk.WskOpenNdkAdapter(wsk.Client, rows[i].version, rows[i].index, &adapter),
			rows[i].status);
		assert_ptr_equal(adapter, before);
	}
	assert_nt(ndk.WskOpenNdkAdapter(wsk.Client, (NDK_VERSION){1, 2}, PLX_INTERFACE_FIRST, NULL),
		  STATUS_INVALID_PARAMETER);
}

/* ---- deregistering waits for a call ---- */

static NDK_ADAPTER *held;
static atomic_bool is_closed, is_gone;

static void *
close_adapter(void *context)
{
	(void)context;
	pthread_setname_np(pthread_self(), "closer");
	ndk.WskCloseNdkAdapter(wsk.Client, held);
	atomic_store(&is_closed, true);
	return NULL;
}

static void *
deregister(void *context)
{
	(void)context;
	pthread_setname_np(pthread_self(), "leaver");
	WskDeregister(&registration);
	atomic_store(&is_gone, true);
	return NULL;
}

static bool
sleeps(const char *name)
{
	pid_t thread = thread_find(name);

	return thread != 0 && thread_sleeps(thread);
}

/* The close of an adapter waits for a PD of it. */
static void
deregistering_waits_for_a_call_in_progress(void **state)
{
	pthread_t closer, leaver;
	NDK_PD *pd;

	(void)state;
	client_open(NULL);
	held = open_by_address(0x0a4e0201, (NDK_VERSION){1, 2});
	pd = ndk_create(NDK_PD, held->Dispatch->NdkCreatePd, held);
	assert_int_equal(pthread_create(&closer, NULL, close_adapter, NULL), 0);
	ndk_until(sleeps("closer") || is_closed);
	assert_false(is_closed);
	WskReleaseProviderNPI(&registration);
	assert_int_equal(pthread_create(&leaver, NULL, deregister, NULL), 0);
	ndk_until(sleeps("leaver") || is_gone);
	assert_false(is_gone);
	ndk_end(pd->Dispatch->NdkClosePd, pd);
	pthread_join(closer, NULL);
	pthread_join(leaver, NULL);
	assert_true(is_closed);
	assert_true(is_gone);
}

/* ---- adapters that are still open ---- */

static int
deregister_with_an_adapter(void)
{
	client_open(NULL);
	open_by_address(0x0a4e0201, (NDK_VERSION){1, 2});
	client_close(NULL);
	return 0;
}

static const struct scene scene = {"deregister_with_an_adapter", deregister_with_an_adapter};

static void
deregistering_with_an_adapter_open_ends_the_process_with_a_sentence(void **state)
{
	char out[4096];
	int status;

	(void)state;
	setenv("POLLUX_DBG", "1", 1);
	status = scene_run(scene.name, out, sizeof(out));
	if (!WIFSIGNALED(status) || strstr(out, "are open (1)") == NULL)
		fail_msg("%#x: %s", (unsigned int)status, out);
}

/* Without checks the adapter stays what it is, and so does its client until its close. */
static int
close_after_deregistering(void)
{
	NDK_ADAPTER *adapter;

	client_open(NULL);
	adapter = open_by_address(0x0a4e0201, (NDK_VERSION){1, 2});
	client_close(NULL);
	ndk.WskCloseNdkAdapter(wsk.Client, adapter);
	return 0;
}

static const struct scene late = {"close_after_deregistering", close_after_deregistering};

static void
without_checks_an_adapter_outlives_its_registration(void **state)
{
	char out[4096];

	(void)state;
	setenv("POLLUX_DBG", "0", 1);
	assert_int_equal(scene_run(late.name, out, sizeof(out)), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			two_adapters_are_opened_by_the_index_of_their_address, client_open,
			client_close),
		cmocka_unit_test_setup_teardown(
			an_adapter_is_opened_twice_and_again_after_its_close, client_open,
			client_close),
		cmocka_unit_test_setup_teardown(
			what_cannot_be_opened_has_its_status_and_changes_nothing, client_open,
			client_close),
		cmocka_unit_test(deregistering_waits_for_a_call_in_progress),
		cmocka_unit_test(
			deregistering_with_an_adapter_open_ends_the_process_with_a_sentence),
		cmocka_unit_test(without_checks_an_adapter_outlives_its_registration),
	};
	int result;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	result = scene_main(argc, argv, &scene, 1);
	if (result < 0)
		result = scene_main(argc, argv, &late, 1);
	if (result >= 0)
		return result;
	return ndk_run("wsk", tests, sizeof(tests) / sizeof(tests[0]));
}
