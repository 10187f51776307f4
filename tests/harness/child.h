/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of a forked child that shares nothing with its parent's threads: exit(), with what the
 * program and its libraries do then, but for a search for leaks. The child has the allocator's
 * locks as they were, and not the threads that held them: LeakSanitizer would wait for ever.
 * For one file of a program. Start with child_exit().
 */
#ifndef PLX_TEST_CHILD_H
#define PLX_TEST_CHILD_H

#include <stdbool.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
static bool is_child;

/* LeakSanitizer asks before it begins. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return is_child;
}
#endif

static inline _Noreturn void
child_exit(int status)
{
#ifdef __SANITIZE_ADDRESS__
	is_child = true;
#endif
	exit(status);
}

#endif
