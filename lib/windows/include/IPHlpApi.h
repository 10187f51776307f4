/* SPDX-License-Identifier: BSD-3-Clause
 *
 * iphlpapi.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_I_P_HLP_API_H
#define PLX_WIN_AS_I_P_HLP_API_H
#include "iphlpapi.h"
#endif
