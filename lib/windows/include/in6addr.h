/* SPDX-License-Identifier: BSD-3-Clause
 *
 * This name is included for IN6_ADDR, which ws2def.h has.
 */
#ifndef PLX_WIN_IN6ADDR_H
#define PLX_WIN_IN6ADDR_H
#include "ws2def.h"
#endif
