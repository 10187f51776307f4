/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the layers that need a connection: made, used for messages there and back with every byte
 * checked, and ended. Start with dialogue_connect().
 */
#include "ping.h"

#include "pattern.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

enum {
	WR_SEND = 1,
	WR_RECV = 2,
	STREAM = 0, /* of the pattern */
	LOOK = 256, /* polls between two looks at the clock and the channel */
	WORDS_MAX = 149,
};

/* ---- connect ------------------------------------------------------------------------------ */

static bool
make_queue_pair(struct ping *ping, struct plx_why *why)
{
	struct plx_cq_options queue = {.depth = 8};
	size_t bytes = 2 * (size_t)ping->options->size;
	ping->memory = plx_mem_alloc(bytes, ping->at.info.socket, NULL);
	if (ping->memory == NULL)
		return say(why, "no memory for messages");
	enum plx_status status = plx_mr_register(ping->at.pd, ping->memory, bytes,
						 PLX_ACCESS_LOCAL_WRITE, &ping->mr);
	if (status == PLX_OK)
		status = plx_cq_create(ping->at.adapter, &queue, &ping->cq);
	struct plx_qp_options options = {
		.send_cq = ping->cq, .recv_cq = ping->cq, .sq_depth = 4, .rq_depth = 4};
	if (status == PLX_OK)
		status = plx_qp_create(ping->at.pd, &options, &ping->qp, why);
	if (status == PLX_OK)
		status = plx_connector_create(ping->at.channel, 0, &ping->connector);
	if (status != PLX_OK && why->text[0] == '\0')
		say(why, "no queue pair: %s", plx_status_text(status));
	return status == PLX_OK;
}

/* Who refuses says why: the manager, or the program. */
static bool
rejected(struct ping *ping, const struct plx_channel_event *event)
{
	const struct options *o = ping->options;
	char ip[64], words[WORDS_MAX];
	uint32_t n = 0;
	ip_text(&o->peer, ip, sizeof(ip));
	if (event->reason == PLX_CM_REASON_INVALID_SERVICE_ID)
		return layer_fail(
			ping, LAYER_CONNECT,
			"nobody listens on port %u of %s: its communication manager says "
			"so itself, so the way there is fine; start `ndping server` there, "
			"or give the --port it has",
			o->port, ip);
	for (uint32_t i = 0; i < event->private_bytes && n < sizeof(words) - 1; i++) {
		if (event->private_data[i] >= ' ' && event->private_data[i] < 0x7f)
			words[n++] = (char)event->private_data[i];
	}
	words[n] = '\0';
	return layer_fail(ping, LAYER_CONNECT,
			  "%s port %u refuses: %s%s%s; the way there is fine, but this port is "
			  "another program's or its server is full; give the --port of an `ndping "
			  "server`",
			  ip, o->port, plx_cm_reason_text(event->reason), n > 0 ? ", saying " : "",
			  words);
}

static bool
not_connected(struct ping *ping, const char *how)
{
	char ip[64];
	return layer_fail(
		ping, LAYER_CONNECT,
		"asked %s port %u for a connection: %s; its communication manager has "
		"answered a moment ago, so the server there is stuck or packets are lost; "
		"look whether it runs, and at the counters of both ends",
		ip_text(&ping->options->peer, ip, sizeof(ip)), ping->options->port, how);
}

static bool
replied(struct ping *ping, const struct plx_channel_event *event)
{
	struct plx_why why = {{0}};
	char ip[64];
	uint32_t size;
	if (!greeting_get(event, &size) || size != ping->options->size)
		return layer_fail(
			ping, LAYER_CONNECT,
			"who listens on port %u of %s is no `ndping server` of this release; "
			"give the --port of one",
			ping->options->port, ip_text(&ping->options->peer, ip, sizeof(ip)));
	if (plx_complete(ping->connector, &why) != PLX_OK)
		return not_connected(ping, why.text);
	struct finding *finding = &ping->finding[LAYER_CONNECT];
	ping->connection = event->connection;
	snprintf(finding->text, sizeof(finding->text), "port %u, queue pair 0x%06x, path MTU %u",
		 ping->options->port, event->connection.remote_qpn, event->connection.path_mtu);
	return true;
}

bool
dialogue_connect(struct ping *ping)
{
	const struct options *o = ping->options;
	struct plx_connect_options options;
	struct plx_channel_event event;
	struct plx_why why = {{0}};
	uint8_t greeting[GREETING_BYTES];
	char text[EVENT_TEXT_MAX];
	plx_connect_options_init(&options);
	options.remote = o->peer;
	options.remote_port = (uint16_t)o->port;
	greeting_put(o->size, greeting);
	options.private_data = greeting;
	options.private_bytes = sizeof(greeting);
	if (!make_queue_pair(ping, &why) ||
	    plx_connect(ping->connector, ping->qp, &options, &why) != PLX_OK)
		return not_connected(ping, why.text);
	if (!plx_channel_wait(ping->at.channel, o->timeout_ms, &event)) {
		snprintf(text, sizeof(text), "no answer within %u ms", o->timeout_ms);
		return not_connected(ping, text);
	}
	if (event.kind == PLX_CM_EVENT_REPLIED)
		return replied(ping, &event);
	if (event.kind == PLX_CM_EVENT_REJECTED)
		return rejected(ping, &event);
	return not_connected(ping, event_text(&event, text));
}

/* ---- messages ----------------------------------------------------------------------------- */

static bool
exchange_fail(struct ping *ping, uint32_t n, const char *how)
{
	char ip[64];
	return layer_fail(ping, LAYER_MESSAGES,
			  "message %u of %u, %u bytes to %s and back: %s; connecting was fine, so "
			  "either the peer has gone, or longer packets than those of a connection "
			  "(path MTU %u) are lost on the way; look whether it runs, try --size 64, "
			  "and check the MTU of both ends and of the switches between",
			  n + 1, ping->options->count, ping->options->size,
			  ip_text(&ping->options->peer, ip, sizeof(ip)), how,
			  ping->connection.path_mtu);
}

static bool
post_both(struct ping *ping, uint32_t n)
{
	uint32_t size = ping->options->size;
	enum plx_status status = PLX_OK;
	struct plx_sge out = {.va = (uint64_t)(uintptr_t)ping->memory,
			      .length = size,
			      .key = plx_mr_key(ping->mr)};
	struct plx_sge in = out;
	in.va += size;
	struct plx_recv_wr recv = {.wr_id = WR_RECV, .sge = &in, .sges = 1};
	struct plx_send_wr send = {.wr_id = WR_SEND, .op = PLX_WR_SEND, .sges = 1, .sge = &out};
	pattern_write(ping->memory, size, STREAM, n);
	memset(ping->memory + size, 0, size);
	if (plx_post_recv(ping->qp, &recv, 1, &status) != 1 ||
	    plx_post_send(ping->qp, &send, 1, &status) != 1)
		return exchange_fail(ping, n, plx_status_text(status));
	return true;
}

/* Take one completion, if there is one. Returns: false: it is a bad one */
static bool
reap_one(struct ping *ping, uint32_t n, uint32_t *done)
{
	struct plx_wc wc;
	if (plx_cq_poll(ping->cq, &wc, 1) == 0)
		return true;
	if (wc.status != PLX_WC_SUCCESS)
		return exchange_fail(ping, n, plx_wc_text((enum plx_wc_status)wc.status));
	if (wc.wr_id == WR_RECV && wc.bytes != ping->options->size)
		return exchange_fail(ping, n, "it came back with another length");
	(*done)++;
	return true;
}

/* What no completion tells of. Returns: false: the exchange is over */
static bool
look(struct ping *ping, uint32_t n, uint32_t *done, uint64_t deadline_ms)
{
	struct plx_channel_event event;
	char text[EVENT_TEXT_MAX];
	sched_yield();
	if (plx_channel_next(ping->at.channel, &event)) {
		/* a queue pair that failed ends its connection: the completion tells why */
		return reap_one(ping, n, done) && exchange_fail(ping, n, event_text(&event, text));
	}
	if (interrupted)
		return exchange_fail(ping, n, "interrupted");
	return now_ms() <= deadline_ms || exchange_fail(ping, n, "no answer within the timeout");
}

/* Wait for both completions of message `n`. */
static bool
reap_both(struct ping *ping, uint32_t n)
{
	uint64_t deadline = now_ms() + ping->options->timeout_ms;
	uint32_t done = 0;
	for (uint32_t turn = 1; done < 2; turn++) {
		if (!reap_one(ping, n, &done))
			return false;
		if (turn % LOOK == 0 && done < 2 && !look(ping, n, &done, deadline))
			return false;
	}
	return true;
}

static bool
check(struct ping *ping, uint32_t n)
{
	uint32_t size = ping->options->size;
	uint32_t at = pattern_check(ping->memory + size, size, STREAM, n);
	char text[64];
	if (at == size)
		return true;
	snprintf(text, sizeof(text), "byte %u is not what was sent", at);
	return exchange_fail(ping, n, text);
}

bool
dialogue_exchange(struct ping *ping)
{
	histogram_clear(&ping->trips);
	for (uint32_t n = 0; n < ping->options->count; n++) {
		uint64_t start = ticks();
		if (!post_both(ping, n) || !reap_both(ping, n))
			return false;
		histogram_add(&ping->trips, ticks() - start);
		if (!check(ping, n))
			return false;
	}
	struct finding *finding = &ping->finding[LAYER_MESSAGES];
	snprintf(finding->text, sizeof(finding->text),
		 "%u of %u bytes, all right; round trip min %.1f, median %.1f, p99 %.1f us",
		 ping->options->count, ping->options->size,
		 ticks_to_ns((double)ping->trips.min) / 1e3,
		 ticks_to_ns(histogram_percentile(&ping->trips, 0.5)) / 1e3,
		 ticks_to_ns(histogram_percentile(&ping->trips, 0.99)) / 1e3);
	return true;
}

/* ---- disconnect --------------------------------------------------------------------------- */

bool
dialogue_disconnect(struct ping *ping)
{
	struct plx_channel_event event;
	char ip[64];
	enum plx_status status = plx_disconnect(ping->connector);
	bool has_come = status == PLX_OK &&
			plx_channel_wait(ping->at.channel, ping->options->timeout_ms, &event);
	if (!has_come)
		return layer_fail(
			ping, LAYER_DISCONNECT,
			"%s was told that the connection ends: %s; the messages before were "
			"all right, so it has gone in the meantime; look whether it runs",
			ip_text(&ping->options->peer, ip, sizeof(ip)),
			status != PLX_OK ? plx_status_text(status)
					 : "no answer within the timeout");
	snprintf(ping->finding[LAYER_DISCONNECT].text, sizeof(ping->finding[0].text),
		 "both sides know");
	return true;
}

void
dialogue_clear(struct ping *ping)
{
	if (ping->connector != NULL)
		given_back(plx_connector_destroy(ping->connector), "a connector");
	if (ping->qp != NULL)
		given_back(plx_qp_destroy(ping->qp), "a queue pair");
	if (ping->cq != NULL)
		given_back(plx_cq_destroy(ping->cq), "a completion queue");
	if (ping->mr != NULL)
		given_back(plx_mr_deregister(ping->mr), "a region");
	if (ping->memory != NULL)
		plx_mem_free(ping->memory);
	ping->connector = NULL;
	ping->qp = NULL;
	ping->cq = NULL;
	ping->mr = NULL;
	ping->memory = NULL;
}
