/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A peer that lies: each message that does not fit ends the stream with its reason and changes
 * nothing else; and no sequence of messages leaves the rings or asserts.
 * Start with what_does_not_fit_ends_the_stream().
 */
#include "ends.h"

enum {
	STRANGERS = 20000,
	MESSAGES = 60, /* of each */
};

static struct ends ends;

static const struct plx_san_descriptor somewhere = {.length = 1, .bytes = {1}};

/* ---- one message ---- */

/* A message as the other end could send it, but for what a case changes. */
static struct plx_san_message
fitting(enum plx_san_kind kind)
{
	const struct plx_san_stream *from = &ends.end[1].stream;
	struct plx_san_message m = {.kind = kind,
				    .credits_seen = from->in.credits,
				    .epoch = from->epoch,
				    .posted = from->in.posted};

	if (kind == PLX_SAN_DATA || kind == PLX_SAN_URGENT)
		m.payload = 1;
	if (kind == PLX_SAN_RESUME)
		m.epoch++;
	if (kind == PLX_SAN_HELLO) {
		m.hello.version = PLX_SAN_VERSION;
		m.hello.credits = m.posted;
		m.hello.payload_bytes = PAYLOAD;
	} else if (kind == PLX_SAN_OFFER) {
		m.offer.bytes = 10;
		m.offer.from = somewhere;
	} else if (kind == PLX_SAN_READY) {
		m.ready.bytes = 10;
		m.ready.to = somewhere;
	}
	return m;
}

static void
deliver(const struct plx_san_message *m)
{
	uint8_t bytes[PLX_SAN_HEAD_MAX + 2 * PAYLOAD] = {0};
	uint32_t n = plx_san_encode(m, bytes) + m->payload;
	struct end *end = &ends.end[0];

	plx_san_on_message(&end->stream, &end->rings, bytes, n);
	assert_true(plx_san_is_valid(&end->stream));
}

/* End 0 refuses it, for this reason, and remembers nothing of it. */
static void
refuses(const struct plx_san_message *m, enum plx_san_end why)
{
	static struct plx_san_stream before;
	static uint8_t ring[IN];

	before = ends.end[0].stream;
	memcpy(ring, ends.end[0].in, IN);
	deliver(m);
	assert_int_equal(ends.end[0].stream.end, why);
	ends.end[0].stream.end = PLX_SAN_END_NOT;
	ends.end[0].stream.deadline = before.deadline;
	assert_memory_equal(&ends.end[0].stream, &before, sizeof(before));
	assert_memory_equal(ends.end[0].in, ring, IN);
}

static void
refuses_kind(enum plx_san_kind kind)
{
	const struct plx_san_message m = fitting(kind);

	refuses(&m, PLX_SAN_END_UNEXPECTED);
}

static void
accepts(enum plx_san_kind kind)
{
	const struct plx_san_message m = fitting(kind);

	deliver(&m);
	assert_int_equal(ends.end[0].stream.end, PLX_SAN_END_NOT);
}

static void
begin(void)
{
	ends_begin(&ends, &ends_config, &ends_config);
	ends_settle(&ends);
}

/* ---- the cases ---- */

static void
what_does_not_fit_ends_the_stream(void **state)
{
	static const enum plx_san_kind unasked[] = {PLX_SAN_HELLO,     PLX_SAN_READY,
						    PLX_SAN_WRITTEN,   PLX_SAN_DONE,
						    PLX_SAN_SUSPENDED, PLX_SAN_RESUME};

	(void)state;
	begin();
	for (uint32_t i = 0; i < PLX_COUNT_OF(unasked); i++)
		refuses_kind(unasked[i]);
}

static void
nothing_comes_before_hello(void **state)
{
	(void)state;
	for (unsigned kind = 1; kind < PLX_SAN_KIND_COUNT; kind++) {
		ends_begin(&ends, &ends_config, &ends_config);
		assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_SEND);
		if (kind == PLX_SAN_HELLO)
			accepts(PLX_SAN_HELLO);
		else
			refuses_kind((enum plx_san_kind)kind);
	}
	/* Nor does the answer before the question. */
	ends_begin(&ends, &ends_config, &ends_config);
	refuses_kind(PLX_SAN_HELLO);
}

static void
another_version_has_a_reason_of_its_own(void **state)
{
	struct plx_san_message m;

	(void)state;
	ends_begin(&ends, &ends_config, &ends_config);
	ends_step(&ends, 0);
	m = fitting(PLX_SAN_HELLO);
	m.hello.version++;
	refuses(&m, PLX_SAN_END_VERSION);
	m = fitting(PLX_SAN_HELLO);
	m.hello.credits = 0;
	refuses(&m, PLX_SAN_END_BAD_MESSAGE);
	m = fitting(PLX_SAN_HELLO);
	m.posted++;
	refuses(&m, PLX_SAN_END_CREDITS);
}

static void
of_another_epoch(void **state)
{
	struct plx_san_message m;

	(void)state;
	begin();
	m = fitting(PLX_SAN_DATA);
	m.epoch++;
	refuses(&m, PLX_SAN_END_UNEXPECTED);
	m.epoch -= 2;
	refuses(&m, PLX_SAN_END_UNEXPECTED);
}

static void
credits_are_counted(void **state)
{
	struct plx_san_message m;

	(void)state;
	begin();
	m = fitting(PLX_SAN_CREDIT);
	m.posted = CREDITS + 1; /* more than it has receives */
	refuses(&m, PLX_SAN_END_CREDITS);
	m.posted = CREDITS - 1; /* fewer than before */
	refuses(&m, PLX_SAN_END_CREDITS);
	m = fitting(PLX_SAN_CREDIT);
	m.credits_seen = 1; /* none was sent */
	refuses(&m, PLX_SAN_END_CREDITS);
	m = fitting(PLX_SAN_DATA);
	m.payload = PAYLOAD + 1;
	refuses(&m, PLX_SAN_END_CREDITS);
	accepts(PLX_SAN_CREDIT);
	m = fitting(PLX_SAN_CREDIT); /* a second one, before the first was seen */
	refuses(&m, PLX_SAN_END_CREDITS);
}

static void
more_data_than_credits(void **state)
{
	struct plx_san_message m;

	(void)state;
	begin();
	m = fitting(PLX_SAN_DATA);
	m.payload = PAYLOAD;
	for (uint32_t i = 0; i < CREDITS; i++)
		deliver(&m);
	assert_int_equal(ends.end[0].stream.end, PLX_SAN_END_NOT);
	refuses(&m, PLX_SAN_END_CREDITS);
}

static void
nothing_follows_fin_or_an_offer(void **state)
{
	static const enum plx_san_kind data[] = {PLX_SAN_DATA, PLX_SAN_URGENT, PLX_SAN_OFFER,
						 PLX_SAN_FIN};

	(void)state;
	begin();
	accepts(PLX_SAN_FIN);
	for (uint32_t i = 0; i < PLX_COUNT_OF(data); i++)
		refuses_kind(data[i]);
	begin();
	accepts(PLX_SAN_OFFER);
	for (uint32_t i = 0; i < PLX_COUNT_OF(data); i++)
		refuses_kind(data[i]);
	refuses_kind(PLX_SAN_SUSPEND); /* its own transfer is not over */
}

static void
offers_are_of_the_agreed_way(void **state)
{
	struct plx_san_message m;

	(void)state;
	begin();
	m = fitting(PLX_SAN_OFFER);
	m.offer.from.length = 0;
	m.offer.from.bytes[0] = 0;
	refuses(&m, PLX_SAN_END_UNEXPECTED);
	/* It READs what is offered, and says READY for nothing. */
	ends_offer(&ends, 0, 10);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_SEND);
	refuses_kind(PLX_SAN_READY);
	accepts(PLX_SAN_DONE);
	refuses_kind(PLX_SAN_DONE);
}

static void
ready_is_within_the_offer(void **state)
{
	struct plx_san_config mute = ends_config;
	struct plx_san_message m;

	(void)state;
	mute.reads = false;
	ends_begin(&ends, &ends_config, &mute);
	ends_settle(&ends);
	refuses_kind(PLX_SAN_READY);
	ends_offer(&ends, 0, 10);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_SEND);
	refuses_kind(PLX_SAN_DONE);
	m = fitting(PLX_SAN_READY);
	m.ready.bytes = 11;
	refuses(&m, PLX_SAN_END_UNEXPECTED);
	accepts(PLX_SAN_READY);
	refuses_kind(PLX_SAN_READY); /* one at a time */
	refuses_kind(PLX_SAN_SUSPEND);
}

static void
who_is_suspended_is_silent(void **state)
{
	(void)state;
	begin();
	accepts(PLX_SAN_SUSPEND);
	for (unsigned kind = 1; kind < PLX_SAN_KIND_COUNT; kind++)
		refuses_kind((enum plx_san_kind)kind); /* RESUME, too: it was not answered */
	while (ends_step(&ends, 0) != PLX_SAN_DO_NOTHING)
		;
	for (unsigned kind = 1; kind < PLX_SAN_KIND_COUNT; kind++)
		if (kind != PLX_SAN_RESUME)
			refuses_kind((enum plx_san_kind)kind);
	accepts(PLX_SAN_RESUME);
	refuses_kind(PLX_SAN_RESUME);
}

static void
suspend_tells_what_was_read(void **state)
{
	struct plx_san_message m;

	(void)state;
	begin();
	m = fitting(PLX_SAN_SUSPEND);
	m.suspend.read = 1; /* nothing was offered */
	refuses(&m, PLX_SAN_END_UNEXPECTED);
	ends_offer(&ends, 0, 10);
	assert_int_equal(ends_step(&ends, 0), PLX_SAN_DO_SEND);
	m.suspend.read = 10; /* all of it: then it would have said DONE */
	refuses(&m, PLX_SAN_END_UNEXPECTED);
	m.suspend.read = 9;
	deliver(&m);
	assert_int_equal(ends.end[0].stream.end, PLX_SAN_END_NOT);
	assert_int_equal(ends.end[0].stream.out.rest, 1);
}

/* ---- any messages ---- */

static struct plx_san_message
draw(struct plx_prng *prng)
{
	const struct plx_san_stream *to = &ends.end[0].stream;
	struct plx_san_message m = {
		.kind = (enum plx_san_kind)(1 + plx_prng_below(prng, PLX_SAN_KIND_COUNT - 1)),
		.credits_seen = to->out.credit_messages,
		.epoch = to->epoch + (uint32_t)plx_prng_chance(prng, 30000),
		.posted = to->out.messages + (uint32_t)plx_prng_below(prng, CREDITS + 1),
	};

	if (m.posted - to->out.posted > CREDITS)
		m.posted = to->out.posted;
	if (m.kind == PLX_SAN_DATA || m.kind == PLX_SAN_OFFER)
		m.payload = 1 + (uint32_t)plx_prng_below(prng, PAYLOAD);
	if (m.kind == PLX_SAN_URGENT)
		m.payload = 1;
	if (m.kind == PLX_SAN_RESUME)
		m.epoch++;
	if (m.kind == PLX_SAN_OFFER) {
		m.offer.bytes = 1 + plx_prng_next(prng) / 2;
		m.offer.from = to->config.reads ? somewhere : (struct plx_san_descriptor){0};
	} else if (m.kind == PLX_SAN_READY) {
		m.ready.bytes = 1 + (uint32_t)plx_prng_below(prng, 1000);
		m.ready.to = somewhere;
	} else if (m.kind == PLX_SAN_SUSPEND) {
		m.suspend.read = plx_prng_below(prng, 2);
	}
	return m;
}

/* End 0 does what it is told; nothing that it asks for fails. */
static void
obey(struct plx_prng *prng)
{
	struct end *end = &ends.end[0];
	struct plx_san_next next;
	uint8_t bytes[IN];

	plx_san_read(&end->stream, &end->rings, bytes, (uint32_t)plx_prng_below(prng, IN), false);
	do {
		plx_san_next(&end->stream, 0, &next);
		assert_true(plx_san_is_valid(&end->stream));
		assert_true(next.what != PLX_SAN_DO_READ || next.ring.bytes <= IN);
		if (next.what == PLX_SAN_DO_SEND)
			plx_san_on_sent(&end->stream, 1);
		else if (next.what == PLX_SAN_DO_READ)
			plx_san_on_read(&end->stream);
		else if (next.what == PLX_SAN_DO_WRITE)
			plx_san_on_written(&end->stream);
		else if (next.what == PLX_SAN_DO_EXPOSE)
			plx_san_on_exposed(&end->stream, &somewhere);
		else if (next.what == PLX_SAN_DO_OFFER_AGAIN)
			plx_san_on_offered_again(&end->stream, &somewhere);
		else if (next.what == PLX_SAN_DO_GIVE)
			plx_san_resume(&end->stream);
	} while (next.what != PLX_SAN_DO_NOTHING);
}

static void
no_messages_break_a_stream(void **state)
{
	uint64_t accepted = 0, ended = 0;
	struct plx_prng prng;

	(void)state;
	for (uint32_t seed = 0; seed < STRANGERS; seed++) {
		struct plx_san_config mine = ends_config, theirs = ends_config;

		plx_prng_init(&prng, seed);
		mine.reads = plx_prng_chance(&prng, 500000);
		theirs.reads = plx_prng_chance(&prng, 500000);
		ends_begin(&ends, &mine, &theirs);
		ends_settle(&ends);
		for (uint32_t i = 0; i < MESSAGES; i++) {
			struct plx_san_message m = draw(&prng);

			deliver(&m);
			if (ends.end[0].stream.end != PLX_SAN_END_NOT) {
				ended++;
				if (plx_prng_chance(&prng, 200000))
					break;
				ends.end[0].stream.end =
					PLX_SAN_END_NOT; /* as if it had not come */
			} else {
				accepted++;
			}
			if (plx_prng_chance(&prng, 100000))
				plx_san_suspend(&ends.end[0].stream);
			ends_write(&ends, 0, (uint32_t)plx_prng_below(&prng, 200));
			if (plx_prng_chance(&prng, 100000))
				ends_offer(&ends, 0, 500);
			obey(&prng);
		}
	}
	assert_true(accepted > STRANGERS);
	assert_true(ended > STRANGERS);
}

/* What another process left is looked at before it is used. */
static void
a_stream_from_elsewhere_is_checked(void **state)
{
	struct plx_prng prng;
	uint32_t refused = 0;

	(void)state;
	plx_prng_init(&prng, 3);
	for (uint32_t i = 0; i < STRANGERS; i++) {
		struct end *end = &ends.end[0];
		uint8_t *bytes = (uint8_t *)&end->stream;

		begin();
		plx_san_suspend(&end->stream);
		ends_settle(&ends);
		assert_true(plx_san_can_take(&end->stream));
		bytes[plx_prng_below(&prng, sizeof(end->stream))] ^=
			(uint8_t)(1 + plx_prng_below(&prng, 255));
		/* The sizes of the rings are the segment's. */
		end->stream.config.in_bytes = IN;
		end->stream.config.out_bytes = OUT;
		if (!plx_san_can_take(&end->stream)) {
			refused++;
			continue;
		}
		plx_san_resume(&end->stream);
		for (uint32_t k = 0; k < MESSAGES / 10; k++) {
			struct plx_san_message m = draw(&prng);

			deliver(&m);
			ends_write(&ends, 0, 100);
			obey(&prng);
		}
	}
	assert_true(refused > STRANGERS / 10);
}

/* ... also of one that has not given it away. */
static void
a_stream_that_was_not_given_is_checked(void **state)
{
	struct plx_prng prng;
	uint32_t refused = 0;

	(void)state;
	plx_prng_init(&prng, 4);
	for (uint32_t i = 0; i < STRANGERS; i++) {
		struct end *end = &ends.end[0];
		uint8_t *bytes = (uint8_t *)&end->stream;

		begin();
		ends_write(&ends, 0, 100);
		(void)ends_step(&ends, 0);
		bytes[plx_prng_below(&prng, sizeof(end->stream))] ^=
			(uint8_t)(1 + plx_prng_below(&prng, 255));
		end->stream.config.in_bytes = IN;
		end->stream.config.out_bytes = OUT;
		if (!plx_san_inherit(&end->stream)) {
			refused++;
			continue;
		}
		assert_true(plx_san_is_valid(&end->stream));
		assert_int_equal(end->stream.out.sends, 0);
		for (uint32_t k = 0; k < MESSAGES / 10; k++) {
			struct plx_san_message m = draw(&prng);

			deliver(&m);
			plx_san_write(&end->stream, &end->rings, bytes, 100);
			obey(&prng);
		}
	}
	assert_true(refused > STRANGERS / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_fit_ends_the_stream),
		cmocka_unit_test(nothing_comes_before_hello),
		cmocka_unit_test(another_version_has_a_reason_of_its_own),
		cmocka_unit_test(of_another_epoch),
		cmocka_unit_test(credits_are_counted),
		cmocka_unit_test(more_data_than_credits),
		cmocka_unit_test(nothing_follows_fin_or_an_offer),
		cmocka_unit_test(offers_are_of_the_agreed_way),
		cmocka_unit_test(ready_is_within_the_offer),
		cmocka_unit_test(who_is_suspended_is_silent),
		cmocka_unit_test(suspend_tells_what_was_read),
		cmocka_unit_test(no_messages_break_a_stream),
		cmocka_unit_test(a_stream_from_elsewhere_is_checked),
		cmocka_unit_test(a_stream_that_was_not_given_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
