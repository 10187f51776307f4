/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Converts packets to words and words to packets: "send.first psn=10 len=1024". It compares only
 * the fields that the script names, and never sends anything. Start with the table of names.
 */
#include <stdio.h>
#include <stdlib.h>

#include "script.h"

#define ANY (-1)

static const struct name {
	const char *name;
	uint8_t opcode;
	int syndrome;
} names[] = {
	{"send.first", PLX_RC_SEND_FIRST, ANY},
	{"send.middle", PLX_RC_SEND_MIDDLE, ANY},
	{"send.last", PLX_RC_SEND_LAST, ANY},
	{"send.last.imm", PLX_RC_SEND_LAST_IMM, ANY},
	{"send.last.inv", PLX_RC_SEND_LAST_INV, ANY},
	{"send.only", PLX_RC_SEND_ONLY, ANY},
	{"send.only.imm", PLX_RC_SEND_ONLY_IMM, ANY},
	{"send.only.inv", PLX_RC_SEND_ONLY_INV, ANY},
	{"write.first", PLX_RC_WRITE_FIRST, ANY},
	{"write.middle", PLX_RC_WRITE_MIDDLE, ANY},
	{"write.last", PLX_RC_WRITE_LAST, ANY},
	{"write.last.imm", PLX_RC_WRITE_LAST_IMM, ANY},
	{"write.only", PLX_RC_WRITE_ONLY, ANY},
	{"write.only.imm", PLX_RC_WRITE_ONLY_IMM, ANY},
	{"read.req", PLX_RC_READ_REQUEST, ANY},
	{"read.first", PLX_RC_READ_RESPONSE_FIRST, ANY},
	{"read.middle", PLX_RC_READ_RESPONSE_MIDDLE, ANY},
	{"read.last", PLX_RC_READ_RESPONSE_LAST, ANY},
	{"read.only", PLX_RC_READ_RESPONSE_ONLY, ANY},
	{"cmp_swap", PLX_RC_CMP_SWAP, ANY},
	{"fetch_add", PLX_RC_FETCH_ADD, ANY},
	{"atomic.ack", PLX_RC_ATOMIC_ACK, ANY},
	{"nak.seq", PLX_RC_ACK, PLX_AETH_NAK | PLX_NAK_SEQUENCE},
	{"nak.invalid", PLX_RC_ACK, PLX_AETH_NAK | PLX_NAK_INVALID_REQUEST},
	{"nak.access", PLX_RC_ACK, PLX_AETH_NAK | PLX_NAK_REMOTE_ACCESS},
	{"nak.operation", PLX_RC_ACK, PLX_AETH_NAK | PLX_NAK_REMOTE_OPERATION},
	{"rnr", PLX_RC_ACK, PLX_AETH_RNR},
	{"ack", PLX_RC_ACK, PLX_AETH_ACK},
	{"aeth", PLX_RC_ACK, ANY}, /* any syndrome, set by syndrome= */
	{"uc.send.only", PLX_UC_SEND_ONLY, ANY},
	{"ud.send.only", PLX_UD_SEND_ONLY, ANY},
	{"cnp", PLX_CNP, ANY},
};

static const char *const field_names[FIELD_COUNT] = {
	[FIELD_PSN] = "psn",     [FIELD_LEN] = "len",   [FIELD_PAD] = "pad",
	[FIELD_ACK] = "ack",     [FIELD_SE] = "se",     [FIELD_MIG] = "mig",
	[FIELD_BECN] = "becn",   [FIELD_FECN] = "fecn", [FIELD_PKEY] = "pkey",
	[FIELD_QPN] = "qpn",     [FIELD_MSN] = "msn",   [FIELD_SYNDROME] = "syndrome",
	[FIELD_TIMER] = "timer", [FIELD_VA] = "va",     [FIELD_RLEN] = "rlen",
	[FIELD_RKEY] = "rkey",   [FIELD_IMM] = "imm",   [FIELD_INV] = "inv",
	[FIELD_SWAP] = "swap",   [FIELD_ADD] = "add",   [FIELD_COMPARE] = "compare",
	[FIELD_WAS] = "was",
};

static bool
names_syndrome(const struct name *name, uint8_t syndrome)
{
	if (name->syndrome == ANY)
		return false;
	/* ACKs carry credits and RNRs a timer in the low bits; a NAK is its code. */
	if (name->syndrome == PLX_AETH_ACK || name->syndrome == PLX_AETH_RNR)
		return (syndrome & PLX_AETH_TYPE_MASK) == name->syndrome;
	return syndrome == name->syndrome;
}

static const char *
name_of(const struct plx_pkt *pkt)
{
	static char unnamed[24];

	for (size_t i = 0; i < PLX_COUNT_OF(names); i++) {
		if (names[i].opcode != pkt->opcode)
			continue;
		if (pkt->opcode != PLX_RC_ACK || names_syndrome(&names[i], pkt->aeth.syndrome))
			return names[i].name;
	}
	if (pkt->opcode == PLX_RC_ACK)
		return "aeth";
	snprintf(unnamed, sizeof(unnamed), "opcode.0x%02x", pkt->opcode);
	return unnamed;
}

/* The field when every packet has it. Returns: false when this is not such a field */
static bool
bth_field(const struct plx_pkt *pkt, enum packet_field field, uint64_t *out)
{
	const uint64_t values[] = {
		[FIELD_PSN] = pkt->psn.v,    [FIELD_LEN] = pkt->payload_bytes,
		[FIELD_PAD] = pkt->pad,      [FIELD_ACK] = pkt->ack_request,
		[FIELD_SE] = pkt->solicited, [FIELD_MIG] = pkt->migreq,
		[FIELD_BECN] = pkt->becn,    [FIELD_FECN] = pkt->fecn,
		[FIELD_PKEY] = pkt->pkey,    [FIELD_QPN] = pkt->dest_qpn,
	};

	if (field >= PLX_COUNT_OF(values))
		return false;
	*out = values[field];
	return true;
}

/* The extended header that contains a field. */
static enum plx_op_flag
header_of(enum packet_field field)
{
	static const enum plx_op_flag headers[FIELD_COUNT] = {
		[FIELD_MSN] = PLX_OPF_AETH,
		[FIELD_SYNDROME] = PLX_OPF_AETH,
		[FIELD_TIMER] = PLX_OPF_AETH,
		[FIELD_VA] = PLX_OPF_RETH,
		[FIELD_RLEN] = PLX_OPF_RETH,
		[FIELD_RKEY] = PLX_OPF_RETH,
		[FIELD_IMM] = PLX_OPF_IMM,
		[FIELD_INV] = PLX_OPF_IETH,
		[FIELD_SWAP] = PLX_OPF_ATOMIC_ETH,
		[FIELD_ADD] = PLX_OPF_ATOMIC_ETH,
		[FIELD_COMPARE] = PLX_OPF_ATOMIC_ETH,
		[FIELD_WAS] = PLX_OPF_ATOMIC_ACK_ETH,
	};

	return headers[field];
}

static bool
field_get(const struct plx_pkt *pkt, enum packet_field field, uint64_t *out)
{
	const struct plx_opcode *op = &plx_opcodes[pkt->opcode];
	bool atomic = plx_opcode_has(op, PLX_OPF_ATOMIC_ETH);

	if (bth_field(pkt, field, out))
		return true;
	if (!plx_opcode_has(op, header_of(field)) &&
	    !(atomic && (field == FIELD_VA || field == FIELD_RKEY)))
		return false;
	if (field == FIELD_MSN)
		*out = pkt->aeth.msn.v;
	else if (field == FIELD_SYNDROME)
		*out = pkt->aeth.syndrome;
	else if (field == FIELD_TIMER)
		*out = pkt->aeth.syndrome & PLX_AETH_VALUE_MASK;
	else if (field == FIELD_VA)
		*out = atomic ? pkt->atomic.va : pkt->reth.va;
	else if (field == FIELD_RKEY)
		*out = atomic ? pkt->atomic.rkey : pkt->reth.rkey;
	else if (field == FIELD_RLEN)
		*out = pkt->reth.length;
	else if (field == FIELD_IMM)
		*out = pkt->imm;
	else if (field == FIELD_INV)
		*out = pkt->inv_key;
	else if (field == FIELD_COMPARE)
		*out = pkt->atomic.compare;
	else if (field == FIELD_WAS)
		*out = pkt->atomic_original;
	else
		*out = pkt->atomic.swap_add;
	return true;
}

static void
bth_set(struct plx_pkt *pkt, enum packet_field field, uint64_t value)
{
	if (field == FIELD_PSN)
		pkt->psn = plx_psn((uint32_t)value);
	else if (field == FIELD_PAD)
		pkt->pad = (uint8_t)value;
	else if (field == FIELD_ACK)
		pkt->ack_request = value;
	else if (field == FIELD_SE)
		pkt->solicited = value;
	else if (field == FIELD_MIG)
		pkt->migreq = value;
	else if (field == FIELD_BECN)
		pkt->becn = value;
	else if (field == FIELD_FECN)
		pkt->fecn = value;
	else if (field == FIELD_PKEY)
		pkt->pkey = (uint16_t)value;
	else if (field == FIELD_QPN)
		pkt->dest_qpn = (uint32_t)value;
}

static void
header_set(struct plx_pkt *pkt, enum packet_field field, uint64_t value)
{
	bool atomic = plx_opcode_has(&plx_opcodes[pkt->opcode], PLX_OPF_ATOMIC_ETH);

	if (field == FIELD_MSN)
		pkt->aeth.msn.v = (uint32_t)value & PLX_PSN_MASK;
	else if (field == FIELD_SYNDROME)
		pkt->aeth.syndrome = (uint8_t)value;
	else if (field == FIELD_TIMER)
		pkt->aeth.syndrome |= (uint8_t)(value & PLX_AETH_VALUE_MASK);
	else if (field == FIELD_VA && atomic)
		pkt->atomic.va = value;
	else if (field == FIELD_VA)
		pkt->reth.va = value;
	else if (field == FIELD_RKEY && atomic)
		pkt->atomic.rkey = (uint32_t)value;
	else if (field == FIELD_RKEY)
		pkt->reth.rkey = (uint32_t)value;
	else if (field == FIELD_RLEN)
		pkt->reth.length = (uint32_t)value;
	else if (field == FIELD_IMM)
		pkt->imm = (uint32_t)value;
	else if (field == FIELD_INV)
		pkt->inv_key = (uint32_t)value;
	else if (field == FIELD_COMPARE)
		pkt->atomic.compare = value;
	else if (field == FIELD_WAS)
		pkt->atomic_original = value;
	else
		pkt->atomic.swap_add = value;
}

void
packet_text(const struct plx_pkt *pkt, char *out, size_t bytes)
{
	size_t used = (size_t)snprintf(out, bytes, "%s", name_of(pkt));

	for (int field = 0; field < FIELD_COUNT; field++) {
		bool quiet = field == FIELD_MIG || field == FIELD_PKEY || field == FIELD_QPN ||
			     field == FIELD_PAD || field == FIELD_BECN || field == FIELD_FECN ||
			     field == FIELD_SYNDROME || field == FIELD_ADD || field == FIELD_SE;
		uint64_t value;

		if (field == FIELD_TIMER &&
		    (pkt->aeth.syndrome & PLX_AETH_TYPE_MASK) != PLX_AETH_RNR)
			continue;
		if (used >= bytes || !field_get(pkt, (enum packet_field)field, &value))
			continue;
		if (field == FIELD_SE && value)
			quiet = false;
		if (!quiet)
			used += (size_t)snprintf(out + used, bytes - used,
						 value > 0xffffff ? " %s=0x%llx" : " %s=%llu",
						 field_names[field], (unsigned long long)value);
	}
}

/* ---- patterns ---- */

static void
parse_name(struct script *s, struct packet_pattern *out)
{
	const char *word = next_word(s, "a packet");

	for (size_t i = 0; i < PLX_COUNT_OF(names); i++) {
		if (strcmp(names[i].name, word) != 0)
			continue;
		out->name = names[i].name;
		out->opcode = names[i].opcode;
		out->syndrome = names[i].syndrome;
		return;
	}
	script_fail(s, "\"%s\" is not a packet", word);
}

static void
add_field(struct script *s, struct packet_pattern *out, enum packet_field field, uint64_t value)
{
	if (out->fields == PACKET_FIELDS_MAX)
		script_fail(s, "more than %d fields", PACKET_FIELDS_MAX);
	out->field[out->fields].field = field;
	out->field[out->fields].value = value;
	out->fields++;
}

/* "10", "10..12" (which may wrap), "B.r1", "B.r1+100" */
static uint64_t
field_value(struct script *s, struct packet_pattern *out, enum packet_field field, char *text)
{
	char *dots = strstr(text, "..");
	uint64_t at, first;
	struct area *area;

	if (!is_number(text)) {
		area = area_of(s, text, &at);
		return field == FIELD_VA ? area->va + at : area->key.v;
	}
	if (dots == NULL)
		return number_of(s, text, UINT64_MAX);
	if (field != FIELD_PSN)
		script_fail(s, "only psn= takes a range");
	*dots = '\0';
	first = number_of(s, text, PLX_PSN_MASK);
	*dots = '.'; /* the words are read again by xN */
	out->count = ((uint32_t)(number_of(s, dots + 2, PLX_PSN_MASK) - first) & PLX_PSN_MASK) + 1;
	return first;
}

void
packet_parse(struct script *s, struct packet_pattern *out)
{
	memset(out, 0, sizeof(*out));
	out->count = 1;
	parse_name(s, out);
	while (more_words(s)) {
		char *value = NULL;
		int field;

		for (field = 0; field < FIELD_COUNT && value == NULL; field++)
			value = accept_value(s, field_names[field]);
		if (value == NULL)
			return;
		field--;
		add_field(s, out, (enum packet_field)field,
			  field_value(s, out, (enum packet_field)field, value));
	}
}

void
packet_step(struct packet_pattern *pattern)
{
	for (uint32_t i = 0; i < pattern->fields; i++)
		if (pattern->field[i].field == FIELD_PSN)
			pattern->field[i].value = (pattern->field[i].value + 1) & PLX_PSN_MASK;
}

void
packet_match(struct script *s, const struct packet_pattern *pattern, const struct plx_pkt *pkt)
{
	char seen[256];

	packet_text(pkt, seen, sizeof(seen));
	if (pkt->opcode != pattern->opcode)
		script_fail(s, "expected %s, saw: %s", pattern->name, seen);
	if (pattern->syndrome != ANY && strcmp(name_of(pkt), pattern->name) != 0)
		script_fail(s, "expected %s, saw: %s", pattern->name, seen);
	for (uint32_t i = 0; i < pattern->fields; i++) {
		const char *name = field_names[pattern->field[i].field];
		uint64_t value;

		if (!field_get(pkt, pattern->field[i].field, &value))
			script_fail(s, "%s has no %s=", pattern->name, name);
		if (value != pattern->field[i].value)
			script_fail(s, "expected %s=%llu (0x%llx), saw %s=%llu (0x%llx) in: %s",
				    name, (unsigned long long)pattern->field[i].value,
				    (unsigned long long)pattern->field[i].value, name,
				    (unsigned long long)value, (unsigned long long)value, seen);
	}
}

uint32_t
packet_build(struct script *s, const struct packet_pattern *pattern, struct plx_pkt *pkt)
{
	uint32_t payload = 0;
	bool psn = false, pad = false;
	uint64_t unused;

	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = pattern->opcode;
	pkt->migreq = true;
	pkt->pkey = PLX_PKEY_DEFAULT;
	if (pattern->syndrome != ANY)
		pkt->aeth.syndrome = (uint8_t)pattern->syndrome;
	if (pattern->syndrome == PLX_AETH_ACK ||
	    (pkt->opcode != PLX_RC_ACK && plx_opcode_has(&plx_opcodes[pkt->opcode], PLX_OPF_AETH)))
		pkt->aeth.syndrome = PLX_AETH_NO_CREDITS;
	for (uint32_t i = 0; i < pattern->fields; i++) {
		enum packet_field field = pattern->field[i].field;

		psn = psn || field == FIELD_PSN;
		pad = pad || field == FIELD_PAD;
		if (!field_get(pkt, field, &unused))
			script_fail(s, "%s has no %s=", pattern->name, field_names[field]);
		if (field == FIELD_LEN)
			payload = (uint32_t)pattern->field[i].value;
		else if (bth_field(pkt, field, &unused))
			bth_set(pkt, field, pattern->field[i].value);
		else
			header_set(pkt, field, pattern->field[i].value);
	}
	if (!psn && pkt->opcode != PLX_CNP)
		script_fail(s, "an injected packet needs its psn=");
	if (!pad)
		pkt->pad = (uint8_t)(-payload & 3);
	return payload;
}
