/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table in the caller's memory: slots, their lives, and the FIFO of free ones.
 * It never allocates: everything is in the block passed to plx_mem_init().
 * Start with plx_slot_publish().
 *
 * The FIFO of free slots is a ring of slot numbers with room for all of them. Its length is the
 * number of slots not in use. First in, first out: a slot is reused as late as possible, so that a
 * stale key stays invalid as long as possible.
 */
#include "table.h"

static bool
limits_in_range(const struct plx_mem_limits *limits)
{
	return limits->slots >= 2 && limits->slots < PLX_MEM_SLOTS_MAX && limits->domains >= 1 &&
	       limits->domains <= PLX_MEM_DOMAINS_MAX;
}

/* [bytes] From the table's beginning: where the domains are, on a line of their own. */
static size_t
domains_offset(uint32_t slots)
{
	size_t bytes = sizeof(struct plx_mem) + ((size_t)slots + 1) * sizeof(struct plx_slot) +
		       (size_t)slots * sizeof(uint32_t);

	return (bytes + PLX_CACHE_LINE - 1) / PLX_CACHE_LINE * PLX_CACHE_LINE;
}

size_t
plx_mem_bytes(const struct plx_mem_limits *limits)
{
	if (!limits_in_range(limits))
		return 0;
	return domains_offset(limits->slots) + limits->domains * sizeof(struct plx_domain_use);
}

static uint32_t *
free_ring(struct plx_mem *mem)
{
	return (uint32_t *)(void *)&mem->slot[mem->slots + 1];
}

struct plx_domain_use *
plx_domain_at(struct plx_mem *mem, uint32_t id)
{
	void *domains = (uint8_t *)mem + domains_offset(mem->slots);

	return (struct plx_domain_use *)domains + (id - 1);
}

struct plx_mem *
plx_mem_init(void *memory, const struct plx_mem_limits *limits, const struct plx_secret *secret)
{
	struct plx_mem *mem = memory;

	if (!memory || (uintptr_t)memory % PLX_CACHE_LINE || !limits_in_range(limits))
		return NULL;
	/* Not the domains: pages of which nothing is used stay untouched. */
	memset(memory, 0, domains_offset(limits->slots));
	plx_permutation_init(&mem->permutation, secret);
	mem->slots = limits->slots;
	mem->domains = limits->domains;
	for (uint32_t i = 0; i < mem->slots; i++)
		free_ring(mem)[i] = i + 1;
	return mem;
}

uint32_t
plx_mem_in_use(const struct plx_mem *mem)
{
	return __atomic_load_n(&mem->in_use, __ATOMIC_RELAXED); /* a statistic; it orders nothing */
}

/* Wrap an index into the FIFO that may have passed the end once. */
static uint32_t
around(const struct plx_mem *mem, uint32_t index)
{
	return index < mem->slots ? index : index - mem->slots;
}

uint32_t
plx_slot_alloc(struct plx_mem *mem, struct plx_domain domain, enum plx_slot_kind kind)
{
	uint32_t in_use = plx_mem_in_use(mem);
	struct plx_slot *slot;
	uint32_t number;

	if (in_use == mem->slots)
		return PLX_SLOT_NONE;
	number = free_ring(mem)[mem->free_first];
	mem->free_first = around(mem, mem->free_first + 1);
	/*
	 * The slot that has been free longest is in no cache: prefetch the next one for the next
	 * call.
	 */
	__builtin_prefetch(&mem->slot[free_ring(mem)[mem->free_first]], 1);
	__atomic_store_n(&mem->in_use, in_use + 1, __ATOMIC_RELAXED);
	plx_domain_at(mem, domain.id)->slots++;
	slot = &mem->slot[number];
	/* Release: as in plx_slot_publish(); these are fields of the same seqlock. */
	__atomic_store_n(&slot->domain, domain.id, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->kind, (uint8_t)kind, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->retired, false, __ATOMIC_RELAXED);
	if (kind == PLX_SLOT_REGION)
		__atomic_store_n(&slot->lists, NULL, __ATOMIC_RELEASE);
	return number;
}

/*
 * Lives that were promised and never began cannot begin any more: a request that outlives its
 * region must not register the next one in the slot.
 */
static void
skip_promised(struct plx_slot *slot)
{
	uint64_t life = __atomic_load_n(&slot->life, __ATOMIC_RELAXED);

	if (slot->promised != 0 && (int32_t)(slot->promised - (uint32_t)(life >> 32)) > 0)
		__atomic_store_n(&slot->life, (uint64_t)slot->promised << 32, __ATOMIC_RELEASE);
	slot->promised = 0;
}

void
plx_slot_free(struct plx_mem *mem, uint32_t number)
{
	struct plx_slot *slot = &mem->slot[number];
	uint32_t in_use = plx_mem_in_use(mem);
	uint32_t last = around(mem, mem->free_first + (mem->slots - in_use));

	PLX_ASSERT(in_use > 0 && plx_domain_at(mem, slot->domain)->slots > 0);
	plx_domain_at(mem, slot->domain)->slots--;
	__atomic_store_n(&slot->kind, PLX_SLOT_FREE, __ATOMIC_RELEASE);
	skip_promised(slot);
	free_ring(mem)[last] = number;
	__atomic_store_n(&mem->in_use, in_use - 1, __ATOMIC_RELAXED);
}

struct plx_slot *
plx_slot_of(struct plx_mem *mem, uint32_t number, enum plx_slot_kind kind, bool retired)
{
	struct plx_slot *slot = &mem->slot[number <= mem->slots ? number : PLX_SLOT_NONE];

	/* Relaxed: a bind that reads an outdated mark of a region is refused by its gate. */
	return slot->kind == kind && __atomic_load_n(&slot->retired, __ATOMIC_RELAXED) == retired
		       ? slot
		       : NULL;
}

/*
 * The seqlock, from the writer's side. Readers load the life word, then the fields, then the life
 * word again, and use the fields only if it was the same both times.
 *
 * - Fields are stored with release, pairing with the readers' acquire loads. A reader that sees a
 *   field of this life also sees that the previous life has ended, which this thread knew before it
 *   began; so the reader's second load cannot return the previous life.
 * - The life word is written last, with release, pairing with the readers' first load (acquire). A
 *   reader that sees it sees all fields of this life, or later ones, which its second load detects.
 *
 * No fence is needed, and no two lives of a slot have the same life word.
 */
struct plx_key
plx_slot_publish(struct plx_mem *mem, uint32_t number, const struct plx_slot_terms *terms)
{
	struct plx_slot *slot = &mem->slot[number];
	/* Acquire: pairs with the release in plx_slot_end(), by the engine that ended that life. */
	uint64_t life = __atomic_load_n(&slot->life, __ATOMIC_ACQUIRE);
	uint32_t count = (uint32_t)(life >> 32);
	struct plx_key key;
	bool published;

	PLX_ASSERT(plx_life_key(life) == 0);
	do { /* at most twice: one of all 2^32 pairs of slot and generation gives 0 */
		key = plx_slot_key(mem, number, ++count);
	} while (key.v == 0);
	published = plx_slot_publish_as(slot, life, count, key, terms);
	PLX_ASSERT(published);
	return key;
}

struct plx_key
plx_slot_key(const struct plx_mem *mem, uint32_t number, uint32_t life)
{
	return (struct plx_key){plx_permute(
		&mem->permutation, number << PLX_KEY_GENERATION_BITS |
					   (life & ((1u << PLX_KEY_GENERATION_BITS) - 1)))};
}

bool
plx_slot_publish_as(struct plx_slot *slot, uint64_t before, uint32_t number, struct plx_key key,
		    const struct plx_slot_terms *terms)
{
	uint64_t life = (uint64_t)number << 32;

	__atomic_store_n(&slot->va, terms->va, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->length, terms->length, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->host, terms->host, __ATOMIC_RELEASE);
	if (slot->kind == PLX_SLOT_WINDOW) {
		__atomic_store_n(&slot->qpn, terms->qpn, __ATOMIC_RELEASE);
		__atomic_store_n(&slot->parent, terms->parent, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&slot->access, terms->access.bits, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->gate, life | PLX_GATE_OPEN, __ATOMIC_RELEASE);
	/*
	 * Sequentially consistent for plx_region_fulfil(), which then looks whether the region has
	 * been retired meanwhile.
	 */
	return __atomic_compare_exchange_n(&slot->life, &before, life | key.v, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

bool
plx_slot_end(struct plx_slot *slot, uint64_t life)
{
	/*
	 * Release: pairs with the acquire in plx_slot_publish(). Acquire, also on failure:
	 * whichever thread ended the life, the caller's next steps with this slot follow its end.
	 */
	return __atomic_compare_exchange_n(&slot->life, &life, plx_life_ended(life), false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

enum plx_gate
plx_gate_close(struct plx_slot *slot, uint64_t life)
{
	uint64_t found = plx_life_ended(life) | PLX_GATE_OPEN;

	/*
	 * Acquire: pairs with the release in plx_gate_unpin(), so that bound windows have ended
	 * before the region does.
	 */
	if (__atomic_compare_exchange_n(&slot->gate, &found, plx_life_ended(life), false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return PLX_GATE_CLOSED;
	if (plx_life_ended(found) == plx_life_ended(life) && found & PLX_GATE_OPEN)
		return PLX_GATE_PINNED;
	return PLX_GATE_SHUT_BEFORE;
}

bool
plx_gate_pin(struct plx_slot *slot)
{
	/*
	 * Relaxed: one atomic word contains both "open" and the count, so a close either precedes
	 * this and is seen here, or follows it and sees the count.
	 */
	if (__atomic_fetch_add(&slot->gate, 1, __ATOMIC_RELAXED) & PLX_GATE_OPEN)
		return true;
	__atomic_fetch_sub(&slot->gate, 1, __ATOMIC_RELAXED);
	return false;
}

void
plx_gate_unpin(struct plx_slot *slot)
{
	/* Release: pairs with the acquire in plx_gate_close(). */
	uint64_t before = __atomic_fetch_sub(&slot->gate, 1, __ATOMIC_RELEASE);

	PLX_ASSERT(before & PLX_GATE_OPEN && before & PLX_GATE_WINDOWS);
}
