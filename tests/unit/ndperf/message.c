/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bodies of the side channel: what is put in comes out; what is cut, longer or out of range is
 * refused, whatever the bytes are. Start with a_body_of_another_length_is_refused().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "plx_base.h"
#include "bodies.h"
#include "options.h"

static struct talk talk;
static struct plx_why why;

static const struct job a_job = {
	.op = OP_READ,
	.test = TEST_LATENCY,
	.both = true,
	.open = true,
	.is_random = true,
	.rate = 1000,
	.seed = 5,
	.check = true,
	.size = 65536,
	.depth = 16,
	.slots = 32,
	.batch = 2,
	.signal = 1,
	.qps = 4,
	.flight = 64,
	.path_mtu = 1024,
	.ack_timeout = 9,
	.warmup_ms = 5,
	.duration_ms = 600,
	.timeout_ms = 7000,
};

static void
a_job_comes_out_as_it_was_put_in(void **state)
{
	struct job got;
	(void)state;
	message_put_job(&talk, &a_job);
	assert_true(message_get_job(&talk, &got, &why));
	assert_int_equal(got.op, a_job.op);
	assert_int_equal(got.test, a_job.test);
	assert_true(got.both && got.open && got.is_random && got.check && !got.rewrite && !got.raw);
	assert_int_equal(got.rate, a_job.rate);
	assert_int_equal(got.seed, a_job.seed);
	assert_memory_equal(&got.size, &a_job.size, sizeof(got) - offsetof(struct job, size));
}

static void
cards_come_out_as_they_were_put_in(void **state)
{
	static struct card cards[QPS_MAX], got[QPS_MAX];
	(void)state;
	for (uint32_t i = 0; i < QPS_MAX; i++) {
		cards[i] = (struct card){
			.address = {.qpn = i + 1,
				    .psn = 0xfffff0 + i % 16,
				    .ip = {.version = 6, .v = {0xfd, (uint8_t)i, [15] = 1}},
				    .path_mtu = 4096,
				    .responder_resources = 16},
			.va = UINT64_C(0x7f0000000000) + i,
			.rkey = {0x80000001 + i},
		};
	}
	message_put_cards(&talk, cards, QPS_MAX);
	assert_true(message_get_cards(&talk, got, QPS_MAX, &why));
	for (uint32_t i = 0; i < QPS_MAX; i++) {
		assert_int_equal(got[i].address.qpn, cards[i].address.qpn);
		assert_int_equal(got[i].address.psn, cards[i].address.psn);
		assert_memory_equal(&got[i].address.ip, &cards[i].address.ip,
				    sizeof(struct plx_ip));
		assert_int_equal(got[i].address.path_mtu, 4096);
		assert_int_equal(got[i].address.responder_resources, 16);
		assert_int_equal(got[i].va, cards[i].va);
		assert_int_equal(got[i].rkey.v, cards[i].rkey.v);
	}
	assert_false(message_get_cards(&talk, got, QPS_MAX - 1, &why));
}

static void
a_body_of_another_length_is_refused(void **state)
{
	struct job got;
	(void)state;
	message_put_job(&talk, &a_job);
	uint32_t length = talk.length;
	for (uint32_t cut = 0; cut < length; cut++) {
		talk.length = cut;
		assert_false(message_get_job(&talk, &got, &why));
		assert_non_null(strstr(why.text, "more"));
	}
	talk.length = length + 1;
	assert_false(message_get_job(&talk, &got, &why));
	assert_non_null(strstr(why.text, "fewer"));
}

/* A peer may say anything: what is taken is within the limits of struct job. */
static void
any_bytes_are_refused_or_a_valid_job(void **state)
{
	struct plx_prng prng;
	uint32_t taken = 0;
	(void)state;
	plx_prng_init(&prng, 1);
	for (uint32_t i = 0; i < 200000; i++) {
		struct job got;
		message_put_job(&talk, &a_job);
		uint32_t changes = 1 + (uint32_t)plx_prng_next(&prng) % 3;
		for (uint32_t k = 0; k < changes; k++)
			talk.body[plx_prng_next(&prng) % talk.length] =
				(uint8_t)plx_prng_next(&prng);
		if (!message_get_job(&talk, &got, &why))
			continue;
		taken++;
		assert_in_range(got.op, 1, OP_COUNT - 1);
		assert_in_range(got.test, 1, TEST_COUNT - 1);
		assert_true(!got.open || (got.test == TEST_LATENCY && got.signal == 1 &&
					  got.rate >= 1 && got.rate <= RATE_MAX));
		assert_in_range(got.size, 1, SIZE_MAX_BYTES);
		assert_in_range(got.qps, 1, QPS_MAX);
		assert_in_range(got.batch, 1, BATCH_MAX);
		assert_in_range(got.depth, 1, DEPTH_MAX);
		assert_in_range(got.flight, got.batch, FLIGHT_MAX);
		assert_in_range(got.slots, got.depth, SLOTS_MAX);
		assert_true(got.slots * stride_bytes(got.size) * got.qps <= 4 * SIZE_MAX_BYTES);
	}
	assert_in_range(taken, 1000, 199000);
}

int
main(void)
{
	strcpy(talk.peer, "the peer");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_comes_out_as_it_was_put_in),
		cmocka_unit_test(cards_come_out_as_they_were_put_in),
		cmocka_unit_test(a_body_of_another_length_is_refused),
		cmocka_unit_test(any_bytes_are_refused_or_a_valid_job),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
