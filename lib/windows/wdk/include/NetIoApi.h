/* SPDX-License-Identifier: BSD-3-Clause
 *
 * netioapi.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WDK_AS_NETIOAPI_WORDS_H
#define PLX_WDK_AS_NETIOAPI_WORDS_H
#include "netioapi.h"
#endif
