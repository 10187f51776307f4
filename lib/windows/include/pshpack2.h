/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From here to poppack.h members are aligned to at most 2 bytes. No guard: it is included in
 * pairs.
 */
#pragma pack(push, 2)
