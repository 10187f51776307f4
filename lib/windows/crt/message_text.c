/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of errors: those of winerror.h and winsock2.h that calls here give, in sentences of our
 * own. It never fails and changes nothing.
 * Start with win_text_of_error().
 */
#include "message.h"

#include <stdlib.h>
#include <winsock2.h>

struct text {
	uint32_t error;
	const wchar_t *sentence;
};

enum {
	WIN32_RESULT = 0x8007, /* the upper half of an HRESULT that is made of an error */
};

/* In the order of the errors, for the search. */
static const struct text texts[] = {
	{ERROR_SUCCESS, L"Success."},
	{ERROR_INVALID_FUNCTION, L"The object does not know this function."},
	{ERROR_FILE_NOT_FOUND, L"There is no such file."},
	{ERROR_PATH_NOT_FOUND, L"A folder of the path is not there."},
	{ERROR_TOO_MANY_OPEN_FILES, L"Too many files are open."},
	{ERROR_ACCESS_DENIED, L"Access is denied."},
	{ERROR_INVALID_HANDLE, L"The handle is invalid."},
	{ERROR_NOT_ENOUGH_MEMORY, L"There is not enough memory."},
	{ERROR_INVALID_ACCESS, L"The way of access is invalid."},
	{ERROR_INVALID_DATA, L"The data is invalid."},
	{ERROR_OUTOFMEMORY, L"There is not enough memory."},
	{ERROR_NOT_SAME_DEVICE, L"The two files are on different devices."},
	{ERROR_NO_MORE_FILES, L"There are no more files."},
	{ERROR_WRITE_PROTECT, L"The medium is write protected."},
	{ERROR_NOT_READY, L"The device is not ready."},
	{ERROR_BAD_COMMAND, L"The device does not know this command."},
	{ERROR_CRC, L"A checksum is wrong."},
	{ERROR_BAD_LENGTH, L"The length is wrong."},
	{ERROR_WRITE_FAULT, L"The device cannot be written to."},
	{ERROR_READ_FAULT, L"The device cannot be read."},
	{ERROR_GEN_FAILURE, L"The call failed."},
	{ERROR_SHARING_VIOLATION, L"Another process uses the file."},
	{ERROR_LOCK_VIOLATION, L"Another process has locked a part of the file."},
	{ERROR_HANDLE_EOF, L"The end of the file is reached."},
	{ERROR_NOT_SUPPORTED, L"This is not supported."},
	{ERROR_NETNAME_DELETED, L"The connection is gone."},
	{ERROR_BAD_NET_NAME, L"There is no such name in the network."},
	{ERROR_FILE_EXISTS, L"The file exists already."},
	{ERROR_INVALID_PARAMETER, L"A parameter is wrong."},
	{ERROR_BROKEN_PIPE, L"The other end of the pipe is closed."},
	{ERROR_BUFFER_OVERFLOW, L"The text is too long for its buffer."},
	{ERROR_DISK_FULL, L"There is no space left."},
	{ERROR_CALL_NOT_IMPLEMENTED, L"The call is not implemented."},
	{ERROR_SEM_TIMEOUT, L"The time of the operation is over."},
	{ERROR_INSUFFICIENT_BUFFER, L"The buffer is too small."},
	{ERROR_INVALID_NAME, L"The name is not valid."},
	{ERROR_MOD_NOT_FOUND, L"The library was not found."},
	{ERROR_PROC_NOT_FOUND, L"The library has no such function."},
	{ERROR_NEGATIVE_SEEK, L"The position would be before the begin of the file."},
	{ERROR_DIR_NOT_EMPTY, L"The folder is not empty."},
	{ERROR_BAD_ARGUMENTS, L"An argument is wrong."},
	{ERROR_BAD_PATHNAME, L"The path is invalid."},
	{ERROR_BUSY, L"The resource is in use."},
	{ERROR_ALREADY_EXISTS, L"It exists already."},
	{ERROR_BAD_EXE_FORMAT, L"The file is no program or library of this machine."},
	{ERROR_FILENAME_EXCED_RANGE, L"The name is too long."},
	{ERROR_FILE_TOO_LARGE, L"The file is too large."},
	{ERROR_NO_DATA, L"There is no data."},
	{ERROR_MORE_DATA, L"There is more data than was asked for."},
	{WAIT_TIMEOUT, L"The wait is over: time is up."},
	{ERROR_NO_MORE_ITEMS, L"There are no more items."},
	{ERROR_DIRECTORY, L"It is no folder."},
	{ERROR_TOO_MANY_POSTS, L"Too many requests are posted."},
	{ERROR_MR_MID_NOT_FOUND, L"There is no text for this number."},
	{ERROR_INVALID_ADDRESS, L"The address is invalid."},
	{ERROR_ARITHMETIC_OVERFLOW, L"The result is too large."},
	{ERROR_UNHANDLED_EXCEPTION, L"An exception was not handled."},
	{ERROR_ABANDONED_WAIT_0, L"What was waited for is closed."},
	{ERROR_OPERATION_ABORTED, L"The operation was cancelled."},
	{ERROR_IO_INCOMPLETE, L"The operation has not ended."},
	{ERROR_IO_PENDING, L"The operation is under way."},
	{ERROR_NOACCESS, L"The memory cannot be accessed."},
	{ERROR_CAN_NOT_COMPLETE, L"The call cannot be completed."},
	{ERROR_INVALID_FLAGS, L"A flag is invalid."},
	{ERROR_NO_UNICODE_TRANSLATION, L"The text is not valid Unicode."},
	{ERROR_DLL_INIT_FAILED, L"The library refused to be loaded."},
	{ERROR_IO_DEVICE, L"The device reports an error."},
	{ERROR_NOT_FOUND, L"It was not found."},
	{ERROR_CANCELLED, L"The user cancelled it."},
	{ERROR_CONNECTION_REFUSED, L"The other computer refused the connection."},
	{ERROR_GRACEFUL_DISCONNECT, L"The connection was closed."},
	{ERROR_ADDRESS_ALREADY_ASSOCIATED, L"The endpoint has an address already."},
	{ERROR_ADDRESS_NOT_ASSOCIATED, L"The endpoint has no address."},
	{ERROR_CONNECTION_INVALID, L"There is no such connection."},
	{ERROR_CONNECTION_ACTIVE, L"The connection is in use."},
	{ERROR_NETWORK_UNREACHABLE, L"The network cannot be reached."},
	{ERROR_HOST_UNREACHABLE, L"The other computer cannot be reached."},
	{ERROR_PORT_UNREACHABLE, L"Nobody listens at that port."},
	{ERROR_REQUEST_ABORTED, L"The request was aborted."},
	{ERROR_CONNECTION_ABORTED, L"The connection was aborted here."},
	{ERROR_RETRY, L"It could not be done; try again."},
	{ERROR_INTERNAL_ERROR, L"An internal error occurred."},
	{ERROR_NO_SYSTEM_RESOURCES, L"The system has not enough resources."},
	{ERROR_TIMEOUT, L"Time is up."},
	{ERROR_DEVICE_REMOVED, L"The device was removed."},
	{ERROR_INVALID_USER_BUFFER, L"The buffer is not valid for this request."},
	{ERROR_RESOURCE_TYPE_NOT_FOUND, L"The library has no table of messages."},
	{ERROR_RESOURCE_LANG_NOT_FOUND, L"There is no text in this language."},
	{ERROR_INVALID_STATE, L"The object is not in a state for this."},
	{WSAEINTR, L"A socket call was interrupted."},
	{WSAEBADF, L"The file handle is not valid."},
	{WSAEACCES, L"The socket may not do this."},
	{WSAEFAULT, L"A pointer of a socket call is wrong, or a buffer too small."},
	{WSAEINVAL, L"An argument of a socket call is wrong."},
	{WSAEMFILE, L"Too many sockets are open."},
	{WSAEWOULDBLOCK, L"The socket call would have to wait."},
	{WSAEINPROGRESS, L"A socket call is under way."},
	{WSAEALREADY, L"The socket is at that already."},
	{WSAENOTSOCK, L"It is no socket."},
	{WSAEDESTADDRREQ, L"The socket call needs an address."},
	{WSAEMSGSIZE, L"The datagram is larger than its buffer."},
	{WSAEPROTOTYPE, L"The protocol does not fit the type of socket."},
	{WSAENOPROTOOPT, L"The protocol has no such option."},
	{WSAEPROTONOSUPPORT, L"The protocol is not supported."},
	{WSAESOCKTNOSUPPORT, L"The type of socket is not supported."},
	{WSAEOPNOTSUPP, L"The socket does not support this."},
	{WSAEPFNOSUPPORT, L"The family of protocols is not supported."},
	{WSAEAFNOSUPPORT, L"The family of addresses does not fit."},
	{WSAEADDRINUSE, L"The address is in use."},
	{WSAEADDRNOTAVAIL, L"The address is none of this computer."},
	{WSAENETDOWN, L"The network is down."},
	{WSAENETUNREACH, L"The network cannot be reached from here."},
	{WSAENETRESET, L"The connection was reset by keep-alive."},
	{WSAECONNABORTED, L"The connection was aborted by this computer."},
	{WSAECONNRESET, L"The connection was reset by the other computer."},
	{WSAENOBUFS, L"There are not enough buffers for the socket."},
	{WSAEISCONN, L"The socket is connected already."},
	{WSAENOTCONN, L"The socket is not connected."},
	{WSAESHUTDOWN, L"The socket was shut down in that direction."},
	{WSAETIMEDOUT, L"The other computer did not answer in time."},
	{WSAECONNREFUSED, L"Nobody accepts connections at that address."},
	{WSAEHOSTDOWN, L"The other computer is down."},
	{WSAEHOSTUNREACH, L"There is no route to the other computer."},
	{WSASYSNOTREADY, L"The network is not ready."},
	{WSAVERNOTSUPPORTED, L"That version of Winsock is not there."},
	{WSANOTINITIALISED, L"WSAStartup has not been called."},
	{WSAEINVALIDPROCTABLE, L"The provider gave an invalid table."},
	{WSAEINVALIDPROVIDER, L"The provider is of an invalid version."},
	{WSAEPROVIDERFAILEDINIT, L"The provider cannot be loaded."},
	{WSAHOST_NOT_FOUND, L"There is no such computer."},
	{WSATRY_AGAIN, L"The name server did not answer; try again."},
	{WSANO_RECOVERY, L"The name server failed."},
	{WSANO_DATA, L"The name has no address of that kind."},
};

/* Results of COM that are no error of the table above. */
static const struct text results[] = {
	{(uint32_t)E_NOTIMPL, L"The method is not implemented."},
	{(uint32_t)E_NOINTERFACE, L"The object has no such interface."},
	{(uint32_t)E_POINTER, L"A pointer is wrong."},
	{(uint32_t)E_ABORT, L"The operation was aborted."},
	{(uint32_t)E_FAIL, L"The method failed."},
	{(uint32_t)E_UNEXPECTED, L"The method failed in an unexpected way."},
	{(uint32_t)CLASS_E_NOAGGREGATION, L"The class cannot be part of another object."},
	{(uint32_t)CLASS_E_CLASSNOTAVAILABLE, L"The library has no such class."},
};

static int
by_error(const void *key, const void *entry)
{
	uint32_t error = *(const uint32_t *)key;
	const struct text *text = entry;

	return error < text->error ? -1 : error > text->error;
}

const wchar_t *
win_text_of_error(uint32_t error)
{
	uint32_t key = error >> 16 == WIN32_RESULT ? error & 0xffff : error;
	const struct text *found =
		bsearch(&key, texts, sizeof(texts) / sizeof(texts[0]), sizeof(texts[0]), by_error);

	for (size_t i = 0; !found && i < sizeof(results) / sizeof(results[0]); i++)
		if (results[i].error == error)
			found = &results[i];
	return found ? found->sentence : NULL;
}
