/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Diagnostics of ND2's helper functions that their statuses cannot carry. The helpers themselves
 * are declared in ndsupport.h and iphlpapi.h, with their usual names. It owns no state.
 */
#ifndef PLX_NDSUPPORT_H
#define PLX_NDSUPPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_NDSUPPORT_API __attribute__((visibility("default")))

/* ---- providers ---- */

/**
 * Report what is wrong with the provider catalog, with Pollux's configuration file, and with the
 * libraries that the last NdQueryAddressList(), NdCheckAddress(), NdResolveAddress() or
 * NdOpenAdapter() of any thread tried to load. Statuses cannot carry this.
 *
 * @param text [size] one sentence per line; empty: no errors
 * Returns: the number of errors
 * Tests: tests/unit/face/ndsupport/helper.c
 */
PLX_NDSUPPORT_API uint32_t plx_ndsupport_check(char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
