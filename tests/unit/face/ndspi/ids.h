/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An identifier of a program's own, of which every file that includes this after initguid.h has a
 * definition, as on Windows.
 */
#ifndef NDSPI_IDS_H
#define NDSPI_IDS_H

#include <guiddef.h>

/* clang-format off */
DEFINE_GUID(IID_Own,
	0x01020304, 0x0506, 0x0708, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10);
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif

/* As another file of the program sees them. */
const GUID *ids_own(void);
const GUID *ids_adapter(void);

#ifdef __cplusplus
}
#endif

#endif
