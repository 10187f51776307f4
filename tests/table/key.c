/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plx_key_check() compared with a model in 128-bit integers, over all combinations of boundary
 * values (T10), all rights with all required rights, and all pairs of faults. No memory is
 * accessed: the table never reads what it grants, so host addresses are plain numbers. Start with
 * model_inside().
 */
#include <stdlib.h>

#include "test.h"
#include "block.h"
#include "plx_mem.h"
#include "table.h"

__extension__ typedef unsigned __int128 u128;

#define SLOTS 64
#define HOST  UINT64_C(1) /* so that a region of 2^64 - 1 bytes still fits behind it */
#define QPN   7

#define EDGES_MAX 64

struct fixture {
	struct plx_mem *mem;
	struct plx_domain domain, other;
	struct plx_key_memo memo; /* so that most checks are answered from it */
};

static struct plx_asker
asker_of(struct fixture *f)
{
	return (struct plx_asker){.domain = f->domain, .qpn = QPN, .memo = &f->memo};
}

static int
open_table(void **state)
{
	static const struct plx_mem_limits limits = {.slots = SLOTS, .domains = 2};
	static const struct plx_secret secret = {{3, 4}};
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->mem = plx_mem_init(test_block(plx_mem_bytes(&limits)), &limits, &secret);
	if (plx_domain_create(f->mem, &f->domain) || plx_domain_create(f->mem, &f->other))
		return -1;
	*state = f;
	return 0;
}

static int
close_table(void **state)
{
	struct fixture *f = *state;
	int left = (int)plx_mem_in_use(f->mem);

	free(f->mem);
	free(f);
	return left;
}

/* Around every power of two where an implementation might change its mind. */
static const uint64_t fixed_edges[] = {
	0,
	1,
	2,
	4096,
	(UINT64_C(1) << 31) - 1,
	UINT64_C(1) << 31,
	(UINT64_C(1) << 31) + 1,
	(UINT64_C(1) << 32) - 1,
	UINT64_C(1) << 32,
	(UINT64_C(1) << 32) + 1,
	(UINT64_C(1) << 63) - 1,
	UINT64_C(1) << 63,
	(UINT64_C(1) << 63) + 1,
	UINT64_MAX - 1,
	UINT64_MAX,
};

static bool
model_registrable(uint64_t base, uint64_t size)
{
	const u128 end = (u128)1 << 64;

	return size > 0 && (u128)base + size <= end && (u128)HOST + size <= end;
}

static bool
model_inside(uint64_t va, uint64_t length, uint64_t base, uint64_t size)
{
	return length == 0 || ((u128)va >= base && (u128)va + length <= (u128)base + size);
}

/* The fixed edges, and those around the region's own ends. */
static size_t
edges_of(uint64_t a, uint64_t b, uint64_t *edges)
{
	size_t count = 0;

	for (size_t i = 0; i < PLX_COUNT_OF(fixed_edges); i++)
		edges[count++] = fixed_edges[i];
	for (uint64_t step = 0; step < 5; step++) {
		edges[count++] = a - 2 + step;
		edges[count++] = b - 2 + step;
		edges[count++] = a + b - 2 + step;
		edges[count++] = a + b / 2 - 2 + step;
		edges[count++] = 0 - a - 2 + step;
	}
	PLX_ASSERT(count <= EDGES_MAX);
	return count;
}

static struct plx_region
region_of(struct fixture *f, uint64_t base, uint64_t size, uint8_t access, struct plx_key *key)
{
	const struct plx_region_attr attr = {
		.va = base, .host = (uint8_t *)(uintptr_t)HOST, .length = size, .access = {access}};
	struct plx_region region;

	assert_int_equal(plx_region_register(f->mem, f->domain, &attr, &region, key), PLX_OK);
	return region;
}

static void
drop(struct fixture *f, struct plx_region region)
{
	assert_int_equal(plx_region_retire(f->mem, region), PLX_OK);
	assert_int_equal(plx_region_release(f->mem, region), PLX_OK);
}

static uint64_t
wrong_ranges_of(struct fixture *f, uint64_t base, uint64_t size, uint64_t *tried)
{
	const struct plx_asker asker = asker_of(f);
	uint64_t vas[EDGES_MAX], lengths[EDGES_MAX], wrong = 0;
	size_t va_count = edges_of(base, size, vas), length_count = edges_of(size, base, lengths);
	struct plx_key key;
	struct plx_region region = region_of(f, base, size, 0, &key);

	for (size_t i = 0; i < va_count; i++) {
		for (size_t j = 0; j < length_count; j++) {
			uint64_t va = vas[i], length = lengths[j];
			struct plx_grant grant = {0};
			enum plx_key_verdict verdict = plx_key_check(
				f->mem, key, &asker, va, length, (struct plx_access){0}, &grant);
			uintptr_t host = length ? (uintptr_t)(HOST + (va - base)) : 0;

			if (model_inside(va, length, base, size))
				wrong +=
					verdict != PLX_KEY_GRANTED || (uintptr_t)grant.host != host;
			else
				wrong += verdict != PLX_KEY_RANGE || grant.host != NULL;
			++*tried;
		}
	}
	drop(f, region);
	return wrong;
}

static void
every_combination_of_boundary_values_agrees_with_the_model(void **state)
{
	uint64_t edges[EDGES_MAX], wrong = 0, tried = 0;
	size_t count = edges_of(1000, 5000, edges);
	struct fixture *f = *state;
	int refused = 0, taken = 0;

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			struct plx_region_attr attr = {.va = edges[i],
						       .host = (uint8_t *)(uintptr_t)HOST,
						       .length = edges[j]};
			struct plx_region region;
			struct plx_key key;

			if (model_registrable(edges[i], edges[j])) {
				wrong += wrong_ranges_of(f, edges[i], edges[j], &tried);
				taken++;
				continue;
			}
			assert_int_equal(
				plx_region_register(f->mem, f->domain, &attr, &region, &key),
				PLX_INVALID);
			refused++;
		}
	}
	assert_int_equal(wrong, 0);
	assert_true(taken > 100 && refused > 100 && tried > 1000000);
}

/* The structure of the check, in all its 2^31 cases of an 8-bit machine: 8-bit numbers in the
 * top byte of 64 bits behave under the real function as they would under an 8-bit one, wraps
 * included. */
static void
the_form_of_the_range_check_is_right_in_every_case_of_8_bits(void **state)
{
	uint64_t wrong = 0;

	(void)state;
	for (uint32_t base = 0; base < 256; base++) {
		for (uint32_t size = 1; base + size <= 256 && size < 256; size++) {
			for (uint32_t va = 0; va < 256; va++) {
				for (uint32_t length = 1; length < 256; length++) {
					bool inside = va >= base && va + length <= base + size;

					wrong += plx_range_inside((uint64_t)va << 56,
								  (uint64_t)length << 56,
								  (uint64_t)base << 56,
								  (uint64_t)size << 56) != inside;
				}
			}
		}
	}
	assert_int_equal(wrong, 0);
}

static void
a_zero_length_access_asks_for_key_and_right_only(void **state)
{
	static const uint64_t vas[] = {0, 1, 4095, 4096, 8191, 8192, 8193, UINT64_MAX};
	struct fixture *f = *state;
	const struct plx_asker asker = asker_of(f);
	struct plx_key key;
	struct plx_region region = region_of(f, 4096, 4096, PLX_ACCESS_REMOTE_READ, &key);

	for (size_t i = 0; i < PLX_COUNT_OF(vas); i++) {
		struct plx_grant grant = {.host = (uint8_t *)(uintptr_t)5};

		assert_int_equal(plx_key_check(f->mem, key, &asker, vas[i], 0,
					       (struct plx_access){PLX_ACCESS_REMOTE_READ}, &grant),
				 PLX_KEY_GRANTED);
		assert_null(grant.host);
		assert_int_equal(plx_key_check(f->mem, key, &asker, vas[i], 0,
					       (struct plx_access){PLX_ACCESS_REMOTE_WRITE},
					       &grant),
				 PLX_KEY_NO_RIGHT);
	}
	drop(f, region);
}

static void
every_set_of_rights_against_every_need(void **state)
{
	struct fixture *f = *state;
	const struct plx_asker asker = asker_of(f);

	for (unsigned rights = 0; rights <= PLX_ACCESS_ALL; rights++) {
		struct plx_key key;
		struct plx_region region = region_of(f, 4096, 4096, (uint8_t)rights, &key);

		for (unsigned need = 0; need <= UINT8_MAX; need++) {
			struct plx_grant grant = {0};
			enum plx_key_verdict verdict =
				plx_key_check(f->mem, key, &asker, 4096, 4096,
					      (struct plx_access){(uint8_t)need}, &grant);
			bool enough = true;

			for (int bit = 0; bit < 8; bit++)
				enough &= !(need >> bit & 1) || (rights >> bit & 1);
			assert_int_equal(verdict, enough ? PLX_KEY_GRANTED : PLX_KEY_NO_RIGHT);
			assert_int_equal(grant.access.bits, enough ? rights : 0);
		}
		drop(f, region);
	}
}

static enum plx_key_verdict
verdict_of_pages_apart(struct fixture *f, const struct plx_asker *asker)
{
	static const uint64_t pages[] = {UINT64_C(0x9000000), UINT64_C(0x5000000)};
	const struct plx_region_attr attr = {.va = 4096, .length = 8192, .page = pages};
	enum plx_key_verdict verdict;
	struct plx_region region;
	struct plx_grant grant;
	struct plx_key key;

	assert_int_equal(plx_region_register(f->mem, f->domain, &attr, &region, &key), PLX_OK);
	verdict = plx_key_check(f->mem, key, asker, 8191, 2, (struct plx_access){0}, &grant);
	drop(f, region);
	return verdict;
}

/* All subsets of the five faults that a check can find: the answer is the first of the list. */
static void
of_several_faults_the_first_of_the_list_is_told(void **state)
{
	struct fixture *f = *state;
	struct plx_key region_key, key;
	struct plx_region region =
		region_of(f, 4096, 4096, PLX_ACCESS_BIND | PLX_ACCESS_LOCAL_WRITE, &region_key);
	const struct plx_window_attr attr = {.region = region,
					     .va = 4096,
					     .length = 4096,
					     .access = {PLX_ACCESS_REMOTE_READ},
					     .qpn = QPN};
	bool reached[PLX_KEY_VERDICT_COUNT] = {false};
	struct plx_window window;

	assert_int_equal(plx_window_create(f->mem, f->domain, &window), PLX_OK);
	assert_int_equal(plx_window_bind(f->mem, window, &attr, &key), PLX_OK);
	for (unsigned faults = 0; faults < 1u << (PLX_KEY_RANGE + 1); faults++) {
		struct plx_asker asker = {.domain = f->domain, .qpn = QPN};
		struct plx_access need = {PLX_ACCESS_REMOTE_READ};
		enum plx_key_verdict expected = PLX_KEY_GRANTED, verdict;
		struct plx_key asked = key;
		struct plx_grant grant;
		uint64_t length = 4096;

		if (faults & 1) /* GRANTED is not a fault */
			continue;
		for (unsigned i = PLX_KEY_RANGE; i >= PLX_KEY_UNKNOWN; i--)
			expected = faults >> i & 1 ? (enum plx_key_verdict)i : expected;
		if (faults >> PLX_KEY_UNKNOWN & 1)
			asked.v ^= 0x10;
		if (faults >> PLX_KEY_DOMAIN & 1)
			asker.domain = f->other;
		if (faults >> PLX_KEY_WRONG_QP & 1)
			asker.qpn++;
		if (faults >> PLX_KEY_NO_RIGHT & 1)
			need.bits |= PLX_ACCESS_REMOTE_WRITE;
		if (faults >> PLX_KEY_RANGE & 1)
			length++;
		verdict = plx_key_check(f->mem, asked, &asker, 4096, length, need, &grant);
		assert_int_equal(verdict, expected);
		reached[verdict] = true;
	}
	{
		const struct plx_asker asker = {.domain = f->domain, .qpn = QPN};

		reached[plx_key_invalidate_check(f->mem, region_key, &asker)] = true;
		reached[verdict_of_pages_apart(f, &asker)] = true;
	}
	for (int i = 0; i < PLX_KEY_VERDICT_COUNT; i++)
		assert_true(reached[i]);
	assert_int_equal(plx_window_retire(f->mem, window), PLX_OK);
	assert_int_equal(plx_window_release(f->mem, window), PLX_OK);
	drop(f, region);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			every_combination_of_boundary_values_agrees_with_the_model, open_table,
			close_table),
		cmocka_unit_test(the_form_of_the_range_check_is_right_in_every_case_of_8_bits),
		cmocka_unit_test_setup_teardown(a_zero_length_access_asks_for_key_and_right_only,
						open_table, close_table),
		cmocka_unit_test_setup_teardown(every_set_of_rights_against_every_need, open_table,
						close_table),
		cmocka_unit_test_setup_teardown(of_several_faults_the_first_of_the_list_is_told,
						open_table, close_table),
	};

	return cmocka_run_group_tests_name("table/key", tests, NULL, NULL);
}
