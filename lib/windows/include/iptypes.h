/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs include this name; the declarations are in iphlpapi.h.
 */
#ifndef PLX_WIN_IPTYPES_H
#define PLX_WIN_IPTYPES_H
#include "iphlpapi.h"
#endif
