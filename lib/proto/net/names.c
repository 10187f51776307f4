/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The texts of the verdicts on requests and frames, from the same list as the enum.
 * It never formats or prints: a pure room has no output.
 */
#include "plx_net.h"

#define VERDICT(name, text) [PLX_NET_##name] = text,

PLX_TEXT_FUNCTION(plx_net_verdict_text, enum plx_net_verdict, PLX_NET_VERDICT_COUNT,
		  PLX_NET_VERDICT_LIST, VERDICT, "not a verdict of neighbour resolution")
