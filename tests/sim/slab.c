/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns memory that can be registered, each piece with a guard on both sides and a shadow that holds
 * what it must contain. It never registers anything; that is grant.c's.
 * Start with slab_create() and slab_check().
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "sim.h"

/*
 * The bytes of all messages: one constant block in which no eight bytes are like any other eight. A
 * message is the bytes at an offset drawn for it, so that bytes of another message, or of another
 * offset of this one, are detected. Read-only: a transport that writes to it ends the process.
 */
uint8_t *
source_bytes(void)
{
	static uint8_t *bytes;
	struct plx_prng prng;

	if (bytes != NULL)
		return bytes;
	bytes = mmap(NULL, SIM_SOURCE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	PLX_ASSERT(bytes != MAP_FAILED);
	plx_prng_init(&prng, 1);
	for (size_t at = 0; at < SIM_SOURCE_BYTES; at += sizeof(uint64_t)) {
		uint64_t word = plx_prng_next(&prng);

		memcpy(bytes + at, &word, sizeof(word));
	}
	PLX_ASSERT(mprotect(bytes, SIM_SOURCE_BYTES, PROT_READ) == 0);
	return bytes;
}

/* Addresses are drawn, never the process's own: a run must not depend on where malloc() puts it. */
struct slab *
slab_create(struct station *station, struct plx_prng *prng, uint32_t size)
{
	struct slab *slab = calloc(1, sizeof(*slab));
	size_t all = (size_t)size + 2 * SIM_SLAB_GUARD;

	PLX_ASSERT(slab != NULL);
	slab->bytes = calloc(1, all);
	slab->shadow = calloc(1, all);
	PLX_ASSERT(slab->bytes != NULL && slab->shadow != NULL);
	slab->bytes += SIM_SLAB_GUARD;
	slab->shadow += SIM_SLAB_GUARD;
	slab->size = size;
	slab->va = (plx_prng_next(prng) >> 1) & ~UINT64_C(7);
	plx_list_append(&station->slabs, &slab->link);
	return slab;
}

/* I3: only what was granted and expected was written. */
void
slab_check(struct world *world, const struct slab *slab)
{
	size_t all = (size_t)slab->size + 2 * SIM_SLAB_GUARD;
	const uint8_t *bytes = slab->bytes - SIM_SLAB_GUARD;
	const uint8_t *shadow = slab->shadow - SIM_SLAB_GUARD;

	if (plx_likely(memcmp(bytes, shadow, all) == 0))
		return;
	for (size_t i = 0; i < all; i++) {
		if (bytes[i] != shadow[i])
			sim_fail(world, SIM_WRONG, "I3", WRONG_CORRUPT,
				 "byte %zd of a slab of %u is %02x and should be %02x",
				 (ssize_t)i - SIM_SLAB_GUARD, slab->size, bytes[i], shadow[i]);
	}
}

void
slab_destroy(struct station *station, struct slab *slab)
{
	slab_check(station->world, slab);
	plx_list_remove(&slab->link);
	free(slab->bytes - SIM_SLAB_GUARD);
	free(slab->shadow - SIM_SLAB_GUARD);
	free(slab);
}

uint64_t
sges_at(const struct plx_sge *sge, uint32_t sges, uint32_t offset, uint32_t *contiguous)
{
	for (uint32_t i = 0; i < sges; i++) {
		if (offset < sge[i].length) {
			*contiguous = sge[i].length - offset;
			return sge[i].va + offset;
		}
		offset -= sge[i].length;
	}
	*contiguous = 0;
	return 0;
}

uint8_t *
slab_host(const struct slab *slab, uint64_t va)
{
	return slab->bytes + (va - slab->va);
}

uint8_t *
slab_shadow(const struct slab *slab, uint64_t va)
{
	return slab->shadow + (va - slab->va);
}
