/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A name that programs include; what is expected of it is in iphlpapi.h.
 */
#ifndef PLX_WIN_IPTYPES_H
#define PLX_WIN_IPTYPES_H
#include "iphlpapi.h"
#endif
