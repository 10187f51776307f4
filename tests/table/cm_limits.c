/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every field of a REQ with every value that a peer could send (for long fields, the edges and each
 * bit): accepted, clamped or rejected, and for what reason. Then all pairs of rejected values, and
 * every field of a REP. The model below is the table of docs/cm.md, not the code. It never tests
 * limits per peer: tests/unit/proto/cm/many.c does. Start with the table `fields`.
 */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "block.h"
#include "plx_cm.h"

enum {
	PORT = 7174,
	OWN_QPN = 0x22,
	PATH_MTU_LIMIT = 2048,
	DROPPED = 0xffff, /* instead of a reason */
};

/* ---- the bench ---- */

struct bench {
	struct plx_cm *cm;
	void *memory;
	struct plx_cm_route route; /* as the manager sees it */
	uint64_t now;
};

static void
bench_open(struct bench *bench, uint8_t version)
{
	struct plx_cm_config config = {
		.connections = 8, .half_open = 8, .path_mtu = PATH_MTU_LIMIT, .secret = {{5, 6}}};
	struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP, .port = PORT};
	struct plx_cm_id id;

	memset(bench, 0, sizeof *bench);
	bench->now = PLX_SEC;
	bench->route.local = (struct plx_ip){.version = version, .v = {10, 77, 0, 1}};
	bench->route.remote = (struct plx_ip){.version = version, .v = {10, 77, 0, 2}};
	bench->memory = test_block(plx_cm_bytes(&config));
	bench->cm = plx_cm_init(bench->memory, &config);
	assert_int_equal(plx_cm_listen(bench->cm, &listen, &id), PLX_OK);
}

static struct plx_cm_msg
good_req(const struct bench *bench)
{
	struct plx_cma cma = {
		.src = bench->route.remote, .dst = bench->route.local, .src_port = 4000};
	struct plx_cm_msg msg = {.kind = PLX_CM_REQ, .transaction_id = 1};
	struct plx_cm_req *req = &msg.req;

	req->local_comm_id = 0x1234;
	req->service_id = plx_cma_service_id(PLX_PORT_SPACE_TCP, PORT);
	req->local_ca_guid = 0xcafe;
	req->local_qpn = 0x11;
	req->responder_resources = 16;
	req->initiator_depth = 16;
	req->remote_response_timeout = 20;
	req->starting_psn = plx_psn(77);
	req->local_response_timeout = 20;
	req->retry_count = 7;
	req->pkey = 0xffff;
	req->path_mtu = 3;
	req->rnr_retry_count = 7;
	req->max_cm_retries = 15;
	req->primary.local_ack_timeout = 19;
	req->primary.hop_limit = 64;
	plx_gid_from_ip(&bench->route.remote, req->primary.local_gid);
	plx_gid_from_ip(&bench->route.local, req->primary.remote_gid);
	plx_cma_encode(&cma, req->private_data);
	return msg;
}

/* The manager's response to a REQ: NONE when it was accepted; `event` is then the event raised. */
static unsigned
ask(struct bench *bench, const struct plx_cm_msg *msg, struct plx_cm_event *event)
{
	uint8_t bytes[PLX_MAD_BYTES];
	struct plx_cm_route route;
	struct plx_cm_msg answer;
	enum plx_cm_verdict verdict;

	bench->now += PLX_SEC; /* so that nobody is limited */
	plx_cm_on_tick(bench->cm, bench->now);
	plx_mad_encode(msg, bytes);
	verdict = plx_cm_on_mad(bench->cm, &bench->route, bytes, sizeof bytes, bench->now);
	if (verdict == PLX_CM_TAKEN) {
		assert_true(plx_cm_next_event(bench->cm, event));
		assert_int_equal(event->kind, PLX_CM_EVENT_REQUESTED);
		plx_cm_abandon(bench->cm, event->id, bench->now);
		assert_true(plx_cm_transmit(bench->cm, bench->now, &route, bytes));
		assert_false(plx_cm_transmit(bench->cm, bench->now, &route, bytes));
		bench->now += 2 * PLX_CM_TIMEWAIT_NS;
		plx_cm_on_tick(bench->cm, bench->now);
		return PLX_CM_REASON_NONE;
	}
	assert_false(plx_cm_next_event(bench->cm, event));
	if (verdict == PLX_CM_INVALID) {
		assert_false(plx_cm_transmit(bench->cm, bench->now, &route, bytes));
		return DROPPED;
	}
	assert_int_equal(verdict, PLX_CM_REFUSED);
	assert_true(plx_cm_transmit(bench->cm, bench->now, &route, bytes));
	assert_int_equal(plx_mad_decode(bytes, sizeof bytes, &answer), PLX_MAD_OK);
	assert_int_equal(answer.kind, PLX_CM_REJ);
	assert_int_equal(answer.rej.about, PLX_CM_ABOUT_REQ);
	assert_int_equal(answer.rej.remote_comm_id, msg->req.local_comm_id);
	assert_int_equal(answer.transaction_id, msg->transaction_id);
	assert_memory_equal(&route, &bench->route, sizeof route);
	return answer.rej.reason;
}

/* ---- the model ---- */

typedef void set_field(struct plx_cm_msg *msg, uint64_t value);
typedef unsigned reason_of(uint64_t value);

struct field {
	const char *name;
	uint32_t bits;
	set_field *set;
	reason_of *reason;
};

#define SETTER(name, place)                                            \
	static void set_##name(struct plx_cm_msg *msg, uint64_t value) \
	{                                                              \
		place;                                                 \
	}

SETTER(comm_id, msg->req.local_comm_id = (uint32_t)value)
SETTER(service_id, msg->req.service_id = value)
SETTER(ca_guid, msg->req.local_ca_guid = value)
SETTER(qkey, msg->req.local_qkey = (uint32_t)value)
SETTER(qpn, msg->req.local_qpn = (uint32_t)value)
SETTER(responder_resources, msg->req.responder_resources = (uint8_t)value)
SETTER(local_eecn, msg->req.local_eecn = (uint32_t)value)
SETTER(initiator_depth, msg->req.initiator_depth = (uint8_t)value)
SETTER(remote_eecn, msg->req.remote_eecn = (uint32_t)value)
SETTER(remote_response, msg->req.remote_response_timeout = (uint8_t)value)
SETTER(transport, msg->req.transport_service = (uint8_t)value)
SETTER(flow_control, msg->req.flow_control = value != 0)
SETTER(psn, msg->req.starting_psn = plx_psn((uint32_t)value))
SETTER(local_response, msg->req.local_response_timeout = (uint8_t)value)
SETTER(retry, msg->req.retry_count = (uint8_t)value)
SETTER(pkey, msg->req.pkey = (uint16_t)value)
SETTER(path_mtu, msg->req.path_mtu = (uint8_t)value)
SETTER(rdc, msg->req.rdc_exists = value != 0)
SETTER(rnr_retry, msg->req.rnr_retry_count = (uint8_t)value)
SETTER(cm_retries, msg->req.max_cm_retries = (uint8_t)value)
SETTER(srq, msg->req.srq = value != 0)
SETTER(extended, msg->req.extended_transport = (uint8_t)value)
SETTER(local_lid, msg->req.primary.local_lid = (uint16_t)value)
SETTER(remote_lid, msg->req.primary.remote_lid = (uint16_t)value)
SETTER(flow_label, msg->req.primary.flow_label = (uint32_t)value)
SETTER(rate, msg->req.primary.packet_rate = (uint8_t)value)
SETTER(traffic_class, msg->req.primary.traffic_class = (uint8_t)value)
SETTER(hop_limit, msg->req.primary.hop_limit = (uint8_t)value)
SETTER(service_level, msg->req.primary.service_level = (uint8_t)value)
SETTER(subnet_local, msg->req.primary.subnet_local = value != 0)
SETTER(ack_timeout, msg->req.primary.local_ack_timeout = (uint8_t)value)
SETTER(alternate_lid, msg->req.alternate.remote_lid = (uint16_t)value)
SETTER(alternate_gid, msg->req.alternate.remote_gid[15] = (uint8_t)value)
SETTER(alternate_ack, msg->req.alternate.local_ack_timeout = (uint8_t)value)
SETTER(cma_version, msg->req.private_data[0] = (uint8_t)value)
SETTER(cma_ip_version, msg->req.private_data[1] = (uint8_t)value)
SETTER(cma_port_high, msg->req.private_data[2] = (uint8_t)value)
SETTER(words, msg->req.private_data[PLX_CMA_BYTES] = (uint8_t)value)

static unsigned
any(uint64_t value)
{
	(void)value;
	return PLX_CM_REASON_NONE;
}

static unsigned
comm_id_reason(uint64_t value)
{
	return value ? PLX_CM_REASON_NONE : DROPPED;
}

static unsigned
service_id_reason(uint64_t value)
{
	return value == 0x01060000 + PORT ? PLX_CM_REASON_NONE : PLX_CM_REASON_INVALID_SERVICE_ID;
}

static unsigned
qpn_reason(uint64_t value)
{
	return value < 2 || value == 0xffffff ? PLX_CM_REASON_UNSUPPORTED : PLX_CM_REASON_NONE;
}

static unsigned
transport_reason(uint64_t value)
{
	return value ? PLX_CM_REASON_INVALID_TRANSPORT : PLX_CM_REASON_NONE;
}

static unsigned
pkey_reason(uint64_t value)
{
	return value == 0xffff || value == 0x7fff ? PLX_CM_REASON_NONE : PLX_CM_REASON_UNSUPPORTED;
}

/* 256, 512, 1024 and 2048 bytes are within our limit; 4096 is not, and the rest is no path MTU. */
static unsigned
path_mtu_reason(uint64_t value)
{
	return value >= 1 && value <= 4 ? PLX_CM_REASON_NONE : PLX_CM_REASON_PATH_MTU;
}

static unsigned
cma_version_reason(uint64_t value)
{
	return value ? PLX_CM_REASON_UNSUPPORTED : PLX_CM_REASON_NONE;
}

/* The address may be valid in the other version of IP, but that is not the packet's. */
static unsigned
cma_ip_version_reason(uint64_t value)
{
	if (value >> 4 == 4)
		return PLX_CM_REASON_NONE;
	return value >> 4 == 6 ? PLX_CM_REASON_PRIMARY_GID : PLX_CM_REASON_UNSUPPORTED;
}

static const struct field fields[] = {
	{"local communication id", 32, set_comm_id, comm_id_reason},
	{"service id", 64, set_service_id, service_id_reason},
	{"CA GUID", 64, set_ca_guid, any},
	{"Q_Key", 32, set_qkey, any},
	{"QPN", 24, set_qpn, qpn_reason},
	{"responder resources", 8, set_responder_resources, any},
	{"local EECN", 24, set_local_eecn, any},
	{"initiator depth", 8, set_initiator_depth, any},
	{"remote EECN", 24, set_remote_eecn, any},
	{"remote response timeout", 5, set_remote_response, any},
	{"transport service", 2, set_transport, transport_reason},
	{"flow control", 1, set_flow_control, any},
	{"starting PSN", 24, set_psn, any},
	{"local response timeout", 5, set_local_response, any},
	{"retry count", 3, set_retry, any},
	{"P_Key", 16, set_pkey, pkey_reason},
	{"path MTU", 4, set_path_mtu, path_mtu_reason},
	{"RDC exists", 1, set_rdc, any},
	{"RNR retry count", 3, set_rnr_retry, any},
	{"CM retries", 4, set_cm_retries, any},
	{"SRQ", 1, set_srq, any},
	{"extended transport", 3, set_extended, transport_reason},
	{"local LID", 16, set_local_lid, any},
	{"remote LID", 16, set_remote_lid, any},
	{"flow label", 20, set_flow_label, any},
	{"packet rate", 6, set_rate, any},
	{"traffic class", 8, set_traffic_class, any},
	{"hop limit", 8, set_hop_limit, any},
	{"service level", 4, set_service_level, any},
	{"subnet local", 1, set_subnet_local, any},
	{"ACK timeout", 5, set_ack_timeout, any},
	{"alternate LID", 16, set_alternate_lid, any},
	{"alternate GID", 8, set_alternate_gid, any},
	{"alternate ACK timeout", 5, set_alternate_ack, any},
	{"version of the addresses", 8, set_cma_version, cma_version_reason},
	{"IP version", 8, set_cma_ip_version, cma_ip_version_reason},
	{"source port", 8, set_cma_port_high, any},
	{"private data", 8, set_words, any},
};

/* The n-th value of a field: all of them up to 8 bits (and of the P_Key), else edges and bits. */
static bool
value_of(const struct field *field, uint64_t n, uint64_t *value)
{
	uint64_t top = field->bits == 64 ? UINT64_MAX : (UINT64_C(1) << field->bits) - 1;
	uint64_t edges[] = {0, 1, 2, 3, top - 2, top - 1, top, 0x01060000 + PORT};

	if (field->bits <= 8 || field->set == set_pkey) {
		*value = n;
		return n <= top;
	}
	if (n < PLX_COUNT_OF(edges))
		*value = edges[n] & top;
	else if (n - PLX_COUNT_OF(edges) < field->bits)
		*value = UINT64_C(1) << (n - PLX_COUNT_OF(edges));
	else
		return false;
	return true;
}

/* ---- the tests ---- */

static uint8_t
clamped_ack_timeout(uint8_t asked)
{
	if (asked == 0)
		return 22;
	return asked < 14 ? 14 : asked > 22 ? 22 : asked;
}

static void
expect_told(const struct plx_cm_msg *msg, const struct plx_cm_event *event)
{
	const struct plx_cm_req *req = &msg->req;
	const struct plx_cm_peer *peer = &event->peer;

	assert_int_equal(peer->info.remote_qpn, req->local_qpn);
	assert_int_equal(peer->psn.v, req->starting_psn.v);
	assert_int_equal(peer->info.path_mtu, 128u << req->path_mtu);
	assert_int_equal(peer->info.responder_resources, req->initiator_depth);
	assert_int_equal(peer->info.initiator_depth, req->responder_resources);
	assert_int_equal(peer->info.rnr_retry, req->rnr_retry_count);
	assert_int_equal(peer->info.retry, req->retry_count);
	assert_int_equal(peer->info.ack_timeout,
			 clamped_ack_timeout(req->primary.local_ack_timeout));
	assert_int_equal(peer->info.srq, req->srq);
	assert_int_equal(peer->info.remote_port, req->private_data[2] << 8 | req->private_data[3]);
	assert_memory_equal(event->private_data, req->private_data + PLX_CMA_BYTES,
			    PLX_CM_PRIVATE_REQ);
}

static void
every_field_with_every_value(void **state)
{
	uint32_t seen = 0, refused = 0;
	struct plx_cm_event event;
	struct bench bench;

	(void)state;
	bench_open(&bench, 4);
	for (size_t i = 0; i < PLX_COUNT_OF(fields); i++) {
		uint64_t value;

		for (uint64_t n = 0; value_of(&fields[i], n, &value); n++, seen++) {
			struct plx_cm_msg msg = good_req(&bench);
			unsigned reason;

			fields[i].set(&msg, value);
			reason = ask(&bench, &msg, &event);
			if (reason != fields[i].reason(value))
				fail_msg("%s %#lx: \"%s\"", fields[i].name, (unsigned long)value,
					 plx_cm_reason_text(reason));
			if (reason == PLX_CM_REASON_NONE)
				expect_told(&msg, &event);
			else
				refused++;
		}
	}
	print_message("%u values, %u of them refused\n", seen, refused);
	assert_in_range(seen, 65536 + 2500, 65536 + 5000);
	assert_in_range(refused, 65534, seen);
	free(bench.memory);
}

struct bad {
	size_t field;
	uint64_t value;
};

/* Of a long field, a few. Returns: how many */
static size_t
bad_values(struct bad *bad, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < PLX_COUNT_OF(fields); i++) {
		uint64_t value;
		size_t of_field = 0;

		for (uint64_t n = 0; of_field < 12 && value_of(&fields[i], n, &value); n++) {
			if (fields[i].reason(value) == PLX_CM_REASON_NONE)
				continue;
			assert_true(count < max);
			bad[count++] = (struct bad){.field = i, .value = value};
			of_field++;
		}
	}
	return count;
}

/* Two faults at once: one of the two is reported. */
static void
two_faults_are_one_refusal(void **state)
{
	struct bad bad[256];
	size_t count = bad_values(bad, PLX_COUNT_OF(bad));
	uint32_t seen = 0;
	struct plx_cm_event event;
	struct bench bench;

	(void)state;
	assert_in_range(count, 50, PLX_COUNT_OF(bad));
	bench_open(&bench, 4);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			struct plx_cm_msg msg = good_req(&bench);
			const struct field *one = &fields[bad[i].field],
					   *two = &fields[bad[j].field];
			unsigned reason;

			if (one == two)
				continue;
			seen++;
			one->set(&msg, bad[i].value);
			two->set(&msg, bad[j].value);
			reason = ask(&bench, &msg, &event);
			if (reason != one->reason(bad[i].value) &&
			    reason != two->reason(bad[j].value))
				fail_msg("%s %#lx and %s %#lx: \"%s\"", one->name,
					 (unsigned long)bad[i].value, two->name,
					 (unsigned long)bad[j].value, plx_cm_reason_text(reason));
		}
	}
	print_message("%u pairs of faults\n", seen);
	assert_in_range(seen, 2000, count * count);
	free(bench.memory);
}

/* One bit in any of the four addresses: the packet, the path and the private data disagree. */
static void
every_bit_of_every_address(void **state)
{
	static const uint8_t versions[] = {4, 6};
	struct plx_cm_event event;
	uint32_t seen = 0;

	(void)state;
	for (size_t v = 0; v < PLX_COUNT_OF(versions); v++) {
		struct bench bench;

		bench_open(&bench, versions[v]);
		for (int place = 0; place < 4; place++) {
			for (int bit = 0; bit < 128; bit++, seen++) {
				struct plx_cm_msg msg = good_req(&bench);
				uint8_t *places[] = {
					msg.req.primary.local_gid, msg.req.primary.remote_gid,
					msg.req.private_data + 4, msg.req.private_data + 20};
				/* What IPv4 leaves of the room for an address is not looked at. */
				bool unused = versions[v] == 4 && place >= 2 && bit < 96;

				places[place][bit / 8] ^= (uint8_t)(1u << bit % 8);
				assert_int_equal(ask(&bench, &msg, &event),
						 unused ? PLX_CM_REASON_NONE
							: PLX_CM_REASON_PRIMARY_GID);
			}
		}
		free(bench.memory);
	}
	assert_int_equal(seen, 2 * 4 * 128);
}

/* ---- REP ---- */

/* The result of a REP with this field value: an event, or dropped as if it had been lost. */
static enum plx_cm_verdict
reply(uint32_t qpn, uint8_t responder_resources, uint8_t initiator_depth,
      struct plx_cm_event *event)
{
	struct plx_cm_connect connect = {
		.remote_port = PORT,
		.own = {.qpn = OWN_QPN,
			.path_mtu = 4096,
			.responder_resources = 100,
			.initiator_depth = 50},
	};
	struct plx_cm_msg msg = {.kind = PLX_CM_REP};
	uint8_t bytes[PLX_MAD_BYTES];
	enum plx_cm_verdict verdict;
	struct plx_cm_route route;
	struct bench bench;
	struct plx_cm_id id;

	bench_open(&bench, 4);
	connect.local = bench.route.local;
	connect.remote = bench.route.remote;
	assert_int_equal(plx_cm_connect(bench.cm, &connect, bench.now, &id), PLX_OK);
	assert_true(plx_cm_transmit(bench.cm, bench.now, &route, bytes));
	msg.rep.local_comm_id = 9;
	msg.rep.remote_comm_id = id.v;
	msg.rep.local_qpn = qpn;
	msg.rep.responder_resources = responder_resources;
	msg.rep.initiator_depth = initiator_depth;
	plx_mad_encode(&msg, bytes);
	verdict = plx_cm_on_mad(bench.cm, &bench.route, bytes, sizeof bytes, bench.now);
	assert_int_equal(plx_cm_next_event(bench.cm, event), verdict == PLX_CM_TAKEN);
	free(bench.memory);
	return verdict;
}

static void
a_reply_is_clamped_or_dropped(void **state)
{
	struct plx_cm_event event;

	(void)state;
	for (uint32_t bit = 0; bit < 24; bit++)
		assert_int_equal(reply(1u << bit, 1, 1, &event),
				 bit == 0 ? PLX_CM_INVALID : PLX_CM_TAKEN);
	assert_int_equal(reply(0, 1, 1, &event), PLX_CM_INVALID);
	assert_int_equal(reply(0xffffff, 1, 1, &event), PLX_CM_INVALID);
	for (unsigned value = 0; value < 256; value++) {
		assert_int_equal(reply(OWN_QPN, (uint8_t)value, 7, &event), PLX_CM_TAKEN);
		assert_int_equal(event.peer.info.initiator_depth, value < 50 ? value : 50);
		assert_int_equal(event.peer.info.responder_resources, 7);
		assert_int_equal(reply(OWN_QPN, 7, (uint8_t)value, &event), PLX_CM_TAKEN);
		assert_int_equal(event.peer.info.initiator_depth, 7);
		assert_int_equal(event.peer.info.responder_resources, value < 100 ? value : 100);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_with_every_value),
		cmocka_unit_test(two_faults_are_one_refusal),
		cmocka_unit_test(every_bit_of_every_address),
		cmocka_unit_test(a_reply_is_clamped_or_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
