/* SPDX-License-Identifier: BSD-3-Clause
 *
 * iphlpapi.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_I_P_HLP_API_H
#define PLX_WIN_AS_I_P_HLP_API_H
#include "iphlpapi.h"
#endif
