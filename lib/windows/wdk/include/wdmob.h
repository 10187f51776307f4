/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ob: objects that are counted, and handles to them. Threads are such objects; so are what other
 * rooms make by plx_ke_object_create().
 *
 * A handle holds its object until ZwClose(). All handles are the kernel's, and each is valid in
 * every thread. They are not those of CreateEvent() and the like in libpollux-win.
 * Threads: every call from any thread. Tests: tests/unit/windows/ke/object.c
 */
#ifndef PLX_WDK_WDMOB_H
#define PLX_WDK_WDMOB_H

#include "wdmtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef ULONG ACCESS_MASK, *PACCESS_MASK;
typedef struct _OBJECT_TYPE OBJECT_TYPE, *POBJECT_TYPE;
typedef struct _ACCESS_STATE ACCESS_STATE, *PACCESS_STATE;

#ifndef DELETE
#define DELETE 0x00010000
#endif
#define READ_CONTROL             0x00020000
#define WRITE_DAC                0x00040000
#define WRITE_OWNER              0x00080000
#define STANDARD_RIGHTS_REQUIRED 0x000F0000
#define STANDARD_RIGHTS_READ     READ_CONTROL
#define STANDARD_RIGHTS_WRITE    READ_CONTROL
#define STANDARD_RIGHTS_EXECUTE  READ_CONTROL
#define STANDARD_RIGHTS_ALL      0x001F0000
#define SPECIFIC_RIGHTS_ALL      0x0000FFFF
#define MAXIMUM_ALLOWED          0x02000000

#define OBJ_INHERIT            0x00000002
#define OBJ_PERMANENT          0x00000010
#define OBJ_EXCLUSIVE          0x00000020
#define OBJ_CASE_INSENSITIVE   0x00000040
#define OBJ_OPENIF             0x00000080
#define OBJ_OPENLINK           0x00000100
#define OBJ_KERNEL_HANDLE      0x00000200
#define OBJ_FORCE_ACCESS_CHECK 0x00000400

typedef struct _OBJECT_ATTRIBUTES {
	ULONG Length;
	HANDLE RootDirectory;
	struct _UNICODE_STRING *ObjectName;
	ULONG Attributes;
	PVOID SecurityDescriptor;
	PVOID SecurityQualityOfService;
} OBJECT_ATTRIBUTES, *POBJECT_ATTRIBUTES;
typedef const OBJECT_ATTRIBUTES *PCOBJECT_ATTRIBUTES;

#define InitializeObjectAttributes(p, name, attributes, root, security) \
	do {                                                            \
		(p)->Length = sizeof(OBJECT_ATTRIBUTES);                \
		(p)->RootDirectory = (root);                            \
		(p)->Attributes = (attributes);                         \
		(p)->ObjectName = (name);                               \
		(p)->SecurityDescriptor = (security);                   \
		(p)->SecurityQualityOfService = NULL;                   \
	} while (0)

typedef struct _OBJECT_HANDLE_INFORMATION {
	ULONG HandleAttributes;
	ACCESS_MASK GrantedAccess;
} OBJECT_HANDLE_INFORMATION, *POBJECT_HANDLE_INFORMATION;

/**
 * Get the object of a handle, and hold it until ObDereferenceObject().
 *
 * @param DesiredAccess     not compared with what the handle was opened for: the kernel may do all
 * @param ObjectType        its type, such as *PsThreadType; NULL: any
 * @param AccessMode        KernelMode or UserMode, which are the same here
 * @param HandleInformation NULL, or gets the rights of the handle
 * Returns: STATUS_SUCCESS; STATUS_INVALID_HANDLE; STATUS_OBJECT_TYPE_MISMATCH
 */
NTSTATUS ObReferenceObjectByHandle(HANDLE Handle, ACCESS_MASK DesiredAccess,
				   POBJECT_TYPE ObjectType, KPROCESSOR_MODE AccessMode,
				   PVOID *Object, POBJECT_HANDLE_INFORMATION HandleInformation)
	PLX_WIN_NAME(ObReferenceObjectByHandle);
/** Hold an object, if it has this type.
 * Returns: STATUS_SUCCESS; STATUS_OBJECT_TYPE_MISMATCH */
NTSTATUS ObReferenceObjectByPointer(PVOID Object, ACCESS_MASK DesiredAccess,
				    POBJECT_TYPE ObjectType, KPROCESSOR_MODE AccessMode)
	PLX_WIN_NAME(ObReferenceObjectByPointer);
/**
 * Open a handle to an object.
 * @param PassedAccessState NULL
 * @param ObjectType        NULL: any
 * Returns: STATUS_SUCCESS; STATUS_OBJECT_TYPE_MISMATCH; STATUS_INSUFFICIENT_RESOURCES
 */
NTSTATUS ObOpenObjectByPointer(PVOID Object, ULONG HandleAttributes,
			       PACCESS_STATE PassedAccessState, ACCESS_MASK DesiredAccess,
			       POBJECT_TYPE ObjectType, KPROCESSOR_MODE AccessMode, PHANDLE Handle)
	PLX_WIN_NAME(ObOpenObjectByPointer);
/** Returns: how often it is held now */
LONG_PTR ObfReferenceObject(PVOID Object) PLX_WIN_NAME(ObfReferenceObject);
/** Release a hold; the object is gone with the last.
 * Returns: how often it is still held */
LONG_PTR ObfDereferenceObject(PVOID Object) PLX_WIN_NAME(ObfDereferenceObject);
/** As ObDereferenceObject(); what the object's end does is done at once here, too. */
VOID ObDereferenceObjectDeferDelete(PVOID Object) PLX_WIN_NAME(ObDereferenceObjectDeferDelete);
/** Returns: STATUS_SUCCESS; STATUS_INVALID_HANDLE. At PASSIVE_LEVEL */
NTSTATUS ZwClose(HANDLE Handle) PLX_WIN_NAME(ZwClose);
NTSTATUS ObCloseHandle(HANDLE Handle, KPROCESSOR_MODE PreviousMode) PLX_WIN_NAME(ObCloseHandle);

#define ObReferenceObject(Object)               ObfReferenceObject(Object)
#define ObDereferenceObject(Object)             ObfDereferenceObject(Object)
#define ObReferenceObjectWithTag(Object, Tag)   ((void)(Tag), ObfReferenceObject(Object))
#define ObDereferenceObjectWithTag(Object, Tag) ((void)(Tag), ObfDereferenceObject(Object))

#ifdef __cplusplus
}
#endif

#endif
