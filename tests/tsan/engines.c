/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two adapters of three engines each, one thread for each engine: connections between queue pairs
 * of any two engines come, exchange messages whose packets arrive on any queue, and end in every
 * way. It runs as a normal test, and under ThreadSanitizer (make tsan). Usage: `engines ROUNDS
 * [adaptive]`.
 * Start with live().
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_pair.h"

enum {
	ENGINES = 3,
	PORT = 7,
	DEPTH = 32,
	MESSAGES = 16, /* in each direction */
	BYTES = 2000,
	ENDS = 4,
};

static struct pair pair;
static struct whole_channel *channels[2];
static struct whole_listener *listener;
static struct whole_connector *connectors[2];

/* ---- one connection ---- */

static void
open_end(int i, uint32_t engine)
{
	const struct pair_options options = pair_defaults(DEPTH);
	const struct plx_engine_cq_config config = {.depth = 2 * DEPTH};
	struct pair_side *side = &pair.side[i];

	side->engine = side->all[engine];
	PLX_ASSERT(plx_engine_cq_create(side->engine, &config, &side->send_cq) == PLX_OK);
	side->recv_cq = side->send_cq;
	side->qp = pair_qp(&pair, i, &options);
	PLX_ASSERT(plx_link_connector_create(channels[i], 10u + (unsigned)i, &connectors[i]) ==
		   PLX_OK);
}

static void
close_end(int i)
{
	struct pair_side *side = &pair.side[i];

	pair_connector_destroy(connectors[i]);
	if (side->qp != NULL)
		PLX_ASSERT(plx_engine_qp_destroy(side->qp) == PLX_OK);
	PLX_ASSERT(plx_engine_cq_destroy(side->send_cq) == PLX_OK);
	side->qp = NULL;
	side->send_cq = side->recv_cq = NULL;
}

static struct plx_cm_event
next(int i, enum plx_cm_event_kind kind)
{
	struct plx_link_event event;

	while (!plx_link_channel_next(channels[i], &event))
		sched_yield();
	if (event.cm.kind != kind)
		fprintf(stderr, "side %d: %s instead of %s\n", i,
			plx_cm_event_text((enum plx_cm_event_kind)event.cm.kind),
			plx_cm_event_text(kind));
	PLX_ASSERT(event.cm.kind == kind);
	return event.cm;
}

static void
establish(void)
{
	struct plx_link_attr attr = {.rc = pair_defaults(DEPTH).attr,
				     .path = {.remote = pair.side[1].ip},
				     .own = {.path_mtu = 1024,
					     .responder_resources = 4,
					     .initiator_depth = 4,
					     .rnr_retry = 6,
					     .retry = 7,
					     .ack_timeout = 14},
				     .local_port = 50000,
				     .remote_port = PORT};
	struct plx_cm_event requested;
	enum plx_status status;

	attr.rc.ack_timeout_ns =
		PLX_SEC; /* a machine may have fewer cores than there are threads */
	PLX_ASSERT(plx_link_connect(connectors[0], pair.side[0].qp, &attr) == PLX_OK);
	requested = next(1, PLX_CM_EVENT_REQUESTED);
	PLX_ASSERT(plx_link_adopt(connectors[1], &requested) == PLX_OK);
	while ((status = plx_link_accept(connectors[1], pair.side[1].qp, &attr)) == PLX_AGAIN)
		sched_yield();
	PLX_ASSERT(status == PLX_OK);
	next(0, PLX_CM_EVENT_REPLIED);
	while ((status = plx_link_establish(connectors[0])) == PLX_AGAIN)
		sched_yield();
	PLX_ASSERT(status == PLX_OK);
	next(1, PLX_CM_EVENT_ESTABLISHED);
	/* Who is told so may post. */
	PLX_ASSERT(plx_engine_qp_state(pair.side[1].qp) == PLX_QP_RTS);
}

static void
reap(struct plx_cq *cq, uint32_t n)
{
	struct plx_wc wc;

	while (n > 0) {
		if (plx_engine_cq_poll(cq, &wc, 1) == 0) {
			sched_yield();
			continue;
		}
		if (wc.status != PLX_WC_SUCCESS)
			fprintf(stderr, "%s\n", plx_wc_text((enum plx_wc_status)wc.status));
		PLX_ASSERT(wc.status == PLX_WC_SUCCESS);
		n--;
	}
}

static void
exchange(void)
{
	for (uint32_t i = 0; i < MESSAGES; i++)
		for (int s = 0; s < 2; s++)
			PLX_ASSERT(pair_recv(&pair.side[s], i, 4 * BYTES + i * BYTES, BYTES) ==
				   PLX_OK);
	for (uint32_t i = 0; i < MESSAGES; i++)
		for (int s = 0; s < 2; s++)
			PLX_ASSERT(pair_send(&pair.side[s], i, 0, BYTES, 0) == PLX_OK);
	for (int s = 0; s < 2; s++)
		reap(pair.side[s].send_cq, 2 * MESSAGES);
}

static void
end(uint32_t how, int side)
{
	switch (how) {
	case 0:
		PLX_ASSERT(plx_link_disconnect(connectors[side]) == PLX_OK);
		next(side, PLX_CM_EVENT_CLOSED);
		break;
	case 1:
		PLX_ASSERT(plx_engine_qp_flush(pair.side[side].qp) == PLX_OK);
		next(side, PLX_CM_EVENT_DISCONNECTED);
		break;
	case 2:
		PLX_ASSERT(plx_engine_qp_destroy(pair.side[side].qp) == PLX_OK);
		pair.side[side].qp = NULL;
		next(side, PLX_CM_EVENT_DISCONNECTED);
		break;
	default:
		close_end(side);
		break;
	}
	next(!side, PLX_CM_EVENT_DISCONNECTED);
	if (how < ENDS - 1)
		close_end(side);
	close_end(!side);
}

static void
live(uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++) {
		open_end(0, i % ENGINES);
		open_end(1, i / ENGINES % ENGINES);
		establish();
		exchange();
		end(i % ENDS, (int)(i / ENDS % 2));
	}
}

/* ---- threads ---- */

static struct plx_worker *workers[2][ENGINES];

static void
start(enum plx_idle idle)
{
	const struct plx_worker_config config = {
		.core = -1, .idle = idle, .awake_ns = 1, .name = "plx-engines"};

	for (int s = 0; s < 2; s++)
		for (uint32_t e = 0; e < ENGINES; e++) {
			PLX_ASSERT(plx_worker_start(&config, &workers[s][e], NULL) == PLX_OK);
			PLX_ASSERT(plx_worker_add(workers[s][e], pair.side[s].all[e]) == PLX_OK);
		}
}

static void
stop(void)
{
	for (int s = 0; s < 2; s++)
		for (uint32_t e = 0; e < ENGINES; e++) {
			plx_worker_remove(workers[s][e], pair.side[s].all[e]);
			plx_worker_stop(workers[s][e]);
		}
}

int
main(int argc, char **argv)
{
	const struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP, .port = PORT};
	uint64_t crossed = 0;

	pair_open_with(&pair, &(struct pair_setup){.engines = ENGINES});
	start(argc > 2 ? PLX_IDLE_ADAPTIVE : PLX_IDLE_YIELD);
	for (int s = 0; s < 2; s++)
		PLX_ASSERT(plx_link_channel_create(pair.side[s].all[0], 16, &channels[s]) ==
			   PLX_OK);
	PLX_ASSERT(pair_listen(channels[1], &listen, 1000, &listener) == PLX_OK);
	live(argc > 1 ? (uint32_t)atoi(argv[1]) : 36);
	pair_listener_destroy(listener);
	for (int s = 0; s < 2; s++)
		PLX_ASSERT(plx_link_channel_destroy(channels[s]) == PLX_OK);
	stop();
	for (uint32_t e = 0; e < ENGINES; e++)
		crossed += plx_engine_counters(pair.side[0].all[e])->rx_handed_over;
	printf("%llu packets handed over\n", (unsigned long long)crossed);
	PLX_ASSERT(crossed > 0);
	pair_close(&pair);
	return 0;
}
