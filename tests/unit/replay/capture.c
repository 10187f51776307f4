/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorts the packets of a capture into flows: who asked which queue pair, and what it answered.
 * It never changes a packet. An ACK does not say which queue pair sent it; its PSN does.
 * Start with capture_load().
 */
#include "test.h"
#include "replay.h"

#include <stdio.h>
#include <string.h>

uint32_t
rec_psns(const struct rec *rec, uint32_t mtu)
{
	uint32_t length = rec->pkt.reth.length;

	if (rec_op(rec)->kind != PLX_OP_READ_REQUEST || !length)
		return 1;
	return (length + mtu - 1) / mtu;
}

static bool
same_host(const struct plx_frame *a, bool a_src, const struct plx_frame *b, bool b_src)
{
	if (a->ip_version != b->ip_version)
		return false;
	if (a->ip_version == 4)
		return (a_src ? a->v4.src : a->v4.dst) == (b_src ? b->v4.src : b->v4.dst);
	return !memcmp(a_src ? a->v6.src : a->v6.dst, b_src ? b->v6.src : b->v6.dst, 16);
}

/* Does `rec` travel the way of the requests of `flow`, or the way back? */
static bool
along(const struct flow *flow, const struct rec *rec)
{
	return same_host(&rec->frame, true, flow->path, true) &&
	       same_host(&rec->frame, false, flow->path, false);
}

static bool
against(const struct flow *flow, const struct rec *rec)
{
	return same_host(&rec->frame, true, flow->path, false) &&
	       same_host(&rec->frame, false, flow->path, true);
}

static void
add_request(struct capture *capture, struct rec *rec)
{
	struct flow *flow = NULL;
	struct plx_psn end = plx_psn_add(rec->pkt.psn, rec_psns(rec, capture->mtu));

	for (uint32_t i = 0; i < capture->flows; i++)
		if (capture->flow[i].qpn == rec->pkt.dest_qpn && along(&capture->flow[i], rec))
			flow = &capture->flow[i];
	if (!flow) {
		assert_in_range(capture->flows, 0, REPLAY_FLOWS_MAX - 1);
		flow = &capture->flow[capture->flows++];
		flow->qpn = rec->pkt.dest_qpn;
		flow->path = &rec->frame;
		flow->psn_first = flow->psn_end = rec->pkt.psn;
	}
	if (plx_psn_before(flow->psn_end, end))
		flow->psn_end = end;
	flow->request[flow->requests++] = rec;
}

static void
add_answer(struct capture *capture, struct rec *rec)
{
	struct flow *flow = NULL;

	for (uint32_t i = 0; i < capture->flows; i++) {
		struct flow *each = &capture->flow[i];
		uint32_t span = (uint32_t)plx_psn_diff(each->psn_end, each->psn_first);

		if (!against(each, rec) || !plx_psn_in(rec->pkt.psn, each->psn_first, span))
			continue;
		assert_null(flow); /* else the PSN would not tell */
		flow = each;
	}
	assert_non_null(flow);
	if (!flow)
		return; /* for the compiler, which does not know that the assertion ends it */
	assert_in_range(flow->answers, 0, REPLAY_ANSWERS_MAX - 1);
	if (!flow->answers)
		flow->peer_qpn = rec->pkt.dest_qpn;
	assert_int_equal(flow->peer_qpn, rec->pkt.dest_qpn);
	flow->answer[flow->answers++] = rec;
	if ((rec->pkt.aeth.syndrome & PLX_AETH_TYPE_MASK) != PLX_AETH_RNR ||
	    rec_op(rec)->kind != PLX_OP_ACK)
		return;
	/* the newest arrival of this PSN is the one that found no receive */
	for (uint32_t i = flow->requests; i-- > 0;) {
		if (!plx_psn_eq(flow->request[i]->pkt.psn, rec->pkt.psn))
			continue;
		flow->request[i]->not_ready = true;
		return;
	}
	fail();
}

static void
decode(struct capture *capture)
{
	for (size_t i = 0; i < capture->pcap.count; i++) {
		const uint8_t *bytes = capture->pcap.frames[i].bytes;
		struct rec *rec = &capture->rec[capture->recs];

		assert_in_range(capture->recs, 0, REPLAY_PACKETS_MAX - 1);
		rec->number = (uint32_t)i + 1;
		assert_int_equal(
			plx_frame_decode(bytes, capture->pcap.frames[i].len, 0, &rec->frame),
			PLX_WIRE_OK);
		assert_int_equal(plx_pkt_decode(bytes + rec->frame.udp_at + PLX_UDP_BYTES,
						rec->frame.udp_bytes - PLX_UDP_BYTES, &rec->pkt),
				 PLX_WIRE_OK);
		if (rec_op(rec)->service == PLX_SERVICE_RC)
			capture->recs++;
	}
}

/* The path MTU: what a packet that is not its message's last carries; when there is none, the
 * smallest that carries every packet seen. */
static void
find_mtu(struct capture *capture)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < capture->recs && !capture->mtu; i++) {
		const struct rec *rec = &capture->rec[i];

		if (plx_opcode_has(rec_op(rec), PLX_OPF_FIRST))
			capture->mtu = rec->pkt.payload_bytes;
		if (rec->pkt.payload_bytes > longest)
			longest = rec->pkt.payload_bytes;
	}
	if (capture->mtu)
		return;
	for (capture->mtu = PLX_MTU_MIN; capture->mtu < longest;)
		capture->mtu *= 2;
}

void
capture_load(struct capture *capture, const char *name)
{
	char path[512];

	*capture = (struct capture){0};
	snprintf(path, sizeof(path), "%s/%s.pcap", CAPTURES_DIR, name);
	assert_int_equal(pcap_load(path, &capture->pcap), 0);
	decode(capture);
	find_mtu(capture);
	for (uint32_t i = 0; i < capture->recs; i++) {
		if (plx_opcode_has(rec_op(&capture->rec[i]), PLX_OPF_REQUEST))
			add_request(capture, &capture->rec[i]);
		else
			add_answer(capture, &capture->rec[i]);
	}
}

void
capture_free(struct capture *capture)
{
	pcap_free(&capture->pcap);
}
