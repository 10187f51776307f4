/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processor intrinsics that this compiler has under the same names.
 */
#ifndef PLX_WIN_INTRIN_H
#define PLX_WIN_INTRIN_H

#include "winnt.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "crtbits.h"

#endif
