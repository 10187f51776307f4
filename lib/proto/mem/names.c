/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of mem's verdicts, in one function.
 * It never formats or prints: a pure room has no output.
 */
#include "plx_mem.h"

#define VERDICT(name, text) [PLX_KEY_##name] = text,

PLX_TEXT_FUNCTION(plx_key_verdict_text, enum plx_key_verdict, PLX_KEY_VERDICT_COUNT,
		  PLX_KEY_VERDICT_LIST, VERDICT, "not a key verdict")
