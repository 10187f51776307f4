/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the host of drivers and later rooms take from this one beside the functions of wdmrtl.h:
 * names of statuses for sentences, and digits. It owns nothing.
 */
#ifndef PLX_RTL_H
#define PLX_RTL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The name of a status, "STATUS_PENDING". Returns: "an unknown status" if ntstatus.h has none
 * Cost: O(n) */
const char *plx_rtl_status_name(int32_t status);

/** The value of a digit, in any base up to 36, in letters of either case.
 * Returns: UINT_MAX: it is none */
unsigned int plx_rtl_digit(unsigned int character);

#ifdef __cplusplus
}
#endif

#endif
