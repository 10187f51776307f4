/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statuses: their names, and their Win32 errors. The names are read from ntstatus.h when the
 * library is built. Start with plx_rtl_status_name().
 */
#include "plx_rtl.h"
#include "plx_rules.h"

#include <wdm.h>

/* In the order of ntstatus.h; the first name of a number is its name. */
static const struct name {
	int32_t status;
	const char *text;
} names[] = {
#include <status_names.inc>
};

const char *
plx_rtl_status_name(int32_t status)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].status == status)
			return names[i].text;
	return "an unknown status";
}

ULONG
RtlNtStatusToDosErrorNoTeb(NTSTATUS status)
{
	return win_error_of_status(status);
}

ULONG
RtlNtStatusToDosError(NTSTATUS status)
{
	return RtlNtStatusToDosErrorNoTeb(status);
}
