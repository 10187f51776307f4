/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The descriptor that a queue wakes its sleepers by: made when somebody first asks for it, so that
 * a queue that is only polled costs none. Start with engine_fd().
 */
#ifndef PLX_WAKE_H
#define PLX_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>

/**
 * The descriptor that `fd` holds (-1: none yet), made by the first who asks; -1 when the system has
 * none left. Any thread.
 *
 * @param made [out] it is new: what happened before nobody has been woken for
 */
int engine_fd(atomic_int *fd, bool *made);

/** Make it readable, if anybody ever asked for one. Any thread. */
void engine_wake(atomic_int *fd);

#endif
