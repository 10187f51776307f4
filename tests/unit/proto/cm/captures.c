/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What two Linux machines sent each other when they connected (tests/captures), replayed with our
 * manager in place of each of them in turn: it receives that machine's datagrams and its programs'
 * calls, and must send that machine's datagrams. Each manager chooses its own ids and transaction
 * ids: the test learns a pair of them on first use, and they must match from then on. The table
 * below lists everything else that may differ. Start with play().
 */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "block.h"
#include "mads.h"
#include "plx_cm.h"

enum {
	LINES_MAX = 4, /* connections of one capture */
	NAMES_MAX = 16,
};

/* ---- differences that are ignored ---- */

#define FIELD(kind, member, why)                                      \
	{                                                             \
		kind, offsetof(struct plx_cm_msg, member),            \
			sizeof(((struct plx_cm_msg *)0)->member), why \
	}

static const struct {
	uint16_t kind;
	size_t at, bytes;
	const char *why;
} choices[] = {
	FIELD(PLX_CM_REQ, req.remote_response_timeout,
	      "how long we wait for an answer: ours is 18"),
	FIELD(PLX_CM_REQ, req.local_response_timeout, "how soon we promise to answer: ours is 18"),
	FIELD(PLX_CM_REQ, req.max_cm_retries, "how often we ask: ours is 7 times again"),
	FIELD(PLX_CM_REQ, req.primary.flow_label, "any number that is the flow's: Linux hashes it"),
	FIELD(PLX_CM_REQ, req.flow_control, "end to end credits: a right of the sender's"),
	FIELD(PLX_CM_REP, rep.flow_control, "the same"),
};

/* How often ours was another choice than theirs. */
static unsigned differed[PLX_COUNT_OF(choices)];

/* From here on they are the same. */
static void
forget_choices(struct plx_cm_msg *theirs, const struct plx_cm_msg *ours)
{
	for (size_t i = 0; i < PLX_COUNT_OF(choices); i++) {
		uint8_t *to = (uint8_t *)theirs + choices[i].at;
		const uint8_t *from = (const uint8_t *)ours + choices[i].at;

		if (choices[i].kind != theirs->kind)
			continue;
		differed[i] += memcmp(to, from, choices[i].bytes) != 0;
		memcpy(to, from, choices[i].bytes);
	}
}

/* ---- their ids and ours ---- */

/* The capture has `theirs` where we have `ours`. */
struct name {
	uint64_t theirs, ours;
};

struct names {
	struct name list[NAMES_MAX];
	size_t count;
};

/* An id used again must map to the same id as before. */
static void
learn(struct names *names, uint64_t theirs, uint64_t ours)
{
	for (size_t i = 0; i < names->count; i++) {
		if (names->list[i].theirs == theirs || names->list[i].ours == ours) {
			assert_true(names->list[i].theirs == theirs);
			assert_true(names->list[i].ours == ours);
			return;
		}
	}
	assert_true(names->count < NAMES_MAX);
	names->list[names->count++] = (struct name){theirs, ours};
}

/* A new id: it is the other machine's, and remains so. */
static uint64_t
ours_of(const struct names *names, uint64_t theirs)
{
	for (size_t i = 0; i < names->count; i++) {
		if (names->list[i].theirs == theirs)
			return names->list[i].ours;
	}
	return theirs;
}

/* ---- the machine that we play ---- */

/* A connection, as its program knows it. */
struct line {
	struct plx_cm_id id;
	uint32_t comm_id; /* in the capture, of the active side */
	uint32_t qpn;
	bool over;
};

struct machine {
	struct plx_cm *cm;
	void *memory;
	struct plx_ip ip;
	uint64_t now;
	struct names ids;
	/* A connection's handshake and its end: Linux uses one transaction of the active side
	 * for both, two when the other side disconnects; we use two. */
	struct names transactions[2];
	struct line line[LINES_MAX];
	size_t lines;
	unsigned said, heard;
};

/* The GUID that the machine has shown in the capture, if it has. */
static uint64_t
guid_of(const struct mads *mads, const struct plx_ip *ip)
{
	for (size_t i = 0; i < mads->count; i++) {
		struct plx_cm_msg msg;

		assert_int_equal(plx_mad_decode(mads->list[i].bytes, mads->list[i].len, &msg),
				 PLX_MAD_OK);
		if (memcmp(&mads->list[i].src, ip, sizeof(*ip)) != 0)
			continue;
		if (msg.kind == PLX_CM_REQ)
			return msg.req.local_ca_guid;
		if (msg.kind == PLX_CM_REP)
			return msg.rep.local_ca_guid;
	}
	return 1;
}

static void
open_machine(struct machine *m, const struct mads *mads, const struct plx_ip *ip)
{
	struct plx_cm_config config = {
		.connections = 16,
		.half_open = 16,
		.ca_guid = guid_of(mads, ip),
		.secret = {{4711, 1}},
	};

	*m = (struct machine){.ip = *ip, .now = PLX_SEC};
	m->memory = test_block(plx_cm_bytes(&config));
	m->cm = plx_cm_init(m->memory, &config);
}

static struct line *
line_of(struct machine *m, struct plx_cm_id id)
{
	for (size_t i = 0; i < m->lines; i++) {
		if (m->line[i].id.v == id.v)
			return &m->line[i];
	}
	fail_msg("an event of nobody's connection");
	return NULL;
}

/* The connection that this message of ours belongs to, by an id of the active side. */
static struct line *
line_asked(struct machine *m, uint32_t comm_id)
{
	for (size_t i = 0; i < m->lines; i++) {
		if (m->line[i].comm_id == comm_id)
			return &m->line[i];
	}
	fail_msg("comm id %08x is nobody's", comm_id);
	return NULL;
}

static struct line *
new_line(struct machine *m, struct plx_cm_id id, uint32_t comm_id)
{
	assert_true(m->lines < LINES_MAX);
	m->line[m->lines] = (struct line){.id = id, .comm_id = comm_id};
	return &m->line[m->lines++];
}

/* The one event that there must be now. */
static struct plx_cm_event
told(struct machine *m, enum plx_cm_event_kind kind)
{
	struct plx_cm_event event;

	assert_true(plx_cm_next_event(m->cm, &event));
	assert_string_equal(plx_cm_event_text((enum plx_cm_event_kind)event.kind),
			    plx_cm_event_text(kind));
	return event;
}

/* ---- what its programs did ---- */

static struct plx_cm_own
own_of_req(const struct plx_cm_req *req)
{
	return (struct plx_cm_own){
		.qpn = req->local_qpn,
		.psn = req->starting_psn,
		.path_mtu = UINT32_C(128) << req->path_mtu,
		.responder_resources = req->responder_resources,
		.initiator_depth = req->initiator_depth,
		.rnr_retry = req->rnr_retry_count,
		.retry = req->retry_count,
		.ack_timeout = req->primary.local_ack_timeout,
		.srq = req->srq,
	};
}

static struct plx_cm_own
own_of_rep(const struct plx_cm_rep *rep)
{
	return (struct plx_cm_own){
		.qpn = rep->local_qpn,
		.psn = rep->starting_psn,
		.path_mtu = 4096,
		.responder_resources = rep->responder_resources,
		.initiator_depth = rep->initiator_depth,
		.rnr_retry = rep->rnr_retry_count,
		.ack_timeout = 19,
		.srq = rep->srq,
	};
}

static void
ask(struct machine *m, const struct mad *mad, const struct plx_cm_msg *msg)
{
	bool sidr = msg->kind == PLX_CM_SIDR_REQ;
	const uint8_t *private_data = sidr ? msg->sidr_req.private_data : msg->req.private_data;
	uint64_t service_id = sidr ? msg->sidr_req.service_id : msg->req.service_id;
	struct plx_cm_connect connect = {
		.local = mad->src,
		.remote = mad->dst,
		.remote_port = (uint16_t)service_id,
		.private_data = private_data + PLX_CMA_BYTES,
		.private_bytes = PLX_CM_PRIVATE_REQ,
	};
	struct plx_cm_id id;
	struct plx_cma cma;

	assert_true(plx_cma_decode(private_data, &cma));
	connect.local_port = cma.src_port;
	if (!sidr)
		connect.own = own_of_req(&msg->req);
	assert_int_equal(
		(sidr ? plx_cm_sidr_request : plx_cm_connect)(m->cm, &connect, m->now, &id),
		PLX_OK);
	new_line(m, id, sidr ? msg->sidr_req.request_id : msg->req.local_comm_id);
}

/* What was agreed, as the passive side states it. */
static void
accept(struct machine *m, const struct plx_cm_rep *rep)
{
	struct line *line = line_asked(m, rep->remote_comm_id);
	struct plx_cm_own own = own_of_rep(rep);
	struct plx_cm_peer peer;

	assert_int_equal(plx_cm_accept(m->cm, line->id, &own, 0, rep->private_data,
				       PLX_CM_PRIVATE_REP, m->now, &peer),
			 PLX_OK);
	assert_int_equal(peer.info.remote_qpn, line->qpn);
	assert_int_equal(peer.info.responder_resources, rep->responder_resources);
	assert_int_equal(peer.info.initiator_depth, rep->initiator_depth);
}

/* Do what made that machine send this; replies need no action. */
static void
act(struct machine *m, const struct mad *mad, const struct plx_cm_msg *msg)
{
	switch ((enum plx_cm_kind)msg->kind) {
	case PLX_CM_REQ:
	case PLX_CM_SIDR_REQ:
		ask(m, mad, msg);
		break;
	case PLX_CM_REP:
		accept(m, &msg->rep);
		break;
	case PLX_CM_RTU:
		assert_int_equal(
			plx_cm_establish(m->cm, line_asked(m, msg->rtu.local_comm_id)->id, m->now),
			PLX_OK);
		break;
	case PLX_CM_DREQ: {
		/* the asker's id is in either place */
		bool asked = m->line[0].comm_id == msg->dreq.local_comm_id ||
			     m->line[m->lines - 1].comm_id == msg->dreq.local_comm_id;
		struct line *line =
			line_asked(m, asked ? msg->dreq.local_comm_id : msg->dreq.remote_comm_id);

		assert_int_equal(plx_cm_disconnect(m->cm, line->id, m->now), PLX_OK);
		break;
	}
	case PLX_CM_NONE:
	case PLX_CM_MRA:
	case PLX_CM_REJ:
	case PLX_CM_DREP:
	case PLX_CM_SIDR_REP:
		break;
	}
}

/* ---- saying ---- */

static struct names *
transactions_of(struct machine *m, uint16_t kind)
{
	return &m->transactions[kind == PLX_CM_DREQ || kind == PLX_CM_DREP];
}

/* Ours, in the names of the capture. */
static void
learn_names(struct machine *m, const struct plx_cm_msg *theirs, const struct plx_cm_msg *ours)
{
	learn(transactions_of(m, theirs->kind), theirs->transaction_id, ours->transaction_id);
	if (theirs->kind == PLX_CM_SIDR_REQ || theirs->kind == PLX_CM_SIDR_REP)
		learn(&m->ids, theirs->sidr_req.request_id, ours->sidr_req.request_id);
	else
		learn(&m->ids, theirs->req.local_comm_id, ours->req.local_comm_id);
	if (theirs->kind != PLX_CM_REQ && theirs->kind != PLX_CM_SIDR_REQ &&
	    theirs->kind != PLX_CM_SIDR_REP)
		assert_int_equal(ours->rtu.remote_comm_id, theirs->rtu.remote_comm_id);
}

static void
say(struct machine *m, const struct mad *mad, const struct plx_cm_msg *theirs)
{
	uint8_t bytes[PLX_MAD_BYTES], want[PLX_MAD_BYTES], got[PLX_MAD_BYTES];
	struct plx_cm_msg expected = *theirs, ours;
	struct plx_cm_route route;

	act(m, mad, theirs);
	assert_int_equal(plx_cm_wake_ns(m->cm), 0);
	assert_true(plx_cm_transmit(m->cm, m->now, &route, bytes));
	assert_memory_equal(&route.local, &mad->src, sizeof(route.local));
	assert_memory_equal(&route.remote, &mad->dst, sizeof(route.remote));
	memset(&ours, 0, sizeof(ours));
	assert_int_equal(plx_mad_decode(bytes, sizeof(bytes), &ours), PLX_MAD_OK);
	assert_int_equal(ours.kind, theirs->kind);
	learn_names(m, theirs, &ours);
	expected.transaction_id = ours.transaction_id;
	/* at the same offset in all messages but one, which repeats what was requested */
	expected.req.local_comm_id = ours.req.local_comm_id;
	forget_choices(&expected, &ours);
	plx_mad_encode(&expected, want);
	plx_mad_encode(&ours, got);
	assert_memory_equal(got, want, sizeof(got));
	m->said++;
}

/* ---- hearing ---- */

static bool
has_rejection(const struct mads *mads)
{
	for (size_t i = 0; i < mads->count; i++) {
		if (mads->list[i].bytes[17] == PLX_CM_REJ)
			return true;
	}
	return false;
}

/* Somebody listened from the beginning, at each port that answered. */
static void
listen_where_answered(struct machine *m, const struct mads *mads)
{
	for (size_t i = 0; i < mads->count; i++) {
		struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP};
		bool mine = memcmp(&mads->list[i].src, &m->ip, sizeof(m->ip)) == 0;
		struct plx_cm_id id;
		struct plx_cm_msg msg;
		enum plx_status status;

		assert_int_equal(plx_mad_decode(mads->list[i].bytes, PLX_MAD_BYTES, &msg),
				 PLX_MAD_OK);
		if (msg.kind == PLX_CM_SIDR_REP && mine) {
			listen.space = PLX_PORT_SPACE_UDP;
			listen.port = (uint16_t)msg.sidr_rep.service_id;
			listen.qpn = msg.sidr_rep.qpn;
			listen.qkey = msg.sidr_rep.qkey;
		} else if (msg.kind == PLX_CM_REQ && !mine && !has_rejection(mads)) {
			listen.port = (uint16_t)msg.req.service_id;
		} else {
			continue;
		}
		status = plx_cm_listen(m->cm, &listen, &id);
		assert_true(status == PLX_OK || status == PLX_BUSY); /* of the second connection */
	}
}

static void
check_requested(struct machine *m, const struct plx_cm_msg *msg)
{
	struct plx_cm_event event = told(m, PLX_CM_EVENT_REQUESTED);
	struct plx_cma cma;

	assert_true(plx_cma_decode(msg->req.private_data, &cma));
	assert_int_equal(event.private_bytes, PLX_CM_PRIVATE_REQ);
	assert_memory_equal(event.private_data, msg->req.private_data + PLX_CMA_BYTES,
			    PLX_CM_PRIVATE_REQ);
	assert_int_equal(event.peer.info.remote_qpn, msg->req.local_qpn);
	assert_int_equal(event.peer.psn.v, msg->req.starting_psn.v);
	assert_int_equal(event.peer.info.path_mtu, 128 << msg->req.path_mtu);
	assert_int_equal(event.peer.info.rnr_retry, msg->req.rnr_retry_count);
	assert_int_equal(event.peer.info.remote_port, cma.src_port);
	assert_int_equal(event.peer.info.local_port, (uint16_t)msg->req.service_id);
	new_line(m, event.id, msg->req.local_comm_id)->qpn = msg->req.local_qpn;
}

static void
check_replied(struct machine *m, const struct plx_cm_msg *msg)
{
	struct plx_cm_event event = told(m, PLX_CM_EVENT_REPLIED);

	assert_int_equal(event.private_bytes, PLX_CM_PRIVATE_REP);
	assert_memory_equal(event.private_data, msg->rep.private_data, PLX_CM_PRIVATE_REP);
	assert_int_equal(event.peer.info.remote_qpn, msg->rep.local_qpn);
	assert_int_equal(event.peer.psn.v, msg->rep.starting_psn.v);
	assert_int_equal(event.peer.info.rnr_retry, msg->rep.rnr_retry_count);
	(void)line_of(m, event.id);
}

static void
check_sidr_reply(struct machine *m, const struct plx_cm_msg *msg)
{
	struct plx_cm_event event = told(m, PLX_CM_EVENT_SIDR_REPLY);

	assert_int_equal(event.reason, msg->sidr_rep.status);
	assert_int_equal(event.qpn, msg->sidr_rep.qpn);
	assert_int_equal(event.qkey, msg->sidr_rep.qkey);
	line_of(m, event.id)->over = true;
}

/* The events its programs must receive, and nothing else. */
static void
check_events(struct machine *m, const struct plx_cm_msg *msg, bool listens)
{
	struct plx_cm_event event;

	switch ((enum plx_cm_kind)msg->kind) {
	case PLX_CM_REQ:
		if (listens)
			check_requested(m, msg);
		break;
	case PLX_CM_REP:
		check_replied(m, msg);
		break;
	case PLX_CM_RTU:
		(void)line_of(m, told(m, PLX_CM_EVENT_ESTABLISHED).id);
		break;
	case PLX_CM_DREQ:
		line_of(m, told(m, PLX_CM_EVENT_DISCONNECTED).id)->over = true;
		break;
	case PLX_CM_DREP:
		line_of(m, told(m, PLX_CM_EVENT_CLOSED).id)->over = true;
		break;
	case PLX_CM_REJ:
		event = told(m, PLX_CM_EVENT_REJECTED);
		assert_int_equal(event.reason, msg->rej.reason);
		line_of(m, event.id)->over = true;
		break;
	case PLX_CM_SIDR_REP:
		check_sidr_reply(m, msg);
		break;
	case PLX_CM_SIDR_REQ:
	case PLX_CM_MRA:
	case PLX_CM_NONE:
		break;
	}
	assert_false(plx_cm_has_event(m->cm));
}

static void
hear(struct machine *m, const struct mad *mad, const struct plx_cm_msg *msg, bool listens)
{
	struct plx_cm_route route = {.local = mad->dst, .remote = mad->src};
	struct plx_cm_msg named = *msg;
	uint8_t bytes[PLX_MAD_BYTES];
	enum plx_cm_verdict verdict;

	named.transaction_id = ours_of(transactions_of(m, msg->kind), msg->transaction_id);
	if (msg->kind == PLX_CM_SIDR_REP)
		named.sidr_rep.request_id = (uint32_t)ours_of(&m->ids, msg->sidr_rep.request_id);
	else if (msg->kind != PLX_CM_REQ && msg->kind != PLX_CM_SIDR_REQ)
		named.rtu.remote_comm_id = (uint32_t)ours_of(&m->ids, msg->rtu.remote_comm_id);
	plx_mad_encode(&named, bytes);
	verdict = plx_cm_on_mad(m->cm, &route, bytes, sizeof(bytes), m->now);
	assert_int_equal(verdict,
			 msg->kind == PLX_CM_REQ && !listens ? PLX_CM_REFUSED : PLX_CM_TAKEN);
	check_events(m, msg, listens);
	m->heard++;
}

/* ---- the play ---- */

static void
play(const char *capture, bool asks)
{
	struct mads mads;
	struct machine m;
	struct plx_cm_view view;
	struct plx_cm_route route;
	uint8_t bytes[PLX_MAD_BYTES];

	assert_int_equal(mads_load(CAPTURES_DIR, capture, &mads), 0);
	assert_true(mads.count >= 2);
	/* the active side has sent first */
	open_machine(&m, &mads, asks ? &mads.list[0].src : &mads.list[0].dst);
	listen_where_answered(&m, &mads);
	for (size_t i = 0; i < mads.count; i++) {
		const struct mad *mad = &mads.list[i];
		struct plx_cm_msg msg;

		memset(&msg, 0, sizeof(msg));
		assert_int_equal(plx_mad_decode(mad->bytes, mad->len, &msg), PLX_MAD_OK);
		m.now += PLX_MSEC;
		if (memcmp(&mad->src, &m.ip, sizeof(m.ip)) == 0)
			say(&m, mad, &msg);
		else
			hear(&m, mad, &msg, !has_rejection(&mads));
	}
	assert_int_equal(m.said + m.heard, mads.count);
	assert_true(m.said > 0 && m.heard > 0);
	/* All messages were sent, both sides know the result, and nothing is left. */
	assert_false(plx_cm_transmit(m.cm, m.now, &route, bytes));
	for (size_t i = 0; i < m.lines; i++)
		assert_true(m.line[i].over);
	plx_cm_query(m.cm, &view);
	assert_int_equal(view.connections, 0);
	assert_int_equal(view.half_open, 0);
	free(m.memory);
	mads_free(&mads);
}

static const char *const captures[] = {
	"cm-reject-v4",     "cm-rping-v4-1024",  "cm-rping-v4-4096",
	"cm-rping-v6-1024", "cm-rping-v6-4096",  "cm-rsocket-imm-v4",
	"cm-ucmatose-v4",   "cm-sidr-udaddy-v4", "nvme-rdma-v4",
};

static void
in_the_place_of_who_asks_we_say_what_linux_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(captures); i++)
		play(captures[i], true);
}

static void
in_the_place_of_who_is_asked_we_say_what_linux_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(captures); i++)
		play(captures[i], false);
}

/* A row that never differs would hide a mistake one day. */
static void
each_choice_that_is_left_out_is_another_than_linux_has_made(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(choices); i++) {
		if (differed[i] == 0)
			fail_msg("attribute %04x: %s", choices[i].kind, choices[i].why);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_the_place_of_who_asks_we_say_what_linux_said),
		cmocka_unit_test(in_the_place_of_who_is_asked_we_say_what_linux_said),
		cmocka_unit_test(each_choice_that_is_left_out_is_another_than_linux_has_made),
	};

	return cmocka_run_group_tests_name("cm/captures", tests, NULL, NULL);
}
