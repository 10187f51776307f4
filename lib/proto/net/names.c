/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of the verdicts on requests and frames, from the same list as the enum.
 * It never formats or prints: a pure room has no output.
 */
#include "plx_net.h"

static const char *const verdict_texts[PLX_NET_VERDICT_COUNT] = {
#define PLX_X(name, text) [PLX_NET_##name] = text,
	PLX_NET_VERDICT_LIST(PLX_X)
#undef PLX_X
};

const char *
plx_net_verdict_text(enum plx_net_verdict verdict)
{
	if ((unsigned)verdict >= PLX_NET_VERDICT_COUNT)
		return "not a verdict of neighbour resolution";
	return verdict_texts[verdict];
}
