/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The end of what a pshpack<n>.h begins. No guard: it is included in pairs.
 */
#pragma pack(pop)
