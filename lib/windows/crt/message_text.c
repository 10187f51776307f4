/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of errors: those of winerror.h and winsock2.h that calls here return, in our own
 * wording. It never fails and changes nothing.
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
	WIN32_RESULT = 0x8007, /* the upper half of an HRESULT made from an error */
};

/* Sorted by error, for binary search. */
static const struct text texts[] = {
	{ERROR_SUCCESS, L"Success."},
	{ERROR_INVALID_FUNCTION, L"The object does not support this function."},
	{ERROR_FILE_NOT_FOUND, L"The file does not exist."},
	{ERROR_PATH_NOT_FOUND, L"A folder of the path does not exist."},
	{ERROR_TOO_MANY_OPEN_FILES, L"Too many files are open."},
	{ERROR_ACCESS_DENIED, L"Access is denied."},
	{ERROR_INVALID_HANDLE, L"The handle is invalid."},
	{ERROR_NOT_ENOUGH_MEMORY, L"Not enough memory is available."},
	{ERROR_INVALID_ACCESS, L"The access mode is invalid."},
	{ERROR_INVALID_DATA, L"The data is invalid."},
	{ERROR_OUTOFMEMORY, L"Not enough memory is available."},
	{ERROR_NOT_SAME_DEVICE, L"The two files are on different devices."},
	{ERROR_NO_MORE_FILES, L"There are no more files."},
	{ERROR_WRITE_PROTECT, L"The medium is write protected."},
	{ERROR_NOT_READY, L"The device is not ready."},
	{ERROR_BAD_COMMAND, L"The device does not support this command."},
	{ERROR_CRC, L"A checksum is incorrect."},
	{ERROR_BAD_LENGTH, L"The length is incorrect."},
	{ERROR_WRITE_FAULT, L"The device cannot be written to."},
	{ERROR_READ_FAULT, L"The device cannot be read."},
	{ERROR_GEN_FAILURE, L"The call failed."},
	{ERROR_SHARING_VIOLATION, L"Another process uses the file."},
	{ERROR_LOCK_VIOLATION, L"Another process has locked a part of the file."},
	{ERROR_HANDLE_EOF, L"The end of the file was reached."},
	{ERROR_NOT_SUPPORTED, L"The request is not supported."},
	{ERROR_NETNAME_DELETED, L"The connection no longer exists."},
	{ERROR_BAD_NET_NAME, L"The network name does not exist."},
	{ERROR_FILE_EXISTS, L"The file already exists."},
	{ERROR_INVALID_PARAMETER, L"A parameter is incorrect."},
	{ERROR_BROKEN_PIPE, L"The other end of the pipe is closed."},
	{ERROR_BUFFER_OVERFLOW, L"The text does not fit the buffer."},
	{ERROR_DISK_FULL, L"No space is left on the device."},
	{ERROR_CALL_NOT_IMPLEMENTED, L"The function is not implemented."},
	{ERROR_SEM_TIMEOUT, L"The operation timed out."},
	{ERROR_INSUFFICIENT_BUFFER, L"The buffer is too small."},
	{ERROR_INVALID_NAME, L"The name is not valid."},
	{ERROR_MOD_NOT_FOUND, L"The library was not found."},
	{ERROR_PROC_NOT_FOUND, L"The library has no such function."},
	{ERROR_NEGATIVE_SEEK, L"The position would be before the start of the file."},
	{ERROR_DIR_NOT_EMPTY, L"The folder is not empty."},
	{ERROR_BAD_ARGUMENTS, L"An argument is incorrect."},
	{ERROR_BAD_PATHNAME, L"The path is invalid."},
	{ERROR_BUSY, L"The resource is in use."},
	{ERROR_ALREADY_EXISTS, L"The object already exists."},
	{ERROR_BAD_EXE_FORMAT, L"The file is not a program or library for this machine."},
	{ERROR_FILENAME_EXCED_RANGE, L"The name is too long."},
	{ERROR_FILE_TOO_LARGE, L"The file is too large."},
	{ERROR_NO_DATA, L"No data is available."},
	{ERROR_MORE_DATA, L"More data is available."},
	{WAIT_TIMEOUT, L"The wait timed out."},
	{ERROR_NO_MORE_ITEMS, L"No more items are available."},
	{ERROR_DIRECTORY, L"The path is not a folder."},
	{ERROR_TOO_MANY_POSTS, L"Too many requests are outstanding."},
	{ERROR_MR_MID_NOT_FOUND, L"This error number has no text."},
	{ERROR_INVALID_ADDRESS, L"The address is invalid."},
	{ERROR_ARITHMETIC_OVERFLOW, L"The result is too large."},
	{ERROR_UNHANDLED_EXCEPTION, L"An exception was not handled."},
	{ERROR_ABANDONED_WAIT_0, L"The handle was closed during the wait."},
	{ERROR_OPERATION_ABORTED, L"The operation was cancelled."},
	{ERROR_IO_INCOMPLETE, L"The operation has not completed."},
	{ERROR_IO_PENDING, L"The operation is in progress."},
	{ERROR_NOACCESS, L"The memory cannot be accessed."},
	{ERROR_CAN_NOT_COMPLETE, L"The call cannot be completed."},
	{ERROR_INVALID_FLAGS, L"A flag is invalid."},
	{ERROR_NO_UNICODE_TRANSLATION, L"The text is not valid Unicode."},
	{ERROR_DLL_INIT_FAILED, L"The library's initialization failed."},
	{ERROR_IO_DEVICE, L"The device reports an error."},
	{ERROR_NOT_FOUND, L"The element was not found."},
	{ERROR_CANCELLED, L"The user cancelled the operation."},
	{ERROR_CONNECTION_REFUSED, L"The other computer refused the connection."},
	{ERROR_GRACEFUL_DISCONNECT, L"The connection was closed."},
	{ERROR_ADDRESS_ALREADY_ASSOCIATED, L"The endpoint already has an address."},
	{ERROR_ADDRESS_NOT_ASSOCIATED, L"The endpoint has no address."},
	{ERROR_CONNECTION_INVALID, L"The connection does not exist."},
	{ERROR_CONNECTION_ACTIVE, L"The connection is in use."},
	{ERROR_NETWORK_UNREACHABLE, L"The network cannot be reached."},
	{ERROR_HOST_UNREACHABLE, L"The other computer cannot be reached."},
	{ERROR_PORT_UNREACHABLE, L"No program listens on that port."},
	{ERROR_REQUEST_ABORTED, L"The request was aborted."},
	{ERROR_CONNECTION_ABORTED, L"The local computer aborted the connection."},
	{ERROR_RETRY, L"The operation failed temporarily; try again."},
	{ERROR_INTERNAL_ERROR, L"An internal error occurred."},
	{ERROR_NO_SYSTEM_RESOURCES, L"The system lacks the resources."},
	{ERROR_TIMEOUT, L"The operation timed out."},
	{ERROR_DEVICE_REMOVED, L"The device was removed."},
	{ERROR_INVALID_USER_BUFFER, L"The buffer is not valid for this request."},
	{ERROR_RESOURCE_TYPE_NOT_FOUND, L"The library has no table of messages."},
	{ERROR_RESOURCE_LANG_NOT_FOUND, L"No text is available in this language."},
	{ERROR_INVALID_STATE, L"The object's state does not allow the operation."},
	{WSAEINTR, L"A socket call was interrupted."},
	{WSAEBADF, L"The file handle is not valid."},
	{WSAEACCES, L"The socket does not permit the operation."},
	{WSAEFAULT, L"A pointer passed to a socket call is invalid, or a buffer is too small."},
	{WSAEINVAL, L"An argument of a socket call is invalid."},
	{WSAEMFILE, L"Too many sockets are open."},
	{WSAEWOULDBLOCK, L"The socket call would block."},
	{WSAEINPROGRESS, L"A socket call is in progress."},
	{WSAEALREADY, L"The socket already has an operation in progress."},
	{WSAENOTSOCK, L"The handle is not a socket."},
	{WSAEDESTADDRREQ, L"The socket call needs an address."},
	{WSAEMSGSIZE, L"The datagram is larger than its buffer."},
	{WSAEPROTOTYPE, L"The protocol does not fit the type of socket."},
	{WSAENOPROTOOPT, L"The protocol does not support this option."},
	{WSAEPROTONOSUPPORT, L"The protocol is not supported."},
	{WSAESOCKTNOSUPPORT, L"The socket type is not supported."},
	{WSAEOPNOTSUPP, L"The socket does not support this operation."},
	{WSAEPFNOSUPPORT, L"The protocol family is not supported."},
	{WSAEAFNOSUPPORT, L"The address family does not match."},
	{WSAEADDRINUSE, L"The address is in use."},
	{WSAEADDRNOTAVAIL, L"The address does not belong to this computer."},
	{WSAENETDOWN, L"The network is down."},
	{WSAENETUNREACH, L"The network cannot be reached from here."},
	{WSAENETRESET, L"The connection was reset by keep-alive."},
	{WSAECONNABORTED, L"The connection was aborted by this computer."},
	{WSAECONNRESET, L"The connection was reset by the other computer."},
	{WSAENOBUFS, L"There are not enough buffers for the socket."},
	{WSAEISCONN, L"The socket is already connected."},
	{WSAENOTCONN, L"The socket is not connected."},
	{WSAESHUTDOWN, L"The socket was shut down in that direction."},
	{WSAETIMEDOUT, L"The other computer did not answer in time."},
	{WSAECONNREFUSED, L"The connection was refused."},
	{WSAEHOSTDOWN, L"The other computer is down."},
	{WSAEHOSTUNREACH, L"The other computer cannot be reached."},
	{WSASYSNOTREADY, L"The network is not ready."},
	{WSAVERNOTSUPPORTED, L"This version of Winsock is not available."},
	{WSANOTINITIALISED, L"WSAStartup has not been called."},
	{WSAEINVALIDPROCTABLE, L"The provider returned an invalid table."},
	{WSAEINVALIDPROVIDER, L"The provider's version is invalid."},
	{WSAEPROVIDERFAILEDINIT, L"The provider cannot be loaded."},
	{WSAHOST_NOT_FOUND, L"The computer does not exist."},
	{WSATRY_AGAIN, L"The name server did not answer; try again."},
	{WSANO_RECOVERY, L"The name server failed."},
	{WSANO_DATA, L"The name has no address of the requested type."},
};

/* COM results that are not errors of the table above. */
static const struct text results[] = {
	{(uint32_t)E_NOTIMPL, L"The method is not implemented."},
	{(uint32_t)E_NOINTERFACE, L"The object does not support this interface."},
	{(uint32_t)E_POINTER, L"A pointer is invalid."},
	{(uint32_t)E_ABORT, L"The operation was aborted."},
	{(uint32_t)E_FAIL, L"The method failed."},
	{(uint32_t)E_UNEXPECTED, L"The method failed in an unexpected way."},
	{(uint32_t)CLASS_E_NOAGGREGATION, L"The class cannot be part of another object."},
	{(uint32_t)CLASS_E_CLASSNOTAVAILABLE, L"The library does not support this class."},
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
