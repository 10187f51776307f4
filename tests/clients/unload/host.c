/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver is loaded and unloaded as ndkhost does it, while a callback of its is in flight. Its
 * image goes after DriverUnload: what called it then would crash, and a callback that the close of
 * the adapter did not wait for is reported. Start with main().
 */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include <plx_io.h>

enum {
	ROUNDS = 100,
};

static const char config[] =
	"adapters = ( { name = \"nd0\"; device = \"net_wire0,end=0\"; idle = \"yield\";\n"
	"  packets = 4096; address = [ \"10.78.9.1/24\" ]; } );\n";

static const char *image;

static void
t13_an_image_is_unloaded_when_its_last_callback_has_returned(void **state)
{
	struct plx_driver_report report;
	struct plx_driver *driver;
	struct plx_why why;
	int32_t status;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		if (plx_driver_load(image, "unload", &driver, &status, &why) != PLX_DRIVER_RUNS)
			fail_msg("%s: 0x%08x", why.text, (unsigned int)status);
		assert_int_equal(plx_driver_unload(driver, &report), PLX_DRIVER_GONE);
		assert_int_equal(report.findings, 0);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t13_an_image_is_unloaded_when_its_last_callback_has_returned),
	};
	char path[] = "/tmp/unload.XXXXXX";
	int fd = mkstemp(path), failures;

	if (argc != 2 || fd < 0 || write(fd, config, sizeof(config) - 1) != sizeof(config) - 1)
		return 1;
	close(fd);
	image = argv[1];
	setenv("POLLUX_CONFIG", path, 1);
	setenv("POLLUX_NDK_LOG", "1", 1);
	failures = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failures;
}
