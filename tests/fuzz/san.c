/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target of one end of a stream: a peer that sends any messages, a program that makes any
 * calls, and another process that leaves any state. The stream stays valid, asks for nothing
 * outside its rings, sends no more than it has credits, and comes to rest.
 * Start with LLVMFuzzerTestOneInput().
 */
#include "plx_san_stream.h"
#include "check.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	RING = 512,
	CREDITS = 3,
	PAYLOAD = 100,
	LONGEST = PLX_SAN_HEAD_MAX + 2 * PAYLOAD,
	STEPS_MAX = 1000, /* until it rests */
};

struct world {
	struct plx_san_stream stream;
	struct plx_san_rings rings;
	uint8_t in[RING], out[RING];
	struct input input;
};

static const struct plx_san_descriptor somewhere = {.length = 1, .bytes = {1}};

/* ---- what it asks for ---- */

static void
check_range(const struct plx_san_range *range)
{
	CHECK(range->first <= range->bytes && range->bytes <= RING);
	CHECK(range->at < RING && range->first <= RING - range->at);
}

static void
check_send(const struct plx_san_stream *stream, const struct plx_san_next *next)
{
	struct plx_san_message m;
	uint8_t message[LONGEST];
	uint32_t at;

	check_range(&next->ring);
	CHECK(next->ring.bytes <= PAYLOAD && next->head_bytes <= PLX_SAN_HEAD_MAX);
	CHECK(stream->out.posted - stream->out.messages <= stream->out.credits);
	memset(message, 0, sizeof(message));
	memcpy(message, next->head, next->head_bytes);
	CHECK(plx_san_decode(message, next->head_bytes + next->ring.bytes, &m, &at) ==
	      PLX_SAN_DECODED);
	CHECK(m.kind == next->kind);
}

static void
obey(struct plx_san_stream *stream, const struct plx_san_next *next)
{
	if (next->what == PLX_SAN_DO_SEND) {
		check_send(stream, next);
		plx_san_on_sent(stream, 1);
	} else if (next->what == PLX_SAN_DO_READ) {
		check_range(&next->ring);
		plx_san_on_read(stream);
	} else if (next->what == PLX_SAN_DO_WRITE) {
		plx_san_on_written(stream);
	} else if (next->what == PLX_SAN_DO_EXPOSE) {
		check_range(&next->ring);
		CHECK(next->ring.bytes == next->ring.first);
		plx_san_on_exposed(stream, &somewhere);
	} else if (next->what == PLX_SAN_DO_OFFER_AGAIN) {
		plx_san_on_offered_again(stream, &somewhere);
	}
}

/* What another process has left, with a byte that it chose; the rings are as they were. */
static void
take(struct world *w)
{
	struct plx_san_stream left = w->stream;
	uint8_t *bytes = (uint8_t *)&left;
	const struct plx_san_config *config = &left.config;

	CHECK(plx_san_can_take(&left));
	if (input_byte(&w->input) & 1)
		bytes[input_word(&w->input) % sizeof(left)] = input_byte(&w->input);
	if (plx_san_can_take(&left) && config->in_bytes == RING && config->out_bytes == RING &&
	    config->payload_bytes <= PAYLOAD)
		w->stream = left;
	plx_san_resume(&w->stream);
}

/* Of a process that has not given it away. */
static void
inherit(struct world *w)
{
	struct plx_san_stream left = w->stream;
	uint8_t *bytes = (uint8_t *)&left;
	const struct plx_san_config *config = &left.config;

	if (input_byte(&w->input) & 1)
		bytes[input_word(&w->input) % sizeof(left)] = input_byte(&w->input);
	if (plx_san_inherit(&left) && config->in_bytes == RING && config->out_bytes == RING &&
	    config->payload_bytes <= PAYLOAD)
		w->stream = left;
}

static void
rest(struct world *w)
{
	struct plx_san_next next;
	uint32_t steps = 0;

	do {
		plx_san_next(&w->stream, 0, &next);
		CHECK(next.what < PLX_SAN_DO_COUNT && steps++ < STEPS_MAX);
		obey(&w->stream, &next);
		if (next.what == PLX_SAN_DO_GIVE)
			take(w);
		CHECK(plx_san_is_valid(&w->stream));
	} while (next.what != PLX_SAN_DO_NOTHING);
}

/* ---- what happens ---- */

/* One with counts that the other end could have. */
static uint32_t
build(struct world *w, uint8_t *message)
{
	const struct plx_san_stream *stream = &w->stream;
	uint8_t kind = input_byte(&w->input), more = input_byte(&w->input);
	struct plx_san_message m = {
		.kind = (enum plx_san_kind)(1 + kind % (PLX_SAN_KIND_COUNT - 1)),
		.epoch = stream->epoch,
		.credits_seen = stream->out.credit_messages,
		.posted = stream->out.messages + CREDITS,
	};

	if (m.kind == PLX_SAN_DATA || m.kind == PLX_SAN_OFFER)
		m.payload = more % (PAYLOAD + 2);
	if (m.kind == PLX_SAN_URGENT)
		m.payload = 1;
	if (m.kind == PLX_SAN_RESUME)
		m.epoch++;
	if (m.kind == PLX_SAN_HELLO) {
		m.posted = CREDITS;
		m.hello.version = PLX_SAN_VERSION;
		m.hello.reads = more & 1;
		m.hello.credits = CREDITS;
		m.hello.payload_bytes = PAYLOAD - 20;
	} else if (m.kind == PLX_SAN_OFFER) {
		m.offer.bytes = input_word(&w->input);
		if (stream->config.reads)
			m.offer.from = somewhere;
	} else if (m.kind == PLX_SAN_READY) {
		m.ready.bytes = 1 + more;
		m.ready.to = somewhere;
	} else if (m.kind == PLX_SAN_SUSPEND) {
		m.suspend.read = more;
	}
	return plx_san_encode(&m, message) + m.payload;
}

static void
deliver(struct world *w, bool any)
{
	uint8_t message[LONGEST] = {0}, reads[LONGEST];
	struct plx_san_sink sink = {reads, input_byte(&w->input) % LONGEST};
	uint32_t n;

	if (any) {
		n = input_byte(&w->input) % LONGEST;
		for (uint32_t i = 0; i < n; i++)
			message[i] = input_byte(&w->input);
	} else {
		n = build(w, message);
	}
	w->rings.sink = &sink;
	plx_san_on_message(&w->stream, &w->rings, message, n);
	w->rings.sink = NULL;
}

static void
program(struct world *w, uint8_t what)
{
	static const uint8_t bytes[RING];
	uint32_t n = 2 * (uint32_t)input_byte(&w->input);
	uint8_t read[RING];

	switch (what % 8) {
	case 0:
		plx_san_write(&w->stream, &w->rings, bytes, n);
		break;
	case 1:
		plx_san_read(&w->stream, &w->rings, read, n, n & 2);
		break;
	case 2:
		plx_san_write_urgent(&w->stream, (uint8_t)n);
		break;
	case 3:
		plx_san_offer(&w->stream, n, plx_san_offers_reads(&w->stream) ? &somewhere : NULL);
		break;
	case 4:
		if (n & 2)
			plx_san_suspend(&w->stream);
		else if (n & 4)
			inherit(w);
		else
			plx_san_pass(&w->stream);
		break;
	case 5:
		plx_san_shut(&w->stream);
		break;
	case 6:
		plx_san_read_urgent(&w->stream, read, n & 2);
		break;
	default:
		plx_san_on_time(&w->stream, n);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	uint8_t flags;

	memset(&w, 0, sizeof(w));
	w.input = (struct input){data, size};
	w.rings = (struct plx_san_rings){.in = w.in, .out = w.out};
	flags = input_byte(&w.input);
	CHECK(plx_san_begin(&w.stream, &(struct plx_san_config){.connects = flags & 1,
								.reads = flags & 2,
								.credits = CREDITS,
								.payload_bytes = PAYLOAD,
								.in_bytes = RING,
								.out_bytes = RING,
								.sends = 4,
								.suspend_ns = 100}) == PLX_OK);
	while (w.input.left > 0) {
		uint8_t what = input_byte(&w.input);

		if (what < 140)
			deliver(&w, what < 16);
		else
			program(&w, what);
		CHECK(plx_san_is_valid(&w.stream));
		rest(&w);
	}
	return 0;
}
