/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the calls on sockets share: how a failure is told. It owns no state.
 */
#ifndef PLX_WIN_SOCKETS_H
#define PLX_WIN_SOCKETS_H

/** WSASetLastError() by errno, which stays. @param flags MSG_...: MSG_DONTWAIT did not wait.
 * Returns: SOCKET_ERROR */
int win_socket_fail(int s, int flags);

#endif
