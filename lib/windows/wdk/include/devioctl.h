/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control codes of devices: how they are made, and the types of devices. wdm.h has them, too.
 */
#ifndef PLX_WDK_DEVIOCTL_H
#define PLX_WDK_DEVIOCTL_H

#ifndef CTL_CODE

typedef unsigned int DEVICE_TYPE;

/* Bits 31 to 16 the type of the device, 15 and 14 the access the caller has to have, 13 to 2 the
 * function, 1 and 0 how buffers arrive. */
#define CTL_CODE(DeviceType, Function, Method, Access) \
	((ULONG)(DeviceType) << 16 | (ULONG)(Access) << 14 | (ULONG)(Function) << 2 | (Method))
#define DEVICE_TYPE_FROM_CTL_CODE(Code) (((ULONG)(Code)&0xffff0000) >> 16)
#define METHOD_FROM_CTL_CODE(Code)      ((ULONG)(Code)&3)

#define METHOD_BUFFERED             0
#define METHOD_IN_DIRECT            1
#define METHOD_OUT_DIRECT           2
#define METHOD_NEITHER              3
#define METHOD_DIRECT_TO_HARDWARE   METHOD_IN_DIRECT
#define METHOD_DIRECT_FROM_HARDWARE METHOD_OUT_DIRECT

#define FILE_ANY_ACCESS     0
#define FILE_SPECIAL_ACCESS FILE_ANY_ACCESS
#define FILE_READ_ACCESS    1
#define FILE_WRITE_ACCESS   2

#define FILE_DEVICE_BEEP                0x00000001
#define FILE_DEVICE_CD_ROM              0x00000002
#define FILE_DEVICE_CD_ROM_FILE_SYSTEM  0x00000003
#define FILE_DEVICE_CONTROLLER          0x00000004
#define FILE_DEVICE_DATALINK            0x00000005
#define FILE_DEVICE_DFS                 0x00000006
#define FILE_DEVICE_DISK                0x00000007
#define FILE_DEVICE_DISK_FILE_SYSTEM    0x00000008
#define FILE_DEVICE_FILE_SYSTEM         0x00000009
#define FILE_DEVICE_KEYBOARD            0x0000000b
#define FILE_DEVICE_MAILSLOT            0x0000000c
#define FILE_DEVICE_MOUSE               0x0000000f
#define FILE_DEVICE_NAMED_PIPE          0x00000011
#define FILE_DEVICE_NETWORK             0x00000012
#define FILE_DEVICE_NETWORK_BROWSER     0x00000013
#define FILE_DEVICE_NETWORK_FILE_SYSTEM 0x00000014
#define FILE_DEVICE_NULL                0x00000015
#define FILE_DEVICE_PARALLEL_PORT       0x00000016
#define FILE_DEVICE_PHYSICAL_NETCARD    0x00000017
#define FILE_DEVICE_SCANNER             0x00000019
#define FILE_DEVICE_SERIAL_PORT         0x0000001b
#define FILE_DEVICE_SCREEN              0x0000001c
#define FILE_DEVICE_STREAMS             0x0000001e
#define FILE_DEVICE_TAPE                0x0000001f
#define FILE_DEVICE_TRANSPORT           0x00000021
#define FILE_DEVICE_UNKNOWN             0x00000022
#define FILE_DEVICE_VIDEO               0x00000023
#define FILE_DEVICE_VIRTUAL_DISK        0x00000024
#define FILE_DEVICE_NETWORK_REDIRECTOR  0x00000028
#define FILE_DEVICE_BATTERY             0x00000029
#define FILE_DEVICE_BUS_EXTENDER        0x0000002a
#define FILE_DEVICE_MASS_STORAGE        0x0000002d
#define FILE_DEVICE_KS                  0x0000002f
#define FILE_DEVICE_ACPI                0x00000032
#define FILE_DEVICE_SMARTCARD           0x00000031
#define FILE_DEVICE_KSEC                0x00000039
#define FILE_DEVICE_INFINIBAND          0x0000003b

#endif

#endif
