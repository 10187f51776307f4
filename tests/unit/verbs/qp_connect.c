/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connecting queue pairs: refusals and their messages, what both ends agree on, and an address that
 * no station has. Start with try_connect().
 */
#include "verbs_pair.h"

#include <string.h>

static struct plx_qp_address
address_of(const struct side *end)
{
	struct plx_qp_address address;

	assert_int_equal(plx_qp_address(end->qp, NULL, &address), PLX_OK);
	return address;
}

/* One try; the sentence must have these words. */
static void
refuses(struct pair *pair, const struct plx_qp_address *peer, const struct plx_qp_attr *attr,
	enum plx_status status, const char *words)
{
	enum plx_qp_state before = pair_state(pair->a.qp);
	struct plx_why why = {""};

	assert_int_equal(plx_qp_connect(pair->a.qp, peer, attr, 0, &why), status);
	if (!strstr(why.text, words))
		fail_msg("\"%s\" does not say \"%s\"", why.text, words);
	assert_int_equal(pair_state(pair->a.qp), before);
}

static void
an_address_tells_what_a_peer_must_know(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_adapter_info info;
	struct plx_ip near = pair_ip(77), far = {.version = 4, .v = {192, 0, 2, 1}}, none = {0};
	struct plx_qp_address address = address_of(&pair->a), again;

	(void)state;
	plx_adapter_query(pair->a.adapter, &info);
	assert_in_range(address.qpn, 2, 0xffffff);
	assert_in_range(address.psn, 0, 0xffffff);
	assert_int_equal(address.path_mtu, info.path_mtu);
	assert_int_equal(address.responder_resources, 16);
	assert_memory_equal(&address.ip, &info.address[0], sizeof(address.ip));
	assert_int_equal(plx_qp_address(pair->a.qp, &near, &again), PLX_OK);
	assert_memory_equal(&again.ip, &address.ip, sizeof(again.ip));
	assert_int_equal(plx_qp_address(pair->a.qp, &far, &again), PLX_UNREACHABLE);
	assert_int_equal(plx_qp_address(pair->a.qp, &none, &again), PLX_INVALID);
	pair_close(pair);
}

static void
a_peers_address_out_of_range_is_refused(void **state)
{
	struct pair *pair = pair_open_apart();
	const struct plx_qp_address good = address_of(&pair->b);
	struct plx_qp_address bad;
	struct plx_qp_attr attr;

	(void)state;
	plx_qp_attr_init(&attr);
	refuses(pair, NULL, &attr, PLX_INVALID, "peer");
	refuses(pair, &good, NULL, PLX_INVALID, "attributes");
#define REFUSED(field, value_, words)                           \
	do {                                                    \
		bad = good;                                     \
		bad.field = value_;                             \
		refuses(pair, &bad, &attr, PLX_INVALID, words); \
	} while (0)
	REFUSED(qpn, 0, "queue pair number is 0");
	REFUSED(qpn, 1, "queue pair number is 1; give 2 to 16777215");
	REFUSED(qpn, 0x1000000, "queue pair number");
	REFUSED(psn, 0x1000000, "PSN is 16777216");
	REFUSED(path_mtu, 0, "path MTU is 0");
	REFUSED(path_mtu, 1500, "path MTU is 1500");
	REFUSED(path_mtu, 8192, "path MTU is 8192");
	REFUSED(ip.version, 5, "version 5");
#undef REFUSED
	pair_close(pair);
}

static void
a_link_out_of_range_is_refused(void **state)
{
	struct pair *pair = pair_open_apart();
	const struct plx_qp_address peer = address_of(&pair->b);
	struct plx_qp_attr bad;

	(void)state;
#define REFUSED(field, value_, status, words)              \
	do {                                               \
		plx_qp_attr_init(&bad);                    \
		bad.field = value_;                        \
		refuses(pair, &peer, &bad, status, words); \
	} while (0)
	REFUSED(retry, 8, PLX_INVALID, "retry is 8; give 0 to 7");
	REFUSED(rnr_retry, 8, PLX_INVALID, "rnr_retry is 8");
	REFUSED(rnr_timer, 32, PLX_INVALID, "rnr_timer is 32; give 0 to 31");
	REFUSED(ack_timeout, 0, PLX_INVALID, "ack_timeout is 0; give 1 to 31");
	REFUSED(ack_timeout, 32, PLX_INVALID, "ack_timeout is 32");
	REFUSED(window_packets, 65537, PLX_INVALID, "window_packets is 65537");
	REFUSED(ack_interval, 65537, PLX_INVALID, "ack_interval");
	REFUSED(access, PLX_ACCESS_LOCAL_WRITE, PLX_INVALID, "access 0x1");
	REFUSED(dscp, 64, PLX_INVALID, "dscp is 64");
	REFUSED(path_mtu, 1500, PLX_INVALID, "path MTU 1500");
	REFUSED(path_mtu, 8192, PLX_INVALID, "path MTU 8192");
#undef REFUSED
	pair_close(pair);
}

static void
a_path_mtu_above_the_peers_is_too_long(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_qp_address peer = address_of(&pair->b);
	struct plx_qp_attr attr;

	(void)state;
	plx_qp_attr_init(&attr);
	peer.path_mtu = 512;
	attr.path_mtu = 1024;
	refuses(pair, &peer, &attr, PLX_TOO_LONG, "path MTU 1024 is more than 512");
	pair_close(pair);
}

/* Each end names another path MTU; the smaller one is used, and messages of many packets pass. */
static void
the_path_mtu_is_the_smaller_of_both_ends(void **state)
{
	static const uint32_t mtus[] = {256, 512, 1024, 2048, 4096};

	(void)state;
	for (size_t i = 0; i < sizeof(mtus) / sizeof(mtus[0]); i++) {
		struct pair *pair = pair_open_apart();
		struct plx_qp_address of_a = address_of(&pair->a), of_b = address_of(&pair->b);
		struct beyond beyond = at_peer(&pair->b, 0);
		struct plx_qp_attr attr;
		struct plx_qp_info info;
		enum plx_status status;

		plx_qp_attr_init(&attr);
		of_b.path_mtu = mtus[i];
		pair_until((status = plx_qp_connect(pair->a.qp, &of_b, &attr, 0, NULL)) !=
			   PLX_AGAIN);
		assert_int_equal(status, PLX_OK);
		attr.path_mtu = mtus[i];
		pair_until((status = plx_qp_connect(pair->b.qp, &of_a, &attr, 0, NULL)) !=
			   PLX_AGAIN);
		assert_int_equal(status, PLX_OK);
		assert_int_equal(plx_qp_query(pair->a.qp, &info), PLX_OK);
		assert_int_equal(info.path_mtu, mtus[i]);
		side_fill(&pair->a, 0, 50000, (uint8_t)i);
		side_post(&pair->a, PLX_WR_WRITE, 1, 0, 0, 50000, &beyond);
		pair_expect(pair->a.send_cq, 1, PLX_WC_SUCCESS);
		side_assert_filled(&pair->b, 0, 50000, (uint8_t)i);
		pair_close(pair);
	}
}

static void
what_the_peer_may_not_do_is_refused_to_it(void **state)
{
	static const struct {
		uint32_t access;
		enum plx_wr_op op;
	} cases[] = {
		{PLX_ACCESS_REMOTE_READ, PLX_WR_WRITE},
		{PLX_ACCESS_REMOTE_WRITE, PLX_WR_READ},
		{PLX_ACCESS_REMOTE_WRITE | PLX_ACCESS_REMOTE_READ, PLX_WR_FETCH_ADD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair_options options = pair_usual();
		struct beyond beyond;
		struct pair *pair;

		options.attr.access = cases[i].access;
		pair = pair_open(&options);
		beyond = at_peer(&pair->b, 0);
		side_post(&pair->a, cases[i].op, 1, 0, 0, 8, &beyond);
		pair_expect(pair->a.send_cq, 1, PLX_WC_REMOTE_INVALID_REQUEST);
		pair_close(pair);
	}
}

/* READs beyond the limit are queued inside, and never fail; a limit of zero is refused. */
static void
reads_beyond_the_limit_wait_and_without_one_are_invalid(void **state)
{
	struct pair_options options = pair_usual();
	struct beyond beyond;
	struct pair *pair;

	(void)state;
	options.qp.responder_resources = 1;
	options.attr.initiator_depth = 200;
	pair = pair_open(&options);
	beyond = at_peer(&pair->b, 0);
	for (uint32_t i = 0; i < 40; i++)
		side_post(&pair->a, PLX_WR_READ, i, 0, 0, 5000, &beyond);
	for (uint32_t i = 0; i < 40; i++)
		pair_expect(pair->a.send_cq, i, PLX_WC_SUCCESS);
	pair_close(pair);

	pair = pair_open_apart();
	{
		struct plx_qp_address of_b = address_of(&pair->b);

		of_b.responder_resources = 0;
		pair_until(plx_qp_connect(pair->a.qp, &of_b, &options.attr, 0, NULL) == PLX_OK);
		assert_int_equal(side_try(&pair->a, pair->a.qp, PLX_WR_READ, 1, 0, 0, 8, &beyond),
				 PLX_INVALID);
	}
	pair_close(pair);
}

/* ---- nobody there ---- */

static void
an_address_nobody_has_takes_the_time_given_and_no_more(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_qp_address nobody = address_of(&pair->b);
	struct plx_why why = {""};
	struct plx_qp_attr attr;
	uint64_t begun = test_ns(), took;

	(void)state;
	plx_qp_attr_init(&attr);
	nobody.ip = pair_ip(99);
	assert_int_equal(plx_qp_connect(pair->a.qp, &nobody, &attr, 0, &why), PLX_AGAIN);
	assert_non_null(strstr(why.text, "asked"));
	assert_int_equal(plx_qp_connect(pair->a.qp, &nobody, &attr, 200, &why), PLX_TIMEOUT);
	took = test_ns() - begun;
	assert_true(took >= 200 * PLX_MSEC && took < 10 * PLX_SEC);
	assert_non_null(strstr(why.text, "200 ms"));
	assert_int_equal(pair_state(pair->a.qp), PLX_QP_RESET);
	begun = test_ns();
	assert_int_equal(plx_qp_connect(pair->a.qp, &nobody, &attr, 15000, &why), PLX_UNREACHABLE);
	assert_true(test_ns() - begun < 15 * PLX_SEC);
	assert_int_equal(pair_state(pair->a.qp), PLX_QP_RESET);
	pair_close(pair);
}

static void
an_address_in_no_network_of_ours_is_unreachable_at_once(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_qp_address peer = address_of(&pair->b);
	struct plx_qp_attr attr;

	(void)state;
	plx_qp_attr_init(&attr);
	peer.ip = (struct plx_ip){.version = 4, .v = {192, 0, 2, 9}};
	refuses(pair, &peer, &attr, PLX_UNREACHABLE, "192.0.2.9");
	pair_close(pair);
}

/* A25 of docs/nd2.md: a failed connect leaves posted requests in place, and the next one works. */
static void
a_failed_connect_from_init_keeps_the_receives(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_qp_address of_a = address_of(&pair->a), of_b = address_of(&pair->b);
	struct plx_qp_address far = of_b;
	struct plx_qp_attr attr;

	(void)state;
	plx_qp_attr_init(&attr);
	far.ip = (struct plx_ip){.version = 4, .v = {192, 0, 2, 9}};
	assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_INIT, NULL, NULL, NULL), PLX_OK);
	side_receive(&pair->a, 5, 0, 64);
	refuses(pair, &far, &attr, PLX_UNREACHABLE, "192.0.2.9");
	pair_until(plx_qp_connect(pair->a.qp, &of_b, &attr, 0, NULL) == PLX_OK);
	pair_until(plx_qp_connect(pair->b.qp, &of_a, &attr, 0, NULL) == PLX_OK);
	side_post(&pair->b, PLX_WR_SEND, 6, 0, 0, 8, NULL);
	pair_expect(pair->a.recv_cq, 5, PLX_WC_SUCCESS);
	pair_close(pair);
}

/* ---- single steps ---- */

static void
single_steps_lead_where_connect_does(void **state)
{
	static const enum plx_qp_state steps[] = {PLX_QP_INIT, PLX_QP_RTR, PLX_QP_RTS};
	struct pair *pair = pair_open_apart();
	struct plx_qp_address of_a = address_of(&pair->a), of_b = address_of(&pair->b);
	struct plx_qp_attr attr;
	enum plx_status status;

	(void)state;
	plx_qp_attr_init(&attr);
	for (int i = 0; i < 3; i++) {
		pair_until((status = plx_qp_modify(pair->a.qp, steps[i], &of_b, &attr, NULL)) !=
			   PLX_AGAIN);
		assert_int_equal(status, PLX_OK);
		pair_until((status = plx_qp_modify(pair->b.qp, steps[i], &of_a, &attr, NULL)) !=
			   PLX_AGAIN);
		assert_int_equal(status, PLX_OK);
		assert_int_equal(pair_state(pair->a.qp), steps[i]);
	}
	side_receive(&pair->b, 5, 0, 64);
	side_post(&pair->a, PLX_WR_SEND, 6, 0, 0, 8, NULL);
	pair_expect(pair->b.recv_cq, 5, PLX_WC_SUCCESS);
	pair_expect(pair->a.send_cq, 6, PLX_WC_SUCCESS);
	pair_close(pair);
}

static void
steps_that_there_are_not_are_refused(void **state)
{
	struct pair *pair = pair_open_apart();
	struct plx_qp_address of_b = address_of(&pair->b);
	struct plx_qp_attr attr;
	struct plx_why why;

	(void)state;
	plx_qp_attr_init(&attr);
	assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_RTS, &of_b, &attr, &why), PLX_STATE);
	assert_non_null(strstr(why.text, "is in reset"));
	assert_non_null(strstr(why.text, "to rts"));
	assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_RTR, NULL, &attr, &why), PLX_INVALID);
	assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_SQD, NULL, NULL, &why), PLX_STATE);
	assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_NONE, NULL, NULL, &why), PLX_INVALID);
	assert_int_equal(plx_qp_modify(pair->a.qp, PLX_QP_STATE_COUNT, NULL, NULL, &why),
			 PLX_INVALID);
	assert_int_equal(pair_state(pair->a.qp), PLX_QP_RESET);
	pair_until(plx_qp_connect(pair->a.qp, &of_b, &attr, 0, NULL) == PLX_OK);
	refuses(pair, &of_b, &attr, PLX_STATE, "is in rts");
	pair_close(pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(an_address_tells_what_a_peer_must_know),
		PAIR_TEST(a_peers_address_out_of_range_is_refused),
		PAIR_TEST(a_link_out_of_range_is_refused),
		PAIR_TEST(a_path_mtu_above_the_peers_is_too_long),
		PAIR_TEST(the_path_mtu_is_the_smaller_of_both_ends),
		PAIR_ATOMIC_TEST(what_the_peer_may_not_do_is_refused_to_it),
		PAIR_TEST(reads_beyond_the_limit_wait_and_without_one_are_invalid),
		PAIR_TEST(an_address_nobody_has_takes_the_time_given_and_no_more),
		PAIR_TEST(an_address_in_no_network_of_ours_is_unreachable_at_once),
		PAIR_TEST(a_failed_connect_from_init_keeps_the_receives),
		PAIR_TEST(single_steps_lead_where_connect_does),
		PAIR_TEST(steps_that_there_are_not_are_refused),
	};

	return pair_run_all("connect", tests, sizeof(tests) / sizeof(tests[0]));
}
