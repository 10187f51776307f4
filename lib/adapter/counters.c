/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All counters of an adapter: of its engines, neighbours, communication manager, port and embedded
 * link. A prefix of the name tells the source. Also those of one queue pair.
 * It only reads values that others write, and adds them up over the engines. Start with
 * plx_host_counters().
 */
#include "adapter.h"

/* The members of struct plx_ethdev_stats. X(name, text) */
#define PORT_COUNTER_LIST(X)                                     \
	X(rx_packets, "packets the device received")             \
	X(rx_bytes, "bytes the device received")                 \
	X(rx_missed, "packets dropped by a full receive queue")  \
	X(rx_errors, "packets received with an error")           \
	X(rx_no_buffer, "packets for which there was no buffer") \
	X(tx_packets, "packets the device sent")                 \
	X(tx_bytes, "bytes the device sent")                     \
	X(tx_errors, "packets the device could not send")

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
	struct plx_counter *out;
	uint32_t room, count;
};

static void
put(struct writer *to, const char *name, const char *text, uint64_t value)
{
	if (to->count < to->room)
		to->out[to->count] = (struct plx_counter){name, text, value};
	to->count++;
}

static void
put_engine(struct writer *to, const struct sums *sums)
{
	const struct plx_engine_counters *engine = &sums->engine;
	const struct plx_net_counters *net = &sums->net;

#define PLX_X(name, text) put(to, "engine_" #name, text, engine->name);
	PLX_ENGINE_COUNTER_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, "refused_" #name, text, engine->refused[PLX_WIRE_##name]);
	PLX_WIRE_VERDICT_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, "denied_" #name, text, engine->denied[PLX_VERDICT_##name]);
	PLX_VERDICT_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, "net_" #name, text, net->name);
	PLX_NET_COUNTER_LIST(PLX_X)
#undef PLX_X
}

static void
put_cm(struct writer *to, const struct plx_cm_counters *cm)
{
#define PLX_X(name, text) put(to, "cm_" #name, text, now(&cm->name));
	PLX_CM_COUNTER_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, "cm_verdict_" #name, text, now(&cm->verdict[PLX_CM_##name]));
	PLX_CM_VERDICT_LIST(PLX_X)
#undef PLX_X
#define PLX_X(name, text) put(to, "cm_refused_" #name, text, now(&cm->refused[PLX_MAD_##name]));
	PLX_MAD_VERDICT_LIST(PLX_X)
#undef PLX_X
}

static void
put_port(struct writer *to, const struct plx_ethdev_stats *port, uint64_t dma_refused)
{
#define PLX_X(name, text) put(to, "port_" #name, text, port->name);
	PORT_COUNTER_LIST(PLX_X)
#undef PLX_X
	put(to, "port_dma_refused", "regions that the device could not be shown", dma_refused);
}

static void
put_wire(struct writer *to, const struct plx_net_wire_counters *wire)
{
#define PLX_X(name, text) put(to, "wire_" #name, text, wire->name);
	PLX_NET_WIRE_COUNTER_LIST(PLX_X)
#undef PLX_X
}

uint32_t
plx_host_counters(const struct host_adapter *adapter, struct plx_counter *out, uint32_t n,
		  uint32_t *kinds)
{
	const struct plx_cm_counters *cm = plx_link_cm_counters(adapter->engine[0]);
	struct writer to = {.out = out, .room = n};
	struct plx_net_wire_counters wire;
	struct plx_ethdev_stats port;
	struct sums sums = {0};

	*kinds = cm != NULL ? PLX_COUNTERS_CM : 0;
	for (uint32_t i = 0; i < adapter->engines; i++)
		add(&sums, plx_engine_counters(adapter->engine[i]));
	sums.net = *plx_engine_net_counters(adapter->engine[0]);
	put_engine(&to, &sums);
	if (cm != NULL)
		put_cm(&to, cm);
	plx_ethdev_stats(adapter->dev, &port);
	put_port(&to, &port, adapter->dma_refused);
	if (adapter->wire_attached && plx_net_wire_counters(adapter->options.device, &wire)) {
		*kinds |= PLX_COUNTERS_WIRE;
		put_wire(&to, &wire);
	}
	return to.count;
}

uint32_t
plx_host_counter_names(uint32_t kinds, struct plx_counter *out, uint32_t n)
{
	const struct plx_net_wire_counters wire = {0};
	const struct plx_ethdev_stats port = {0};
	const struct plx_cm_counters cm = {0};
	const struct sums sums = {0};
	struct writer to = {.out = out, .room = n};

	put_engine(&to, &sums);
	if (kinds & PLX_COUNTERS_CM)
		put_cm(&to, &cm);
	put_port(&to, &port, 0);
	if (kinds & PLX_COUNTERS_WIRE)
		put_wire(&to, &wire);
	return to.count;
}

/* ---- of a queue pair ---- */

/* Offset and description of each counter of the second kind. */
static const struct {
	const char *name, *text;
	size_t at;
} named[] = {
#define PLX_X(name, text) {#name, text, offsetof(struct plx_rc_counters, name)},
	PLX_QP_COUNTER_LIST(PLX_X)
#undef PLX_X
};

static const uint64_t *
counter_at(const struct plx_rc_counters *counters, uint32_t i)
{
	if (i < PLX_VERDICT_COUNT)
		return &counters->verdict[i];
	return (const uint64_t *)(const void *)((const uint8_t *)counters +
						named[i - PLX_VERDICT_COUNT].at);
}

uint32_t
plx_host_qp_counters(const struct plx_rc_counters *counters, struct plx_counter *out, uint32_t n)
{
	const uint32_t count = PLX_VERDICT_COUNT + PLX_COUNT_OF(named);

	for (uint32_t i = 0; i < count && i < n; i++) {
		bool verdict = i < PLX_VERDICT_COUNT;

		out[i].name = verdict ? plx_verdict_name((enum plx_verdict)i)
				      : named[i - PLX_VERDICT_COUNT].name;
		out[i].text = verdict ? plx_verdict_text((enum plx_verdict)i)
				      : named[i - PLX_VERDICT_COUNT].text;
		out[i].value = counters == NULL
				       ? 0
				       : __atomic_load_n(counter_at(counters, i), __ATOMIC_RELAXED);
	}
	return count;
}
