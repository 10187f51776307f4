/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tokens of duplicated sockets, one table for a host: a number that a process hands to another one,
 * which redeems it once. It is unique in the system, and of use to the process that it names alone,
 * so it need not be secret. Start with plx_san_token_make().
 */
#ifndef PLX_SAN_TOKEN_H
#define PLX_SAN_TOKEN_H

#include "plx_base.h"

enum {
	PLX_SAN_TOKENS_MAX = 4096, /* not redeemed yet */
};

struct plx_san_tokens {
	uint32_t first, count; /* of the free ones, in the order in which they became free */
	uint16_t free[PLX_SAN_TOKENS_MAX];
	struct {
		uint64_t process; /* who may redeem it; 0: free */
		uint64_t stream;
		uint16_t generation;
	} of[PLX_SAN_TOKENS_MAX];
};

void plx_san_tokens_init(struct plx_san_tokens *tokens);

/**
 * @param process who may redeem it: not 0
 * @param stream  what it stands for: not 0
 * Returns: the token; 0: PLX_SAN_TOKENS_MAX are not redeemed. It comes again after 2^16 others of
 * its place, and places take turns
 */
uint32_t plx_san_token_make(struct plx_san_tokens *tokens, uint64_t process, uint64_t stream);

/** Returns: the stream; 0: it is no token, another process's, or redeemed: it stays as it is */
uint64_t plx_san_token_redeem(struct plx_san_tokens *tokens, uint32_t token, uint64_t process);

/** Neither a process nor a stream that has ended redeems a token, or is one's. 0: any */
void plx_san_tokens_forget(struct plx_san_tokens *tokens, uint64_t process, uint64_t stream);

#endif
