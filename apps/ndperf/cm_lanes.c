/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections of the measured queue pairs. The active side requests each, naming its lane and the
 * conversation that it belongs to. The passive side accepts. Afterwards the active side disconnects
 * them. Of a card it uses only what a request needs.
 * Start with cm_join().
 */
#include "cm.h"

#include "options.h"

enum {
	REQUESTS_MAX = 16, /* outstanding at once, to avoid overloading any connection manager */
};

static bool
fail_line(struct talk *talk, uint32_t i, const char *what)
{
	return side_fail(talk->side, "queue pair %u of %u cannot be connected to %.80s: %s", i + 1,
			 talk->side->job.qps, talk->peer, what);
}

static void
lane_options(const struct talk *talk, uint32_t i, uint8_t *bytes, struct plx_connect_options *out)
{
	const struct job *job = &talk->side->job;
	struct greeting greeting = {.session = talk->cm->session, .line = i};
	uint32_t most = talk->side->info.rd_atomic_max;
	plx_connect_options_init(out);
	out->remote = talk->options->peer;
	out->remote_port = (uint16_t)talk->options->port;
	out->path_mtu = job->path_mtu;
	out->access = PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_ATOMIC;
	out->responder_resources = out->initiator_depth =
		(uint8_t)(job->depth < most ? job->depth : most);
	if (job->ack_timeout != 0)
		out->ack_timeout = (uint8_t)job->ack_timeout;
	cm_put_greeting(&greeting, bytes);
	out->private_data = bytes;
	out->private_bytes = GREETING_BYTES;
}

/* ---- one step of one lane ---- */

static bool
request(struct talk *talk, uint32_t i)
{
	struct line *line = &talk->cm->line[i];
	struct plx_connect_options options;
	struct plx_why why = {{0}};
	uint8_t bytes[GREETING_BYTES];
	lane_options(talk, i, bytes, &options);
	enum plx_status status = plx_connector_create(talk->cm->channel, i, &line->connector);
	if (status == PLX_OK)
		status = plx_connect(line->connector, talk->side->lanes[i].qp, &options, &why);
	if (status != PLX_OK)
		return fail_line(talk, i, reason_text(&why, status));
	line->state = LINE_REQ_SENT;
	return true;
}

static bool
complete(struct talk *talk, uint32_t i)
{
	struct line *line = &talk->cm->line[i];
	struct plx_why why = {{0}};
	enum plx_status status = plx_establish(line->connector, &why);
	if (status != PLX_OK)
		return fail_line(talk, i, reason_text(&why, status));
	line->state = LINE_ESTABLISHED;
	return true;
}

static bool
accept_it(struct talk *talk, uint32_t i)
{
	struct line *line = &talk->cm->line[i];
	struct plx_connect_options options;
	struct plx_why why = {{0}};
	uint8_t bytes[GREETING_BYTES];
	lane_options(talk, i, bytes, &options);
	enum plx_status status =
		plx_accept(line->connector, talk->side->lanes[i].qp, &options, &why);
	if (status != PLX_OK)
		return fail_line(talk, i, reason_text(&why, status));
	line->state = LINE_REP_SENT;
	return true;
}

/* ---- all lanes ---- */

static uint32_t
count(const struct talk *talk, enum line_state state)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < talk->side->job.qps; i++)
		n += talk->cm->line[i].state == state;
	return n;
}

/* Advance every lane as far as possible.
 * Returns: false: the side has failed */
static bool
step(struct talk *talk)
{
	uint32_t pending = count(talk, LINE_REQ_SENT);
	for (uint32_t i = 0; i < talk->side->job.qps; i++) {
		struct line *line = &talk->cm->line[i];
		bool is_good = true;
		char text[SAID_MAX];
		if (line->state == LINE_TIMEWAIT)
			is_good = fail_line(talk, i,
					    cm_ended_text(talk->cm, line, text, sizeof(text)));
		else if (line->state == LINE_REP_RCVD)
			is_good = complete(talk, i);
		else if (line->state == LINE_REQ_RCVD)
			is_good = accept_it(talk, i);
		else if (line->state == LINE_IDLE && talk->side->is_active &&
			 pending < REQUESTS_MAX && ++pending > 0)
			is_good = request(talk, i);
		if (!is_good)
			return false;
	}
	return true;
}

bool
cm_join(struct talk *talk, const struct card *cards)
{
	struct side *side = talk->side;
	uint64_t deadline = now_ms() + talk->timeout_ms;
	for (uint32_t i = 0; i < side->job.qps; i++)
		side->lanes[i].peer = cards[i];
	while (count(talk, LINE_ESTABLISHED) < side->job.qps) {
		cm_poll_events(talk);
		cm_stream_collect(talk);
		if (!step(talk))
			return false;
		if (talk->cm->is_lost)
			return side_fail(side, "%s", talk->cm->why.text);
		if (interrupted)
			return side_fail(side, "interrupted");
		if (now_ms() >= deadline)
			return side_fail(
				side,
				"only %u of %u queue pairs were connected to %.100s within %u ms",
				count(talk, LINE_ESTABLISHED), side->job.qps, talk->peer,
				talk->timeout_ms);
		side_pause(side);
	}
	return true;
}

/* The active side disconnects, and the passive one is notified. The wait for a peer that does not
 * respond is short. */
void
cm_part(struct talk *talk, bool is_orderly)
{
	struct cm *cm = talk->cm;
	uint64_t deadline = now_ms() + ORDERLY_MS;
	if (cm == NULL)
		return;
	for (uint32_t i = 0; is_orderly && talk->side->is_active && i < talk->side->job.qps; i++) {
		if (cm->line[i].state == LINE_ESTABLISHED &&
		    plx_disconnect(cm->line[i].connector) == PLX_OK)
			cm->line[i].state = LINE_DREQ_SENT;
	}
	while (is_orderly && !cm->is_lost && now_ms() < deadline &&
	       count(talk, LINE_ESTABLISHED) + count(talk, LINE_DREQ_SENT) > 0) {
		cm_poll_events(talk);
		cm_stream_collect(talk);
		side_pause(talk->side);
	}
	for (uint32_t i = 0; i < QPS_MAX; i++)
		cm_drop(&cm->line[i]);
}
