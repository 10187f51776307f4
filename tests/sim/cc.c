/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A congestion strategy for the simulator: paces by a rate that CNPs and timeouts halve and ACKs
 * raise. It never holds a packet back forever, and checks that no more leaves than it has granted.
 * Start with sim_cc_create().
 */
#include <stdlib.h>

#include "sim.h"

enum {
	SIM_CC_PACKET_MAX = PLX_MTU_MAX + PLX_CC_HEADER_BYTES
};

struct sim_cc {
	uint64_t next_at; /* a packet may leave */
	uint64_t ns_per_kib, floor_ns, ceiling_ns;
	uint32_t burst;    /* [bytes] that it grants beside the packet */
	uint64_t grant_ns; /* how long it grants them */
};

static uint64_t
cc_ask(const void *state, uint64_t now, uint32_t bytes, struct plx_cc_grant *grant)
{
	const struct sim_cc *cc = state;

	PLX_ASSERT(bytes >= PLX_CC_HEADER_BYTES);
	grant->bytes = bytes + cc->burst;
	grant->until = now + cc->grant_ns;
	return cc->next_at;
}

static uint64_t
cost_ns(uint64_t bytes, uint64_t ns_per_kib)
{
	return bytes * ns_per_kib / 1024;
}

static void
cc_on_sent(void *state, uint64_t now, uint32_t bytes)
{
	struct sim_cc *cc = state;

	PLX_ASSERT(bytes <= SIM_CC_PACKET_MAX + cc->burst);
	cc->next_at = now + cost_ns(bytes, cc->ns_per_kib);
}

static void
cc_on_rtt(void *state, uint64_t now, uint64_t rtt_ns)
{
	(void)state;
	PLX_ASSERT(rtt_ns <= now);
}

static void
cc_on_ack(void *state, uint64_t now, uint32_t packets)
{
	struct sim_cc *cc = state;

	(void)now;
	(void)packets;
	if (cc->ns_per_kib > cc->floor_ns)
		cc->ns_per_kib -= (cc->ns_per_kib - cc->floor_ns) / 8 + 1;
}

static void
slower(struct sim_cc *cc)
{
	cc->ns_per_kib = cc->ns_per_kib * 2 < cc->ceiling_ns ? cc->ns_per_kib * 2 : cc->ceiling_ns;
}

static void
cc_on_loss(void *state, uint64_t now, enum plx_loss cause)
{
	(void)now;
	if (cause == PLX_LOSS_TIMEOUT)
		slower(state);
}

static bool
cc_on_ce(void *state, uint64_t now)
{
	(void)state;
	(void)now;
	return true; /* how often is the transport's business */
}

static void
cc_on_cnp(void *state, uint64_t now)
{
	(void)now;
	slower(state);
}

static const struct plx_cc_ops ops = {
	.name = "sim",
	.ask = cc_ask,
	.on_sent = cc_on_sent,
	.on_rtt = cc_on_rtt,
	.on_ack = cc_on_ack,
	.on_loss = cc_on_loss,
	.on_ce = cc_on_ce,
	.on_cnp = cc_on_cnp,
};

struct sim_cc *
sim_cc_create(struct plx_prng *prng, struct ep_qp_config *config)
{
	struct sim_cc *cc = calloc(1, sizeof(*cc));

	PLX_ASSERT(cc != NULL);
	cc->floor_ns = draw_log(prng, 10, SIM_CC_SLOWEST_NS / 8);
	cc->ceiling_ns = cc->floor_ns * 8;
	cc->ns_per_kib = cc->floor_ns;
	cc->burst = (uint32_t)(cc->floor_ns & 3) * PLX_MTU_MAX; /* 0: every packet asks */
	cc->grant_ns = cc->ceiling_ns;
	config->cc = &ops;
	config->cc_state = cc;
	return cc;
}

uint64_t
sim_cc_hold_ns(const struct sim_cc *cc)
{
	return cost_ns(SIM_CC_PACKET_MAX + cc->burst, cc->ceiling_ns);
}
