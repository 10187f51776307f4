/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ndkpi.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_NDKPI_AS_NDKPI_FIRST_H
#define PLX_NDKPI_AS_NDKPI_FIRST_H
#include "ndkpi.h"
#endif
