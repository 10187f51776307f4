/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The beginning and the end of a conversation through the communication manager. A server listens
 * and accepts one client after the other. A client retries until it is accepted or times out.
 * Either one announces that it leaves.
 * It never moves a message. Start with cm_connect().
 */
#include "cm.h"

#include "clock.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHANNEL_DEPTH = 1024,
	AGAIN_MS = 200, /* interval between connection attempts */
	ACK_TIMEOUT =
		18, /* 1.07 s, eight times: registering memory may keep a peer busy for that long */
	RNR_FOREVER =
		7, /* no limit: a peer reads when it can, and another timeout limits the writer */
	RD_ATOMIC = 1,
};

/* ---- both sides ---- */

static bool
make_channel(struct talk *talk, struct plx_why *why)
{
	talk->cm = calloc(1, sizeof(*talk->cm));
	if (talk->cm == NULL)
		return why_set(why, "no memory");
	enum plx_status status =
		plx_event_channel_create(talk->side->adapter, CHANNEL_DEPTH, &talk->cm->channel);
	return status == PLX_OK || why_set(why, "no event channel: %s", plx_status_text(status));
}

static void
free_channel(struct talk *talk)
{
	struct cm *cm = talk->cm;
	if (cm->channel != NULL)
		check_destroyed(plx_event_channel_destroy(cm->channel), "the event channel");
	free(cm);
	talk->cm = NULL;
}

/* Fill the connect options. `bytes` has room for GREETING_BYTES. */
static void
control_options(const struct greeting *greeting, uint8_t *bytes, struct plx_connect_options *out)
{
	plx_connect_options_init(out);
	out->access = PLX_ACCESS_REMOTE_WRITE; /* of zero bytes: a keepalive */
	out->responder_resources = out->initiator_depth = RD_ATOMIC;
	out->ack_timeout = ACK_TIMEOUT;
	out->rnr_retry = RNR_FOREVER;
	cm_put_greeting(greeting, bytes);
	out->private_data = bytes;
	out->private_bytes = GREETING_BYTES;
}

static bool
is_over(const struct line *line)
{
	return line->state == LINE_TIMEWAIT || line->state == LINE_IDLE;
}

/* Wait until the conversation's line leaves this state. */
static void
wait_while(struct talk *talk, enum line_state state, uint64_t deadline_ms)
{
	const struct line *line = &talk->cm->line[CONTROL];
	while (!interrupted && line->state == state && now_ms() < deadline_ms) {
		cm_poll_events(talk);
		if (line->state == state)
			side_pause(talk->side);
	}
}

/* Wait until everything written has arrived, then disconnect and wait for the peer's answer; for
 * ORDERLY_MS in all. */
static void
disconnect(struct talk *talk)
{
	struct cm *cm = talk->cm;
	struct line *line = &cm->line[CONTROL];
	uint64_t deadline = now_ms() + ORDERLY_MS;
	cm_stream_drain(talk, deadline);
	if (is_over(line) || plx_disconnect(line->connector) != PLX_OK)
		return;
	line->state = LINE_DREQ_SENT;
	while (line->state == LINE_DREQ_SENT && now_ms() < deadline) {
		side_pause(talk->side);
		cm_poll_events(talk);
	}
}

static void
cm_close(struct talk *talk)
{
	struct cm *cm = talk->cm;
	if (cm == NULL)
		return;
	struct line *line = &cm->line[CONTROL];
	cm_part(talk, false);
	if (line->state == LINE_ESTABLISHED)
		disconnect(talk);
	cm_drop(line);
	message_qp_destroy(&cm->queue);
	if (cm->listener == NULL)
		free_channel(talk);
}

/* ---- the client ---- */

static bool
request(struct talk *talk, struct plx_why *why)
{
	struct cm *cm = talk->cm;
	struct line *line = &cm->line[CONTROL];
	struct greeting greeting = {.line = CONTROL};
	struct plx_connect_options options;
	uint8_t bytes[GREETING_BYTES];
	why->text[0] = '\0';
	control_options(&greeting, bytes, &options);
	options.remote = talk->options->peer;
	options.remote_port = (uint16_t)talk->options->port;
	enum plx_status status = PLX_OK;
	if (line->connector == NULL)
		status = plx_connector_create(cm->channel, CONTROL, &line->connector);
	if (status == PLX_OK)
		status = plx_connect(line->connector, cm->queue.qp, &options, why);
	if (status != PLX_OK && why->text[0] == '\0')
		why_set(why, "cannot send a request to %s: %s", talk->peer,
			plx_status_text(status));
	if (status == PLX_OK)
		line->state = LINE_REQ_SENT;
	return status == PLX_OK;
}

/* The server has replied: is it an ndperf server? */
static bool
complete(struct talk *talk, struct plx_why *why)
{
	struct cm *cm = talk->cm;
	struct line *line = &cm->line[CONTROL];
	why->text[0] = '\0';
	if (!cm->is_agreed)
		return why_set(why, "%s is not an ndperf; check --port", talk->peer);
	cm->session = cm->agreed.session;
	enum plx_status status = plx_establish(line->connector, why);
	if (status != PLX_OK && why->text[0] == '\0')
		why_set(why, "the connection to %s cannot be completed: %s", talk->peer,
			plx_status_text(status));
	if (status != PLX_OK)
		return false;
	line->state = LINE_ESTABLISHED;
	return true;
}

static bool
unanswered(struct talk *talk, struct plx_why *why)
{
	const struct line *line = &talk->cm->line[CONTROL];
	char text[SAID_MAX];
	if (interrupted)
		return why_set(why, "interrupted while waiting for %s", talk->peer);
	if (line->state == LINE_TIMEWAIT)
		cm_ended_text(talk->cm, line, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "no answer");
	return why_set(why,
		       "%.60s did not accept the connection within %u ms (%.90s); start `ndperf "
		       "server` there first, or "
		       "give a longer --timeout",
		       talk->peer, talk->timeout_ms, text);
}

static bool
cm_connect(struct talk *talk, struct plx_why *why)
{
	uint64_t deadline = now_ms() + talk->timeout_ms;
	char ip[64];
	snprintf(talk->peer, sizeof(talk->peer), "the server %s port %u",
		 ip_text(&talk->options->peer, ip, sizeof(ip)), talk->options->port);
	if (!make_channel(talk, why) || !cm_stream_make(talk, why))
		return false;
	struct line *line = &talk->cm->line[CONTROL];
	for (;;) {
		if (!request(talk, why))
			return false;
		wait_while(talk, LINE_REQ_SENT, deadline);
		if (line->state == LINE_REP_RCVD)
			return complete(talk, why);
		if (interrupted || now_ms() + AGAIN_MS >= deadline)
			return unanswered(talk, why);
		uint64_t again = now_ms() + AGAIN_MS;
		while (!interrupted && now_ms() < again)
			side_pause(talk->side);
	}
}

/* ---- the server ---- */

static bool
cm_listen(struct talk *talk, struct plx_why *why)
{
	struct plx_listen_options options = {.port = (uint16_t)talk->options->port};
	if (!make_channel(talk, why)) {
		if (talk->cm != NULL)
			free_channel(talk);
		return false;
	}
	why->text[0] = '\0';
	enum plx_status status = plx_listen(talk->cm->channel, &options, &talk->cm->listener, why);
	if (status == PLX_OK)
		return true;
	if (why->text[0] == '\0')
		why_set(why, "cannot listen on port %u: %s", options.port, plx_status_text(status));
	free_channel(talk);
	return false;
}

static void
cm_shut(struct talk *talk)
{
	check_destroyed(plx_listener_destroy(talk->cm->listener), "the listener");
	talk->cm->listener = NULL;
	cm_poll_events(talk); /* rejects requests that arrived meanwhile */
	cm_close(talk);
}

/* Unguessable, so that a stranger's queue pair cannot take a client's place. */
static uint64_t
new_session(void)
{
	uint64_t number = 0;
	FILE *random = fopen("/dev/urandom", "rb");
	if (random == NULL || fread(&number, sizeof(number), 1, random) != 1)
		number = ticks();
	if (random != NULL)
		fclose(random);
	return number;
}

/* Accept the requesting client.
 * Returns: false: it has left, or accepting failed (reported) */
static bool
accept_client(struct talk *talk)
{
	struct cm *cm = talk->cm;
	struct line *line = &cm->line[CONTROL];
	struct plx_connect_options options;
	struct plx_why why = {{0}};
	uint8_t bytes[GREETING_BYTES];
	char ip[64];
	cm->session = new_session();
	struct greeting greeting = {.session = cm->session, .line = CONTROL};
	control_options(&greeting, bytes, &options);
	snprintf(talk->peer, sizeof(talk->peer), "the client %s port %u",
		 ip_text(&cm->client.remote, ip, sizeof(ip)), cm->client.remote_port);
	if (!cm_stream_make(talk, &why) ||
	    plx_accept(line->connector, cm->queue.qp, &options, &why) != PLX_OK) {
		fprintf(stderr, "ndperf: cannot accept %s: %s\n", talk->peer, why.text);
		return false;
	}
	/* its RTU or first message may have arrived already */
	if (line->state == LINE_REQ_RCVD)
		line->state = LINE_REP_SENT;
	wait_while(talk, LINE_REP_SENT, now_ms() + talk->timeout_ms);
	return line->state == LINE_ESTABLISHED;
}

static bool
cm_accept(struct talk *talk, struct plx_why *why)
{
	struct line *line = &talk->cm->line[CONTROL];
	why->text[0] = '\0';
	for (;;) {
		wait_while(talk, LINE_IDLE, UINT64_MAX);
		if (interrupted)
			return false;
		if (line->state == LINE_REQ_RCVD && accept_client(talk))
			return true;
		cm_drop(line);
		message_qp_destroy(&talk->cm->queue);
	}
}

const struct carrier carrier_cm = {
	.needs_adapter = true,
	.listen = cm_listen,
	.accept = cm_accept,
	.shut = cm_shut,
	.connect = cm_connect,
	.read = cm_read,
	.write = cm_write,
	.has_news = cm_has_news,
	.join = cm_join,
	.part = cm_part,
	.close = cm_close,
};
