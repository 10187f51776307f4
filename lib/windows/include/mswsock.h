/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs include this name. AcceptEx() and the like are overlapped, which sockets here are not;
 * Linux needs no equivalent of their options.
 */
#ifndef PLX_WIN_MSWSOCK_H
#define PLX_WIN_MSWSOCK_H
#include "winsock2.h"
#endif
