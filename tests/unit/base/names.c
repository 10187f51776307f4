/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts are total, and a broken invariant stops the process.
 * The default of the assertion hook is tested in a child, for it does not return.
 * Start anywhere.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "plx_base.h"

static void
every_status_has_a_sentence_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < PLX_STATUS_COUNT; i++) {
		const char *text = plx_status_text((enum plx_status)i);

		assert_non_null(text);
		assert_true(strlen(text) > 0);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(text, plx_status_text((enum plx_status)j));
	}
	assert_int_equal(PLX_OK, 0);
}

static void
what_is_no_status_has_a_sentence_too(void **state)
{
	static const int none[] = {PLX_STATUS_COUNT, PLX_STATUS_COUNT + 1, -1, INT32_MAX,
				   INT32_MIN};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(none); i++)
		assert_string_equal(plx_status_text((enum plx_status)none[i]), "not a status");
}

static void
every_event_of_a_connection_has_a_sentence_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < PLX_CM_EVENT_COUNT; i++) {
		const char *text = plx_cm_event_text((enum plx_cm_event_kind)i);

		assert_true(strlen(text) > 0);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(text, plx_cm_event_text((enum plx_cm_event_kind)j));
	}
	assert_string_equal(plx_cm_event_text(PLX_CM_EVENT_COUNT), "not an event of a connection");
	assert_string_equal(plx_cm_event_text((enum plx_cm_event_kind) - 1),
			    "not an event of a connection");
}

/* The wire's numbers are 1 to 33; a peer may send any of 16 bits. */
static void
every_reason_of_a_rejection_has_a_sentence(void **state)
{
	unsigned known = 0;

	(void)state;
	for (uint32_t reason = 0; reason <= UINT16_MAX; reason++) {
		const char *text = plx_cm_reason_text(reason);

		assert_non_null(text);
		if (strcmp(text, "not a known reason") != 0) {
			assert_in_range(reason, 1, 33);
			known++;
			for (uint32_t other = 1; other < reason; other++)
				assert_string_not_equal(text, plx_cm_reason_text(other));
		}
	}
	assert_int_equal(known, 33);
	assert_string_equal(plx_cm_reason_text(UINT32_MAX), "not a known reason");
	assert_string_equal(plx_cm_reason_text(PLX_CM_REASON_STALE),
			    "the queue pair is already connected");
}

/* The child's exit: 0 when PLX_ASSERT let it pass. */
static int
child_that_asserts(bool holds)
{
	int status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		(void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		(void)signal(SIGILL, SIG_DFL);
		(void)signal(SIGTRAP, SIG_DFL);
		PLX_ASSERT(holds);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void
an_invariant_that_holds_costs_nothing_and_a_broken_one_stops_the_process(void **state)
{
	(void)state;
	assert_int_equal(child_that_asserts(true), 0);
	assert_true(WIFSIGNALED(child_that_asserts(false)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_a_sentence_of_its_own),
		cmocka_unit_test(what_is_no_status_has_a_sentence_too),
		cmocka_unit_test(every_event_of_a_connection_has_a_sentence_of_its_own),
		cmocka_unit_test(every_reason_of_a_rejection_has_a_sentence),
		cmocka_unit_test(
			an_invariant_that_holds_costs_nothing_and_a_broken_one_stops_the_process),
	};

	return cmocka_run_group_tests_name("base/names", tests, NULL, NULL);
}
