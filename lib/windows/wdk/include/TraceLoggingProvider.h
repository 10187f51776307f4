/* SPDX-License-Identifier: BSD-3-Clause
 *
 * traceloggingprovider.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WDK_AS_TRACELOGGINGPROVIDER_FIRST_H
#define PLX_WDK_AS_TRACELOGGINGPROVIDER_FIRST_H
#include "traceloggingprovider.h"
#endif
