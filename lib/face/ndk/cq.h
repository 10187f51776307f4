/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What cq.c and result.c share. It owns no state.
 */
#ifndef PLX_NDK_CQ_H
#define PLX_NDK_CQ_H

#include "ndk.h"

ULONG ndk_get_results(NDK_CQ *cq, NDK_RESULT results[], ULONG n);
ULONG ndk_get_results_ex(NDK_CQ *cq, NDK_RESULT_EX results[], ULONG n);

#endif
