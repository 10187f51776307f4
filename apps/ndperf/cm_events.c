/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles the channel's events. Each changes the state of a line. A request finds its line or is
 * rejected with a sentence. Private data is encoded and decoded here.
 * It never waits, and does not initiate connections. Start with cm_poll_events().
 */
#include "cm.h"

#include "numbers.h"

#include <stdio.h>
#include <string.h>

/* ---- private data ---- */

void
cm_put_greeting(const struct greeting *greeting, uint8_t *to)
{
	memcpy(to, talk_magic, TALK_MAGIC_BYTES);
	number_put(to + TALK_MAGIC_BYTES, greeting->session, 8);
	number_put(to + TALK_MAGIC_BYTES + 8, greeting->line, 4);
}

/* Returns: false: it does not come from an ndperf */
static bool
get_greeting(const struct plx_connector_event *event, struct greeting *out)
{
	if (event->private_bytes < GREETING_BYTES ||
	    memcmp(event->private_data, talk_magic, TALK_MAGIC_BYTES) != 0)
		return false;
	out->session = number_get(event->private_data + TALK_MAGIC_BYTES, 8);
	out->line = (uint32_t)number_get(event->private_data + TALK_MAGIC_BYTES + 8, 4);
	return true;
}

/* ---- requests ---- */

/* Why a request is rejected; NULL: it is accepted. */
static const char *
refusal(const struct cm *cm, const struct plx_connector_event *event, struct greeting *greeting)
{
	bool is_ours = get_greeting(event, greeting);
	if (!is_ours)
		return "this is ndperf, which accepts `ndperf client` only";
	if (greeting->line == CONTROL)
		return cm->line[CONTROL].state == LINE_IDLE
			       ? NULL
			       : "busy with another client; try again later";
	if (greeting->line >= QPS_MAX || greeting->session != cm->session ||
	    cm->line[CONTROL].state != LINE_ESTABLISHED)
		return "there is no such measurement";
	if (cm->line[greeting->line].state != LINE_IDLE)
		return "this queue pair is already connected";
	return NULL;
}

static void
on_request(struct cm *cm, const struct plx_connector_event *event)
{
	struct greeting greeting = {0};
	const char *no = refusal(cm, event, &greeting);
	if (no == NULL) {
		struct line *line = &cm->line[greeting.line];
		*line = (struct line){.connector = event->connector, .state = LINE_REQ_RCVD};
		plx_connector_set_context(event->connector, greeting.line);
		if (greeting.line == CONTROL)
			cm->client = event->info;
		return;
	}
	/* a peer that has given up meanwhile needs no answer */
	(void)!plx_reject(event->connector, no, (uint32_t)strlen(no));
	(void)!plx_connector_destroy(event->connector);
}

/* ---- events ---- */

static void
on_end(struct cm *cm, struct line *line, const struct plx_connector_event *event)
{
	line->state = LINE_TIMEWAIT;
	line->kind = event->kind;
	line->reason = event->reason;
	cm->said[0] = '\0';
	if (event->kind == PLX_CM_EVENT_REJECTED && event->reason == PLX_CM_REASON_CONSUMER)
		printable_text(event->private_data, event->private_bytes, cm->said,
			       sizeof(cm->said));
}

static void
on_event(struct cm *cm, const struct plx_connector_event *event)
{
	if (event->kind == PLX_CM_EVENT_REQUESTED) {
		on_request(cm, event);
		return;
	}
	struct line *line = &cm->line[event->context];
	if (event->kind == PLX_CM_EVENT_REPLIED) {
		line->state = LINE_REP_RCVD;
		if (event->context == CONTROL)
			cm->is_agreed = get_greeting(event, &cm->agreed);
	} else if (event->kind == PLX_CM_EVENT_ESTABLISHED) {
		line->state = LINE_ESTABLISHED;
	} else {
		on_end(cm, line, event);
	}
}

void
cm_poll_events(struct talk *talk)
{
	struct plx_connector_event event;
	while (plx_event_channel_next(talk->cm->channel, &event))
		on_event(talk->cm, &event);
}

void
cm_drop(struct line *line)
{
	if (line->connector != NULL)
		check_destroyed(plx_connector_destroy(line->connector), "a connector");
	*line = (struct line){0};
}

char *
cm_ended_text(const struct cm *cm, const struct line *line, char *text, size_t size)
{
	const char *what = plx_cm_event_text((enum plx_cm_event_kind)line->kind);
	if (line->kind == PLX_CM_EVENT_REJECTED)
		what = cm->said[0] != '\0' ? cm->said : plx_cm_reason_text(line->reason);
	snprintf(text, size, "%s", what);
	/* the end of an event's text is meant for programs */
	char *tail = strstr(text, "; ends");
	if (tail != NULL)
		*tail = '\0';
	return text;
}
