/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections between two engines in virtual time, limited to what is the engine's job: datagrams
 * in and out, the first packet of the peer in place of a lost RTU, full event queues.
 * (tests/unit/verbs/connector.c has every step as a program sees it.) Start with scene_open().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "connector.h"
#include "engine_pair.h"

enum {
	PORT = 7,
	MAD_AT = 14 + 20 + 8 + 12 + 8, /* in an untagged IPv4 frame */
	KIND_AT = MAD_AT + 16,
	QKEY_AT = MAD_AT - 8,
	SRC_QPN_AT = MAD_AT - 3,
	PKEY_AT = MAD_AT - 18,
	SRC_MAC_AT = 6,
	SRC_IP_AT = 26,
	DST_IP_AT = 30,
	IP_CHECKSUM_AT = 24,
	ROUNDS = 50,
};

static struct pair pair;
static struct whole_channel *queues[2];
static struct whole_listener *listener;
static struct whole_connector *conns[2];
static uint16_t unwanted; /* a kind of message that side 0 loses */
static uint8_t caught[512];
static uint32_t caught_len;

/* ---- the scene ---- */

static uint16_t
kind_of(const struct rte_mbuf *m)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);

	if (pair_opcode(m) != PLX_UD_SEND_ONLY)
		return 0;
	return (uint16_t)(bytes[KIND_AT] << 8 | bytes[KIND_AT + 1]);
}

static bool
lose_unwanted(struct pair_side *from, const struct rte_mbuf *m, void *user)
{
	(void)from;
	(void)user;
	if (unwanted == 0 || kind_of(m) != unwanted)
		return true;
	caught_len = m->pkt_len;
	assert_true(caught_len <= sizeof(caught));
	memcpy(caught, rte_pktmbuf_mtod(m, uint8_t *), caught_len);
	return false;
}

static struct whole_listener *
listen_on(uint16_t port, struct whole_channel *queue)
{
	struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP, .port = port};
	struct whole_listener *made;

	assert_int_equal(pair_listen(queue, &listen, 1000u + port, &made), PLX_OK);
	return made;
}

static void
scene_open(bool no_cm)
{
	struct pair_options options = pair_defaults(16);

	pair_open_with(&pair, &(struct pair_setup){.no_cm = no_cm});
	unwanted = 0;
	pair.side[0].port.pass = lose_unwanted;
	pair_start(&pair);
	pair_make_queues(&pair, &options);
	for (int i = 0; i < 2; i++) {
		pair.side[i].qp = pair_qp(&pair, i, &options);
		assert_int_equal(plx_link_channel_create(pair.side[i].engine, 16, &queues[i]),
				 PLX_OK);
	}
	conns[0] = conns[1] = NULL;
	listener = no_cm ? NULL : listen_on(PORT, queues[1]);
	pair_stop(&pair);
}

static void
scene_close(void)
{
	pair_start(&pair);
	for (int i = 0; i < 2; i++)
		if (conns[i] != NULL)
			pair_connector_destroy(conns[i]);
	if (listener != NULL)
		pair_listener_destroy(listener);
	for (int i = 0; i < 2; i++)
		assert_int_equal(plx_link_channel_destroy(queues[i]), PLX_OK);
	pair_stop(&pair);
	pair_close(&pair);
}

static struct plx_link_attr
attr_to(uint16_t port)
{
	struct plx_link_attr attr = {.rc = pair_defaults(16).attr,
				     .path = {.remote = pair.side[1].ip},
				     .own = {.path_mtu = 1024,
					     .responder_resources = 4,
					     .initiator_depth = 4,
					     .rnr_retry = 6,
					     .retry = 7,
					     .ack_timeout = 14},
				     .local_port = 50000,
				     .remote_port = port};

	return attr;
}

static void
ask(struct whole_connector *connector, struct plx_qp *qp, uint16_t port)
{
	struct plx_link_attr attr = attr_to(port);

	assert_int_equal(plx_link_connect(connector, qp, &attr), PLX_OK);
}

static struct plx_link_event
next(int side, enum plx_cm_event_kind kind)
{
	struct plx_link_event event;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (plx_link_channel_next(queues[side], &event)) {
			assert_int_equal(event.cm.kind, kind);
			return event;
		}
		pair_run(&pair, 1);
	}
	fail_msg("never: %s", plx_cm_event_text(kind));
	return event;
}

static void
nothing_at(int side)
{
	struct plx_link_event event;

	pair_run(&pair, ROUNDS);
	assert_false(plx_link_channel_next(queues[side], &event));
}

/* As far as the reply. */
static void
reply(void)
{
	struct plx_link_event event;
	struct plx_link_attr attr = attr_to(0);

	pair_start(&pair);
	assert_int_equal(plx_link_connector_create(queues[0], 10, &conns[0]), PLX_OK);
	ask(conns[0], pair.side[0].qp, PORT);
	pair_stop(&pair);
	event = next(1, PLX_CM_EVENT_REQUESTED);
	assert_int_equal(event.cookie, 1000 + PORT);
	pair_start(&pair);
	assert_int_equal(plx_link_connector_create(queues[1], 20, &conns[1]), PLX_OK);
	assert_int_equal(plx_link_adopt(conns[1], &event.cm), PLX_OK);
	while (plx_link_accept(conns[1], pair.side[1].qp, &attr) == PLX_AGAIN)
		;
	pair_stop(&pair);
	event = next(0, PLX_CM_EVENT_REPLIED);
	assert_int_equal(event.cookie, 10);
}

static void
complete(void)
{
	pair_start(&pair);
	assert_int_equal(plx_link_establish(conns[0]), PLX_OK);
	pair_stop(&pair);
}

/* ---- tests ---- */

static void
the_first_packet_stands_for_a_lost_rtu(void **state)
{
	struct plx_wc wc;

	(void)state;
	scene_open(false);
	reply();
	assert_int_equal(plx_engine_qp_state(pair.side[1].qp), PLX_QP_RTR);
	unwanted = PLX_CM_RTU;
	complete();
	nothing_at(1);
	assert_int_equal(plx_engine_qp_state(pair.side[1].qp), PLX_QP_RTR);
	assert_int_equal(pair_recv(&pair.side[1], 5, 0, 64), PLX_OK);
	assert_int_equal(pair_send(&pair.side[0], 6, 0, 64, 0), PLX_OK);
	assert_int_equal(next(1, PLX_CM_EVENT_ESTABLISHED).cookie, 20);
	assert_int_equal(plx_engine_qp_state(pair.side[1].qp), PLX_QP_RTS);
	assert_int_equal(pair_reap(&pair, pair.side[1].recv_cq, &wc, 1, ROUNDS), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	assert_int_equal(pair_reap(&pair, pair.side[0].send_cq, &wc, 1, ROUNDS), 1);
	assert_int_equal(wc.status, PLX_WC_SUCCESS);
	scene_close();
}

static void
a_lost_request_is_sent_again(void **state)
{
	(void)state;
	scene_open(false);
	unwanted = PLX_CM_REQ;
	pair_start(&pair);
	assert_int_equal(plx_link_connector_create(queues[0], 10, &conns[0]), PLX_OK);
	ask(conns[0], pair.side[0].qp, PORT);
	pair_stop(&pair);
	nothing_at(1);
	assert_true(caught_len > MAD_AT);
	unwanted = 0;
	/* The response timeout that we request, and its margin. */
	pair_pass(&pair, 3 * PLX_SEC);
	next(1, PLX_CM_EVENT_REQUESTED);
	scene_close();
}

static void
nobody_at_the_address_is_unreachable(void **state)
{
	struct plx_link_attr attr;
	struct plx_link_event event;
	bool told = false;

	(void)state;
	scene_open(false);
	attr = attr_to(PORT);
	attr.path.remote.v[3] = 99;
	pair_start(&pair);
	assert_int_equal(plx_link_connector_create(queues[0], 10, &conns[0]), PLX_OK);
	assert_int_equal(plx_link_connect(conns[0], pair.side[0].qp, &attr), PLX_OK);
	pair_stop(&pair);
	for (int i = 0; i < 10 && !told; i++) {
		pair_pass(&pair, PLX_SEC);
		pair_run(&pair, ROUNDS);
		told = plx_link_channel_next(queues[0], &event);
	}
	assert_true(told);
	assert_int_equal(event.cm.kind, PLX_CM_EVENT_UNREACHABLE);
	assert_int_equal(plx_engine_qp_state(pair.side[0].qp), PLX_QP_INIT);
	assert_int_equal(plx_engine_counters(pair.side[0].all[0])->tx_gsi, 0);
	assert_true(plx_engine_counters(pair.side[0].all[0])->tx_gsi_dropped > 0);
	scene_close();
}

/* Two listeners with queues of their own: that of the first has one place. */
static void
a_full_event_queue_holds_up_nobody_else(void **state)
{
	struct pair_options options = pair_defaults(16);
	struct whole_listener *first, *second;
	struct whole_channel *small, *other;
	struct whole_connector *asking[4];
	struct plx_qp *qps[4];
	struct plx_link_event event;
	uint32_t taken = 0;

	(void)state;
	scene_open(false);
	pair_start(&pair);
	assert_int_equal(plx_link_channel_create(pair.side[1].engine, 1, &small), PLX_OK);
	assert_int_equal(plx_link_channel_create(pair.side[1].engine, 1, &other), PLX_OK);
	first = listen_on(PORT + 1, small);
	second = listen_on(PORT + 2, other);
	for (int i = 0; i < 4; i++) {
		qps[i] = pair_qp(&pair, 0, &options);
		assert_int_equal(plx_link_connector_create(queues[0], (uint64_t)i, &asking[i]),
				 PLX_OK);
		ask(asking[i], qps[i], i < 3 ? PORT + 1 : PORT + 2);
	}
	pair_stop(&pair);
	pair_run(&pair, ROUNDS);
	assert_true(plx_link_channel_next(other, &event));
	assert_int_equal(event.cookie, 1000 + PORT + 2);
	/* Nothing was lost: each finds its place when there is one. */
	for (int i = 0; i < 3; i++) {
		taken += plx_link_channel_next(small, &event);
		pair_run(&pair, ROUNDS);
	}
	assert_int_equal(taken, 3);
	pair_start(&pair);
	for (int i = 0; i < 4; i++) {
		pair_connector_destroy(asking[i]);
		assert_int_equal(plx_engine_qp_destroy(qps[i]), PLX_OK);
	}
	pair_listener_destroy(first);
	pair_listener_destroy(second);
	assert_int_equal(plx_link_channel_destroy(small), PLX_OK);
	assert_int_equal(plx_link_channel_destroy(other), PLX_OK);
	pair_stop(&pair);
	scene_close();
}

/* A valid REQ, in flight from side 0 to side 1, is captured; then it arrives with one fault. */
static void
catch_a_req(void)
{
	unwanted = PLX_CM_REQ;
	pair_start(&pair);
	assert_int_equal(plx_link_connector_create(queues[0], 10, &conns[0]), PLX_OK);
	ask(conns[0], pair.side[0].qp, PORT);
	pair_stop(&pair);
	pair_run(&pair, ROUNDS);
	assert_true(caught_len > MAD_AT);
}

static void
inject(bool seal)
{
	if (seal)
		plx_icrc_store(plx_icrc_isal(caught + 14, caught_len - 14 - 4),
			       caught + caught_len - 4);
	assert_true(pair_inject(&pair, 1, caught, caught_len, 1));
	pair_run(&pair, 2);
}

static void
what_is_not_for_the_manager_does_not_reach_it(void **state)
{
	static const uint32_t wrong_at[] = {QKEY_AT, SRC_QPN_AT, PKEY_AT};
	const struct plx_engine_counters *counters;

	(void)state;
	scene_open(false);
	counters = plx_engine_counters(pair.side[1].all[0]);
	catch_a_req();
	for (uint32_t i = 0; i < PLX_COUNT_OF(wrong_at); i++) {
		caught[wrong_at[i]] ^= 1;
		inject(true);
		caught[wrong_at[i]] ^= 1;
		assert_int_equal(counters->rx_gsi_denied, i + 1);
	}
	/* for another station: 1 more in the address, 1 less in its ones' complement sum */
	caught[DST_IP_AT + 3] += 1;
	caught[IP_CHECKSUM_AT + 1] -= 1;
	inject(true);
	assert_int_equal(counters->refused[PLX_WIRE_DESTINATION], 1);
	assert_int_equal(counters->rx_gsi_denied, PLX_COUNT_OF(wrong_at));
	assert_int_equal(counters->rx_gsi, 0);
	nothing_at(1);
	scene_close();
}

/* The captured REQ as a stranger with another address sends it, otherwise valid. */
static void
disguise(uint8_t number, uint16_t port)
{
	struct plx_ip ip = {.version = 4};
	struct plx_cm_msg msg;
	struct plx_cma cma;
	uint32_t sum = 0;

	caught[SRC_IP_AT + 3] = caught[SRC_MAC_AT + 5] = number;
	memset(caught + IP_CHECKSUM_AT, 0, 2);
	for (uint32_t i = 14; i < 34; i += 2)
		sum += (uint32_t)caught[i] << 8 | caught[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	caught[IP_CHECKSUM_AT] = (uint8_t)(~sum >> 8);
	caught[IP_CHECKSUM_AT + 1] = (uint8_t)~sum;
	memcpy(ip.v, caught + SRC_IP_AT, 4);
	assert_int_equal(plx_mad_decode(caught + MAD_AT, PLX_MAD_BYTES, &msg), PLX_MAD_OK);
	assert_true(plx_cma_decode(msg.req.private_data, &cma));
	cma.src = ip;
	plx_cma_encode(&cma, msg.req.private_data);
	plx_gid_from_ip(&ip, msg.req.primary.local_gid);
	msg.req.service_id = plx_cma_service_id(PLX_PORT_SPACE_TCP, port);
	msg.req.local_comm_id += 1;
	plx_mad_encode(&msg, caught + MAD_AT);
}

/* Somebody connects, from every address of our network, to a port without a listener. Each
 * request is answered at once, to the frame's source: no neighbour is solicited, nothing waits,
 * no entry is evicted. For a port with a listener no neighbour is solicited either, until our
 * program accepts. */
static void
strangers_make_us_ask_for_nobody(void **state)
{
	static const uint16_t ports[] = {PORT + 1, PORT};
	enum {
		FIRST = 20,
		STRANGERS = 60 /* fewer than the replies that may leave at once */
	};
	const struct plx_net_counters *net;
	struct pair_side *b = &pair.side[1];
	uint64_t asked, evicted, refused;
	uint32_t version;
	uint8_t mac[6];

	(void)state;
	scene_open(false);
	net = plx_net_counters(b->net);
	catch_a_req();
	/* One neighbour is in use. */
	assert_int_equal(plx_net_resolve(b->net, &pair.side[0].ip, pair.now, mac), PLX_NET_READY);
	pair_run(&pair, ROUNDS);
	asked = net->requests_sent;
	evicted = net->evicted;
	version = plx_net_version(b->net);
	for (uint32_t i = 0; i < 2 * STRANGERS; i++) {
		uint64_t sent = plx_engine_counters(b->engine)->tx_gsi;

		disguise((uint8_t)(FIRST + i % STRANGERS), ports[i / STRANGERS]);
		inject(true);
		if (i < STRANGERS) {
			assert_int_equal(plx_engine_counters(b->engine)->tx_gsi, sent + 1);
			assert_int_equal(net->evicted, evicted);
		}
		assert_int_equal(b->engine->gsi->waiting_count, 0);
	}
	assert_int_equal(plx_engine_counters(b->engine)->rx_gsi, 2 * STRANGERS);
	assert_int_equal(net->requests_sent, asked);
	assert_int_equal(plx_net_version(b->net), version);
	/* Most of those that wait are no guests any more when they are refused. */
	refused = plx_engine_counters(b->engine)->tx_gsi;
	pair_start(&pair);
	pair_listener_destroy(listener);
	listener = NULL;
	pair_stop(&pair);
	pair_run(&pair, ROUNDS);
	refused = plx_engine_counters(b->engine)->tx_gsi - refused;
	assert_true(refused > PAIR_NEIGHBOURS / PLX_NET_GUEST_SHARE);
	assert_int_equal(b->engine->gsi->waiting_count, 0);
	assert_int_equal(plx_net_resolve(b->net, &pair.side[0].ip, pair.now, mac), PLX_NET_READY);
	assert_int_equal(net->requests_sent, asked);
	scene_close();
}

static void
a_wrong_icrc_changes_nothing(void **state)
{
	const struct plx_engine_counters *counters;

	(void)state;
	scene_open(false);
	counters = plx_engine_counters(pair.side[1].all[0]);
	catch_a_req();
	caught[caught_len - 1] ^= 1;
	inject(false);
	assert_int_equal(counters->rx_icrc, 1);
	assert_int_equal(counters->rx_gsi, 0);
	nothing_at(1);
	caught[caught_len - 1] ^= 1;
	inject(false);
	assert_int_equal(counters->rx_gsi, 1);
	next(1, PLX_CM_EVENT_REQUESTED);
	scene_close();
}

static void
an_engine_without_a_manager_says_so(void **state)
{
	struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_TCP, .port = PORT};
	struct whole_listener *none;

	(void)state;
	scene_open(true);
	pair_start(&pair);
	assert_int_equal(pair_listen(queues[1], &listen, 0, &none), PLX_STATE);
	pair_stop(&pair);
	assert_null(plx_link_cm_counters(pair.side[1].engine));
	scene_close();
}

static void
an_event_queue_has_a_descriptor(void **state)
{
	struct plx_link_event event;
	uint64_t count;
	int fd;

	(void)state;
	scene_open(false);
	fd = plx_link_channel_fd(queues[1]);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &count, sizeof(count)), -1);
	pair_start(&pair);
	assert_int_equal(plx_link_connector_create(queues[0], 10, &conns[0]), PLX_OK);
	ask(conns[0], pair.side[0].qp, PORT);
	pair_stop(&pair);
	pair_run(&pair, ROUNDS);
	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	assert_true(plx_link_channel_next(queues[1], &event));
	assert_false(plx_link_channel_next(queues[1], &event));
	assert_int_equal(read(fd, &count, sizeof(count)), -1);
	scene_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_packet_stands_for_a_lost_rtu),
		cmocka_unit_test(a_lost_request_is_sent_again),
		cmocka_unit_test(nobody_at_the_address_is_unreachable),
		cmocka_unit_test(a_full_event_queue_holds_up_nobody_else),
		cmocka_unit_test(what_is_not_for_the_manager_does_not_reach_it),
		cmocka_unit_test(strangers_make_us_ask_for_nobody),
		cmocka_unit_test(a_wrong_icrc_changes_nothing),
		cmocka_unit_test(an_engine_without_a_manager_says_so),
		cmocka_unit_test(an_event_queue_has_a_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
