/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of Microsoft's C library that are not in this one's.
 */
#ifndef PLX_WIN_CRT_H
#define PLX_WIN_CRT_H
#endif
