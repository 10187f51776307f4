/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of Ex share: threads, and waits with a limit.
 */
#ifndef EX_TEST_H
#define EX_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sched.h>

#include <cmocka.h>

#include "plx_ex.h"

#include <plx_ke.h>

enum {
	EX_LIMIT_MS = 60000, /* in which a loaded machine does anything */
};

static inline pthread_t
ex_run(void *(*routine)(void *), void *argument)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, routine, argument), 0);
	return thread;
}

static inline void
ex_join(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Yield until a condition holds. */
#define EX_WAIT_UNTIL(condition)                                                    \
	do {                                                                        \
		ULONGLONG ex_end = KeQueryInterruptTime() + EX_LIMIT_MS * 10000ULL; \
		while (!(condition)) {                                              \
			assert_true(KeQueryInterruptTime() < ex_end);               \
			sched_yield();                                              \
		}                                                                   \
	} while (0)

/* The status that a block raises; STATUS_SUCCESS: none. */
#define EX_RAISES(status, ...)                                \
	do {                                                  \
		volatile NTSTATUS ex_raised = STATUS_SUCCESS; \
		__try {                                       \
			__VA_ARGS__;                          \
		} __except (EXCEPTION_EXECUTE_HANDLER) {      \
			ex_raised = GetExceptionCode();       \
		}                                             \
		assert_int_equal(ex_raised, (status));        \
	} while (0)

#endif
