/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one program finds out of an adapter by itself, in C: everything that Query and the addresses
 * say, how long a registration takes and how many two threads make, completion queues of the
 * greatest depth and the order in which cancelled requests are told, queue pairs with all maxima at
 * once, and arguments that are wrong. All ends are told by one completion port. Start with main().
 *
 *   alone ADDRESS [ROUNDS]
 */
#define COBJMACROS
#include <winsock2.h>
#include <ndsupport.h>
#include <ntstatus.h>
#include <process.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATIENCE_MS = 60000,
	THREADS = 2,
	REGIONS = 500, /* of a thread, over one buffer */
	REGION = 64 << 10,
	MANY = 1 << 20, /* bytes from which on a round is a long one */
	QUEUES = 8,
	KINDS = 3, /* of Notify */
	LARGEST = 4 << 20,
};

static struct {
	IND2Adapter *adapter;
	HANDLE file, port;
	ND2_ADAPTER_INFO info;
	unsigned char *buffer; /* LARGEST bytes */
} self;

static void
check(bool good, const char *what, int line, HRESULT status)
{
	if (good)
		return;
	printf("FAILED: line %d: %s (0x%08x)\n", line, what, (unsigned int)status);
	exit(1);
}

#define CHECK(condition) check((condition), #condition, __LINE__, 0)
#define MUST(call, wanted)                                            \
	do {                                                          \
		HRESULT status_ = (call);                             \
		check(status_ == (wanted), #call, __LINE__, status_); \
	} while (0)

/* The next packet of the port, which must be of this request. */
static void
ends(IND2Overlapped *object, OVERLAPPED *request, HRESULT wanted)
{
	DWORD bytes;
	ULONG_PTR key;
	OVERLAPPED *ended = NULL;
	BOOL good = GetQueuedCompletionStatus(self.port, &bytes, &key, &ended, PATIENCE_MS);

	check(ended == request, "another request has ended", __LINE__, wanted);
	CHECK(!good == FAILED(wanted));
	CHECK(good || wanted != ND_CANCELED || GetLastError() == ERROR_OPERATION_ABORTED);
	MUST(object->lpVtbl->GetOverlappedResult(object, request, FALSE), wanted);
}

static double
now_us(void)
{
	LARGE_INTEGER now, hz;

	QueryPerformanceCounter(&now);
	QueryPerformanceFrequency(&hz);
	return (double)now.QuadPart * 1e6 / (double)hz.QuadPart;
}

/* ---- what is there ---- */

static void
look(void)
{
	const ND2_ADAPTER_INFO *info = &self.info;
	SOCKET_ADDRESS_LIST *list;
	ULONG bytes = 0;

	self.info.InfoVersion = ND_VERSION_2;
	MUST(IND2Adapter_Query(self.adapter, &self.info, &bytes), ND_BUFFER_OVERFLOW);
	CHECK(bytes == sizeof(self.info));
	MUST(IND2Adapter_Query(self.adapter, &self.info, &bytes), ND_SUCCESS);
	printf("vendor 0x%x, device 0x%x, adapter 0x%I64x, flags 0x%x\n", info->VendorId,
	       info->DeviceId, info->AdapterId, info->AdapterFlags);
	printf("registration %Iu, window %Iu, transfer %u, inline %u (%u), large from %u\n",
	       info->MaxRegistrationSize, info->MaxWindowSize, info->MaxTransferLength,
	       info->MaxInlineDataSize, info->InlineRequestThreshold, info->LargeRequestThreshold);
	printf("SGEs %u %u %u, reads %u %u, queues %u %u %u %u, private data %u %u\n",
	       info->MaxInitiatorSge, info->MaxReceiveSge, info->MaxReadSge,
	       info->MaxInboundReadLimit, info->MaxOutboundReadLimit, info->MaxReceiveQueueDepth,
	       info->MaxInitiatorQueueDepth, info->MaxSharedReceiveQueueDepth,
	       info->MaxCompletionQueueDepth, info->MaxCallerData, info->MaxCalleeData);
	CHECK(info->MaxReadSge <= info->MaxInitiatorSge &&
	      info->InlineRequestThreshold <= info->MaxInlineDataSize);
	bytes = 0;
	MUST(IND2Adapter_QueryAddressList(self.adapter, NULL, &bytes), ND_BUFFER_OVERFLOW);
	list = malloc(bytes);
	CHECK(list != NULL);
	MUST(IND2Adapter_QueryAddressList(self.adapter, list, &bytes), ND_SUCCESS);
	CHECK(list->iAddressCount > 0);
	for (int i = 0; i < list->iAddressCount; i++)
		CHECK(NdCheckAddress(list->Address[i].lpSockaddr,
				     (SIZE_T)list->Address[i].iSockaddrLength) == ND_SUCCESS);
	printf("%d addresses\n", list->iAddressCount);
	free(list);
}

/* ---- regions ---- */

static IND2MemoryRegion *
region(void)
{
	IND2MemoryRegion *mr;

	MUST(IND2Adapter_CreateMemoryRegion(self.adapter, &IID_IND2MemoryRegion, self.file,
					    (void **)&mr),
	     ND_SUCCESS);
	return mr;
}

/* One region again and again, of every size. */
static void
register_sizes(unsigned long rounds)
{
	IND2MemoryRegion *mr = region();
	OVERLAPPED request = {0};

	for (SIZE_T bytes = 1; bytes <= LARGEST; bytes *= 8) {
		const unsigned long n = bytes < MANY ? rounds : rounds / 10 + 1;
		double begun = now_us();

		for (unsigned long i = 0; i < n; i++) {
			MUST(IND2MemoryRegion_Register(mr, self.buffer, bytes,
						       ND_MR_FLAG_ALLOW_LOCAL_WRITE, &request),
			     ND_PENDING);
			ends((IND2Overlapped *)mr, &request, ND_SUCCESS);
			MUST(IND2MemoryRegion_Deregister(mr, &request), ND_PENDING);
			ends((IND2Overlapped *)mr, &request, ND_SUCCESS);
		}
		printf("%Iu bytes: %.2f us to register and deregister\n", bytes,
		       (now_us() - begun) / (double)n);
	}
	MUST(IND2MemoryRegion_Register(mr, NULL, 0, 0, &request), ND_INVALID_PARAMETER);
	MUST(IND2MemoryRegion_Register(mr, self.buffer, 0, 0, &request), ND_INVALID_BUFFER_SIZE);
	MUST(IND2MemoryRegion_Deregister(mr, &request), ND_INVALID_DEVICE_STATE);
	CHECK(IND2MemoryRegion_Release(mr) == 0);
}

/* A thread with regions that overlap those of the others; an event each, so that no packet comes.
 */
static unsigned int __stdcall register_many(void *context)
{
	IND2MemoryRegion *mr[REGIONS];
	OVERLAPPED request = {0};
	HANDLE event = CreateEvent(NULL, FALSE, FALSE, NULL);

	(void)context;
	request.hEvent = (HANDLE)((ULONG_PTR)event | 1);
	for (int i = 0; i < REGIONS; i++) {
		mr[i] = region();
		MUST(IND2MemoryRegion_Register(mr[i], self.buffer + i, REGION,
					       ND_MR_FLAG_ALLOW_LOCAL_WRITE, &request),
		     ND_PENDING);
		/* of any object: the answer is in the request */
		MUST(IND2MemoryRegion_GetOverlappedResult(mr[0], &request, TRUE), ND_SUCCESS);
		CHECK(i == 0 || IND2MemoryRegion_GetLocalToken(mr[i]) !=
					IND2MemoryRegion_GetLocalToken(mr[i - 1]));
	}
	for (int i = 0; i < REGIONS; i++) {
		MUST(IND2MemoryRegion_Deregister(mr[i], &request), ND_PENDING);
		MUST(IND2MemoryRegion_GetOverlappedResult(mr[i], &request, TRUE), ND_SUCCESS);
		CHECK(IND2MemoryRegion_Release(mr[i]) == 0);
	}
	CloseHandle(event);
	return 0;
}

static void
register_in_threads(void)
{
	HANDLE threads[THREADS];
	double begun = now_us();

	for (int i = 0; i < THREADS; i++) {
		threads[i] = (HANDLE)_beginthreadex(NULL, 0, register_many, NULL, 0, NULL);
		CHECK(threads[i] != NULL);
	}
	CHECK(WaitForMultipleObjects(THREADS, threads, TRUE, PATIENCE_MS) == WAIT_OBJECT_0);
	for (int i = 0; i < THREADS; i++)
		CloseHandle(threads[i]);
	printf("%d threads with %d regions each: %.2f us a region\n", THREADS, REGIONS,
	       (now_us() - begun) / (THREADS * REGIONS));
}

/* ---- queues ---- */

static IND2CompletionQueue *
queue(ULONG depth)
{
	IND2CompletionQueue *cq;

	MUST(IND2Adapter_CreateCompletionQueue(self.adapter, &IID_IND2CompletionQueue, self.file,
					       depth, 0, 0, (void **)&cq),
	     ND_SUCCESS);
	return cq;
}

/* Each kind of wait at each queue, two of the greatest depth among them; cancelled queue by queue,
 * they are told in the order in which they began. */
static void
cancel_in_order(unsigned long rounds)
{
	IND2CompletionQueue *cq[QUEUES];
	OVERLAPPED waits[QUEUES][KINDS];
	ND2_RESULT none;

	for (int i = 0; i < QUEUES; i++)
		cq[i] = queue(i < 2 ? self.info.MaxCompletionQueueDepth : 4);
	memset(waits, 0, sizeof(waits));
	for (unsigned long round = 0; round < rounds; round++) {
		for (int kind = 0; kind < KINDS; kind++)
			for (int i = 0; i < QUEUES; i++)
				MUST(IND2CompletionQueue_Notify(cq[i], (ULONG)kind,
								&waits[i][kind]),
				     ND_PENDING);
		for (int i = 0; i < QUEUES; i++)
			MUST(IND2CompletionQueue_CancelOverlappedRequests(cq[i]), ND_SUCCESS);
		for (int i = 0; i < QUEUES; i++)
			for (int kind = 0; kind < KINDS; kind++)
				ends((IND2Overlapped *)cq[i], &waits[i][kind], ND_CANCELED);
	}
	MUST(IND2CompletionQueue_Notify(cq[0], KINDS, &waits[0][0]), ND_INVALID_PARAMETER_1);
	for (int i = 0; i < QUEUES; i++) {
		CHECK(IND2CompletionQueue_GetResults(cq[i], &none, 1) == 0);
		CHECK(IND2CompletionQueue_Release(cq[i]) == 0);
	}
}

/* What CreateQueuePair is given, in the order of its parameters from the fifth on. */
struct shape {
	ULONG receives, requests, receive_sges, request_sges, inline_bytes;
};

static HRESULT
pair(IND2CompletionQueue *cq, const struct shape *shape, IND2QueuePair **qp)
{
	return IND2Adapter_CreateQueuePair(self.adapter, &IID_IND2QueuePair, (IUnknown *)cq,
					   (IUnknown *)cq, NULL, shape->receives, shape->requests,
					   shape->receive_sges, shape->request_sges,
					   shape->inline_bytes, (void **)qp);
}

/* All at once, as many bytes as that is; and one more of each, which is refused by its number. */
static void
largest_pairs(void)
{
	const ND2_ADAPTER_INFO *info = &self.info;
	const struct shape most = {info->MaxReceiveQueueDepth, info->MaxInitiatorQueueDepth,
				   info->MaxReceiveSge, info->MaxInitiatorSge,
				   info->MaxInlineDataSize};
	const HRESULT numbers[] = {ND_INVALID_PARAMETER_5, ND_INVALID_PARAMETER_6,
				   ND_INVALID_PARAMETER_7, ND_INVALID_PARAMETER_8,
				   ND_INVALID_PARAMETER_9};
	IND2CompletionQueue *cq = queue(2);
	IND2QueuePair *qp;

	MUST(pair(cq, &most, &qp), ND_SUCCESS);
	CHECK(IND2QueuePair_Release(qp) == 0);
	for (size_t i = 0; i < ARRAYSIZE(numbers); i++) {
		struct shape more = most;

		((ULONG *)&more)[i]++;
		MUST(pair(cq, &more, &qp), numbers[i]);
	}
	CHECK(IND2CompletionQueue_Release(cq) == 0);
}

/* A queue pair that was never connected takes receives, and gives them back when it is told to. */
static void
flush(void)
{
	const struct shape shape = {2, 2, 1, 1, 0};
	IND2CompletionQueue *cq = queue(4);
	ND2_RESULT results[3];
	OVERLAPPED wait = {0};
	IND2QueuePair *qp;

	MUST(pair(cq, &shape, &qp), ND_SUCCESS);
	MUST(IND2QueuePair_Send(qp, NULL, NULL, 0, 0), ND_CONNECTION_INVALID);
	MUST(IND2QueuePair_Read(qp, NULL, NULL, 0, 0, 0, 0), ND_CONNECTION_INVALID);
	MUST(IND2QueuePair_Write(qp, NULL, NULL, 0, 0, 0, 0), ND_CONNECTION_INVALID);
	for (ULONG_PTR i = 1; i <= 2; i++)
		MUST(IND2QueuePair_Receive(qp, (void *)i, NULL, 0), ND_SUCCESS);
	MUST(IND2QueuePair_Receive(qp, NULL, NULL, 0), ND_NO_MORE_ENTRIES);
	MUST(IND2QueuePair_Flush(qp), ND_SUCCESS);
	MUST(IND2CompletionQueue_Notify(cq, ND_CQ_NOTIFY_ANY, &wait), ND_PENDING);
	ends((IND2Overlapped *)cq, &wait, ND_SUCCESS);
	CHECK(IND2CompletionQueue_GetResults(cq, results, 3) == 2);
	for (ULONG_PTR i = 0; i < 2; i++)
		CHECK(results[i].Status == ND_CANCELED &&
		      results[i].RequestContext == (void *)(i + 1));
	CHECK(IND2QueuePair_Release(qp) == 0);
	CHECK(IND2CompletionQueue_Release(cq) == 0);
}

int
main(int n, char *arguments[])
{
	struct sockaddr_in at;
	INT length = sizeof(at);
	unsigned long rounds = n > 2 ? strtoul(arguments[2], NULL, 0) : 50;

	if (n < 2 || rounds == 0 ||
	    WSAStringToAddressA(arguments[1], AF_INET, NULL, (struct sockaddr *)&at, &length) !=
		    0) {
		fprintf(stderr, "alone ADDRESS [ROUNDS]\n");
		return 2;
	}
	self.buffer = calloc(1, LARGEST);
	CHECK(self.buffer != NULL);
	MUST(NdStartup(), ND_SUCCESS);
	MUST(NdOpenAdapter(&IID_IND2Adapter, (const struct sockaddr *)&at, sizeof(at),
			   (void **)&self.adapter),
	     ND_SUCCESS);
	MUST(IND2Adapter_CreateOverlappedFile(self.adapter, &self.file), ND_SUCCESS);
	self.port = CreateIoCompletionPort(self.file, NULL, 7, 0);
	CHECK(self.port != NULL);
	look();
	register_sizes(rounds);
	register_in_threads();
	cancel_in_order(rounds);
	largest_pairs();
	flush();
	CloseHandle(self.file);
	CloseHandle(self.port);
	CHECK(IND2Adapter_Release(self.adapter) == 0);
	MUST(NdCleanup(), ND_SUCCESS);
	free(self.buffer);
	printf("alone: all right\n");
	return 0;
}
