/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every recorded datagram, into a queue pair of ours in the place of its receiver and out of one in
 * the place of its sender: what is placed is what was on the wire, and what leaves is the same
 * frame. Those for QP 1 go through the helpers for management. The totals are asserted.
 * Start with the table, then receive() and send_again().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "pcap.h"
#include "rc.h"

enum {
	GSI_QPN = 1,
	ROOM = PLX_UD_HEADER_BYTES + PLX_MTU_MAX,
	FRAME_MAX = 5000,
};

#define GSI_QKEY UINT32_C(0x80010000)

/* Datagrams of programs, of management, and payload bytes of the first. */
static const struct expected {
	const char *name;
	uint32_t datagrams, management;
	uint64_t bytes;
} expected[] = {
	{"ud-pingpong-v4", 8, 0, 8000}, {"ud-pingpong-v6", 8, 0, 8000},
	{"ud-send-v4", 5, 0, 20000},    {"cm-sidr-udaddy-v4", 4, 2, 4000},
	{"cm-rping-v4-1024", 0, 5, 0},  {"cm-rping-v6-4096", 0, 5, 0},
	{"cm-reject-v4", 0, 2, 0},      {"cm-ucmatose-v4", 0, 10, 0},
};

struct rec {
	const uint8_t *bytes;
	size_t len;
	struct plx_frame frame;
	struct plx_pkt pkt;
};

struct bench {
	struct plx_mem *mem;
	struct plx_domain domain;
	struct plx_key key;
	uint8_t memory[ROOM];
	void *rq_block, *qp_block;
	struct plx_rq *rq;
	struct plx_actions out;
};

static const struct plx_rc_caps caps = {.sq_depth = 1, .sq_sges = 1};

static void
bench_open(struct bench *bench)
{
	bench->mem = test_mem(64, &bench->domain);
	bench->key =
		test_region(bench->mem, bench->domain, bench->memory, ROOM, PLX_ACCESS_LOCAL_WRITE);
	bench->rq_block = test_block(plx_rq_bytes(1, 1));
	bench->qp_block = test_block(plx_ud_bytes(&caps));
}

static void
bench_close(struct bench *bench)
{
	free(bench->qp_block);
	free(bench->rq_block);
	free(bench->mem);
}

/* A queue pair with this number and Q_Key, ready, that sends from this PSN. */
static struct plx_ud *
open_qp(struct bench *bench, uint32_t qpn, uint32_t qkey, struct plx_psn psn)
{
	const struct plx_ud_attr attr = {.mtu = PLX_MTU_MAX, .pkey = 0xffff, .sq_psn = psn};
	struct plx_ud_ids ids = {
		.qpn = qpn, .qkey = qkey, .domain = bench->domain, .mem = bench->mem};
	struct plx_ud *ud;

	bench->rq = ids.rq = plx_rq_init(bench->rq_block, 1, 1, false);
	ud = plx_ud_init(bench->qp_block, &caps, &ids);
	test_ud_bring(ud, PLX_QP_RTS, &attr);
	plx_actions_reset(&bench->out);
	return ud;
}

static bool
carries_imm(const struct rec *rec)
{
	return rec->pkt.opcode == PLX_UD_SEND_ONLY_IMM;
}

/* In the place of its receiver: header, payload and completion. */
static void
receive(struct bench *bench, const struct rec *rec)
{
	const uint8_t *ip = rec->bytes + rec->frame.ip_at;
	uint32_t header = rec->frame.ip_version == 4 ? PLX_IPV4_BYTES : PLX_IPV6_BYTES;
	uint32_t bytes = PLX_UD_HEADER_BYTES + rec->pkt.payload_bytes;
	const struct plx_sge sge = {(uintptr_t)bench->memory, bytes, bench->key};
	struct plx_ud *ud = open_qp(bench, rec->pkt.dest_qpn, rec->pkt.deth.qkey, plx_psn(0));
	const struct plx_completion *wc;

	memset(bench->memory, 0xee, sizeof(bench->memory));
	assert_int_equal(plx_rc_post_recv(plx_ud_base(ud), 1, &sge, 1), PLX_OK);
	assert_int_equal(plx_ud_admit(ud, &rec->pkt), PLX_VERDICT_ACCEPT);
	assert_int_equal(plx_ud_on_packet(ud, &rec->pkt, ip, &bench->out), PLX_VERDICT_ACCEPT);
	for (uint32_t i = 0; i + 1 < bench->out.count; i++)
		plx_action_apply_memory(&bench->out.list[i]);
	assert_memory_equal(bench->memory + PLX_UD_HEADER_BYTES - header, ip, header);
	assert_memory_equal(bench->memory + PLX_UD_HEADER_BYTES, rec->pkt.payload,
			    rec->pkt.payload_bytes);
	wc = &bench->out.list[bench->out.count - 1].completion;
	assert_int_equal(wc->status, PLX_WC_SUCCESS);
	assert_int_equal(wc->qpn, rec->pkt.deth.src_qpn);
	assert_int_equal(wc->bytes, bytes);
	assert_int_equal(wc->op, carries_imm(rec) ? PLX_WR_SEND_IMM : PLX_WR_SEND);
	assert_int_equal(wc->imm, carries_imm(rec) ? rec->pkt.imm : 0);
}

/* rxe leaves MigReq out, and asks for acknowledgement of management datagrams, which nobody gives:
 * with these two bits as recorded ours is the same frame, ICRC included. */
static size_t
write_frame(struct bench *bench, const struct rec *rec, uint8_t *out)
{
	struct plx_pkt *ours = &bench->out.list[0].emit.pkt;
	struct plx_frame_template tmpl;

	assert_true(ours->migreq && !ours->ack_request);
	ours->migreq = rec->pkt.migreq;
	ours->ack_request = rec->pkt.ack_request;
	plx_frame_template_init(&tmpl, &rec->frame);
	return plx_emit_write(&tmpl, &bench->out, &bench->out.list[0].emit, plx_icrc_choose(), out);
}

/* In the place of its sender: the same frame. */
static void
send_again(struct bench *bench, const struct rec *rec)
{
	uint8_t frame[FRAME_MAX];
	struct plx_wqe wqe = {.op = carries_imm(rec) ? PLX_WR_SEND_IMM : PLX_WR_SEND,
			      .flags = rec->pkt.solicited ? PLX_WR_SOLICITED : 0,
			      .sges = 1,
			      .imm = carries_imm(rec) ? rec->pkt.imm : 0,
			      .remote_qkey = rec->pkt.deth.qkey,
			      .remote_qpn = rec->pkt.dest_qpn};
	struct plx_ud *ud = open_qp(bench, rec->pkt.deth.src_qpn, 0, rec->pkt.psn);

	memcpy(bench->memory, rec->pkt.payload, rec->pkt.payload_bytes);
	wqe.sge[0] = (struct plx_sge){(uintptr_t)bench->memory, rec->pkt.payload_bytes, bench->key};
	assert_int_equal(plx_ud_post_send(ud, &wqe, NULL), PLX_OK);
	assert_int_equal(plx_ud_transmit(ud, 1, &bench->out), 1);
	assert_int_equal(write_frame(bench, rec, frame), rec->len);
	assert_memory_equal(frame, rec->bytes, rec->len);
}

/* Without a queue pair: judged, and made again from its label. */
static void
manage(struct bench *bench, const struct rec *rec)
{
	const struct plx_ud_label label = {.src_qpn = rec->pkt.deth.src_qpn,
					   .dest_qpn = rec->pkt.dest_qpn,
					   .qkey = rec->pkt.deth.qkey,
					   .pkey = rec->pkt.pkey};
	struct plx_emit *emit = &bench->out.list[0].emit;
	uint8_t frame[FRAME_MAX];

	assert_int_equal(plx_ud_check(&rec->pkt, 0xffff, GSI_QKEY), PLX_VERDICT_ACCEPT);
	plx_actions_reset(&bench->out);
	*emit = (struct plx_emit){.iovs = 1};
	plx_ud_label(&label, rec->pkt.psn, rec->pkt.payload_bytes, &emit->pkt);
	bench->out.iov[0] =
		(struct plx_iov){.base = rec->pkt.payload, .bytes = rec->pkt.payload_bytes};
	assert_int_equal(write_frame(bench, rec, frame), rec->len);
	assert_memory_equal(frame, rec->bytes, rec->len);
}

static bool
decode(const struct pcap_frame *frame, struct rec *rec)
{
	*rec = (struct rec){.bytes = frame->bytes, .len = frame->len};
	assert_int_equal(plx_frame_decode(frame->bytes, frame->len, 0, &rec->frame), PLX_WIRE_OK);
	assert_int_equal(plx_pkt_decode(frame->bytes + rec->frame.udp_at + PLX_UDP_BYTES,
					rec->frame.udp_bytes - PLX_UDP_BYTES, &rec->pkt),
			 PLX_WIRE_OK);
	return plx_opcodes[rec->pkt.opcode].service == PLX_SERVICE_UD;
}

static void
replay(void **state)
{
	static struct bench bench; /* large */
	const struct expected *want = *state;
	struct expected got = {.name = want->name};
	struct pcap pcap;
	struct rec rec;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.pcap", CAPTURES_DIR, want->name);
	assert_int_equal(pcap_load(path, &pcap), 0);
	bench_open(&bench);
	for (size_t i = 0; i < pcap.count; i++) {
		if (!decode(&pcap.frames[i], &rec))
			continue;
		if (rec.pkt.dest_qpn == GSI_QPN) {
			manage(&bench, &rec);
			got.management++;
			continue;
		}
		receive(&bench, &rec);
		send_again(&bench, &rec);
		got.datagrams++;
		got.bytes += rec.pkt.payload_bytes;
	}
	bench_close(&bench);
	pcap_free(&pcap);
	printf("%-18s datagrams %u, of management %u, bytes %lu\n", got.name, got.datagrams,
	       got.management, (unsigned long)got.bytes);
	assert_int_equal(got.datagrams, want->datagrams);
	assert_int_equal(got.management, want->management);
	assert_int_equal(got.bytes, want->bytes);
}

int
main(void)
{
	struct CMUnitTest tests[PLX_COUNT_OF(expected)] = {0};
	static char names[PLX_COUNT_OF(expected)][96];

	for (size_t i = 0; i < PLX_COUNT_OF(expected); i++) {
		snprintf(names[i], sizeof(names[i]),
			 "the_datagrams_of_%s_arrive_and_leave_as_recorded", expected[i].name);
		tests[i].name = names[i];
		tests[i].test_func = replay;
		tests[i].initial_state = (void *)(uintptr_t)&expected[i];
	}
	return _cmocka_run_group_tests("datagrams", tests, PLX_COUNT_OF(tests), NULL, NULL);
}
