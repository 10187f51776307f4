/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A driver that was compiled as a shared object, in its host: libpollux-ndk.so, as ndkhost uses it.
 * Each test loads a copy of the file, since an image that stays is found again by its name.
 * Start with requests_reach_the_driver_and_its_image_goes().
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <plx_io.h>

#include "driver.h"

enum {
	SUCCESS = 0,
	CANCELLED = (int32_t)0xc0000120,
	NAME_NOT_FOUND = (int32_t)0xc0000034,
	BUFFER_TOO_SMALL = (int32_t)0xc0000023,
	INVALID_REQUEST = (int32_t)0xc0000010,
	NO_SUCH_DEVICE = (int32_t)0xc000000e,
	ACCESS_VIOLATION = (int32_t)0xc0000005,
};

/* The driver leaves what is the test's subject. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *
__lsan_default_suppressions(void)
{
	return "leak:IoAllocateWorkItem\nleak:IoAllocateIrp\n";
}

static const char *original; /* the driver's file */
static char image[256];      /* its copy */

static void
copy_image(void)
{
	static uint32_t copies;
	int from = open(original, O_RDONLY | O_CLOEXEC), to;
	struct stat status;

	snprintf(image, sizeof(image), "%s.%d.%u", original, getpid(), copies++);
	to = open(image, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	assert_true(from >= 0 && to >= 0);
	assert_int_equal(fstat(from, &status), 0);
	for (off_t left = status.st_size; left > 0;) {
		ssize_t n = sendfile(to, from, NULL, (size_t)left);

		assert_true(n > 0);
		left -= n;
	}
	close(from);
	close(to);
}

static bool
is_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024];
	bool is_found = false;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL)
		is_found |= strstr(line, image) != NULL;
	fclose(maps);
	return is_found;
}

/* Load the driver with values of its key, such as "Leave=1". */
static struct plx_driver *
load(const char *leave)
{
	struct plx_driver *driver;
	struct plx_why why;
	int32_t status;

	copy_image();
	assert_true(plx_driver_registry_set("iotest", leave, &why));
	if (plx_driver_load(image, "iotest", &driver, &status, &why) != PLX_DRIVER_RUNS)
		fail_msg("%s", why.text);
	assert_int_equal(status, SUCCESS);
	assert_true(is_mapped());
	return driver;
}

static struct plx_driver_file *
open_it(void)
{
	struct plx_driver_file *file;

	assert_int_equal(plx_driver_open("\\\\.\\IoTest", &file), SUCCESS);
	return file;
}

static void
assert_gone(struct plx_driver *driver)
{
	struct plx_driver_report report;

	if (plx_driver_unload(driver, &report) != PLX_DRIVER_GONE || report.findings != 0)
		fail_msg("left: %u, first %s %s", report.findings, report.finding[0].kind,
			 report.finding[0].name);
	assert_false(is_mapped());
	unlink(image);
}

static void
requests_reach_the_driver_and_its_image_goes(void **state)
{
	char in[] = "hello", out[8] = "";
	struct plx_driver_request request = {
		.code = IOTEST_REVERSE, .in = in, .in_bytes = 5, .out = out, .out_bytes = 5};
	struct plx_driver *driver = load("Leave=0");
	struct plx_driver_file *file = open_it();

	(void)state;
	assert_int_equal(plx_driver_ioctl(file, &request), SUCCESS);
	assert_int_equal(request.information, 5);
	assert_string_equal(out, "olleh");
	request.out_bytes = 4;
	assert_int_equal(plx_driver_ioctl(file, &request), BUFFER_TOO_SMALL);
	request.out_bytes = 5;
	request.code = IOTEST_FILL;
	assert_int_equal(plx_driver_ioctl(file, &request), SUCCESS);
	assert_string_equal(out, "hhhhh");
	request.code = IOTEST_COPY;
	assert_int_equal(plx_driver_ioctl(file, &request), SUCCESS);
	assert_string_equal(out, "hello");
	request.out = (void *)(uintptr_t)16;
	assert_int_equal(plx_driver_ioctl(file, &request), ACCESS_VIOLATION);
	request.out = out;
	request.code = 0x222fff;
	assert_int_equal(plx_driver_ioctl(file, &request), INVALID_REQUEST);
	assert_int_equal(plx_driver_read(file, &request), INVALID_REQUEST);
	assert_int_equal(plx_driver_write(file, &request), INVALID_REQUEST);
	plx_driver_close(file);
	assert_gone(driver);
}

static void
parameters_come_from_the_registry(void **state)
{
	uint32_t depth = 0;
	struct plx_driver_request request = {
		.code = IOTEST_DEPTH, .out = &depth, .out_bytes = sizeof(depth)};
	struct plx_driver *driver = load("Leave=0");
	struct plx_driver_file *file = open_it();
	struct plx_why why;

	(void)state;
	assert_int_equal(plx_driver_ioctl(file, &request), SUCCESS);
	assert_int_equal(depth, 16);
	plx_driver_close(file);
	assert_gone(driver);
	assert_true(plx_driver_registry_set("iotest", "Parameters\\Depth=64", &why));
	driver = load("Leave=0");
	file = open_it();
	assert_int_equal(plx_driver_ioctl(file, &request), SUCCESS);
	assert_int_equal(depth, 64);
	plx_driver_close(file);
	assert_gone(driver);
}

static void
a_request_that_takes_too_long_is_cancelled(void **state)
{
	struct plx_driver_request request = {.code = IOTEST_PEND, .timeout_ms = 20};
	struct plx_driver *driver = load("Leave=0");
	struct plx_driver_file *file = open_it();

	(void)state;
	assert_int_equal(plx_driver_ioctl(file, &request), CANCELLED);
	request.code = IOTEST_LATER;
	request.timeout_ms = 0;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(plx_driver_ioctl(file, &request), SUCCESS);
	plx_driver_close(file);
	assert_gone(driver);
}

enum {
	WAITERS = 4,
};

struct waiter {
	pthread_t thread;
	struct plx_driver_file *file;
	int32_t status;
};

static void *
wait_for_nothing(void *context)
{
	struct waiter *waiter = context;
	struct plx_driver_request request = {.code = IOTEST_PEND};

	waiter->status = plx_driver_ioctl(waiter->file, &request);
	return NULL;
}

/* Let threads wait for requests on a file, which the driver has when this returns. */
static void
begin_waiting(struct waiter *waiters, struct plx_driver_file *file, struct plx_driver_file *other)
{
	uint32_t n = 0;
	struct plx_driver_request request = {
		.code = IOTEST_PENDING, .out = &n, .out_bytes = sizeof(n)};

	for (int i = 0; i < WAITERS; i++) {
		waiters[i].file = file;
		assert_int_equal(
			pthread_create(&waiters[i].thread, NULL, wait_for_nothing, &waiters[i]), 0);
	}
	/* the harness limits the test */
	while (n < WAITERS)
		assert_int_equal(plx_driver_ioctl(other, &request), SUCCESS);
}

static void
closing_or_cancelling_a_file_ends_its_requests(void **state)
{
	struct plx_driver *driver = load("Leave=0");
	struct plx_driver_file *other = open_it();
	struct plx_driver_request request = {.code = IOTEST_LATER};

	(void)state;
	for (int is_closed = 0; is_closed < 2; is_closed++) {
		struct plx_driver_file *file = open_it();
		struct waiter waiters[WAITERS];

		begin_waiting(waiters, file, other);
		if (!is_closed)
			plx_driver_cancel(file);
		else
			plx_driver_close(file);
		for (int i = 0; i < WAITERS; i++) {
			pthread_join(waiters[i].thread, NULL);
			assert_int_equal(waiters[i].status, CANCELLED);
		}
		if (!is_closed)
			plx_driver_close(file);
		/* another file goes on */
		assert_int_equal(plx_driver_ioctl(other, &request), SUCCESS);
	}
	plx_driver_close(other);
	assert_gone(driver);
}

static void
an_entry_that_fails_is_told_of_and_unloaded(void **state)
{
	struct plx_driver_report report;
	struct plx_driver *driver;
	struct plx_why why;
	int32_t status;

	(void)state;
	copy_image();
	assert_true(plx_driver_registry_set("iotest", "Leave=1", &why));
	assert_true(plx_driver_registry_set("iotest", "EntryStatus=0xc000009a", &why));
	assert_int_equal(plx_driver_load(image, "iotest", &driver, &status, &why),
			 PLX_DRIVER_ENTRY_FAILED);
	assert_int_equal(status, (int32_t)0xc000009a);
	assert_string_equal(plx_driver_status_name(status), "STATUS_INSUFFICIENT_RESOURCES");
	assert_int_equal(plx_driver_unload(driver, &report), PLX_DRIVER_GONE);
	assert_int_equal(report.findings, 1);
	assert_int_equal(report.finding[0].bytes, 7);
	assert_false(is_mapped());
	unlink(image);
	assert_true(plx_driver_registry_set("iotest", "EntryStatus=0", &why));
}

static void
what_is_no_driver_is_refused(void **state)
{
	struct plx_driver *driver, *other;
	struct plx_why why;
	int32_t status;

	(void)state;
	assert_int_equal(plx_driver_load("/nowhere/x.so", "iotest", &driver, &status, &why),
			 PLX_DRIVER_NO_IMAGE);
	assert_null(driver);
	assert_non_null(strstr(why.text, "/nowhere/x.so cannot be loaded"));
	assert_int_equal(plx_driver_load("/proc/self/exe", "iotest", &driver, &status, &why),
			 PLX_DRIVER_NO_IMAGE);
	driver = load("Leave=0");
	assert_int_equal(plx_driver_load(original, "second", &other, &status, &why),
			 PLX_DRIVER_NO_IMAGE);
	assert_null(other);
	assert_gone(driver);
}

static const struct {
	uint32_t leave;
	const char *kind, *name;
	uint64_t count, bytes;
	bool runs;
} kinds[] = {
	{LEAVE_POOL, "pool block", "'Test'", 2, 128, false},
	{LEAVE_DEVICE, "device", "\\Device\\Forgotten", 1, 0, false},
	{LEAVE_LINK, "symbolic link", "\\??\\ForgottenLink", 1, 0, false},
	{LEAVE_HANDLE, "handle", "", 1, 0, false},
	{LEAVE_WORK_ITEM, "work item", "", 1, 0, false},
	{LEAVE_IRP, "request (IRP)", "", 1, 0, true},
	{LEAVE_TIMER, "timer that is set", "", 1, 0, true},
	{LEAVE_THREAD, "thread", "", 1, 0, true},
	{LEAVE_WORK, "queued work item", "", 1, 0, true},
	/* it never returns: the last, since it keeps a processor busy */
	{LEAVE_DPC, "queued DPC", "", 1, 0, true},
};

static void
whatever_is_left_is_named_and_stays_if_it_would_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct plx_driver_report report;
		const struct plx_driver_finding *found = NULL;
		struct plx_driver *driver;
		char setting[32];

		snprintf(setting, sizeof(setting), "Leave=%u", kinds[i].leave);
		driver = load(setting);
		assert_int_equal(plx_driver_unload(driver, &report),
				 kinds[i].runs ? PLX_DRIVER_STAYS : PLX_DRIVER_GONE);
		for (uint32_t j = 0; j < report.findings; j++)
			if (strcmp(report.finding[j].kind, kinds[i].kind) == 0)
				found = &report.finding[j];
		if (found == NULL)
			fail_msg("no %s among %u", kinds[i].kind, report.findings);
		assert_int_equal(strncmp(found->name, kinds[i].name, strlen(kinds[i].name)), 0);
		assert_int_equal(found->count, kinds[i].count);
		assert_int_equal(found->bytes, kinds[i].bytes);
		assert_int_equal(found->runs, kinds[i].runs);
		assert_int_equal(is_mapped(), kinds[i].runs);
		unlink(image);
	}
}

static void
a_driver_without_unload_stays_and_is_told_of_the_end(void **state)
{
	struct plx_driver_report report;
	struct plx_driver_file *file;
	struct plx_driver *driver;

	(void)state;
	driver = load("Leave=0x400");
	assert_int_equal(plx_driver_unload(driver, &report), PLX_DRIVER_NO_UNLOAD);
	assert_int_equal(report.findings, 0);
	assert_true(is_mapped());
	plx_driver_shut_down(driver);
	/* it runs on */
	file = open_it();
	plx_driver_close(file);
	unlink(image);
}

int
main(int argc, char **argv)
{
	/* the last two leave something in the process */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_reach_the_driver_and_its_image_goes),
		cmocka_unit_test(parameters_come_from_the_registry),
		cmocka_unit_test(a_request_that_takes_too_long_is_cancelled),
		cmocka_unit_test(closing_or_cancelling_a_file_ends_its_requests),
		cmocka_unit_test(an_entry_that_fails_is_told_of_and_unloaded),
		cmocka_unit_test(what_is_no_driver_is_refused),
		cmocka_unit_test(whatever_is_left_is_named_and_stays_if_it_would_run),
		cmocka_unit_test(a_driver_without_unload_stays_and_is_told_of_the_end),
	};

	if (argc != 2)
		return 1;
	original = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
