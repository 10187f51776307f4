/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names for ND2's numbers, for people and for JSON. It has the lists of an adapter's properties to
 * show. Start with limits.
 */
#include "info.h"

#include <stdio.h>
#include <string.h>

#define LIMIT(member)                                           \
	{                                                       \
#member, offsetof(ND2_ADAPTER_INFO, member),    \
			sizeof(((ND2_ADAPTER_INFO *)0)->member) \
	}

const struct limit limits[] = {
	LIMIT(VendorId),
	LIMIT(DeviceId),
	LIMIT(MaxRegistrationSize),
	LIMIT(MaxWindowSize),
	LIMIT(MaxInitiatorSge),
	LIMIT(MaxReceiveSge),
	LIMIT(MaxReadSge),
	LIMIT(MaxTransferLength),
	LIMIT(MaxInlineDataSize),
	LIMIT(MaxInboundReadLimit),
	LIMIT(MaxOutboundReadLimit),
	LIMIT(MaxReceiveQueueDepth),
	LIMIT(MaxInitiatorQueueDepth),
	LIMIT(MaxSharedReceiveQueueDepth),
	LIMIT(MaxCompletionQueueDepth),
	LIMIT(InlineRequestThreshold),
	LIMIT(LargeRequestThreshold),
	LIMIT(MaxCallerData),
	LIMIT(MaxCalleeData),
};

const uint32_t limit_count = sizeof(limits) / sizeof(limits[0]);

const struct flag flags[] = {
	{"IN_ORDER_DMA", ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED},
	{"CQ_INTERRUPT_MODERATION", ND_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED},
	{"MULTI_ENGINE", ND_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED},
	{"CQ_RESIZE", ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED},
	{"LOOPBACK_CONNECTIONS", ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED},
};

const uint32_t flag_count = sizeof(flags) / sizeof(flags[0]);

uint64_t
limit_value(const ND2_ADAPTER_INFO *info, const struct limit *limit)
{
	const char *at = (const char *)info + limit->offset;
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	switch (limit->size) {
	case sizeof(wide):
		memcpy(&wide, at, sizeof(wide));
		return wide;
	case sizeof(word):
		memcpy(&word, at, sizeof(word));
		return word;
	default:
		memcpy(&half, at, sizeof(half));
		return half;
	}
}

#define STATUS(name)        \
	{                   \
		name, #name \
	}

/* The statuses that examining a provider and opening an adapter may return. */
static const struct {
	HRESULT status;
	const char *name;
} statuses[] = {
	STATUS(ND_SUCCESS),
	STATUS(ND_BUFFER_OVERFLOW),
	STATUS(ND_DEVICE_BUSY),
	STATUS(ND_UNSUCCESSFUL),
	STATUS(ND_ACCESS_VIOLATION),
	STATUS(ND_INVALID_PARAMETER),
	STATUS(ND_INVALID_DEVICE_REQUEST),
	STATUS(ND_NO_MEMORY),
	STATUS(ND_SHARING_VIOLATION),
	STATUS(ND_INSUFFICIENT_RESOURCES),
	STATUS(ND_DEVICE_NOT_READY),
	STATUS(ND_IO_TIMEOUT),
	STATUS(ND_NOT_SUPPORTED),
	STATUS(ND_INTERNAL_ERROR),
	STATUS(ND_INVALID_ADDRESS),
	STATUS(ND_INVALID_DEVICE_STATE),
	STATUS(ND_DEVICE_REMOVED),
	STATUS(E_NOINTERFACE),
	STATUS(E_POINTER),
	STATUS(CLASS_E_CLASSNOTAVAILABLE),
};

const char *
status_name(HRESULT status, char room[16])
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].status == status)
			return statuses[i].name;
	snprintf(room, 16, "0x%08x", (unsigned)status);
	return room;
}

const char *
guid_text(const GUID *id, char room[39])
{
	const uint8_t *d = id->Data4;

	snprintf(room, 39, "{%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}", id->Data1,
		 id->Data2, id->Data3, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]);
	return room;
}

const char *
family_name(int family, char room[16])
{
	if (family == AF_INET)
		return "IPv4";
	if (family == AF_INET6)
		return "IPv6";
	snprintf(room, 16, "%d", family);
	return room;
}

/* Copy ASCII; replace everything else by a question mark, since any terminal may show it. */
void
text_of_wide(const WCHAR *wide, char *out, size_t size)
{
	size_t n = 0;

	for (; wide && wide[n] && n + 1 < size; n++)
		out[n] = wide[n] >= L' ' && wide[n] <= L'~' ? (char)wide[n] : '?';
	out[n] = '\0';
}
