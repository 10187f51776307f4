/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stack of the calling thread, as the C library knows it. Start with IoGetStackLimits().
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
