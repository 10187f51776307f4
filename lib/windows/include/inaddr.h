/* SPDX-License-Identifier: BSD-3-Clause
 *
 * This name is included for IN_ADDR, which ws2def.h has.
 */
#ifndef PLX_WIN_INADDR_H
#define PLX_WIN_INADDR_H
#include "ws2def.h"
#endif
