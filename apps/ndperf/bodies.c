/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of the bodies. Every field is accessed through one cursor, which notices when a body
 * ends early, so that no decoder can read past the end. Start with struct cursor.
 */
#include "bodies.h"

#include "numbers.h"
#include "options.h"

#include <string.h>

struct cursor {
	uint8_t *at;
	uint32_t used, length; /* `length` is the size limit */
	bool is_writing, is_short;
};

/* Write a number of `bytes` bytes to the body, or read one from it. */
static uint64_t
number(struct cursor *c, uint64_t value, uint32_t bytes)
{
	if (c->length - c->used < bytes) {
		c->is_short = true;
		return 0;
	}
	uint8_t *at = c->at + c->used;
	c->used += bytes;
	if (!c->is_writing)
		return number_get(at, bytes);
	number_put(at, value, bytes);
	return value;
}

static struct cursor
writing(struct talk *talk)
{
	return (struct cursor){.at = talk->body, .length = TALK_BODY_MAX, .is_writing = true};
}

/* A reader's cursor never writes, so casting const away is safe. */
static struct cursor
reading(const struct talk *talk)
{
	return (struct cursor){.at = (uint8_t *)(uintptr_t)talk->body, .length = talk->length};
}

static bool
is_whole(const struct cursor *c, const struct talk *talk, struct plx_why *why)
{
	if (c->is_short || c->used != talk->length)
		return why_set(why, "%s sent a message of %u bytes that should have %s", talk->peer,
			       talk->length, c->is_short ? "more" : "fewer");
	return true;
}

static void
pass_job(struct cursor *c, struct job *job)
{
	job->op = (enum op)number(c, job->op, 1);
	job->test = (enum test)number(c, job->test, 1);
	job->rewrite = number(c, job->rewrite, 1) != 0;
	job->both = number(c, job->both, 1) != 0;
	job->open = number(c, job->open, 1) != 0;
	job->is_random = number(c, job->is_random, 1) != 0;
	job->check = number(c, job->check, 1) != 0;
	job->is_private = number(c, job->is_private, 1) != 0;
	uint32_t *const fields[] = {&job->size,      &job->depth,        &job->slots,
				    &job->batch,     &job->signal,       &job->qps,
				    &job->flight,    &job->rate,         &job->seed,
				    &job->path_mtu,  &job->inline_bytes, &job->ack_timeout,
				    &job->warmup_ms, &job->duration_ms,  &job->timeout_ms};
	for (uint32_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		*fields[i] = (uint32_t)number(c, *fields[i], 4);
}

void
message_put_job(struct talk *talk, const struct job *job)
{
	struct cursor c = writing(talk);
	struct job copy = *job;
	pass_job(&c, &copy);
	talk->length = c.used;
}

bool
message_get_job(const struct talk *talk, struct job *job, struct plx_why *why)
{
	struct cursor c = reading(talk);
	*job = (struct job){0};
	pass_job(&c, job);
	return is_whole(&c, talk, why) && job_is_valid(job, why);
}

static void
pass_card(struct cursor *c, struct card *card)
{
	struct plx_qp_address *a = &card->address;
	a->qpn = (uint32_t)number(c, a->qpn, 4);
	a->psn = (uint32_t)number(c, a->psn, 4);
	a->path_mtu = (uint32_t)number(c, a->path_mtu, 4);
	a->responder_resources = (uint8_t)number(c, a->responder_resources, 1);
	a->selective = number(c, a->selective, 1);
	a->ip.version = (uint8_t)number(c, a->ip.version, 1);
	for (uint32_t i = 0; i < sizeof(a->ip.v); i++)
		a->ip.v[i] = (uint8_t)number(c, a->ip.v[i], 1);
	card->va = number(c, card->va, 8);
	card->rkey.v = (uint32_t)number(c, card->rkey.v, 4);
}

void
message_put_cards(struct talk *talk, const struct card *cards, uint32_t n)
{
	struct cursor c = writing(talk);
	for (uint32_t i = 0; i < n; i++) {
		struct card copy = cards[i];
		pass_card(&c, &copy);
	}
	talk->length = c.used;
}

bool
message_get_cards(const struct talk *talk, struct card *cards, uint32_t n, struct plx_why *why)
{
	struct cursor c = reading(talk);
	for (uint32_t i = 0; i < n; i++) {
		cards[i] = (struct card){0};
		pass_card(&c, &cards[i]);
	}
	return is_whole(&c, talk, why);
}

void
message_put_numbers(struct talk *talk, const uint64_t *numbers, uint32_t n)
{
	struct cursor c = writing(talk);
	for (uint32_t i = 0; i < n; i++)
		number(&c, numbers[i], 8);
	talk->length = c.used;
}

bool
message_get_numbers(const struct talk *talk, uint64_t *numbers, uint32_t n, struct plx_why *why)
{
	struct cursor c = reading(talk);
	for (uint32_t i = 0; i < n; i++)
		numbers[i] = number(&c, 0, 8);
	return is_whole(&c, talk, why);
}
