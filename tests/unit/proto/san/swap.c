/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control of a stream changes hands: the steps of both ends in their order, what goes on and what
 * waits, both ends at once, and an end that does not answer.
 * Start with the_steps_have_their_order().
 */
#include "ends.h"

enum {
	SWAPS = 100,
	CROSSINGS = 1000,
};

static struct ends ends;

static struct plx_san_stream *
stream(uint32_t i)
{
	return &ends.end[i].stream;
}

static void
begin(void)
{
	ends_begin(&ends, &ends_config, &ends_config);
	ends_settle(&ends);
}

static void
swap(uint32_t i)
{
	plx_san_suspend(stream(i));
	ends_settle(&ends);
	ends_take(&ends, i);
	ends_settle(&ends);
}

/* The kind of the newest message to an end. */
static enum plx_san_kind
newest(uint32_t i)
{
	const struct end *end = &ends.end[i];

	assert_true(end->inbox_count > 0);
	return (enum plx_san_kind)end
		->inbox[(end->inbox_first + end->inbox_count - 1) % ENDS_RECEIVES_MAX]
		.bytes[0];
}

static void
assert_sends(uint32_t i, enum plx_san_kind kind)
{
	assert_int_equal(ends_step(&ends, i), PLX_SAN_DO_SEND);
	assert_int_equal(newest(1 - i), kind);
}

/* ---- the steps ---- */

/* S3, S4 */
static void
the_steps_have_their_order(void **state)
{
	(void)state;
	begin();
	plx_san_suspend(stream(0));
	assert_sends(0, PLX_SAN_SUSPEND);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_NOTHING);
	assert_true(ends_complete_send(&ends, 0));
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_RELEASE_SENDS);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_NOTHING);
	assert_true(ends_deliver(&ends, 1));
	assert_int_equal(ends_step(&ends, 1), PLX_SAN_DO_RELEASE_RDMA);
	assert_sends(1, PLX_SAN_SUSPENDED);
	assert_int_equal(ends_step(&ends, 1), PLX_SAN_DO_NOTHING);
	assert_true(ends_deliver(&ends, 0));
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_RELEASE_RDMA);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_GIVE);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_NOTHING);
	ends_take(&ends, 0);
	assert_sends(0, PLX_SAN_RESUME);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_NOTHING);
	assert_true(ends_deliver(&ends, 1));
	assert_int_equal(stream(0)->epoch, 1);
	assert_int_equal(stream(1)->epoch, 1);
}

static void
sends_are_complete_before_suspend(void **state)
{
	(void)state;
	begin();
	ends_write(&ends, 0, 10);
	assert_sends(0, PLX_SAN_DATA);
	plx_san_suspend(stream(0));
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_NOTHING);
	assert_true(ends_complete_send(&ends, 0));
	assert_sends(0, PLX_SAN_SUSPEND);
}

/* S11: a large transfer ends first; what the process writes later waits (S10). */
static void
a_large_transfer_ends_first(void **state)
{
	(void)state;
	begin();
	assert_true(ends_offer(&ends, 0, 5000));
	plx_san_suspend(stream(0));
	assert_int_equal(ends_write(&ends, 0, 1), 0);
	ends_settle(&ends);
	assert_int_equal(stream(0)->mine, PLX_SAN_MINE_WANTED);
	ends_drain(&ends);
	assert_int_equal(ends.end[0].gives, 1);
	assert_int_equal(ends.end[0].ended, 1);
	assert_int_equal(ends.end[1].read_bytes, 5000);
	assert_int_equal(ends_write(&ends, 0, 1), 1);
}

/* The other end's large transfer does not: its rest is offered to the process that takes over. */
static void
the_other_ends_large_transfer_goes_on_afterwards(void **state)
{
	(void)state;
	begin();
	assert_true(ends_offer(&ends, 1, 5000));
	ends_settle(&ends); /* the ring is full */
	swap(0);
	assert_int_equal(ends.end[0].gives, 1);
	assert_int_equal(ends.end[1].ended, 0);
	ends_drain(&ends);
	assert_int_equal(ends.end[0].read_bytes, 5000);
	assert_int_equal(ends.end[1].ended, 1);
}

/* S12 */
static void
bytes_that_were_not_read_stay(void **state)
{
	(void)state;
	begin();
	ends_write(&ends, 1, 10);
	ends_settle(&ends);
	assert_int_equal(ends_read(&ends, 0, 3), 3);
	for (uint32_t i = 0; i < SWAPS; i++)
		swap(0);
	assert_int_equal(ends_read(&ends, 0, 100), 7);
	assert_int_equal(ends.end[0].gives, SWAPS);
	assert_int_equal(stream(1)->epoch, SWAPS);
}

/* Bytes that were written and had no credit stay, too. */
static void
bytes_that_were_not_sent_are_sent_afterwards(void **state)
{
	(void)state;
	begin();
	ends_write(&ends, 0, 1000);
	ends_settle(&ends);
	assert_true(stream(0)->out.sent < stream(0)->out.put);
	swap(0);
	ends_drain(&ends);
	assert_int_equal(ends.end[1].read_bytes, 1000);
}

/* S14, the sender's part: it goes on until its ring is full. */
static void
the_other_end_can_write_meanwhile(void **state)
{
	(void)state;
	begin();
	plx_san_suspend(stream(0));
	ends_settle(&ends);
	assert_int_equal(stream(1)->theirs, PLX_SAN_THEIRS_ANSWERED);
	assert_int_equal(ends_write(&ends, 1, 2 * OUT), OUT);
	assert_int_equal(ends_write(&ends, 1, 1), 0);
	assert_false(ends_offer(&ends, 1, 10)); /* nothing is registered meanwhile */
	assert_int_equal(ends_step(&ends, 1), PLX_SAN_DO_NOTHING);
	ends_take(&ends, 0);
	ends_drain(&ends);
	assert_int_equal(ends.end[0].read_bytes, OUT);
}

/* S15 */
static void
it_needs_no_credit(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < 2; i++)
		ends_write(&ends, i, OUT);
	ends_settle(&ends);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(stream(i)->out.posted, stream(i)->out.messages);
	swap(0);
	swap(1);
	assert_int_equal(ends.end[0].gives, 1);
	assert_int_equal(ends.end[1].gives, 1);
	ends_drain(&ends);
	assert_int_equal(ends.end[0].read_bytes, OUT);
	assert_int_equal(ends.end[1].read_bytes, OUT);
}

static void
fin_and_mark_travel_along(void **state)
{
	uint8_t byte;

	(void)state;
	begin();
	ends_write(&ends, 1, 10);
	ends_write_urgent(&ends, 1);
	ends_write(&ends, 1, 10);
	plx_san_shut(stream(1));
	ends_settle(&ends);
	swap(0);
	assert_true(plx_san_read_urgent(stream(0), &byte, false));
	assert_int_equal(ends_read(&ends, 0, 100), 10);
	assert_true(plx_san_is_at_mark(stream(0)));
	assert_int_equal(ends_read(&ends, 0, 100), 10);
	assert_true(plx_san_is_at_end(stream(0)));
}

/* ---- without the other end ---- */

static void
it_passes_without_a_message(void **state)
{
	(void)state;
	begin();
	ends_write(&ends, 0, 10);
	assert_sends(0, PLX_SAN_DATA);
	plx_san_pass(stream(0));
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_NOTHING);
	assert_true(ends_complete_send(&ends, 0));
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_RELEASE_SENDS);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_GIVE);
	/* The other end goes on, and its messages wait. */
	ends_write(&ends, 1, 20);
	ends_settle(&ends);
	assert_int_equal(stream(1)->theirs, PLX_SAN_THEIRS_KEPT);
	ends_take(&ends, 0);
	ends_drain(&ends);
	assert_int_equal(ends.end[0].read_bytes, 20);
	assert_int_equal(ends.end[1].read_bytes, 10);
	assert_int_equal(stream(1)->epoch, 0);
	assert_int_equal(ends.end[0].passes, 1);
}

/* What the other end offers stays offered: it is READ on by the next process. */
static void
an_offer_stays_when_it_passes(void **state)
{
	uint32_t passes = 0;

	(void)state;
	begin();
	assert_true(ends_offer(&ends, 1, 5000));
	ends_settle(&ends);
	while (ends.end[0].read_bytes < 5000) {
		plx_san_pass(stream(0));
		ends_settle(&ends);
		ends_take(&ends, 0);
		assert_true(ends_read(&ends, 0, 300) > 0);
		ends_settle(&ends);
		passes++;
	}
	ends_settle(&ends);
	assert_int_equal(ends.end[1].ended, 1);
	assert_int_equal(ends.end[0].passes, passes);
	assert_true(passes > 5000 / 300);
}

/* A process that passes it answers a SUSPEND before, and the next one waits for RESUME. */
static void
it_passes_while_the_other_end_is_away(void **state)
{
	(void)state;
	begin();
	plx_san_suspend(stream(1));
	assert_sends(1, PLX_SAN_SUSPEND);
	assert_true(ends_deliver(&ends, 0));
	plx_san_pass(stream(0));
	ends_settle(&ends);
	assert_int_equal(stream(0)->mine, PLX_SAN_MINE_GIVEN);
	assert_int_equal(stream(0)->theirs, PLX_SAN_THEIRS_ANSWERED);
	assert_int_equal(stream(1)->mine, PLX_SAN_MINE_GIVEN);
	ends_take(&ends, 0);
	assert_int_equal(ends_write(&ends, 0, 10), 10);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_NOTHING);
	ends_drain(&ends);
	assert_int_equal(ends.end[1].read_bytes, 10);
	assert_int_equal(stream(0)->epoch, 1);
}

/* ---- both at once ---- */

/* S16: the end that connected goes first. */
static void
both_ends_at_once(void **state)
{
	(void)state;
	begin();
	plx_san_suspend(stream(0));
	plx_san_suspend(stream(1));
	assert_sends(0, PLX_SAN_SUSPEND);
	assert_sends(1, PLX_SAN_SUSPEND);
	ends_settle(&ends);
	assert_int_equal(stream(0)->mine, PLX_SAN_MINE_GIVEN);
	assert_int_equal(stream(1)->mine, PLX_SAN_MINE_GRANTED);
	ends_take(&ends, 0);
	ends_settle(&ends);
	assert_int_equal(stream(0)->theirs, PLX_SAN_THEIRS_ANSWERED);
	assert_int_equal(stream(1)->mine, PLX_SAN_MINE_GIVEN);
	ends_take(&ends, 1);
	ends_settle(&ends);
	assert_int_equal(stream(0)->theirs, PLX_SAN_THEIRS_KEPT);
	assert_int_equal(stream(0)->epoch, 2);
	assert_int_equal(stream(1)->epoch, 2);
}

static void
a_thousand_crossings_under_load(void **state)
{
	(void)state;
	begin();
	for (uint32_t k = 0; k < CROSSINGS; k++) {
		for (uint32_t i = 0; i < 2; i++) {
			ends_write(&ends, i, 150);
			plx_san_suspend(stream(i));
		}
		ends_drain(&ends);
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ends.end[i].gives, CROSSINGS);
		assert_int_equal(ends.end[i].read_bytes, 150 * CROSSINGS);
	}
}

/* ---- nobody answers ---- */

static void
settle_but(uint32_t dead)
{
	while (ends_step(&ends, 1 - dead) != PLX_SAN_DO_NOTHING)
		;
	while (ends_complete_send(&ends, 1 - dead))
		;
}

/* S21 */
static void
a_suspension_ends_in_time(void **state)
{
	(void)state;
	begin();
	assert_int_equal(plx_san_timer(stream(0)), PLX_NEVER);
	plx_san_suspend(stream(0));
	settle_but(1);
	assert_int_equal(plx_san_timer(stream(0)), SUSPEND_NS);
	plx_san_on_time(stream(0), SUSPEND_NS - 1);
	assert_int_equal(stream(0)->end, PLX_SAN_END_NOT);
	plx_san_on_time(stream(0), SUSPEND_NS);
	assert_int_equal(stream(0)->end, PLX_SAN_END_TIMEOUT);
	assert_int_equal(plx_san_timer(stream(0)), PLX_NEVER);
}

static void
who_is_suspended_does_not_wait_for_ever(void **state)
{
	(void)state;
	begin();
	plx_san_suspend(stream(0));
	ends_settle(&ends); /* nobody takes it */
	assert_int_equal(plx_san_timer(stream(0)), PLX_NEVER);
	assert_int_equal(plx_san_timer(stream(1)), SUSPEND_NS);
	plx_san_on_time(stream(1), SUSPEND_NS);
	assert_int_equal(stream(1)->end, PLX_SAN_END_TIMEOUT);
}

static void
who_resumed_is_not_timed(void **state)
{
	(void)state;
	begin();
	swap(0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(plx_san_timer(stream(i)), PLX_NEVER);
		plx_san_on_time(stream(i), 2 * SUSPEND_NS);
		assert_int_equal(stream(i)->end, PLX_SAN_END_NOT);
	}
}

/* The other process has gone before anything was sent. */
static void
what_was_not_begun_is_taken_back(void **state)
{
	(void)state;
	begin();
	ends_offer(&ends, 0, 5000);
	plx_san_suspend(stream(0));
	ends_settle(&ends);
	plx_san_resume(stream(0));
	ends_drain(&ends);
	assert_int_equal(ends.end[0].gives, 0);
	assert_int_equal(ends_write(&ends, 0, 1), 1);
	assert_int_equal(stream(1)->epoch, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_steps_have_their_order),
		cmocka_unit_test(sends_are_complete_before_suspend),
		cmocka_unit_test(a_large_transfer_ends_first),
		cmocka_unit_test(the_other_ends_large_transfer_goes_on_afterwards),
		cmocka_unit_test(bytes_that_were_not_read_stay),
		cmocka_unit_test(bytes_that_were_not_sent_are_sent_afterwards),
		cmocka_unit_test(the_other_end_can_write_meanwhile),
		cmocka_unit_test(it_needs_no_credit),
		cmocka_unit_test(fin_and_mark_travel_along),
		cmocka_unit_test(it_passes_without_a_message),
		cmocka_unit_test(an_offer_stays_when_it_passes),
		cmocka_unit_test(it_passes_while_the_other_end_is_away),
		cmocka_unit_test(both_ends_at_once),
		cmocka_unit_test(a_thousand_crossings_under_load),
		cmocka_unit_test(a_suspension_ends_in_time),
		cmocka_unit_test(who_is_suspended_does_not_wait_for_ever),
		cmocka_unit_test(who_resumed_is_not_timed),
		cmocka_unit_test(what_was_not_begun_is_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
