/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ND2 as a C++ client written for Windows uses it: interface pointers, HRESULTs, OVERLAPPEDs with
 * events, sockaddrs; adapters by NdOpenAdapter(). Shared by classes*.cpp. A failed check ends the
 * program with status 1, and every wait has a deadline. Start with Pair, and with CHECK_PENDS.
 */
#ifndef CLASSES_H
#define CLASSES_H

#include <winsock2.h>
#include <ws2tcpip.h>
#include <ndsupport.h>
#include <ntstatus.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

static const DWORD PATIENCE_MS = 30000;
static const DWORD A_WHILE_MS = 30; /* long enough for everything pending to have happened */
static const ULONG ARENA = 256 * 1024;

[[noreturn]] void Fail(const char *file, int line, const char *what, HRESULT is, HRESULT shall);

#define CHECK(condition)                                            \
	do {                                                        \
		if (!(condition))                                   \
			Fail(__FILE__, __LINE__, #condition, 0, 0); \
	} while (0)

#define CHECK_HR(call, expected)                                      \
	do {                                                          \
		HRESULT is_ = (call), shall_ = (expected);            \
		if (is_ != shall_)                                    \
			Fail(__FILE__, __LINE__, #call, is_, shall_); \
	} while (0)

/* The call must pend, and end with this status. */
#define CHECK_PENDS(object, call, ov, status)             \
	do {                                              \
		CHECK_HR((object)->call, ND_PENDING);     \
		CHECK_HR(Wait((object), (ov)), (status)); \
	} while (0)

/* The last reference. */
template <class T>
void
Done(T *&object)
{
	if (object != nullptr)
		CHECK(object->Release() == 0);
	object = nullptr;
}

/* An OVERLAPPED with an auto-reset event of its own. */
class Overlapped : public OVERLAPPED
{
      public:
	Overlapped();
	~Overlapped();
	Overlapped(const Overlapped &) = delete;
	Overlapped &operator=(const Overlapped &) = delete;
};

HRESULT Wait(IND2Overlapped *object, OVERLAPPED &ov);
/* It pends still, though there was time. */
void CheckPending(IND2Overlapped *object, OVERLAPPED &ov);

struct Address {
	SOCKADDR_STORAGE storage;
	ULONG length;

	SOCKADDR *Get();
};

/* AF_INET or AF_INET6: of all addresses that are used now. */
extern int g_Family;
/* The address of the first or the second adapter. */
Address AddressOf(unsigned end, USHORT port);
IND2Adapter *OpenAdapter(unsigned end);
ND2_ADAPTER_INFO QueryAdapter(IND2Adapter *adapter);
typedef HRESULT (*CanUnloadNow)();
typedef HRESULT (*GetClassObject)(REFCLSID, REFIID, void **);
CanUnloadNow FindCanUnloadNow();
GetClassObject FindClassObject();

struct Options {
	ULONG depth = 64, cqDepth = 256, sges = 4, inlineBytes = 0, threshold = 0;
	bool srq = false;
	ULONG mrFlags = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |
			ND_MR_FLAG_ALLOW_REMOTE_WRITE;
};

/* The objects on one adapter. A test sets those that it has released itself to nullptr. */
class Side
{
      public:
	Side(unsigned end, const Options &options);
	~Side();
	Side(const Side &) = delete;
	Side &operator=(const Side &) = delete;

	IND2MemoryRegion *Region(void *memory, SIZE_T bytes, ULONG flags);
	IND2MemoryWindow *Window();
	IND2CompletionQueue *Cq(ULONG depth);
	IND2QueuePair *Qp();
	IND2Connector *Connector();

	ND2_SGE Sge(ULONG offset, ULONG bytes);
	UINT64 At(ULONG offset);
	void Receive(uintptr_t context, ULONG offset, ULONG bytes);
	void Send(uintptr_t context, ULONG offset, ULONG bytes, ULONG flags = 0);
	/* From or to the same offset of the peer. */
	void Read(Side &peer, uintptr_t context, ULONG offset, ULONG bytes, ULONG flags = 0);
	void Write(Side &peer, uintptr_t context, ULONG offset, ULONG bytes, ULONG flags = 0);

	Options options;
	IND2Adapter *adapter = nullptr;
	HANDLE file = nullptr;
	IND2CompletionQueue *rx = nullptr, *tx = nullptr;
	IND2SharedReceiveQueue *srq = nullptr;
	IND2MemoryRegion *mr = nullptr;
	IND2QueuePair *qp = nullptr;
	IND2Connector *connector = nullptr;
	std::vector<BYTE> arena;
};

/* Two sides and a listener; a connects, b accepts. */
class Pair
{
      public:
	explicit Pair(const Options &options = Options());
	~Pair();
	Pair(const Pair &) = delete;
	Pair &operator=(const Pair &) = delete;

	void Request(const void *words = nullptr, ULONG bytes = 0);
	void Reply(const void *words = nullptr, ULONG bytes = 0);
	void Complete();
	void Connect();
	HRESULT Ask(const void *words, ULONG bytes);
	HRESULT Answer(const void *words, ULONG bytes);
	/* A message in each direction. */
	void Talk();

	/* they live longer than what finishes them */
	Overlapped asked, connected, accepted, completed;
	Side a, b;
	Address at;
	IND2Listener *listener = nullptr;
};

/* The next result, waited for; and it is this one. */
ND2_RESULT Reap(IND2CompletionQueue *cq);
ND2_RESULT Expect(IND2CompletionQueue *cq, uintptr_t context, HRESULT status);
void ExpectNone(IND2CompletionQueue *cq);
void Disconnect(IND2Connector *connector);

struct Test {
	const char *name;
	void (*run)();
};

#define TEST(name)          \
	{                   \
#name, name \
	}

/* Of one adapter, of messages and memory, of connections. */
extern const std::vector<Test> g_Objects, g_Messages, g_Connections;

#endif
