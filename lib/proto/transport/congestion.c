/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The congestion strategy that never delays a packet, even if the peer sends CNPs. It has no state.
 * Another strategy is a table like plx_cc_none, passed to plx_rc_init().
 */
#include "qp.h"

static uint64_t
none_ask(const void *state, uint64_t now, uint32_t bytes)
{
	(void)state;
	(void)bytes;
	return now;
}

static void
none_on_sent(void *state, uint64_t now, uint32_t bytes)
{
	(void)state;
	(void)now;
	(void)bytes;
}

static void
none_on_loss(void *state, uint64_t now, enum plx_loss cause)
{
	(void)state;
	(void)now;
	(void)cause;
}

static bool
none_on_ce(void *state, uint64_t now)
{
	(void)state;
	(void)now;
	return true;
}

static void
none_on_cnp(void *state, uint64_t now)
{
	(void)state;
	(void)now;
}

const struct plx_cc_ops plx_cc_none = {
	.name = "none",
	.ask = none_ask,
	.on_sent = none_on_sent,
	.on_ack = none_on_sent,
	.on_loss = none_on_loss,
	.on_ce = none_on_ce,
	.on_cnp = none_on_cnp,
};
