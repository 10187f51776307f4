/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What mr.c asks before it registers: is the memory there?
 * It owns no state. Start with probe_memory().
 */
#ifndef PLX_ND2_MR_H
#define PLX_ND2_MR_H

#include "nd2.h"

/** May every byte of it be read, and written when `writes`? Large memory is not touched. What its
 * owner unmaps afterwards is not found. */
bool probe_memory(const void *memory, size_t bytes, bool writes);

#endif
