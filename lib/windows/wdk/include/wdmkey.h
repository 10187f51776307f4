/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Io: keys and values of the registry, by handles (Zw) and by paths (Rtl).
 *
 * The registry is what the host read from a file. Changes are kept in memory.
 */
#ifndef PLX_WDK_WDMKEY_H
#define PLX_WDK_WDMKEY_H

#include "wdmdevice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Types of values. */
#define REG_NONE                       0
#define REG_SZ                         1
#define REG_EXPAND_SZ                  2
#define REG_BINARY                     3
#define REG_DWORD                      4
#define REG_DWORD_LITTLE_ENDIAN        4
#define REG_DWORD_BIG_ENDIAN           5
#define REG_LINK                       6
#define REG_MULTI_SZ                   7
#define REG_RESOURCE_LIST              8
#define REG_FULL_RESOURCE_DESCRIPTOR   9
#define REG_RESOURCE_REQUIREMENTS_LIST 10
#define REG_QWORD                      11
#define REG_QWORD_LITTLE_ENDIAN        11

/* Rights to a key. */
#define KEY_QUERY_VALUE        0x0001
#define KEY_SET_VALUE          0x0002
#define KEY_CREATE_SUB_KEY     0x0004
#define KEY_ENUMERATE_SUB_KEYS 0x0008
#define KEY_NOTIFY             0x0010
#define KEY_CREATE_LINK        0x0020
#define KEY_WOW64_64KEY        0x0100
#define KEY_WOW64_32KEY        0x0200
#define KEY_READ               0x00020019
#define KEY_EXECUTE            KEY_READ
#define KEY_WRITE              0x00020006
#define KEY_ALL_ACCESS         0x000f003f

#define REG_OPTION_NON_VOLATILE 0
#define REG_OPTION_VOLATILE     1
#define REG_CREATED_NEW_KEY     1
#define REG_OPENED_EXISTING_KEY 2

typedef enum _KEY_INFORMATION_CLASS {
	KeyBasicInformation = 0,
	KeyNodeInformation = 1,
	KeyFullInformation = 2,
	KeyNameInformation = 3,
} KEY_INFORMATION_CLASS;

typedef struct _KEY_BASIC_INFORMATION {
	LARGE_INTEGER LastWriteTime;
	ULONG TitleIndex;
	ULONG NameLength;
	WCHAR Name[1];
} KEY_BASIC_INFORMATION, *PKEY_BASIC_INFORMATION;

typedef struct _KEY_NODE_INFORMATION {
	LARGE_INTEGER LastWriteTime;
	ULONG TitleIndex;
	ULONG ClassOffset;
	ULONG ClassLength;
	ULONG NameLength;
	WCHAR Name[1];
} KEY_NODE_INFORMATION, *PKEY_NODE_INFORMATION;

typedef struct _KEY_FULL_INFORMATION {
	LARGE_INTEGER LastWriteTime;
	ULONG TitleIndex;
	ULONG ClassOffset;
	ULONG ClassLength;
	ULONG SubKeys;
	ULONG MaxNameLen;
	ULONG MaxClassLen;
	ULONG Values;
	ULONG MaxValueNameLen;
	ULONG MaxValueDataLen;
	WCHAR Class[1];
} KEY_FULL_INFORMATION, *PKEY_FULL_INFORMATION;

typedef struct _KEY_NAME_INFORMATION {
	ULONG NameLength;
	WCHAR Name[1];
} KEY_NAME_INFORMATION, *PKEY_NAME_INFORMATION;

typedef enum _KEY_VALUE_INFORMATION_CLASS {
	KeyValueBasicInformation = 0,
	KeyValueFullInformation = 1,
	KeyValuePartialInformation = 2,
} KEY_VALUE_INFORMATION_CLASS;

typedef struct _KEY_VALUE_BASIC_INFORMATION {
	ULONG TitleIndex;
	ULONG Type;
	ULONG NameLength;
	WCHAR Name[1];
} KEY_VALUE_BASIC_INFORMATION, *PKEY_VALUE_BASIC_INFORMATION;

typedef struct _KEY_VALUE_FULL_INFORMATION {
	ULONG TitleIndex;
	ULONG Type;
	ULONG DataOffset;
	ULONG DataLength;
	ULONG NameLength;
	WCHAR Name[1];
} KEY_VALUE_FULL_INFORMATION, *PKEY_VALUE_FULL_INFORMATION;

typedef struct _KEY_VALUE_PARTIAL_INFORMATION {
	ULONG TitleIndex;
	ULONG Type;
	ULONG DataLength;
	UCHAR Data[1];
} KEY_VALUE_PARTIAL_INFORMATION, *PKEY_VALUE_PARTIAL_INFORMATION;

/* ---- by handles ----
 *
 * A query whose buffer cannot hold the fixed part of the answer fails with
 * STATUS_BUFFER_TOO_SMALL. One that holds the fixed part but not all fills what fits, and fails
 * with STATUS_BUFFER_OVERFLOW. Both set *ResultLength to what is needed. IRQL = PASSIVE_LEVEL.
 *
 * A handle's rights are not asked for: the kernel may do all.
 *
 * Errors: STATUS_INVALID_HANDLE, STATUS_OBJECT_TYPE_MISMATCH, STATUS_KEY_DELETED,
 * STATUS_INVALID_PARAMETER
 */

/** @param ObjectAttributes the path, from \Registry or from a RootDirectory
 * Returns: STATUS_OBJECT_NAME_NOT_FOUND, STATUS_OBJECT_PATH_SYNTAX_BAD */
NTSTATUS ZwOpenKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess,
		   POBJECT_ATTRIBUTES ObjectAttributes) PLX_WIN_NAME(ZwOpenKey);
/** @param OpenOptions 0: others have no meaning here */
NTSTATUS ZwOpenKeyEx(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess,
		     POBJECT_ATTRIBUTES ObjectAttributes, ULONG OpenOptions)
	PLX_WIN_NAME(ZwOpenKeyEx);
/** Open a key, or create its last part.
 * @param CreateOptions REG_OPTION_VOLATILE: never written back to a file
 * @param Disposition   REG_CREATED_NEW_KEY, REG_OPENED_EXISTING_KEY; may be NULL
 * Returns: STATUS_OBJECT_NAME_NOT_FOUND: a part before the last is missing;
 * STATUS_CHILD_MUST_BE_VOLATILE */
NTSTATUS ZwCreateKey(PHANDLE KeyHandle, ACCESS_MASK DesiredAccess,
		     POBJECT_ATTRIBUTES ObjectAttributes, ULONG TitleIndex, PUNICODE_STRING Class,
		     ULONG CreateOptions, PULONG Disposition) PLX_WIN_NAME(ZwCreateKey);
/** Delete a key without subkeys. Returns: STATUS_CANNOT_DELETE */
NTSTATUS ZwDeleteKey(HANDLE KeyHandle) PLX_WIN_NAME(ZwDeleteKey);
NTSTATUS ZwQueryKey(HANDLE KeyHandle, KEY_INFORMATION_CLASS KeyInformationClass,
		    PVOID KeyInformation, ULONG Length, PULONG ResultLength)
	PLX_WIN_NAME(ZwQueryKey);
/** Returns: STATUS_NO_MORE_ENTRIES */
NTSTATUS ZwEnumerateKey(HANDLE KeyHandle, ULONG Index, KEY_INFORMATION_CLASS KeyInformationClass,
			PVOID KeyInformation, ULONG Length, PULONG ResultLength)
	PLX_WIN_NAME(ZwEnumerateKey);
/** Returns: STATUS_OBJECT_NAME_NOT_FOUND */
NTSTATUS ZwQueryValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName,
			 KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
			 PVOID KeyValueInformation, ULONG Length, PULONG ResultLength)
	PLX_WIN_NAME(ZwQueryValueKey);
/** Returns: STATUS_NO_MORE_ENTRIES */
NTSTATUS ZwEnumerateValueKey(HANDLE KeyHandle, ULONG Index,
			     KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
			     PVOID KeyValueInformation, ULONG Length, PULONG ResultLength)
	PLX_WIN_NAME(ZwEnumerateValueKey);
NTSTATUS ZwSetValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName, ULONG TitleIndex, ULONG Type,
		       PVOID Data, ULONG DataSize) PLX_WIN_NAME(ZwSetValueKey);
/** Returns: STATUS_OBJECT_NAME_NOT_FOUND */
NTSTATUS ZwDeleteValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName)
	PLX_WIN_NAME(ZwDeleteValueKey);
/** Changes are in memory: there is nothing to wait for. */
NTSTATUS ZwFlushKey(HANDLE KeyHandle) PLX_WIN_NAME(ZwFlushKey);

typedef enum _DRIVER_REGKEY_TYPE {
	DriverRegKeyParameters,
	DriverRegKeyPersistentState,
	DriverRegKeySharedPersistentState,
} DRIVER_REGKEY_TYPE, *PDRIVER_REGKEY_TYPE;

/** Open the driver's Parameters key, which is created if it is missing.
 * @param RegKeyType DriverRegKeyParameters; others fail with STATUS_NOT_SUPPORTED
 * @param Flags      0
 * Returns: STATUS_INVALID_PARAMETER */
NTSTATUS IoOpenDriverRegistryKey(PDRIVER_OBJECT DriverObject, DRIVER_REGKEY_TYPE RegKeyType,
				 ACCESS_MASK DesiredAccess, ULONG Flags, PHANDLE DriverRegKey)
	PLX_WIN_NAME(IoOpenDriverRegistryKey);

/* ---- by paths ---- */

typedef NTSTATUS RTL_QUERY_REGISTRY_ROUTINE(PWSTR ValueName, ULONG ValueType, PVOID ValueData,
					    ULONG ValueLength, PVOID Context, PVOID EntryContext);
typedef RTL_QUERY_REGISTRY_ROUTINE *PRTL_QUERY_REGISTRY_ROUTINE;

typedef struct _RTL_QUERY_REGISTRY_TABLE {
	PRTL_QUERY_REGISTRY_ROUTINE QueryRoutine;
	ULONG Flags;
	PWSTR Name;
	PVOID EntryContext;
	ULONG DefaultType;
	PVOID DefaultData;
	ULONG DefaultLength;
} RTL_QUERY_REGISTRY_TABLE, *PRTL_QUERY_REGISTRY_TABLE;

/* Flags of an entry. */
#define RTL_QUERY_REGISTRY_SUBKEY    0x00000001
#define RTL_QUERY_REGISTRY_TOPKEY    0x00000002
#define RTL_QUERY_REGISTRY_REQUIRED  0x00000004
#define RTL_QUERY_REGISTRY_NOVALUE   0x00000008
#define RTL_QUERY_REGISTRY_NOEXPAND  0x00000010
#define RTL_QUERY_REGISTRY_DIRECT    0x00000020
#define RTL_QUERY_REGISTRY_DELETE    0x00000040
#define RTL_QUERY_REGISTRY_TYPECHECK 0x00000100

/* With RTL_QUERY_REGISTRY_TYPECHECK the type that a value has to have is in the highest byte of
 * DefaultType, and the type of the default in the others. */
#define RTL_QUERY_REGISTRY_TYPECHECK_SHIFT 24
#define RTL_QUERY_REGISTRY_TYPECHECK_MASK  (0xffu << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT)

/* What a path is relative to. */
#define RTL_REGISTRY_ABSOLUTE   0
#define RTL_REGISTRY_SERVICES   1
#define RTL_REGISTRY_CONTROL    2
#define RTL_REGISTRY_WINDOWS_NT 3
#define RTL_REGISTRY_DEVICEMAP  4
#define RTL_REGISTRY_USER       5
#define RTL_REGISTRY_HANDLE     0x40000000
#define RTL_REGISTRY_OPTIONAL   0x80000000

/**
 * Query several values by a table, which ends with an entry of zeros. The flags, and what
 * EntryContext is with RTL_QUERY_REGISTRY_DIRECT, are those that Windows documents.
 *
 * @param RelativeTo  RTL_REGISTRY_...; with RTL_REGISTRY_HANDLE the path is the handle of a key.
 *                    With RTL_REGISTRY_OPTIONAL a key that is missing has no values
 * @param Context     for the routines
 * @param Environment texts NAME=VALUE, each ended by 0, and an empty one, by which REG_EXPAND_SZ is
 *                    expanded; NULL: there are no variables
 * Returns: STATUS_OBJECT_NAME_NOT_FOUND: the key, or a required value, is missing;
 * STATUS_OBJECT_TYPE_MISMATCH; STATUS_INVALID_PARAMETER; STATUS_BUFFER_TOO_SMALL; what a routine
 * returned
 */
NTSTATUS RtlQueryRegistryValues(ULONG RelativeTo, PCWSTR Path, PRTL_QUERY_REGISTRY_TABLE QueryTable,
				PVOID Context, PVOID Environment)
	PLX_WIN_NAME(RtlQueryRegistryValues);
/** Set a value; the key is created if it is missing. */
NTSTATUS RtlWriteRegistryValue(ULONG RelativeTo, PCWSTR Path, PCWSTR ValueName, ULONG ValueType,
			       PVOID ValueData, ULONG ValueLength)
	PLX_WIN_NAME(RtlWriteRegistryValue);
NTSTATUS RtlDeleteRegistryValue(ULONG RelativeTo, PCWSTR Path, PCWSTR ValueName)
	PLX_WIN_NAME(RtlDeleteRegistryValue);
/** Returns: STATUS_OBJECT_NAME_NOT_FOUND */
NTSTATUS RtlCheckRegistryKey(ULONG RelativeTo, PWSTR Path) PLX_WIN_NAME(RtlCheckRegistryKey);
/** Create a key below one that exists. */
NTSTATUS RtlCreateRegistryKey(ULONG RelativeTo, PWSTR Path) PLX_WIN_NAME(RtlCreateRegistryKey);

#ifdef __cplusplus
}
#endif

#endif
