/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NTSTATUS as Win32 errors, for what GetLastError() says of a request.
 * It owns no state. Start with win_error_of_status().
 */
#ifndef PLX_WIN_STATUS_H
#define PLX_WIN_STATUS_H

#include <stdint.h>

/** The Win32 error of a status; of one that has none, ERROR_MR_MID_NOT_FOUND. Cost: O(log n) */
uint32_t win_error_of_status(int32_t status);

/** What a call of the system failed with, as Windows' calls on files say it. */
uint32_t win_error_of_errno(int number);
/** The same of sockets: a WSAE... */
int win_wsa_of_errno(int number);

#endif
