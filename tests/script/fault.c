/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a line does to the packet it expects: deliver, drop, duplicate, hold, corrupt or mark it. It
 * only affects the oldest packet that its sender has on the wire. Start with line_packet().
 */
#include <stdlib.h>

#include "script.h"

static struct frame *
frame_copy(const struct frame *frame)
{
	struct frame *copy = malloc(sizeof(*copy));

	PLX_ASSERT(copy != NULL);
	*copy = *frame;
	plx_list_init(&copy->link);
	copy->bytes = malloc(frame->len);
	PLX_ASSERT(copy->bytes != NULL);
	memcpy(copy->bytes, frame->bytes, frame->len);
	return copy;
}

static uint32_t
ip_header_at(struct script *s, const struct frame *frame)
{
	struct plx_frame head;

	if (plx_frame_decode(frame->bytes, frame->len, 0, &head) != PLX_WIRE_OK)
		script_fail(s, "the frame to change does not decode");
	return head.ip_at;
}

/* The IPv4 header checksum, RFC 1071, over the twenty bytes we always send. */
void
wire_ipv4_renew(uint8_t *ip)
{
	uint32_t sum = 0;

	ip[10] = ip[11] = 0;
	for (uint32_t i = 0; i < PLX_IPV4_BYTES; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void
mark_ce(struct script *s, struct frame *frame)
{
	uint8_t *ip = frame->bytes + ip_header_at(s, frame);

	if (ip[0] >> 4 == 4) {
		ip[1] |= PLX_ECN_CE;
		wire_ipv4_renew(ip);
	} else {
		ip[1] |= PLX_ECN_CE << 4;
	}
}

size_t
wire_bth_at(struct script *s, const struct frame *frame)
{
	uint32_t ip_at = ip_header_at(s, frame);

	return ip_at + PLX_UDP_BYTES +
	       (frame->bytes[ip_at] >> 4 == 4 ? PLX_IPV4_BYTES : PLX_IPV6_BYTES);
}

void
wire_fault_parse(struct script *s, struct fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	while (more_words(s)) {
		if (accept_word(s, "drop"))
			fault->drop = true;
		else if (accept_word(s, "dup"))
			fault->dup = true;
		else if (accept_word(s, "ce"))
			fault->ce = true;
		else if (accept_word(s, "hold"))
			fault->hold = next_word(s, "a label");
		else if (accept_word(s, "copy"))
			fault->copy = next_word(s, "a label");
		else if (accept_word(s, "late"))
			fault->late_ns = time_of(s, next_word(s, "a time"));
		else if (accept_word(s, "judged"))
			fault->judged = next_word(s, "a verdict");
		else if (accept_word(s, "flip") && fault->flips < PLX_COUNT_OF(fault->flip))
			fault->flip[fault->flips++] = (uint32_t)next_number(s, "a byte", 9000);
		else
			return;
	}
}

static void
expect_judged(struct script *s, const char *verdict)
{
	const char *const seen[] = {s->judged};

	if (verdict != NULL && name_index(seen, 1, verdict) < 0)
		script_fail(s, "expected the verdict %s, it was %s", verdict, s->judged);
}

static void
keep(struct script *s, const struct frame *frame, const char *label)
{
	struct frame *copy = frame_copy(frame);

	if (strlen(label) >= SCRIPT_NAME_MAX)
		script_fail(s, "the label %s is too long", label);
	strcpy(copy->label, label);
	plx_list_append(&s->held, &copy->link);
}

/* In flight, behind everything that is due no later. */
static void
take_off(struct script *s, const struct frame *frame, uint64_t due_ns)
{
	struct frame *copy = frame_copy(frame);
	struct plx_list *after = s->flight.prev;

	copy->at_ns = due_ns;
	while (after != &s->flight && plx_list_entry(after, struct frame, link)->at_ns > due_ns)
		after = after->prev;
	plx_list_append(after->next, &copy->link); /* "at the end" of a ring is before its head */
}

static void
send_on(struct script *s, const struct frame *frame, const char *judged, uint64_t late_ns)
{
	if (s->delay_ns + late_ns == 0) {
		wire_receive(s, !frame->from, frame->bytes, frame->len);
		expect_judged(s, judged);
		return;
	}
	if (judged != NULL)
		script_fail(s, "\"judged\" needs a packet that arrives at once");
	take_off(s, frame, s->now_ns + s->delay_ns + late_ns);
}

void
wire_fault_apply(struct script *s, struct frame *frame, const struct fault *fault)
{
	size_t bth = wire_bth_at(s, frame);

	for (uint32_t i = 0; i < fault->flips; i++) {
		if (bth + fault->flip[i] >= frame->len)
			script_fail(s, "the packet has no byte %u", fault->flip[i]);
		frame->bytes[bth + fault->flip[i]] ^= 0x01;
	}
	if (fault->ce)
		mark_ce(s, frame);
	if (fault->hold != NULL)
		keep(s, frame, fault->hold);
	if (fault->copy != NULL)
		keep(s, frame, fault->copy);
	if (!fault->drop && fault->hold == NULL)
		send_on(s, frame, fault->judged, fault->late_ns);
	if (fault->dup)
		send_on(s, frame, fault->judged, fault->late_ns);
}

/* "A > B send.first psn=10 len=1024 drop" */
void
line_packet(struct script *s, enum side from)
{
	struct end *end = &s->ends[from];
	struct packet_pattern pattern;
	struct fault fault;

	if (!accept_word(s, side_name(!from)))
		script_fail(s, "expected %s behind the >", side_name(!from));
	packet_parse(s, &pattern);
	wire_fault_parse(s, &fault);
	for (uint32_t i = 0; i < pattern.count; i++, packet_step(&pattern)) {
		struct frame *frame;
		struct plx_pkt pkt;

		if (plx_list_empty(&end->sent))
			script_fail(s, "expected %s, but %s sent nothing", pattern.name,
				    side_name(from));
		frame = plx_list_entry(end->sent.next, struct frame, link);
		decode_or_fail(s, frame->bytes, frame->len, &pkt);
		packet_match(s, &pattern, &pkt);
		s->expectations++;
		plx_list_remove(&frame->link);
		wire_fault_apply(s, frame, &fault);
		wire_frame_free(frame);
	}
}

void
line_release(struct script *s)
{
	const char *label = next_word(s, "a label");
	const char *judged = accept_word(s, "judged") ? next_word(s, "a verdict") : NULL;
	struct plx_list *node, *after;
	uint32_t released = 0;

	plx_list_for_each (node, after, &s->held) {
		struct frame *frame = plx_list_entry(node, struct frame, link);

		if (strcmp(frame->label, label) != 0)
			continue;
		plx_list_remove(&frame->link);
		send_on(s, frame, judged, 0);
		wire_frame_free(frame);
		released++;
	}
	if (released == 0)
		script_fail(s, "nothing is held as %s", label);
}

/* ---- a wire that runs automatically ---- */

/* The fault of the n-th packet of one end. */
struct planned {
	struct plx_list link;
	enum side from;
	uint32_t nth;
	struct fault fault;
};

void
wire_auto(struct script *s, struct frame *frame)
{
	static const struct fault none;
	const struct fault *fault = &none;
	struct plx_list *node, *after;

	s->ends[frame->from].frames++;
	plx_list_for_each (node, after, &s->planned) {
		const struct planned *planned = plx_list_entry(node, struct planned, link);

		if (planned->from == frame->from && planned->nth == s->ends[frame->from].frames)
			fault = &planned->fault;
	}
	wire_fault_apply(s, frame, fault);
	wire_frame_free(frame);
}

/* "wire auto 2us" */
void
line_wire(struct script *s)
{
	if (!accept_word(s, "auto"))
		script_fail(s, "expected: wire auto 2us");
	s->delay_ns = time_of(s, next_word(s, "a delay"));
	if (s->delay_ns == 0)
		script_fail(s, "a wire that runs by itself needs a delay");
	s->automatic = true;
}

/* "fault A > B 3 drop": of the third packet A sends on that wire */
void
line_fault(struct script *s)
{
	struct planned *planned = calloc(1, sizeof(*planned));

	PLX_ASSERT(planned != NULL);
	plx_list_append(&s->planned, &planned->link);
	planned->from = next_side(s);
	if (!accept_word(s, ">") || next_side(s) == planned->from)
		script_fail(s, "expected fault A > B, or B > A");
	planned->nth = (uint32_t)next_number(s, "which packet", UINT32_MAX);
	wire_fault_parse(s, &planned->fault);
	if (planned->fault.hold || planned->fault.copy || planned->fault.judged)
		script_fail(s, "a planned fault cannot hold, copy or judge");
}

void
fault_destroy_all(struct script *s)
{
	while (!plx_list_empty(&s->planned)) {
		struct planned *planned = plx_list_entry(s->planned.next, struct planned, link);

		plx_list_remove(&planned->link);
		free(planned);
	}
}
