/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target of management datagrams: any bytes, on their own and behind a valid header, and any
 * 36 bytes as the header of the IP CM service. No input has to be valid; the only expectations are
 * the properties checked below. Start with LLVMFuzzerTestOneInput().
 */
#include "plx_mad.h"
#include "check.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What does not fit its bits would come back as something else. */
static void
fuzz_widths(const struct plx_cm_msg *msg)
{
	if (msg->kind == PLX_CM_REQ)
		CHECK(msg->req.local_qpn <= PLX_PSN_MASK && msg->req.path_mtu < 16 &&
		      msg->req.retry_count < 8 && msg->req.primary.flow_label < 1u << 20 &&
		      msg->req.starting_psn.v <= PLX_PSN_MASK);
	if (msg->kind == PLX_CM_REP)
		CHECK(msg->rep.local_qpn <= PLX_PSN_MASK && msg->rep.rnr_retry_count < 8 &&
		      msg->rep.starting_psn.v <= PLX_PSN_MASK);
	if (msg->kind == PLX_CM_REJ)
		CHECK(msg->rej.info_length <= PLX_CM_REJ_INFO);
	if (msg->kind == PLX_CM_SIDR_REP)
		CHECK(msg->sidr_rep.info_length <= PLX_CM_SIDR_REP_INFO);
}

/* OK: what was decoded encodes to a datagram with the same meaning, which encodes to itself; it
 * differs from the input only in bits that belong to no field. */
static void
fuzz_mad(const uint8_t *bytes, size_t len)
{
	struct plx_cm_msg msg, again;
	uint8_t first[PLX_MAD_BYTES], second[PLX_MAD_BYTES];
	enum plx_mad_verdict verdict;

	memset(&msg, 0, sizeof msg);
	memset(&again, 0, sizeof again);
	verdict = plx_mad_decode(bytes, len, &msg);
	CHECK(verdict < PLX_MAD_VERDICT_COUNT);
	CHECK((verdict == PLX_MAD_LENGTH) == (len != PLX_MAD_BYTES));
	if (verdict != PLX_MAD_OK)
		return;
	fuzz_widths(&msg);
	plx_mad_encode(&msg, first);
	CHECK(plx_mad_decode(first, sizeof first, &again) == PLX_MAD_OK);
	CHECK(memcmp(&msg, &again, sizeof msg) == 0);
	plx_mad_encode(&again, second);
	CHECK(memcmp(first, second, sizeof first) == 0);
	for (size_t i = 0; i < sizeof first; i++)
		CHECK((first[i] & ~bytes[i]) == 0);
}

/* The same with the four constants and the attribute as they must be. */
static void
fuzz_behind_a_header(const uint8_t *bytes, size_t len)
{
	uint8_t *framed;

	if (len != PLX_MAD_BYTES)
		return;
	framed = malloc(len);
	CHECK(framed);
	memcpy(framed, bytes, len);
	memcpy(framed,
	       (const uint8_t[]){1, PLX_MAD_CLASS_CM, PLX_MAD_CM_CLASS_VERSION,
				 PLX_MAD_METHOD_SEND},
	       4);
	framed[16] = 0;
	framed[17] = (uint8_t)(PLX_CM_REQ + bytes[17] % 9);
	fuzz_mad(framed, len);
	free(framed);
}

static void
fuzz_cma(const uint8_t *bytes, size_t len)
{
	struct plx_cma cma, again;
	uint8_t out[PLX_CMA_BYTES], gid[16];
	struct plx_ip back;

	memset(&cma, 0, sizeof cma);
	memset(&again, 0, sizeof again);
	if (len < PLX_CMA_BYTES || !plx_cma_decode(bytes, &cma))
		return;
	CHECK(cma.src.version == cma.dst.version);
	CHECK(cma.src.version == 4 || cma.src.version == 6);
	plx_cma_encode(&cma, out);
	CHECK(plx_cma_decode(out, &again) && memcmp(&cma, &again, sizeof cma) == 0);
	plx_gid_from_ip(&cma.src, gid);
	back = plx_gid_to_ip(gid);
	/* An IPv6 address may be a mapped one; from then on it is that IPv4 address. */
	plx_gid_from_ip(&back, out);
	CHECK(memcmp(gid, out, sizeof gid) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A block of exactly this size: reading one byte past it is seen. */
	uint8_t *exact = calloc(size ? size : 1, 1);

	CHECK(exact);
	if (size)
		memcpy(exact, data, size);
	fuzz_mad(exact, size);
	fuzz_behind_a_header(exact, size);
	fuzz_cma(exact, size);
	free(exact);
	return 0;
}
