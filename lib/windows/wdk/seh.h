/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the two halves of structured exceptions share.
 */
#ifndef PLX_WDK_SEH_H
#define PLX_WDK_SEH_H

#include <wdmseh.h>

#include <stdbool.h>

/** Is a __try running on this thread? Threads: also in a handler of signals. */
bool seh_has_frame(void);
/** Jump to the nearest __try of this thread; without one, end the process. */
DECLSPEC_NORETURN void seh_raise(const EXCEPTION_RECORD *record);
/** From now on faults of threads with a __try are exceptions. */
void seh_watch_faults(void);

#endif
