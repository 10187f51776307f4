/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queue pair numbers: the engine's index and random bits, 24 bits together, passed through a
 * permutation that all engines of an adapter share. It never knows which numbers are in use.
 * Start with plx_numbers_draw().
 */
#include "plx_secret.h"

enum {
	QPN_LEAST = 2,
	QPN_MULTICAST = 0xffffff,
};

/* Bits for the index of each of `engines` engines. */
static uint32_t
bits_for(uint32_t engines)
{
	return engines > 1 ? 32 - (uint32_t)__builtin_clz(engines - 1) : 0;
}

void
plx_numbers_init(struct plx_numbers *numbers, const struct plx_secret *of, uint32_t index,
		 uint32_t engines)
{
	struct plx_secret key = plx_secret_for(of, PLX_SECRET_NUMBERS, 0);
	struct plx_secret places = plx_secret_for(of, PLX_SECRET_PLACES, index);

	*numbers = (struct plx_numbers){
		.draws = plx_secret_for(of, PLX_SECRET_DRAWS, index),
		.psns = plx_secret_for(of, PLX_SECRET_PSNS, index),
		.place_factor = places.word[0] | 1,
		.index = index,
		.engine_bits = bits_for(engines),
	};
	plx_permutation24_init(&numbers->permutation, &key);
	plx_secret_wipe(&key, sizeof(key));
	plx_secret_wipe(&places, sizeof(places));
}

/*
 * The engine is in the lowest bits; the others are drawn at random. A counter would repeat all
 * numbers in the same order.
 */
uint32_t
plx_numbers_draw(struct plx_numbers *numbers)
{
	uint32_t qpn;

	do {
		uint64_t drawn = plx_secret_word(&numbers->draws, numbers->drawn++);
		uint32_t plain = (uint32_t)drawn << numbers->engine_bits | numbers->index;

		qpn = plx_permute24(&numbers->permutation, plain);
	} while (qpn < QPN_LEAST || qpn == QPN_MULTICAST);
	return qpn;
}

uint32_t
plx_numbers_engine(const struct plx_numbers *numbers, uint32_t qpn)
{
	return plx_permute24_back(&numbers->permutation, qpn) & ((1u << numbers->engine_bits) - 1);
}

struct plx_psn
plx_numbers_psn(struct plx_numbers *numbers)
{
	return plx_psn((uint32_t)plx_secret_word(&numbers->psns, numbers->psns_drawn++));
}
