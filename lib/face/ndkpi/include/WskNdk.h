/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wskndk.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_NDKPI_AS_WSKNDK_WORDS_H
#define PLX_NDKPI_AS_WSKNDK_WORDS_H
#include "wskndk.h"
#endif
