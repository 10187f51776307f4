/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The assertions on ND2 (README.md, A01 to A30) through its C++ classes, as a client for Windows
 * is written: what runs the tests, and what the tests stand on. The assertions themselves are in
 * classes_objects.cpp, classes_messages.cpp and classes_connections.cpp.
 * Start with wmain().
 */
#include "classes.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

static const unsigned DEADLINE_S = 240; /* of all tests */
static const USHORT FIRST_PORT = 6000;

static const char CONFIG[] =
	"adapters = (\n"
	"  { name = \"nd0\"; device = \"net_wire0,end=0\"; worker = \"nd\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.3.1/24\", \"fd78:3::1/64\" ]; },\n"
	"  { name = \"nd1\"; device = \"net_wire0,end=1\"; worker = \"nd\"; idle = \"yield\";\n"
	"    packets = 4096; address = [ \"10.78.3.2/24\", \"fd78:3::2/64\" ]; }\n"
	");\n";

int g_Family = AF_INET;
static std::string g_Config;

/* ---- failing and waiting ---- */

static void
RemoveConfig()
{
	if (!g_Config.empty())
		unlink(g_Config.c_str());
}

void
Fail(const char *file, int line, const char *what, HRESULT is, HRESULT shall)
{
	if (is == shall)
		printf("%s:%d: not so: %s\n", file, line, what);
	else
		printf("%s:%d: %s is 0x%08x, not 0x%08x\n", file, line, what,
		       static_cast<unsigned>(is), static_cast<unsigned>(shall));
	fflush(stdout);
	RemoveConfig();
	_exit(1);
}

Overlapped::Overlapped() : OVERLAPPED()
{
	hEvent = CreateEvent(NULL, FALSE, FALSE, NULL);
	CHECK(hEvent != NULL);
}

Overlapped::~Overlapped()
{
	CHECK(CloseHandle(hEvent));
}

HRESULT
Wait(IND2Overlapped *object, OVERLAPPED &ov)
{
	CHECK(WaitForSingleObject(ov.hEvent, PATIENCE_MS) == WAIT_OBJECT_0);
	return object->GetOverlappedResult(&ov, FALSE);
}

void
CheckPending(IND2Overlapped *object, OVERLAPPED &ov)
{
	CHECK(WaitForSingleObject(ov.hEvent, A_WHILE_MS) == WAIT_TIMEOUT);
	CHECK_HR(object->GetOverlappedResult(&ov, FALSE), ND_PENDING);
}

ND2_RESULT
Reap(IND2CompletionQueue *cq)
{
	ND2_RESULT result;

	ULONGLONG end = GetTickCount64() + PATIENCE_MS;
	while (cq->GetResults(&result, 1) == 0) {
		CHECK(GetTickCount64() < end);
		Sleep(0);
	}
	return result;
}

ND2_RESULT
Expect(IND2CompletionQueue *cq, uintptr_t context, HRESULT status)
{
	ND2_RESULT result = Reap(cq);

	CHECK(reinterpret_cast<uintptr_t>(result.RequestContext) == context);
	CHECK_HR(result.Status, status);
	return result;
}

void
ExpectNone(IND2CompletionQueue *cq)
{
	ND2_RESULT result;

	Sleep(A_WHILE_MS);
	CHECK(cq->GetResults(&result, 1) == 0);
}

void
Disconnect(IND2Connector *connector)
{
	Overlapped ov;

	CHECK_PENDS(connector, Disconnect(&ov), ov, ND_SUCCESS);
}

/* ---- adapters ---- */

SOCKADDR *
Address::Get()
{
	return reinterpret_cast<SOCKADDR *>(&storage);
}

Address
AddressOf(unsigned end, USHORT port)
{
	Address address = Address();
	const char *text[2][2] = {{"10.78.3.1", "10.78.3.2"}, {"fd78:3::1", "fd78:3::2"}};

	if (g_Family == AF_INET6) {
		SOCKADDR_IN6 *in6 = reinterpret_cast<SOCKADDR_IN6 *>(&address.storage);
		address.length = sizeof(*in6);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		CHECK(inet_pton(AF_INET6, text[1][end], &in6->sin6_addr) == 1);
	} else {
		SOCKADDR_IN *in = reinterpret_cast<SOCKADDR_IN *>(&address.storage);
		address.length = sizeof(*in);
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		CHECK(inet_pton(AF_INET, text[0][end], &in->sin_addr) == 1);
	}
	return address;
}

IND2Adapter *
OpenAdapter(unsigned end)
{
	Address address = AddressOf(end, 0);
	IND2Adapter *adapter = nullptr;

	CHECK_HR(NdOpenAdapter(IID_IND2Adapter, address.Get(), address.length,
			       reinterpret_cast<void **>(&adapter)),
		 ND_SUCCESS);
	return adapter;
}

ND2_ADAPTER_INFO
QueryAdapter(IND2Adapter *adapter)
{
	ND2_ADAPTER_INFO info = ND2_ADAPTER_INFO();
	ULONG bytes = sizeof(info);

	info.InfoVersion = ND_VERSION_2;
	CHECK_HR(adapter->Query(&info, &bytes), ND_SUCCESS);
	return info;
}

static FARPROC
FindExport(const char *name)
{
	static HMODULE library = LoadLibraryA(getenv("ND2_PROVIDER"));
	CHECK(library != NULL);
	FARPROC found = GetProcAddress(library, name);
	CHECK(found != NULL);
	return found;
}

CanUnloadNow
FindCanUnloadNow()
{
	return reinterpret_cast<CanUnloadNow>(FindExport("DllCanUnloadNow"));
}

GetClassObject
FindClassObject()
{
	return reinterpret_cast<GetClassObject>(FindExport("DllGetClassObject"));
}

/* ---- sides ---- */

Side::Side(unsigned end, const Options &wanted) : options(wanted), arena(ARENA)
{
	adapter = OpenAdapter(end);
	CHECK_HR(adapter->CreateOverlappedFile(&file), ND_SUCCESS);
	mr = Region(arena.data(), arena.size(), options.mrFlags);
	rx = Cq(options.cqDepth);
	tx = Cq(options.cqDepth);
	if (options.srq)
		CHECK_HR(adapter->CreateSharedReceiveQueue(
				 IID_IND2SharedReceiveQueue, file, options.depth, options.sges,
				 options.threshold, 0, 0, reinterpret_cast<void **>(&srq)),
			 ND_SUCCESS);
	qp = Qp();
	connector = Connector();
}

Side::~Side()
{
	Done(connector);
	Done(qp);
	Done(srq);
	Done(tx);
	Done(rx);
	if (mr != nullptr) {
		Overlapped ov;
		CHECK_PENDS(mr, Deregister(&ov), ov, ND_SUCCESS);
		Done(mr);
	}
	if (file != nullptr)
		CHECK(CloseHandle(file));
	Done(adapter);
}

IND2MemoryRegion *
Side::Region(void *memory, SIZE_T bytes, ULONG flags)
{
	IND2MemoryRegion *region = nullptr;
	Overlapped ov;

	CHECK_HR(adapter->CreateMemoryRegion(IID_IND2MemoryRegion, file,
					     reinterpret_cast<void **>(&region)),
		 ND_SUCCESS);
	CHECK_PENDS(region, Register(memory, bytes, flags, &ov), ov, ND_SUCCESS);
	return region;
}

IND2MemoryWindow *
Side::Window()
{
	IND2MemoryWindow *window = nullptr;

	CHECK_HR(adapter->CreateMemoryWindow(IID_IND2MemoryWindow,
					     reinterpret_cast<void **>(&window)),
		 ND_SUCCESS);
	return window;
}

IND2CompletionQueue *
Side::Cq(ULONG depth)
{
	IND2CompletionQueue *cq = nullptr;

	CHECK_HR(adapter->CreateCompletionQueue(IID_IND2CompletionQueue, file, depth, 0, 0,
						reinterpret_cast<void **>(&cq)),
		 ND_SUCCESS);
	return cq;
}

IND2QueuePair *
Side::Qp()
{
	IND2QueuePair *made = nullptr;
	void **out = reinterpret_cast<void **>(&made);

	if (srq != nullptr)
		CHECK_HR(adapter->CreateQueuePairWithSrq(IID_IND2QueuePair, rx, tx, srq, this,
							 options.depth, options.sges,
							 options.inlineBytes, out),
			 ND_SUCCESS);
	else
		CHECK_HR(adapter->CreateQueuePair(IID_IND2QueuePair, rx, tx, this, options.depth,
						  options.depth, options.sges, options.sges,
						  options.inlineBytes, out),
			 ND_SUCCESS);
	return made;
}

IND2Connector *
Side::Connector()
{
	IND2Connector *made = nullptr;

	CHECK_HR(
		adapter->CreateConnector(IID_IND2Connector, file, reinterpret_cast<void **>(&made)),
		ND_SUCCESS);
	return made;
}

ND2_SGE
Side::Sge(ULONG offset, ULONG bytes)
{
	ND2_SGE sge = {arena.data() + offset, bytes, mr->GetLocalToken()};

	return sge;
}

UINT64
Side::At(ULONG offset)
{
	return reinterpret_cast<uintptr_t>(arena.data() + offset);
}

static void *
Context(uintptr_t number)
{
	return reinterpret_cast<void *>(number);
}

void
Side::Receive(uintptr_t context, ULONG offset, ULONG bytes)
{
	ND2_SGE sge = Sge(offset, bytes);

	if (srq != nullptr)
		CHECK_HR(srq->Receive(Context(context), &sge, 1), ND_SUCCESS);
	else
		CHECK_HR(qp->Receive(Context(context), &sge, 1), ND_SUCCESS);
}

void
Side::Send(uintptr_t context, ULONG offset, ULONG bytes, ULONG flags)
{
	ND2_SGE sge = Sge(offset, bytes);

	CHECK_HR(qp->Send(Context(context), &sge, 1, flags), ND_SUCCESS);
}

void
Side::Read(Side &peer, uintptr_t context, ULONG offset, ULONG bytes, ULONG flags)
{
	ND2_SGE sge = Sge(offset, bytes);

	CHECK_HR(qp->Read(Context(context), &sge, 1, peer.At(offset), peer.mr->GetRemoteToken(),
			  flags),
		 ND_SUCCESS);
}

void
Side::Write(Side &peer, uintptr_t context, ULONG offset, ULONG bytes, ULONG flags)
{
	ND2_SGE sge = Sge(offset, bytes);

	CHECK_HR(qp->Write(Context(context), &sge, 1, peer.At(offset), peer.mr->GetRemoteToken(),
			   flags),
		 ND_SUCCESS);
}

/* ---- pairs ---- */

Pair::Pair(const Options &options) : a(0, options), b(1, options)
{
	static USHORT ports = FIRST_PORT;
	Address from = AddressOf(0, 0);

	at = AddressOf(1, ports++);
	CHECK_HR(b.adapter->CreateListener(IID_IND2Listener, b.file,
					   reinterpret_cast<void **>(&listener)),
		 ND_SUCCESS);
	CHECK_HR(listener->Bind(at.Get(), at.length), ND_SUCCESS);
	CHECK_HR(listener->Listen(0), ND_SUCCESS);
	CHECK_HR(a.connector->Bind(from.Get(), from.length), ND_SUCCESS);
}

Pair::~Pair()
{
	for (IND2Connector *connector : {a.connector, b.connector}) {
		Overlapped ov;
		/* connected or not any more: only that it ends is asked for */
		if (connector != nullptr && connector->Disconnect(&ov) == ND_PENDING)
			Wait(connector, ov);
	}
	Done(listener);
}

HRESULT
Pair::Ask(const void *words, ULONG bytes)
{
	return a.connector->Connect(a.qp, at.Get(), at.length, 16, 16, words, bytes, &connected);
}

HRESULT
Pair::Answer(const void *words, ULONG bytes)
{
	return b.connector->Accept(b.qp, 16, 16, words, bytes, &accepted);
}

void
Pair::Request(const void *words, ULONG bytes)
{
	CHECK_HR(listener->GetConnectionRequest(b.connector, &asked), ND_PENDING);
	CHECK_HR(Ask(words, bytes), ND_PENDING);
	CHECK_HR(Wait(listener, asked), ND_SUCCESS);
}

void
Pair::Reply(const void *words, ULONG bytes)
{
	CHECK_HR(Answer(words, bytes), ND_PENDING);
	CHECK_HR(Wait(a.connector, connected), ND_SUCCESS);
}

void
Pair::Complete()
{
	HRESULT hr = a.connector->CompleteConnect(&completed);

	if (hr == ND_PENDING)
		hr = Wait(a.connector, completed);
	CHECK_HR(hr, ND_SUCCESS);
	CHECK_HR(Wait(b.connector, accepted), ND_SUCCESS);
}

void
Pair::Connect()
{
	Request();
	Reply();
	Complete();
}

void
Pair::Talk()
{
	Side *from = &a, *to = &b;

	for (int way = 0; way < 2; way++, std::swap(from, to)) {
		memset(&from->arena[0], 'a' + way, 100);
		memset(&to->arena[ARENA - 100], 0, 100);
		to->Receive(71, ARENA - 100, 100);
		from->Send(72, 0, 100);
		CHECK(Expect(to->rx, 71, ND_SUCCESS).BytesTransferred == 100);
		Expect(from->tx, 72, ND_SUCCESS);
		CHECK(memcmp(&from->arena[0], &to->arena[ARENA - 100], 100) == 0);
	}
}

/* ---- running ---- */

static void
Run(const std::vector<Test> &tests)
{
	for (const Test &test : tests) {
		printf("%s, IPv%d\n", test.name, g_Family == AF_INET ? 4 : 6);
		fflush(stdout);
		test.run();
	}
}

static void
WriteConfig()
{
	char path[] = "/tmp/nd2-classes-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	g_Config = path;
	CHECK(write(fd, CONFIG, sizeof(CONFIG) - 1) == static_cast<ssize_t>(sizeof(CONFIG) - 1));
	close(fd);
	setenv("POLLUX_CONFIG", path, 1);
}

int
wmain()
{
	WSADATA data;

	alarm(DEADLINE_S);
	WriteConfig();
	CHECK(WSAStartup(MAKEWORD(2, 2), &data) == 0);
	CHECK_HR(NdStartup(), ND_SUCCESS);
	Run(g_Objects);
	Run(g_Messages);
	Run(g_Connections);
	g_Family = AF_INET6;
	Run(g_Connections);
	CHECK_HR(NdCleanup(), ND_SUCCESS);
	WSACleanup();
	RemoveConfig();
	return 0;
}
