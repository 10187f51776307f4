/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target of the wire: any bytes, decoded as a frame, as a datagram, and as an IP packet for
 * the ICRC. No input has to be valid; the only expectations are the properties checked below. Start
 * with LLVMFuzzerTestOneInput().
 */
#include "plx_wire.h"
#include "check.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TRUST_ALL ((unsigned)PLX_TRUST_IP_CHECKSUM | PLX_TRUST_UDP_CHECKSUM)

/* OK: what was decoded encodes to the bytes it came from, and the payload is within them. */
static enum plx_wire_verdict
fuzz_pkt(const uint8_t *bytes, size_t len)
{
	struct plx_pkt pkt;
	enum plx_wire_verdict verdict = plx_pkt_decode(bytes, len, &pkt);
	uint8_t headers[PLX_PKT_HEADER_MAX];
	size_t header_bytes;

	CHECK(verdict < PLX_WIRE_VERDICT_COUNT);
	if (verdict != PLX_WIRE_OK)
		return verdict;
	CHECK(plx_opcodes[pkt.opcode].service != PLX_SERVICE_UNKNOWN && pkt.version == 0);
	header_bytes = plx_pkt_encode(&pkt, headers);
	CHECK(header_bytes <= sizeof headers);
	CHECK(memcmp(headers, bytes, header_bytes) == 0);
	CHECK(pkt.payload == bytes + header_bytes);
	CHECK(header_bytes + pkt.payload_bytes + pkt.pad + PLX_ICRC_BYTES == len);
	return verdict;
}

static void
fuzz_icrc(const uint8_t *ip, size_t len)
{
	uint8_t stored[PLX_ICRC_BYTES];
	uint32_t icrc = plx_icrc_isal(ip, len);

	if (plx_icrc_has_onepass())
		CHECK(plx_icrc_onepass(ip, len) == icrc);
	plx_icrc_store(icrc, stored);
	CHECK(plx_icrc_load(stored) == icrc);
}

/* A template of a flow that was seen writes headers that decode to the same flow. */
static void
fuzz_template(const struct plx_frame *frame, size_t udp_payload)
{
	struct plx_frame_template tmpl;
	struct plx_frame again;
	uint8_t *whole = calloc(1, PLX_FRAME_HEADER_MAX + udp_payload);
	size_t header_bytes;
	enum plx_wire_verdict verdict;

	CHECK(whole);
	plx_frame_template_init(&tmpl, frame);
	header_bytes = plx_frame_template_write(&tmpl, udp_payload, whole);
	verdict = plx_frame_decode(whole, header_bytes + udp_payload, 0, &again);
	CHECK(verdict == (frame->udp_dst == PLX_ROCE_PORT ? PLX_WIRE_OK : PLX_WIRE_NOT_ROCE));
	CHECK(again.vlan == frame->vlan && again.vlan_tci == frame->vlan_tci);
	CHECK(again.ip_version == frame->ip_version && again.udp_src == frame->udp_src);
	CHECK(again.ip_bytes == frame->ip_bytes && again.udp_bytes == frame->udp_bytes);
	CHECK(plx_frame_ecn(&again) == plx_frame_ecn(frame));
	free(whole);
}

static void
fuzz_frame(const uint8_t *bytes, size_t len)
{
	struct plx_frame frame, strict;
	enum plx_wire_verdict verdict = plx_frame_decode(bytes, len, TRUST_ALL, &frame);
	enum plx_wire_verdict checked = plx_frame_decode(bytes, len, 0, &strict);
	uint8_t headers[PLX_FRAME_HEADER_MAX];
	size_t bth_at, udp_payload;

	CHECK(verdict < PLX_WIRE_VERDICT_COUNT);
	/* Trust can only remove the verdicts that it names. */
	CHECK(checked == verdict || checked == PLX_WIRE_IP_CHECKSUM ||
	      checked == PLX_WIRE_UDP_CHECKSUM);
	if (verdict != PLX_WIRE_OK && verdict != PLX_WIRE_NOT_ROCE)
		return;
	bth_at = (size_t)frame.udp_at + PLX_UDP_BYTES;
	udp_payload = frame.udp_bytes - (size_t)PLX_UDP_BYTES;
	CHECK(frame.ip_at + (size_t)frame.ip_bytes <= len);
	CHECK(bth_at + udp_payload == frame.ip_at + (size_t)frame.ip_bytes);
	CHECK(plx_frame_encode(&frame, headers) == bth_at);
	CHECK(memcmp(headers, bytes, bth_at) == 0);
	fuzz_template(&frame, udp_payload);
	if (verdict == PLX_WIRE_OK && fuzz_pkt(bytes + bth_at, udp_payload) == PLX_WIRE_OK)
		fuzz_icrc(bytes + frame.ip_at, frame.ip_bytes - (size_t)PLX_ICRC_BYTES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A block of exactly this size: reading one byte past it is seen. */
	uint8_t *exact = malloc(size ? size : 1);

	CHECK(exact);
	if (size)
		memcpy(exact, data, size);
	fuzz_frame(exact, size);
	(void)fuzz_pkt(exact, size);
	fuzz_icrc(exact, size);
	free(exact);
	return 0;
}
