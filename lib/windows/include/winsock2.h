/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Winsock's names for the addresses and sockets of this system: sockaddr_in and sockaddr_in6 have
 * the same layout on both, and AF_INET6 is the number of this system.
 *
 * A SOCKET is a descriptor of Linux. socket(), bind(), send() and the like are declared by the C
 * library. After this header they have other linker names, so that they behave as Windows documents
 * and report errors by WSAGetLastError() as well as in errno. No macro has their names.
 * PLX_WIN_PLAIN_SOCKETS keeps the C library's functions. Sockets are not overlapped, and a socket
 * is not a HANDLE.
 */
#ifndef PLX_WIN_WINSOCK2_H
#define PLX_WIN_WINSOCK2_H

#include "windows.h"
#include "ws2def.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>

typedef UINT_PTR SOCKET;
#define INVALID_SOCKET ((SOCKET) ~(SOCKET)0)
#define SOCKET_ERROR   (-1)

typedef OVERLAPPED WSAOVERLAPPED, *LPWSAOVERLAPPED;
typedef HANDLE WSAEVENT;

#define SD_RECEIVE SHUT_RD
#define SD_SEND    SHUT_WR
#define SD_BOTH    SHUT_RDWR

#define WSA_FLAG_OVERLAPPED        0x01
#define WSA_FLAG_NO_HANDLE_INHERIT 0x80
#define WSA_BUFFERS_MAX            1024
#define WSA_POLL_MAX               4096
#define MSG_PARTIAL                0x8000

typedef struct _WSAPOLLFD {
	SOCKET fd;
	SHORT events;
	SHORT revents;
} WSAPOLLFD, *PWSAPOLLFD, *LPWSAPOLLFD;

typedef void(CALLBACK *LPWSAOVERLAPPED_COMPLETION_ROUTINE)(DWORD error, DWORD bytes,
							   LPWSAOVERLAPPED o, DWORD flags);

/* Events of Winsock are events. */
#define WSA_INVALID_EVENT        ((WSAEVENT)NULL)
#define WSA_INFINITE             INFINITE
#define WSA_WAIT_EVENT_0         WAIT_OBJECT_0
#define WSA_WAIT_TIMEOUT         WAIT_TIMEOUT
#define WSA_WAIT_FAILED          WAIT_FAILED
#define WSA_MAXIMUM_WAIT_EVENTS  MAXIMUM_WAIT_OBJECTS
#define WSACreateEvent()         CreateEventW(NULL, TRUE, FALSE, NULL)
#define WSACloseEvent            CloseHandle
#define WSASetEvent              SetEvent
#define WSAResetEvent            ResetEvent
#define WSAWaitForMultipleEvents WaitForMultipleObjectsEx

#define WSADESCRIPTION_LEN 256
#define WSASYS_STATUS_LEN  128

typedef struct WSAData {
	WORD wVersion;
	WORD wHighVersion;
	USHORT iMaxSockets;
	USHORT iMaxUdpDg;
	char *lpVendorInfo;
	char szDescription[WSADESCRIPTION_LEN + 1];
	char szSystemStatus[WSASYS_STATUS_LEN + 1];
} WSADATA, *LPWSADATA;

#define WSAPROTOCOL_LEN        255
#define WSABASEERR             10000
#define WSAEINTR               10004
#define WSAEBADF               10009
#define WSAEACCES              10013
#define WSAEFAULT              10014
#define WSAEINVAL              10022
#define WSAEMFILE              10024
#define WSAEWOULDBLOCK         10035
#define WSAEINPROGRESS         10036
#define WSAEALREADY            10037
#define WSAENOTSOCK            10038
#define WSAEDESTADDRREQ        10039
#define WSAEMSGSIZE            10040
#define WSAEPROTOTYPE          10041
#define WSAENOPROTOOPT         10042
#define WSAEPROTONOSUPPORT     10043
#define WSAESOCKTNOSUPPORT     10044
#define WSAEOPNOTSUPP          10045
#define WSAEPFNOSUPPORT        10046
#define WSAEAFNOSUPPORT        10047
#define WSAEADDRINUSE          10048
#define WSAEADDRNOTAVAIL       10049
#define WSAENETDOWN            10050
#define WSAENETUNREACH         10051
#define WSAENETRESET           10052
#define WSAECONNABORTED        10053
#define WSAECONNRESET          10054
#define WSAENOBUFS             10055
#define WSAEISCONN             10056
#define WSAENOTCONN            10057
#define WSAESHUTDOWN           10058
#define WSAETOOMANYREFS        10059
#define WSAETIMEDOUT           10060
#define WSAECONNREFUSED        10061
#define WSAELOOP               10062
#define WSAENAMETOOLONG        10063
#define WSAEHOSTDOWN           10064
#define WSAEHOSTUNREACH        10065
#define WSAENOTEMPTY           10066
#define WSAEPROCLIM            10067
#define WSAEUSERS              10068
#define WSAEDQUOT              10069
#define WSAESTALE              10070
#define WSAEREMOTE             10071
#define WSASYSNOTREADY         10091
#define WSAVERNOTSUPPORTED     10092
#define WSANOTINITIALISED      10093
#define WSAEDISCON             10101
#define WSAEINVALIDPROCTABLE   10104
#define WSAEINVALIDPROVIDER    10105
#define WSAEPROVIDERFAILEDINIT 10106
#define WSASYSCALLFAILURE      10107
#define WSATYPE_NOT_FOUND      10109
#define WSA_E_NO_MORE          10110
#define WSA_E_CANCELLED        10111
#define WSAHOST_NOT_FOUND      11001
#define WSATRY_AGAIN           11002
#define WSANO_RECOVERY         11003
#define WSANO_DATA             11004
#define WSA_INVALID_HANDLE     ERROR_INVALID_HANDLE
#define WSA_INVALID_PARAMETER  ERROR_INVALID_PARAMETER
#define WSA_IO_INCOMPLETE      ERROR_IO_INCOMPLETE
#define WSA_IO_PENDING         ERROR_IO_PENDING
#define WSA_NOT_ENOUGH_MEMORY  ERROR_NOT_ENOUGH_MEMORY
#define WSA_OPERATION_ABORTED  ERROR_OPERATION_ABORTED

/* ---- the catalog of providers ---- */

#define MAX_PROTOCOL_CHAIN 7
#define BASE_PROTOCOL      1
#define LAYERED_PROTOCOL   0
#define WSAPROTOCOL_LEN    255

#define BIGENDIAN              0x0000
#define LITTLEENDIAN           0x0001
#define SECURITY_PROTOCOL_NONE 0x0000

#define XP1_CONNECTIONLESS      0x00000001
#define XP1_GUARANTEED_DELIVERY 0x00000002
#define XP1_GUARANTEED_ORDER    0x00000004
#define XP1_MESSAGE_ORIENTED    0x00000008
#define XP1_CONNECT_DATA        0x00000080
#define XP1_DISCONNECT_DATA     0x00000100

#define PFL_MULTIPLE_PROTO_ENTRIES  0x00000001
#define PFL_RECOMMENDED_PROTO_ENTRY 0x00000002
#define PFL_HIDDEN                  0x00000004
#define PFL_MATCHES_PROTOCOL_ZERO   0x00000008
#define PFL_NETWORKDIRECT_PROVIDER  0x00000010

typedef struct _WSAPROTOCOLCHAIN {
	int ChainLen;
	DWORD ChainEntries[MAX_PROTOCOL_CHAIN];
} WSAPROTOCOLCHAIN, *LPWSAPROTOCOLCHAIN;

#define PLX_WIN_PROTOCOL_INFO(letter)                                  \
	typedef struct _WSAPROTOCOL_INFO##letter {                     \
		DWORD dwServiceFlags1;                                 \
		DWORD dwServiceFlags2;                                 \
		DWORD dwServiceFlags3;                                 \
		DWORD dwServiceFlags4;                                 \
		DWORD dwProviderFlags;                                 \
		GUID ProviderId;                                       \
		DWORD dwCatalogEntryId;                                \
		WSAPROTOCOLCHAIN ProtocolChain;                        \
		int iVersion;                                          \
		int iAddressFamily;                                    \
		int iMaxSockAddr;                                      \
		int iMinSockAddr;                                      \
		int iSocketType;                                       \
		int iProtocol;                                         \
		int iProtocolMaxOffset;                                \
		int iNetworkByteOrder;                                 \
		int iSecurityScheme;                                   \
		DWORD dwMessageSize;                                   \
		DWORD dwProviderReserved;                              \
		PLX_WIN_CHAR_##letter szProtocol[WSAPROTOCOL_LEN + 1]; \
	} WSAPROTOCOL_INFO##letter, *LPWSAPROTOCOL_INFO##letter
#define PLX_WIN_CHAR_A char
#define PLX_WIN_CHAR_W WCHAR
PLX_WIN_PROTOCOL_INFO(A);
PLX_WIN_PROTOCOL_INFO(W);

PLX_WIN_BEGIN

int WSAAPI WSAStartup(WORD version, LPWSADATA data) PLX_WIN_NAME(WSAStartup);
int WSAAPI WSACleanup(void) PLX_WIN_NAME(WSACleanup);
int WSAAPI WSAGetLastError(void) PLX_WIN_NAME(WSAGetLastError);
VOID WSAAPI WSASetLastError(int error) PLX_WIN_NAME(WSASetLastError);

/* "192.0.2.1", "192.0.2.1:4000", "2001:db8::1%3", "[2001:db8::1]:4000". info must be NULL. */
INT WSAAPI WSAStringToAddressA(LPSTR text, INT family, LPWSAPROTOCOL_INFOA info, LPSOCKADDR address,
			       LPINT bytes) PLX_WIN_NAME(WSAStringToAddressA);
INT WSAAPI WSAStringToAddressW(LPWSTR text, INT family, LPWSAPROTOCOL_INFOW info,
			       LPSOCKADDR address, LPINT bytes) PLX_WIN_NAME(WSAStringToAddressW);
INT WSAAPI WSAAddressToStringA(LPSOCKADDR address, DWORD bytes, LPWSAPROTOCOL_INFOA info,
			       LPSTR text, LPDWORD chars) PLX_WIN_NAME(WSAAddressToStringA);
/* ---- sockets ---- */

/** Errors: WSAENOTSOCK */
int WSAAPI closesocket(SOCKET s) PLX_WIN_NAME(closesocket);
/** @param command FIONBIO, FIONREAD or SIOCATMARK, else WSAEOPNOTSUPP */
int WSAAPI ioctlsocket(SOCKET s, int command, ULONG *argument) PLX_WIN_NAME(ioctlsocket);
/** Create a socket. @param info NULL. @param flags WSA_FLAG_OVERLAPPED is accepted and ignored;
 * WSA_FLAG_NO_HANDLE_INHERIT. Returns: INVALID_SOCKET: WSAEAFNOSUPPORT and others */
SOCKET WSAAPI WSASocketA(int family, int type, int protocol, LPWSAPROTOCOL_INFOA info, UINT group,
			 DWORD flags) PLX_WIN_NAME(WSASocketA);
SOCKET WSAAPI WSASocketW(int family, int type, int protocol, LPWSAPROTOCOL_INFOW info, UINT group,
			 DWORD flags) PLX_WIN_NAME(WSASocketW);
/** The same as ioctlsocket(), and SIO_KEEPALIVE_VALS (mstcpip.h). @param o NULL */
int WSAAPI WSAIoctl(SOCKET s, DWORD code, LPVOID in, DWORD in_bytes, LPVOID out, DWORD out_bytes,
		    LPDWORD returned, LPWSAOVERLAPPED o, LPWSAOVERLAPPED_COMPLETION_ROUTINE run)
	PLX_WIN_NAME(WSAIoctl);

/**
 * Send from, or receive into, up to WSA_BUFFERS_MAX buffers in order.
 *
 * @param bytes   [out] bytes transferred
 * @param flags   MSG_... of Linux; of a receive also out: MSG_PARTIAL, a datagram was truncated
 * @param o, run  NULL, else WSAEOPNOTSUPP
 * Returns: 0; SOCKET_ERROR: WSAEWOULDBLOCK, WSAEFAULT, WSAEINVAL (buffers), WSAEMSGSIZE and others
 */
int WSAAPI WSASend(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD bytes, DWORD flags,
		   LPWSAOVERLAPPED o, LPWSAOVERLAPPED_COMPLETION_ROUTINE run) PLX_WIN_NAME(WSASend);
int WSAAPI WSARecv(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD bytes, LPDWORD flags,
		   LPWSAOVERLAPPED o, LPWSAOVERLAPPED_COMPLETION_ROUTINE run) PLX_WIN_NAME(WSARecv);
int WSAAPI WSASendTo(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD bytes, DWORD flags,
		     const struct sockaddr *to, int to_bytes, LPWSAOVERLAPPED o,
		     LPWSAOVERLAPPED_COMPLETION_ROUTINE run) PLX_WIN_NAME(WSASendTo);
int WSAAPI WSARecvFrom(SOCKET s, LPWSABUF buffers, DWORD n, LPDWORD bytes, LPDWORD flags,
		       struct sockaddr *from, LPINT from_bytes, LPWSAOVERLAPPED o,
		       LPWSAOVERLAPPED_COMPLETION_ROUTINE run) PLX_WIN_NAME(WSARecvFrom);
/** @param n up to WSA_POLL_MAX, else WSAEINVAL. @param ms negative: no timeout. Returns: the number
 * of sockets with events; 0: timeout; SOCKET_ERROR */
int WSAAPI WSAPoll(LPWSAPOLLFD sockets, ULONG n, INT ms) PLX_WIN_NAME(WSAPoll);

INT WSAAPI WSAAddressToStringW(LPSOCKADDR address, DWORD bytes, LPWSAPROTOCOL_INFOW info,
			       LPWSTR text, LPDWORD chars) PLX_WIN_NAME(WSAAddressToStringW);

PLX_WIN_END

/* u_long has 32 bits on Windows and 64 in the C library: accept a variable of either type. */
static inline int
PlxWinIoctlLong(SOCKET s, int command, unsigned long *argument)
{
	ULONG value = argument ? (ULONG)*argument : 0;
	int result = ioctlsocket(s, command, argument ? &value : 0);

	if (!result)
		*argument = value;
	return result;
}
#ifdef __cplusplus
static inline int
ioctlsocket(SOCKET s, int command, unsigned long *argument)
{
	return PlxWinIoctlLong(s, command, argument);
}
#elif __STDC_VERSION__ >= 201112L
#define ioctlsocket(s, command, argument) \
	_Generic((argument), unsigned long *: PlxWinIoctlLong, default: ioctlsocket)(s, command, \
										     argument)
#endif

/* ---- calls that the C library has by the same name ----
 *
 * Functions and members of a program may have the same names. gcc takes the linker name from a
 * second declaration, also in C++. clang refuses a second declaration in C++ after a use, and has a
 * pragma instead.
 */
#ifndef PLX_WIN_PLAIN_SOCKETS
#ifdef __clang__
#define PLX_WIN_PRAGMA(words)                    _Pragma(#words)
#define PLX_WIN_SOCKET(f, result, arguments)     PLX_WIN_PRAGMA(redefine_extname f plx_win_##f)
#define PLX_WIN_SOCKET_NTH(f, result, arguments) PLX_WIN_SOCKET(f, result, arguments)
#else
#define PLX_WIN_SOCKET(f, result, arguments) extern result f arguments __asm__("plx_win_" #f);
#ifdef __cplusplus
#define PLX_WIN_SOCKET_NTH(f, result, arguments) \
	extern result f arguments __THROW __asm__("plx_win_" #f);
#else
#define PLX_WIN_SOCKET_NTH(f, result, arguments) PLX_WIN_SOCKET(f, result, arguments)
#endif
#endif
#ifndef __SOCKADDR_ARG
#if !defined(__GLIBC__)
#define __SOCKADDR_ARG       struct sockaddr *
#define __CONST_SOCKADDR_ARG const struct sockaddr *
#endif
#endif

PLX_WIN_BEGIN

PLX_WIN_SOCKET_NTH(socket, int, (int family, int type, int protocol))
PLX_WIN_SOCKET_NTH(bind, int, (int s, __CONST_SOCKADDR_ARG address, socklen_t bytes))
PLX_WIN_SOCKET_NTH(listen, int, (int s, int backlog))
/* WSAEWOULDBLOCK: connecting continues, on a nonblocking socket. */
PLX_WIN_SOCKET(connect, int, (int s, __CONST_SOCKADDR_ARG address, socklen_t bytes))
/* An accepted socket is nonblocking if `s` is. */
PLX_WIN_SOCKET(accept, int, (int s, __SOCKADDR_ARG from, socklen_t *bytes))
PLX_WIN_SOCKET_NTH(shutdown, int, (int s, int how))
PLX_WIN_SOCKET_NTH(getsockname, int, (int s, __SOCKADDR_ARG address, socklen_t *bytes))
PLX_WIN_SOCKET_NTH(getpeername, int, (int s, __SOCKADDR_ARG address, socklen_t *bytes))
/* SO_ERROR is a number of Windows; SO_RCVTIMEO and SO_SNDTIMEO are milliseconds in a DWORD, or the
 * structure of Linux. */
PLX_WIN_SOCKET_NTH(getsockopt, int, (int s, int level, int option, void *value, socklen_t *bytes))
PLX_WIN_SOCKET_NTH(setsockopt, int,
		   (int s, int level, int option, const void *value, socklen_t bytes))
/* No SIGPIPE. */
PLX_WIN_SOCKET(send, ssize_t, (int s, const void *data, size_t bytes, int flags))
PLX_WIN_SOCKET(sendto, ssize_t,
	       (int s, const void *data, size_t bytes, int flags, __CONST_SOCKADDR_ARG to,
		socklen_t to_bytes))
/* WSAEMSGSIZE: a datagram was truncated; WSAETIMEDOUT: SO_RCVTIMEO. */
PLX_WIN_SOCKET(recv, ssize_t, (int s, void *data, size_t bytes, int flags))
PLX_WIN_SOCKET(recvfrom, ssize_t,
	       (int s, void *data, size_t bytes, int flags, __SOCKADDR_ARG from,
		socklen_t *from_bytes))
/* The first argument is ignored, and the timeout is not modified. */
PLX_WIN_SOCKET(select, int,
	       (int unused, fd_set *reads, fd_set *writes, fd_set *exceptions,
		struct timeval *timeout))

PLX_WIN_END
#endif

#ifdef __cplusplus
/* A length is an int on Windows. */
template <class Length> struct PlxWinIsInt {
};
template <> struct PlxWinIsInt<int> {
	typedef int type;
};

template <class Length>
inline typename PlxWinIsInt<Length>::type
accept(int s, struct sockaddr *from, Length *bytes)
{
	return accept(s, from, reinterpret_cast<socklen_t *>(bytes));
}

template <class Length>
inline typename PlxWinIsInt<Length>::type
getsockname(int s, struct sockaddr *address, Length *bytes)
{
	return getsockname(s, address, reinterpret_cast<socklen_t *>(bytes));
}

template <class Length>
inline typename PlxWinIsInt<Length>::type
getpeername(int s, struct sockaddr *address, Length *bytes)
{
	return getpeername(s, address, reinterpret_cast<socklen_t *>(bytes));
}

template <class Length>
inline typename PlxWinIsInt<Length>::type
getsockopt(int s, int level, int option, void *value, Length *bytes)
{
	return getsockopt(s, level, option, value, reinterpret_cast<socklen_t *>(bytes));
}

template <class Length>
inline typename PlxWinIsInt<Length>::type
recvfrom(int s, void *data, size_t bytes, int flags, struct sockaddr *from, Length *from_bytes)
{
	return static_cast<int>(
		recvfrom(s, data, bytes, flags, from, reinterpret_cast<socklen_t *>(from_bytes)));
}
#endif

#ifdef UNICODE
#define WSASocket WSASocketW
#else
#define WSASocket WSASocketA
#endif

#ifdef UNICODE
typedef WSAPROTOCOL_INFOW WSAPROTOCOL_INFO, *LPWSAPROTOCOL_INFO;
#define WSAStringToAddress WSAStringToAddressW
#define WSAAddressToString WSAAddressToStringW
#else
typedef WSAPROTOCOL_INFOA WSAPROTOCOL_INFO, *LPWSAPROTOCOL_INFO;
#define WSAStringToAddress WSAStringToAddressA
#define WSAAddressToString WSAAddressToStringA
#endif

#endif
