/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the memory that peers access, and the life of each token to it. Every word that a WRITE
 * carries names the request, so that each word of a region says who wrote it, and by which token. A
 * token that its owner knows to be dead has written its last byte: from then on a word of it that
 * appears is a failure. Start with region_check().
 */
#include <stdlib.h>

#include "drivers.h"

enum {
	WORDS = DRIVERS_REGION / 8,
};

/* ---- words ---- */

static uint64_t
pattern(const struct half *half, uint32_t region, uint32_t word)
{
	return WORD_PATTERN | (uint64_t)half->channel->index << 40 | (uint64_t)half->index << 36 |
	       region << 20 | word;
}

/* The WRITE that a word names, if one was posted that may have written it there. */
static const struct post *
writer_of(const struct half *half, uint32_t region, uint32_t word)
{
	const struct drivers *drivers = half->channel->drivers;
	uint64_t value = half->region[region].words[word];
	const struct post *post;

	if ((value & WORD_KIND) != WORD_REQUEST || (value & WORD_NAME) >= drivers->posts)
		return NULL;
	post = &drivers->post[value & WORD_NAME];
	if (post->kind != POST_WRITE || post->half != half->peer ||
	    post->life != half->channel->life || post->token < 0 ||
	    half->token[post->token].region != region || 8 * word < post->offset ||
	    8 * word >= post->offset + post->bytes)
		return NULL;
	return post;
}

bool
region_may_hold(const struct half *half, uint32_t region, uint32_t word, uint64_t value)
{
	const struct drivers *drivers = half->channel->drivers;
	const struct post *post;

	if (value == pattern(half, region, word))
		return true;
	if ((value & WORD_KIND) != WORD_REQUEST || (value & WORD_NAME) >= drivers->posts)
		return false;
	post = &drivers->post[value & WORD_NAME];
	return post->kind == POST_WRITE && post->half == half->peer && 8 * word >= post->offset &&
	       8 * word < post->offset + post->bytes;
}

void
region_check(struct half *half, uint32_t index)
{
	struct world *world = &half->channel->drivers->fleet.world;
	struct region *region = &half->region[index];

	if (region->words == NULL || memcmp(region->words, region->shadow, DRIVERS_REGION) == 0)
		return;
	for (uint32_t i = 0; i < WORDS; i++) {
		const struct post *post;

		if (region->words[i] == region->shadow[i])
			continue;
		post = writer_of(half, index, i);
		sim_must(world, post != NULL, "I3",
			 "channel %u.%u: byte %u of region %u becomes %016" PRIx64
			 ", which nobody wrote there",
			 half->channel->index, half->index, 8 * i, index, region->words[i]);
		sim_must(world, half->token[post->token].state != TOKEN_DEAD, "N9",
			 "channel %u.%u: byte %u of region %u is written through token %08x, which "
			 "is dead",
			 half->channel->index, half->index, 8 * i, index,
			 half->token[post->token].value);
		region->shadow[i] = region->words[i];
	}
}

/* A WRITE has succeeded: it, or a later one, is there. */
void
region_check_write(struct half *half, const struct post *post, uint64_t id)
{
	const struct token *token = &half->token[post->token];
	const struct region *region = &half->region[token->region];

	for (uint32_t at = post->offset; at < post->offset + post->bytes; at += 8) {
		uint64_t value = region->words[at / 8];

		sim_must(&half->channel->drivers->fleet.world,
			 (value & WORD_KIND) == WORD_REQUEST && (value & WORD_NAME) >= id, "I4",
			 "WRITE %" PRIu64
			 " has succeeded, and byte %u of its region is %016" PRIx64,
			 id, at, value);
	}
}

void
regions_check(struct drivers *drivers)
{
	for (uint32_t i = 0; i < 2 * drivers->channel_count; i++)
		for (uint32_t r = 0; r < DRIVERS_REGIONS; r++)
			region_check(&drivers->channel[i / 2].half[i % 2], r);
}

/* For a new life. */
void
region_reset(struct half *half, uint32_t index)
{
	struct region *region = &half->region[index];

	for (uint32_t i = 0; i < WORDS; i++)
		region->words[i] = region->shadow[i] = pattern(half, index, i);
	region->mr = region->mw = NULL;
	region->token = region->window_token = -1;
	region->busy = false;
}

/* ---- tokens ---- */

/* Returns: -1: there have been enough in this life */
int32_t
token_new(struct half *half, uint32_t region, struct thing *thing, UINT32 value)
{
	struct token *token = &half->token[half->token_count];

	if (half->token_count == DRIVERS_TOKENS)
		return -1;
	*token = (struct token){.value = value, .region = region, .thing = thing};
	return (int32_t)half->token_count++;
}

/* What it has written until now was right; what it writes from now on is not. */
void
token_dies(struct half *half, int32_t index)
{
	struct token *token = &half->token[index];

	if (index < 0 || token->state == TOKEN_DEAD)
		return;
	region_check(half, token->region);
	token->state = TOKEN_DEAD;
	token->doomed = true;
	half->channel->drivers->fleet.world.stats.invalidated++;
}

/* From now on it may end at any time. */
void
token_dooms(struct half *half, int32_t index)
{
	if (index >= 0)
		half->token[index].doomed = true;
}

/* Those of an object that is being closed, or is closed. */
void
tokens_of(struct thing *thing, void (*what)(struct half *half, int32_t index))
{
	struct half *half = thing->half;

	for (uint32_t i = 0; half != NULL && i < half->token_count; i++)
		if (half->token[i].thing == thing)
			what(half, (int32_t)i);
}

bool
token_covers(const struct token *token, uint8_t right, uint64_t at, uint32_t bytes)
{
	return token->right & right && at >= token->base && bytes <= token->bytes &&
	       at - token->base <= token->bytes - bytes;
}

/* ---- registered regions ---- */

MDL *
token_mdl(void *memory, uint32_t bytes)
{
	MDL *mdl = IoAllocateMdl(memory, bytes, FALSE, FALSE, NULL);

	PLX_ASSERT(mdl != NULL);
	MmBuildMdlForNonPagedPool(mdl);
	return mdl;
}

static uint32_t
region_of(const struct thing *thing)
{
	for (uint32_t i = 0; i < DRIVERS_REGIONS; i++)
		if (thing->half->region[i].mr == thing)
			return i;
	PLX_ASSERT(false);
	return 0;
}

static void
registered(struct thing *thing, NTSTATUS status)
{
	struct half *half = thing->half;
	NDK_MR *mr = (NDK_MR *)(void *)thing->object;
	uint32_t index = region_of(thing);
	struct region *region = &half->region[index];
	struct token *token;

	region->busy = false;
	sim_must(world_of(thing->driver), status == STATUS_SUCCESS, "N8",
		 "a region is registered: 0x%08x", (unsigned int)status);
	if (thing->life != LIFE_OPEN)
		return;
	region->token = token_new(half, index, thing, mr->Dispatch->NdkGetRemoteTokenFromMr(mr));
	region->busy = region->token < 0; /* it stays as it is */
	if (region->busy)
		return;
	token = &half->token[region->token];
	token->state = TOKEN_ALIVE;
	token->right = PLX_ACCESS_REMOTE_READ | PLX_ACCESS_REMOTE_WRITE;
	token->bytes = DRIVERS_REGION;
	token->base = (uintptr_t)region->words;
}

/* May its window be unbound? A bind that is flushed has bound nothing. */
static bool
may_be_invalid(const struct token *token)
{
	return token->by_peer || token->leaving || token->state != TOKEN_ALIVE;
}

void
region_unbinds(struct thing *mr)
{
	struct half *half = mr->half;

	for (uint32_t i = 0; half != NULL && i < DRIVERS_REGIONS; i++) {
		const struct region *region = &half->region[i];

		if (region->mr == mr && region->window_token >= 0 &&
		    may_be_invalid(&half->token[region->window_token]))
			thing_lets_go(region->mw, mr);
	}
}

void
region_register(struct half *half, uint32_t index)
{
	const ULONG flags = NDK_MR_FLAG_ALLOW_REMOTE_READ | NDK_MR_FLAG_ALLOW_REMOTE_WRITE;
	struct region *region = &half->region[index];
	NDK_MR *mr = (NDK_MR *)(void *)region->mr->object;
	struct ask *ask = ask_begin(region->mr, NULL, registered);
	MDL *mdl = token_mdl(region->words, DRIVERS_REGION);

	region->busy = true;
	ask_returned(ask,
		     mr->Dispatch->NdkRegisterMr(mr, mdl, DRIVERS_REGION, flags, ask_on_done, ask));
	IoFreeMdl(mdl);
}

static void
deregistered(struct thing *thing, NTSTATUS status)
{
	struct region *region = &thing->half->region[region_of(thing)];

	region->busy = false;
	/* a window is bound to it */
	if (status == STATUS_INVALID_DEVICE_REQUEST)
		return;
	sim_must(world_of(thing->driver), status == STATUS_SUCCESS, "N8",
		 "a region is deregistered: 0x%08x", (unsigned int)status);
	token_dies(thing->half, region->token);
	region->token = -1;
}

void
region_deregister(struct half *half, uint32_t index)
{
	struct region *region = &half->region[index];
	NDK_MR *mr = (NDK_MR *)(void *)region->mr->object;
	struct ask *ask = ask_begin(region->mr, NULL, deregistered);

	region->busy = true;
	token_dooms(half, region->token);
	ask_returned(ask, mr->Dispatch->NdkDeregisterMr(mr, ask_on_done, ask));
}
