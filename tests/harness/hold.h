/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread of this process that stands still, as one does that was preempted, or sits in a
 * debugger: between two of its instructions, wherever it was. Start with hold_thread().
 */
#ifndef HOLD_H
#define HOLD_H

/** Stop the thread of this name. When this returns it stands still, until let_go(). One at a time.
 */
void hold_thread(const char *name);
/** It goes on. */
void let_go(void);

#endif
