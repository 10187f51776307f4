/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory regions through IND2MemoryRegion: how Register and Deregister complete, what they refuse,
 * many regions at once, and the memory that registering costs. Windows are in windows.c. Start with
 * A01_register_and_deregister_pend_and_tell_once().
 */
#include "nd2_pair.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MANY = 10000,
	BIG = 64 * 1024 * 1024,
/* [pages] Of 16,384; a sanitizer has pages of its own for the engine's threads. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	BIG_FAULTS = 1024,
#else
	BIG_FAULTS = 64,
#endif
	PAGE = 4096,
	ALL_RIGHTS = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |
		     ND_MR_FLAG_ALLOW_REMOTE_WRITE,
};

/* A region that is not registered, on a file of its own. */
struct scene {
	IND2Adapter *adapter;
	HANDLE file, port;
	IND2MemoryRegion *mr;
	uint8_t *memory;
};

static IND2MemoryRegion *
make_mr(IND2Adapter *adapter, HANDLE file)
{
	void *mr = NULL;

	assert_hr(IND2Adapter_CreateMemoryRegion(adapter, &IID_IND2MemoryRegion, file, &mr),
		  ND_SUCCESS);
	return mr;
}

static void
open_scene(struct scene *scene)
{
	scene->adapter = nd_adapter(0);
	assert_hr(IND2Adapter_CreateOverlappedFile(scene->adapter, &scene->file), ND_SUCCESS);
	scene->port = CreateIoCompletionPort(scene->file, NULL, 77, 0);
	assert_non_null(scene->port);
	scene->mr = make_mr(scene->adapter, scene->file);
	scene->memory = aligned_alloc(PAGE, 4 * PAGE);
	assert_non_null(scene->memory);
}

static void
close_scene(struct scene *scene)
{
	nd_release(scene->mr, 0);
	assert_true(CloseHandle(scene->port));
	assert_true(CloseHandle(scene->file));
	nd_release(scene->adapter, 0);
	free(scene->memory);
}

static void
expect_packet(struct scene *scene, OVERLAPPED *which)
{
	OVERLAPPED *got = NULL;
	ULONG_PTR key = 0;
	DWORD bytes = 1;

	assert_true(GetQueuedCompletionStatus(scene->port, &bytes, &key, &got, TEST_PATIENCE_MS));
	assert_ptr_equal(got, which);
	assert_int_equal(key, 77);
	assert_int_equal(bytes, 0);
}

static void
expect_no_packet(struct scene *scene)
{
	OVERLAPPED *got = (OVERLAPPED *)8;
	ULONG_PTR key;
	DWORD bytes;

	assert_false(GetQueuedCompletionStatus(scene->port, &bytes, &key, &got, 0));
	assert_null(got);
	assert_int_equal(GetLastError(), WAIT_TIMEOUT);
}

/* ---- completions ---- */

static void
A01_register_and_deregister_pend_and_tell_once(void **state)
{
	struct scene scene;
	OVERLAPPED ov;

	(void)state;
	open_scene(&scene);
	/* everything but hEvent is garbage, as clients have it */
	for (int round = 0; round < 100; round++) {
		memset(&ov, 0xa5, sizeof(ov));
		ov.hEvent = NULL;
		assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, PAGE, ALL_RIGHTS, &ov),
			  ND_PENDING);
		expect_packet(&scene, &ov);
		assert_hr(IND2MemoryRegion_GetOverlappedResult(scene.mr, &ov, TRUE), ND_SUCCESS);
		assert_hr(IND2MemoryRegion_Deregister(scene.mr, &ov), ND_PENDING);
		expect_packet(&scene, &ov);
		expect_no_packet(&scene);
	}
	close_scene(&scene);
}

static void
A01_bit_0_of_the_event_keeps_the_packet_away(void **state)
{
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);
	struct scene scene;
	OVERLAPPED ov;

	(void)state;
	open_scene(&scene);
	memset(&ov, 0xa5, sizeof(ov));
	ov.hEvent = (HANDLE)((uintptr_t)event | 1);
	for (int round = 0; round < 100; round++) {
		assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, PAGE, ALL_RIGHTS, &ov),
			  ND_PENDING);
		assert_int_equal(WaitForSingleObject(event, TEST_PATIENCE_MS), WAIT_OBJECT_0);
		assert_hr(IND2MemoryRegion_Deregister(scene.mr, &ov), ND_PENDING);
		assert_int_equal(WaitForSingleObject(event, TEST_PATIENCE_MS), WAIT_OBJECT_0);
		assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
	}
	expect_no_packet(&scene);
	close_scene(&scene);
	CloseHandle(event);
}

/* The result is in the OVERLAPPED: any object returns it, also one unrelated to it. */
static void
A03_result_comes_from_the_overlapped(void **state)
{
	OVERLAPPED ov = {0}, zero = {0};
	IND2MemoryRegion *other;
	struct scene scene;

	(void)state;
	open_scene(&scene);
	other = make_mr(scene.adapter, scene.file);
	assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, PAGE, ALL_RIGHTS, &ov),
		  ND_PENDING);
	assert_hr(IND2MemoryRegion_GetOverlappedResult(other, &ov, TRUE), ND_SUCCESS);
	assert_hr(IND2MemoryRegion_GetOverlappedResult(other, &zero, TRUE), ND_SUCCESS);
	assert_hr(IND2MemoryRegion_GetOverlappedResult(other, &zero, FALSE), ND_SUCCESS);
	/* a call that was refused has its status there, too, and no packet */
	assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, PAGE, ALL_RIGHTS, &zero),
		  ND_INVALID_DEVICE_STATE);
	assert_hr(IND2MemoryRegion_GetOverlappedResult(other, &zero, TRUE),
		  ND_INVALID_DEVICE_STATE);
	expect_packet(&scene, &ov);
	expect_no_packet(&scene);
	nd_release(other, 0);
	close_scene(&scene);
}

/* An auto-reset event that nobody waited for is still set when the next request begins. */
static void
A04_event_left_set_does_not_end_the_next_wait(void **state)
{
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);
	OVERLAPPED ov = {.hEvent = event};
	struct nd_side side;

	(void)state;
	nd_side_open(&side, 0, NULL);
	SetEvent(event);
	assert_hr(IND2CompletionQueue_Notify(side.receive_cq, ND_CQ_NOTIFY_ANY, &ov), ND_PENDING);
	assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
	assert_hr(IND2CompletionQueue_GetOverlappedResult(side.receive_cq, &ov, FALSE), ND_PENDING);
	nd_receive(&side, 1, 0, 8);
	assert_hr(IND2QueuePair_Flush(side.qp), ND_SUCCESS);
	assert_hr(IND2CompletionQueue_GetOverlappedResult(side.receive_cq, &ov, TRUE), ND_SUCCESS);
	nd_expect(side.receive_cq, 1, ND_CANCELED);
	nd_side_close(&side);
	CloseHandle(event);
}

/* ---- refusals ---- */

static void
A11_register_checks_in_order(void **state)
{
	struct scene scene;
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	ULONG length = sizeof(info);
	OVERLAPPED ov = {0};

	(void)state;
	open_scene(&scene);
	assert_hr(IND2Adapter_Query(scene.adapter, &info, &length), ND_SUCCESS);
	assert_hr(IND2MemoryRegion_Register(scene.mr, NULL, 0, 0, &ov), ND_INVALID_PARAMETER);
	assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, 0, 0, &ov),
		  ND_INVALID_BUFFER_SIZE);
	assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, info.MaxRegistrationSize + 1, 0,
					    &ov),
		  ND_INVALID_PARAMETER);
	assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, PAGE, 0x10, &ov),
		  ND_INVALID_PARAMETER_3);
	assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, PAGE, 0, NULL),
		  ND_INVALID_PARAMETER_4);
	assert_hr(IND2MemoryRegion_Deregister(scene.mr, NULL), ND_INVALID_PARAMETER_1);
	assert_hr(IND2MemoryRegion_Deregister(scene.mr, &ov), ND_INVALID_DEVICE_STATE);
	/* an invalid event */
	ov.hEvent = (HANDLE)scene.memory;
	assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, PAGE, 0, &ov),
		  ND_INVALID_HANDLE);
	ov.hEvent = NULL;
	assert_int_equal(IND2MemoryRegion_GetLocalToken(scene.mr), 0);
	expect_no_packet(&scene);
	/* and none of it has changed anything */
	assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, 1,
					    ND_MR_FLAG_DO_NOT_SECURE_VM | ALL_RIGHTS |
						    ND_MR_FLAG_RDMA_READ_SINK,
					    &ov),
		  ND_PENDING);
	expect_packet(&scene, &ov);
	ov.hEvent = (HANDLE)scene.memory;
	assert_hr(IND2MemoryRegion_Deregister(scene.mr, &ov), ND_INVALID_HANDLE);
	assert_int_not_equal(IND2MemoryRegion_GetLocalToken(scene.mr), 0);
	close_scene(&scene);
}

/* @param pages of memory of which the last one has `rights` */
static HRESULT
try_memory(struct scene *scene, size_t pages, int rights, ULONG flags, size_t from)
{
	uint8_t *memory = mmap(NULL, (pages + 1) * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OVERLAPPED ov = {0};
	HRESULT status;

	assert_ptr_not_equal(memory, MAP_FAILED);
	memset(memory, 1, pages * PAGE);
	if (rights < 0)
		assert_int_equal(munmap(memory + (pages - 1) * PAGE, PAGE), 0);
	else
		assert_int_equal(mprotect(memory + (pages - 1) * PAGE, PAGE, rights), 0);
	status = IND2MemoryRegion_Register(scene->mr, memory + from, pages * PAGE - from, flags,
					   &ov);
	if (status == ND_PENDING) {
		expect_packet(scene, &ov);
		assert_hr(IND2MemoryRegion_Deregister(scene->mr, &ov), ND_PENDING);
		expect_packet(scene, &ov);
	}
	for (size_t i = 0; i < (pages - 1) * PAGE; i++)
		assert_int_equal(memory[i], 1);
	munmap(memory, (pages + 1) * PAGE);
	return status;
}

/* Few pages and many are checked in different ways. */
static void
register_refuses_memory_that_is_not_accessible(void **state)
{
	static const size_t pages[] = {1, 2, 3, 256, 257, 1000};
	struct scene scene;

	(void)state;
	open_scene(&scene);
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		size_t n = pages[i], from = i % 2 ? 4093 : 0;

		assert_hr(try_memory(&scene, n, -1, 0, n > 1 ? from : 0), ND_ACCESS_VIOLATION);
		assert_hr(try_memory(&scene, n, PROT_NONE, 0, n > 1 ? from : 0),
			  ND_ACCESS_VIOLATION);
		assert_hr(try_memory(&scene, n, PROT_READ, ND_MR_FLAG_ALLOW_LOCAL_WRITE, from),
			  ND_ACCESS_VIOLATION);
		assert_hr(try_memory(&scene, n, PROT_READ, ND_MR_FLAG_ALLOW_REMOTE_READ, from),
			  ND_PENDING);
		assert_hr(try_memory(&scene, n, PROT_READ | PROT_WRITE, ALL_RIGHTS, from),
			  ND_PENDING);
	}
	/* beyond the end of everything */
	assert_hr(IND2MemoryRegion_Register(scene.mr, (void *)(UINTPTR_MAX - 100), PAGE, 0,
					    &(OVERLAPPED){0}),
		  ND_ACCESS_VIOLATION);
	assert_hr(IND2MemoryRegion_Register(scene.mr, (void *)64, PAGE, 0, &(OVERLAPPED){0}),
		  ND_ACCESS_VIOLATION);
	expect_no_packet(&scene);
	close_scene(&scene);
}

/* ---- many, and much ---- */

/* As ndmrrate: overlapping, with different rights, all alive at once, each with its own tokens. */
static void *
register_many(void *context)
{
	struct scene *scene = context;
	IND2MemoryRegion **mr = calloc(MANY, sizeof(IND2MemoryRegion *));
	UINT32 last = 0;

	for (uint32_t i = 0; i < MANY; i++) {
		static const ULONG rights[] = {0, ND_MR_FLAG_ALLOW_LOCAL_WRITE,
					       ND_MR_FLAG_ALLOW_REMOTE_READ, ALL_RIGHTS};
		OVERLAPPED ov = {0};

		mr[i] = make_mr(scene->adapter, scene->file);
		nd_pends(IND2MemoryRegion_Register(mr[i], scene->memory + i % 100,
						   1 + i % (2 * PAGE), rights[i % 4], &ov),
			 ND_SUCCESS);
		assert_int_not_equal(IND2MemoryRegion_GetLocalToken(mr[i]), last);
		last = IND2MemoryRegion_GetLocalToken(mr[i]);
		assert_int_equal(IND2MemoryRegion_GetRemoteToken(mr[i]), htonl(last));
	}
	for (uint32_t i = 0; i < MANY; i++) {
		OVERLAPPED ov = {0};

		if (i % 3 != 0)
			nd_pends(IND2MemoryRegion_Deregister(mr[i], &ov), ND_SUCCESS);
		nd_release(mr[i], 0);
	}
	free(mr);
	return NULL;
}

static void
ten_thousand_overlapping_regions_of_two_threads(void **state)
{
	struct scene scene;
	pthread_t thread;

	(void)state;
	open_scene(&scene);
	assert_int_equal(pthread_create(&thread, NULL, register_many, &scene), 0);
	register_many(&scene);
	pthread_join(thread, NULL);
	close_scene(&scene);
}

static long
minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static void
register_64_mib(bool touched)
{
	uint8_t *memory =
		mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct scene scene;
	OVERLAPPED ov = {0};
	long before;

	assert_ptr_not_equal(memory, MAP_FAILED);
	open_scene(&scene);
	for (size_t i = 0; touched && i < BIG; i += PAGE)
		memory[i] = 1;
	before = minor_faults();
	assert_hr(IND2MemoryRegion_Register(scene.mr, memory, BIG, ALL_RIGHTS, &ov), ND_PENDING);
	assert_in_range(minor_faults() - before, 0, BIG_FAULTS);
	expect_packet(&scene, &ov);
	close_scene(&scene);
	munmap(memory, BIG);
}

static void
register_64_mib_touches_next_to_nothing(void **state)
{
	(void)state;
	register_64_mib(true);
	register_64_mib(false);
}

/* The same object, again and again (ndmrlat), with another buffer each time. */
static void
a_region_can_be_registered_again(void **state)
{
	struct scene scene;
	OVERLAPPED ov = {0};
	UINT32 token = 0;

	(void)state;
	open_scene(&scene);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory + i % PAGE, PAGE,
						    ALL_RIGHTS, &ov),
			  ND_PENDING);
		expect_packet(&scene, &ov);
		assert_int_not_equal(IND2MemoryRegion_GetLocalToken(scene.mr), token);
		token = IND2MemoryRegion_GetLocalToken(scene.mr);
		assert_hr(IND2MemoryRegion_Register(scene.mr, scene.memory, PAGE, 0, &ov),
			  ND_INVALID_DEVICE_STATE);
		assert_int_equal(IND2MemoryRegion_GetLocalToken(scene.mr), token);
		assert_hr(IND2MemoryRegion_Deregister(scene.mr, &ov), ND_PENDING);
		expect_packet(&scene, &ov);
	}
	close_scene(&scene);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(A01_register_and_deregister_pend_and_tell_once),
		ND_TEST(A01_bit_0_of_the_event_keeps_the_packet_away),
		ND_TEST(A03_result_comes_from_the_overlapped),
		ND_TEST(A04_event_left_set_does_not_end_the_next_wait),
		ND_TEST(A11_register_checks_in_order),
		ND_TEST(register_refuses_memory_that_is_not_accessible),
		ND_TEST(register_64_mib_touches_next_to_nothing),
		ND_TEST(a_region_can_be_registered_again),
	};
	const struct CMUnitTest of_threads[] = {
		ND_TEST(ten_thousand_overlapping_regions_of_two_threads),
	};
	int failures = nd_run_both("regions", tests, sizeof(tests) / sizeof(tests[0]));

	return failures + nd_run("regions, threads", of_threads, 1);
}
