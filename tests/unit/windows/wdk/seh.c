/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structured exceptions: the order of blocks, ways out of them, nesting across functions, faults of
 * the machine. Start with an_exception_runs_the_handler().
 */
#include <wdm.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <cmocka.h>

_Static_assert(sizeof(EXCEPTION_RECORD) == 152, "as in Windows");
_Static_assert(offsetof(EXCEPTION_RECORD, ExceptionAddress) == 16, "pointers");
_Static_assert(offsetof(EXCEPTION_RECORD, ExceptionInformation) == 32, "words");

/* The order of events, in letters. */
static char events[64];

static int
note(char event, int value)
{
	size_t length = strlen(events);

	events[length] = event;
	events[length + 1] = 0;
	return value;
}

static int
setup(void **state)
{
	(void)state;
	events[0] = 0;
	return 0;
}

static void
an_exception_runs_the_handler(void **state)
{
	volatile NTSTATUS status = STATUS_SUCCESS;

	(void)state;
	__try {
		note('a', 0);
		ExRaiseStatus(STATUS_NO_MEMORY);
	} __except (note('f', EXCEPTION_EXECUTE_HANDLER)) {
		note('h', 0);
		status = GetExceptionCode();
	}
	assert_string_equal(events, "afh");
	assert_int_equal(status, STATUS_NO_MEMORY);
}

static void
without_an_exception_the_handler_does_not_run(void **state)
{
	(void)state;
	__try {
		note('a', 0);
	} __except (note('f', EXCEPTION_EXECUTE_HANDLER)) {
		note('h', 0);
	}
	__try {
		note('b', 0);
	} __finally {
		note(AbnormalTermination() ? '!' : 'c', 0);
	}
	assert_string_equal(events, "abc");
}

static LONG
filter_of(NTSTATUS code, PEXCEPTION_POINTERS pointers)
{
	assert_int_equal(code, pointers->ExceptionRecord->ExceptionCode);
	assert_null(pointers->ContextRecord);
	assert_non_null(pointers->ExceptionRecord->ExceptionAddress);
	assert_int_equal(pointers->ExceptionRecord->ExceptionFlags, EXCEPTION_NONCONTINUABLE);
	return code == STATUS_ACCESS_VIOLATION;
}

static void
a_filter_chooses_by_the_code(void **state)
{
	volatile NTSTATUS inner = 0, outer = 0;

	(void)state;
	__try {
		__try {
			ExRaiseDatatypeMisalignment();
		} __except (filter_of(GetExceptionCode(), GetExceptionInformation())) {
			inner = GetExceptionCode();
		}
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		outer = GetExceptionCode();
	}
	assert_int_equal(inner, 0);
	assert_int_equal(outer, STATUS_DATATYPE_MISALIGNMENT);
	__try {
		ExRaiseAccessViolation();
	} __except (filter_of(_exception_code(), _exception_info())) {
		inner = exception_code();
	}
	assert_int_equal(inner, STATUS_ACCESS_VIOLATION);
}

static void
a_finally_block_runs_and_the_exception_goes_on(void **state)
{
	volatile NTSTATUS status = 0;

	(void)state;
	__try {
		__try {
			note('a', 0);
			ExRaiseStatus(STATUS_DATA_ERROR);
		} __finally {
			/* What goes on is not what the block catches itself. */
			__try {
				ExRaiseStatus(STATUS_NO_MEMORY);
			} __except (EXCEPTION_EXECUTE_HANDLER) {
				note('c', 0);
			}
			note(AbnormalTermination() ? 'd' : '!', 0);
		}
		note('!', 0);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		status = GetExceptionCode();
	}
	assert_string_equal(events, "acd");
	assert_int_equal(status, STATUS_DATA_ERROR);
}

static void
leave_ends_the_block_from_an_inner_loop(void **state)
{
	int rounds = 0;

	(void)state;
	__try {
		for (;;) {
			switch (rounds++) {
			case 3:
				__leave;
			default:
				break;
			}
		}
	} __finally {
		note(AbnormalTermination() ? '!' : 'f', 0);
	}
	/* A block within a block has its own end. */
	__try {
		__try {
			__leave;
		} __except (note('!', EXCEPTION_EXECUTE_HANDLER)) {
			note('!', 0);
		}
		note('g', 0);
		__leave;
	} __except (note('!', EXCEPTION_EXECUTE_HANDLER)) {
		note('!', 0);
	}
	assert_int_equal(rounds, 4);
	assert_string_equal(events, "fg");
}

static int
returns_from_within(int where)
{
	__try {
		if (where == 0)
			return 10;
		ExRaiseStatus(STATUS_NO_MEMORY);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		if (where == 1)
			return 11;
	}
	return 12;
}

static void
goes_from_within(void)
{
	__try {
		note('g', 0);
		goto out;
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		note('!', 0);
	}
out:
	ExRaiseStatus(STATUS_DATA_ERROR);
}

/* A frame that stayed behind would catch what is raised next. */
static void
a_block_may_be_left_in_any_way(void **state)
{
	volatile NTSTATUS status = 0;
	int rounds;

	(void)state;
	__try {
		assert_int_equal(returns_from_within(0), 10);
		assert_int_equal(returns_from_within(1), 11);
		assert_int_equal(returns_from_within(2), 12);
		goes_from_within();
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		status = GetExceptionCode();
	}
	assert_int_equal(status, STATUS_DATA_ERROR);
	assert_string_equal(events, "g");
	for (rounds = 0;; rounds++) {
		__try {
			if (rounds < 5)
				continue;
			break;
		} __except (EXCEPTION_EXECUTE_HANDLER) {
			note('!', 0);
		}
		note('!', 0);
	}
	assert_int_equal(rounds, 5);
	assert_string_equal(events, "g");
}

static void
a_handler_may_break_and_continue_a_loop_around_it(void **state)
{
	volatile int rounds = 0;

	(void)state;
	for (;;) {
		__try {
			rounds++;
			ExRaiseStatus(STATUS_NO_MEMORY);
		} __except (EXCEPTION_EXECUTE_HANDLER) {
			if (rounds < 3)
				continue;
			break;
		}
		note('!', 0);
	}
	assert_int_equal(rounds, 3);
	switch (rounds) {
	case 3:
		__try {
			ExRaiseStatus(STATUS_NO_MEMORY);
		} __except (EXCEPTION_EXECUTE_HANDLER) {
			break;
		}
		note('!', 0);
	}
	assert_string_equal(events, "");
}

static DECLSPEC_NORETURN void
raise_deep(int depth)
{
	__try {
		if (depth == 0)
			ExRaiseStatus(STATUS_DATA_OVERRUN);
		raise_deep(depth - 1);
	} __finally {
		note('f', 0);
	}
	__builtin_unreachable();
}

static NTSTATUS
handles_its_own(int depth)
{
	volatile NTSTATUS status = 0;

	__try {
		ExRaiseStatus((NTSTATUS)(0xe0000000 + (ULONG)depth));
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		if (depth)
			assert_int_equal(handles_its_own(depth - 1),
					 (NTSTATUS)(0xe0000000 + (ULONG)depth - 1));
		status = GetExceptionCode();
	}
	return status;
}

static void
exceptions_pass_through_functions(void **state)
{
	volatile NTSTATUS status = 0;

	(void)state;
	__try {
		raise_deep(4);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		/* What a function handles within does not change what this one has caught. */
		handles_its_own(10);
		status = GetExceptionCode();
	}
	assert_string_equal(events, "fffff");
	assert_int_equal(status, STATUS_DATA_OVERRUN);
}

/* Deeper than there is memory for, of functions that are past their handlers; then of some that are
 * not. */
static void
descend(int depth)
{
	volatile NTSTATUS status = 0;

	__try {
		ExRaiseStatus(STATUS_NO_MEMORY);
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		status = GetExceptionCode();
	}
	assert_int_equal(status, STATUS_NO_MEMORY);
	if (depth)
		descend(depth - 1);
	else
		handles_its_own(10);
}

static void
handlers_that_have_ended_cost_nothing(void **state)
{
	(void)state;
	descend(100);
}

static void
a_handler_may_raise(void **state)
{
	volatile NTSTATUS status = 0;

	(void)state;
	__try {
		__try {
			ExRaiseStatus(STATUS_NO_MEMORY);
		} __except (EXCEPTION_EXECUTE_HANDLER) {
			ExRaiseStatus(STATUS_DATA_ERROR);
		}
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		status = GetExceptionCode();
	}
	assert_int_equal(status, STATUS_DATA_ERROR);
	/* So may a __finally block, whose exception replaces the former. */
	__try {
		__try {
			ExRaiseStatus(STATUS_NO_MEMORY);
		} __finally {
			ExRaiseStatus(STATUS_DATA_OVERRUN);
		}
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		status = GetExceptionCode();
	}
	assert_int_equal(status, STATUS_DATA_OVERRUN);
	assert_false(AbnormalTermination());
}

static void
to_continue_is_an_exception_itself(void **state)
{
	volatile NTSTATUS status = 0;

	(void)state;
	__try {
		__try {
			ExRaiseStatus(STATUS_NO_MEMORY);
		} __except (EXCEPTION_CONTINUE_EXECUTION) {
			note('!', 0);
		}
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		status = GetExceptionCode();
	}
	assert_int_equal(status, STATUS_NONCONTINUABLE_EXCEPTION);
	assert_string_equal(events, "");
}

static void
older_words_mean_the_same(void **state)
{
	(void)state;
	try {
		try {
			leave;
		} finally {
			note('f', 0);
		}
		ExRaiseStatus(STATUS_NO_MEMORY);
	}
	except(EXCEPTION_EXECUTE_HANDLER)
	{
		note('h', 0);
	}
	assert_string_equal(events, "fh");
}

static ULONG_PTR
fault_at(volatile char *page, bool writes)
{
	volatile ULONG_PTR at = 0;
	ULONG_PTR information[2];

	__try {
		if (writes)
			*page = 1;
		else
			(void)*page;
	} __except (memcpy(information,
			   GetExceptionInformation()->ExceptionRecord->ExceptionInformation,
			   sizeof(information)),
		    GetExceptionCode() == STATUS_ACCESS_VIOLATION) {
		at = information[1];
#ifdef __x86_64__
		assert_int_equal(information[0], writes);
#endif
	}
	return at;
}

/* A block without a call, which no compiler may take for one without an end. */
static ULONG_PTR
fill_without_end(volatile char *from)
{
	volatile ULONG_PTR at = 0;

	__try {
		for (;;)
			*from++ = 1;
	} __except (at = GetExceptionInformation()->ExceptionRecord->ExceptionInformation[1],
		    EXCEPTION_EXECUTE_HANDLER) {
		note('h', 0);
	}
	return at;
}

static void *
fault_again_and_again(void *page)
{
	for (int i = 0; i < 1000; i++)
		assert_int_equal(fault_at(page, i & 1), page);
	return NULL;
}

/* cmocka installs handlers of its own before each test. */
static struct sigaction ours;

static void
a_fault_of_the_machine_is_an_exception(void **state)
{
	struct sigaction cmockas;
	char *page = mmap(NULL, 2 * PAGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[2];

	(void)state;
	sigaction(SIGSEGV, &ours, &cmockas);
	assert_int_equal(fault_at(page, false), 0);
	assert_int_equal(fault_at(page + 5, true), page + 5);
	assert_int_equal(mprotect(page, 2 * PAGE_SIZE, PROT_NONE), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fault_again_and_again,
						page + i * PAGE_SIZE),
				 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(mprotect(page, PAGE_SIZE, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(fill_without_end(page), page + PAGE_SIZE);
	assert_string_equal(events, "h");
	munmap(page, 2 * PAGE_SIZE);
	sigaction(SIGSEGV, &cmockas, NULL);
}

#ifndef __clang__
static void
gcc_keeps_variables_that_a_block_changes(void **state)
{
	int steps = 0;
	char *text = NULL;

	(void)state;
	__try {
		steps = 1;
		note('a', 0);
		steps = 2;
		text = events;
		ExRaiseStatus(STATUS_NO_MEMORY);
		steps = 3;
	} __except (EXCEPTION_EXECUTE_HANDLER) {
		assert_int_equal(steps, 2);
	}
	assert_int_equal(steps, 2);
	assert_ptr_equal(text, events);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(an_exception_runs_the_handler, setup),
		cmocka_unit_test_setup(without_an_exception_the_handler_does_not_run, setup),
		cmocka_unit_test_setup(a_filter_chooses_by_the_code, setup),
		cmocka_unit_test_setup(a_finally_block_runs_and_the_exception_goes_on, setup),
		cmocka_unit_test_setup(leave_ends_the_block_from_an_inner_loop, setup),
		cmocka_unit_test_setup(a_block_may_be_left_in_any_way, setup),
		cmocka_unit_test_setup(a_handler_may_break_and_continue_a_loop_around_it, setup),
		cmocka_unit_test_setup(exceptions_pass_through_functions, setup),
		cmocka_unit_test_setup(handlers_that_have_ended_cost_nothing, setup),
		cmocka_unit_test_setup(a_handler_may_raise, setup),
		cmocka_unit_test_setup(to_continue_is_an_exception_itself, setup),
		cmocka_unit_test_setup(older_words_mean_the_same, setup),
		cmocka_unit_test_setup(a_fault_of_the_machine_is_an_exception, setup),
#ifndef __clang__
		cmocka_unit_test_setup(gcc_keeps_variables_that_a_block_changes, setup),
#endif
	};

	__try {
		sigaction(SIGSEGV, NULL, &ours);
	} __finally {
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
