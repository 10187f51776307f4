/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ntstatus.h in another spelling: file names on Windows ignore case.
 */
#ifndef PLX_WIN_AS_NTSTATUS_FIRST_H
#define PLX_WIN_AS_NTSTATUS_FIRST_H
#include "ntstatus.h"
#endif
