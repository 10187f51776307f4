/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A loop of struct literals, which gcc 12.2 with -O3 -fno-strict-aliasing compiles wrongly: it
 * zeroes the fields in a loop of their own, after it has stored them. The project turns the pass
 * off that does this; here the loop is compiled at -O3 with the project's flags.
 */
#include "test.h"

enum {
	REQUESTS = 64
};

struct piece {
	uint64_t va;
	uint32_t length, key;
};

struct request {
	uint64_t id;
	uint8_t op, flags;
	uint16_t pieces;
	uint32_t imm;
	const struct piece *piece;
	uint64_t remote_va;
	uint32_t rkey;
	uint64_t swap_add, compare;
};

struct lane {
	uint64_t va;
	uint32_t rkey;
	uint8_t *local;
	struct request request[REQUESTS];
	struct piece piece[REQUESTS];
};

struct side {
	uint32_t op, size, count;
	struct lane *lanes;
};

static const uint8_t ops[6] = {0, 1, 4, 6, 7, 8};

static __attribute__((noinline)) void
fill(struct side *side, uint32_t key)
{
	for (uint32_t i = 0; i < side->count; i++) {
		struct lane *lane = &side->lanes[i];

		for (uint32_t k = 0; k < REQUESTS; k++) {
			lane->piece[k] = (struct piece){.va = (uint64_t)(uintptr_t)lane->local,
							.length = side->size,
							.key = key};
			lane->request[k] = (struct request){.op = ops[side->op],
							    .pieces = 1,
							    .piece = &lane->piece[k],
							    .remote_va = lane->va,
							    .rkey = lane->rkey,
							    .swap_add = 1};
		}
	}
}

static void
fields_of_a_struct_stored_in_a_loop_keep_their_values(void **state)
{
	static struct lane lane = {.va = 4096, .rkey = 7};
	struct side side = {.op = 2, .size = 64, .count = 1, .lanes = &lane};

	(void)state;
	fill(&side, 9);
	for (uint32_t k = 0; k < REQUESTS; k++) {
		assert_int_equal(lane.request[k].op, 4);
		assert_int_equal(lane.request[k].swap_add, 1);
		assert_int_equal(lane.request[k].pieces, 1);
		assert_int_equal(lane.request[k].remote_va, 4096);
		assert_int_equal(lane.piece[k].length, 64);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_a_struct_stored_in_a_loop_keep_their_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
