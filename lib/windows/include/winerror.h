/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Results of COM (HRESULT) and Windows error numbers (GetLastError), as far as ND2 and the calls of
 * lib/windows return them. The statuses of ND2 itself are in ndstatus.h.
 */
#ifndef PLX_WIN_WINERROR_H
#define PLX_WIN_WINERROR_H

#include "windef.h"

/* A result is a failure when it is negative; a warning (0x8...) is one too. */
#define SUCCEEDED(hr) (((HRESULT)(hr)) >= 0)
#define FAILED(hr)    (((HRESULT)(hr)) < 0)
#define IS_ERROR(s)   (((DWORD)(s)) >> 31 == 1)

#define SEVERITY_SUCCESS 0
#define SEVERITY_ERROR   1
#define FACILITY_NULL    0
#define FACILITY_WIN32   7
#define FACILITY_NT_BIT  0x10000000

#define HRESULT_CODE(hr)     ((hr)&0xFFFF)
#define HRESULT_FACILITY(hr) (((hr) >> 16) & 0x1FFF)
#define HRESULT_SEVERITY(hr) (((hr) >> 31) & 1)
#define MAKE_HRESULT(severity, facility, code) \
	((HRESULT)(((DWORD)(severity) << 31) | ((DWORD)(facility) << 16) | (DWORD)(code)))
#define HRESULT_FROM_NT(status) ((HRESULT)((DWORD)(status) | FACILITY_NT_BIT))

static inline HRESULT
HRESULT_FROM_WIN32(DWORD error)
{
	if ((HRESULT)error <= 0)
		return (HRESULT)error;
	return (HRESULT)((error & 0xFFFF) | (FACILITY_WIN32 << 16) | 0x80000000U);
}

#define _HRESULT_TYPEDEF_(number)    ((HRESULT)number)
#define _NDIS_ERROR_TYPEDEF_(number) ((DWORD)number)
#define __HRESULT_FROM_WIN32(error)  HRESULT_FROM_WIN32(error)

#define S_OK                  ((HRESULT)0)
#define S_FALSE               ((HRESULT)1)
#define NOERROR               ((HRESULT)0)
#define E_NOTIMPL             ((HRESULT)0x80004001)
#define E_NOINTERFACE         ((HRESULT)0x80004002)
#define E_POINTER             ((HRESULT)0x80004003)
#define E_ABORT               ((HRESULT)0x80004004)
#define E_FAIL                ((HRESULT)0x80004005)
#define E_PENDING             ((HRESULT)0x8000000A)
#define E_UNEXPECTED          ((HRESULT)0x8000FFFF)
#define E_ACCESSDENIED        ((HRESULT)0x80070005)
#define E_HANDLE              ((HRESULT)0x80070006)
#define E_OUTOFMEMORY         ((HRESULT)0x8007000E)
#define E_INVALIDARG          ((HRESULT)0x80070057)
#define CLASS_E_NOAGGREGATION ((HRESULT)0x80040110)

#define E_BOUNDS                ((HRESULT)0x8000000B)
#define E_CHANGED_STATE         ((HRESULT)0x8000000C)
#define E_NOT_SUFFICIENT_BUFFER HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER)
#define E_NOT_VALID_STATE       HRESULT_FROM_WIN32(ERROR_INVALID_STATE)
#define E_NOT_SET               HRESULT_FROM_WIN32(ERROR_NOT_FOUND)
#define E_TIME_CRITICAL_THREAD  ((HRESULT)0x800701A0)

#define CLASS_E_CLASSNOTAVAILABLE ((HRESULT)0x80040111)

#define NO_ERROR                   0
#define ERROR_SUCCESS              0
#define ERROR_INVALID_FUNCTION     1
#define ERROR_FILE_NOT_FOUND       2
#define ERROR_PATH_NOT_FOUND       3
#define ERROR_ACCESS_DENIED        5
#define ERROR_INVALID_HANDLE       6
#define ERROR_NOT_ENOUGH_MEMORY    8
#define ERROR_OUTOFMEMORY          14
#define ERROR_NO_MORE_FILES        18
#define ERROR_BAD_LENGTH           24
#define ERROR_GEN_FAILURE          31
#define ERROR_SHARING_VIOLATION    32
#define ERROR_HANDLE_EOF           38
#define ERROR_NOT_SUPPORTED        50
#define ERROR_BAD_NET_NAME         67
#define ERROR_INVALID_PARAMETER    87
#define ERROR_BUFFER_OVERFLOW      111
#define ERROR_CALL_NOT_IMPLEMENTED 120
#define ERROR_SEM_TIMEOUT          121
#define ERROR_INSUFFICIENT_BUFFER  122
#define ERROR_MOD_NOT_FOUND        126
#define ERROR_PROC_NOT_FOUND       127
#define ERROR_BUSY                 170
#define ERROR_ALREADY_EXISTS       183
#define ERROR_BAD_EXE_FORMAT       193
#define ERROR_NO_DATA              232
#define ERROR_MORE_DATA            234
#define WAIT_TIMEOUT               258
#define ERROR_NO_MORE_ITEMS        259
#define ERROR_TOO_MANY_POSTS       298
#define ERROR_INVALID_ADDRESS      487
#define ERROR_ABANDONED_WAIT_0     735
#define ERROR_OPERATION_ABORTED    995
#define ERROR_IO_INCOMPLETE        996
#define ERROR_IO_PENDING           997
#define ERROR_NOACCESS             998
#define ERROR_DLL_INIT_FAILED      1114
#define ERROR_CAN_NOT_COMPLETE     1003
#define ERROR_NOT_FOUND            1168
#define ERROR_CONNECTION_REFUSED   1225
#define ERROR_GRACEFUL_DISCONNECT  1226

#define ERROR_ADDRESS_ALREADY_ASSOCIATED 1227
#define ERROR_ADDRESS_NOT_ASSOCIATED     1228
#define ERROR_CONNECTION_INVALID         1229
#define ERROR_CONNECTION_ACTIVE          1230
#define ERROR_NETWORK_UNREACHABLE        1231
#define ERROR_HOST_UNREACHABLE           1232
#define ERROR_PORT_UNREACHABLE           1234
#define ERROR_REQUEST_ABORTED            1235
#define ERROR_CONNECTION_ABORTED         1236
#define ERROR_RETRY                      1237
#define ERROR_NO_SYSTEM_RESOURCES        1450
#define ERROR_TIMEOUT                    1460
#define ERROR_DEVICE_REMOVED             1617
#define ERROR_TOO_MANY_OPEN_FILES        4
#define ERROR_INVALID_ACCESS             12
#define ERROR_INVALID_DATA               13
#define ERROR_NOT_SAME_DEVICE            17
#define ERROR_WRITE_PROTECT              19
#define ERROR_NOT_READY                  21
#define ERROR_BAD_COMMAND                22
#define ERROR_CRC                        23
#define ERROR_WRITE_FAULT                29
#define ERROR_READ_FAULT                 30
#define ERROR_LOCK_VIOLATION             33
#define ERROR_FILE_EXISTS                80
#define ERROR_BROKEN_PIPE                109
#define ERROR_DISK_FULL                  112
#define ERROR_INVALID_NAME               123
#define ERROR_NEGATIVE_SEEK              131
#define ERROR_DIR_NOT_EMPTY              145
#define ERROR_BAD_ARGUMENTS              160
#define ERROR_BAD_PATHNAME               161
#define ERROR_FILENAME_EXCED_RANGE       206
#define ERROR_FILE_TOO_LARGE             223
#define ERROR_DIRECTORY                  267
#define ERROR_MR_MID_NOT_FOUND           317
#define ERROR_ARITHMETIC_OVERFLOW        534
#define ERROR_IO_DEVICE                  1117
#define ERROR_RESOURCE_LANG_NOT_FOUND    1815
#define ERROR_RESOURCE_TYPE_NOT_FOUND    1813
#define ERROR_INTERNAL_ERROR             1359
#define ERROR_INVALID_FLAGS              1004
#define ERROR_CANCELLED                  1223
#define ERROR_INVALID_STATE              5023
#define ERROR_UNHANDLED_EXCEPTION        574
#define ERROR_NO_UNICODE_TRANSLATION     1113
#define ERROR_INVALID_USER_BUFFER        1784
#define ERROR_NETNAME_DELETED            64
#endif
