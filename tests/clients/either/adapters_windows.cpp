/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The addresses that NetworkDirect's adapters have. Empty elsewhere.
 */
#ifdef _WIN32
#include "either.h"

#include <winsock2.h>
#include <ndsupport.h>

#include <vector>

int EITHER_CALL either_addresses(void)
{
	SIZE_T bytes = 0;
	WSADATA data;
	int found = -1;

	if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
		return -1;
	if (NdStartup() == ND_SUCCESS) {
		HRESULT hr = NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, nullptr, &bytes);
		std::vector<char> room(bytes);
		auto *list = reinterpret_cast<SOCKET_ADDRESS_LIST *>(room.data());

		if (hr == ND_BUFFER_OVERFLOW)
			hr = NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, list, &bytes);
		if (SUCCEEDED(hr))
			found = bytes == 0 ? 0 : list->iAddressCount;
		NdCleanup();
	}
	WSACleanup();
	return found;
}
#endif
