/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drivers in their host, as ndkhost loads them: one opens its adapter by WSK and leaves nothing,
 * one leaves what it has registered. Start with main().
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <plx_io.h>

static const char config[] =
	"adapters = ( { name = \"nd0\"; device = \"net_wire0,end=0\"; idle = \"yield\";\n"
	"  packets = 4096; interface_index = 7; address = [ \"10.78.2.1/24\" ]; } );\n";

static const char *opener, *leaver; /* images */

/* What is left on purpose. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *
__lsan_default_suppressions(void)
{
	return "leak:WskRegister\n";
}

static struct plx_driver *
load(const char *image, const char *service)
{
	struct plx_driver *driver;
	struct plx_why why;
	int32_t status;

	if (plx_driver_load(image, service, &driver, &status, &why) != PLX_DRIVER_RUNS)
		fail_msg("%s", why.text);
	assert_int_equal(status, 0);
	return driver;
}

static void
a_driver_that_opens_its_adapter_by_wsk_leaves_nothing(void **state)
{
	struct plx_driver_report report;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct plx_driver *driver = load(opener, "opener");

		assert_int_equal(plx_driver_unload(driver, &report), PLX_DRIVER_GONE);
		assert_int_equal(report.findings, 0);
	}
}

static void
expect_finding(const struct plx_driver_report *report, const char *kind)
{
	for (uint32_t i = 0; i < report->findings; i++)
		if (strcmp(report->finding[i].kind, kind) == 0) {
			assert_int_equal(report->finding[i].count, 1);
			assert_false(report->finding[i].runs);
			return;
		}
	fail_msg("%s", kind);
}

static void
a_registration_and_a_notification_that_are_left_are_reported(void **state)
{
	struct plx_driver *driver = load(leaver, "leaver");
	struct plx_driver_report report;

	(void)state;
	assert_int_equal(plx_driver_unload(driver, &report), PLX_DRIVER_GONE);
	assert_int_equal(report.findings, 2);
	expect_finding(&report, "WSK registration");
	expect_finding(&report, "notification of changes");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_driver_that_opens_its_adapter_by_wsk_leaves_nothing),
		cmocka_unit_test(a_registration_and_a_notification_that_are_left_are_reported),
	};
	char path[] = "/tmp/wsk_image.XXXXXX";
	int fd = mkstemp(path), failures;

	if (argc != 3 || fd < 0 || write(fd, config, sizeof(config) - 1) != sizeof(config) - 1)
		return 1;
	close(fd);
	opener = argv[1];
	leaver = argv[2];
	setenv("POLLUX_CONFIG", path, 1);
	setenv("POLLUX_NDK_LOG", "1", 1);
	failures = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failures;
}
