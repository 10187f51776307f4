/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Socket addresses as ND2's methods take and return them: the statuses, the two calls for a length
 * and then for the bytes, the lists.
 * It never resolves names. Start with nd2_address_read().
 */
#include "nd2.h"

HRESULT
nd2_address_read(const struct sockaddr *address, ULONG length, struct plx_ip *ip, uint16_t *port)
{
	enum plx_status status = plx_session_sockaddr_read(address, length, ip, port);

	return status == PLX_OK ? ND_SUCCESS : ND_INVALID_ADDRESS;
}

HRESULT
nd2_address_write(const struct plx_ip *ip, uint16_t port, struct sockaddr *out, ULONG *length)
{
	ULONG given, needed = (ULONG)plx_session_sockaddr_bytes(ip);

	if (!length)
		return ND_INVALID_PARAMETER;
	given = *length;
	*length = needed;
	if (!out || given < needed)
		return ND_BUFFER_OVERFLOW;
	plx_session_sockaddr_write(ip, port, out);
	return ND_SUCCESS;
}

/*
 * The list, its entries, then the addresses, each at a multiple of 8. Even without any address the
 * list has one entry, so that a query without a buffer never succeeds: some callers would then read
 * the buffer that they did not pass.
 */
HRESULT
nd2_address_list(const struct plx_ip *ip, uint32_t n, SOCKET_ADDRESS_LIST *out, ULONG *length)
{
	size_t head = offsetof(SOCKET_ADDRESS_LIST, Address) + n * sizeof(SOCKET_ADDRESS);
	size_t needed, at;
	ULONG given;

	if (!length)
		return ND_INVALID_PARAMETER;
	if (head < sizeof(SOCKET_ADDRESS_LIST))
		head = sizeof(SOCKET_ADDRESS_LIST);
	needed = head;
	for (uint32_t i = 0; i < n; i++)
		needed += (plx_session_sockaddr_bytes(&ip[i]) + 7u) & ~7u;
	given = *length;
	*length = (ULONG)needed;
	if (!out || given < needed)
		return ND_BUFFER_OVERFLOW;
	memset(out, 0, needed);
	out->iAddressCount = (INT)n;
	at = head;
	for (uint32_t i = 0; i < n; i++) {
		out->Address[i].lpSockaddr = (struct sockaddr *)(void *)((char *)out + at);
		out->Address[i].iSockaddrLength = (INT)plx_session_sockaddr_bytes(&ip[i]);
		plx_session_sockaddr_write(&ip[i], 0, (char *)out + at);
		at += (plx_session_sockaddr_bytes(&ip[i]) + 7u) & ~7u;
	}
	return ND_SUCCESS;
}
