/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the EAL uses in the file system and leaves behind in it: hugepages, runtime folders.
 * It owns no shared state. Start with eal_files_sweep().
 */
#ifndef PLX_EAL_FILES_H
#define PLX_EAL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "plx_base.h"

/* Precedes the process's number in the names of our runtime folders and hugepage files. */
#define EAL_PREFIX "pollux-"

struct eal_hugepages {
	uint64_t mounted; /* [bytes] free, of sizes with a hugetlbfs that only we and root write to
			   */
	uint64_t all;     /* [bytes] free, of any size */
};

void eal_files_hugepages(struct eal_hugepages *out);

/**
 * Call this before the EAL starts. Ensure that the folder in which DPDK keeps its runtime folders
 * belongs to us alone, since DPDK itself follows any links in it. Remove what our dead processes
 * have left in it, and the hugepage files that hold their memory. Only folders named EAL_PREFIX and
 * owned by the effective user are examined.
 *
 * Errors: CONFIG (the folder is another user's, a symbolic link, or others may write to it)
 */
enum plx_status eal_files_sweep(struct plx_why *why) PLX_MUST_CHECK;

/** Remove this process's files when it exits. The EAL itself is never stopped. */
void eal_files_remove_at_exit(void);

#endif
