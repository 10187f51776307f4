/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stack of the calling thread, as the C library knows it. It is as large as the process' limit
 * has it, 8 MiB on most systems, and does not grow beyond that. Start with IoGetStackLimits().
 */
#include "io.h"

#include <pthread.h>

VOID
IoGetStackLimits(PULONG_PTR low, PULONG_PTR high)
{
	pthread_attr_t attributes;
	size_t bytes = 0;
	void *base = NULL;

	/* fails only without memory; then no stack is known to be left */
	if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
		pthread_attr_getstack(&attributes, &base, &bytes);
		pthread_attr_destroy(&attributes);
	}
	*low = (ULONG_PTR)base;
	*high = (ULONG_PTR)base + bytes;
}

ULONG_PTR
IoGetRemainingStackSize(VOID)
{
	ULONG_PTR low, high, here = (ULONG_PTR)__builtin_frame_address(0);

	IoGetStackLimits(&low, &high);
	return here > low && here < high ? here - low : 0;
}

static NTSTATUS
call_with_room(PEXPAND_STACK_CALLOUT callout, PVOID parameter, SIZE_T size)
{
	if (size > MAXIMUM_EXPANSION_SIZE)
		return STATUS_INVALID_PARAMETER_3;
	if (IoGetRemainingStackSize() < size)
		return STATUS_NO_MEMORY;
	callout(parameter);
	return STATUS_SUCCESS;
}

NTSTATUS
KeExpandKernelStackAndCallout(PEXPAND_STACK_CALLOUT callout, PVOID parameter, SIZE_T size)
{
	plx_ke_require("KeExpandKernelStackAndCallout", APC_LEVEL);
	return call_with_room(callout, parameter, size);
}

NTSTATUS
KeExpandKernelStackAndCalloutEx(PEXPAND_STACK_CALLOUT callout, PVOID parameter, SIZE_T size,
				BOOLEAN wait, PVOID context)
{
	(void)context;
	plx_ke_require("KeExpandKernelStackAndCalloutEx", DISPATCH_LEVEL);
	if (wait && KeGetCurrentIrql() == DISPATCH_LEVEL)
		return STATUS_INVALID_PARAMETER_4;
	return call_with_room(callout, parameter, size);
}
