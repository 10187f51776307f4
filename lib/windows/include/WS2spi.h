/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ws2spi.h as programs spell it on Windows, whose file names are the same in capitals.
 */
#ifndef PLX_WIN_AS_W_S2SPI_H
#define PLX_WIN_AS_W_S2SPI_H
#include "ws2spi.h"
#endif
