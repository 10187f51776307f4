/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ws2spi.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_WS2SPI_H
#define PLX_WIN_AS_WS2SPI_H
#include "ws2spi.h"
#endif
