/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds threads of this process by name, inspects them, and holds them between any two
 * instructions, as if preempted or stopped in a debugger. Start with thread_find() and
 * thread_hold().
 */
#ifndef PLX_TEST_THREAD_H
#define PLX_TEST_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

/** The thread of this name; 0: not found. */
pid_t thread_find(const char *name);
/** How many threads have a name that begins so. */
int thread_count(const char *prefix);
/** Does it sleep? Else it runs, or would if it had a core. */
bool thread_sleeps(pid_t thread);

/** Stop the thread of this name. It is stopped when this returns, until thread_let_go(). One at a
 * time. */
void thread_hold(const char *name);
/** Resume it. */
void thread_let_go(void);

#endif
