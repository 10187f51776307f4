/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clients that request less than they use, that create their adapters anew, that use many files,
 * and messages of maximum length.
 */
#include "nd2_pair.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A client that requests one SGE and sends two is one of Microsoft's own. */
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

/* ---- the longest message ---- */

enum {
	PIECE = 64 << 20,
	PIECES = 32, /* this many have the maximum length */
};

/* As much of the address space as the longest message, and no more memory than a piece of it. */
static uint8_t *
map_longest(void)
{
	const size_t bytes = (size_t)PIECE * PIECES;
	int fd = memfd_create("longest", MFD_CLOEXEC);
	uint8_t *all =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(fd >= 0);
	assert_ptr_not_equal(all, MAP_FAILED);
	assert_int_equal(ftruncate(fd, PIECE), 0);
	for (size_t at = 0; at < bytes; at += PIECE)
		assert_ptr_equal(mmap(all + at, PIECE, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_FIXED, fd, 0),
				 all + at);
	close(fd);
	return all;
}

/* It is written completely; one byte more is refused, whatever the operation. */
static void
the_longest_message_travels_and_a_longer_one_does_not(void **state)
{
	struct nd_pair *pair = nd_pair_open(NULL);
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG length = sizeof(info);
	uint8_t *from = map_longest(), *to = map_longest();
	IND2MemoryRegion *source, *target;
	ND2_SGE sge[2];
	uint64_t there = (uint64_t)(uintptr_t)to;
	UINT32 token;

	(void)state;
	assert_hr(IND2Adapter_Query(pair->a.adapter, &info, &length), ND_SUCCESS);
	assert_int_equal(info.MaxTransferLength, (size_t)PIECE * PIECES);
	source = nd_side_mr(&pair->a, from, info.MaxTransferLength, 0);
	target = nd_side_mr(&pair->b, to, info.MaxTransferLength, ND_MR_FLAG_ALLOW_REMOTE_WRITE);
	token = IND2MemoryRegion_GetRemoteToken(target);
	for (size_t i = 0; i < PIECE; i += 4096)
		from[i] = (uint8_t)(i >> 12);
	sge[0] = (ND2_SGE){from, info.MaxTransferLength, IND2MemoryRegion_GetLocalToken(source)};
	sge[1] = (ND2_SGE){from, 1, sge[0].MemoryRegionToken};
	assert_hr(IND2QueuePair_Send(pair->a.qp, NULL, sge, 2, 0), ND_BUFFER_OVERFLOW);
	assert_hr(IND2QueuePair_Write(pair->a.qp, NULL, sge, 2, there, token, 0),
		  ND_BUFFER_OVERFLOW);
	assert_hr(IND2QueuePair_Read(pair->a.qp, NULL, sge, 2, there, token, 0),
		  ND_BUFFER_OVERFLOW);
	assert_hr(IND2QueuePair_Receive(pair->a.qp, NULL, sge, 2), ND_BUFFER_OVERFLOW);
	assert_hr(IND2QueuePair_Write(pair->a.qp, (void *)1, sge, 1, there, token, 0), ND_SUCCESS);
	nd_expect(pair->a.initiator_cq, 1, ND_SUCCESS);
	assert_memory_equal(to, from, PIECE);
	nd_expect_none(pair->a.initiator_cq);
	nd_mr_end(source);
	nd_mr_end(target);
	munmap(from, (size_t)PIECE * PIECES);
	munmap(to, (size_t)PIECE * PIECES);
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

	const struct CMUnitTest of_workers[] = {
		ND_TEST(the_longest_message_travels_and_a_longer_one_does_not),
	};
	int failures = nd_run_both("rounds", tests, sizeof(tests) / sizeof(tests[0]));

	return failures + nd_run("rounds, long", of_workers, 1);
}
