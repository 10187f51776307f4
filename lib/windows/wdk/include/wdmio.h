/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Io: drivers and devices, requests, queues of requests, registry keys, events and callback
 * objects. Each has a header of its own.
 */
#ifndef PLX_WDK_WDMIO_H
#define PLX_WDK_WDMIO_H

#include "evntprov.h"
#include "wdmdevice.h"
#include "wdmirp.h"
#include "wdmqueue.h"
#include "wdmkey.h"
#include "wdmobject.h"

#endif
