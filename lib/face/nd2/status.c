/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From statuses of Pollux to those of ND2: one total table for completions, one for calls. Start
 * with nd2_completion_status().
 */
#include <ntstatus.h>

#include "nd2_connection.h"

/* A peer's refusal for rights or bounds is reported as the same local error, since clients compare
 * with that. The same holds for a peer that cannot execute a request (for example because its
 * receive is too short). */
static const HRESULT of_completion[PLX_WC_COUNT] = {
	[PLX_WC_SUCCESS] = ND_SUCCESS,
	[PLX_WC_LOCAL_LENGTH] = ND_DATA_OVERRUN, /* of a receive: see below */
	[PLX_WC_LOCAL_PROTECTION] = ND_ACCESS_VIOLATION,
	[PLX_WC_LOCAL_INVALIDATE] = ND_INVALID_DEVICE_REQUEST,
	[PLX_WC_FLUSHED] = ND_CANCELED,
	[PLX_WC_BAD_RESPONSE] = (HRESULT)STATUS_DATA_ERROR,
	[PLX_WC_REMOTE_INVALID_REQUEST] = (HRESULT)STATUS_DATA_ERROR,
	[PLX_WC_REMOTE_ACCESS] = ND_ACCESS_VIOLATION,
	[PLX_WC_REMOTE_OPERATION] = (HRESULT)STATUS_DATA_ERROR,
	[PLX_WC_RETRY_EXCEEDED] = ND_IO_TIMEOUT,
	[PLX_WC_RNR_RETRY_EXCEEDED] = ND_IO_TIMEOUT,
};

static const HRESULT of_call[PLX_STATUS_COUNT] = {
	[PLX_OK] = ND_SUCCESS,
	[PLX_INVALID] = ND_INVALID_PARAMETER,
	[PLX_STATE] = ND_INVALID_DEVICE_STATE,
	[PLX_FULL] = ND_INSUFFICIENT_RESOURCES,
	[PLX_TOO_LONG] = ND_BUFFER_OVERFLOW,
	[PLX_TOO_MANY_SGES] = ND_DATA_OVERRUN,
	[PLX_NO_KEY] = ND_INVALID_PARAMETER,
	[PLX_DENIED] = ND_ACCESS_VIOLATION,
	[PLX_BUSY] = ND_DEVICE_BUSY,
	[PLX_AGAIN] = ND_DEVICE_BUSY,
	[PLX_TIMEOUT] = ND_IO_TIMEOUT,
	[PLX_UNREACHABLE] = ND_NETWORK_UNREACHABLE,
	[PLX_NO_MEMORY] = ND_NO_MEMORY,
	[PLX_NO_DEVICE] = ND_DEVICE_NOT_READY,
	[PLX_CONFIG] = ND_DEVICE_NOT_READY,
	[PLX_GONE] = ND_DEVICE_REMOVED,
};

PLX_HOT HRESULT
nd2_completion_status(uint8_t status, bool receive)
{
	if (plx_unlikely(status == PLX_WC_LOCAL_LENGTH && receive))
		return ND_BUFFER_OVERFLOW;
	return plx_likely(status < PLX_COUNT_OF(of_completion)) ? of_completion[status]
								: ND_INTERNAL_ERROR;
}

HRESULT
nd2_reserve_port(struct plx_session_port_numbers *numbers, uint32_t addresses, uint16_t *port)
{
	enum plx_status status = plx_session_reserve_port(numbers, addresses, port);

	if (status == PLX_BUSY)
		return ND_SHARING_VIOLATION;
	return status == PLX_FULL ? ND_TOO_MANY_ADDRESSES : nd2_call_status(status);
}

HRESULT
nd2_call_status(enum plx_status status)
{
	return (unsigned int)status < PLX_COUNT_OF(of_call) ? of_call[status] : ND_INTERNAL_ERROR;
}
