/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What engines do with the table for each packet: check what a key grants, and invalidate it. Hot.
 * It never locks, waits, or accesses the memory that a key grants.
 * What is not contiguous is granted a page at a time, by plx_key_check_page(); the memo remembers
 * that page.
 * Start with plx_key_check(); only slot_read() reads a slot while others may write it.
 *
 * A key that is not in the asker's memo takes the same path whether it is valid or not: all faults
 * are computed, and the first in the order of enum plx_key_verdict is returned. A key without a
 * slot reads slot 0, which grants nothing. From outside, timing can still show whether a slot's
 * cache line was cached, and whether this queue pair has just used the same valid key (the memo).
 */
#include "table.h"

/* One consistent state of a slot. */
struct slot_view {
	struct plx_slot_terms terms;
	uint64_t life;
	uint32_t number;
	uint32_t domain;
	uint8_t kind;
};

_Static_assert(PLX_KEY_GRANTED == 0 && PLX_KEY_UNKNOWN < PLX_KEY_DOMAIN &&
		       PLX_KEY_DOMAIN < PLX_KEY_WRONG_QP && PLX_KEY_WRONG_QP < PLX_KEY_NO_RIGHT &&
		       PLX_KEY_NO_RIGHT < PLX_KEY_RANGE && PLX_KEY_RANGE < PLX_KEY_PIECES &&
		       PLX_KEY_VERDICT_COUNT <= 32,
	       "the list's order is the order of precedence, and fits a word of faults");

#define FAULT(condition, verdict) ((uint32_t)(condition) << PLX_KEY_##verdict)

static inline enum plx_key_verdict
first_fault(uint32_t faults)
{
	return faults ? (enum plx_key_verdict)__builtin_ctz(faults) : PLX_KEY_GRANTED;
}

/*
 * The reader's side of the seqlock described at plx_slot_publish(). Returns false if there is no
 * such key.
 */
static inline bool
slot_read(const struct plx_mem *mem, struct plx_key key, struct slot_view *view)
{
	uint32_t number = plx_permute_back(&mem->permutation, key.v) >> PLX_KEY_GENERATION_BITS;
	const struct plx_slot *slot;
	uint64_t again;
	bool same_key;

	view->number = number <= mem->slots ? number : PLX_SLOT_NONE;
	slot = &mem->slot[view->number];
	/* Acquire: pairs with the release store of the life word in plx_slot_publish(). */
	view->life = __atomic_load_n(&slot->life, __ATOMIC_ACQUIRE);
	/*
	 * Acquire: pairs with the release stores of the fields there, and keeps the second load of
	 * the life word after them.
	 */
	view->terms.va = __atomic_load_n(&slot->va, __ATOMIC_ACQUIRE);
	view->terms.length = __atomic_load_n(&slot->length, __ATOMIC_ACQUIRE);
	view->terms.host = __atomic_load_n(&slot->host, __ATOMIC_ACQUIRE);
	view->terms.qpn = __atomic_load_n(&slot->qpn, __ATOMIC_ACQUIRE);
	view->terms.parent = __atomic_load_n(&slot->parent, __ATOMIC_ACQUIRE);
	view->terms.access.bits = __atomic_load_n(&slot->access, __ATOMIC_ACQUIRE);
	view->domain = __atomic_load_n(&slot->domain, __ATOMIC_ACQUIRE);
	view->kind = __atomic_load_n(&slot->kind, __ATOMIC_ACQUIRE);
	again = __atomic_load_n(&slot->life, __ATOMIC_RELAXED);
	/* The whole key is compared, including its generation. A life that has ended has key 0. */
	same_key = PLX_MUTANT(GENERATION_IGNORED) ? plx_life_key(view->life) != 0
						  : plx_life_key(view->life) == key.v;
	return (view->life == again) & same_key & (key.v != 0);
}

/* Faults that any use of a key can have. A region may be used by all QPs of its domain. */
static inline uint32_t
asker_faults(const struct slot_view *view, bool known, const struct plx_asker *asker)
{
	bool other_qp = (view->kind == PLX_SLOT_WINDOW) & (view->terms.qpn != asker->qpn);

	return FAULT(!known, UNKNOWN) | FAULT(view->domain != asker->domain.id, DOMAIN) |
	       FAULT(other_qp, WRONG_QP);
}

/* Store in the memo what the asker may reuse of this slot. */
static void
remember(const struct plx_mem *mem, const struct slot_view *view, struct plx_key_memo *memo,
	 uint32_t at)
{
	memo->of[at].life = view->life;
	memo->of[at].now = &mem->slot[view->number].life;
	memo->of[at].va = view->terms.va;
	memo->of[at].length = view->terms.length;
	memo->of[at].host = view->terms.host;
	memo->of[at].access = view->terms.access;
}

PLX_HOT __attribute__((noinline)) enum plx_key_verdict
plx_key_check_slot(const struct plx_mem *mem, struct plx_key key, const struct plx_asker *asker,
		   uint64_t va, uint64_t length, struct plx_access need, struct plx_grant *out)
{
	struct slot_view view;
	bool known = slot_read(mem, key, &view);
	const struct plx_slot_terms *terms = &view.terms;
	bool inside = plx_range_inside(va, length, terms->va, terms->length);
	bool pages = (terms->access.bits & PLX_SLOT_PAGES) != 0;
	uint32_t faults = asker_faults(&view, known, asker);

	if (asker->memo != NULL && (faults | pages) == 0)
		remember(mem, &view, asker->memo, plx_key_memo_at(key, need));
	faults |= FAULT((need.bits & ~terms->access.bits) != 0, NO_RIGHT);
	faults |= FAULT((length != 0) & !inside, RANGE);
	faults |= FAULT((length != 0) & pages, PIECES);
	if (plx_unlikely(faults))
		return first_fault(faults);
	out->host = length ? plx_host_at(terms->host, va - terms->va) : NULL;
	out->access.bits = terms->access.bits & PLX_ACCESS_ALL;
	return PLX_KEY_GRANTED;
}

/* Where the page of `va` is, which is inside the terms; 0: their map has no place left. */
static uint64_t
page_of(const struct plx_slot_terms *terms, uint64_t va)
{
	uintptr_t host = (uintptr_t)terms->host;
	const struct plx_page_map *map;

	if (!(host & PLX_HOST_MAP))
		return plx_page_at(terms->host, terms->va, va);
	map = (const struct plx_page_map *)(host & ~(uintptr_t)PLX_HOST_MAP);
	return plx_map_page(map, va - va % PLX_PAGE_BYTES);
}

/*
 * Narrow terms with a list or a map of pages to the page of `va`, which is inside them. Returns
 * UNKNOWN if the life has ended, so that the list may be another's.
 */
static enum plx_key_verdict
narrow(const struct plx_mem *mem, struct slot_view *view, uint64_t va, bool *is_private)
{
	struct plx_slot_terms *terms = &view->terms;
	uint64_t first = va - va % PLX_PAGE_BYTES, last = first + (PLX_PAGE_BYTES - 1);
	uint64_t page = page_of(terms, va);

	if (__atomic_load_n(&mem->slot[view->number].life, __ATOMIC_RELAXED) != view->life)
		return PLX_KEY_UNKNOWN; /* LCOV_EXCL_LINE: between two loads */
	if (page == 0)
		return PLX_KEY_RANGE;
	*is_private = page & PLX_PAGE_PRIVATE;
	page &= ~PLX_PAGE_PRIVATE;
	if (first < terms->va) {
		page += terms->va - first;
		first = terms->va;
	}
	if (last - terms->va > terms->length - 1)
		last = terms->va + (terms->length - 1);
	terms->va = first;
	terms->length = last - first + 1;
	terms->host = (uint8_t *)(uintptr_t)page;
	terms->access.bits &= PLX_ACCESS_ALL;
	return PLX_KEY_GRANTED;
}

/* The same checks as check(). */
enum plx_key_verdict
plx_key_check_page(const struct plx_mem *mem, struct plx_key key, const struct plx_asker *asker,
		   uint64_t va, uint32_t length, struct plx_access need, struct plx_grant *out,
		   uint32_t *bytes)
{
	struct slot_view view;
	bool known = slot_read(mem, key, &view);
	const struct plx_slot_terms *terms = &view.terms;
	bool inside = plx_range_inside(va, length, terms->va, terms->length);
	bool pages = terms->access.bits & PLX_SLOT_PAGES, is_private = false;
	uint32_t faults = asker_faults(&view, known, asker);
	enum plx_key_verdict verdict = PLX_KEY_GRANTED;
	uint64_t left;

	faults |= FAULT((need.bits & ~terms->access.bits) != 0, NO_RIGHT);
	faults |= FAULT((length == 0) | !inside, RANGE);
	if (faults)
		return first_fault(faults);
	if (pages)
		verdict = narrow(mem, &view, va, &is_private);
	if (verdict != PLX_KEY_GRANTED)
		return verdict;
	/* What the memo grants is never private: plx_key_check() asks nothing else. */
	if (asker->memo != NULL && !is_private)
		remember(mem, &view, asker->memo, plx_key_memo_at(key, need));
	left = terms->length - (va - terms->va);
	*bytes = left < length ? (uint32_t)left : length;
	out->host = plx_host_at(terms->host, va - terms->va);
	out->access = terms->access;
	out->is_private = is_private;
	return PLX_KEY_GRANTED;
}

static enum plx_key_verdict
invalidate_check(const struct plx_mem *mem, struct plx_key key, const struct plx_asker *asker,
		 struct slot_view *view)
{
	bool known = slot_read(mem, key, view);
	uint32_t faults = asker_faults(view, known, asker);
	/*
	 * Relaxed: an early check, repeated atomically by plx_gate_close(). A gate of another life
	 * says nothing about this one.
	 */
	uint64_t gate = __atomic_load_n(&mem->slot[view->number].gate, __ATOMIC_RELAXED);
	bool pinned = plx_life_ended(gate) == plx_life_ended(view->life) &&
		      (gate & PLX_GATE_WINDOWS) != 0;
	bool fixed = pinned || !(view->terms.access.bits & PLX_ACCESS_INVALIDATE);

	return first_fault(faults | FAULT(view->kind == PLX_SLOT_REGION && fixed, KIND));
}

enum plx_key_verdict
plx_key_invalidate_check(const struct plx_mem *mem, struct plx_key key,
			 const struct plx_asker *asker)
{
	struct slot_view view;

	return invalidate_check(mem, key, asker, &view);
}

enum plx_key_verdict
plx_key_invalidate(struct plx_mem *mem, struct plx_key key, const struct plx_asker *asker)
{
	struct slot_view view;
	enum plx_key_verdict verdict = invalidate_check(mem, key, asker, &view);
	struct plx_slot *slot = &mem->slot[view.number];

	if (verdict != PLX_KEY_GRANTED)
		return verdict;
	if (PLX_MUTANT(NDK_WINDOW_STAYS_VALID) && view.kind == PLX_SLOT_WINDOW)
		return PLX_KEY_GRANTED;
	if (PLX_MUTANT(NDK_FAST_STAYS_VALID) && view.kind != PLX_SLOT_WINDOW)
		return PLX_KEY_GRANTED;
	if (view.kind == PLX_SLOT_WINDOW) {
		if (!plx_slot_end(slot, view.life))
			return PLX_KEY_UNKNOWN;
		plx_gate_unpin(&mem->slot[view.terms.parent]);
		return PLX_KEY_GRANTED;
	}
	switch (plx_gate_close(slot, view.life)) {
	case PLX_GATE_CLOSED:
		/*
		 * Only a retire can have ended it meanwhile, and then the key is equally invalid.
		 */
		(void)plx_slot_end(slot, view.life);
		return PLX_KEY_GRANTED;
	case PLX_GATE_PINNED:
		return PLX_KEY_KIND;
	case PLX_GATE_SHUT_BEFORE:
	default:
		return PLX_KEY_UNKNOWN;
	}
}
