/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Devices with a security descriptor.
 *
 * The descriptor is read, and grants nothing: who can open a device of this process is this process
 * itself.
 */
#ifndef PLX_WDK_WDMSEC_H
#define PLX_WDK_WDMSEC_H

#include "wdm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Letters as in SDDL: P protected; system, administrators, and the world have what follows. */
extern const UNICODE_STRING SDDL_DEVOBJ_KERNEL_ONLY PLX_WIN_NAME(SDDL_DEVOBJ_KERNEL_ONLY);
extern const UNICODE_STRING SDDL_DEVOBJ_SYS_ALL PLX_WIN_NAME(SDDL_DEVOBJ_SYS_ALL);
extern const UNICODE_STRING SDDL_DEVOBJ_SYS_ALL_ADM_ALL PLX_WIN_NAME(SDDL_DEVOBJ_SYS_ALL_ADM_ALL);
extern const UNICODE_STRING SDDL_DEVOBJ_SYS_ALL_ADM_RX PLX_WIN_NAME(SDDL_DEVOBJ_SYS_ALL_ADM_RX);
extern const UNICODE_STRING
	SDDL_DEVOBJ_SYS_ALL_ADM_RWX_WORLD_R PLX_WIN_NAME(SDDL_DEVOBJ_SYS_ALL_ADM_RWX_WORLD_R);
extern const UNICODE_STRING SDDL_DEVOBJ_SYS_ALL_ADM_RWX_WORLD_RW_RES_R
	PLX_WIN_NAME(SDDL_DEVOBJ_SYS_ALL_ADM_RWX_WORLD_RW_RES_R);

/**
 * IoCreateDevice() with a security descriptor and a class of set-up.
 * @param DeviceName       must be given, unless the characteristics ask for a number
 * @param DefaultSDDLString a descriptor in SDDL: "D:" and what follows
 * @param DeviceClassGuid  overrides by the registry are not read; may be NULL
 * Returns: STATUS_INVALID_PARAMETER: not a descriptor, or no name; and as IoCreateDevice()
 */
NTSTATUS IoCreateDeviceSecure(PDRIVER_OBJECT DriverObject, ULONG DeviceExtensionSize,
			      PUNICODE_STRING DeviceName, DEVICE_TYPE DeviceType,
			      ULONG DeviceCharacteristics, BOOLEAN Exclusive,
			      PCUNICODE_STRING DefaultSDDLString, LPCGUID DeviceClassGuid,
			      PDEVICE_OBJECT *DeviceObject) PLX_WIN_NAME(IoCreateDeviceSecure);
#define WdmlibIoCreateDeviceSecure IoCreateDeviceSecure

#ifdef __cplusplus
}
#endif

#endif
