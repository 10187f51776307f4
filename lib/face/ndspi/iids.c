/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The identifiers of IUnknown, IClassFactory and ND2's interfaces, defined: programs that do not
 * include initguid.h get them from libpollux-win. It owns nothing else; ndspi.h has the numbers.
 */
#include <initguid.h>

#include <ndspi.h>
