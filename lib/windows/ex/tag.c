/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Accounts of the pool's tags: a table of counters that grows and never shrinks, without a lock.
 * Start with account_of().
 */
#include "ex.h"

#include <stdatomic.h>

enum {
	USED = 1, /* beside the tag, since a tag may be 0 */
};

struct tag_account {
	_Atomic ULONG64 key; /* the tag << 1, and USED */
	atomic_ullong blocks, bytes, bytes_max, allocations;
};

static struct tag_account accounts[PLX_EX_TAGS_MAX], other = {.key = PLX_EX_TAG_OTHER << 1 | USED};

/* Returns: NULL: it has none, and make is false */
static struct tag_account *
account_of(ULONG tag, bool make)
{
	ULONG64 key = (ULONG64)tag << 1 | USED;
	/* Fibonacci's multiplier: tags differ in few bits. */
	size_t first = (size_t)(tag * UINT64_C(0x9e3779b97f4a7c15) >> 54);

	for (size_t i = 0; i < PLX_EX_TAGS_MAX; i++) {
		struct tag_account *account = &accounts[(first + i) % PLX_EX_TAGS_MAX];
		ULONG64 seen = atomic_load(&account->key);

		if (seen == 0) {
			if (!make)
				return NULL;
			if (atomic_compare_exchange_strong(&account->key, &seen, key))
				return account;
		}
		if (seen == key)
			return account;
	}
	return &other;
}

struct tag_account *
tag_add(ULONG tag, SIZE_T bytes)
{
	struct tag_account *account = account_of(tag, true);
	unsigned long long now = atomic_fetch_add(&account->bytes, bytes) + bytes;
	unsigned long long max = atomic_load(&account->bytes_max);

	atomic_fetch_add(&account->blocks, 1);
	atomic_fetch_add(&account->allocations, 1);
	while (now > max && !atomic_compare_exchange_weak(&account->bytes_max, &max, now))
		;
	return account;
}

void
tag_sub(struct tag_account *account, SIZE_T bytes)
{
	atomic_fetch_sub(&account->bytes, bytes);
	atomic_fetch_sub(&account->blocks, 1);
}

static struct plx_ex_tag
counts_of(struct tag_account *account)
{
	return (struct plx_ex_tag){
		.tag = (ULONG)(atomic_load(&account->key) >> 1),
		.blocks = atomic_load(&account->blocks),
		.bytes = atomic_load(&account->bytes),
		.bytes_max = atomic_load(&account->bytes_max),
		.allocations = atomic_load(&account->allocations),
	};
}

struct plx_ex_tag
plx_ex_pool_tag(ULONG tag)
{
	struct tag_account *account = account_of(tag, false);
	struct plx_ex_tag counts = {.tag = tag};

	if (account == NULL)
		return counts;
	counts = counts_of(account);
	pool_find_oldest(&counts, 1);
	return counts;
}

size_t
plx_ex_pool_left(struct plx_ex_tag *tags, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i <= PLX_EX_TAGS_MAX; i++) {
		struct tag_account *account = i < PLX_EX_TAGS_MAX ? &accounts[i] : &other;

		if (atomic_load(&account->blocks) == 0)
			continue;
		if (found < n)
			tags[found] = counts_of(account);
		found++;
	}
	pool_find_oldest(tags, found < n ? found : n);
	return found;
}
