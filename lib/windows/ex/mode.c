/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mode of a request, and unique ids. Start with ExGetPreviousMode().
 */
#include "ex.h"

#include <sys/random.h>

static _Thread_local KPROCESSOR_MODE previous = KernelMode;

KPROCESSOR_MODE
ExGetPreviousMode(VOID)
{
	return previous;
}

KPROCESSOR_MODE
plx_ex_previous_mode_set(KPROCESSOR_MODE mode)
{
	KPROCESSOR_MODE before = previous;

	previous = mode;
	return before;
}

NTSTATUS
ExUuidCreate(UUID *uuid)
{
	plx_ke_require("ExUuidCreate", PASSIVE_LEVEL);
	if (getrandom(uuid, sizeof(*uuid), 0) != sizeof(*uuid))
		return STATUS_RETRY;
	/* RFC 9562: version 4 of the variant 10. */
	uuid->Data3 = (USHORT)((uuid->Data3 & 0x0fff) | 0x4000);
	uuid->Data4[0] = (UCHAR)((uuid->Data4[0] & 0x3f) | 0x80);
	return STATUS_SUCCESS;
}
