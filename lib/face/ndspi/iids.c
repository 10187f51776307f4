/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Defines the identifiers of IUnknown, IClassFactory and ND2's interfaces. Programs that do not
 * include initguid.h get them from libpollux-win. The numbers are in ndspi.h.
 */
#include <initguid.h>

#include <ndspi.h>
