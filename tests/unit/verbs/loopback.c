/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that connects to itself: one adapter, its own address, IPv4 and IPv6, every operation
 * from one queue pair to another. Start with an_adapter_connects_to_itself().
 */
#include "verbs_pair.h"

#include <string.h>

enum {
	PORT = 4243,
	FROM = 4096, /* offsets in the arena of the one adapter */
	TO = 8192,
	BIG = 40000, /* bytes: many packets */
	BIG_FROM = 65536,
	BIG_TO = 131072,
};

/* Both ends of one connection on adapter a; `far` speaks for the accepted queue pair. */
struct self {
	struct pair *pair;
	struct side near, far;
	struct plx_event_channel *channel;
	struct plx_listener *listener;
	struct plx_connector *asks, *takes;
};

static void
meet_oneself(struct self *self, struct plx_ip ip)
{
	struct pair_options options = pair_usual();
	const struct plx_listen_options listen = {.port = PORT, .local = ip};
	struct plx_connect_options connect;
	struct plx_why why = {""};

	options.unconnected = true;
	self->pair = pair_open(&options);
	self->near = self->far = self->pair->a;
	self->far.qp = side_qp(&self->pair->a, &options);
	plx_connect_options_init(&connect);
	connect.remote = ip;
	connect.remote_port = PORT;
	assert_int_equal(plx_event_channel_create(self->near.adapter, 16, &self->channel), PLX_OK);
	assert_int_equal(plx_connector_create(self->channel, 1, &self->asks), PLX_OK);
	if (plx_listen(self->channel, &listen, &self->listener, &why) != PLX_OK)
		fail_msg("%s", why.text);
	pair_connect(self->asks, self->near.qp, &connect);
	self->takes = pair_event(self->channel, PLX_CM_EVENT_REQUESTED).connector;
	pair_accept(self->takes, self->far.qp, &connect);
	pair_event(self->channel, PLX_CM_EVENT_REPLIED);
	pair_complete(self->asks);
	pair_event(self->channel, PLX_CM_EVENT_ESTABLISHED);
}

static void
part_from_oneself(struct self *self)
{
	assert_int_equal(plx_disconnect(self->asks), PLX_OK);
	pair_event(self->channel, PLX_CM_EVENT_DISCONNECTED);
	pair_event(self->channel, PLX_CM_EVENT_CLOSED);
	assert_int_equal(pair_state(self->near.qp), PLX_QP_ERROR);
	pair_until(pair_state(self->far.qp) == PLX_QP_ERROR); /* after its grace */
	assert_int_equal(plx_connector_destroy(self->asks), PLX_OK);
	assert_int_equal(plx_connector_destroy(self->takes), PLX_OK);
	assert_int_equal(plx_listener_destroy(self->listener), PLX_OK);
	assert_int_equal(plx_event_channel_destroy(self->channel), PLX_OK);
	assert_int_equal(plx_qp_destroy(self->far.qp), PLX_OK);
	pair_close(self->pair);
}

/* Both queue pairs share their completion queues: a receive's entry may be first or second. */
static void
expect_both(struct self *self, uint64_t send, uint64_t receive)
{
	pair_expect(self->near.send_cq, send, PLX_WC_SUCCESS);
	pair_expect(self->far.recv_cq, receive, PLX_WC_SUCCESS);
}

static void
every_operation(struct self *self)
{
	struct side *near = &self->near, *far = &self->far;
	struct beyond beyond = at_peer(far, TO);
	uint64_t word = 41, old;

	side_receive(far, 10, TO, 64);
	side_fill(near, FROM, 64, 1);
	side_post(near, PLX_WR_SEND, 11, 0, FROM, 64, NULL);
	expect_both(self, 11, 10);
	side_assert_filled(far, TO, 64, 1);
	side_receive(far, 12, TO, 64);
	side_fill(near, FROM, 64, 2);
	side_post(near, PLX_WR_WRITE_IMM, 13, 0, FROM, 64, &beyond);
	expect_both(self, 13, 12);
	side_assert_filled(far, TO, 64, 2);
	side_fill(near, BIG_FROM, BIG, 3);
	beyond = at_peer(far, BIG_TO);
	side_post(near, PLX_WR_WRITE, 14, 0, BIG_FROM, BIG, &beyond);
	pair_expect(near->send_cq, 14, PLX_WC_SUCCESS);
	side_assert_filled(far, BIG_TO, BIG, 3);
	memset(near->arena + BIG_FROM, 0, BIG);
	side_post(near, PLX_WR_READ, 15, 0, BIG_FROM, BIG, &beyond);
	pair_expect(near->send_cq, 15, PLX_WC_SUCCESS);
	side_assert_filled(near, BIG_FROM, BIG, 3);
	memcpy(far->arena + TO, &word, sizeof(word));
	beyond = at_peer(far, TO);
	beyond.swap_add = 1;
	side_post(near, PLX_WR_FETCH_ADD, 16, 0, FROM, 8, &beyond);
	pair_expect(near->send_cq, 16, PLX_WC_SUCCESS);
	memcpy(&old, near->arena + FROM, sizeof(old));
	memcpy(&word, far->arena + TO, sizeof(word));
	assert_int_equal(old, 41);
	assert_int_equal(word, 42);
}

static void
an_adapter_connects_to_itself(void **state)
{
	struct self self = {0};

	(void)state;
	for (int round = 0; round < 2; round++) {
		meet_oneself(&self, round == 0 ? pair_ip(1) : pair_ip6(1));
		every_operation(&self);
		part_from_oneself(&self);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		PAIR_TEST(an_adapter_connects_to_itself),
	};

	return pair_run_all("loopback", tests, sizeof(tests) / sizeof(tests[0]));
}
