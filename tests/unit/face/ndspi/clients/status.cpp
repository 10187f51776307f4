// SPDX-License-Identifier: BSD-3-Clause
//
// Statuses as labels of a switch over an HRESULT, and as constants of every other kind.
#include <ntstatus.h>
#define WIN32_NO_STATUS
#include <ndspi.h>

static const HRESULT x_Retry[] = {ND_IO_TIMEOUT, ND_CONNECTION_REFUSED};
enum {
	Overflow = ND_BUFFER_OVERFLOW
};
static_assert(ND_CANCELED < 0, "a constant");

static int
Kind(HRESULT hr)
{
	switch (hr) {
	case ND_SUCCESS:
	case ND_PENDING:
		return 0;
	case ND_BUFFER_OVERFLOW:
		return 1;
	case ND_CANCELED:
	case STATUS_CONNECTION_DISCONNECTED:
		return 2;
	case ((HRESULT)0x80000011):
		return 3;
	default:
		return -1;
	}
}

int
main()
{
	HRESULT hr = x_Retry[1];

	if (Kind(ND_PENDING) != 0 || Kind(Overflow) != 1 || Kind(STATUS_CANCELLED) != 2)
		return 1;
	if (Kind(ND_DEVICE_BUSY) != 3 || Kind(hr) != -1 || hr == ND_IO_TIMEOUT)
		return 2;
	return FAILED(Overflow) ? 0 : 3;
}
