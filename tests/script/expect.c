/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What an application sees: completions, their order, their contents, and events. A completion out
 * of order, or with bytes that differ from those sent, fails the script. Start with
 * line_completes().
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "script.h"

void
note_text(struct script *s, const struct note *note, char *out, size_t bytes)
{
	const struct plx_completion *c = &note->completion;
	const char *what;
	int used;

	if (note->is_event) {
		snprintf(out, bytes, "event      %s %s", event_name(note->event.kind),
			 note->event.kind == PLX_EVENT_FAILED ? wc_status_name(note->event.cause)
							      : "");
		return;
	}
	(void)s;
	what = c->flags & PLX_WC_RECV ? "recv" : wr_op_name(c->op);
	used = snprintf(out, bytes, "completes  %s %s %u bytes, wr %" PRIu64, what,
			wc_status_name(c->status), c->bytes, c->wr_id);
	if (c->flags & PLX_WC_IMM)
		used += snprintf(out + used, bytes - (size_t)used, " imm=0x%x", c->imm);
	if (c->flags & PLX_WC_INV)
		used += snprintf(out + used, bytes - (size_t)used, " inv=0x%x", c->inv_key.v);
	if (c->flags & PLX_WC_SOLICITED)
		snprintf(out + used, bytes - (size_t)used, " solicited");
}

/* The next one of its kind. A script of a wire that runs automatically cannot know how the
 * completions of an end's two queues interleave: there each queue has an order of its own. */
static bool
is_next(const struct script *s, const struct note *note, bool event)
{
	bool recv = note->completion.flags & PLX_WC_RECV;

	if (note->is_event != event)
		return false;
	return event || !s->automatic || !more_words(s) ||
	       recv == (strcmp(s->words[s->word_at], "recv") == 0);
}

static struct note *
take_note(struct script *s, enum side side, bool event)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &s->ends[side].notes) {
		struct note *note = plx_list_entry(node, struct note, link);

		if (is_next(s, note, event)) {
			plx_list_remove(&note->link);
			return note;
		}
	}
	script_fail(s, "%s has no %s to show", side_name(side), event ? "event" : "completion");
}

/* ---- contents ---- */

/* The n-th message of the peer that consumes a receive entry. */
static const struct op *
nth_message(struct script *s, enum side from, uint32_t nth)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &s->ops) {
		const struct op *op = plx_list_entry(node, struct op, link);
		bool takes =
			!op->recv && (op->kind == PLX_WR_SEND || op->kind == PLX_WR_SEND_IMM ||
				      op->kind == PLX_WR_SEND_INV || op->kind == PLX_WR_WRITE_IMM);

		if (op->side == from && takes && nth-- == 0)
			return op;
	}
	return NULL;
}

static void
expect_received(struct script *s, enum side side, const struct op *recv,
		const struct plx_completion *c)
{
	const struct op *sent = nth_message(s, !side, s->ends[side].taken++);
	uint32_t in_buffer;

	if (s->ends[side].forged)
		return;
	if (sent == NULL)
		script_fail(s, "more messages were received than sent");
	if (c->bytes != sent->bytes || c->op != sent->kind)
		script_fail(s, "received %s of %u bytes, sent was %s of %u", wr_op_name(c->op),
			    c->bytes, wr_op_name(sent->kind), sent->bytes);
	in_buffer = sent->kind == PLX_WR_WRITE_IMM ? 0 : c->bytes;
	if (in_buffer > 0 &&
	    memcmp(recv->buffer->host + recv->buffer_at, sent->content, in_buffer) != 0)
		script_fail(s, "the bytes received are not the bytes sent");
	for (uint32_t i = in_buffer; i < recv->bytes && recv->buffer->name[0] == '\0'; i++)
		if (recv->buffer->host[recv->buffer_at + i] != 0xee)
			script_fail(s, "byte %u, behind the message, was written", i);
}

/* Was the place an operation wrote touched by one posted after it? */
static bool
overwritten(struct script *s, const struct op *op)
{
	for (struct plx_list *node = op->link.next; node != &s->ops; node = node->next) {
		const struct op *later = plx_list_entry(node, struct op, link);

		if (later->remote == op->remote && later->kind != PLX_WR_READ)
			return true;
	}
	return false;
}

static void
expect_requested(struct script *s, enum side side, const struct op *op)
{
	const uint8_t *there = op->remote ? op->remote->host + op->remote_at : NULL;
	const uint8_t *here = op->buffer ? op->buffer->host + op->buffer_at : NULL;

	if (there == NULL || op->bytes == 0 || s->ends[side].forged || s->ends[!side].forged)
		return;
	if ((op->kind == PLX_WR_WRITE || op->kind == PLX_WR_WRITE_IMM) && !overwritten(s, op) &&
	    memcmp(there, op->content, op->bytes) != 0)
		script_fail(s, "the bytes written are not there");
	if (op->kind == PLX_WR_READ && !overwritten(s, op) && memcmp(here, there, op->bytes) != 0)
		script_fail(s, "the bytes read are not the ones there");
}

/* ---- lines ---- */

static void
expect_kind(struct script *s, const struct op *op, const struct plx_completion *c)
{
	const char *word = next_word(s, "what completes");
	bool recv = c->flags & PLX_WC_RECV;

	if (strcmp(word, "recv") != 0 && wr_op_of(word) <= PLX_WR_NONE)
		script_fail(s, "\"%s\" does not complete", word);
	if (recv != (strcmp(word, "recv") == 0) || recv != op->recv)
		script_fail(s, "%s completes", recv ? "a receive" : wr_op_name(c->op));
	if (!recv && ((int)c->op != wr_op_of(word) || c->op != op->kind))
		script_fail(s, "%s completes, posted as %s", wr_op_name(c->op),
			    wr_op_name(op->kind));
	word = next_word(s, "a status");
	if (wc_status_of(word) < 0)
		script_fail(s, "\"%s\" is not how a work request ends", word);
	if ((int)c->status != wc_status_of(word))
		script_fail(s, "it completes with %s: %s", wc_status_name(c->status),
			    plx_wc_text((enum plx_wc_status)c->status));
}

static void
expect_word_read(struct script *s, const struct op *op, uint64_t want)
{
	uint64_t was;

	if (op->buffer == NULL || op->bytes != sizeof(was))
		script_fail(s, "this operation has no original value");
	memcpy(&was, op->buffer->host + op->buffer_at, sizeof(was));
	if (was != want)
		script_fail(s, "the original value is %" PRIu64 ", expected %" PRIu64, was, want);
}

/* The words behind the status. Flags that are there and not named are as wrong as the reverse. */
static void
expect_details(struct script *s, const struct op *op, const struct plx_completion *c)
{
	unsigned flags = c->flags & PLX_WC_RECV;
	const char *text;

	while (more_words(s)) {
		if (is_number(s->words[s->word_at])) {
			uint64_t bytes = next_number(s, "bytes", UINT32_MAX);

			(void)accept_word(s, "bytes");
			if (bytes != c->bytes)
				script_fail(s, "it is %u bytes", c->bytes);
		} else if ((text = accept_value(s, "imm")) != NULL) {
			flags |= PLX_WC_IMM;
			if (c->imm != number_of(s, text, UINT32_MAX))
				script_fail(s, "the immediate is 0x%x", c->imm);
		} else if ((text = accept_value(s, "inv")) != NULL) {
			flags |= PLX_WC_INV;
			if (c->inv_key.v != area_of(s, text, NULL)->key.v)
				script_fail(s, "the key invalidated is 0x%x", c->inv_key.v);
		} else if ((text = accept_value(s, "was")) != NULL) {
			expect_word_read(s, op, number_of(s, text, UINT64_MAX));
		} else if (accept_word(s, "solicited")) {
			flags |= PLX_WC_SOLICITED;
		} else if (accept_word(s, "as")) {
			text = next_word(s, "a name");
			if (strcmp(op->name, text) != 0)
				script_fail(s, "it is %s", op->name[0] ? op->name : "another");
		} else if (!accept_word(s, "once")) {
			return;
		}
	}
	if (flags != c->flags)
		script_fail(s, "imm=, inv= or solicited is there and not named, or the reverse");
}

/* "B completes recv ok 3000 bytes imm=7 solicited once" */
void
line_completes(struct script *s, enum side side)
{
	struct note *note = take_note(s, side, false);
	struct plx_completion c = note->completion;
	struct op *op = op_by_id(s, c.wr_id);
	struct plx_list *node;

	free(note);
	s->expectations++;
	if (op->side != side)
		script_fail(s, "%s completes what the other end posted", side_name(side));
	if (op->completed)
		script_fail(s, "this work request has completed before");
	for (node = s->ops.next; node != &op->link; node = node->next) {
		const struct op *earlier = plx_list_entry(node, struct op, link);

		if (earlier->side == side && earlier->recv == op->recv && !earlier->completed &&
		    !earlier->unsignaled && !earlier->refused)
			script_fail(s, "an earlier work request has not completed yet");
	}
	expect_kind(s, op, &c);
	expect_details(s, op, &c);
	op->completed = true;
	if (c.status == PLX_WC_SUCCESS && op->recv)
		expect_received(s, side, op, &c);
	if (c.status == PLX_WC_SUCCESS && !op->recv)
		expect_requested(s, side, op);
	/* The buffer belongs to the application again, which overwrites it: nothing may be sent
	 * from a source that has completed. */
	if (!op->recv && op->content != NULL && op->buffer != NULL && op->buffer->name[0] == '\0')
		memset(op->buffer->host, 0xdd, op->bytes);
}

/* "A event failed retry_exceeded" */
void
line_event(struct script *s, enum side side)
{
	struct note *note = take_note(s, side, true);
	struct plx_event event = note->event;
	const char *word = next_word(s, "an event");

	free(note);
	s->expectations++;
	if (event_of(word) < 0)
		script_fail(s, "\"%s\" is not an event", word);
	if (event_of(word) != event.kind)
		script_fail(s, "the event is %s", event_name(event.kind));
	if (event.qpn != s->ends[side].qp_config.qpn)
		script_fail(s, "the event is for QP 0x%x", event.qpn);
	if (!more_words(s))
		return;
	word = next_word(s, "a cause");
	if (wc_status_of(word) < 0 || wc_status_of(word) != event.cause)
		script_fail(s, "the cause is %s", wc_status_name(event.cause));
}
