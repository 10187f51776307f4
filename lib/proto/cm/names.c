/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of the verdicts on datagrams, from the same list as the enum.
 * It never formats or prints: a pure room has no output.
 */
#include "plx_cm.h"

#define VERDICT(name, text) [PLX_CM_##name] = text,

PLX_TEXT_FUNCTION(plx_cm_verdict_text, enum plx_cm_verdict, PLX_CM_VERDICT_COUNT,
		  PLX_CM_VERDICT_LIST, VERDICT, "not a verdict of the communication manager")
