/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rtl: lists, strings, memory, tables, and what is said to a debugger.
 */
#ifndef PLX_WDK_WDMRTL_H
#define PLX_WDK_WDMRTL_H

#include "wdmtypes.h"
#include "wdmlist.h"
#include "wdmstring.h"
#include "wdmmemory.h"
#include "wdmtable.h"
#include "wdmhash.h"
#include "wdmdebug.h"
#include "wdmversion.h"
#include "wdmcrt.h"

#endif
