/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ntddndk.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_NDKPI_AS_NTDDNDK_FIRST_H
#define PLX_NDKPI_AS_NTDDNDK_FIRST_H
#include "ntddndk.h"
#endif
