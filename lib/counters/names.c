/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names, from the lists by which the rooms declare their counters. lib/adapter/counters.c puts
 * the values in the same order. Start with plx_counter_names().
 */
#include "plx_counters.h"
#include "plx_cm.h"
#include "plx_engine.h"
#include "plx_net_wire.h"

struct name {
	const char *name, *text;
};

#define PLX_X(name, text) {PREFIX #name, text},

static const struct name of_all[] = {
#define PREFIX "engine_"
	PLX_ENGINE_COUNTER_LIST(PLX_X)
#undef PREFIX
#define PREFIX "refused_"
		PLX_WIRE_VERDICT_LIST(PLX_X)
#undef PREFIX
#define PREFIX "denied_"
			PLX_VERDICT_LIST(PLX_X)
#undef PREFIX
#define PREFIX "net_"
				PLX_NET_COUNTER_LIST(PLX_X)
#undef PREFIX
};

static const struct name of_cm[] = {
#define PREFIX "cm_"
	PLX_CM_COUNTER_LIST(PLX_X)
#undef PREFIX
#define PREFIX "cm_verdict_"
		PLX_CM_VERDICT_LIST(PLX_X)
#undef PREFIX
#define PREFIX "cm_refused_"
			PLX_MAD_VERDICT_LIST(PLX_X)
#undef PREFIX
};

static const struct name of_port[] = {
#define PREFIX "port_"
	PLX_PORT_COUNTER_LIST(PLX_X)
#undef PREFIX
		{"port_dma_refused", "regions that the device could not be shown"},
};

static const struct name of_wire[] = {
#define PREFIX "wire_"
	PLX_NET_WIRE_COUNTER_LIST(PLX_X)
#undef PREFIX
};

static const struct name of_qp[] = {
#define PREFIX ""
	PLX_QP_COUNTER_LIST(PLX_X)
#undef PREFIX
};

#undef PLX_X

/* Write them behind the first `at`.
 * Returns: how many there are then */
static uint32_t
put(const struct name *names, uint32_t count, uint32_t at, struct plx_counter *out, uint32_t n)
{
	for (uint32_t i = 0; i < count; i++)
		if (at + i < n)
			out[at + i] = (struct plx_counter){names[i].name, names[i].text, 0};
	return at + count;
}

uint32_t
plx_counter_names(uint32_t kinds, struct plx_counter *out, uint32_t n)
{
	uint32_t count = put(of_all, PLX_COUNT_OF(of_all), 0, out, n);

	if (kinds & PLX_COUNTERS_CM)
		count = put(of_cm, PLX_COUNT_OF(of_cm), count, out, n);
	count = put(of_port, PLX_COUNT_OF(of_port), count, out, n);
	if (kinds & PLX_COUNTERS_WIRE)
		count = put(of_wire, PLX_COUNT_OF(of_wire), count, out, n);
	return count;
}

uint32_t
plx_qp_counter_names(struct plx_counter *out, uint32_t n)
{
	for (uint32_t i = 0; i < PLX_VERDICT_COUNT && i < n; i++)
		out[i] = (struct plx_counter){plx_verdict_name((enum plx_verdict)i),
					      plx_verdict_text((enum plx_verdict)i), 0};
	return put(of_qp, PLX_COUNT_OF(of_qp), PLX_VERDICT_COUNT, out, n);
}
