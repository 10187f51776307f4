/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pairs that change hands: a stream whose one end goes from seat to seat between messages,
 * connectors and their events that go with it, refusals, and ends of programs on either side. The
 * seats are of one process. Start with a_stream_goes_from_seat_to_seat().
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "host_side.h"

enum {
	HANDS = 10000,
	DEPTH = 16,
	DEEP = 4096,
	MANY = 16,
	POSTED = 8,     /* receives at a time */
	MESSAGE = 3000, /* bytes: three packets */
	PORT = 4242,
	RNR_10_US = 1,
	SOON_MS = 20000,
};

static struct host_process host;

static struct plx_qp_options
queues_of(struct host_side *side)
{
	return (struct plx_qp_options){
		.send_cq = side->cq, .recv_cq = side->cq, .sq_depth = DEPTH, .rq_depth = DEPTH};
}

static uint32_t
seat_of(const struct host_side *side)
{
	struct plx_adapter_info info;

	plx_adapter_query(side->adapter, &info);
	assert_true(info.seat > 0);
	return info.seat;
}

static struct plx_qp_token
give(struct plx_qp *qp, struct plx_connector *connector, uint32_t seat)
{
	struct plx_qp_token token;
	struct plx_why why = {""};
	enum plx_status status;

	/* What is under way when it is asked for. */
	test_until((status = plx_qp_export(qp, connector, seat, &token, &why)) != PLX_BUSY,
		   (void)0);
	if (status != PLX_OK)
		fail_msg("%s", why.text);
	return token;
}

static struct plx_qp *
take(struct host_side *side, const struct plx_qp_token *token, struct plx_event_channel *channel,
     struct plx_connector **connector)
{
	const struct plx_qp_options options = queues_of(side);
	struct plx_connector *none;
	struct plx_why why = {""};
	struct plx_qp *qp;

	if (plx_qp_import(side->pd, token, &options, channel, &qp, connector ? connector : &none,
			  &why) != PLX_OK)
		fail_msg("%s", why.text);
	return qp;
}

/* ---- a stream ---- */

/* One end of the stream. The first half of a side's memory is sent, the second is received in. */
struct end {
	struct host_side *side;
	struct plx_qp *qp;
	uint32_t posted;           /* receives under way */
	uint64_t *sent, *received; /* of the stream: messages so far */
	uint32_t sending;          /* under way */
};

static uint64_t sent[2], received[2], flushed;

static uint8_t *
place(const struct end *end, uint64_t number, bool receives)
{
	return end->side->memory + (receives ? HOST_SIDE_BYTES / 2 : 0) +
	       number % POSTED * (HOST_SIDE_BYTES / 2 / POSTED);
}

static void
post_receive(struct end *end, uint64_t number)
{
	const struct plx_sge sge = {(uintptr_t)place(end, number, true), MESSAGE,
				    plx_mr_key(end->side->mr)};
	const struct plx_recv_wr wr = {.wr_id = number, .sges = 1, .sge = &sge};

	assert_int_equal(plx_post_recv(end->qp, &wr, 1, NULL), 1);
	end->posted++;
}

static void
send_next(struct end *end)
{
	uint64_t number = (*end->sent)++;
	uint8_t *bytes = place(end, number, false);
	const struct plx_sge sge = {(uintptr_t)bytes, MESSAGE, plx_mr_key(end->side->mr)};

	memset(bytes, (int)(number % 251), MESSAGE);
	memcpy(bytes, &number, sizeof(number));
	assert_int_equal(
		plx_post_one(end->qp, PLX_WR(PLX_WR_SEND, 0), number, &sge, 0, (struct plx_key){0}),
		PLX_OK);
	end->sending++;
}

/* The next one of the stream, and no other. */
static void
check_received(struct end *end, const struct plx_wc *wc)
{
	const uint8_t *bytes = place(end, wc->wr_id, true);
	uint64_t number = (*end->received)++;

	assert_int_equal(wc->bytes, MESSAGE);
	assert_memory_equal(bytes, &number, sizeof(number));
	assert_int_equal(bytes[sizeof(number)], number % 251);
	assert_int_equal(bytes[MESSAGE - 1], number % 251);
}

/* Returns: whether there was a completion */
static bool
reap(struct end *end)
{
	struct plx_wc wc;

	if (plx_cq_poll(end->side->cq, &wc, 1) == 0)
		return false;
	if (!(wc.flags & PLX_WC_RECV)) {
		assert_int_equal(wc.status, PLX_WC_SUCCESS);
		assert_true(end->sending-- > 0);
		return true;
	}
	assert_true(end->posted-- > 0);
	if (wc.status == PLX_WC_SUCCESS)
		check_received(end, &wc);
	else
		assert_int_equal(wc.status, PLX_WC_FLUSHED);
	flushed += wc.status == PLX_WC_FLUSHED;
	return true;
}

static void
keep_busy(struct end *end, uint64_t *slot)
{
	while (reap(end))
		;
	while (end->posted < POSTED)
		post_receive(end, (*slot)++);
	while (end->sending < POSTED / 2)
		send_next(end);
}

/* All of its completions come, also those of what it has given away. */
static void
give_away(struct end *from, uint32_t seat, struct plx_qp_token *token)
{
	struct plx_why why = {""};
	enum plx_status status;

	while ((status = plx_qp_export(from->qp, NULL, seat, token, &why)) == PLX_BUSY)
		while (reap(from))
			;
	if (status != PLX_OK)
		fail_msg("%s", why.text);
	test_until(from->posted == 0 && from->sending == 0, (void)reap(from));
	assert_false(reap(from));
	assert_int_equal(plx_qp_destroy(from->qp), PLX_OK);
	from->qp = NULL;
}

static void
join(struct host_side *a, struct host_side *b)
{
	struct plx_qp_address address[2];
	struct plx_qp_attr attr;

	plx_qp_attr_init(&attr);
	attr.rnr_timer = RNR_10_US;
	attr.rnr_retry = 7;
	attr.ack_timeout = 18; /* 1 s: nobody is lost for being slow */
	attr.path_mtu = 1024;
	assert_int_equal(plx_qp_address(a->qp, NULL, &address[0]), PLX_OK);
	assert_int_equal(plx_qp_address(b->qp, NULL, &address[1]), PLX_OK);
	assert_int_equal(plx_qp_connect(a->qp, &address[1], &attr, 5000, NULL), PLX_OK);
	assert_int_equal(plx_qp_connect(b->qp, &address[0], &attr, 5000, NULL), PLX_OK);
}

static void
a_stream_goes_from_seat_to_seat(void **state)
{
	struct host_side seats[2], peer;
	struct end ends[2], other = {&peer, NULL, 0, &sent[1], &received[1], 0};
	uint64_t slots[3] = {0, 0, 0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		host_side_open(&seats[i], "a");
		ends[i] = (struct end){&seats[i], NULL, 0, &sent[0], &received[0], 0};
	}
	host_side_open(&peer, "b");
	join(&seats[0], &peer);
	ends[0].qp = seats[0].qp;
	seats[0].qp = NULL;
	other.qp = peer.qp;
	for (uint32_t i = 0; i < HANDS; i++) {
		struct end *from = &ends[i % 2], *to = &ends[(i + 1) % 2];
		uint64_t until = received[0] + 1 + i % 3;
		struct plx_qp_token token;

		for (uint64_t end_ns = test_ns() + SOON_MS * PLX_MSEC; received[0] < until;) {
			keep_busy(from, &slots[i % 2]);
			keep_busy(&other, &slots[2]);
			assert_true(test_ns() < end_ns);
		}
		give_away(from, seat_of(to->side), &token);
		to->qp = take(to->side, &token, NULL, NULL);
	}
	/* Nothing is lost on the way: what was sent arrives. */
	test_until(received[0] == sent[1] && received[1] == sent[0] && other.sending == 0, {
		struct end *last = &ends[HANDS % 2];

		while (reap(last) || reap(&other))
			;
		while (last->posted < POSTED)
			post_receive(last, slots[HANDS % 2]++);
		while (other.posted < POSTED)
			post_receive(&other, slots[2]++);
	});
	assert_true(received[0] > HANDS && received[1] > HANDS && flushed > HANDS);
	seats[0].qp = ends[HANDS % 2].qp;
	host_side_close(&seats[0]);
	host_side_close(&seats[1]);
	host_side_close(&peer);
	host_side_await_nothing(&host);
}

/* ---- with a connector ---- */

/* A connection by the communication manager, from a seat of "a" to "b". */
struct connection {
	struct host_side side, other, peer;
	struct plx_event_channel *channel[3];
	struct plx_listener *listener;
	struct plx_connector *connector, *peers;
};

static struct plx_connector_event
await_event(struct plx_event_channel *channel, enum plx_cm_event_kind kind)
{
	struct plx_connector_event event;

	assert_true(plx_event_channel_wait(channel, SOON_MS, &event));
	assert_int_equal(event.kind, kind);
	return event;
}

static void
connection_open(struct connection *c)
{
	const struct plx_listen_options listen = {.port = PORT};
	struct plx_connect_options options;
	struct plx_why why = {""};

	*c = (struct connection){.connector = NULL};
	host_side_open(&c->side, "a");
	host_side_open(&c->other, "a");
	host_side_open(&c->peer, "b");
	assert_int_equal(plx_event_channel_create(c->side.adapter, 8, &c->channel[0]), PLX_OK);
	assert_int_equal(plx_event_channel_create(c->other.adapter, 8, &c->channel[1]), PLX_OK);
	assert_int_equal(plx_event_channel_create(c->peer.adapter, 8, &c->channel[2]), PLX_OK);
	assert_int_equal(plx_listen(c->channel[2], &listen, &c->listener, NULL), PLX_OK);
	assert_int_equal(plx_connector_create(c->channel[0], 1, &c->connector), PLX_OK);
	plx_connect_options_init(&options);
	options.remote = host_side_ip(2);
	options.remote_port = PORT;
	if (plx_connect(c->connector, c->side.qp, &options, &why) != PLX_OK)
		fail_msg("%s", why.text);
	c->peers = await_event(c->channel[2], PLX_CM_EVENT_REQUESTED).connector;
	assert_int_equal(plx_accept(c->peers, c->peer.qp, &options, NULL), PLX_OK);
	(void)await_event(c->channel[0], PLX_CM_EVENT_REPLIED);
	assert_int_equal(plx_establish(c->connector, NULL), PLX_OK);
	(void)await_event(c->channel[2], PLX_CM_EVENT_ESTABLISHED);
}

static void
connection_close(struct connection *c)
{
	if (c->connector != NULL)
		assert_int_equal(plx_connector_destroy(c->connector), PLX_OK);
	assert_int_equal(plx_connector_destroy(c->peers), PLX_OK);
	assert_int_equal(plx_listener_destroy(c->listener), PLX_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(plx_event_channel_destroy(c->channel[i]), PLX_OK);
	host_side_close(&c->side);
	host_side_close(&c->other);
	host_side_close(&c->peer);
	host_side_await_nothing(&host);
}

/* The queue pair of `other` gives way to the one that it imports. */
static void
move_to_other(struct connection *c, struct plx_event_channel *channel)
{
	struct plx_qp_token token = give(c->side.qp, c->connector, seat_of(&c->other));

	c->connector = NULL;
	assert_int_equal(plx_qp_destroy(c->other.qp), PLX_OK);
	c->other.qp = take(&c->other, &token, channel, &c->connector);
}

static void
events_of_a_connector_go_with_it(void **state)
{
	struct connection c;
	struct plx_connector_event event;
	struct plx_connector_info before, after;

	(void)state;
	connection_open(&c);
	assert_int_equal(plx_connector_query(c.connector, &before), PLX_OK);
	move_to_other(&c, c.channel[1]);
	plx_connector_set_context(c.connector, 77);
	assert_int_equal(plx_connector_query(c.connector, &after), PLX_OK);
	assert_memory_equal(&after.local, &before.local, sizeof(after.local));
	assert_memory_equal(&after.remote, &before.remote, sizeof(after.remote));
	assert_int_equal(after.remote_port, PORT);
	host_side_write(&c.other, &c.peer, 5);
	assert_int_equal(plx_disconnect(c.peers), PLX_OK);
	event = await_event(c.channel[1], PLX_CM_EVENT_DISCONNECTED);
	assert_ptr_equal(event.connector, c.connector);
	assert_int_equal(event.context, 77);
	assert_false(plx_event_channel_next(c.channel[0], &event));
	connection_close(&c);
}

static void
an_event_on_the_way_waits_for_the_importer(void **state)
{
	struct connection c;
	struct plx_qp_token token;

	(void)state;
	connection_open(&c);
	token = give(c.side.qp, c.connector, seat_of(&c.other));
	c.connector = NULL;
	assert_int_equal(plx_disconnect(c.peers), PLX_OK);
	(void)await_event(c.channel[2], PLX_CM_EVENT_CLOSED);
	assert_int_equal(plx_qp_destroy(c.other.qp), PLX_OK);
	c.other.qp = take(&c.other, &token, c.channel[1], &c.connector);
	(void)await_event(c.channel[1], PLX_CM_EVENT_DISCONNECTED);
	connection_close(&c);
}

static void
importers_disconnect_as_those_who_connected(void **state)
{
	struct connection c;

	(void)state;
	connection_open(&c);
	move_to_other(&c, c.channel[1]);
	assert_int_equal(plx_disconnect(c.connector), PLX_OK);
	(void)await_event(c.channel[2], PLX_CM_EVENT_DISCONNECTED);
	(void)await_event(c.channel[1], PLX_CM_EVENT_CLOSED);
	connection_close(&c);
}

/* ---- refusals ---- */

static void
what_cannot_change_hands_is_refused_with_a_sentence(void **state)
{
	struct connection c;
	struct plx_connector *connector;
	struct plx_qp_token token, again;
	struct plx_why why = {""};
	struct plx_qp_options options;
	struct plx_qp *qp;

	(void)state;
	connection_open(&c);
	options = queues_of(&c.other);
#define REFUSED(call, status, word)                                      \
	do {                                                             \
		why.text[0] = '\0';                                      \
		assert_int_equal(call, status);                          \
		if (!strstr(why.text, word))                             \
			fail_msg("\"%s\" lacks \"%s\"", why.text, word); \
	} while (0)
	REFUSED(plx_qp_export(c.other.qp, NULL, 1, &token, &why), PLX_STATE, "in reset");
	REFUSED(plx_qp_export(c.side.qp, NULL, 1, &token, &why), PLX_INVALID, "connector");
	REFUSED(plx_qp_export(c.side.qp, c.peers, 1, &token, &why), PLX_INVALID, "adapter a");
	/* A request without a receive is not completed. */
	assert_int_equal(
		plx_post_one(c.side.qp, PLX_WR(PLX_WR_SEND, 0), 1,
			     &(struct plx_sge){(uintptr_t)c.side.memory, 8, plx_mr_key(c.side.mr)},
			     0, (struct plx_key){0}),
		PLX_OK);
	REFUSED(plx_qp_export(c.side.qp, c.connector, 1, &token, &why), PLX_BUSY, "completed");
	assert_int_equal(plx_post_recv(c.peer.qp,
				       &(struct plx_recv_wr){
					       .sges = 1,
					       .sge = &(struct plx_sge){(uintptr_t)c.peer.memory, 8,
									plx_mr_key(c.peer.mr)}},
				       1, NULL),
			 1);
	token = give(c.side.qp, c.connector, seat_of(&c.other));
	c.connector = NULL;
	again = token;
	again.v ^= 1;
	REFUSED(plx_qp_import(c.other.pd, &again, &options, c.channel[1], &qp, &connector, &why),
		PLX_NO_KEY, "token");
	/* Another adapter's program; and one of this adapter that it is not for. */
	options = queues_of(&c.peer);
	REFUSED(plx_qp_import(c.peer.pd, &token, &options, c.channel[2], &qp, &connector, &why),
		PLX_NO_KEY, "token");
	options = queues_of(&c.other);
	REFUSED(plx_qp_import(c.other.pd, &token, &options, NULL, &qp, &connector, &why),
		PLX_INVALID, "give one");
	REFUSED(plx_qp_import(c.other.pd, &token, &options, c.channel[2], &qp, &connector, &why),
		PLX_INVALID, "adapter a");
	/* All of these have changed nothing. */
	assert_int_equal(plx_qp_destroy(c.other.qp), PLX_OK);
	c.other.qp = take(&c.other, &token, c.channel[1], &c.connector);
	REFUSED(plx_qp_import(c.other.pd, &token, &options, c.channel[1], &qp, &connector, &why),
		PLX_NO_KEY, "was imported");
#undef REFUSED
	host_side_write(&c.other, &c.peer, 9);
	connection_close(&c);
}

static void
an_exporter_may_take_it_back_and_others_not(void **state)
{
	struct host_side side, other, peer;
	struct plx_qp_options options;
	struct plx_connector *none;
	struct plx_qp_token token;
	struct plx_why why = {""};
	struct plx_qp *qp;

	(void)state;
	host_side_open(&side, "a");
	host_side_open(&other, "a");
	host_side_open(&peer, "b");
	host_side_join(&side, &peer);
	token = give(side.qp, NULL, 999999);
	options = queues_of(&other);
	assert_int_equal(plx_qp_import(other.pd, &token, &options, NULL, &qp, &none, &why),
			 PLX_NO_KEY);
	assert_int_equal(plx_qp_destroy(side.qp), PLX_OK);
	side.qp = take(&side, &token, NULL, NULL);
	host_side_write(&side, &peer, 3);
	host_side_write(&peer, &side, 4);
	host_side_close(&side);
	host_side_close(&other);
	host_side_close(&peer);
	host_side_await_nothing(&host);
}

/* Their queues are more than a segment holds. */
static void
an_importer_gets_memory_for_all(void **state)
{
	struct host_side side, other, peer;
	struct plx_qp_address address;
	struct plx_qp_options options;
	struct plx_connector *none;
	struct plx_qp *taken[MANY];
	struct plx_qp_attr attr;
	struct plx_why why = {""};

	(void)state;
	host_side_open(&side, "a");
	host_side_open(&other, "a");
	host_side_open(&peer, "b");
	plx_qp_attr_init(&attr);
	assert_int_equal(plx_qp_address(peer.qp, NULL, &address), PLX_OK);
	for (int i = 0; i < MANY; i++) {
		struct plx_qp_token token;
		struct plx_qp *qp;

		options = queues_of(&side);
		assert_int_equal(plx_qp_create(side.pd, &options, &qp, &why), PLX_OK);
		assert_int_equal(plx_qp_connect(qp, &address, &attr, 5000, NULL), PLX_OK);
		token = give(qp, NULL, seat_of(&other));
		assert_int_equal(plx_qp_destroy(qp), PLX_OK);
		options = queues_of(&other);
		options.sq_depth = options.rq_depth = DEEP;
		if (plx_qp_import(other.pd, &token, &options, NULL, &taken[i], &none, &why) !=
		    PLX_OK)
			fail_msg("queue pair %d: %s", i, why.text);
	}
	for (int i = 0; i < MANY; i++)
		assert_int_equal(plx_qp_destroy(taken[i]), PLX_OK);
	host_side_close(&side);
	host_side_close(&other);
	host_side_close(&peer);
	host_side_await_nothing(&host);
}

/* Between two programs the peer finds no receive, and no key of the former owner's. */
static void
a_parked_queue_pair_gives_its_peer_nothing(void **state)
{
	struct host_side side, other, peer;
	struct plx_qp_options options;
	struct plx_connector *none;
	struct plx_qp_token token;
	struct plx_why why = {""};
	struct plx_sge sge;
	struct plx_wc wc;
	struct plx_qp *qp;

	(void)state;
	host_side_open(&side, "a");
	host_side_open(&other, "a");
	host_side_open(&peer, "b");
	join(&side, &peer);
	token = give(side.qp, NULL, seat_of(&other));
	sge = (struct plx_sge){(uintptr_t)peer.memory, 64, plx_mr_key(peer.mr)};
	memset(side.memory, 1, 64);
	memset(peer.memory, 2, 64);
	assert_int_equal(plx_post_one(peer.qp, PLX_WR(PLX_WR_WRITE, 0), 1, &sge,
				      (uintptr_t)side.memory, plx_mr_key(side.mr)),
			 PLX_OK);
	test_until(plx_cq_poll(peer.cq, &wc, 1) == 1, (void)0);
	assert_int_equal(wc.status, PLX_WC_REMOTE_ACCESS);
	assert_int_equal(side.memory[0], 1);
	options = queues_of(&other);
	assert_int_equal(plx_qp_import(other.pd, &token, &options, NULL, &qp, &none, &why),
			 PLX_STATE);
	assert_non_null(strstr(why.text, "ended"));
	host_side_close(&side);
	host_side_close(&other);
	host_side_close(&peer);
	host_side_await_nothing(&host);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_goes_from_seat_to_seat),
		cmocka_unit_test(events_of_a_connector_go_with_it),
		cmocka_unit_test(an_event_on_the_way_waits_for_the_importer),
		cmocka_unit_test(importers_disconnect_as_those_who_connected),
		cmocka_unit_test(what_cannot_change_hands_is_refused_with_a_sentence),
		cmocka_unit_test(an_exporter_may_take_it_back_and_others_not),
		cmocka_unit_test(an_importer_gets_memory_for_all),
		cmocka_unit_test(a_parked_queue_pair_gives_its_peer_nothing),
	};

	return host_side_run(&host, tests, sizeof(tests) / sizeof(tests[0]));
}
