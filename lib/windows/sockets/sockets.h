/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the socket calls share: reporting a failure. It owns no state.
 */
#ifndef PLX_WIN_SOCKETS_H
#define PLX_WIN_SOCKETS_H

/** Set Winsock's last error from errno, which is kept. @param flags MSG_...: with MSG_DONTWAIT the
 * call did not wait. Returns: SOCKET_ERROR */
int win_socket_fail(int s, int flags);

#endif
