/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pool: blocks of malloc(), each behind a header. With the checks on, all blocks are in a table, so
 * that an address that is not a block is never read. A sanitizer sees each block as one of
 * malloc(). Start with struct block.
 */
#include "ex.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	ALIGNMENT = 16,
	BUCKET_BITS = 10,
	BUCKETS = 1 << BUCKET_BITS,
	FRESH = 0xa5, /* what is in memory that was never written to */
	STALE = 0xdf, /* in memory that was freed */
};

static const ULONG64 guard = UINT64_C(0x9d5bd24c8e1f3a67);

/* With ASan the byte behind a block is malloc()'s, which ASan watches. */
#if defined(__SANITIZE_ADDRESS__)
#define GUARD_BYTES 0
#else
#define GUARD_BYTES sizeof(guard)
#endif

/* In front of the memory. */
struct block {
	struct block *next; /* of its bucket, with the checks on */
	void *base;         /* of malloc() */
	SIZE_T bytes;
	struct tag_account *account;
	const void *caller;
	ULONG64 serial; /* which allocation it was */
	ULONG tag;
	bool is_paged;
	ULONG64 guard;
};

_Static_assert(sizeof(struct block) % ALIGNMENT == 0 && sizeof(struct block) == 64,
	       "the memory behind it is aligned to 16, and to a line if the header is");

/* With the checks on, all blocks. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *buckets[BUCKETS];
static ULONG64 serial;

static atomic_ullong fail_in; /* allocations until one fails; 0: none */

void
plx_ex_pool_fail(ULONG64 nth)
{
	atomic_store(&fail_in, nth);
}

static bool
fails_on_request(void)
{
	unsigned long long left = atomic_load(&fail_in);

	while (left && !atomic_compare_exchange_weak(&fail_in, &left, left - 1))
		;
	return left == 1;
}

static struct block *
block_of(PVOID memory)
{
	return (struct block *)memory - 1;
}

static struct block **
bucket_of(const void *memory)
{
	return &buckets[(ULONG64)(uintptr_t)memory * UINT64_C(0x9e3779b97f4a7c15) >>
			(64 - BUCKET_BITS)];
}

static struct block *
block_make(const struct pool_request *request)
{
	SIZE_T least = request->bytes >= PAGE_SIZE ? PAGE_SIZE : ALIGNMENT;
	SIZE_T alignment = request->alignment > least ? request->alignment : least;
	SIZE_T before = alignment > sizeof(struct block) ? alignment : sizeof(struct block);
	struct block *block;
	void *base;

	if (request->bytes > (SIZE_T)PTRDIFF_MAX - before - GUARD_BYTES || fails_on_request())
		return NULL;
	if (posix_memalign(&base, alignment, before + request->bytes + GUARD_BYTES))
		return NULL;
	block = block_of((char *)base + before);
	*block = (struct block){
		.base = base,
		.bytes = request->bytes,
		.account = tag_add(request->tag, request->bytes),
		.caller = request->caller,
		.tag = request->tag,
		.is_paged = request->is_paged,
		.guard = guard,
	};
	return block;
}

/* The checks are on. */
static void
block_watch(struct block *block)
{
	struct block **bucket = bucket_of(block + 1);

	memcpy((char *)(block + 1) + block->bytes, &guard, GUARD_BYTES);
	pthread_mutex_lock(&lock);
	block->serial = ++serial;
	block->next = *bucket;
	*bucket = block;
	pthread_mutex_unlock(&lock);
}

PVOID
pool_allocate(const struct pool_request *request)
{
	struct block *block;

	plx_ke_require(request->call, request->is_paged ? APC_LEVEL : DISPATCH_LEVEL);
	block = block_make(request);
	if (block == NULL) {
		if (request->raises)
			ExRaiseStatus(STATUS_INSUFFICIENT_RESOURCES);
		return NULL;
	}
	if (request->is_zeroed)
		memset(block + 1, 0, block->bytes);
	else if (plx_ke_checks())
		memset(block + 1, FRESH, block->bytes);
	if (plx_ke_checks())
		block_watch(block);
	return block + 1;
}

/* Remove a block from the table. Returns: NULL: there is none at the address */
static struct block *
block_unwatch(const void *memory)
{
	struct block **at = bucket_of(memory);
	struct block *block;

	pthread_mutex_lock(&lock);
	while (*at && *at + 1 != memory)
		at = &(*at)->next;
	block = *at;
	if (block)
		*at = block->next;
	pthread_mutex_unlock(&lock);
	return block;
}

/* The four characters of a tag, for a sentence. */
struct tag_text {
	char text[5];
};

static struct tag_text
text_of(ULONG tag)
{
	struct tag_text tag_text = {""};

	for (int i = 0; i < 4; i++) {
		char byte = (char)(tag >> 8 * i);

		tag_text.text[i] = byte >= ' ' && byte <= '~' ? byte : '.';
	}
	return tag_text;
}

static void
check(const char *call, PVOID memory, ULONG tag)
{
	struct block *block = block_unwatch(memory);

	if (block == NULL)
		plx_wdk_stop("%s was called for %p, which was freed before or is not of the "
			     "pool",
			     call, memory);
	plx_ke_require(call, block->is_paged ? APC_LEVEL : DISPATCH_LEVEL);
	if (tag && tag != block->tag)
		plx_wdk_stop("%s was called with tag '%s' for %p, which was allocated with "
			     "'%s'",
			     call, text_of(tag).text, memory, text_of(block->tag).text);
	if (block->guard != guard)
		plx_wdk_stop("%s was called for %p with tag '%s', in front of which somebody "
			     "has written",
			     call, memory, text_of(block->tag).text);
	if (memcmp((char *)memory + block->bytes, &guard, GUARD_BYTES))
		plx_wdk_stop("%s was called for %p with tag '%s', behind whose %zu bytes "
			     "somebody has written",
			     call, memory, text_of(block->tag).text, block->bytes);
	memset(memory, STALE, block->bytes);
}

void
pool_free(const char *call, PVOID memory, ULONG tag)
{
	if (plx_ke_checks())
		check(call, memory, tag);
	tag_sub(block_of(memory)->account, block_of(memory)->bytes);
	free(block_of(memory)->base);
}

void
pool_find_oldest(struct plx_ex_tag *tags, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ULONG64 oldest = 0;

		pthread_mutex_lock(&lock);
		for (size_t j = 0; j < BUCKETS; j++) {
			for (struct block *block = buckets[j]; block; block = block->next) {
				if (block->tag != tags[i].tag || (oldest && block->serial > oldest))
					continue;
				oldest = block->serial;
				tags[i].oldest_bytes = block->bytes;
				tags[i].oldest_from = block->caller;
			}
		}
		pthread_mutex_unlock(&lock);
	}
}
