/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A name that programs include; what is expected of it is in winsock2.h.
 */
#ifndef PLX_WIN_WS2IPDEF_H
#define PLX_WIN_WS2IPDEF_H
#include "winsock2.h"
#endif
