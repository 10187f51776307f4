/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ND2's helpers have to say beside their statuses. The helpers themselves are declared in
 * ndsupport.h and iphlpapi.h, with the names that programs know. It owns no state.
 */
#ifndef PLX_NDSUPPORT_H
#define PLX_NDSUPPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_NDSUPPORT_API __attribute__((visibility("default")))

/* ---- providers ------------------------------------------------------------------------------ */

/**
 * What is wrong with the catalog of providers, with Pollux's configuration file, and with the
 * libraries that the last NdQueryAddressList(), NdCheckAddress(), NdResolveAddress() or
 * NdOpenAdapter() of any thread wanted to load: what their statuses cannot carry.
 *
 * @param text [size] the sentences, one a line; empty: nothing is wrong
 * Returns: how many there are
 * Tests: tests/unit/face/ndsupport/helper.c
 */
PLX_NDSUPPORT_API uint32_t plx_ndsupport_check(char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
