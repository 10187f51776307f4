/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exceptions that end the process, each in a process of its own. Start with
 * an_exception_that_nobody_handles_ends_the_process_with_a_sentence().
 */
#include <wdm.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "subprocess.h"

static int
raise_outside(void)
{
	__try {
		ExRaiseStatus(STATUS_NO_MEMORY);
	} __except (EXCEPTION_CONTINUE_SEARCH) {
	}
	return 0;
}

/* A handler of signals that stands for the one of a sanitizer or of the program. */
static void
tell(int number)
{
	_exit(number == SIGSEGV ? 77 : 0);
}

static void
install_first(void)
{
	signal(SIGSEGV, tell);
	__try {
		(void)0;
	} __except (EXCEPTION_EXECUTE_HANDLER) {
	}
}

static int
fault_outside(void)
{
	volatile char *page = mmap(NULL, PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	install_first();
	*page = 1;
	return 0;
}

static int
sent_inside(void)
{
	install_first();
	__try {
		raise(SIGSEGV);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
	}
	return 0;
}

static int
fault_by_default(void)
{
	volatile char *page = mmap(NULL, PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	signal(SIGSEGV, SIG_DFL);
	__try {
		(void)0;
	} __except (EXCEPTION_EXECUTE_HANDLER) {
	}
	*page = 1;
	return 0;
}

static const struct scene scenes[] = {
	{"raise_outside", raise_outside},
	{"fault_outside", fault_outside},
	{"sent_inside", sent_inside},
	{"fault_by_default", fault_by_default},
};

static void
an_exception_that_nobody_handles_ends_the_process_with_a_sentence(void **state)
{
	char out[1024];
	int status = scene_run("raise_outside", out, sizeof(out));

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_string_equal(out, "pollux-ndk: an exception was raised and no __try handles it: "
				 "0xc0000017 (STATUS_NO_MEMORY)\n");
}

static void
a_fault_outside_goes_to_the_handler_of_before(void **state)
{
	char out[1024];
	int status = scene_run("fault_outside", out, sizeof(out));

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 77);
	status = scene_run("fault_by_default", out, sizeof(out));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void
a_signal_that_was_sent_is_no_exception(void **state)
{
	char out[1024];
	int status = scene_run("sent_inside", out, sizeof(out));

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 77);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exception_that_nobody_handles_ends_the_process_with_a_sentence),
		cmocka_unit_test(a_fault_outside_goes_to_the_handler_of_before),
		cmocka_unit_test(a_signal_that_was_sent_is_no_exception),
	};
	int played = scene_main(argc, argv, scenes, sizeof(scenes) / sizeof(*scenes));

	return played < 0 ? cmocka_run_group_tests(tests, NULL, NULL) : played;
}
