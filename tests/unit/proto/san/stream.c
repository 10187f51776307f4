/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One stream, case by case: HELLO, credits, urgent bytes, large transfers, the end.
 * Start with bytes_arrive_as_they_were_written().
 */
#include "ends.h"

static struct ends ends;

static void
begin(const struct plx_san_config *a, const struct plx_san_config *b)
{
	ends_begin(&ends, a, b);
	ends_settle(&ends);
	assert_true(plx_san_is_open(&ends.end[0].stream));
	assert_true(plx_san_is_open(&ends.end[1].stream));
}

static uint32_t
messages(uint32_t i)
{
	return ends.end[i].stream.out.messages;
}

/* ---- beginning ---- */

static void
limits_are_checked(void **state)
{
	struct plx_san_stream stream;
	struct plx_san_config c[10];

	(void)state;
	for (uint32_t i = 0; i < PLX_COUNT_OF(c); i++)
		c[i] = ends_config;
	c[0].credits = 0;
	c[1].credits = PLX_SAN_CREDITS_MAX + 1;
	c[2].payload_bytes = PLX_SAN_PAYLOAD_MIN - 1;
	c[3].payload_bytes = PLX_SAN_PAYLOAD_MAX + 1;
	c[4].in_bytes = 500;
	c[5].in_bytes = 256; /* less than all credits */
	c[6].out_bytes = 0;
	c[7].sends = 0;
	c[8].sends = PLX_SAN_SENDS_MAX + 1;
	for (uint32_t i = 0; i < 9; i++)
		assert_int_equal(plx_san_begin(&stream, &c[i]), PLX_INVALID);
	assert_int_equal(plx_san_begin(&stream, &c[9]), PLX_OK);
	assert_int_equal(plx_san_receives(&c[9]), CREDITS + PLX_SAN_RESERVED);
}

/* The other end may post its receives late: nothing follows a HELLO before its answer. */
static void
the_one_that_connected_says_hello_and_waits(void **state)
{
	(void)state;
	ends_begin(&ends, &ends_config, &ends_config);
	assert_int_equal(ends_write(&ends, 0, 10), 10);
	assert_int_equal(ends_step(&ends, 1), PLX_SAN_DO_NOTHING);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_SEND);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_NOTHING);
	assert_false(plx_san_is_open(&ends.end[0].stream));
	assert_true(ends_deliver(&ends, 1));
	assert_int_equal(ends_step(&ends, 1), PLX_SAN_DO_SEND);
	assert_true(plx_san_is_open(&ends.end[1].stream));
	assert_true(ends_deliver(&ends, 0));
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_SEND);
	ends_drain(&ends);
	assert_int_equal(ends.end[1].read_bytes, 10);
}

/* ---- bytes and credits ---- */

static void
bytes_arrive_as_they_were_written(void **state)
{
	(void)state;
	begin(&ends_config, &ends_config);
	assert_int_equal(ends_write(&ends, 0, 250), 250);
	ends_settle(&ends);
	assert_int_equal(messages(0), 3); /* of 100, 100 and 50 bytes */
	assert_int_equal(plx_san_readable(&ends.end[1].stream), 250);
	assert_int_equal(ends_read(&ends, 1, 30), 30);
	assert_int_equal(ends_read(&ends, 1, 1000), 220);
	assert_true(plx_san_is_drained(&ends.end[0].stream));
}

static void
bytes_can_be_looked_at_and_stay(void **state)
{
	uint8_t peeked[8], read[8];
	struct end *end;

	(void)state;
	begin(&ends_config, &ends_config);
	ends_write(&ends, 0, 8);
	ends_settle(&ends);
	end = &ends.end[1];
	assert_int_equal(plx_san_read(&end->stream, &end->rings, peeked, 8, true), 8);
	assert_int_equal(plx_san_read(&end->stream, &end->rings, read, 8, false), 8);
	assert_memory_equal(peeked, read, 8);
	assert_int_equal(plx_san_read(&end->stream, &end->rings, read, 8, false), 0);
}

/* What has waited longer is read first, and what does not fit waits. */
static void
bytes_go_to_a_program_that_reads(void **state)
{
	(void)state;
	begin(&ends_config, &ends_config);
	ends_settle(&ends);
	assert_int_equal(ends_write(&ends, 0, 4 * PAYLOAD), 4 * PAYLOAD);
	while (ends_step(&ends, 0) != PLX_SAN_DO_NOTHING)
		;
	assert_int_equal(ends_receive(&ends, 1, PAYLOAD + 1), PAYLOAD);
	assert_int_equal(plx_san_readable(&ends.end[1].stream), 0);
	assert_int_equal(ends_receive(&ends, 1, 30), 30);
	assert_int_equal(plx_san_readable(&ends.end[1].stream), PAYLOAD - 30);
	assert_int_equal(ends_receive(&ends, 1, PAYLOAD), 0);
	assert_int_equal(ends_read(&ends, 1, 2 * PAYLOAD), 2 * PAYLOAD - 30);
	assert_int_equal(ends_receive(&ends, 1, PAYLOAD), PAYLOAD);
	ends_settle(&ends);
	assert_true(plx_san_is_drained(&ends.end[0].stream));
	/* Nothing passes an urgent byte. */
	assert_true(ends_write_urgent(&ends, 0));
	assert_int_equal(ends_write(&ends, 0, 10), 10);
	while (ends_step(&ends, 0) != PLX_SAN_DO_NOTHING)
		;
	assert_int_equal(ends_receive(&ends, 1, PAYLOAD), 0);
	assert_int_equal(ends_receive(&ends, 1, PAYLOAD), 0);
	assert_true(plx_san_is_at_mark(&ends.end[1].stream));
}

/* S15: a program that does not read stops the sender after as many messages as it has credits. */
static void
nothing_is_sent_without_a_credit(void **state)
{
	(void)state;
	begin(&ends_config, &ends_config);
	assert_int_equal(ends_write(&ends, 0, OUT), OUT);
	ends_settle(&ends);
	/* The fifth credit came with the room beside the first four. */
	assert_int_equal(plx_san_readable(&ends.end[1].stream), IN / PAYLOAD * PAYLOAD);
	assert_int_equal(messages(0), IN / PAYLOAD);
	assert_int_equal(ends_write(&ends, 0, OUT), IN / PAYLOAD * PAYLOAD);
	ends_settle(&ends);
	assert_int_equal(messages(0), IN / PAYLOAD);
	/* Room for one message is a credit. */
	assert_int_equal(ends_read(&ends, 1, PAYLOAD), PAYLOAD);
	ends_settle(&ends);
	assert_int_equal(messages(0), IN / PAYLOAD + 1);
	ends_drain(&ends);
	assert_int_equal(ends.end[1].read_bytes, ends.end[0].written);
}

static void
one_credit_is_enough(void **state)
{
	struct plx_san_config one = ends_config;

	(void)state;
	one.credits = 1;
	one.in_bytes = 128;
	begin(&one, &one);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(ends_write(&ends, 0, 777), 777);
		assert_int_equal(ends_write(&ends, 1, 777), 777);
		ends_drain(&ends);
	}
	assert_int_equal(ends.end[0].read_bytes, 77700);
	assert_int_equal(ends.end[1].read_bytes, 77700);
}

static void
messages_are_as_long_as_the_receiver_takes(void **state)
{
	struct plx_san_config small = ends_config;

	(void)state;
	small.payload_bytes = 64;
	begin(&ends_config, &small);
	ends_write(&ends, 0, 128);
	ends_write(&ends, 1, 128);
	ends_drain(&ends);
	assert_int_equal(messages(0), 2);
	assert_int_equal(messages(1), 2);
}

/* ---- the end ---- */

static void
fin_is_behind_the_last_byte(void **state)
{
	(void)state;
	begin(&ends_config, &ends_config);
	ends_write(&ends, 0, 1000);
	plx_san_shut(&ends.end[0].stream);
	assert_int_equal(ends_write(&ends, 0, 1), 0);
	assert_false(ends_write_urgent(&ends, 0));
	assert_false(ends_offer(&ends, 0, 1));
	ends_settle(&ends);
	assert_false(plx_san_is_at_end(&ends.end[1].stream));
	assert_false(plx_san_is_drained(&ends.end[0].stream));
	ends_drain(&ends);
	assert_true(plx_san_is_at_end(&ends.end[1].stream));
	assert_true(plx_san_is_drained(&ends.end[0].stream));
	/* The other direction is not over. */
	assert_int_equal(ends_write(&ends, 1, 10), 10);
	ends_drain(&ends);
	assert_int_equal(ends.end[0].read_bytes, 10);
}

static void
an_end_has_one_reason(void **state)
{
	struct plx_san_stream *stream = &ends.end[0].stream;

	(void)state;
	begin(&ends_config, &ends_config);
	ends_write(&ends, 1, 10);
	ends_settle(&ends);
	ends_write(&ends, 0, 10);
	plx_san_finish(stream, PLX_SAN_END_LOST);
	plx_san_finish(stream, PLX_SAN_END_CLOSED);
	assert_int_equal(stream->end, PLX_SAN_END_LOST);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_NOTHING);
	assert_int_equal(ends_write(&ends, 0, 10), 0);
	/* What had arrived can be read. */
	assert_int_equal(ends_read(&ends, 0, 10), 10);
	assert_string_equal(plx_san_end_text(PLX_SAN_END_LOST), "cannot be reached any more");
}

/* ---- urgent bytes ---- */

static void
an_urgent_byte_has_its_place(void **state)
{
	struct plx_san_stream *stream = &ends.end[1].stream;
	uint8_t byte = 0;

	(void)state;
	begin(&ends_config, &ends_config);
	ends_write(&ends, 0, 20);
	assert_true(ends_write_urgent(&ends, 0));
	assert_false(ends_write_urgent(&ends, 0)); /* one at a time */
	ends_write(&ends, 0, 20);
	ends_settle(&ends);
	assert_true(ends_write_urgent(&ends, 0) && plx_san_read_urgent(stream, &byte, true));
	assert_true(plx_san_read_urgent(stream, &byte, false));
	assert_int_equal(byte, 1);
	assert_false(plx_san_read_urgent(stream, &byte, false));
	/* A read ends at its place. */
	assert_false(plx_san_is_at_mark(stream));
	assert_int_equal(ends_read(&ends, 1, 100), 20);
	assert_true(plx_san_is_at_mark(stream));
	assert_int_equal(ends_read(&ends, 1, 100), 20);
	assert_false(plx_san_is_at_mark(stream));
}

/* ---- large transfers ---- */

static void
what_is_offered_is_read_as_there_is_room(void **state)
{
	(void)state;
	begin(&ends_config, &ends_config);
	assert_true(plx_san_offers_reads(&ends.end[0].stream));
	ends_write(&ends, 0, 30);
	assert_true(ends_offer(&ends, 0, 5000));
	assert_int_equal(ends_write(&ends, 0, 1), 0);
	assert_false(ends_offer(&ends, 0, 1));
	ends_settle(&ends);
	assert_int_equal(messages(0), 1); /* the bytes before it are its payload */
	assert_int_equal(ends.end[0].ended, 0);
	ends_drain(&ends);
	assert_int_equal(ends.end[0].ended, 1);
	assert_int_equal(ends.end[1].read_bytes, 5030);
	assert_int_equal(messages(0), 1);
	assert_int_equal(ends_write(&ends, 0, 1), 1);
}

static void
who_cannot_read_is_written_to(void **state)
{
	struct plx_san_config mute = ends_config;

	(void)state;
	mute.reads = false;
	begin(&ends_config, &mute);
	assert_false(plx_san_offers_reads(&ends.end[0].stream));
	assert_true(plx_san_offers_reads(&ends.end[1].stream));
	assert_true(ends_offer(&ends, 0, 5000));
	assert_true(ends_offer(&ends, 1, 5000));
	ends_drain(&ends);
	assert_int_equal(ends.end[0].read_bytes, 5000);
	assert_int_equal(ends.end[1].read_bytes, 5000);
	assert_int_equal(ends.end[0].conceals, 0);
	assert_true(ends.end[1].conceals > 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_checked),
		cmocka_unit_test(the_one_that_connected_says_hello_and_waits),
		cmocka_unit_test(bytes_arrive_as_they_were_written),
		cmocka_unit_test(bytes_can_be_looked_at_and_stay),
		cmocka_unit_test(bytes_go_to_a_program_that_reads),
		cmocka_unit_test(nothing_is_sent_without_a_credit),
		cmocka_unit_test(one_credit_is_enough),
		cmocka_unit_test(messages_are_as_long_as_the_receiver_takes),
		cmocka_unit_test(fin_is_behind_the_last_byte),
		cmocka_unit_test(an_end_has_one_reason),
		cmocka_unit_test(an_urgent_byte_has_its_place),
		cmocka_unit_test(what_is_offered_is_read_as_there_is_room),
		cmocka_unit_test(who_cannot_read_is_written_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
