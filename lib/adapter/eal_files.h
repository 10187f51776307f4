/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the EAL needs of the file system and leaves behind in it: hugepages, runtime folders.
 * It owns no state that others see. Start with eal_files_sweep().
 */
#ifndef PLX_EAL_FILES_H
#define PLX_EAL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "plx_base.h"

/* Before the process's number, in the names of our runtime folders and hugepage files. */
#define EAL_PREFIX "pollux-"

struct eal_hugepages {
	uint64_t mounted; /* [bytes] free, of sizes with a hugetlbfs that we and root alone may
			   * write to */
	uint64_t all;     /* [bytes] free, of any size */
};

void eal_files_hugepages(struct eal_hugepages *out);

/**
 * Before the EAL starts: see to it that the folder in which DPDK keeps its runtime folders is ours
 * alone, since DPDK itself follows whatever it finds there; and remove from it what dead processes
 * of ours have left, with the hugepage files that hold their memory. Only folders named EAL_PREFIX
 * and owned by the effective user are looked at.
 *
 * Errors: CONFIG (the folder is another user's, a symbolic link, or others may write to it)
 */
enum plx_status eal_files_sweep(struct plx_why *why) PLX_MUST_CHECK;

/** When the process ends, remove its own; the EAL itself is never stopped. */
void eal_files_remove_at_exit(void);

#endif
