/* SPDX-License-Identifier: BSD-3-Clause
 *
 * UD services: found, not found, refused, and no answer. It never connects anything. Start with
 * a_service_tells_its_queue_pair().
 */
#include "cm_pair.h"

#include <string.h>

enum {
	SERVICE_QPN = 0x77,
};

static void
listen_udp(struct pair *pair)
{
	struct plx_cm_listen listen = {.space = PLX_PORT_SPACE_UDP,
				       .port = PORT,
				       .qpn = SERVICE_QPN,
				       .qkey = PLX_CMA_QKEY};
	struct plx_cm_id id;

	assert_int_equal(plx_cm_listen(pair->cm[BOB], &listen, &id), PLX_OK);
}

static struct plx_cm_id
seek(struct pair *pair)
{
	struct plx_cm_connect connect = pair_wish(pair, ALICE, BOB, 0);
	struct plx_cm_id id;

	assert_int_equal(plx_cm_sidr_request(pair->cm[ALICE], &connect, pair->now, &id), PLX_OK);
	return id;
}

static void
a_service_tells_its_queue_pair(void **state)
{
	static const uint8_t versions[] = {4, 6};

	(void)state;
	for (size_t i = 0; i < PLX_COUNT_OF(versions); i++) {
		struct plx_cm_id id;
		struct pair pair;

		pair_open_with(&pair, 4, 4, versions[i]);
		listen_udp(&pair);
		id = seek(&pair);
		pair_carry(&pair);
		assert_int_equal(pair.logged, 2);
		assert_int_equal(pair_expect(&pair, ALICE, PLX_CM_EVENT_SIDR_REPLY)->id.v, id.v);
		assert_int_equal(pair.event.reason, PLX_CM_SIDR_OK);
		assert_int_equal(pair.event.qpn, SERVICE_QPN);
		assert_int_equal(pair.event.qkey, PLX_CMA_QKEY);
		assert_int_equal(pair.event.context, CONTEXT_ALICE);
		assert_int_equal(pair.event.private_bytes, PLX_CM_PRIVATE_SIDR);
		pair_expect_nothing(&pair, BOB);
		pair_expect_rest(&pair);
		pair_close(&pair);
	}
}

/* The request: the port, the two addresses, and the private data. */
static void
the_question_says_who_asks(void **state)
{
	const struct plx_cm_sidr_req *req;
	struct plx_cma cma;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	seek(&pair);
	pair_carry(&pair);
	req = &pair_last(&pair, ALICE, PLX_CM_SIDR_REQ)->sidr_req;
	assert_int_equal(req->service_id, 0x01110000 + PORT);
	assert_int_equal(req->pkey, 0xffff);
	assert_true(plx_cma_decode(req->private_data, &cma));
	assert_int_equal(cma.src_port, ALICE_PORT);
	assert_memory_equal(&cma.src, &pair.ip[ALICE], sizeof cma.src);
	assert_memory_equal(&cma.dst, &pair.ip[BOB], sizeof cma.dst);
	assert_string_equal((const char *)req->private_data + PLX_CMA_BYTES, "may I come in?");
	pair_close(&pair);
}

static void
a_service_that_is_not_there_is_unsupported(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair_listen(&pair, BOB, PORT, 0); /* the same port, but for connections */
	seek(&pair);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_SIDR_REPLY);
	assert_int_equal(pair.event.reason, PLX_CM_SIDR_UNSUPPORTED);
	assert_int_equal(pair.event.qpn, 0);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* A connection is not to be had there, either. */
static void
a_service_takes_no_connection(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair);
	listen_udp(&pair);
	pair_connect(&pair, ALICE, BOB, ALICE_QPN);
	pair_carry(&pair);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_REJECTED);
	assert_int_equal(pair.event.reason, PLX_CM_REASON_INVALID_SERVICE_ID);
	pair_close(&pair);
}

static void
who_lies_about_its_address_is_rejected(void **state)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_SIDR_REQ};
	struct plx_cma cma;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	listen_udp(&pair);
	pair.silent[ALICE] = true;
	cma = (struct plx_cma){.src = pair.ip[ALICE], .dst = pair.ip[BOB], .src_port = 1};
	msg.sidr_req.service_id = plx_cma_service_id(PLX_PORT_SPACE_UDP, PORT);
	msg.sidr_req.pkey = 0x7fff;
	for (int fault = 0; fault < 5; fault++) {
		struct plx_cm_msg bad = msg;

		plx_cma_encode(&cma, bad.sidr_req.private_data);
		if (fault == 1)
			bad.sidr_req.private_data[4 + 15] ^= 1;
		if (fault == 2)
			bad.sidr_req.private_data[20 + 15] ^= 1;
		if (fault == 3)
			bad.sidr_req.private_data[0] = 0x10;
		if (fault == 4)
			bad.sidr_req.pkey = 0x1234;
		assert_int_equal(pair_inject(&pair, BOB, &bad),
				 fault ? PLX_CM_REFUSED : PLX_CM_TAKEN);
		pair_carry(&pair);
		assert_int_equal(pair_last(&pair, BOB, PLX_CM_SIDR_REP)->sidr_rep.status,
				 fault ? PLX_CM_SIDR_REJECTED : PLX_CM_SIDR_OK);
	}
	pair_close(&pair);
}

static void
nobody_answers(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair.silent[BOB] = true;
	seek(&pair);
	pair_wait(&pair, 20 * PLX_SEC);
	assert_int_equal(pair_count(&pair, ALICE, PLX_CM_SIDR_REQ), PLX_CM_TRIES);
	assert_int_equal(pair.logged, PLX_CM_TRIES);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_TIMED_OUT);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

/* Only from the address of the request, and with a valid queue pair. */
static void
an_answer_is_looked_at(void **state)
{
	struct plx_cm_msg msg = {.kind = PLX_CM_SIDR_REP};
	struct plx_cm_id id;
	struct pair pair;

	(void)state;
	pair_open(&pair);
	pair.silent[BOB] = true;
	id = seek(&pair);
	pair_carry(&pair);
	msg.sidr_rep.request_id = id.v;
	msg.sidr_rep.qpn = SERVICE_QPN;
	assert_int_equal(pair_inject_from(&pair, ALICE, pair_ip(4, 9), &msg), PLX_CM_UNKNOWN);
	msg.sidr_rep.qpn = 1;
	assert_int_equal(pair_inject(&pair, ALICE, &msg), PLX_CM_INVALID);
	msg.sidr_rep.qpn = SERVICE_QPN;
	msg.sidr_rep.request_id++;
	assert_int_equal(pair_inject(&pair, ALICE, &msg), PLX_CM_UNKNOWN);
	msg.sidr_rep.request_id--;
	pair_expect_nothing(&pair, ALICE);
	assert_int_equal(pair_inject(&pair, ALICE, &msg), PLX_CM_TAKEN);
	assert_int_equal(pair_inject(&pair, ALICE, &msg), PLX_CM_UNEXPECTED);
	pair_expect(&pair, ALICE, PLX_CM_EVENT_SIDR_REPLY);
	pair_expect_rest(&pair);
	pair_close(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_service_tells_its_queue_pair),
		cmocka_unit_test(the_question_says_who_asks),
		cmocka_unit_test(a_service_that_is_not_there_is_unsupported),
		cmocka_unit_test(a_service_takes_no_connection),
		cmocka_unit_test(who_lies_about_its_address_is_rejected),
		cmocka_unit_test(nobody_answers),
		cmocka_unit_test(an_answer_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
