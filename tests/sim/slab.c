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

/* ---- pages in any order ---- */

static uint64_t
pages_of(const struct slab *slab)
{
	return plx_pages_spanned(slab->va, slab->size);
}

/* Give each page of the slab another place in its memory. The order depends on the slab's address
 * only, so that a run draws what it would draw without pages.
 * @param stride pages of memory for each page */
static void
scatter(struct slab *slab, uint32_t stride)
{
	uint64_t pages = pages_of(slab);
	uint32_t *order = malloc(pages * sizeof(*order));
	struct plx_prng prng;

	slab->page = malloc(pages * sizeof(*slab->page));
	slab->shadow_page = malloc(pages * sizeof(*slab->shadow_page));
	PLX_ASSERT(order != NULL && slab->page != NULL && slab->shadow_page != NULL);
	plx_prng_init(&prng, slab->va);
	for (uint32_t i = 0; i < pages; i++)
		order[i] = i;
	for (uint32_t i = (uint32_t)pages; i > 1; i--) {
		uint32_t other = (uint32_t)plx_prng_below(&prng, i), kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
	for (uint64_t i = 0; i < pages; i++) {
		uint64_t at = (uint64_t)order[i] * stride * PLX_PAGE_BYTES;

		slab->page[i] = (uintptr_t)slab->bytes + at;
		slab->shadow_page[i] = slab->shadow + at;
	}
	free(order);
}

static uint64_t
page_index(const struct slab *slab, uint64_t va)
{
	return va / PLX_PAGE_BYTES - slab->va / PLX_PAGE_BYTES;
}

/* The constant bytes are their own shadow, and have no room between them. */
void
slab_scatter_source(struct slab *slab)
{
	slab->va -= slab->va % PLX_PAGE_BYTES;
	slab->shadow = slab->bytes;
	scatter(slab, 1);
}

uint64_t
slab_rest(const struct slab *slab, uint64_t va)
{
	return slab->page != NULL ? PLX_PAGE_BYTES - va % PLX_PAGE_BYTES
				  : slab->size - (va - slab->va);
}

bool
slab_contains(const struct slab *slab, uint64_t va, uint64_t length, const uint8_t *host,
	      uint32_t bytes)
{
	for (uint64_t at = 0, take; at < length; at += take) {
		const uint8_t *base = slab_host(slab, va + at);

		take = slab_rest(slab, va + at);
		if (take > length - at)
			take = length - at;
		if (host >= base && (uint64_t)(host - base) <= take &&
		    bytes <= take - (uint64_t)(host - base))
			return true;
	}
	return false;
}

bool
slab_expects(const struct slab *slab, uint64_t va, const uint8_t *bytes, uint32_t count)
{
	for (uint64_t at = 0, take; at < count; at += take) {
		take = slab_rest(slab, va + at);
		if (take > count - at)
			take = count - at;
		if (memcmp(bytes + at, slab_shadow(slab, va + at), take) != 0)
			return false;
	}
	return true;
}

uint8_t *
slab_shadow_of(const struct slab *slab, const uint8_t *host)
{
	return slab->shadow + (host - slab->bytes);
}

/* What it contains at first. */
void
slab_fill(struct slab *slab, const uint8_t *bytes, uint32_t count)
{
	for (uint64_t at = 0, take; at < count; at += take) {
		take = slab_rest(slab, slab->va + at);
		if (take > count - at)
			take = count - at;
		memcpy(slab_host(slab, slab->va + at), bytes + at, take);
		memcpy(slab_shadow(slab, slab->va + at), bytes + at, take);
	}
}

/* ---- slabs ---- */

/* The bytes that are compared: with pages, also those between them. */
static size_t
slab_whole(const struct slab *slab)
{
	return slab->page != NULL ? 2 * pages_of(slab) * PLX_PAGE_BYTES
				  : (size_t)slab->size + 2 * SIM_SLAB_GUARD;
}

/* The first of them. */
static uint8_t *
slab_first(const struct slab *slab, uint8_t *bytes)
{
	return slab->page != NULL ? bytes : bytes - SIM_SLAB_GUARD;
}

static void
make_pages(struct slab *slab)
{
	size_t all = 2 * pages_of(slab) * PLX_PAGE_BYTES;

	slab->bytes = aligned_alloc(PLX_PAGE_BYTES, all);
	slab->shadow = calloc(1, all);
	PLX_ASSERT(slab->bytes != NULL && slab->shadow != NULL);
	memset(slab->bytes, 0, all);
	scatter(slab, 2);
}

static void
make_plain(struct slab *slab)
{
	size_t all = (size_t)slab->size + 2 * SIM_SLAB_GUARD;

	slab->bytes = calloc(1, all);
	slab->shadow = calloc(1, all);
	PLX_ASSERT(slab->bytes != NULL && slab->shadow != NULL);
	slab->bytes += SIM_SLAB_GUARD;
	slab->shadow += SIM_SLAB_GUARD;
}

/* Addresses are drawn, never the process's own: a run must not depend on where malloc() puts it. */
struct slab *
slab_create(struct station *station, struct plx_prng *prng, uint32_t size)
{
	struct slab *slab = calloc(1, sizeof(*slab));

	PLX_ASSERT(slab != NULL);
	slab->size = size;
	slab->va = (plx_prng_next(prng) >> 1) & ~UINT64_C(7);
	if (station->world->options->pages)
		make_pages(slab);
	else
		make_plain(slab);
	plx_list_append(&station->slabs, &slab->link);
	return slab;
}

/* I3: only what was granted and expected was written. */
void
slab_check(struct world *world, const struct slab *slab)
{
	size_t all = slab_whole(slab);
	const uint8_t *bytes = slab_first(slab, slab->bytes);
	const uint8_t *shadow = slab_first(slab, slab->shadow);

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
	free(slab_first(slab, slab->bytes));
	free(slab_first(slab, slab->shadow));
	free(slab->page);
	free(slab->shadow_page);
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
	if (slab->page != NULL)
		return (uint8_t *)(uintptr_t)slab->page[page_index(slab, va)] + va % PLX_PAGE_BYTES;
	return slab->bytes + (va - slab->va);
}

uint8_t *
slab_shadow(const struct slab *slab, uint64_t va)
{
	if (slab->page != NULL)
		return slab->shadow_page[page_index(slab, va)] + va % PLX_PAGE_BYTES;
	return slab->shadow + (va - slab->va);
}
