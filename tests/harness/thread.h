/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of this process: found by name, looked at, and held, as one is that was preempted, or
 * sits in a debugger: between two of its instructions, wherever it was. Start with thread_find()
 * and thread_hold().
 */
#ifndef PLX_TEST_THREAD_H
#define PLX_TEST_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

/** The thread of this name; 0: there is none. */
pid_t thread_find(const char *name);
/** How many threads have a name that begins so. */
int thread_count(const char *prefix);
/** Does it sleep? Else it runs, or would if it had a core. */
bool thread_sleeps(pid_t thread);

/** Stop the thread of this name. When this returns it stands still, until thread_let_go(). One at a
 * time. */
void thread_hold(const char *name);
/** It goes on. */
void thread_let_go(void);

#endif
