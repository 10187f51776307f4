/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Port numbers in use: separate spaces for connectors and listeners, with one bit for each port of
 * each address.
 * It never takes a lock. Start with plx_session_reserve_port().
 */
#include "internal.h"

static bool
is_free(const struct plx_session_port_numbers *numbers, uint32_t addresses, uint16_t port)
{
	for (uint32_t i = 0; i < PLX_ADAPTER_ADDRESSES_MAX; i++)
		if (addresses >> i & 1 && numbers->bits[i][port / 64] >> port % 64 & 1)
			return false;
	return true;
}

/* Choose in rotation, so that no number is reused soon.
 * Returns: 0: all are in use */
static uint16_t
choose(struct plx_session_port_numbers *numbers, uint32_t addresses)
{
	const uint32_t ports = 65536 - PLX_SESSION_FIRST_PORT;

	for (uint32_t i = 0; i < ports; i++) {
		uint16_t port = (uint16_t)(PLX_SESSION_FIRST_PORT + (numbers->next + i) % ports);

		if (!is_free(numbers, addresses, port))
			continue;
		numbers->next = (uint16_t)((numbers->next + i + 1) % ports);
		return port;
	}
	return 0;
}

enum plx_status
plx_session_reserve_port(struct plx_session_port_numbers *numbers, uint32_t addresses,
			 uint16_t *port)
{
	uint16_t chosen = *port ? *port : choose(numbers, addresses);

	if (chosen == 0)
		return PLX_FULL;
	if (!is_free(numbers, addresses, chosen))
		return PLX_BUSY;
	for (uint32_t i = 0; i < PLX_ADAPTER_ADDRESSES_MAX; i++)
		if (addresses >> i & 1)
			numbers->bits[i][chosen / 64] |= UINT64_C(1) << chosen % 64;
	*port = chosen;
	return PLX_OK;
}

void
plx_session_release_port(struct plx_session_port_numbers *numbers, uint32_t addresses,
			 uint16_t port)
{
	for (uint32_t i = 0; i < PLX_ADAPTER_ADDRESSES_MAX; i++)
		if (addresses >> i & 1)
			numbers->bits[i][port / 64] &= ~(UINT64_C(1) << port % 64);
}

uint32_t
plx_session_addresses(const struct plx_session *session, const struct plx_ip *ip)
{
	const bool any = plx_session_ip_is_any(ip);
	uint32_t bits = 0;

	for (uint32_t i = 0; i < session->info.addresses; i++)
		if (any ? session->info.address[i].version == ip->version
			: plx_session_ip_equal(&session->info.address[i], ip))
			bits |= 1u << i;
	return bits;
}
