/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The wire between the hosts, and the first steps of most tests. It never judges a result: the
 * tests do. Start with carry_one().
 */
#include "block.h"
#include "cm_pair.h"

#include <stdlib.h>
#include <string.h>

/* ---- hosts ---- */

struct plx_ip
pair_ip(uint8_t version, uint32_t number)
{
	struct plx_ip ip = {.version = version};
	uint8_t *last = version == 4 ? ip.v : ip.v + 12;

	if (version == 6) {
		ip.v[0] = 0xfd;
		ip.v[1] = 0x77;
	}
	for (int i = 0; i < 4; i++)
		last[i] = (uint8_t)(number >> (24 - 8 * i));
	return ip;
}

static void
start(struct pair *pair, int host)
{
	pair->memory[host] = test_block(plx_cm_bytes(&pair->config[host]));
	pair->cm[host] = plx_cm_init(pair->memory[host], &pair->config[host]);
}

void
pair_open_with(struct pair *pair, uint32_t connections, uint32_t half_open, uint8_t version)
{
	memset(pair, 0, sizeof *pair);
	pair->now = 5 * PLX_SEC;
	pair->log = calloc(LOG_MAX, sizeof *pair->log);
	assert_non_null(pair->log);
	for (int i = 0; i < HOSTS; i++) {
		pair->config[i] = (struct plx_cm_config){
			.connections = connections,
			.half_open = half_open,
			.ca_guid = 0xa000 + (uint64_t)i,
			.secret = {{4711 + (uint64_t)i, 1}},
		};
		pair->ip[i] = pair_ip(version, 0x0a4d0001 + (uint32_t)i);
		start(pair, i);
	}
}

void
pair_open(struct pair *pair)
{
	pair_open_with(pair, 64, 64, 4);
}

void
pair_close(struct pair *pair)
{
	for (int i = 0; i < HOSTS; i++)
		free(pair->memory[i]);
	free(pair->log);
}

void
pair_reboot(struct pair *pair, int host)
{
	free(pair->memory[host]);
	pair->config[host].secret.word[0] += 1000;
	start(pair, host);
}

/* ---- the wire ---- */

/* In memory of exactly its size. @param route as the host sees it */
static enum plx_cm_verdict
hand_over(struct pair *pair, int host, const struct plx_cm_route *route, const uint8_t *bytes)
{
	uint8_t *exact = malloc(PLX_MAD_BYTES);
	enum plx_cm_verdict verdict;

	assert_non_null(exact);
	memcpy(exact, bytes, PLX_MAD_BYTES);
	verdict = plx_cm_on_mad(pair->cm[host], route, exact, PLX_MAD_BYTES, pair->now);
	free(exact);
	return verdict;
}

static void
deliver(struct pair *pair, const struct plx_cm_route *route, const uint8_t *bytes)
{
	struct plx_cm_route back = {.local = route->remote, .remote = route->local};

	for (int i = 0; i < HOSTS; i++) {
		if (!pair->silent[i] &&
		    memcmp(&route->remote, &pair->ip[i], sizeof route->remote) == 0)
			pair->verdict = hand_over(pair, i, &back, bytes);
	}
}

static bool
carry_one(struct pair *pair, int host)
{
	uint8_t bytes[PLX_MAD_BYTES];
	struct seen seen = {.from = host};
	uint32_t *lose;

	if (!plx_cm_transmit(pair->cm[host], pair->now, &seen.route, bytes))
		return false;
	assert_int_equal(plx_mad_decode(bytes, sizeof bytes, &seen.msg), PLX_MAD_OK);
	assert_memory_equal(&seen.route.local, &pair->ip[host], sizeof seen.route.local);
	if (pair->logged < LOG_MAX)
		pair->log[pair->logged++] = seen;
	lose = &pair->lose[seen.msg.kind - PLX_CM_REQ];
	if (*lose > 0)
		--*lose;
	else
		deliver(pair, &seen.route, bytes);
	return true;
}

uint32_t
pair_carry_from(struct pair *pair, int host)
{
	uint32_t carried = 0;

	while (carry_one(pair, host)) {
		carried++;
		assert_true(carried < 100000);
	}
	return carried;
}

void
pair_carry(struct pair *pair)
{
	uint32_t rounds = 0;

	while (pair_carry_from(pair, ALICE) + pair_carry_from(pair, BOB) > 0)
		assert_true(++rounds < 1000);
}

static uint64_t
next_ns(const struct pair *pair)
{
	return plx_time_min(plx_cm_wake_ns(pair->cm[ALICE]), plx_cm_wake_ns(pair->cm[BOB]));
}

void
pair_wait(struct pair *pair, uint64_t ns)
{
	uint64_t end = pair->now + ns;

	pair_carry(pair);
	for (uint64_t wake = next_ns(pair); wake <= end; wake = next_ns(pair)) {
		if (wake > pair->now)
			pair->now = wake;
		for (int i = 0; i < HOSTS; i++)
			plx_cm_on_tick(pair->cm[i], pair->now);
		pair_carry(pair);
	}
	pair->now = end;
}

void
pair_forget(struct pair *pair)
{
	pair->logged = 0;
}

uint32_t
pair_count(const struct pair *pair, int from, enum plx_cm_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < pair->logged; i++)
		count += pair->log[i].from == from && pair->log[i].msg.kind == kind;
	return count;
}

const struct plx_cm_msg *
pair_last(const struct pair *pair, int from, enum plx_cm_kind kind)
{
	for (uint32_t i = pair->logged; i > 0; i--) {
		if (pair->log[i - 1].from == from && pair->log[i - 1].msg.kind == kind)
			return &pair->log[i - 1].msg;
	}
	fail_msg("no message %#x has left host %d", kind, from);
	return NULL;
}

enum plx_cm_verdict
pair_inject_from(struct pair *pair, int to, struct plx_ip from, const struct plx_cm_msg *msg)
{
	struct plx_cm_route route = {.local = from, .remote = pair->ip[to]};
	uint8_t bytes[PLX_MAD_BYTES];

	plx_mad_encode(msg, bytes);
	deliver(pair, &route, bytes);
	return pair->verdict;
}

enum plx_cm_verdict
pair_inject(struct pair *pair, int to, const struct plx_cm_msg *msg)
{
	return pair_inject_from(pair, to, pair->ip[!to], msg);
}

enum plx_cm_verdict
pair_inject_at(struct pair *pair, int to, struct plx_ip at, const struct plx_cm_msg *msg)
{
	const struct plx_cm_route route = {.local = at, .remote = pair->ip[!to]};
	uint8_t bytes[PLX_MAD_BYTES];

	plx_mad_encode(msg, bytes);
	return hand_over(pair, to, &route, bytes);
}

/* ---- events ---- */

const struct plx_cm_event *
pair_expect(struct pair *pair, int host, enum plx_cm_event_kind kind)
{
	enum plx_cm_event_kind seen;

	assert_true(plx_cm_has_event(pair->cm[host]));
	seen = plx_cm_event_kind(pair->cm[host]);
	assert_true(plx_cm_next_event(pair->cm[host], &pair->event));
	assert_int_equal(pair->event.kind, seen);
	if (pair->event.kind != kind)
		fail_msg("host %d is told that %s, not that %s", host,
			 plx_cm_event_text((enum plx_cm_event_kind)pair->event.kind),
			 plx_cm_event_text(kind));
	return &pair->event;
}

struct plx_cm_view
pair_view(const struct pair *pair, int host)
{
	struct plx_cm_view view;

	plx_cm_query(pair->cm[host], &view);
	return view;
}

void
pair_expect_nothing(struct pair *pair, int host)
{
	assert_false(plx_cm_has_event(pair->cm[host]));
	assert_false(plx_cm_next_event(pair->cm[host], &pair->event));
}

/* ---- steps ---- */

struct plx_cm_own
pair_own(uint32_t qpn)
{
	return (struct plx_cm_own){
		.qpn = qpn,
		.psn = plx_psn(qpn * 1000),
		.path_mtu = 1024,
		.responder_resources = 16,
		.initiator_depth = 8,
		.rnr_retry = 6,
		.retry = 5,
		.ack_timeout = 17,
	};
}

struct plx_cm_id
pair_listen(struct pair *pair, int host, uint16_t port, uint32_t backlog)
{
	struct plx_cm_listen listen = {
		.space = PLX_PORT_SPACE_TCP,
		.port = port,
		.backlog = backlog,
		.context = CONTEXT_LISTENER,
	};
	struct plx_cm_id id;

	assert_int_equal(plx_cm_listen(pair->cm[host], &listen, &id), PLX_OK);
	return id;
}

struct plx_cm_connect
pair_wish(const struct pair *pair, int from, int to, uint32_t qpn)
{
	static const uint8_t words[] = "may I come in?";

	return (struct plx_cm_connect){
		.local = pair->ip[from],
		.remote = pair->ip[to],
		.local_port = ALICE_PORT,
		.remote_port = PORT,
		.own = pair_own(qpn),
		.context = CONTEXT_ALICE,
		.private_data = words,
		.private_bytes = sizeof words,
	};
}

struct plx_cm_id
pair_connect(struct pair *pair, int from, int to, uint32_t qpn)
{
	struct plx_cm_connect connect = pair_wish(pair, from, to, qpn);
	struct plx_cm_id id;

	assert_int_equal(plx_cm_connect(pair->cm[from], &connect, pair->now, &id), PLX_OK);
	return id;
}

struct plx_cm_id
pair_open_asked(struct pair *pair)
{
	struct plx_cm_id id;

	pair_open(pair);
	pair_listen(pair, BOB, PORT, 0);
	id = pair_connect(pair, ALICE, BOB, ALICE_QPN);
	pair_carry(pair);
	return id;
}

struct plx_cm_peer
pair_accept(struct pair *pair, int host, struct plx_cm_id id, uint32_t qpn)
{
	static const uint8_t words[] = "you are welcome";
	struct plx_cm_own own = pair_own(qpn);
	struct plx_cm_peer peer;

	assert_int_equal(plx_cm_accept(pair->cm[host], id, &own, CONTEXT_BOB, words, sizeof words,
				       pair->now, &peer),
			 PLX_OK);
	return peer;
}

struct plx_cm_msg
pair_req(const struct pair *pair, struct plx_ip from, uint32_t comm_id, uint32_t qpn)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_REQ, .transaction_id = comm_id};
	struct plx_cma cma = {.src = from, .dst = pair->ip[BOB], .src_port = ALICE_PORT};

	msg.req.local_comm_id = comm_id;
	msg.req.service_id = plx_cma_service_id(PLX_PORT_SPACE_TCP, PORT);
	msg.req.local_ca_guid = 0xcafe;
	msg.req.local_qpn = qpn;
	msg.req.responder_resources = 4;
	msg.req.initiator_depth = 4;
	msg.req.remote_response_timeout = 20;
	msg.req.starting_psn = plx_psn(77);
	msg.req.local_response_timeout = 18;
	msg.req.retry_count = 7;
	msg.req.pkey = 0xffff;
	msg.req.path_mtu = 3;
	msg.req.rnr_retry_count = 7;
	msg.req.max_cm_retries = 15;
	msg.req.primary.local_ack_timeout = 19;
	msg.req.primary.hop_limit = 64;
	plx_gid_from_ip(&from, msg.req.primary.local_gid);
	plx_gid_from_ip(&pair->ip[BOB], msg.req.primary.remote_gid);
	plx_cma_encode(&cma, msg.req.private_data);
	return msg;
}

void
pair_establish_more(struct pair *pair, uint32_t qpn, struct plx_cm_id *ids)
{
	ids[ALICE] = pair_connect(pair, ALICE, BOB, qpn);
	pair_carry(pair);
	ids[BOB] = pair_expect(pair, BOB, PLX_CM_EVENT_REQUESTED)->id;
	pair_accept(pair, BOB, ids[BOB], qpn + BOB_QPN - ALICE_QPN);
	pair_carry(pair);
	assert_int_equal(pair_expect(pair, ALICE, PLX_CM_EVENT_REPLIED)->id.v, ids[ALICE].v);
	assert_int_equal(plx_cm_establish(pair->cm[ALICE], ids[ALICE], pair->now), PLX_OK);
	pair_carry(pair);
	assert_int_equal(pair_expect(pair, BOB, PLX_CM_EVENT_ESTABLISHED)->id.v, ids[BOB].v);
}

void
pair_establish(struct pair *pair, struct plx_cm_id *ids)
{
	pair_listen(pair, BOB, PORT, 0);
	pair_establish_more(pair, ALICE_QPN, ids);
	pair_forget(pair);
}

void
pair_expect_rest(struct pair *pair)
{
	pair_wait(pair, 2 * PLX_CM_TIMEWAIT_NS);
	for (int i = 0; i < HOSTS; i++) {
		struct plx_cm_view view;

		pair_expect_nothing(pair, i);
		plx_cm_query(pair->cm[i], &view);
		assert_int_equal(view.connections, 0);
		assert_int_equal(view.half_open, 0);
		assert_int_equal(view.timewait, 0);
		assert_true(plx_cm_wake_ns(pair->cm[i]) == PLX_NEVER);
	}
}
