/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hugepages for tests: reserves and releases them, and gives this process a private view of the
 * file system with or without them. Needs root. Start with huge_reserve().
 */
#ifndef HUGE_H
#define HUGE_H

#include <stdbool.h>
#include <stdint.h>

/** See to it that `pages` hugepages of 2 MiB are free. Returns: whether they are */
bool huge_reserve(uint32_t pages);
/** Restore the previous reservation. */
void huge_restore(void);

/** [2 MiB pages] free */
uint32_t huge_free(void);

/** From here on this process sees no hugetlbfs. */
bool huge_unmount_all(void);
/** ... but one, at `folder`. */
bool huge_mount_at(const char *folder);
/** From here on this process sees a system that has no hugepages at all. */
bool huge_hide(void);

#endif
