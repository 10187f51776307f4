/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The carrier by the communication manager, between two threads with an adapter each over the
 * embedded link: messages of every length, every queue pair, strangers, and peers that go.
 * Start with meet().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "plx_base.h"
#include "clock.h"
#include "options.h"
#include "session.h"

enum {
	PORT = 7999,
	TIMEOUT_SHORT_MS = 1000,
	SLACK_MS = 20 * 1000, /* a loaded machine is slow */
};

static struct options server_options = {
	.role = ROLE_SERVER,
	.endpoint = {.device = "net_wire0,end=1",
		     .address = {.ip = {4, {10, 77, 0, 2}}, .prefix_bits = 24}},
	.idle = PLX_IDLE_YIELD,
	.mode = PLX_MODE_INLINE,
	.core = {-1, -1},
	.timeout_ms = 10000,
	.port = PORT,
};
static struct options client_options;

/* The server's thread: it begins, takes one client, does what it is for, and ends. */
struct host {
	pthread_t thread;
	struct session session;
	bool (*serve)(struct session *session, struct plx_why *why);
	bool is_good;
	bool is_up, is_released; /* between threads */
	struct plx_why why;
};

static struct host host;
static struct session client;
static struct plx_why why;

static void *
host_main(void *arg)
{
	struct session *s = &host.session;
	(void)arg;
	talk_init(&s->talk, &server_options, &s->side);
	host.is_good = side_open(&s->side, &server_options, false, &host.why) &&
		       s->talk.carrier->listen(&s->talk, &host.why);
	__atomic_store_n(&host.is_up, true, __ATOMIC_RELEASE);
	if (!host.is_good)
		return NULL;
	host.is_good = s->talk.carrier->accept(&s->talk, &host.why) && host.serve(s, &host.why);
	s->talk.carrier->close(&s->talk);
	s->talk.carrier->shut(&s->talk);
	side_close(&s->side);
	return NULL;
}

/* Both are there, the client's conversation not begun. */
static void
begin_on(const char *device, bool (*serve)(struct session *session, struct plx_why *why))
{
	memset(&host, 0, sizeof(host));
	memset(&client, 0, sizeof(client));
	host.serve = serve;
	client_options = server_options;
	client_options.role = ROLE_CLIENT;
	client_options.endpoint.device = device;
	client_options.endpoint.address.ip
		.v[client_options.endpoint.address.ip.version == 4 ? 3 : 15] = 1;
	client_options.peer = server_options.endpoint.address.ip;
	assert_int_equal(pthread_create(&host.thread, NULL, host_main, NULL), 0);
	while (!__atomic_load_n(&host.is_up, __ATOMIC_ACQUIRE))
		sched_yield();
	talk_init(&client.talk, &client_options, &client.side);
	assert_ptr_equal(client.talk.carrier, &carrier_cm);
	if (!side_open(&client.side, &client_options, true, &why))
		fail_msg("%s", why.text);
}

static void
begin(bool (*serve)(struct session *session, struct plx_why *why))
{
	begin_on("net_wire0,end=0", serve);
}

static void
meet(bool (*serve)(struct session *session, struct plx_why *why))
{
	begin(serve);
	if (!client.talk.carrier->connect(&client.talk, &why))
		fail_msg("%s", why.text);
}

static void
end(void)
{
	client.talk.carrier->close(&client.talk);
	assert_null(client.talk.cm);
	pthread_join(host.thread, NULL);
	side_close(&client.side);
}

/* ---- messages ---- */

static bool
send_back(struct session *s, struct plx_why *said)
{
	for (;;) {
		enum message kind = talk_receive_any(&s->talk, SLACK_MS, said);
		if (kind == MESSAGE_NONE)
			return said->text[0] == '\0';
		if (!talk_send(&s->talk, kind, said))
			return false;
	}
}

/* One message there and back: the conversation goes on. */
static void
exchange(void)
{
	client.talk.length = 0;
	assert_true(talk_send(&client.talk, MESSAGE_READY, &why));
	assert_true(talk_receive(&client.talk, MESSAGE_READY, &why));
}

static void
messages_of_every_length_come_back_as_they_went(void **state)
{
	static const uint32_t lengths[] = {0,    1,     4088,  4095,  4096,  4097,
					   8191, 12345, 16383, 16384, 16384, 16384};
	static uint8_t sent[TALK_BODY_MAX];
	struct talk *talk = &client.talk;
	(void)state;
	meet(send_back);
	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < PLX_COUNT_OF(lengths); i++) {
			talk->length = lengths[i];
			for (uint32_t k = 0; k < lengths[i]; k++)
				sent[k] = talk->body[k] = (uint8_t)(k * 7 + i + round);
			assert_true(talk_send(talk, MESSAGE_CARD, &why));
			memset(talk->body, 0, sizeof(talk->body));
			if (!talk_receive(talk, MESSAGE_CARD, &why))
				fail_msg("%s", why.text);
			assert_int_equal(talk->length, lengths[i]);
			assert_memory_equal(talk->body, sent, lengths[i]);
		}
	}
	end();
	assert_true(host.is_good);
}

/* ---- queue pairs ---- */

/* Three messages that a peer of another kind might send in one go. */
static void
messages_are_found_however_they_were_cut(void **state)
{
	static uint8_t bytes[3 * (8 + 3000)];
	struct talk *talk = &client.talk;
	(void)state;
	meet(send_back);
	for (uint32_t i = 0; i < 3; i++) {
		uint8_t *at = bytes + i * (8 + 3000);
		const uint32_t head[2] = {htonl(MESSAGE_CARD), htonl(3000)};
		memcpy(at, head, sizeof(head));
		memset(at + 8, (int)i + 1, 3000);
	}
	assert_true(talk->carrier->write(talk, bytes, sizeof(bytes), &why));
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(talk_receive(talk, MESSAGE_CARD, &why));
		assert_int_equal(talk->length, 3000);
		assert_memory_equal(talk->body, bytes + i * (8 + 3000) + 8, 3000);
	}
	end();
	assert_true(host.is_good);
}

static void
measure(enum op op, uint32_t qps)
{
	struct job job = {.op = op,
			  .test = TEST_RATE,
			  .check = true,
			  .size = op == OP_FETCH_ADD ? 8 : 100,
			  .depth = 4,
			  .slots = 4,
			  .batch = 1,
			  .signal = 1,
			  .qps = qps,
			  .flight = FLIGHT,
			  .duration_ms = 20,
			  .timeout_ms = SLACK_MS};
	struct result result;
	if (!session_client_row(&client, &job, &result, &why))
		fail_msg("%s", why.text);
	assert_true(result.messages >= 1);
	assert_true(result.checked_bytes >= result.messages * job.size);
}

static void
every_queue_pair_is_connected_row_after_row(void **state)
{
	static const struct {
		enum op op;
		uint32_t qps;
	} rows[] = {{OP_SEND, 1}, {OP_WRITE, 256}, {OP_READ, 17}, {OP_FETCH_ADD, 3}, {OP_SEND, 64}};
	(void)state;
	meet(session_serve);
	assert_true(talk_hello(&client.talk, &why));
	for (uint32_t i = 0; i < PLX_COUNT_OF(rows); i++)
		measure(rows[i].op, rows[i].qps);
	end();
	assert_true(host.is_good);
}

/* One packet in 20 is lost each way, connecting and disconnecting included. */
static void
loss_delays_a_row_and_does_not_break_it(void **state)
{
	(void)state;
	server_options.endpoint.device = "net_wire0,end=1,loss=0.05,seed=1";
	begin_on("net_wire0,end=0,loss=0.05,seed=2", session_serve);
	server_options.endpoint.device = "net_wire0,end=1";
	if (!client.talk.carrier->connect(&client.talk, &why))
		fail_msg("%s", why.text);
	assert_true(talk_hello(&client.talk, &why));
	measure(OP_SEND, 8);
	measure(OP_READ, 2);
	end();
	assert_true(host.is_good);
}

/* ---- who is not wanted ---- */

static void
a_second_client_is_told_that_the_server_is_busy(void **state)
{
	static struct talk second;
	struct options hasty = client_options;
	(void)state;
	meet(send_back);
	hasty = client_options;
	hasty.timeout_ms = 500;
	memset(&second, 0, sizeof(second));
	talk_init(&second, &hasty, &client.side);
	assert_false(second.carrier->connect(&second, &why));
	assert_non_null(strstr(why.text, "busy with another client"));
	assert_non_null(strstr(why.text, "500 ms"));
	second.carrier->close(&second);
	assert_null(second.cm);
	/* and the first has not noticed */
	exchange();
	end();
	assert_true(host.is_good);
}

static struct plx_connector_event
ask_as(const void *private_data, uint32_t private_bytes)
{
	struct plx_connector_event event = {0};
	struct plx_event_channel *channel;
	struct plx_connector *connector;
	struct plx_cq *cq;
	struct plx_qp *qp;
	struct plx_cq_options queue = {.depth = 4};
	struct plx_connect_options options;
	assert_int_equal(plx_event_channel_create(client.side.adapter, 4, &channel), PLX_OK);
	assert_int_equal(plx_connector_create(channel, 1, &connector), PLX_OK);
	assert_int_equal(plx_cq_create(client.side.adapter, &queue, &cq), PLX_OK);
	struct plx_qp_options pair = {.send_cq = cq, .recv_cq = cq, .sq_depth = 1, .rq_depth = 1};
	assert_int_equal(plx_qp_create(client.side.pd, &pair, &qp, &why), PLX_OK);
	plx_connect_options_init(&options);
	options.remote = client_options.peer;
	options.remote_port = PORT;
	options.private_data = private_data;
	options.private_bytes = private_bytes;
	assert_int_equal(plx_connect(connector, qp, &options, &why), PLX_OK);
	assert_true(plx_event_channel_wait(channel, SLACK_MS, &event));
	assert_int_equal(plx_connector_destroy(connector), PLX_OK);
	assert_int_equal(plx_qp_destroy(qp), PLX_OK);
	assert_int_equal(plx_cq_destroy(cq), PLX_OK);
	assert_int_equal(plx_event_channel_destroy(channel), PLX_OK);
	return event;
}

static void
refused(const void *private_data, uint32_t private_bytes, const char *words)
{
	char text[PLX_PRIVATE_REJECT_MAX];
	struct plx_connector_event event = ask_as(private_data, private_bytes);
	assert_int_equal(event.kind, PLX_CM_EVENT_REJECTED);
	assert_int_equal(event.reason, PLX_CM_REASON_CONSUMER);
	printable_text(event.private_data, event.private_bytes, text, sizeof(text));
	assert_non_null(strstr(text, words));
}

static void
strangers_are_rejected_with_a_sentence(void **state)
{
	/* magic, session, line */
	uint8_t greeting[20] = {0};
	(void)state;
	memcpy(greeting, talk_magic, TALK_MAGIC_BYTES);
	meet(send_back);
	refused(NULL, 0, "`ndperf client` only");
	refused("ndperf", 6, "`ndperf client` only");
	/* a lane of nobody's measurement, and one that no measurement has */
	refused(greeting, sizeof(greeting), "no such measurement");
	greeting[18] = greeting[19] = 0xff;
	refused(greeting, sizeof(greeting), "no such measurement");
	exchange();
	end();
	assert_true(host.is_good);
}

/* ---- peers that go ---- */

static bool
leave_at_once(struct session *s, struct plx_why *said)
{
	(void)s;
	(void)said;
	return true;
}

static void
a_peer_that_leaves_is_noticed_at_once(void **state)
{
	uint64_t start;
	(void)state;
	meet(leave_at_once);
	start = now_ms();
	assert_int_equal(talk_receive_any(&client.talk, SLACK_MS, &why), MESSAGE_NONE);
	assert_string_equal(why.text, "");
	assert_in_range(now_ms() - start, 0, SLACK_MS / 2);
	/* whoever expects something is told so */
	assert_false(talk_receive(&client.talk, MESSAGE_READY, &why));
	assert_non_null(strstr(why.text, "vanished"));
	client.talk.length = 1;
	assert_false(talk_send(&client.talk, MESSAGE_READY, &why));
	assert_non_null(strstr(why.text, "it has disconnected"));
	end();
}

/* Nobody polls the adapter: as good as dead. */
static bool
fall_silent(struct session *s, struct plx_why *said)
{
	(void)s;
	(void)said;
	while (!__atomic_load_n(&host.is_released, __ATOMIC_ACQUIRE))
		sched_yield();
	return true;
}

static void
a_peer_that_falls_silent_is_noticed_in_time(void **state)
{
	bool none;
	uint8_t byte;
	(void)state;
	begin(fall_silent);
	client.talk.timeout_ms = SLACK_MS;
	assert_true(client.talk.carrier->connect(&client.talk, &why));
	client.talk.timeout_ms = TIMEOUT_SHORT_MS;
	uint64_t start = now_ms();
	while (!client.talk.carrier->has_news(&client.talk)) {
		assert_in_range(now_ms() - start, 0, SLACK_MS);
		side_pause(&client.side);
	}
	assert_in_range(now_ms() - start, TIMEOUT_SHORT_MS, SLACK_MS);
	assert_false(client.talk.carrier->read(&client.talk, &byte, 1, 0, &none, &why));
	assert_false(none);
	assert_non_null(strstr(why.text, "it no longer answers"));
	__atomic_store_n(&host.is_released, true, __ATOMIC_RELEASE);
	end();
}

static void
a_server_that_is_not_there_is_named_with_its_port(void **state)
{
	(void)state;
	begin(send_back);
	client_options.port = PORT + 1;
	client.talk.timeout_ms = TIMEOUT_SHORT_MS;
	assert_false(client.talk.carrier->connect(&client.talk, &why));
	assert_non_null(strstr(why.text, "10.77.0.2 port 8000"));
	assert_non_null(strstr(why.text, "no listener at that port"));
	assert_non_null(strstr(why.text, "start `ndperf server`"));
	client.talk.carrier->close(&client.talk);
	/* so that the server sees one, and ends */
	client_options.port = PORT;
	client.talk.timeout_ms = SLACK_MS;
	assert_true(client.talk.carrier->connect(&client.talk, &why));
	exchange();
	end();
	assert_true(host.is_good);
}

static void
an_address_of_ipv6_will_do(void **state)
{
	const struct plx_ip ipv4 = server_options.endpoint.address.ip;
	(void)state;
	server_options.endpoint.address.ip = (struct plx_ip){6, {0xfd, 0x77, [15] = 2}};
	server_options.endpoint.address.prefix_bits = 64;
	meet(send_back);
	assert_string_equal(client.talk.peer, "the server fd77::2 port 7999");
	exchange();
	end();
	assert_true(host.is_good);
	server_options.endpoint.address.ip = ipv4;
	server_options.endpoint.address.prefix_bits = 24;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_every_length_come_back_as_they_went),
		cmocka_unit_test(messages_are_found_however_they_were_cut),
		cmocka_unit_test(every_queue_pair_is_connected_row_after_row),
		cmocka_unit_test(loss_delays_a_row_and_does_not_break_it),
		cmocka_unit_test(a_second_client_is_told_that_the_server_is_busy),
		cmocka_unit_test(strangers_are_rejected_with_a_sentence),
		cmocka_unit_test(a_peer_that_leaves_is_noticed_at_once),
		cmocka_unit_test(a_peer_that_falls_silent_is_noticed_in_time),
		cmocka_unit_test(a_server_that_is_not_there_is_named_with_its_port),
		cmocka_unit_test(an_address_of_ipv6_will_do),
	};
	ticks_hz();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
