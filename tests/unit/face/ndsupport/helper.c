/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Nd functions, sentence by sentence of what is promised of them, with providers of every
 * quirk.
 */
#include "scene.h"

#include <plx_ndsupport.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS = 8,
	ROUNDS = 50,
};

#define MINE "192.0.2.77"

static void
started(void)
{
	assert_hr(NdStartup(), ND_SUCCESS);
}

static void
stopped(void)
{
	assert_hr(NdCleanup(), ND_SUCCESS);
	assert_hr(NdCleanup(), ND_DEVICE_NOT_READY);
}

static HRESULT
check(const char *text)
{
	struct sockaddr *address = scene_address(text);

	return NdCheckAddress(address, scene_bytes(address));
}

static HRESULT
open_adapter(const char *text, IND2Adapter **out)
{
	struct sockaddr *address = scene_address(text);
	void *adapter = out;
	HRESULT status = NdOpenAdapter(&IID_IND2Adapter, address, scene_bytes(address), &adapter);

	*out = adapter;
	return status;
}

static void
before_startup_nothing_is_ready(void **state)
{
	struct sockaddr_in local;
	SIZE_T bytes = sizeof(local);
	IND2Adapter *adapter;

	(void)state;
	scene_provider("second", 0x77);
	assert_hr(NdCleanup(), ND_DEVICE_NOT_READY);
	assert_hr(NdQueryAddressList(0, NULL, &bytes), ND_DEVICE_NOT_READY);
	assert_hr(check(MINE), ND_DEVICE_NOT_READY);
	assert_hr(NdResolveAddress(scene_address(MINE), 16, (struct sockaddr *)(void *)&local,
				   &bytes),
		  ND_DEVICE_NOT_READY);
	assert_hr(open_adapter(MINE, &adapter), ND_DEVICE_NOT_READY);
	assert_null(adapter);
	assert_int_equal(bytes, sizeof(local));
	NdFlushProviders();
	assert_false(scene_is_loaded("second"));
}

static void
startups_are_counted(void **state)
{
	(void)state;
	scene_provider("second", 0x77);
	started();
	started();
	assert_hr(NdCleanup(), ND_SUCCESS);
	assert_hr(check(MINE), ND_SUCCESS);
	stopped();
	assert_hr(check(MINE), ND_DEVICE_NOT_READY);
	started();
	assert_hr(check(MINE), ND_SUCCESS);
	stopped();
}

static void
without_providers_the_list_is_empty(void **state)
{
	SIZE_T bytes = 99;

	(void)state;
	started();
	assert_hr(NdQueryAddressList(0, NULL, &bytes), ND_SUCCESS);
	assert_int_equal(bytes, 0);
	assert_hr(check(MINE), ND_INVALID_ADDRESS);
	stopped();
}

static void
the_list_sums_all_providers(void **state)
{
	unsigned char room[256], before[256];
	SOCKET_ADDRESS_LIST *list = (void *)room;
	SIZE_T bytes = 0, need;

	(void)state;
	scene_provider("second", 0x77);
	scene_provider("crooked", 0x79);
	scene_provider("empty", 0x78);
	started();
	assert_hr(NdQueryAddressList(0, NULL, &bytes), ND_BUFFER_OVERFLOW);
	/* of the crooked one's four entries one is an address */
	assert_int_equal(bytes, 8 + 2 * 16 + 2 * 16);
	need = bytes--;
	memset(room, 0x5a, sizeof(room));
	memcpy(before, room, sizeof(before));
	assert_hr(NdQueryAddressList(0, list, &bytes), ND_BUFFER_OVERFLOW);
	assert_int_equal(bytes, need);
	assert_memory_equal(room, before, sizeof(before));
	bytes = sizeof(room);
	assert_hr(NdQueryAddressList(0, list, &bytes), ND_SUCCESS);
	assert_int_equal(bytes, need);
	assert_memory_equal(room + need, before + need, sizeof(room) - need);
	assert_int_equal(list->iAddressCount, 2);
	for (int i = 0; i < 2; i++) {
		SOCKET_ADDRESS *at = (SOCKET_ADDRESS *)(void *)(room + 8) + i;

		assert_int_equal(at->iSockaddrLength, 16);
		assert_in_range((uintptr_t)at->lpSockaddr, (uintptr_t)room,
				(uintptr_t)room + need - 16);
		assert_memory_equal(at->lpSockaddr, scene_address(MINE), 16);
	}
	assert_hr(NdQueryAddressList(0, list, NULL), ND_INVALID_PARAMETER_3);
	stopped();
}

static void
flags_leave_versions_out(void **state)
{
	SIZE_T bytes = 0;

	(void)state;
	scene_provider("second", 0x77);
	started();
	assert_hr(NdQueryAddressList(ND_QUERY_EXCLUDE_NDv2_ADDRESSES, NULL, &bytes), ND_SUCCESS);
	assert_int_equal(bytes, 0);
	assert_hr(NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES |
					     ND_QUERY_EXCLUDE_EMULATOR_ADDRESSES,
				     NULL, &bytes),
		  ND_BUFFER_OVERFLOW);
	stopped();
}

static void
an_address_is_checked_whatever_its_port(void **state)
{
	struct sockaddr_storage address;

	(void)state;
	scene_provider("second", 0x77);
	started();
	memcpy(&address, scene_address(MINE), 16);
	((struct sockaddr_in *)(void *)&address)->sin_port = htons(4711);
	assert_hr(NdCheckAddress((void *)&address, 16), ND_SUCCESS);
	assert_hr(NdCheckAddress((void *)&address, sizeof(address)), ND_SUCCESS);
	assert_hr(NdCheckAddress((void *)&address, 15), ND_INVALID_PARAMETER_2);
	assert_hr(NdCheckAddress((void *)&address, 0), ND_INVALID_PARAMETER_2);
	assert_hr(NdCheckAddress(scene_address("fd00::1"), 27), ND_INVALID_PARAMETER_2);
	assert_hr(NdCheckAddress(scene_address("fd00::1"), 28), ND_INVALID_ADDRESS);
	assert_hr(check("192.0.2.78"), ND_INVALID_ADDRESS);
	address.ss_family = AF_UNIX;
	assert_hr(NdCheckAddress((void *)&address, 16), ND_INVALID_ADDRESS);
	assert_hr(NdCheckAddress(NULL, 16), ND_INVALID_PARAMETER_1);
	stopped();
}

static void
an_adapter_is_opened_and_keeps_its_library(void **state)
{
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG bytes = sizeof(info);
	IND2Adapter *adapter;
	HANDLE file;

	(void)state;
	scene_provider("second", 0x77);
	started();
	assert_hr(open_adapter(MINE, &adapter), ND_SUCCESS);
	NdFlushProviders();
	assert_true(scene_is_loaded("second"));
	/* not even the last clean-up takes it away from under the adapter */
	stopped();
	assert_true(scene_is_loaded("second"));
	assert_hr(IND2Adapter_Query(adapter, &info, &bytes), ND_SUCCESS);
	assert_int_equal(info.VendorId, 0x7777);
	assert_hr(IND2Adapter_CreateOverlappedFile(adapter, &file), ND_NOT_SUPPORTED);
	assert_int_equal(IND2Adapter_Release(adapter), 0);
	started();
	NdFlushProviders();
	assert_false(scene_is_loaded("second"));
	stopped();
}

static void
the_last_clean_up_unloads_what_is_idle(void **state)
{
	IND2Adapter *adapter;

	(void)state;
	scene_provider("second", 0x77);
	started();
	started();
	assert_hr(open_adapter(MINE, &adapter), ND_SUCCESS);
	assert_int_equal(IND2Adapter_Release(adapter), 0);
	assert_true(scene_is_loaded("second"));
	assert_hr(NdCleanup(), ND_SUCCESS);
	assert_true(scene_is_loaded("second"));
	stopped();
	assert_false(scene_is_loaded("second"));
}

static void
a_library_that_can_go_is_unloaded_at_once(void **state)
{
	(void)state;
	scene_provider("second", 0x77);
	started();
	assert_false(scene_is_loaded("second"));
	assert_hr(check(MINE), ND_SUCCESS);
	assert_false(scene_is_loaded("second"));
	stopped();
}

static void
opening_says_what_is_wrong(void **state)
{
	struct sockaddr *mine;
	void *adapter = &mine;

	(void)state;
	scene_provider("second", 0x77);
	started();
	mine = scene_address(MINE);
	assert_hr(NdOpenAdapter(&IID_IND2Provider, mine, 16, &adapter), E_NOINTERFACE);
	assert_null(adapter);
	assert_hr(NdOpenAdapter(&IID_IND2Adapter, mine, 16, NULL), E_POINTER);
	assert_hr(NdOpenAdapter(NULL, mine, 16, &adapter), ND_INVALID_PARAMETER_1);
	assert_hr(NdOpenAdapter(&IID_IND2Adapter, NULL, 16, &adapter), ND_INVALID_PARAMETER_2);
	assert_hr(NdOpenAdapter(&IID_IND2Adapter, mine, 15, &adapter), ND_INVALID_PARAMETER_2);
	mine = scene_address("192.0.2.1");
	assert_hr(NdOpenAdapter(&IID_IND2Adapter, mine, 16, &adapter), ND_INVALID_ADDRESS);
	assert_false(scene_is_loaded("second"));
	stopped();
}

static void
the_first_provider_that_succeeds_opens(void **state)
{
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG bytes = sizeof(info);
	IND2Adapter *adapter;

	(void)state;
	scene_provider("refuses", 0x7a);
	started();
	assert_hr(open_adapter(MINE, &adapter), ND_INSUFFICIENT_RESOURCES);
	assert_null(adapter);
	/* it comes first by its name, and has the same address */
	scene_provider("second", 0x77);
	assert_hr(open_adapter(MINE, &adapter), ND_SUCCESS);
	assert_hr(IND2Adapter_Query(adapter, &info, &bytes), ND_SUCCESS);
	assert_int_equal(info.AdapterId, 0x7777);
	assert_int_equal(IND2Adapter_Release(adapter), 0);
	stopped();
}

static void
what_the_fields_do_not_say_is_no_provider(void **state)
{
	static const char *const wrong[] = {
		"service_flags = 0x8c;",    "service_flags = 0x0e;", "provider_flags = 0x10;",
		"provider_flags = 0x04;",   "version = 1;",          "version = 2;",
		"families = [ 99 ];",       "socket_type = 1;",      "protocol = 6;",
		"protocol_max_offset = 1;",
	};
	SIZE_T bytes = 0;

	(void)state;
	started();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		scene_write("second.conf",
			    "id = \"{5ec04d00-4e44-4e44-8000-000000000077}\";\n"
			    "library = \"%s\";\n%s\n",
			    scene_library("second"), wrong[i]);
		assert_hr(NdQueryAddressList(0, NULL, &bytes), ND_SUCCESS);
		assert_int_equal(bytes, 0);
	}
	/* more flags than needed are no fault, and one entry that is right is enough */
	scene_write(
		"second.conf",
		"id = \"{5ec04d00-4e44-4e44-8000-000000000077}\";\nlibrary = \"%s\";\n"
		"entries = ( { version = 1; }, { service_flags = 0x18f; provider_flags = 0x1f; } "
		");\n",
		scene_library("second"));
	assert_hr(check(MINE), ND_SUCCESS);
	stopped();
}

static void
a_provider_that_cannot_be_loaded_is_told_of(void **state)
{
	char told[2048];

	(void)state;
	scene_provider("second", 0x77);
	scene_provider("mute", 0x7b);
	scene_provider("crooked", 0x01); /* not the id that it insists on */
	scene_write("gone.conf", "id = \"{5ec04d00-4e44-4e44-8000-000000000002}\";\n"
				 "library = \"/nowhere/libgone.so\";\n");
	scene_write("wrong.conf", "nonsense");
	scene_configure("adapters = 5;\n");
	started();
	assert_hr(check(MINE), ND_SUCCESS);
	assert_int_equal(plx_ndsupport_check(told, sizeof(told)), 5);
	assert_non_null(strstr(told, "/wrong.conf:1: syntax error\n"));
	assert_non_null(strstr(told, "/pollux.conf:1: adapters is not a list"));
	assert_non_null(strstr(told, "libnd2-mute.so has no DllCanUnloadNow"));
	assert_non_null(strstr(told, "provider {5ec04d00-4e44-4e44-8000-000000000002}: its library "
				     "cannot be loaded: /nowhere/libgone.so"));
	assert_non_null(strstr(told, "its DllGetClassObject returned 0x80040111"));
	assert_false(scene_is_loaded("mute"));
	assert_false(scene_is_loaded("crooked"));
	scene_remove("mute.conf");
	scene_remove("crooked.conf");
	scene_remove("gone.conf");
	scene_remove("wrong.conf");
	scene_configure("adapters = ();\n");
	assert_hr(check(MINE), ND_SUCCESS);
	assert_int_equal(plx_ndsupport_check(told, sizeof(told)), 0);
	assert_string_equal(told, "");
	stopped();
}

static void
what_is_installed_meanwhile_is_seen(void **state)
{
	IND2Adapter *adapter;

	(void)state;
	started();
	assert_hr(check(MINE), ND_INVALID_ADDRESS);
	scene_provider("second", 0x77);
	assert_hr(open_adapter(MINE, &adapter), ND_SUCCESS);
	scene_remove("second.conf");
	assert_hr(check(MINE), ND_INVALID_ADDRESS);
	/* its adapter lives on */
	NdFlushProviders();
	assert_true(scene_is_loaded("second"));
	assert_int_equal(IND2Adapter_Release(adapter), 0);
	NdFlushProviders();
	assert_false(scene_is_loaded("second"));
	stopped();
}

static void *
use(void *argument)
{
	unsigned char room[512];
	IND2Adapter *adapter;

	for (int i = 0; i < ROUNDS; i++) {
		SIZE_T bytes = sizeof(room);

		if (NdStartup() != ND_SUCCESS || check(MINE) != ND_SUCCESS ||
		    NdQueryAddressList(0, (void *)room, &bytes) != ND_SUCCESS ||
		    ((SOCKET_ADDRESS_LIST *)(void *)room)->iAddressCount != 2 ||
		    open_adapter(MINE, &adapter) != ND_SUCCESS)
			return argument;
		NdFlushProviders();
		if (IND2Adapter_Release(adapter) != 0 || NdCleanup() != ND_SUCCESS)
			return argument;
	}
	return NULL;
}

static void
several_and_concurrent_requests_work(void **state)
{
	pthread_t threads[THREADS];
	void *failed;

	(void)state;
	scene_provider("second", 0x77);
	scene_provider("refuses", 0x7a);
	scene_provider("empty", 0x78);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use, threads), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_hr(NdCleanup(), ND_DEVICE_NOT_READY);
	assert_false(scene_is_loaded("second"));
	assert_false(scene_is_loaded("empty"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(before_startup_nothing_is_ready),
		SCENE_TEST(startups_are_counted),
		SCENE_TEST(without_providers_the_list_is_empty),
		SCENE_TEST(the_list_sums_all_providers),
		SCENE_TEST(flags_leave_versions_out),
		SCENE_TEST(an_address_is_checked_whatever_its_port),
		SCENE_TEST(an_adapter_is_opened_and_keeps_its_library),
		SCENE_TEST(the_last_clean_up_unloads_what_is_idle),
		SCENE_TEST(a_library_that_can_go_is_unloaded_at_once),
		SCENE_TEST(opening_says_what_is_wrong),
		SCENE_TEST(the_first_provider_that_succeeds_opens),
		SCENE_TEST(what_the_fields_do_not_say_is_no_provider),
		SCENE_TEST(a_provider_that_cannot_be_loaded_is_told_of),
		SCENE_TEST(what_is_installed_meanwhile_is_seen),
		SCENE_TEST(several_and_concurrent_requests_work),
	};

	return scene_run("helper", tests, sizeof(tests) / sizeof(tests[0]));
}
