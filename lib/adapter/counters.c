/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The values of all counters of an adapter, in the order of their names (lib/counters), and those
 * of one queue pair. It only reads values that others write, and adds them up over the engines.
 * Start with plx_host_counters().
 */
#include "adapter.h"
#include "plx_counters.h"

/* Sums over all engines, which share the neighbours. */
struct sums {
	struct plx_engine_counters engine;
	struct plx_net_counters net;
};

/* An engine counts meanwhile. */
static uint64_t
now(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void
add(struct sums *sums, const struct plx_engine_counters *engine)
{
	for (uint32_t i = 0; i < PLX_WIRE_VERDICT_COUNT; i++)
		sums->engine.refused[i] += now(&engine->refused[i]);
	for (uint32_t i = 0; i < PLX_VERDICT_COUNT; i++)
		sums->engine.denied[i] += now(&engine->denied[i]);
#define PLX_X(name, text) sums->engine.name += now(&engine->name);
	PLX_ENGINE_COUNTER_LIST(PLX_X)
#undef PLX_X
}

struct writer {
	uint64_t *out;
	uint32_t room, count;
};

static void
put(struct writer *to, uint64_t value)
{
	if (to->count < to->room)
		to->out[to->count] = value;
	to->count++;
}

static void
put_engine(struct writer *to, const struct sums *sums)
{
	const struct plx_engine_counters *engine = &sums->engine;
	const struct plx_net_counters *net = &sums->net;

#define PLX_X(name, text) put(to, engine->name);
	PLX_ENGINE_COUNTER_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, engine->refused[PLX_WIRE_##name]);
	PLX_WIRE_VERDICT_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, engine->denied[PLX_VERDICT_##name]);
	PLX_VERDICT_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, net->name);
	PLX_NET_COUNTER_LIST(PLX_X)
#undef PLX_X
}

static void
put_cm(struct writer *to, const struct plx_cm_counters *cm)
{
#define PLX_X(name, text) put(to, now(&cm->name));
	PLX_CM_COUNTER_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, now(&cm->verdict[PLX_CM_##name]));
	PLX_CM_VERDICT_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, now(&cm->refused[PLX_MAD_##name]));
	PLX_MAD_VERDICT_LIST(PLX_X)
#undef PLX_X
}

static void
put_port(struct writer *to, const struct plx_ethdev_stats *port, uint64_t dma_refused)
{
#define PLX_X(name, text) put(to, port->name);
	PLX_PORT_COUNTER_LIST(PLX_X)
#undef PLX_X
	put(to, dma_refused);
}

static void
put_wire(struct writer *to, const struct plx_net_wire_counters *wire)
{
#define PLX_X(name, text) put(to, wire->name);
	PLX_NET_WIRE_COUNTER_LIST(PLX_X)
#undef PLX_X
}

uint32_t
plx_host_counters(const struct host_adapter *adapter, uint64_t *out, uint32_t n, uint32_t *kinds)
{
	const struct plx_cm_counters *cm = plx_link_cm_counters(adapter->engine[0]);
	struct writer to = {.out = out, .room = n};
	struct plx_net_wire_counters wire;
	struct plx_ethdev_stats port;
	struct sums sums = {0};

	*kinds = cm != NULL ? PLX_COUNTERS_CM : 0;
	if (adapter->wire_attached && plx_net_wire_counters(adapter->options.device, &wire))
		*kinds |= PLX_COUNTERS_WIRE;
	for (uint32_t i = 0; i < adapter->engines; i++)
		add(&sums, plx_engine_counters(adapter->engine[i]));
	sums.net = *plx_engine_net_counters(adapter->engine[0]);
	put_engine(&to, &sums);
	if (*kinds & PLX_COUNTERS_CM)
		put_cm(&to, cm);
	plx_ethdev_stats(adapter->dev, &port);
	put_port(&to, &port, adapter->dma_refused);
	if (*kinds & PLX_COUNTERS_WIRE)
		put_wire(&to, &wire);
	return to.count;
}

/* ---- of a queue pair ---- */

uint32_t
plx_host_qp_counters(const struct plx_rc_counters *counters, uint64_t *out, uint32_t n)
{
	struct writer to = {.out = out, .room = n};

	for (uint32_t i = 0; i < PLX_VERDICT_COUNT; i++)
		put(&to, now(&counters->verdict[i]));
#define PLX_X(name, text) put(&to, now(&counters->name));
	PLX_QP_COUNTER_LIST(PLX_X)
#undef PLX_X
	return to.count;
}
