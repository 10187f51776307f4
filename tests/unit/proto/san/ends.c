/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ends of a stream. Start with ends_step().
 */
#include "ends.h"

enum {
	OFFER_LENGTH = 12, /* [bytes] of a descriptor: whose, of what */
	ROUNDS_MAX = 1000000,
};

const struct plx_san_config ends_config = {
	.reads = true,
	.credits = CREDITS,
	.payload_bytes = PAYLOAD,
	.in_bytes = IN,
	.out_bytes = OUT,
	.sends = 8,
	.suspend_ns = SUSPEND_NS,
};

/* The byte at a position of what an end writes. */
static uint8_t
pattern(uint32_t from, uint64_t at)
{
	return (uint8_t)(at * 31 + (at >> 8) * 7 + from * 101 + 5);
}

static uint32_t
other(uint32_t i)
{
	return 1 - i;
}

void
ends_begin(struct ends *ends, const struct plx_san_config *a, const struct plx_san_config *b)
{
	memset(ends, 0, sizeof(*ends));
	for (uint32_t i = 0; i < 2; i++) {
		struct plx_san_config config = i == 0 ? *a : *b;
		struct end *end = &ends->end[i];

		config.connects = i == 0;
		assert_true(config.in_bytes <= ENDS_RING_MAX && config.out_bytes <= ENDS_RING_MAX);
		assert_true(plx_san_receives(&config) <= ENDS_RECEIVES_MAX);
		assert_int_equal(plx_san_begin(&end->stream, &config), PLX_OK);
		end->rings = (struct plx_san_rings){.in = end->in, .out = end->out};
	}
}

/* ---- the connection ---- */

static bool
is_data(const struct ends_message *message)
{
	return plx_san_is_data((enum plx_san_kind)message->bytes[0]);
}

/* One receive for each message, and none of those for messages without a credit for data. */
static void
check_inbox(const struct end *to)
{
	uint32_t data = 0;

	for (uint32_t i = 0; i < to->inbox_count; i++)
		data += is_data(&to->inbox[(to->inbox_first + i) % ENDS_RECEIVES_MAX]);
	assert_true(data <= to->stream.config.credits);
	assert_true(to->inbox_count - data <= PLX_SAN_RESERVED);
}

static void
send(struct ends *ends, uint32_t i, const struct plx_san_next *next)
{
	struct end *from = &ends->end[i], *to = &ends->end[other(i)];
	uint32_t slot = (to->inbox_first + to->inbox_count) % ENDS_RECEIVES_MAX;
	struct ends_message *message = &to->inbox[slot];
	const struct plx_san_range *ring = &next->ring;
	struct ends_sent *sent;

	assert_true(next->head_bytes + next->bytes <= ENDS_MESSAGE_MAX);
	memcpy(message->bytes, next->head, next->head_bytes);
	memcpy(message->bytes + next->head_bytes, from->out + ring->at, ring->first);
	memcpy(message->bytes + next->head_bytes + ring->first, from->out,
	       ring->bytes - ring->first);
	message->n = next->head_bytes + next->bytes;
	sent = &from->sent[(from->sent_first + from->sends) % PLX_SAN_SENDS_MAX];
	sent->ring = *ring;
	memcpy(sent->bytes, message->bytes + next->head_bytes, next->bytes);
	to->inbox_count++;
	from->sends++;
	assert_true(from->sends <= from->stream.config.sends);
	check_inbox(to);
}

static void
check_mark(const struct end *end, const struct end *peer)
{
	assert_true(end->stream.in.marked);
	assert_int_equal(end->stream.in.mark - end->large_read,
			 peer->urgent_at[end->stream.in.urgent_byte]);
}

bool
ends_deliver(struct ends *ends, uint32_t i)
{
	struct end *end = &ends->end[i];
	struct ends_message *message = &end->inbox[end->inbox_first];

	/* Between two processes nobody looks. */
	if (end->inbox_count == 0 || end->stream.mine == PLX_SAN_MINE_GIVEN)
		return false;
	end->inbox_first = (end->inbox_first + 1) % ENDS_RECEIVES_MAX;
	end->inbox_count--;
	plx_san_on_message(&end->stream, &end->rings, message->bytes, message->n);
	if (end->stream.end != PLX_SAN_END_NOT)
		print_message("end %u: the other end %s: %s\n", i,
			      plx_san_end_text((enum plx_san_end)end->stream.end),
			      plx_san_kind_text((enum plx_san_kind)message->bytes[0]));
	assert_int_equal(end->stream.end, PLX_SAN_END_NOT);
	assert_true(plx_san_is_valid(&end->stream));
	if (message->bytes[0] == PLX_SAN_URGENT)
		check_mark(end, &ends->end[other(i)]);
	return true;
}

/* The oldest SEND is complete; the end does not know it yet. */
static void
complete_send(struct end *end)
{
	const struct ends_sent *sent = &end->sent[end->sent_first];

	/* Until now the bytes could be sent again. */
	assert_memory_equal(end->out + sent->ring.at, sent->bytes, sent->ring.first);
	assert_memory_equal(end->out, sent->bytes + sent->ring.first,
			    sent->ring.bytes - sent->ring.first);
	end->sent_first = (end->sent_first + 1) % PLX_SAN_SENDS_MAX;
	end->sends--;
}

bool
ends_complete_send(struct ends *ends, uint32_t i)
{
	struct end *end = &ends->end[i];

	if (end->sends == 0)
		return false;
	complete_send(end);
	plx_san_on_sent(&end->stream, 1);
	return true;
}

/* ---- RDMA ---- */

static struct plx_san_descriptor
descriptor_of(uint32_t whose, uint64_t from)
{
	struct plx_san_descriptor out = {.length = OFFER_LENGTH};

	memcpy(out.bytes, &whose, sizeof(whose));
	memcpy(out.bytes + sizeof(whose), &from, sizeof(from));
	return out;
}

static uint64_t
place_of(const struct plx_san_descriptor *descriptor, uint32_t whose)
{
	uint64_t from;

	assert_int_equal(descriptor->length, OFFER_LENGTH);
	assert_memory_equal(descriptor->bytes, &whose, sizeof(whose));
	memcpy(&from, descriptor->bytes + sizeof(whose), sizeof(from));
	return from;
}

static void
fill(uint8_t *ring, const struct plx_san_range *range, uint32_t from, uint64_t at)
{
	for (uint32_t k = 0; k < range->bytes; k++) {
		uint32_t place = k < range->first ? range->at + k : k - range->first;

		ring[place] = pattern(from, at + k);
	}
}

static void
read_is_complete(struct ends *ends, uint32_t i)
{
	struct end *end = &ends->end[i], *peer = &ends->end[other(i)];
	uint64_t from = place_of(&end->read.descriptor, other(i));

	assert_true(peer->registered);
	assert_int_equal(from, peer->registered_from);
	fill(end->in, &end->read.ring, other(i), from + end->read.offset);
	end->large_read += end->read.bytes;
	end->reading = false;
	plx_san_on_read(&end->stream);
}

static void
write_is_complete(struct ends *ends, uint32_t i)
{
	struct end *end = &ends->end[i], *peer = &ends->end[other(i)];

	assert_true(peer->exposed);
	assert_int_equal(place_of(&end->write.descriptor, other(i)), peer->exposed_range.at);
	assert_int_equal(end->write.bytes, peer->exposed_range.bytes);
	fill(peer->in, &peer->exposed_range, i, end->large_from + end->write.offset);
	peer->large_read += end->write.bytes;
	end->writing = false;
	plx_san_on_written(&end->stream);
}

bool
ends_complete_rdma(struct ends *ends, uint32_t i)
{
	if (ends->end[i].reading)
		read_is_complete(ends, i);
	else if (ends->end[i].writing)
		write_is_complete(ends, i);
	else
		return false;
	assert_true(plx_san_is_valid(&ends->end[i].stream));
	return true;
}

/* ---- steps ---- */

static void
expose(struct end *end, uint32_t i, const struct plx_san_next *next)
{
	const struct plx_san_descriptor at = descriptor_of(i, next->ring.at);

	end->exposed = true;
	end->exposed_range = next->ring;
	plx_san_on_exposed(&end->stream, &at);
}

static void
offer_again(struct end *end, uint32_t i, const struct plx_san_next *next)
{
	struct plx_san_descriptor at;

	assert_false(end->registered);
	end->registered = true;
	end->registered_from = end->large_from + next->offset;
	at = descriptor_of(i, end->registered_from);
	plx_san_on_offered_again(&end->stream, &at);
}

/* S4: only receives are pending on both ends, and nothing is registered for RDMA; when it passes,
 * this end alone. */
static void
check_give(const struct ends *ends, uint32_t giver)
{
	for (uint32_t i = 0; i < 2; i++) {
		const struct end *end = &ends->end[i];

		if (i != giver && ends->end[giver].stream.silent)
			continue;
		assert_false(end->registered || end->exposed || end->reading || end->writing);
		/* Of a crossing, the other end's SUSPEND may be acknowledged and not completed. */
		assert_int_equal(end->stream.out.sends, end->sends);
	}
}

enum plx_san_do
ends_step(struct ends *ends, uint32_t i)
{
	struct end *end = &ends->end[i];
	struct plx_san_next next;

	plx_san_next(&end->stream, ends->now, &next);
	switch (next.what) {
	case PLX_SAN_DO_SEND:
		send(ends, i, &next);
		break;
	case PLX_SAN_DO_READ:
		assert_false(end->reading);
		end->reading = true;
		end->read = next;
		break;
	case PLX_SAN_DO_WRITE:
		assert_false(end->writing);
		end->writing = true;
		end->write = next;
		break;
	case PLX_SAN_DO_EXPOSE:
		expose(end, i, &next);
		break;
	case PLX_SAN_DO_CONCEAL:
		assert_true(end->exposed);
		end->exposed = false;
		end->conceals++;
		break;
	case PLX_SAN_DO_OFFER_AGAIN:
		offer_again(end, i, &next);
		break;
	case PLX_SAN_DO_END_LARGE:
		end->registered = false;
		end->ended++;
		break;
	case PLX_SAN_DO_RELEASE_RDMA:
		assert_false(end->reading || end->writing || end->exposed);
		end->registered = false;
		break;
	case PLX_SAN_DO_RELEASE_SENDS:
		assert_int_equal(end->sends, 0);
		break;
	case PLX_SAN_DO_GIVE:
		check_give(ends, i);
		end->gives += !end->stream.silent;
		end->passes += end->stream.silent;
		break;
	case PLX_SAN_DO_NOTHING:
	case PLX_SAN_DO_COUNT:
		break;
	}
	assert_true(plx_san_is_valid(&end->stream));
	return next.what;
}

/* ---- programs ---- */

uint32_t
ends_write(struct ends *ends, uint32_t i, uint32_t n)
{
	struct end *end = &ends->end[i];
	uint8_t bytes[ENDS_RING_MAX];

	for (uint32_t k = 0; k < n; k++)
		bytes[k] = pattern(i, end->written + k);
	n = plx_san_write(&end->stream, &end->rings, bytes, n);
	end->written += n;
	return n;
}

bool
ends_write_urgent(struct ends *ends, uint32_t i)
{
	struct end *end = &ends->end[i];
	uint8_t byte = (uint8_t)(end->urgent + 1);

	if (!plx_san_write_urgent(&end->stream, byte))
		return false;
	end->urgent = byte;
	end->urgent_at[byte] = end->stream.out.put;
	return true;
}

bool
ends_offer(struct ends *ends, uint32_t i, uint32_t n)
{
	struct end *end = &ends->end[i];
	bool reads = plx_san_offers_reads(&end->stream);
	struct plx_san_descriptor at = descriptor_of(i, end->written);

	if (!plx_san_offer(&end->stream, n, reads ? &at : NULL))
		return false;
	end->registered = reads;
	end->registered_from = end->large_from = end->written;
	end->written += n;
	return true;
}

/* Returns: `n` */
static uint32_t
check(struct ends *ends, uint32_t i, const uint8_t *bytes, uint32_t n)
{
	struct end *end = &ends->end[i];

	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(bytes[k], pattern(other(i), end->read_bytes + k));
	end->read_bytes += n;
	return n;
}

uint32_t
ends_read(struct ends *ends, uint32_t i, uint32_t n)
{
	struct end *end = &ends->end[i];
	uint8_t bytes[ENDS_RING_MAX];

	return check(ends, i, bytes, plx_san_read(&end->stream, &end->rings, bytes, n, false));
}

uint32_t
ends_receive(struct ends *ends, uint32_t i, uint32_t n)
{
	struct end *end = &ends->end[i];
	uint8_t bytes[ENDS_RING_MAX];
	struct plx_san_sink sink = {bytes, n};

	end->rings.sink = &sink;
	(void)ends_deliver(ends, i);
	end->rings.sink = NULL;
	return check(ends, i, bytes, n - sink.room);
}

void
ends_take(struct ends *ends, uint32_t i)
{
	struct plx_san_stream copy = ends->end[i].stream;

	assert_true(plx_san_can_take(&copy));
	plx_san_resume(&copy);
	ends->end[i].stream = copy;
}

bool
ends_inherit(struct ends *ends, uint32_t i)
{
	struct plx_san_stream copy = ends->end[i].stream;
	struct end *end = &ends->end[i];

	if (!plx_san_inherit(&copy))
		return false;
	assert_true(plx_san_is_valid(&copy));
	while (end->sends > 0)
		complete_send(end);
	end->stream = copy;
	return true;
}

/* ---- until nothing happens ---- */

static bool
turn(struct ends *ends, uint32_t i)
{
	bool moved = ends_step(ends, i) != PLX_SAN_DO_NOTHING;

	moved |= ends_deliver(ends, i);
	moved |= ends_complete_send(ends, i);
	return ends_complete_rdma(ends, i) || moved;
}

void
ends_settle(struct ends *ends)
{
	uint32_t rounds = 0;
	bool moved;

	do {
		moved = turn(ends, 0);
		moved |= turn(ends, 1);
		assert_true(rounds++ < ROUNDS_MAX);
	} while (moved);
}

void
ends_drain(struct ends *ends)
{
	uint32_t rounds = 0;
	bool moved;

	do {
		ends_settle(ends);
		moved = false;
		for (uint32_t i = 0; i < 2; i++) {
			moved |= ends_read(ends, i, ENDS_RING_MAX) > 0;
			if (ends->end[i].stream.mine != PLX_SAN_MINE_GIVEN)
				continue;
			ends_take(ends, i);
			moved = true;
		}
		assert_true(rounds++ < ROUNDS_MAX);
	} while (moved);
}
