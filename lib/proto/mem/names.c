/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of mem's verdicts, in one function.
 * It never formats or prints: a pure room has no output.
 */
#include "plx_mem.h"

static const char *const verdict_texts[PLX_KEY_VERDICT_COUNT] = {
#define PLX_X(name, text) [PLX_KEY_##name] = text,
	PLX_KEY_VERDICT_LIST(PLX_X)
#undef PLX_X
};

const char *
plx_key_verdict_text(enum plx_key_verdict verdict)
{
	if ((unsigned)verdict >= PLX_KEY_VERDICT_COUNT)
		return "not a key verdict";
	return verdict_texts[verdict];
}
