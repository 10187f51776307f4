/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registering, capturing, releasing and deregistering in every order that is allowed, and what the
 * provider's table answers. Start with main().
 */
#include "wsk_rig.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "clock.h"
#include "thread.h"

static void
a_client_registers_captures_releases_and_deregisters(void **state)
{
	WSK_REGISTRATION registration;
	WSK_PROVIDER_NPI first = {0}, second = {0};

	(void)state;
	for (int round = 0; round < 2; round++) {
		assert_int_equal(rig_register(&registration, &rig_dispatch), STATUS_SUCCESS);
		assert_int_equal(WskCaptureProviderNPI(&registration, WSK_NO_WAIT, &first),
				 STATUS_SUCCESS);
		assert_int_equal(WskCaptureProviderNPI(&registration, 10, &second), STATUS_SUCCESS);
		assert_non_null(first.Client);
		assert_ptr_equal(first.Client, second.Client);
		assert_ptr_equal(first.Dispatch, second.Dispatch);
		assert_int_equal(first.Dispatch->Version, MAKE_WSK_VERSION(1, 0));
		WskReleaseProviderNPI(&registration);
		WskReleaseProviderNPI(&registration);
		WskDeregister(&registration);
	}
}

static void
two_registrations_are_two_clients(void **state)
{
	struct rig a, b;

	(void)state;
	rig_open(&a);
	rig_open(&b);
	assert_ptr_not_equal(a.wsk.Client, b.wsk.Client);
	rig_close(&a);
	assert_int_equal(WskCaptureProviderNPI(&b.registration, WSK_NO_WAIT, &b.wsk),
			 STATUS_SUCCESS);
	WskReleaseProviderNPI(&b.registration);
	rig_close(&b);
}

/* Of all versions the one supported is captured, and the range says which. */
static void
other_versions_are_registered_and_not_captured(void **state)
{
	static const USHORT others[] = {0, MAKE_WSK_VERSION(0, 9), MAKE_WSK_VERSION(1, 1),
					MAKE_WSK_VERSION(2, 0), 0xffff};
	WSK_PROVIDER_CHARACTERISTICS range;
	WSK_REGISTRATION registration;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		WSK_CLIENT_DISPATCH dispatch = {others[i], 0, NULL};
		WSK_PROVIDER_NPI npi = {(PWSK_CLIENT)&dispatch, NULL};

		assert_int_equal(rig_register(&registration, &dispatch), STATUS_SUCCESS);
		assert_int_equal(WskCaptureProviderNPI(&registration, WSK_INFINITE_WAIT, &npi),
				 STATUS_NOINTERFACE);
		assert_ptr_equal(npi.Client, &dispatch);
		assert_null(npi.Dispatch);
		range = (WSK_PROVIDER_CHARACTERISTICS){0};
		assert_int_equal(WskQueryProviderCharacteristics(&registration, &range),
				 STATUS_SUCCESS);
		assert_int_equal(range.LowestVersion, MAKE_WSK_VERSION(1, 0));
		assert_int_equal(range.HighestVersion, MAKE_WSK_VERSION(1, 0));
		WskDeregister(&registration);
	}
}

static void
a_refused_call_changes_nothing(void **state)
{
	WSK_CLIENT_NPI good = {NULL, &rig_dispatch}, bad = {NULL, NULL};
	WSK_REGISTRATION registration = {.ReservedRegistrationState = 4711};
	WSK_PROVIDER_CHARACTERISTICS range;
	WSK_PROVIDER_NPI npi;

	(void)state;
	assert_int_equal(WskRegister(NULL, &registration), STATUS_INVALID_PARAMETER);
	assert_int_equal(WskRegister(&bad, &registration), STATUS_INVALID_PARAMETER);
	assert_int_equal(WskRegister(&good, NULL), STATUS_INVALID_PARAMETER);
	assert_int_equal(registration.ReservedRegistrationState, 4711);
	assert_null(registration.ReservedRegistrationContext);
	assert_int_equal(WskRegister(&good, &registration), STATUS_SUCCESS);
	assert_int_equal(WskCaptureProviderNPI(&registration, WSK_NO_WAIT, NULL),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(WskCaptureProviderNPI(NULL, WSK_NO_WAIT, &npi), STATUS_INVALID_PARAMETER);
	assert_int_equal(WskQueryProviderCharacteristics(&registration, NULL),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(WskQueryProviderCharacteristics(NULL, &range), STATUS_INVALID_PARAMETER);
	/* nothing is captured: this returns */
	WskDeregister(&registration);
}

static void
after_deregistering_nothing_is_ready(void **state)
{
	WSK_PROVIDER_CHARACTERISTICS range = {1, 2};
	WSK_PROVIDER_NPI npi = {NULL, NULL};
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig_close(&rig);
	assert_int_equal(WskCaptureProviderNPI(&rig.registration, WSK_INFINITE_WAIT, &npi),
			 STATUS_DEVICE_NOT_READY);
	assert_null(npi.Client);
	assert_int_equal(WskQueryProviderCharacteristics(&rig.registration, &range),
			 STATUS_DEVICE_NOT_READY);
	assert_int_equal(range.HighestVersion, 1);
}

struct leaver {
	struct rig rig;
	atomic_bool is_gone;
};

static void *
end_registration(void *context)
{
	struct leaver *leaver = context;

	pthread_setname_np(pthread_self(), "leaver");
	WskDeregister(&leaver->rig.registration);
	atomic_store(&leaver->is_gone, true);
	return NULL;
}

static bool
is_refused(struct leaver *leaver)
{
	WSK_PROVIDER_NPI npi;
	NTSTATUS status = WskCaptureProviderNPI(&leaver->rig.registration, WSK_NO_WAIT, &npi);

	if (status == STATUS_SUCCESS)
		WskReleaseProviderNPI(&leaver->rig.registration);
	return status == STATUS_DEVICE_NOT_READY;
}

static bool
sleeps(const char *name)
{
	pid_t thread = thread_find(name);

	return thread != 0 && thread_sleeps(thread);
}

static void
deregistering_waits_for_every_release(void **state)
{
	struct leaver leaver = {.is_gone = false};
	pthread_t thread;

	(void)state;
	rig_open(&leaver.rig);
	assert_int_equal(
		WskCaptureProviderNPI(&leaver.rig.registration, WSK_NO_WAIT, &leaver.rig.wsk),
		STATUS_SUCCESS);
	assert_int_equal(pthread_create(&thread, NULL, end_registration, &leaver), 0);
	/* it has begun: no more captures */
	test_until(is_refused(&leaver), sched_yield());
	WskReleaseProviderNPI(&leaver.rig.registration);
	test_until(sleeps("leaver") || leaver.is_gone, sched_yield());
	assert_false(leaver.is_gone);
	/* what is captured still works */
	assert_int_equal(leaver.rig.wsk.Dispatch->WskControlClient(leaver.rig.wsk.Client, 4711, 0,
								   NULL, 0, NULL, NULL, NULL),
			 STATUS_NOT_SUPPORTED);
	WskReleaseProviderNPI(&leaver.rig.registration);
	pthread_join(thread, NULL);
	assert_true(leaver.is_gone);
}

/* ---- the table ---- */

static void
control_codes_that_are_not_known_are_refused(void **state)
{
	static const ULONG codes[] = {0, 1, 3, WSK_CACHE_SD, WSK_RELEASE_SD, 6, 7, 8, 0x444b444e};
	struct rig_request request;
	struct rig rig;
	SIZE_T returned;
	char out[64];

	(void)state;
	rig_open(&rig);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		returned = 4711;
		memset(out, 0x5a, sizeof(out));
		rig_answered(&request,
			     rig.wsk.Dispatch->WskControlClient(rig.wsk.Client, codes[i], 0, NULL,
								sizeof(out), out, &returned,
								rig_request(&request)),
			     STATUS_NOT_SUPPORTED);
		assert_int_equal(returned, 4711);
		assert_int_equal(out[0], 0x5a);
	}
	rig_close(&rig);
}

static void
there_are_no_transports_for_sockets(void **state)
{
	WSK_TRANSPORT transport = {.Version = 7};
	SIZE_T returned = 4711;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	assert_int_equal(
		rig.wsk.Dispatch->WskControlClient(rig.wsk.Client, WSK_TRANSPORT_LIST_QUERY, 0,
						   NULL, sizeof(transport), &transport, NULL, NULL),
		STATUS_INVALID_PARAMETER);
	assert_int_equal(rig.wsk.Dispatch->WskControlClient(
				 rig.wsk.Client, WSK_TRANSPORT_LIST_QUERY, 0, NULL,
				 sizeof(transport), &transport, &returned, NULL),
			 STATUS_SUCCESS);
	assert_int_equal(returned, 0);
	assert_int_equal(transport.Version, 7);
	rig_close(&rig);
}

static void
the_ndk_table_wants_room_for_all_of_it(void **state)
{
	WSK_PROVIDER_NDK_DISPATCH ndk = {NULL, NULL};
	struct rig_request request;
	struct rig rig;
	SIZE_T returned = 4711;

	(void)state;
	rig_open(&rig);
	assert_int_equal(rig.wsk.Dispatch->WskControlClient(
				 rig.wsk.Client, WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0, NULL,
				 sizeof(ndk) - 1, &ndk, &returned, NULL),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(rig.wsk.Dispatch->WskControlClient(
				 rig.wsk.Client, WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0, NULL,
				 sizeof(ndk), NULL, &returned, NULL),
			 STATUS_INVALID_PARAMETER);
	assert_int_equal(returned, 4711);
	assert_null(ndk.WskOpenNdkAdapter);
	rig_answered(&request,
		     rig.wsk.Dispatch->WskControlClient(
			     rig.wsk.Client, WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0, NULL,
			     sizeof(ndk), &ndk, &returned, rig_request(&request)),
		     STATUS_SUCCESS);
	assert_int_equal(request.information, sizeof(ndk));
	assert_int_equal(returned, sizeof(ndk));
	assert_non_null(ndk.WskOpenNdkAdapter);
	assert_non_null(ndk.WskCloseNdkAdapter);
	rig_close(&rig);
}

/* The request's completion routine is called before the call returns. */
static void
there_are_no_sockets_and_no_names(void **state)
{
	SOCKADDR_IN address = {.sin_family = AF_INET};
	PSOCKADDR at = (PSOCKADDR)(void *)&address;
	UNICODE_STRING name = {0, 0, NULL};
	struct rig_request request;
	struct rig rig;

	(void)state;
	rig_open(&rig);
	rig_answered(&request,
		     rig.wsk.Dispatch->WskSocket(rig.wsk.Client, AF_INET, SOCK_STREAM, 6,
						 WSK_FLAG_CONNECTION_SOCKET, NULL, NULL, NULL, NULL,
						 NULL, rig_request(&request)),
		     STATUS_NOT_SUPPORTED);
	assert_int_equal(request.information, 0);
	rig_answered(&request,
		     rig.wsk.Dispatch->WskSocketConnect(rig.wsk.Client, SOCK_STREAM, 6, at, at, 0,
							NULL, NULL, NULL, NULL, NULL,
							rig_request(&request)),
		     STATUS_NOT_SUPPORTED);
	rig_answered(&request,
		     rig.wsk.Dispatch->WskGetNameInfo(rig.wsk.Client, at, sizeof(address), &name,
						      NULL, 0, NULL, NULL, rig_request(&request)),
		     STATUS_NOT_SUPPORTED);
	assert_int_equal((NTSTATUS)request.information, STATUS_NOT_SUPPORTED);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_registers_captures_releases_and_deregisters),
		cmocka_unit_test(two_registrations_are_two_clients),
		cmocka_unit_test(other_versions_are_registered_and_not_captured),
		cmocka_unit_test(a_refused_call_changes_nothing),
		cmocka_unit_test(after_deregistering_nothing_is_ready),
		cmocka_unit_test(deregistering_waits_for_every_release),
		cmocka_unit_test(control_codes_that_are_not_known_are_refused),
		cmocka_unit_test(there_are_no_transports_for_sockets),
		cmocka_unit_test(the_ndk_table_wants_room_for_all_of_it),
		cmocka_unit_test(there_are_no_sockets_and_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
