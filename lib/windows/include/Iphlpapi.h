/* SPDX-License-Identifier: BSD-3-Clause
 *
 * iphlpapi.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_IPHLPAPI_H
#define PLX_WIN_AS_IPHLPAPI_H
#include "iphlpapi.h"
#endif
