/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of the wire's verdicts, from the same list as the enum.
 * It never formats or prints: a pure room has no output.
 */
#include "plx_wire.h"

static const char *const verdict_texts[PLX_WIRE_VERDICT_COUNT] = {
#define PLX_X(name, text) [PLX_WIRE_##name] = text,
	PLX_WIRE_VERDICT_LIST(PLX_X)
#undef PLX_X
};

const char *
plx_wire_verdict_text(enum plx_wire_verdict verdict)
{
	if ((unsigned)verdict >= PLX_WIRE_VERDICT_COUNT)
		return "not a wire verdict";
	return verdict_texts[verdict];
}
