/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What clients do who ask for less than they use, with adapters that are made anew,
 * and with many files.
 */
#include "nd.h"

#include <string.h>

/* A client that asks for one SGE and sends two is one of Microsoft's own. */
static void
two_sges_where_one_was_asked_for(void **state)
{
	struct nd_pair *pair = nd_pair_open(&(struct nd_options){.sges = 1});
	ND2_SGE from[2] = {nd_sge(&pair->a, 0, 100), nd_sge(&pair->a, 4096, 50)};
	ND2_SGE to[2] = {nd_sge(&pair->b, 0, 60), nd_sge(&pair->b, 8192, 90)};

	(void)state;
	nd_fill(&pair->a, 0, 100, 1);
	nd_fill(&pair->a, 4096, 50, 2);
	assert_hr(IND2QueuePair_Receive(pair->b.qp, (void *)7, to, 2), ND_SUCCESS);
	assert_hr(IND2QueuePair_Send(pair->a.qp, (void *)8, from, 2, 0), ND_SUCCESS);
	assert_int_equal(nd_expect(pair->b.receive_cq, 7, ND_SUCCESS).BytesTransferred, 150);
	nd_expect(pair->a.initiator_cq, 8, ND_SUCCESS);
	assert_memory_equal(pair->b.arena, pair->a.arena, 60);
	assert_memory_equal(pair->b.arena + 8192, pair->a.arena + 60, 40);
	assert_memory_equal(pair->b.arena + 8192 + 40, pair->a.arena + 4096, 50);
	nd_pair_close(pair);
}

/* Everything from the provider on, again and again: devices, threads and descriptors come back. */
static void
adapters_are_made_anew(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		struct nd_options options = {.family = i % 2 ? AF_INET6 : AF_INET,
					     .two_cqs = i % 3 == 0};
		struct nd_pair *pair = nd_pair_open(&options);

		nd_fill(&pair->a, 0, 4096, (uint8_t)i);
		nd_write(&pair->a, &pair->b, 1, 0, 4096, 0);
		nd_expect(pair->a.initiator_cq, 1, ND_SUCCESS);
		nd_assert_filled(&pair->b, 0, 4096, (uint8_t)i);
		nd_pair_close(pair);
		assert_hr(nd_can_unload(), S_OK);
	}
}

static void
many_files_on_one_adapter(void **state)
{
	IND2Adapter *adapter = nd_adapter(0);
	HANDLE file[64];

	(void)state;
	assert_hr(IND2Adapter_CreateOverlappedFile(adapter, NULL), ND_INVALID_PARAMETER);
	for (int i = 0; i < 64; i++) {
		assert_hr(IND2Adapter_CreateOverlappedFile(adapter, &file[i]), ND_SUCCESS);
		for (int j = 0; j < i; j++)
			assert_ptr_not_equal(file[i], file[j]);
	}
	nd_release(adapter, 0);
	/* a file is nobody's but the client's */
	for (int i = 0; i < 64; i++)
		assert_true(CloseHandle(file[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(two_sges_where_one_was_asked_for),
		ND_TEST(adapters_are_made_anew),
		ND_TEST(many_files_on_one_adapter),
	};

	return nd_run_both("rounds", tests, sizeof(tests) / sizeof(tests[0]));
}
