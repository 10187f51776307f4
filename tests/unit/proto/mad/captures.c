/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every management datagram that two Linux machines exchanged (tests/captures): it decodes, encodes
 * to the same bytes, and agrees with the packet around it and with the commands that caused it. It
 * never checks the order of messages; tests/unit/proto/cm does.
 */
#include <string.h>

#include "test.h"
#include "mads.h"
#include "plx_mad.h"
#include "plx_wire.h"

/* How many datagrams of each kind there are in the captures that have any. */
enum {
	CM_CAPTURES = 8,
	KINDS = PLX_CM_SIDR_REP - PLX_CM_REQ + 1,
};

static const struct {
	const char *name;
	unsigned of_kind[KINDS]; /* REQ MRA REJ REP RTU DREQ DREP SIDR_REQ SIDR_REP */
} captures[CM_CAPTURES] = {
	{"cm-reject-v4", {1, 0, 1}},
	{"cm-rping-v4-1024", {1, 0, 0, 1, 1, 1, 1}},
	{"cm-rping-v4-4096", {1, 0, 0, 1, 1, 1, 1}},
	{"cm-rping-v6-1024", {1, 0, 0, 1, 1, 1, 1}},
	{"cm-rping-v6-4096", {1, 0, 0, 1, 1, 1, 1}},
	{"cm-rsocket-imm-v4", {1, 0, 0, 1, 1, 1, 1}},
	{"cm-ucmatose-v4", {2, 0, 0, 2, 2, 2, 2}},
	{"cm-sidr-udaddy-v4", {[7] = 1, [8] = 1}},
};
static const char *const nvme = "nvme-rdma-v4";

/* One datagram, and what decoding made of it. */
struct specimen {
	const struct mad *mad;
	struct plx_cm_msg msg;
};

static void
for_each_mad(const char *capture, void (*check)(const struct specimen *, void *), void *arg)
{
	struct mads mads;

	assert_int_equal(mads_load(CAPTURES_DIR, capture, &mads), 0);
	assert_true(mads.count > 0);
	for (size_t i = 0; i < mads.count; i++) {
		struct specimen s = {.mad = &mads.list[i]};

		assert_int_equal(plx_mad_decode(s.mad->bytes, s.mad->len, &s.msg), PLX_MAD_OK);
		check(&s, arg);
	}
	mads_free(&mads);
}

static void
for_all_captures(void (*check)(const struct specimen *, void *), void *arg)
{
	for (size_t i = 0; i < CM_CAPTURES; i++)
		for_each_mad(captures[i].name, check, arg);
	for_each_mad(nvme, check, arg);
}

static void
count_kind(const struct specimen *s, void *arg)
{
	((unsigned *)arg)[s->msg.kind - PLX_CM_REQ]++;
}

static void
the_captures_hold_the_messages_that_their_commands_sent(void **state)
{
	static const unsigned of_nvme[KINDS] = {2, 0, 0, 2, 2, 2, 2};
	unsigned found[KINDS] = {0};

	(void)state;
	for (size_t i = 0; i < CM_CAPTURES; i++) {
		memset(found, 0, sizeof found);
		for_each_mad(captures[i].name, count_kind, found);
		assert_memory_equal(found, captures[i].of_kind, sizeof found);
	}
	memset(found, 0, sizeof found);
	for_each_mad(nvme, count_kind, found);
	assert_memory_equal(found, of_nvme, sizeof found);
}

static void
encode_and_compare(const struct specimen *s, void *arg)
{
	uint8_t again[PLX_MAD_BYTES];

	assert_int_equal(s->mad->len, PLX_MAD_BYTES);
	memset(again, 0xa5, sizeof again);
	plx_mad_encode(&s->msg, again);
	assert_memory_equal(again, s->mad->bytes, sizeof again);
	(*(unsigned *)arg)++;
}

static void
every_datagram_encodes_to_the_same_bytes(void **state)
{
	unsigned compared = 0;

	(void)state;
	for_all_captures(encode_and_compare, &compared);
	assert_int_equal(compared, 2 + 4 * 5 + 5 + 10 + 2 + 10);
}

static void
check_packet(const struct specimen *s, void *arg)
{
	assert_int_equal(s->mad->qkey, PLX_GSI_QKEY);
	assert_int_equal(s->mad->src_qpn, PLX_GSI_QPN);
	assert_int_equal(s->msg.status, 0);
	assert_true(s->msg.transaction_id != 0);
	(*(unsigned *)arg)++;
}

static void
all_of_them_come_from_a_gsi(void **state)
{
	unsigned checked = 0;

	(void)state;
	for_all_captures(check_packet, &checked);
	assert_int_equal(checked, 49);
}

static void
assert_same_ip(const struct plx_ip *a, const struct plx_ip *b)
{
	assert_int_equal(a->version, b->version);
	assert_memory_equal(a->v, b->v, sizeof a->v);
}

/* What a REQ or SIDR REQ contains of its own addresses, three times. */
static void
check_addresses(const struct specimen *s, void *arg)
{
	struct plx_ip src = s->mad->src, dst = s->mad->dst;
	struct plx_cma cma;
	uint8_t again[PLX_CMA_BYTES];
	const uint8_t *private_data =
		s->msg.kind == PLX_CM_REQ ? s->msg.req.private_data : s->msg.sidr_req.private_data;

	if (s->msg.kind != PLX_CM_REQ && s->msg.kind != PLX_CM_SIDR_REQ)
		return;
	assert_true(plx_cma_decode(private_data, &cma));
	assert_same_ip(&cma.src, &src);
	assert_same_ip(&cma.dst, &dst);
	plx_cma_encode(&cma, again);
	assert_memory_equal(again, private_data, sizeof again);
	if (s->msg.kind == PLX_CM_REQ) {
		struct plx_ip ip = plx_gid_to_ip(s->msg.req.primary.local_gid);
		uint8_t gid[16];

		assert_same_ip(&ip, &src);
		ip = plx_gid_to_ip(s->msg.req.primary.remote_gid);
		assert_same_ip(&ip, &dst);
		plx_gid_from_ip(&src, gid);
		assert_memory_equal(gid, s->msg.req.primary.local_gid, sizeof gid);
	}
	(*(unsigned *)arg)++;
}

static void
addresses_are_those_of_the_packet(void **state)
{
	unsigned checked = 0;

	(void)state;
	for_all_captures(check_addresses, &checked);
	assert_int_equal(checked, 1 + 4 + 1 + 2 + 1 + 2);
}

/* As another dissector shows them. */
static void
check_rping(const struct specimen *s, void *arg)
{
	const struct plx_cm_req *req = &s->msg.req;
	const struct plx_cm_rep *rep = &s->msg.rep;

	(void)arg;
	if (s->msg.kind == PLX_CM_REQ) {
		assert_true(s->msg.transaction_id == UINT64_C(0x00000002b0b19ec9));
		assert_int_equal(req->local_comm_id, 0xc99eb1b0);
		assert_true(req->service_id == plx_cma_service_id(PLX_PORT_SPACE_TCP, 7174));
		assert_true(req->local_ca_guid == UINT64_C(0x505400fffe770002));
		assert_int_equal(req->local_qpn, 0x16);
		assert_int_equal(req->responder_resources, 1);
		assert_int_equal(req->initiator_depth, 1);
		assert_int_equal(req->remote_response_timeout, 20);
		assert_int_equal(req->transport_service, 0);
		assert_false(req->flow_control);
		assert_int_equal(req->starting_psn.v, 0x857b5a);
		assert_int_equal(req->local_response_timeout, 20);
		assert_int_equal(req->retry_count, 7);
		assert_int_equal(req->pkey, 0xffff);
		assert_int_equal(req->path_mtu, 3);
		assert_int_equal(req->rnr_retry_count, 7);
		assert_int_equal(req->max_cm_retries, 15);
		assert_false(req->srq);
		assert_int_equal(req->primary.local_lid, 0xffff);
		assert_int_equal(req->primary.flow_label, 0x00ed2);
		assert_int_equal(req->primary.hop_limit, 64);
		assert_int_equal(req->primary.local_ack_timeout, 19);
	} else if (s->msg.kind == PLX_CM_REP) {
		assert_int_equal(rep->local_comm_id, 0x239c6d63);
		assert_int_equal(rep->remote_comm_id, 0xc99eb1b0);
		assert_int_equal(rep->local_qpn, 0x11);
		assert_int_equal(rep->starting_psn.v, 0xc54a6e);
		assert_int_equal(rep->responder_resources, 1);
		assert_int_equal(rep->initiator_depth, 1);
		assert_int_equal(rep->target_ack_delay, 15);
		assert_false(rep->flow_control);
		assert_int_equal(rep->rnr_retry_count, 7);
		assert_true(rep->local_ca_guid == UINT64_C(0x505400fffe770001));
	} else if (s->msg.kind == PLX_CM_DREQ) {
		assert_int_equal(s->msg.dreq.remote_qpn, 0x11);
	}
}

static void
check_others(const struct specimen *s, void *arg)
{
	(void)arg;
	if (s->msg.kind == PLX_CM_REJ) {
		assert_int_equal(s->msg.rej.local_comm_id, 0);
		assert_int_equal(s->msg.rej.remote_comm_id, 0xcd9eb1b0);
		assert_int_equal(s->msg.rej.about, PLX_CM_ABOUT_REQ);
		assert_int_equal(s->msg.rej.reason, PLX_CM_REASON_INVALID_SERVICE_ID);
	} else if (s->msg.kind == PLX_CM_SIDR_REQ) {
		assert_true(s->msg.sidr_req.service_id ==
			    plx_cma_service_id(PLX_PORT_SPACE_UDP, 7174));
		assert_int_equal(s->msg.sidr_req.pkey, 0xffff);
	} else if (s->msg.kind == PLX_CM_SIDR_REP) {
		assert_int_equal(s->msg.sidr_rep.request_id, 0xce9eb1b0);
		assert_int_equal(s->msg.sidr_rep.status, PLX_CM_SIDR_OK);
		assert_int_equal(s->msg.sidr_rep.qpn, 0x17);
		assert_int_equal(s->msg.sidr_rep.qkey, PLX_CMA_QKEY);
	}
}

static void
fields_are_what_another_dissector_shows(void **state)
{
	(void)state;
	for_each_mad("cm-rping-v4-1024", check_rping, NULL);
	for_each_mad("cm-reject-v4", check_others, NULL);
	for_each_mad("cm-sidr-udaddy-v4", check_others, NULL);
}

/* ---- PSNs in messages ---- */

enum {
	QPS_MAX = 8,
};

struct expectation {
	uint32_t qpn;
	struct plx_psn psn;
};

struct expectations {
	struct expectation list[QPS_MAX];
	size_t count, met;
};

static void
expect_psn(const struct specimen *s, void *arg)
{
	struct expectations *all = arg;

	if (s->msg.kind != PLX_CM_REQ && s->msg.kind != PLX_CM_REP)
		return;
	assert_true(all->count < QPS_MAX);
	all->list[all->count++] =
		s->msg.kind == PLX_CM_REQ
			? (struct expectation){s->msg.req.local_qpn, s->msg.req.starting_psn}
			: (struct expectation){s->msg.rep.local_qpn, s->msg.rep.starting_psn};
}

/* Is it the first request to one of them? Then it must have that PSN. */
static void
meet(struct expectations *all, const struct plx_pkt *pkt)
{
	if (pkt->opcode > PLX_RC_READ_REQUEST)
		return; /* an answer, or a datagram */
	for (size_t i = 0; i < all->count; i++) {
		if (all->list[i].qpn != pkt->dest_qpn)
			continue;
		assert_int_equal(pkt->psn.v, all->list[i].psn.v);
		all->list[i].qpn = 0;
		all->met++;
	}
}

static void
the_starting_psn_is_the_first_that_its_sender_receives(void **state)
{
	size_t met = 0;

	(void)state;
	for (size_t i = 0; i <= CM_CAPTURES; i++) {
		const char *name = i < CM_CAPTURES ? captures[i].name : nvme;
		struct expectations all = {.count = 0};
		struct mads mads;

		for_each_mad(name, expect_psn, &all);
		assert_int_equal(mads_load(CAPTURES_DIR, name, &mads), 0);
		for (size_t k = 0; k < mads.pcap.count; k++) {
			const struct pcap_frame *bytes = &mads.pcap.frames[k];
			struct plx_frame frame;
			struct plx_pkt pkt;

			assert_int_equal(plx_frame_decode(bytes->bytes, bytes->len, 0, &frame),
					 PLX_WIRE_OK);
			assert_int_equal(plx_pkt_decode(bytes->bytes + frame.udp_at + PLX_UDP_BYTES,
							frame.udp_bytes - (size_t)PLX_UDP_BYTES,
							&pkt),
					 PLX_WIRE_OK);
			meet(&all, &pkt);
		}
		met += all.met;
		mads_free(&mads);
	}
	assert_int_equal(met, 4 * 2 + 2 + 4 + 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_captures_hold_the_messages_that_their_commands_sent),
		cmocka_unit_test(every_datagram_encodes_to_the_same_bytes),
		cmocka_unit_test(all_of_them_come_from_a_gsi),
		cmocka_unit_test(addresses_are_those_of_the_packet),
		cmocka_unit_test(fields_are_what_another_dissector_shows),
		cmocka_unit_test(the_starting_psn_is_the_first_that_its_sender_receives),
	};

	return cmocka_run_group_tests_name("mad/captures", tests, NULL, NULL);
}
