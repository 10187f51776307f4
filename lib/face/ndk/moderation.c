/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interrupt moderation. It is pure. Start with ndk_moderation_set().
 */
#include "moderation.h"

#include <ntstatus.h>

#include "plx_base.h"

NTSTATUS
ndk_moderation_set(struct ndk_moderation *moderation, ULONG interval_us, ULONG count, ULONG depth)
{
	bool unlimited = interval_us == MAXULONG;
	bool uncounted = count == MAXULONG || count > depth;

	if (unlimited && uncounted)
		return STATUS_INVALID_PARAMETER_MIX;
	*moderation = (struct ndk_moderation){0, 0};
	if (interval_us == 0 || count <= 1)
		return STATUS_SUCCESS;
	moderation->interval_ns = unlimited ? PLX_NEVER : interval_us * PLX_USEC;
	moderation->count = uncounted ? 0 : count;
	return STATUS_SUCCESS;
}

uint64_t
ndk_moderation_due_ns(const struct ndk_moderation *moderation, uint64_t since, uint64_t completions)
{
	if (moderation->count > 0 && completions >= moderation->count)
		return since;
	return plx_time_add(since, moderation->interval_ns);
}
