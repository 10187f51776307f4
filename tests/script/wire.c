/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The wire between the two ends, and the time: both advance only by a line of the script. Time
 * never advances past a packet, a completion or an event that no line has mentioned. Start with
 * wire_advance() and line_packet().
 */
#include <stdio.h>
#include <stdlib.h>

#include "script.h"

#define WHEN_TIME "before the time goes on"

/* ---- hooks: called by the ends ---- */

static void
expect_icrc(struct script *s, const struct plx_frame *frame, const uint8_t *bytes)
{
	size_t covered = (size_t)frame->ip_bytes - PLX_ICRC_BYTES;
	const uint8_t *ip = bytes + frame->ip_at;

	if (plx_icrc_load(ip + covered) != plx_icrc_isal(ip, covered))
		script_fail(s, "a frame was sent with a wrong ICRC");
}

void
decode_or_fail(struct script *s, const uint8_t *bytes, size_t len, struct plx_pkt *pkt)
{
	struct plx_frame frame;
	enum plx_wire_verdict verdict = plx_frame_decode(bytes, len, 0, &frame);

	if (verdict == PLX_WIRE_OK)
		verdict = plx_pkt_decode(bytes + frame.udp_at + PLX_UDP_BYTES,
					 (size_t)frame.udp_bytes - PLX_UDP_BYTES, pkt);
	if (verdict != PLX_WIRE_OK)
		script_fail(s, "a frame was sent that does not decode: %s", wire_name(verdict));
	expect_icrc(s, &frame, bytes);
}

/* Checks that apply to every packet of ours, so that no script has to state them. design.md
 * section 4. */
static void
expect_well_formed(struct script *s, const struct end *end, const struct plx_pkt *pkt)
{
	const struct end *peer = &s->ends[!end->side];

	if (pkt->dest_qpn != peer->qp_config.qpn || pkt->pkey != PLX_PKEY_DEFAULT)
		script_fail(s, "%s sent to a wrong QP or P_Key", side_name(end->side));
	if (pkt->resv6 != 0 || pkt->resv7 != 0 || pkt->fecn || !pkt->migreq)
		script_fail(s, "%s sent reserved bits or FECN set, or MigReq clear",
			    side_name(end->side));
	if (pkt->opcode != PLX_CNP && pkt->pad != (-pkt->payload_bytes & 3))
		script_fail(s, "%s sent %u bytes of pad", side_name(end->side), pkt->pad);
	for (uint32_t i = 0; i < pkt->pad; i++)
		if (pkt->payload[pkt->payload_bytes + i] != 0)
			script_fail(s, "%s sent a pad that is not zero", side_name(end->side));
}

static void
on_frame(void *user, struct ep_qp *qp, const struct plx_emit *emit, uint8_t *bytes, size_t len)
{
	struct end *end = user;
	struct script *s = end->script;
	struct frame *frame = calloc(1, sizeof(*frame));
	struct plx_pkt pkt;
	char text[128];

	(void)qp;
	(void)emit;
	PLX_ASSERT(frame != NULL);
	frame->from = end->side;
	frame->bytes = bytes;
	frame->len = len;
	frame->at_ns = s->now_ns;
	plx_list_append(&end->sent, &frame->link);
	decode_or_fail(s, bytes, len, &pkt);
	packet_text(&pkt, text, sizeof(text));
	script_trace(s, "%s sends      %s", side_name(end->side), text);
	expect_well_formed(s, end, &pkt);
	if (s->automatic)
		wire_auto(s, frame);
}

static void
add_note(struct end *end, const struct note *content)
{
	struct note *note = malloc(sizeof(*note));
	char text[160];

	PLX_ASSERT(note != NULL);
	*note = *content;
	note->at_ns = end->script->now_ns;
	plx_list_append(&end->notes, &note->link);
	note_text(end->script, note, text, sizeof(text));
	script_trace(end->script, "%s %s", side_name(end->side), text);
}

static void
on_completion(void *user, struct ep_qp *qp, const struct plx_completion *completion)
{
	struct note note = {.is_event = false, .completion = *completion};
	struct end *end = user;

	if (completion->qpn != end->qp_config.qpn)
		script_fail(end->script, "%s completes for QP 0x%x", side_name(end->side),
			    completion->qpn);
	(void)qp;
	add_note(end, &note);
}

static void
on_event(void *user, struct ep_qp *qp, const struct plx_event *event)
{
	struct note note = {.is_event = true, .event = *event};

	(void)qp;
	add_note(user, &note);
}

static void
on_memory(void *user, struct ep_qp *qp, const struct plx_action *action)
{
	struct end *end = user;

	(void)qp;
	memory_check(end->script, end, action);
}

static void
on_judged(void *user, struct ep_qp *qp, enum plx_wire_verdict wire, bool icrc_bad,
	  enum plx_verdict verdict, const struct plx_pkt *pkt)
{
	struct end *end = user;
	struct script *s = end->script;

	(void)pkt;
	if (wire != PLX_WIRE_OK)
		s->judged = wire_name(wire);
	else if (icrc_bad)
		s->judged = "icrc";
	else if (qp == NULL)
		s->judged = "no_qp";
	else
		s->judged = plx_verdict_name(verdict);
	script_trace(s, "%s judges     %s", side_name(end->side), s->judged);
}

const struct ep_hooks wire_hooks = {
	.completion = on_completion,
	.event = on_event,
	.memory = on_memory,
	.frame = on_frame,
	.judged = on_judged,
};

/* ---- serving ---- */

static bool
serve_one(struct script *s, struct end *end)
{
	uint64_t wake = plx_rc_wake_ns(ep_qp_core(end->qp));

	if (end->busy || wake > s->now_ns)
		return false;
	if (wake == 0)
		ep_tx(end->qp, s->now_ns, end->budget);
	else
		ep_tick(end->qp, s->now_ns);
	return true;
}

void
wire_serve(struct script *s)
{
	for (uint32_t round = 0; round < SCRIPT_ROUNDS_MAX; round++) {
		bool a = serve_one(s, &s->ends[SIDE_A]);
		bool b = serve_one(s, &s->ends[SIDE_B]);

		if (!a && !b)
			return;
	}
	script_fail(s, "a QP asks to be called again and again, and does nothing");
}

void
wire_receive(struct script *s, enum side to, const uint8_t *bytes, size_t len)
{
	ep_rx(s->ends[to].ep, bytes, len, s->now_ns);
	wire_serve(s);
}

void
wire_frame_free(struct frame *frame)
{
	plx_list_remove(&frame->link);
	free(frame->bytes);
	free(frame);
}

/* Under `wire auto` a script speaks of completions only. */
static void
forget_events(struct end *end)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &end->notes) {
		struct note *note = plx_list_entry(node, struct note, link);

		if (!note->is_event)
			continue;
		plx_list_remove(node);
		free(note);
	}
}

void
wire_expect_nothing(struct script *s, const char *when)
{
	if (s->automatic && strcmp(when, WHEN_TIME) == 0)
		return;
	for (enum side side = SIDE_A; side < SIDE_COUNT; side++) {
		const struct end *end = &s->ends[side];
		char text[256];
		struct plx_pkt pkt;

		if (!plx_list_empty(&end->sent)) {
			struct frame *frame = plx_list_entry(end->sent.next, struct frame, link);

			decode_or_fail(s, frame->bytes, frame->len, &pkt);
			packet_text(&pkt, text, sizeof(text));
			script_fail(s, "%s sent, and no line %s expects it: %s", side_name(side),
				    when, text);
		}
		if (s->automatic)
			forget_events(&s->ends[side]);
		if (!plx_list_empty(&end->notes)) {
			note_text(s, plx_list_entry(end->notes.next, struct note, link), text,
				  sizeof(text));
			script_fail(s, "no line %s expects: %s %s", when, side_name(side), text);
		}
	}
}

/* The next instant at which something happens without a line. */
static uint64_t
next_instant(const struct script *s)
{
	uint64_t next = PLX_NEVER;

	if (!plx_list_empty(&s->flight))
		next = plx_list_entry(s->flight.next, struct frame, link)->at_ns;
	for (enum side side = SIDE_A; side < SIDE_COUNT; side++)
		if (!s->ends[side].busy)
			next = plx_time_min(next, plx_rc_wake_ns(ep_qp_core(s->ends[side].qp)));
	return next;
}

/* The next thing that happens without a line, unless it is later than `until`. */
static bool
step(struct script *s, uint64_t until)
{
	uint64_t next = next_instant(s);
	struct frame *frame;

	if (next > until || next == PLX_NEVER)
		return false;
	if (next > s->now_ns) {
		wire_expect_nothing(s, WHEN_TIME);
		s->now_ns = next;
	}
	if (!plx_list_empty(&s->flight)) {
		frame = plx_list_entry(s->flight.next, struct frame, link);
		if (frame->at_ns <= s->now_ns) {
			plx_list_remove(&frame->link);
			wire_receive(s, !frame->from, frame->bytes, frame->len);
			wire_frame_free(frame);
		}
	}
	wire_serve(s);
	return true;
}

void
wire_run(struct script *s, uint64_t ns)
{
	uint64_t until = s->now_ns + ns;

	while (step(s, until))
		;
	if (next_instant(s) != PLX_NEVER)
		script_fail(s, "the two ends do not come to rest in time");
}

void
wire_advance(struct script *s, uint64_t ns)
{
	uint64_t until = s->now_ns + ns;

	if (ns == 0)
		return;
	while (step(s, until))
		;
	if (until > s->now_ns)
		wire_expect_nothing(s, WHEN_TIME);
	s->now_ns = until;
}

void
wire_drop_all(struct script *s)
{
	struct plx_list *heads[] = {&s->flight, &s->held, &s->ends[SIDE_A].sent,
				    &s->ends[SIDE_B].sent};

	for (size_t i = 0; i < PLX_COUNT_OF(heads); i++)
		while (!plx_list_empty(heads[i]))
			wire_frame_free(plx_list_entry(heads[i]->next, struct frame, link));
	for (enum side side = SIDE_A; side < SIDE_COUNT; side++) {
		struct plx_list *notes = &s->ends[side].notes;

		while (!plx_list_empty(notes)) {
			struct note *note = plx_list_entry(notes->next, struct note, link);

			plx_list_remove(&note->link);
			free(note);
		}
	}
}
