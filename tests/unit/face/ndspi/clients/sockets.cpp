// SPDX-License-Identifier: BSD-3-Clause
//
// Sockets beside classes whose members are called as the calls are, and behind code of Linux that
// has used them already.

#include <sys/socket.h>

static inline long
Early(int s)
{
	char c = 0;

	return send(s, &c, 1, 0) + recv(s, &c, 1, 0);
}

#include <winsock2.h>
#include <ws2tcpip.h>

class Peer
{
      public:
	int
	connect() const
	{
		return 1;
	}
	int
	send(const char *)
	{
		return 2;
	}
	template <class T>
	T
	recv(T value)
	{
		return value;
	}
	int select = 4;
};

namespace mine
{
static int
bind(int value)
{
	return value;
}
} // namespace mine

int
main()
{
	Peer peer;
	SOCKADDR_IN address = SOCKADDR_IN();
	int bytes = sizeof(address), type = 0, type_bytes = sizeof(type);
	SOCKET s = ::socket(AF_INET, SOCK_DGRAM, 0);
	u_long waiting = ~0ul;
	ULONG unread = ~0u;
	char data[4];

	if (peer.connect() + peer.send("") + peer.recv(3) + peer.select + mine::bind(5) != 15)
		return 1;
	address.sin_family = AF_INET;
	address.sin_addr.S_un.S_addr = htonl(INADDR_LOOPBACK);
	if (s == INVALID_SOCKET || bind(s, (SOCKADDR *)&address, bytes) == SOCKET_ERROR ||
	    getsockname(s, (SOCKADDR *)&address, &bytes) == SOCKET_ERROR)
		return 2;
	WSASetLastError(0);
	if (recvfrom(s, data, sizeof(data), MSG_DONTWAIT, (SOCKADDR *)&address, &bytes) !=
		    SOCKET_ERROR ||
	    WSAGetLastError() != WSAEWOULDBLOCK)
		return 3;
	if (getsockopt(s, SOL_SOCKET, SO_TYPE, (char *)&type, &type_bytes) || type != SOCK_DGRAM)
		return 4;
	if (accept(s, NULL, NULL) != SOCKET_ERROR || WSAGetLastError() != WSAEOPNOTSUPP)
		return 5;
	if (ioctlsocket(s, FIONREAD, &waiting) || waiting != 0 ||
	    ::ioctlsocket(s, FIONREAD, &unread) || unread != 0)
		return 8;
	if (closesocket(s) || getpeername(s, (SOCKADDR *)&address, &bytes) != SOCKET_ERROR ||
	    WSAGetLastError() != WSAENOTSOCK)
		return 6;
	WSASetLastError(0);
	return Early(-1) == -2 && WSAGetLastError() == WSAENOTSOCK ? 0 : 7;
}
