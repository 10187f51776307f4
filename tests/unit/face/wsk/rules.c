/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a client of WSK must not do ends the process with one sentence, each in a process of its
 * own. Start with violations[].
 */
#include "wsk_rig.h"

#include <netioapi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "subprocess.h"

static int
release_what_is_not_captured(void)
{
	struct rig rig;

	rig_open(&rig);
	WskReleaseProviderNPI(&rig.registration);
	WskReleaseProviderNPI(&rig.registration);
	return 0;
}

static int
deregister_twice(void)
{
	struct rig rig;

	rig_open(&rig);
	rig_close(&rig);
	WskDeregister(&rig.registration);
	return 0;
}

static int
call_after_the_release(void)
{
	struct rig rig;

	rig_open(&rig);
	WskReleaseProviderNPI(&rig.registration);
	rig.wsk.Dispatch->WskControlClient(rig.wsk.Client, 1, 0, NULL, 0, NULL, NULL, NULL);
	return 0;
}

static int
give_a_request_without_a_location(void)
{
	struct rig_request request;
	struct rig rig;

	rig_open(&rig);
	rig_request(&request);
	IoSetNextIrpStackLocation(request.irp);
	rig.wsk.Dispatch->WskControlClient(rig.wsk.Client, 1, 0, NULL, 0, NULL, NULL, request.irp);
	return 0;
}

static void
raise_level(void)
{
	KIRQL irql;

	KeRaiseIrql(DISPATCH_LEVEL, &irql);
}

static int
wait_at_dispatch_level(void)
{
	struct rig rig;

	rig_open(&rig);
	raise_level();
	WskReleaseProviderNPI(&rig.registration);
	/* without a wait it may */
	WskCaptureProviderNPI(&rig.registration, WSK_NO_WAIT, &rig.wsk);
	WskCaptureProviderNPI(&rig.registration, 1, &rig.wsk);
	return 0;
}

static int
register_at_dispatch_level(void)
{
	WSK_REGISTRATION registration;

	raise_level();
	rig_register(&registration, &rig_dispatch);
	return 0;
}

static int
open_at_dispatch_level(void)
{
	WSK_PROVIDER_NDK_DISPATCH ndk;
	NDK_ADAPTER *adapter;
	struct rig rig;

	rig_open(&rig);
	raise_level();
	rig.wsk.Dispatch->WskControlClient(rig.wsk.Client, WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH, 0,
					   NULL, sizeof(ndk), &ndk, NULL, NULL);
	ndk.WskOpenNdkAdapter(rig.wsk.Client, (NDK_VERSION){1, 2}, 7, &adapter);
	return 0;
}

static int
list_at_dispatch_level(void)
{
	PMIB_IF_TABLE2 table;

	raise_level();
	GetIfTable2(&table);
	return 0;
}

static const struct {
	struct scene scene;
	const char *words;
} violations[] = {
	{{"release_what_is_not_captured", release_what_is_not_captured}, "more often"},
	{{"deregister_twice", deregister_twice}, "not registered"},
	{{"call_after_the_release", call_after_the_release}, "WskControlClient was called"},
	{{"give_a_request_without_a_location", give_a_request_without_a_location}, "location"},
	{{"wait_at_dispatch_level", wait_at_dispatch_level}, "WskCaptureProviderNPI"},
	{{"register_at_dispatch_level", register_at_dispatch_level}, "WskRegister"},
	{{"open_at_dispatch_level", open_at_dispatch_level}, "WskOpenNdkAdapter"},
	{{"list_at_dispatch_level", list_at_dispatch_level}, "GetIfTable2"},
};

static void
a_violation_ends_the_process_with_a_sentence(void **state)
{
	char out[2048];

	(void)state;
	setenv("POLLUX_DBG", "1", 1);
	for (size_t i = 0; i < ARRAYSIZE(violations); i++) {
		int status = scene_run(violations[i].scene.name, out, sizeof(out));

		if (!WIFSIGNALED(status) || strstr(out, violations[i].words) == NULL)
			fail_msg("%s: %#x: %s", violations[i].scene.name, (unsigned int)status,
				 out);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_violation_ends_the_process_with_a_sentence),
	};
	int result = -1;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	for (size_t i = 0; result < 0 && i < ARRAYSIZE(violations); i++)
		result = scene_main(argc, argv, &violations[i].scene, 1);
	return result >= 0 ? result : cmocka_run_group_tests(tests, NULL, NULL);
}
