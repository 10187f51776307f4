/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of the wire's verdicts, from the same list as the enum.
 * It never formats or prints: a pure room has no output.
 */
#include "plx_wire.h"

#define VERDICT(name, text) [PLX_WIRE_##name] = text,

PLX_TEXT_FUNCTION(plx_wire_verdict_text, enum plx_wire_verdict, PLX_WIRE_VERDICT_COUNT,
		  PLX_WIRE_VERDICT_LIST, VERDICT, "not a wire verdict")
