/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What file systems and redirectors include: ntddk.h, and the little beyond it that is here.
 */
#ifndef PLX_WDK_NTIFS_H
#define PLX_WDK_NTIFS_H

#include "ntddk.h"

#define FsRtlEnterFileSystem() KeEnterCriticalRegion()
#define FsRtlExitFileSystem()  KeLeaveCriticalRegion()

#endif
