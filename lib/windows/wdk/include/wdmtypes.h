/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The types that all of wdm.h shares. Functions are in the headers of their prefix: wdmrtl.h,
 * wdmke.h, wdmmm.h, wdmex.h and wdmio.h. Nothing of windows.h that is for programs alone is here: a
 * driver that calls it does not compile.
 */
#ifndef PLX_WDK_WDMTYPES_H
#define PLX_WDK_WDMTYPES_H

#include "pollux-kernel.h"

#include <quiet.h>
#include <windef.h>
#include <winnt.h>
#include <ntstatus.h>

#include <string.h>

#include "wdmwords.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef short CSHORT;
typedef ULONG LOGICAL, *PLOGICAL;
typedef LARGE_INTEGER PHYSICAL_ADDRESS, *PPHYSICAL_ADDRESS;
typedef ULONG_PTR PFN_NUMBER, *PPFN_NUMBER;
typedef CCHAR KPROCESSOR_MODE;
typedef struct _IRP IRP, *PIRP;
typedef enum _MODE {
	KernelMode,
	UserMode,
	MaximumMode,
} MODE;
typedef UCHAR KIRQL, *PKIRQL;
typedef struct _DRIVER_OBJECT DRIVER_OBJECT, *PDRIVER_OBJECT;
typedef struct _DEVICE_OBJECT DEVICE_OBJECT, *PDEVICE_OBJECT;
typedef struct _FILE_OBJECT FILE_OBJECT, *PFILE_OBJECT;
typedef struct _EPROCESS *PEPROCESS;
typedef PVOID PSECURITY_DESCRIPTOR;

#ifdef __cplusplus
}
#endif

#endif
