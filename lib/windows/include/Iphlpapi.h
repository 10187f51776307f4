/* SPDX-License-Identifier: BSD-3-Clause
 *
 * iphlpapi.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_IPHLPAPI_H
#define PLX_WIN_AS_IPHLPAPI_H
#include "iphlpapi.h"
#endif
