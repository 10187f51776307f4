/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of the verdicts on datagrams, from the same list as the enum.
 * It never formats or prints: a pure room has no output.
 */
#include "plx_cm.h"

const char *
plx_cm_verdict_text(enum plx_cm_verdict verdict)
{
	static const char *const texts[PLX_CM_VERDICT_COUNT] = {
#define PLX_X(name, text) [PLX_CM_##name] = text,
		PLX_CM_VERDICT_LIST(PLX_X)
#undef PLX_X
	};

	return (unsigned)verdict < PLX_CM_VERDICT_COUNT
		       ? texts[verdict]
		       : "not a verdict of the communication manager";
}
