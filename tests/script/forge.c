/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packets that their alleged sender never sent: hostile, stale or broken ones. It never changes the
 * state of that sender. Start with line_inject().
 */
#include <stdlib.h>

#include "script.h"

struct forgery {
	int opcode; /* raw; -1: the one of the name */
	uint32_t cut;
	bool stranger, icrc_bad;
};

static void
forgery_parse(struct script *s, struct forgery *forgery)
{
	const char *value;

	*forgery = (struct forgery){.opcode = -1};
	while (more_words(s)) {
		if ((value = accept_value(s, "opcode")) != NULL)
			forgery->opcode = (int)number_of(s, value, 255);
		else if ((value = accept_value(s, "cut")) != NULL)
			forgery->cut = (uint32_t)number_of(s, value, 64);
		else if (accept_word(s, "from=stranger"))
			forgery->stranger = true;
		else if (accept_word(s, "icrc=bad"))
			forgery->icrc_bad = true;
		else
			return;
	}
}

/* Set the lengths of IP and UDP to the actual ones, then checksum and ICRC: a packet as if sent
 * on purpose. */
static void
forge_renew(struct script *s, struct frame *frame, size_t bth)
{
	size_t ip_at = bth - PLX_UDP_BYTES - PLX_IPV4_BYTES;
	uint8_t *ip = frame->bytes + ip_at;
	size_t ip_bytes = frame->len - ip_at, udp_bytes = frame->len - bth + PLX_UDP_BYTES;

	if (ip[0] >> 4 != 4)
		script_fail(s, "this forgery needs IPv4");
	ip[2] = (uint8_t)(ip_bytes >> 8);
	ip[3] = (uint8_t)ip_bytes;
	ip[PLX_IPV4_BYTES + 4] = (uint8_t)(udp_bytes >> 8);
	ip[PLX_IPV4_BYTES + 5] = (uint8_t)udp_bytes;
	wire_ipv4_renew(ip);
	plx_icrc_store(plx_icrc_isal(ip, ip_bytes - PLX_ICRC_BYTES),
		       frame->bytes + frame->len - PLX_ICRC_BYTES);
}

static void
forge_change(struct script *s, struct frame *frame, const struct forgery *forgery)
{
	size_t bth = wire_bth_at(s, frame);

	if (forgery->opcode >= 0)
		frame->bytes[bth] = (uint8_t)forgery->opcode;
	if (forgery->stranger) /* the last byte of the IPv4 source address */
		frame->bytes[bth - PLX_UDP_BYTES - 5] ^= 0x40;
	if (forgery->cut > 0) { /* exactly as long as it is now, for the sanitizer */
		frame->len -= forgery->cut;
		frame->bytes = realloc(frame->bytes, frame->len);
		PLX_ASSERT(frame->bytes != NULL);
	}
	if (forgery->opcode >= 0 || forgery->stranger || forgery->cut > 0)
		forge_renew(s, frame, bth);
	if (forgery->icrc_bad)
		frame->bytes[frame->len - 1] ^= 0x80;
}

/* "inject B > A ack psn=12 msn=1 from=stranger" */
void
line_inject(struct script *s)
{
	enum side from = next_side(s);
	struct end *to = &s->ends[!from];
	struct frame frame = {.from = from};
	struct packet_pattern pattern;
	struct forgery forgery;
	struct plx_pkt pkt;
	struct fault fault;
	uint8_t payload[PLX_MTU_MAX * 2];
	uint32_t bytes;

	if (!accept_word(s, ">") || next_side(s) == from)
		script_fail(s, "expected inject A > B, or B > A");
	packet_parse(s, &pattern);
	forgery_parse(s, &forgery);
	wire_fault_parse(s, &fault);
	for (uint32_t i = 0; i < pattern.count; i++, packet_step(&pattern)) {
		bytes = packet_build(s, &pattern, &pkt);
		if (bytes > sizeof(payload))
			script_fail(s, "a forged payload is at most %zu bytes", sizeof(payload));
		for (uint32_t b = 0; b < bytes; b++)
			payload[b] = content_byte(UINT32_MAX, b);
		if (pkt.dest_qpn == 0)
			pkt.dest_qpn = to->qp_config.qpn;
		to->forged = true;
		plx_list_init(&frame.link);
		frame.bytes = ep_forge(to->qp, &pkt, payload, bytes, &frame.len);
		forge_change(s, &frame, &forgery);
		script_trace(s, "%s injects    %s psn=%u", side_name(from), pattern.name,
			     pkt.psn.v);
		wire_fault_apply(s, &frame, &fault);
		free(frame.bytes);
	}
}
