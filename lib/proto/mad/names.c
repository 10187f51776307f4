/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of the verdicts on datagrams, from the same list as the enum.
 * It never formats or prints: a pure room has no output.
 */
#include "plx_mad.h"

#define VERDICT(name, text) [PLX_MAD_##name] = text,

PLX_TEXT_FUNCTION(plx_mad_verdict_text, enum plx_mad_verdict, PLX_MAD_VERDICT_COUNT,
		  PLX_MAD_VERDICT_LIST, VERDICT, "not a MAD verdict")
