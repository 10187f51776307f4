/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client of ND2 in C: ping-pong between two processes, each in one thread that sleeps in epoll.
 * The connection's requests and the completion queue's have an event each, whose descriptor epoll
 * watches; a client that lives in an event loop of Linux has no need of a thread for ND2.
 * The objects are called by their tables, and by the COBJMACROS where that is shorter.
 * Start with main() and on_completions().
 *
 *   pingpong server ADDRESS:PORT
 *   pingpong client ADDRESS:PORT ROUNDS
 */
#define COBJMACROS
#include <winsock2.h>
#include <ndsupport.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	SIZE = 64,
	DEPTH = 4,
	PATIENCE_MS = 60000,
};

/* A request that has a descriptor. */
struct request {
	OVERLAPPED overlapped;
	void (*ended)(HRESULT status);
};

static struct {
	IND2Adapter *adapter;
	HANDLE file;
	IND2CompletionQueue *cq;
	IND2QueuePair *qp;
	IND2Connector *connector;
	IND2Listener *listener;
	IND2MemoryRegion *mr;
	UINT32 token;
	unsigned char (*buffer)[SIZE]; /* [DEPTH + 1] receives, and what is sent */
	int epoll;
	bool client, over;
	unsigned long rounds, played; /* of a client; a server plays as long as it is asked */
	struct request meeting, completions, notice, leaving, memory;
} self;

static void
check(bool good, const char *what, HRESULT status)
{
	if (good)
		return;
	fprintf(stderr, "%s: 0x%08x\n", what, (unsigned int)status);
	exit(1);
}

static void
must(HRESULT status, const char *what)
{
	check(status == ND_SUCCESS, what, status);
}

/* What has been called must have pended, and ended() is called when it is done. */
static void
pends(HRESULT status, const char *what)
{
	check(status == ND_PENDING, what, status);
}

static void
watch(struct request *request, void (*ended)(HRESULT status))
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = request};

	request->ended = ended;
	request->overlapped.hEvent = CreateEvent(NULL, FALSE, FALSE, NULL);
	check(epoll_ctl(self.epoll, EPOLL_CTL_ADD, plx_handle_fd(request->overlapped.hEvent),
			&event) == 0,
	      "epoll_ctl", 0);
}

/* One turn of the loop. */
static void
turn(void)
{
	struct epoll_event event;
	struct request *request;

	check(epoll_wait(self.epoll, &event, 1, PATIENCE_MS) == 1, "epoll_wait", ND_TIMEOUT);
	request = event.data.ptr;
	/* an auto-reset event is taken by the wait, its descriptor is quiet again */
	check(WaitForSingleObject(request->overlapped.hEvent, 0) == WAIT_OBJECT_0, "event", 0);
	request->ended(IND2CompletionQueue_GetOverlappedResult(self.cq, &request->overlapped, 0));
}

/* ---- ping-pong ---- */

static void
receive(size_t room)
{
	ND2_SGE sge = {self.buffer[room], SIZE, self.token};

	must(self.qp->lpVtbl->Receive(self.qp, (void *)room, &sge, 1), "Receive");
}

static void
send_number(unsigned long number)
{
	ND2_SGE sge = {self.buffer[DEPTH], SIZE, self.token};

	memset(self.buffer[DEPTH], (int)(number & 255), SIZE);
	must(IND2QueuePair_Send(self.qp, NULL, &sge, 1, ND_OP_FLAG_SILENT_SUCCESS), "Send");
}

static void
take(const ND2_RESULT *result)
{
	const size_t room = (size_t)result->RequestContext;

	/* the end of the connection; a Send that nobody answered comes back, too */
	if (result->Status == ND_CANCELED)
		return;
	must(result->Status, "a completion");
	check(result->RequestType == Nd2RequestTypeReceive && result->BytesTransferred == SIZE,
	      "a message", 0);
	for (size_t i = 0; i < SIZE; i++)
		check(self.buffer[room][i] == (self.played & 255), "a message's bytes", 0);
	receive(room);
	self.played++;
	if (!self.client)
		send_number(self.played - 1);
	else if (self.played < self.rounds)
		send_number(self.played);
	else
		pends(IND2Connector_Disconnect(self.connector, &self.leaving.overlapped),
		      "Disconnect");
}

static void
on_completions(HRESULT status)
{
	ND2_RESULT results[DEPTH];
	ULONG n;

	must(status, "Notify");
	while ((n = self.cq->lpVtbl->GetResults(self.cq, results, DEPTH)) != 0)
		for (ULONG i = 0; i < n; i++)
			take(&results[i]);
	if (!self.over)
		pends(IND2CompletionQueue_Notify(self.cq, ND_CQ_NOTIFY_ANY,
						 &self.completions.overlapped),
		      "Notify");
}

/* ---- connections ---- */

static void
on_left(HRESULT status)
{
	must(status, "Disconnect");
	self.over = true;
}

/* The client has had enough. */
static void
on_async_event(HRESULT status)
{
	must(status, "NotifyDisconnect");
	pends(IND2Connector_Disconnect(self.connector, &self.leaving.overlapped), "Disconnect");
}

static void
on_established(HRESULT status)
{
	must(status, "the connection");
	if (self.client)
		send_number(0);
	else
		pends(IND2Connector_NotifyDisconnect(self.connector, &self.notice.overlapped),
		      "NotifyDisconnect");
}

static void
on_reply(HRESULT status)
{
	must(status, "Connect");
	self.meeting.ended = on_established;
	pends(IND2Connector_CompleteConnect(self.connector, &self.meeting.overlapped),
	      "CompleteConnect");
}

static void
on_request(HRESULT status)
{
	must(status, "GetConnectionRequest");
	self.meeting.ended = on_established;
	pends(self.connector->lpVtbl->Accept(self.connector, (IUnknown *)self.qp, 0, 0, NULL, 0,
					     &self.meeting.overlapped),
	      "Accept");
}

static void
serve(const struct sockaddr_in *at)
{
	must(IND2Adapter_CreateListener(self.adapter, &IID_IND2Listener, self.file,
					(void **)&self.listener),
	     "CreateListener");
	must(IND2Listener_Bind(self.listener, (const struct sockaddr *)at, sizeof(*at)), "Bind");
	must(IND2Listener_Listen(self.listener, 1), "Listen");
	watch(&self.meeting, on_request);
	pends(IND2Listener_GetConnectionRequest(self.listener, (IUnknown *)self.connector,
						&self.meeting.overlapped),
	      "GetConnectionRequest");
	printf("listening\n");
	fflush(stdout);
}

static void
call(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
	must(IND2Connector_Bind(self.connector, (const struct sockaddr *)from, sizeof(*from)),
	     "Bind");
	watch(&self.meeting, on_reply);
	pends(IND2Connector_Connect(self.connector, (IUnknown *)self.qp,
				    (const struct sockaddr *)to, sizeof(*to), 0, 0, NULL, 0,
				    &self.meeting.overlapped),
	      "Connect");
}

/* ---- the program ---- */

static void
on_memory(HRESULT status)
{
	must(status, "Register or Deregister");
	self.token = self.mr->lpVtbl->GetLocalToken(self.mr);
}

static void
open_all(const struct sockaddr_in *local)
{
	must(NdOpenAdapter(&IID_IND2Adapter, (const struct sockaddr *)local, sizeof(*local),
			   (void **)&self.adapter),
	     "NdOpenAdapter");
	must(self.adapter->lpVtbl->CreateOverlappedFile(self.adapter, &self.file), "a file");
	must(IND2Adapter_CreateCompletionQueue(self.adapter, &IID_IND2CompletionQueue, self.file,
					       2 * DEPTH, 0, 0, (void **)&self.cq),
	     "CreateCompletionQueue");
	must(IND2Adapter_CreateQueuePair(self.adapter, &IID_IND2QueuePair, (IUnknown *)self.cq,
					 (IUnknown *)self.cq, NULL, DEPTH, DEPTH, 1, 1, 0,
					 (void **)&self.qp),
	     "CreateQueuePair");
	must(IND2Adapter_CreateConnector(self.adapter, &IID_IND2Connector, self.file,
					 (void **)&self.connector),
	     "CreateConnector");
	must(IND2Adapter_CreateMemoryRegion(self.adapter, &IID_IND2MemoryRegion, self.file,
					    (void **)&self.mr),
	     "CreateMemoryRegion");
	watch(&self.memory, on_memory);
	/* a polluxd reaches no other memory */
	self.buffer =
		VirtualAlloc(NULL, (DEPTH + 1) * SIZE, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
	check(self.buffer != NULL, "VirtualAlloc", 0);
	pends(IND2MemoryRegion_Register(self.mr, self.buffer, (DEPTH + 1) * SIZE,
					ND_MR_FLAG_ALLOW_LOCAL_WRITE, &self.memory.overlapped),
	      "Register");
	turn();
	for (size_t i = 0; i < DEPTH; i++)
		receive(i);
	watch(&self.notice, on_async_event);
	watch(&self.leaving, on_left);
	watch(&self.completions, on_completions);
	pends(IND2CompletionQueue_Notify(self.cq, ND_CQ_NOTIFY_ANY, &self.completions.overlapped),
	      "Notify");
}

#define RELEASE(object) check((object)->lpVtbl->Release(object) == 0, "a count of " #object, 0)

static void
close_all(void)
{
	struct request *const requests[] = {&self.meeting, &self.completions, &self.notice,
					    &self.leaving, &self.memory};

	pends(IND2MemoryRegion_Deregister(self.mr, &self.memory.overlapped), "Deregister");
	while (self.memory.overlapped.Internal == (ULONG_PTR)ND_PENDING)
		turn();
	if (self.listener)
		RELEASE(self.listener);
	RELEASE(self.mr);
	RELEASE(self.connector);
	RELEASE(self.qp);
	RELEASE(self.cq);
	CloseHandle(self.file);
	RELEASE(self.adapter);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		CloseHandle(requests[i]->overlapped.hEvent);
}

static bool
parse(int n, char *arguments[], struct sockaddr_in *at)
{
	INT length = sizeof(*at);

	self.client = n == 4 && strcmp(arguments[1], "client") == 0;
	self.rounds = self.client ? strtoul(arguments[3], NULL, 0) : 0;
	return (self.client ? self.rounds > 0 : n == 3 && strcmp(arguments[1], "server") == 0) &&
	       WSAStringToAddressA(arguments[2], AF_INET, NULL, (struct sockaddr *)at, &length) ==
		       0;
}

int
main(int n, char *arguments[])
{
	struct sockaddr_in at, local;
	SIZE_T bytes = sizeof(local);

	if (!parse(n, arguments, &at)) {
		fprintf(stderr, "pingpong server ADDRESS:PORT | client ADDRESS:PORT ROUNDS\n");
		return 2;
	}
	self.epoll = epoll_create1(0);
	must(NdStartup(), "NdStartup");
	must(NdResolveAddress((const struct sockaddr *)&at, sizeof(at), (struct sockaddr *)&local,
			      &bytes),
	     "NdResolveAddress");
	open_all(self.client ? &local : &at);
	if (self.client)
		call(&local, &at);
	else
		serve(&at);
	while (!self.over)
		turn();
	close_all();
	must(NdCleanup(), "NdCleanup");
	printf("%u rounds, all right\n", (unsigned int)self.played);
	return 0;
}
