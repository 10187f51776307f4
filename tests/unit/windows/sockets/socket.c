/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets by the calls of Windows, and the members that addresses have there.
 */
#include "bench.h"

#include <winsock2.h>
#include <ws2tcpip.h>
#include <mstcpip.h>
#include <mswsock.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void
addresses_have_their_members_of_both_systems(void **state)
{
	struct in_addr four = {0x0100007f};
	struct in6_addr six = IN6ADDR_LOOPBACK_INIT;
	SOCKADDR_IN6 mapped, same;

	(void)state;
	assert_true(four.S_un.S_addr == four.s_addr && sizeof(four) == 4 && sizeof(six) == 16);
	assert_true(four.S_un.S_un_b.s_b1 == 127 && four.S_un.S_un_b.s_b4 == 1);
	assert_true(four.S_un.S_un_w.s_w1 == 127 && four.S_un.S_un_w.s_w2 == 0x100);
	assert_true(four.s_net == 127 && four.s_host == 0 && four.s_lh == 0 && four.s_impno == 1);
	assert_true(four.s_imp == four.S_un.S_un_w.s_w2);
	assert_true(six.u.Byte[15] == 1 && six.s6_addr[15] == 1 && six.u.Word[7] == htons(1));
	assert_true(IN6_IS_ADDR_LOOPBACK(&six) && six.s6_addr32[3] == htonl(1));
	IN6ADDR_SETV4MAPPED(&mapped, &four, 3, htons(80));
	assert_true(mapped.sin6_family == AF_INET6 && mapped.sin6_port == htons(80) &&
		    mapped.sin6_scope_id == 3 && IN6ADDR_ISV4MAPPED(&mapped));
	assert_memory_equal(IN6_GET_ADDR_V4MAPPED(&mapped.sin6_addr), &four, 4);
	IN6ADDR_SETLOOPBACK(&same);
	assert_true(IN6ADDR_ISLOOPBACK(&same) && IN6_ADDR_EQUAL(&same.sin6_addr, &six));
	assert_false(IN6ADDR_ISEQUAL(&same, &mapped));
	IN6ADDR_SETANY(&same);
	assert_true(IN6ADDR_ISANY(&same));
}

static void
data_goes_through_several_buffers(void **state)
{
	SOCKET receiver = WSASocketW(AF_INET, SOCK_DGRAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED);
	SOCKET sender = WSASocketA(AF_INET, SOCK_DGRAM, 0, NULL, 0, WSA_FLAG_NO_HANDLE_INHERIT);
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.S_un.S_addr = htonl(0x7f000001)};
	struct sockaddr_in from;
	socklen_t bytes = sizeof(to);
	char one[3], two[4], first[] = "ab", second[] = "cdef";
	WSABUF out[2] = {{2, first}, {4, second}}, in[2] = {{3, one}, {4, two}};
	WSAPOLLFD wait = {.fd = receiver, .events = POLLIN};
	DWORD done = 0, flags = 0;
	INT from_bytes = sizeof(from);
	ULONG there = 0, nonblocking = 1;

	(void)state;
	assert_true(receiver != INVALID_SOCKET && sender != INVALID_SOCKET);
	assert_true(fcntl((int)sender, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(bind((int)receiver, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(getsockname((int)receiver, (struct sockaddr *)&to, &bytes), 0);
	assert_int_equal(ioctlsocket(receiver, FIONBIO, &nonblocking), 0);
	assert_int_equal(WSARecv(receiver, in, 2, &done, &flags, NULL, NULL), SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEWOULDBLOCK);
	assert_int_equal(WSAPoll(&wait, 1, 0), 0);
	assert_int_equal(
		WSASendTo(sender, out, 2, &done, 0, (struct sockaddr *)&to, sizeof(to), NULL, NULL),
		0);
	assert_int_equal(done, 6);
	assert_int_equal(WSAPoll(&wait, 1, PATIENT), 1);
	assert_int_equal(wait.revents, POLLIN);
	assert_int_equal(
		WSAIoctl(receiver, FIONREAD, NULL, 0, &there, sizeof(there), &done, NULL, NULL), 0);
	assert_int_equal(there, 6);
	assert_int_equal(WSARecvFrom(receiver, in, 2, &done, &flags, (struct sockaddr *)&from,
				     &from_bytes, NULL, NULL),
			 0);
	assert_true(done == 6 && flags == 0 && from_bytes == sizeof(from));
	assert_memory_equal(one, "abc", 3);
	assert_memory_equal(two, "def", 3);
	assert_int_equal(connect((int)sender, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(WSASend(sender, out, 2, &done, 0, NULL, NULL), 0);
	assert_int_equal(WSAPoll(&wait, 1, PATIENT), 1);
	assert_int_equal(WSARecv(receiver, in, 1, &done, &flags, NULL, NULL), SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEMSGSIZE);
	assert_true(done == 3 && flags == MSG_PARTIAL);
	assert_int_equal(closesocket(receiver), 0);
	assert_int_equal(closesocket(sender), 0);
}

static void
what_is_no_socket_or_overlapped_is_refused(void **state)
{
	SOCKET s = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, 0);
	struct tcp_keepalive keep = {1, 5000, 2500};
	WSAOVERLAPPED o;
	char one[] = "x";
	WSABUF buffer = {1, one};
	DWORD done, flags = 0;
	socklen_t bytes = sizeof(int);
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC), value = 0;
	ULONG argument = 0;

	(void)state;
	assert_int_equal(closesocket((SOCKET)file), SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAENOTSOCK);
	assert_int_equal(close(file), 0);
	assert_int_equal(closesocket(INVALID_SOCKET), SOCKET_ERROR);
	assert_true(WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, 2) == INVALID_SOCKET);
	assert_int_equal(WSAGetLastError(), WSAEINVAL);
	assert_true(WSASocketW(9999, SOCK_STREAM, 0, NULL, 0, 0) == INVALID_SOCKET);
	assert_int_equal(WSAGetLastError(), WSAEAFNOSUPPORT);
	assert_int_equal(WSASend(s, &buffer, 1, &done, 0, &o, NULL), SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEOPNOTSUPP);
	assert_int_equal(WSARecv(s, &buffer, 0, &done, &flags, NULL, NULL), SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEINVAL);
	assert_int_equal(WSASend(s, &buffer, 1, &done, 0, NULL, NULL), SOCKET_ERROR);
	assert_true(WSAGetLastError() == WSAENOTCONN || WSAGetLastError() == WSAESHUTDOWN);
	assert_int_equal(ioctlsocket(s, 12345, &argument), SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEOPNOTSUPP);
	assert_int_equal(WSAPoll(NULL, 1, 0), SOCKET_ERROR);
	assert_int_equal(
		WSAIoctl(s, SIO_KEEPALIVE_VALS, &keep, sizeof(keep), NULL, 0, &done, NULL, NULL),
		0);
	assert_int_equal(getsockopt((int)s, IPPROTO_TCP, TCP_KEEPIDLE, &value, &bytes), 0);
	assert_int_equal(value, 5);
	assert_int_equal(getsockopt((int)s, SOL_SOCKET, SO_KEEPALIVE, &value, &bytes), 0);
	assert_int_equal(value, 1);
	assert_int_equal(WSAIoctl(s, SIO_KEEPALIVE_VALS, &keep, 4, NULL, 0, &done, NULL, NULL),
			 SOCKET_ERROR);
	assert_int_equal(closesocket(s), 0);
}

/* A socket on loopback, with its address. */
static SOCKET
bound(int type, struct sockaddr_in *address)
{
	SOCKET s = socket(AF_INET, type, 0);
	socklen_t bytes = sizeof(*address);

	assert_true(s != INVALID_SOCKET);
	*address = (struct sockaddr_in){.sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind((int)s, (struct sockaddr *)address, sizeof(*address)), 0);
	assert_int_equal(getsockname((int)s, (struct sockaddr *)address, &bytes), 0);
	return s;
}

/* What went wrong, as both systems say it. */
static void
failed(ssize_t result, int error, int number)
{
	assert_int_equal(errno, number);
	assert_int_equal(result, SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), error);
	WSASetLastError(0);
	errno = 0;
}

static void
each_call_says_why_it_failed(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct sockaddr *at = (struct sockaddr *)&address;
	socklen_t bytes = sizeof(address), int_bytes = sizeof(int);
	int file = open("/dev/null", O_RDWR | O_CLOEXEC), value = 1;
	char data[4] = "abc";
	fd_set set;
	struct timeval none = {0, 0};

	(void)state;
	failed(socket(9999, SOCK_STREAM, 0), WSAEAFNOSUPPORT, EAFNOSUPPORT);
	failed(bind(file, at, bytes), WSAENOTSOCK, ENOTSOCK);
	failed(listen(file, 1), WSAENOTSOCK, ENOTSOCK);
	failed(connect(file, at, bytes), WSAENOTSOCK, ENOTSOCK);
	failed(accept(file, at, &bytes), WSAENOTSOCK, ENOTSOCK);
	failed(shutdown(file, SD_BOTH), WSAENOTSOCK, ENOTSOCK);
	failed(getsockname(file, at, &bytes), WSAENOTSOCK, ENOTSOCK);
	failed(getpeername(file, at, &bytes), WSAENOTSOCK, ENOTSOCK);
	failed(send(file, data, sizeof(data), 0), WSAENOTSOCK, ENOTSOCK);
	failed(sendto(file, data, sizeof(data), 0, at, bytes), WSAENOTSOCK, ENOTSOCK);
	failed(recv(file, data, sizeof(data), 0), WSAENOTSOCK, ENOTSOCK);
	failed(recvfrom(file, data, sizeof(data), 0, at, &bytes), WSAENOTSOCK, ENOTSOCK);
	failed(getsockopt(file, SOL_SOCKET, SO_TYPE, &value, &int_bytes), WSAENOTSOCK, ENOTSOCK);
	failed(setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &value, sizeof(value)), WSAENOTSOCK,
	       ENOTSOCK);
	assert_int_equal(close(file), 0);
	failed(recv(file, data, sizeof(data), 0), WSAENOTSOCK, EBADF);
	FD_ZERO(&set);
	failed(select(0, &set, NULL, NULL, &none), WSAEINVAL, EINVAL);
	FD_SET(file, &set);
	failed(select(0, &set, NULL, NULL, &none), WSAENOTSOCK, EBADF);
}

static void
a_connect_that_goes_on_would_block(void **state)
{
	struct sockaddr_in there, nowhere;
	SOCKET listener = bound(SOCK_STREAM, &there), closed = bound(SOCK_STREAM, &nowhere);
	SOCKET s = socket(AF_INET, SOCK_STREAM, 0), accepted;
	ULONG nonblocking = 1;
	fd_set writes, reads;
	struct timeval patient = {PATIENT / 1000, 0};
	socklen_t bytes = sizeof(int);
	int error = 0;
	char c;

	(void)state;
	/* nobody listens: refused at once, or when it is looked at */
	failed(connect((int)s, (struct sockaddr *)&nowhere, sizeof(nowhere)), WSAECONNREFUSED,
	       ECONNREFUSED);
	assert_int_equal(closesocket(s) + closesocket(closed), 0);
	assert_int_equal(listen((int)listener, 1), 0);
	assert_int_equal(ioctlsocket(listener, FIONBIO, &nonblocking), 0);
	failed(accept((int)listener, NULL, NULL), WSAEWOULDBLOCK, EAGAIN);
	s = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(ioctlsocket(s, FIONBIO, &nonblocking), 0);
	failed(connect((int)s, (struct sockaddr *)&there, sizeof(there)), WSAEWOULDBLOCK,
	       EINPROGRESS);
	FD_ZERO(&writes);
	FD_SET((int)s, &writes);
	/* the first argument means nothing, and the time is not touched */
	assert_int_equal(select(0, NULL, &writes, NULL, &patient), 1);
	assert_true(FD_ISSET((int)s, &writes) && patient.tv_sec == PATIENT / 1000);
	assert_int_equal(getsockopt((int)s, SOL_SOCKET, SO_ERROR, &error, &bytes), 0);
	assert_int_equal(error, 0);
	FD_ZERO(&reads);
	FD_SET((int)listener, &reads);
	assert_int_equal(select(0, &reads, NULL, NULL, &patient), 1);
	accepted = accept((int)listener, NULL, NULL);
	assert_true(accepted != INVALID_SOCKET);
	/* it does not block, as who accepted it */
	failed(recv((int)accepted, &c, 1, 0), WSAEWOULDBLOCK, EAGAIN);
	assert_int_equal(shutdown((int)s, SD_SEND), 0);
	failed(send((int)s, &c, 1, 0), WSAESHUTDOWN, EPIPE);
	assert_int_equal(closesocket(accepted) + closesocket(s) + closesocket(listener), 0);
}

/* SO_ERROR of a connect that was refused while nobody waited is a number of Windows. */
static void
what_became_of_a_connect_is_a_number_of_windows(void **state)
{
	struct sockaddr_in nowhere;
	SOCKET closed = bound(SOCK_STREAM, &nowhere), s = socket(AF_INET, SOCK_STREAM, 0);
	WSAPOLLFD wait = {.fd = s, .events = POLLOUT};
	ULONG nonblocking = 1;
	socklen_t bytes = sizeof(int);
	int error = 0;

	(void)state;
	assert_int_equal(ioctlsocket(s, FIONBIO, &nonblocking), 0);
	assert_int_equal(connect((int)s, (struct sockaddr *)&nowhere, sizeof(nowhere)),
			 SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAEWOULDBLOCK);
	assert_int_equal(WSAPoll(&wait, 1, PATIENT), 1);
	assert_int_equal(getsockopt((int)s, SOL_SOCKET, SO_ERROR, &error, &bytes), 0);
	assert_int_equal(error, WSAECONNREFUSED);
	assert_int_equal(closesocket(s) + closesocket(closed), 0);
}

static void
datagrams_are_cut_off_and_time_is_up_as_on_windows(void **state)
{
	struct sockaddr_in address, nowhere;
	SOCKET s = bound(SOCK_DGRAM, &address), closed = bound(SOCK_DGRAM, &nowhere);
	DWORD ms = 1050, told = 0, done, flags = 0;
	socklen_t bytes = sizeof(told);
	struct timeval time;
	char data[3];
	WSABUF buffer = {sizeof(data), data};

	(void)state;
	assert_int_equal(
		sendto((int)s, "abcdef", 6, 0, (struct sockaddr *)&address, sizeof(address)), 6);
	failed(recv((int)s, data, sizeof(data), 0), WSAEMSGSIZE, EMSGSIZE);
	assert_memory_equal(data, "abc", 3);
	assert_int_equal(setsockopt((int)s, SOL_SOCKET, SO_RCVTIMEO, &ms, sizeof(ms)), 0);
	assert_int_equal(getsockopt((int)s, SOL_SOCKET, SO_RCVTIMEO, &told, &bytes), 0);
	assert_true(told >= ms && told < ms + 10 && bytes == sizeof(told)); /* in ticks */
	bytes = sizeof(time);
	assert_int_equal(getsockopt((int)s, SOL_SOCKET, SO_RCVTIMEO, &time, &bytes), 0);
	assert_true(time.tv_sec == 1 && bytes == sizeof(time));
	ms = A_WHILE;
	assert_int_equal(setsockopt((int)s, SOL_SOCKET, SO_RCVTIMEO, &ms, sizeof(ms)), 0);
	failed(recv((int)s, data, sizeof(data), 0), WSAETIMEDOUT, EAGAIN);
	failed(recv((int)s, data, sizeof(data), MSG_DONTWAIT), WSAEWOULDBLOCK, EAGAIN);
	assert_int_equal(WSARecv(s, &buffer, 1, &done, &flags, NULL, NULL), SOCKET_ERROR);
	assert_int_equal(WSAGetLastError(), WSAETIMEDOUT);
	/* a datagram to a port that nobody has */
	assert_int_equal(closesocket(closed), 0);
	assert_int_equal(connect((int)s, (struct sockaddr *)&nowhere, sizeof(nowhere)), 0);
	assert_int_equal(send((int)s, data, sizeof(data), 0), sizeof(data));
	failed(recv((int)s, data, sizeof(data), 0), WSAECONNRESET, ECONNREFUSED);
	assert_int_equal(closesocket(s), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_have_their_members_of_both_systems),
		cmocka_unit_test(data_goes_through_several_buffers),
		cmocka_unit_test(what_is_no_socket_or_overlapped_is_refused),
		cmocka_unit_test(each_call_says_why_it_failed),
		cmocka_unit_test(a_connect_that_goes_on_would_block),
		cmocka_unit_test(what_became_of_a_connect_is_a_number_of_windows),
		cmocka_unit_test(datagrams_are_cut_off_and_time_is_up_as_on_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
