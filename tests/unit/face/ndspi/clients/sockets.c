/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets as a C program for Windows has them: lengths are ints, times are milliseconds, and the
 * cause of a failure comes from WSAGetLastError().
 */
#include <winsock2.h>
#include <ws2tcpip.h>

struct calls {
	int send, connect, select;
};

int
main(void)
{
	struct calls calls = {1, 2, 3};
	struct sockaddr_in address = {0};
	int bytes = sizeof(address), error = 0, error_bytes = sizeof(error);
	SOCKET s = socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);
	u_long nonblocking = 1, waiting = ~0ul;
	ULONG blocking = 0;
	DWORD ms = 10;
	char data[4];

	address.sin_family = AF_INET;
	address.sin_addr.s_net = 127;
	address.sin_addr.s_impno = 1;
	if (s == INVALID_SOCKET || bind(s, (SOCKADDR *)&address, bytes) == SOCKET_ERROR ||
	    getsockname(s, (SOCKADDR *)&address, &bytes) == SOCKET_ERROR)
		return 1;
	if (setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, (const char *)&ms, sizeof(ms)) ||
	    recv(s, data, sizeof(data), 0) != SOCKET_ERROR || WSAGetLastError() != WSAETIMEDOUT)
		return 2;
	if (getsockopt(s, SOL_SOCKET, SO_ERROR, (char *)&error, &error_bytes) || error)
		return 3;
	if (ioctlsocket(s, FIONBIO, &nonblocking) || ioctlsocket(s, FIONREAD, &waiting) ||
	    waiting != 0 || recv(s, data, sizeof(data), 0) != SOCKET_ERROR ||
	    WSAGetLastError() != WSAEWOULDBLOCK || ioctlsocket(s, FIONBIO, &blocking))
		return 6;
	if (closesocket(s) || connect(s, (SOCKADDR *)&address, bytes) != SOCKET_ERROR ||
	    WSAGetLastError() != WSAENOTSOCK)
		return 4;
	return calls.send + calls.connect + calls.select == 6 ? 0 : 5;
}
