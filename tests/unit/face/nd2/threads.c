/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One adapter, several threads: every method of IND2Adapter at once, objects that are created and
 * released concurrently, and their requests. The threads count statuses; the test judges them.
 */
#include "nd2_pair.h"

#include <stdlib.h>
#include <string.h>

enum {
	THREADS = 4,
	ROUNDS = 60,
	BYTES = 4096,
};

struct worker {
	IND2Adapter *adapter; /* one for all, or a reference of its own */
	unsigned failures;    /* calls with an unexpected result */
	HRESULT last;         /* of the first of them */
};

/* Counts a call whose result was not the expected one. */
static void
must(struct worker *worker, HRESULT is, HRESULT expected)
{
	if (is == expected)
		return;
	if (worker->failures++ == 0)
		worker->last = is;
}

/* Waits as a client does: with an event, without a limit. */
static void
must_end(struct worker *worker, HRESULT call, OVERLAPPED *ov, HRESULT expected)
{
	must(worker, call, ND_PENDING);
	if (call != ND_PENDING)
		return;
	if (WaitForSingleObject(ov->hEvent, TEST_PATIENCE_MS) != WAIT_OBJECT_0)
		must(worker, ND_IO_TIMEOUT, expected);
	else
		must(worker, nd_status(ov), expected);
}

static void
must_be_last(struct worker *worker, void *object)
{
	if (object)
		must(worker, (HRESULT)IUnknown_Release((IUnknown *)object), 0);
}

/* ---- a thread's work ---- */

static void
ask(struct worker *worker)
{
	ND2_ADAPTER_INFO info = {.InfoVersion = ND_VERSION_2};
	uint64_t room[32];
	SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)(void *)room;
	ULONG length = sizeof(info);
	void *same = NULL;

	must(worker, IND2Adapter_Query(worker->adapter, &info, &length), ND_SUCCESS);
	length = sizeof(room);
	must(worker, IND2Adapter_QueryAddressList(worker->adapter, list, &length), ND_SUCCESS);
	must(worker, list->iAddressCount, 2);
	must(worker, IND2Adapter_QueryInterface(worker->adapter, &IID_IUnknown, &same), S_OK);
	IND2Adapter_Release(worker->adapter);
}

/* A region registered and deregistered, a receive flushed, a notification for it and one that is
 * cancelled. */
static void
use(struct worker *worker, IND2CompletionQueue *cq, IND2MemoryRegion *mr, IND2QueuePair *qp,
    OVERLAPPED *ov)
{
	uint8_t *memory = nd_memory(BYTES);
	ND2_RESULT result = {0};
	ND2_SGE sge = {.Buffer = memory, .BufferLength = BYTES};

	must_end(worker,
		 IND2MemoryRegion_Register(mr, memory, BYTES, ND_MR_FLAG_ALLOW_LOCAL_WRITE, ov), ov,
		 ND_SUCCESS);
	sge.MemoryRegionToken = IND2MemoryRegion_GetLocalToken(mr);
	must(worker, IND2QueuePair_Receive(qp, worker, &sge, 1), ND_SUCCESS);
	must(worker, IND2QueuePair_Flush(qp), ND_SUCCESS);
	must_end(worker, IND2CompletionQueue_Notify(cq, ND_CQ_NOTIFY_ANY, ov), ov, ND_SUCCESS);
	must(worker, (HRESULT)IND2CompletionQueue_GetResults(cq, &result, 1), 1);
	must(worker, result.Status, ND_CANCELED);
	must(worker, result.RequestContext == worker ? ND_SUCCESS : ND_UNSUCCESSFUL, ND_SUCCESS);
	must(worker, IND2CompletionQueue_Notify(cq, ND_CQ_NOTIFY_ANY, ov), ND_PENDING);
	must(worker, IND2CompletionQueue_CancelOverlappedRequests(cq), ND_SUCCESS);
	must(worker, (HRESULT)ov->Internal, ND_CANCELED);
	must_end(worker, IND2MemoryRegion_Deregister(mr, ov), ov, ND_SUCCESS);
	nd_memory_free(memory);
}

static void
one_of_each(struct worker *worker, OVERLAPPED *ov)
{
	IND2Adapter *adapter = worker->adapter;
	void *cq = NULL, *srq = NULL, *mr = NULL, *mw = NULL, *qp = NULL, *connector = NULL;
	void *listener = NULL;
	HANDLE file = NULL;

	must(worker, IND2Adapter_CreateOverlappedFile(adapter, &file), ND_SUCCESS);
	must(worker,
	     IND2Adapter_CreateCompletionQueue(adapter, &IID_IND2CompletionQueue, file, 16, 0, 0,
					       &cq),
	     ND_SUCCESS);
	must(worker,
	     IND2Adapter_CreateSharedReceiveQueue(adapter, &IID_IND2SharedReceiveQueue, file, 16, 1,
						  0, 0, 0, &srq),
	     ND_SUCCESS);
	must(worker, IND2Adapter_CreateMemoryRegion(adapter, &IID_IND2MemoryRegion, file, &mr),
	     ND_SUCCESS);
	must(worker, IND2Adapter_CreateMemoryWindow(adapter, &IID_IND2MemoryWindow, &mw),
	     ND_SUCCESS);
	must(worker, IND2Adapter_CreateConnector(adapter, &IID_IND2Connector, file, &connector),
	     ND_SUCCESS);
	must(worker, IND2Adapter_CreateListener(adapter, &IID_IND2Listener, file, &listener),
	     ND_SUCCESS);
	must(worker,
	     IND2Adapter_CreateQueuePair(adapter, &IID_IND2QueuePair, cq, cq, NULL, 8, 8, 1, 1, 0,
					 &qp),
	     ND_SUCCESS);
	if (worker->failures == 0)
		use(worker, cq, mr, qp, ov);
	must_be_last(worker, cq);
	must_be_last(worker, listener);
	must_be_last(worker, mr);
	must_be_last(worker, connector);
	must_be_last(worker, srq);
	must_be_last(worker, qp);
	must_be_last(worker, mw);
	must(worker, CloseHandle(file) ? ND_SUCCESS : ND_UNSUCCESSFUL, ND_SUCCESS);
}

static DWORD WINAPI
live(void *argument)
{
	OVERLAPPED ov = {.hEvent = CreateEventW(NULL, FALSE, FALSE, NULL)};
	struct worker *worker = argument;

	for (int i = 0; i < ROUNDS && worker->failures == 0; i++) {
		ask(worker);
		one_of_each(worker, &ov);
	}
	CloseHandle(ov.hEvent);
	return 0;
}

static void
run(struct worker *workers)
{
	HANDLE thread[THREADS];

	for (int i = 0; i < THREADS; i++) {
		thread[i] = CreateThread(NULL, 0, live, &workers[i], 0, NULL);
		assert_non_null(thread[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(WaitForSingleObject(thread[i], INFINITE), WAIT_OBJECT_0);
		CloseHandle(thread[i]);
	}
	for (int i = 0; i < THREADS; i++)
		if (workers[i].failures)
			fail_msg("thread %d: %u calls failed, the first with 0x%08x", i,
				 workers[i].failures, (unsigned int)workers[i].last);
}

/* ---- tests ---- */

static void
threads_share_one_adapter(void **state)
{
	struct worker workers[THREADS] = {0};
	IND2Adapter *adapter = nd_adapter(0);

	(void)state;
	for (int i = 0; i < THREADS; i++)
		workers[i].adapter = adapter;
	run(workers);
	nd_release(adapter, 0);
}

static void
threads_have_an_adapter_each(void **state)
{
	struct worker workers[THREADS] = {0};

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		workers[i].adapter = nd_adapter(i % 2);
	run(workers);
	for (int i = 0; i < THREADS; i++)
		nd_release(workers[i].adapter, 0);
}

/* The last reference is released in any thread; exactly one of them gets 0. */
static DWORD WINAPI
add_and_release(void *argument)
{
	struct worker *worker = argument;

	for (int i = 0; i < 100000; i++) {
		IND2Adapter_AddRef(worker->adapter);
		if (IND2Adapter_Release(worker->adapter) == 0)
			worker->failures++;
	}
	worker->last = (HRESULT)IND2Adapter_Release(worker->adapter);
	return 0;
}

static void
threads_count_references(void **state)
{
	struct worker workers[THREADS] = {0};
	IND2Adapter *adapter = nd_adapter(0);
	HANDLE thread[THREADS];
	int zeros = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		workers[i].adapter = adapter;
		IND2Adapter_AddRef(adapter);
	}
	nd_release(adapter, THREADS);
	for (int i = 0; i < THREADS; i++)
		thread[i] = CreateThread(NULL, 0, add_and_release, &workers[i], 0, NULL);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(WaitForSingleObject(thread[i], INFINITE), WAIT_OBJECT_0);
		CloseHandle(thread[i]);
		assert_int_equal(workers[i].failures, 0);
		zeros += workers[i].last == 0;
	}
	assert_int_equal(zeros, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ND_TEST(threads_share_one_adapter),
		ND_TEST(threads_have_an_adapter_each),
		ND_TEST(threads_count_references),
	};

	return nd_run("threads", tests, sizeof(tests) / sizeof(tests[0]));
}
