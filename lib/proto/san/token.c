/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tokens: generation, then place. Start with plx_san_token_make().
 */
#include "plx_san_token.h"

enum {
	PLACE_BITS = 12,
	PLACE_MASK = (1 << PLACE_BITS) - 1,
};
_Static_assert(PLX_SAN_TOKENS_MAX == 1 << PLACE_BITS, "a place has so many bits");

static void
set_free(struct plx_san_tokens *tokens, uint32_t place)
{
	tokens->of[place].process = 0;
	tokens->free[(tokens->first + tokens->count++) % PLX_SAN_TOKENS_MAX] = (uint16_t)place;
}

void
plx_san_tokens_init(struct plx_san_tokens *tokens)
{
	memset(tokens, 0, sizeof(*tokens));
	for (uint32_t place = 0; place < PLX_SAN_TOKENS_MAX; place++)
		set_free(tokens, place);
}

static uint32_t
token_of(const struct plx_san_tokens *tokens, uint32_t place)
{
	return (uint32_t)tokens->of[place].generation << PLACE_BITS | place;
}

uint32_t
plx_san_token_make(struct plx_san_tokens *tokens, uint64_t process, uint64_t stream)
{
	uint32_t place;

	if (tokens->count == 0)
		return 0;
	place = tokens->free[tokens->first];
	tokens->first = (tokens->first + 1) % PLX_SAN_TOKENS_MAX;
	tokens->count--;
	/* 0 is no token. */
	if (++tokens->of[place].generation == 0)
		tokens->of[place].generation = 1;
	tokens->of[place].process = process;
	tokens->of[place].stream = stream;
	return token_of(tokens, place);
}

uint64_t
plx_san_token_redeem(struct plx_san_tokens *tokens, uint32_t token, uint64_t process)
{
	uint32_t place = token & PLACE_MASK;

	if (process == 0 || tokens->of[place].process != process ||
	    token_of(tokens, place) != token)
		return 0;
	set_free(tokens, place);
	return tokens->of[place].stream;
}

void
plx_san_tokens_forget(struct plx_san_tokens *tokens, uint64_t process, uint64_t stream)
{
	for (uint32_t place = 0; place < PLX_SAN_TOKENS_MAX; place++)
		if (tokens->of[place].process != 0 &&
		    (process == 0 || tokens->of[place].process == process) &&
		    (stream == 0 || tokens->of[place].stream == stream))
			set_free(tokens, place);
}
