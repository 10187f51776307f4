/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Drivers include this name for NDK's types: those of ndkpi.h, its statuses, and what NDIS tells of
 * an adapter (ntddndis.h). What else Microsoft's header of this name declares is not documented,
 * and not here.
 */
#ifndef PLX_NDKPI_NTDDNDK_H
#define PLX_NDKPI_NTDDNDK_H

#include "ndkpi.h"
#include "ndkstatus.h"
#include "ntddndis.h"

#endif
