/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between engine 0 and the other engines of its group, on rings of their own. A message
 * that finds no room was not sent: its sender keeps what it is about, and sends it later.
 * Start with engine_message_send().
 */
#include "plx_engine_member.h"

_Static_assert(sizeof(struct engine_message) % 4 == 0, "ring entries go by words");

bool
engine_message_send(struct plx_engine *engine, uint32_t to, const struct engine_message *message)
{
	struct engine_member *self = engine->member;

	if (plx_ring_enqueue(self->messages_out[to], sizeof(*message), message, 1) == 0)
		return false;
	engine_member_tell(&self->group->member[to], 1u << (MESSAGES_BIT + self->index));
	return true;
}

static void
receive(struct plx_engine *engine, const struct engine_message *message)
{
	if (message->kind == ENGINE_MESSAGE_RESOLVE)
		engine_neighbour_want(engine, &message->ip);
	else
		engine->link->on_message(engine, message);
}

void
engine_messages_serve(struct plx_engine *engine)
{
	struct engine_member *self = engine->member;
	struct engine_message messages[MESSAGES_BURST];

	for (uint32_t bits = self->messages_from; bits != 0; bits &= bits - 1) {
		uint32_t from = (uint32_t)__builtin_ctz(bits);
		uint32_t n = plx_ring_dequeue(self->messages_in[from], sizeof(messages[0]),
					      messages, MESSAGES_BURST);

		for (uint32_t i = 0; i < n; i++)
			receive(engine, &messages[i]);
		if (n < MESSAGES_BURST)
			self->messages_from &= ~(1u << from);
	}
}

void
engine_messages_fetch(struct plx_engine *engine)
{
	struct engine_member *self = engine->member;

	engine_fetch_news(self);
	/* A ring holds no more than this: who keeps on sending is not waited for. */
	for (uint32_t n = 0; n <= MESSAGES_MAX && self->messages_from != 0; n += MESSAGES_BURST)
		engine_messages_serve(engine);
}
