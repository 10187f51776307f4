/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The limits of all strategies: their defaults, and whether they are in range. It never adapts a
 * value silently. Start with cc_limits_check().
 */
#include "pace.h"

enum {
	/* Of the line rate. So few because a thousand flows may share a port, and so many because
	 * CNPs can be forged. */
	MIN_RATE_PART = 1000,
	BURST_NS = 16000, /* a tick of an engine's timers */
	BURST_BYTES = 1 << 16,
};

struct plx_cc_limits
cc_limits_defaults(uint64_t line_rate)
{
	uint64_t least = line_rate / MIN_RATE_PART;

	return (struct plx_cc_limits){
		.line_rate = line_rate,
		.min_rate = least > PLX_CC_RATE_MIN ? least : PLX_CC_RATE_MIN,
		.burst_ns = BURST_NS,
		.burst_bytes = BURST_BYTES,
	};
}

bool
cc_limits_allow(const char *name, const char *unit, uint64_t value, uint64_t least, uint64_t most,
		struct plx_why *why)
{
	if (value >= least && value <= most)
		return true;
	plx_why_set(why, "%s is %llu%s, but must be in %llu .. %llu", name,
		    (unsigned long long)value, unit, (unsigned long long)least,
		    (unsigned long long)most);
	return false;
}

bool
cc_limits_check(const struct plx_cc_limits *limits, struct plx_why *why)
{
	return cc_limits_allow("the line rate", " bit/s", limits->line_rate, PLX_CC_RATE_MIN,
			       PLX_CC_RATE_MAX, why) &&
	       cc_limits_allow("the minimum rate", " bit/s", limits->min_rate, PLX_CC_RATE_MIN,
			       limits->line_rate, why) &&
	       cc_limits_allow("the time of a burst", " ns", limits->burst_ns, PLX_CC_PERIOD_NS_MIN,
			       PLX_CC_BURST_NS_MAX, why) &&
	       cc_limits_allow("the size of a burst", " bytes", limits->burst_bytes,
			       PLX_CC_BURST_BYTES_MIN, PLX_CC_BURST_BYTES_MAX, why);
}
