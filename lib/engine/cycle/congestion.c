/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The congestion strategy of a queue pair: which one, and its state, beside the transport's. It
 * never paces: the transport asks the strategy. Start with engine_congestion_begin().
 */
#include "plx_engine_cycle.h"

enum {
	LINE_RATE_MBPS = 10000, /* if the configuration says nothing */
};

void
engine_congestion_init(struct plx_engine *engine)
{
	uint64_t rate = engine->config.line_rate;

	if (rate == 0)
		rate = LINE_RATE_MBPS * UINT64_C(1000000);
	engine->dcqcn = plx_dcqcn_defaults(rate);
	engine->delay = plx_delay_defaults(rate);
}

size_t
engine_congestion_bytes(enum plx_congestion congestion)
{
	if (congestion == PLX_CONGESTION_DCQCN)
		return sizeof(struct plx_dcqcn);
	return congestion == PLX_CONGESTION_DELAY ? sizeof(struct plx_delay) : 0;
}

const struct plx_cc_ops *
engine_congestion_ops(enum plx_congestion congestion)
{
	if (congestion == PLX_CONGESTION_DCQCN)
		return &plx_cc_dcqcn;
	return congestion == PLX_CONGESTION_DELAY ? &plx_cc_delay : &plx_cc_none;
}

void
engine_congestion_begin(struct engine_qp *qp, uint64_t now)
{
	struct plx_engine *engine = qp->engine;

	if (qp->congestion == PLX_CONGESTION_DCQCN)
		plx_dcqcn_init(qp->strategy, &engine->dcqcn, now);
	else if (qp->congestion == PLX_CONGESTION_DELAY)
		plx_delay_init(qp->strategy, &engine->delay, now);
}
