/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that comes while the host is still opening its adapters: it waits.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "host_process.h"
#include "host_side.h"

static struct host_process host;

static void *
begin(void *context)
{
	(void)context;
	return host_process_begin(&host) ? &host : NULL;
}

static void
who_comes_before_the_adapters_are_open_waits_for_them(void **state)
{
	struct plx_adapter_options options;
	struct plx_adapter *adapter;
	struct plx_why why = {""};
	pthread_t thread;
	void *begun;

	(void)state;
	plx_adapter_options_init(&options);
	snprintf(options.host, sizeof(options.host), "%s", host.path);
	assert_int_equal(pthread_create(&thread, NULL, begin, NULL), 0);
	test_until(access(host.path, F_OK) == 0, (void)0);
	/* The socket has its name a little before somebody listens. */
	test_until(plx_adapter_open("a", &options, &adapter, &why) == PLX_OK,
		   assert_non_null(strstr(why.text, "no host listens")));
	assert_int_equal(plx_adapter_close(adapter), PLX_OK);
	assert_int_equal(pthread_join(thread, &begun), 0);
	assert_ptr_equal(begun, &host);
	assert_true(host_process_end(&host));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_comes_before_the_adapters_are_open_waits_for_them),
	};

	host_process_fork(&host, host_side_offer);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
