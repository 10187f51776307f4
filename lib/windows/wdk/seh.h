/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the two halves of structured exceptions share.
 */
#ifndef PLX_WDK_SEH_H
#define PLX_WDK_SEH_H

#include <wdmseh.h>

#include <stdbool.h>

/** Jump to the nearest __try of this thread; without one, end the process. */
DECLSPEC_NORETURN void seh_raise(const EXCEPTION_RECORD *record);
/** From now on faults of this thread are exceptions while it has a frame.
 * @param frames of this thread, where its innermost frame is; outlives every __try of the thread
 * Returns: false: no memory; they are not */
bool seh_watch_faults(struct plx_win_seh_frame *const *frames);

#endif
