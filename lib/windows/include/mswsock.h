/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A name that programs include. AcceptEx() and its kin are overlapped, as no socket is here; what
 * their options are for is so on Linux without them.
 */
#ifndef PLX_WIN_MSWSOCK_H
#define PLX_WIN_MSWSOCK_H
#include "winsock2.h"
#endif
