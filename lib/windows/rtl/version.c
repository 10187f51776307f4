/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The version of Windows that the kernel surface says it is. Start with RtlVerifyVersionInfo().
 */
#include <wdm.h>

#include <stdbool.h>

enum {
	VERSION_MAJOR = 10,
	VERSION_BUILD = 20348,
	PLATFORM_NT = 2,
	CONDITION_BITS = 3,
	CONDITION_MASK = 7,
};

NTSTATUS
RtlGetVersion(PRTL_OSVERSIONINFOW version)
{
	ULONG size = version->dwOSVersionInfoSize;
	PRTL_OSVERSIONINFOEXW more = (PRTL_OSVERSIONINFOEXW)(void *)version;

	if (size != sizeof(*version) && size != sizeof(*more))
		return STATUS_INVALID_PARAMETER;
	memset(version, 0, size);
	version->dwOSVersionInfoSize = size;
	version->dwMajorVersion = VERSION_MAJOR;
	version->dwBuildNumber = VERSION_BUILD;
	version->dwPlatformId = PLATFORM_NT;
	if (size == sizeof(*more))
		more->wProductType = VER_NT_SERVER;
	return STATUS_SUCCESS;
}

BOOLEAN
RtlIsNtDdiVersionAvailable(ULONG version)
{
	return (BOOLEAN)(version <= NTDDI_WIN10_FE);
}

BOOLEAN
PsGetVersion(PULONG major, PULONG minor, PULONG build, PUNICODE_STRING pack)
{
	if (major != NULL)
		*major = VERSION_MAJOR;
	if (minor != NULL)
		*minor = 0;
	if (build != NULL)
		*build = VERSION_BUILD;
	if (pack != NULL)
		*pack = (UNICODE_STRING){0, 0, NULL};
	return FALSE;
}

/* ---- comparing ---- */

/* The place of a member's condition, which is that of its highest bit in a type mask. */
static unsigned int
shift_of(ULONG type)
{
	return CONDITION_BITS * (31u - (unsigned int)__builtin_clz(type));
}

ULONGLONG
VerSetConditionMask(ULONGLONG mask, ULONG type, UCHAR condition)
{
	condition &= CONDITION_MASK;
	if (type == 0 || type > VER_PRODUCT_TYPE * 2 - 1 || condition == 0)
		return mask;
	return mask | (ULONGLONG)condition << shift_of(type);
}

static UCHAR
condition_of(ULONGLONG mask, ULONG type)
{
	return (UCHAR)(mask >> shift_of(type) & CONDITION_MASK);
}

static bool
is_order(UCHAR condition)
{
	return condition >= VER_EQUAL && condition <= VER_LESS_EQUAL;
}

static bool
satisfies(ULONG is, UCHAR condition, ULONG wanted)
{
	switch (condition) {
	case VER_EQUAL:
		return is == wanted;
	case VER_GREATER:
		return is > wanted;
	case VER_GREATER_EQUAL:
		return is >= wanted;
	case VER_LESS:
		return is < wanted;
	default:
		return is <= wanted;
	}
}

struct member {
	ULONG type, is, wanted;
};

/* Each for itself. */
static bool
all_satisfy(const struct member *members, size_t n, ULONG types, ULONGLONG conditions)
{
	for (size_t i = 0; i < n; i++)
		if ((types & members[i].type) != 0 &&
		    !satisfies(members[i].is, condition_of(conditions, members[i].type),
			       members[i].wanted))
			return false;
	return true;
}

/* As one number: the first that differs decides, else the last. */
static bool
number_satisfies(const struct member *members, size_t n, ULONG types, ULONGLONG conditions)
{
	bool is_satisfied = true;

	for (size_t i = 0; i < n; i++) {
		if ((types & members[i].type) == 0)
			continue;
		is_satisfied = satisfies(members[i].is, condition_of(conditions, members[i].type),
					 members[i].wanted);
		if (members[i].is != members[i].wanted)
			break;
	}
	return is_satisfied;
}

static bool
conditions_are_valid(ULONG types, ULONGLONG conditions)
{
	for (ULONG type = VER_MINORVERSION; type <= VER_PRODUCT_TYPE; type <<= 1) {
		UCHAR condition = condition_of(conditions, type);

		if ((types & type) == 0)
			continue;
		if (type == VER_SUITENAME ? condition != VER_AND && condition != VER_OR
					  : !is_order(condition))
			return false;
	}
	return true;
}

static bool
suite_satisfies(USHORT wanted, UCHAR condition, USHORT is)
{
	return condition == VER_AND ? (is & wanted) == wanted : (is & wanted) != 0 || wanted == 0;
}

NTSTATUS
RtlVerifyVersionInfo(PRTL_OSVERSIONINFOEXW wanted, ULONG types, ULONGLONG conditions)
{
	RTL_OSVERSIONINFOEXW is = {.dwOSVersionInfoSize = sizeof(is)};

	if (wanted->dwOSVersionInfoSize != sizeof(*wanted) || types == 0 ||
	    types >= VER_PRODUCT_TYPE * 2 || !conditions_are_valid(types, conditions))
		return STATUS_INVALID_PARAMETER;
	(void)RtlGetVersion((PRTL_OSVERSIONINFOW)(void *)&is);
	const struct member single[] = {
		{VER_BUILDNUMBER, is.dwBuildNumber, wanted->dwBuildNumber},
		{VER_PLATFORMID, is.dwPlatformId, wanted->dwPlatformId},
		{VER_PRODUCT_TYPE, is.wProductType, wanted->wProductType},
	};
	const struct member number[] = {
		{VER_MAJORVERSION, is.dwMajorVersion, wanted->dwMajorVersion},
		{VER_MINORVERSION, is.dwMinorVersion, wanted->dwMinorVersion},
		{VER_SERVICEPACKMAJOR, is.wServicePackMajor, wanted->wServicePackMajor},
		{VER_SERVICEPACKMINOR, is.wServicePackMinor, wanted->wServicePackMinor},
	};

	if (!all_satisfy(single, ARRAYSIZE(single), types, conditions) ||
	    !number_satisfies(number, ARRAYSIZE(number), types, conditions))
		return STATUS_REVISION_MISMATCH;
	if ((types & VER_SUITENAME) != 0 &&
	    !suite_satisfies(wanted->wSuiteMask, condition_of(conditions, VER_SUITENAME),
			     is.wSuiteMask))
		return STATUS_REVISION_MISMATCH;
	return STATUS_SUCCESS;
}
