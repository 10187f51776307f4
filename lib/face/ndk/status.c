/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From statuses of Pollux to NT's: one total table for completions, one for calls. Start with
 * ndk_completion_status().
 */
#include <ntstatus.h>

#include "ndk.h"

static const NTSTATUS of_completion[PLX_WC_COUNT] = {
	[PLX_WC_SUCCESS] = STATUS_SUCCESS,
	[PLX_WC_LOCAL_LENGTH] = STATUS_DATA_OVERRUN, /* of a receive: see below */
	[PLX_WC_LOCAL_PROTECTION] = STATUS_ACCESS_VIOLATION,
	[PLX_WC_LOCAL_INVALIDATE] = STATUS_INVALID_DEVICE_REQUEST,
	[PLX_WC_FLUSHED] = STATUS_CANCELLED,
	[PLX_WC_BAD_RESPONSE] = STATUS_INTERNAL_ERROR,
	[PLX_WC_REMOTE_INVALID_REQUEST] = STATUS_REMOTE_RESOURCES,
	[PLX_WC_REMOTE_ACCESS] = STATUS_REMOTE_RESOURCES,
	[PLX_WC_REMOTE_OPERATION] = STATUS_REMOTE_RESOURCES,
	[PLX_WC_RETRY_EXCEEDED] = STATUS_IO_TIMEOUT,
	[PLX_WC_RNR_RETRY_EXCEEDED] = STATUS_IO_TIMEOUT,
};

static const NTSTATUS of_call[PLX_STATUS_COUNT] = {
	[PLX_OK] = STATUS_SUCCESS,
	[PLX_INVALID] = STATUS_INVALID_PARAMETER,
	[PLX_STATE] = STATUS_INVALID_DEVICE_REQUEST,
	[PLX_FULL] = STATUS_INSUFFICIENT_RESOURCES,
	[PLX_TOO_LONG] = STATUS_BUFFER_OVERFLOW,
	[PLX_TOO_MANY_SGES] = STATUS_DATA_OVERRUN,
	[PLX_NO_KEY] = STATUS_INVALID_PARAMETER,
	[PLX_DENIED] = STATUS_ACCESS_VIOLATION,
	[PLX_BUSY] = STATUS_INVALID_DEVICE_REQUEST,
	[PLX_AGAIN] = STATUS_INSUFFICIENT_RESOURCES,
	[PLX_TIMEOUT] = NDK_STALLED,
	[PLX_UNREACHABLE] = STATUS_NETWORK_UNREACHABLE,
	[PLX_NO_MEMORY] = STATUS_INSUFFICIENT_RESOURCES,
	[PLX_NO_DEVICE] = STATUS_INTERNAL_ERROR,
	[PLX_CONFIG] = STATUS_INTERNAL_ERROR,
	[PLX_GONE] = STATUS_DEVICE_REMOVED,
};

PLX_HOT NTSTATUS
ndk_completion_status(uint8_t status, bool receive)
{
	if (plx_unlikely(status == PLX_WC_LOCAL_LENGTH && receive))
		return STATUS_BUFFER_OVERFLOW;
	return plx_likely(status < PLX_COUNT_OF(of_completion)) ? of_completion[status]
								: STATUS_INTERNAL_ERROR;
}

NTSTATUS
ndk_call_status(enum plx_status status)
{
	return (unsigned int)status < PLX_COUNT_OF(of_call) ? of_call[status]
							    : STATUS_INTERNAL_ERROR;
}

/* Statuses that a post reports differently from other calls. */
NTSTATUS
ndk_refusal(enum plx_status why)
{
	if (why == PLX_FULL)
		return STATUS_NO_MORE_ENTRIES;
	return why == PLX_STATE ? STATUS_CONNECTION_INVALID : ndk_call_status(why);
}
