/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wsk.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WDK_AS_WSK_ABBREVIATION_H
#define PLX_WDK_AS_WSK_ABBREVIATION_H
#include "wsk.h"
#endif
