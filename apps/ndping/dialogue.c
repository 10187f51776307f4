/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layers that need a connection: establishing it, exchanging messages with every byte checked,
 * and disconnecting. Start with dialogue_connect().
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
	LOOK = 256, /* polls between two checks of the clock and the channel */
	WORDS_MAX = 149,
};

/* ---- connect ---- */

static bool
make_queue_pair(struct ping *ping, struct plx_why *why)
{
	const struct message_qp_options options = {
		.adapter = ping->at.adapter,
		.pd = ping->at.pd,
		.bytes = 2 * (size_t)ping->options->size,
		.sq_depth = 4,
		.rq_depth = 4,
	};
	if (!message_qp_create(&ping->queue, &options, why))
		return false;
	enum plx_status status = plx_connector_create(ping->at.channel, 0, &ping->connector);
	return status == PLX_OK || why_set(why, "no connector: %s", plx_status_text(status));
}

/* Explain a rejection, by the connection manager or by the program. */
static bool
rejected(struct ping *ping, const struct plx_connector_event *event)
{
	const struct options *o = ping->options;
	char ip[64], words[WORDS_MAX];
	ip_text(&o->peer, ip, sizeof(ip));
	if (event->reason == PLX_CM_REASON_INVALID_SERVICE_ID)
		return layer_fail(
			ping, LAYER_CONNECT,
			"nobody listens on port %u of %s: its communication manager says so, so "
			"the path is fine; start `ndping server` there, or give its --port",
			o->port, ip);
	printable_text(event->private_data, event->private_bytes, words, sizeof(words));
	return layer_fail(ping, LAYER_CONNECT,
			  "%s port %u refuses: %s%s%s; the path is fine, but the port belongs to "
			  "another program or its server is full; give the --port of an `ndping "
			  "server`",
			  ip, o->port, plx_cm_reason_text(event->reason),
			  words[0] != '\0' ? ", saying " : "", words);
}

static bool
not_connected(struct ping *ping, const char *how)
{
	char ip[64];
	return layer_fail(
		ping, LAYER_CONNECT,
		"requested a connection to %s port %u: %s; its communication manager answered a "
		"moment ago, so the server there is stuck or packets are lost; "
		"check that it runs, and the counters of both ends",
		ip_text(&ping->options->peer, ip, sizeof(ip)), ping->options->port, how);
}

static bool
replied(struct ping *ping, const struct plx_connector_event *event)
{
	struct plx_why why = {{0}};
	char ip[64];
	uint32_t size;
	if (!greeting_get(event, &size) || size != ping->options->size)
		return layer_fail(
			ping, LAYER_CONNECT,
			"port %u of %s does not belong to an `ndping server` of this release; "
			"give the --port of one",
			ping->options->port, ip_text(&ping->options->peer, ip, sizeof(ip)));
	if (plx_establish(ping->connector, &why) != PLX_OK)
		return not_connected(ping, why.text);
	struct finding *finding = &ping->finding[LAYER_CONNECT];
	ping->connection = event->info;
	snprintf(finding->text, sizeof(finding->text), "port %u, queue pair 0x%06x, path MTU %u",
		 ping->options->port, event->info.remote_qpn, event->info.path_mtu);
	return true;
}

bool
dialogue_connect(struct ping *ping)
{
	const struct options *o = ping->options;
	struct plx_connect_options options;
	struct plx_connector_event event;
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
	    plx_connect(ping->connector, ping->queue.qp, &options, &why) != PLX_OK)
		return not_connected(ping, why.text);
	if (!plx_event_channel_wait(ping->at.channel, o->timeout_ms, &event)) {
		snprintf(text, sizeof(text), "no answer within %u ms", o->timeout_ms);
		return not_connected(ping, text);
	}
	if (event.kind == PLX_CM_EVENT_REPLIED)
		return replied(ping, &event);
	if (event.kind == PLX_CM_EVENT_REJECTED)
		return rejected(ping, &event);
	return not_connected(ping, event_text(&event, text));
}

/* ---- messages ---- */

static bool
exchange_fail(struct ping *ping, uint32_t n, const char *how)
{
	char ip[64];
	return layer_fail(ping, LAYER_MESSAGES,
			  "message %u of %u, %u bytes to %s and back: %s; the connection was "
			  "established, so either the peer is gone, or packets as long as the path "
			  "MTU (%u) are lost on the way; check that it runs, try --size 64, and "
			  "check the MTU of both ends and of the switches between them",
			  n + 1, ping->options->count, ping->options->size,
			  ip_text(&ping->options->peer, ip, sizeof(ip)), how,
			  ping->connection.path_mtu);
}

static bool
post_both(struct ping *ping, uint32_t n)
{
	uint32_t size = ping->options->size;
	pattern_write(ping->queue.memory, size, STREAM, n);
	memset(ping->queue.memory + size, 0, size);
	enum plx_status status = message_qp_post_recv(&ping->queue, WR_RECV, size, size);
	if (status == PLX_OK)
		status = message_qp_post_send(&ping->queue, WR_SEND, 0, size);
	return status == PLX_OK || exchange_fail(ping, n, plx_status_text(status));
}

/* Poll one completion, if there is one.
 * Returns: false: it failed */
static bool
reap_one(struct ping *ping, uint32_t n, uint32_t *done)
{
	struct plx_wc wc;
	if (plx_cq_poll(ping->queue.cq, &wc, 1) == 0)
		return true;
	if (wc.status != PLX_WC_SUCCESS)
		return exchange_fail(ping, n, plx_wc_text((enum plx_wc_status)wc.status));
	if (wc.wr_id == WR_RECV && wc.bytes != ping->options->size)
		return exchange_fail(ping, n, "it came back with a different length");
	(*done)++;
	return true;
}

/* Check for events that no completion reports.
 * Returns: false: the exchange is over */
static bool
look(struct ping *ping, uint32_t n, uint32_t *done, uint64_t deadline_ms)
{
	struct plx_connector_event event;
	char text[EVENT_TEXT_MAX];
	sched_yield();
	if (plx_event_channel_next(ping->at.channel, &event)) {
		/* a failed queue pair ends its connection, and the completion tells why */
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
	uint32_t at = pattern_check(ping->queue.memory + size, size, STREAM, n);
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
		 "%u of %u bytes, all correct; round trip min %.1f, p50 %.1f, p99 %.1f us",
		 ping->options->count, ping->options->size,
		 ticks_to_ns((double)ping->trips.min) / 1e3,
		 ticks_to_ns(histogram_percentile(&ping->trips, 0.5)) / 1e3,
		 ticks_to_ns(histogram_percentile(&ping->trips, 0.99)) / 1e3);
	return true;
}

/* ---- disconnect ---- */

bool
dialogue_disconnect(struct ping *ping)
{
	struct plx_connector_event event;
	char ip[64];
	enum plx_status status = plx_disconnect(ping->connector);
	bool has_come = status == PLX_OK &&
			plx_event_channel_wait(ping->at.channel, ping->options->timeout_ms, &event);
	if (!has_come)
		return layer_fail(ping, LAYER_DISCONNECT,
				  "disconnected from %s: %s; the messages before were correct, so "
				  "the peer has gone since; check that it runs",
				  ip_text(&ping->options->peer, ip, sizeof(ip)),
				  status != PLX_OK ? plx_status_text(status)
						   : "no answer within the timeout");
	snprintf(ping->finding[LAYER_DISCONNECT].text, sizeof(ping->finding[0].text),
		 "both sides disconnected");
	return true;
}

void
dialogue_clear(struct ping *ping)
{
	if (ping->connector != NULL)
		check_destroyed(plx_connector_destroy(ping->connector), "a connector");
	message_qp_destroy(&ping->queue);
	ping->connector = NULL;
}
