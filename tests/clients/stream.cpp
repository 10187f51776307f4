/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages by the million between two ends, each with its number, in every way that programs for
 * ND2 move them: sent with credits, written into a ring and announced, read, played back and forth,
 * or written to where the other end polls its memory. The client says in its private data what
 * shall be done. Start with Stream::Run().
 *
 *   stream ... --send|--write|--read|--pingpong|--memory
 *              --count N --size BYTES --depth N --sges N --inline --poll
 *
 * A depth of 0 is the deepest that Query offers. --poll: completions are polled, else slept for.
 */
#include "kit/kit.h"

enum Mode {
	ModeSend,
	ModeWrite,
	ModeRead,
	ModePingPong,
	ModeMemory,
	Modes
};
static const char *const NAMES[Modes] = {"sent with credits", "written", "read", "ping-pong",
					 "written to polled memory"};
static const TCHAR *const WORDS[Modes] = {_T("--send"), _T("--write"), _T("--read"),
					  _T("--pingpong"), _T("--memory")};
static const ULONG CREDITS = 4; // receives for credits, and half of a ring for each
static const ULONG NUMBER = sizeof(UINT64);
static const ULONG SGES_MAX = 16;

// What the client wants, and where its memory is. Of the server's only the memory counts.
struct Wish {
	UINT64 Address;
	UINT32 Token, Mode, Count, Size, Depth, Sges, Inline, Polls;
};
static Wish g_Wish;

class Stream
{
      public:
	Stream(Host &host, const Wish &wish);
	~Stream();
	void Run(bool client);

	Line It;
	Region Memory;
	Wish Mine, Theirs;

	// Prepared before there is a connection: the first messages may come with it.
	void Prepare(bool client);

      private:
	ULONG m_Messages, m_Credits, m_Written; // received and told
	ULONG m_Next;                           // number of the next message

	void Receive(ULONG slot);
	ULONG Parts(ULONG slot, ND2_SGE *sges) const;
	BYTE *Slot(ULONG slot) const;
	void Number(ULONG slot, UINT64 number);
	bool IsNumbered(ULONG slot, UINT64 number) const;
	void Told(const ND2_RESULT &result);
	void TellCredit();
	void Post(ULONG slot, ULONG flags);
	void Wait();

	void SendAll();
	void TakeAll();
	void WriteAll();
	void LookAll();
	void ReadAll();
	void Play(bool first);
	void PlayInMemory(bool first);
};

Stream::Stream(Host &host, const Wish &wish)
    : It(host, Depths{wish.Depth + CREDITS, wish.Depth + CREDITS, wish.Sges,
		      wish.Inline ? host.Info.InlineRequestThreshold : 0}),
      Memory(host, (SIZE_T)wish.Size * (wish.Depth + 1) * 2,
	     ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_WRITE |
		     ND_MR_FLAG_ALLOW_REMOTE_READ | ND_MR_FLAG_RDMA_READ_SINK),
      Mine(wish), Theirs(), m_Messages(), m_Credits(), m_Written(), m_Next()
{
	It.Blocks = !wish.Polls;
	Mine.Address = (UINT64)(ULONG_PTR)Memory.At;
	Mine.Token = Memory.Mr->GetRemoteToken();
}

Stream::~Stream()
{
}

// Slots 0 to Depth - 1 are written by the peer or received into, those behind them are sent from.
BYTE *
Stream::Slot(ULONG slot) const
{
	return Memory.At + (SIZE_T)slot * Mine.Size;
}

// The message of a slot in as many pieces as are wanted; the last one has what is left.
ULONG
Stream::Parts(ULONG slot, ND2_SGE *sges) const
{
	ULONG piece = Mine.Size / Mine.Sges, at = 0;

	for (ULONG i = 0; i < Mine.Sges; i++) {
		ULONG bytes = i + 1 < Mine.Sges ? piece : Mine.Size - at;
		sges[i] = Memory.Piece((SIZE_T)slot * Mine.Size + at, bytes);
		at += bytes;
	}
	return Mine.Sges;
}

// At both ends of a message: it arrives as a whole.
void
Stream::Number(ULONG slot, UINT64 number)
{
	CopyMemory(Slot(slot), &number, NUMBER);
	CopyMemory(Slot(slot) + Mine.Size - NUMBER, &number, NUMBER);
}

bool
Stream::IsNumbered(ULONG slot, UINT64 number) const
{
	return memcmp(Slot(slot), &number, NUMBER) == 0 &&
	       memcmp(Slot(slot) + Mine.Size - NUMBER, &number, NUMBER) == 0;
}

void
Stream::Receive(ULONG slot)
{
	ND2_SGE sges[SGES_MAX];

	CHECK_HR(It.Qp->Receive((void *)(ULONG_PTR)slot, sges, Parts(slot, sges)), ND_SUCCESS);
}

void
Stream::Prepare(bool client)
{
	const bool messages = Mine.Mode == ModePingPong || (Mine.Mode == ModeSend && !client);
	const ULONG n = messages ? Mine.Depth : CREDITS;

	for (ULONG i = 0; i < n; i++) {
		if (messages)
			Receive(i);
		else // a credit, or the news that a ring has been written: no bytes
			CHECK_HR(It.Qp->Receive(NULL, NULL, 0), ND_SUCCESS);
	}
}

// ---- completions --------------------------------------------------------------------------------

void
Stream::Told(const ND2_RESULT &result)
{
	CHECK_HR(result.Status, ND_SUCCESS);
	if (result.RequestType == Nd2RequestTypeReceive && result.BytesTransferred == 0) {
		CHECK_HR(It.Qp->Receive(NULL, NULL, 0), ND_SUCCESS);
		m_Credits++;
	} else if (result.RequestType == Nd2RequestTypeReceive) {
		ULONG slot = (ULONG)(ULONG_PTR)result.RequestContext;

		CHECK(result.BytesTransferred == Mine.Size);
		CHECK(slot == m_Messages % Mine.Depth); // in the order they were posted
		CHECK(IsNumbered(slot, m_Messages));
		m_Messages++;
		Receive(slot);
	} else {
		m_Written++;
	}
}

void
Stream::Wait()
{
	Told(It.Reap());
}

void
Stream::TellCredit()
{
	CHECK_HR(It.Qp->Send(NULL, NULL, 0, ND_OP_FLAG_SILENT_SUCCESS), ND_SUCCESS);
}

void
Stream::Post(ULONG slot, ULONG flags)
{
	ND2_SGE sges[SGES_MAX];
	ULONG n = Parts(slot, sges);
	const ULONG how = flags | (Mine.Inline ? ND_OP_FLAG_INLINE : 0);
	const UINT64 to = Theirs.Address + (UINT64)((slot % Mine.Depth) * Mine.Size);

	if (Mine.Mode == ModeSend || Mine.Mode == ModePingPong)
		CHECK_HR(It.Qp->Send(NULL, sges, n, how), ND_SUCCESS);
	else
		CHECK_HR(It.Qp->Write(NULL, sges, n, to, Theirs.Token, how), ND_SUCCESS);
}

// ---- ways ---------------------------------------------------------------------------------------

// Silent but for one of each half of the ring: what is acknowledged makes room without an entry.
void
Stream::SendAll()
{
	const ULONG half = (Mine.Depth + 1) / 2;
	ULONG allowed = Mine.Depth;

	for (m_Next = 0; m_Next < Mine.Count; m_Next++) {
		while (m_Next - m_Credits * half >= allowed)
			Wait();
		ULONG slot = Mine.Depth + m_Next % Mine.Depth;
		bool loud = (m_Next + 1) % half == 0 || m_Next + 1 == Mine.Count;
		Number(slot, m_Next);
		Post(slot, loud ? 0 : ND_OP_FLAG_SILENT_SUCCESS);
	}
	while (m_Written < (Mine.Count + half - 1) / half || m_Credits < Mine.Count / half)
		Wait();
}

void
Stream::TakeAll()
{
	const ULONG half = (Mine.Depth + 1) / 2;
	ULONG told = 0;

	while (m_Messages < Mine.Count) {
		Wait();
		for (; told < m_Messages / half; told++)
			TellCredit();
	}
}

// A ring at a time: the Send behind the writes says that it is full, a credit that it has been
// seen.
void
Stream::WriteAll()
{
	for (ULONG rounds = 0; m_Next < Mine.Count; rounds++) {
		for (ULONG i = 0; i < Mine.Depth && m_Next < Mine.Count; i++, m_Next++) {
			Number(Mine.Depth + i, m_Next);
			Post(Mine.Depth + i, ND_OP_FLAG_SILENT_SUCCESS);
		}
		TellCredit();
		while (m_Credits <= rounds)
			Wait();
	}
}

void
Stream::LookAll()
{
	for (ULONG rounds = 0; m_Next < Mine.Count; rounds++) {
		while (m_Credits <= rounds)
			Wait();
		for (ULONG i = 0; i < Mine.Depth && m_Next < Mine.Count; i++, m_Next++)
			CHECK(IsNumbered(i, m_Next));
		TellCredit();
	}
}

// As many as the queue takes, more than the limit of Reads: the others wait inside.
void
Stream::ReadAll()
{
	ND2_SGE sges[SGES_MAX];

	for (ULONG posted = 0; m_Next < Mine.Count;) {
		for (; posted < Mine.Count && posted - m_Next < Mine.Depth; posted++) {
			const ULONG slot = posted % Mine.Depth;
			const ULONG n = Parts(Mine.Depth + slot, sges);

			ZeroMemory(Slot(Mine.Depth + slot), Mine.Size);
			CHECK_HR(It.Qp->Read((void *)(ULONG_PTR)posted, sges, n,
					     Theirs.Address + (UINT64)slot * Mine.Size,
					     Theirs.Token, 0),
				 ND_SUCCESS);
		}
		ND2_RESULT result = It.Reap();
		CHECK_HR(result.Status, ND_SUCCESS);
		CHECK(result.RequestType == Nd2RequestTypeRead);
		CHECK((ULONG)(ULONG_PTR)result.RequestContext == m_Next);
		CHECK(IsNumbered(Mine.Depth + m_Next % Mine.Depth, m_Next % Mine.Depth));
		m_Next++;
	}
}

void
Stream::Play(bool first)
{
	for (m_Next = 0; m_Next < Mine.Count; m_Next++) {
		while (!first && m_Messages <= m_Next)
			Wait();
		Number(Mine.Depth, m_Next);
		Post(Mine.Depth, ND_OP_FLAG_SILENT_SUCCESS);
		while (first && m_Messages <= m_Next)
			Wait();
	}
}

// Nobody is told of anything: the last byte of the peer's Write is looked at until it changes. The
// other core may be busy, so a look gives way now and then.
void
Stream::PlayInMemory(bool first)
{
	volatile BYTE *last = Slot(0) + Mine.Size - 1;
	DWORD since = GetTickCount();

	for (m_Next = 0; m_Next < Mine.Count; m_Next++) {
		const BYTE number = (BYTE)(m_Next % 255 + 1);

		for (int side = 0; side < 2; side++) {
			if ((side == 0) == first) {
				FillMemory(Slot(Mine.Depth), Mine.Size, number);
				Post(Mine.Depth, ND_OP_FLAG_SILENT_SUCCESS);
				continue;
			}
			for (ULONG looks = 1; *last != number; looks++) {
				if (looks % 256 == 0)
					SwitchToThread();
				CHECK(GetTickCount() - since < 5 * PATIENCE);
			}
			for (ULONG i = 0; i < Mine.Size; i++)
				CHECK(Slot(0)[i] == number); // the last byte is the last
		}
		if (m_Next % 64 == 63) { // unsignaled requests free their places only when it looks
			ND2_RESULT none;
			CHECK(It.Cq->GetResults(&none, 1) == 0);
		}
	}
}

void
Stream::Run(bool client)
{
	switch (Mine.Mode) {
	case ModeSend:
		return client ? SendAll() : TakeAll();
	case ModeWrite:
		return client ? WriteAll() : LookAll();
	case ModeRead:
		return client ? ReadAll() : void();
	case ModePingPong:
		return Play(client);
	default:
		return PlayInMemory(client);
	}
}

// ---- ends ---------------------------------------------------------------------------------------

static void
Serve(const SOCKADDR_IN &at)
{
	Host host(at);
	Listener listener(host, at, 1);
	Request request;
	Wish wish;
	ULONG bytes = sizeof(wish);
	IND2Connector *connector;

	CHECK_HR(host.Adapter->CreateConnector(IID_IND2Connector, host.File, (void **)&connector),
		 ND_SUCCESS);
	SayListening();
	CHECK_HR(request.Wait(listener.It, listener.It->GetConnectionRequest(connector, &request)),
		 ND_SUCCESS);
	HRESULT hr = connector->GetPrivateData(&wish, &bytes);
	CHECK((hr == ND_SUCCESS || hr == ND_BUFFER_OVERFLOW) && wish.Mode < Modes);
	// what it is to be is known only now
	Stream stream(host, wish);
	CHECK(stream.It.Connector->Release() == 0);
	stream.It.Connector = connector;
	stream.Theirs = wish;
	stream.Prepare(false);
	if (wish.Mode == ModeRead) {
		for (ULONG i = 0; i < wish.Depth; i++) {
			UINT64 number = i;
			CopyMemory(stream.Memory.At + (SIZE_T)i * wish.Size, &number, NUMBER);
			CopyMemory(stream.Memory.At + (SIZE_T)(i + 1) * wish.Size - NUMBER, &number,
				   NUMBER);
		}
	}
	stream.It.Accept(&stream.Mine, sizeof(stream.Mine));
	stream.Run(false);
	stream.It.BeLeft();
}

static void
Call(const SOCKADDR_IN &from, const SOCKADDR_IN &to)
{
	Host host(from);
	ULONG bytes = sizeof(Wish), deepest = host.Info.MaxInitiatorQueueDepth - CREDITS;

	if (g_Wish.Depth == 0 || g_Wish.Depth > deepest)
		g_Wish.Depth = deepest;
	CHECK(g_Wish.Sges > 0 && g_Wish.Sges <= host.Info.MaxInitiatorSge);
	CHECK(!g_Wish.Inline || g_Wish.Size <= host.Info.InlineRequestThreshold);
	Stream stream(host, g_Wish);
	stream.Prepare(true);
	stream.It.Connect(to, &stream.Mine, sizeof(stream.Mine));
	HRESULT hr = stream.It.Connector->GetPrivateData(&stream.Theirs, &bytes);
	CHECK(hr == ND_SUCCESS || hr == ND_BUFFER_OVERFLOW);
	ULONGLONG begun = NowUs();
	stream.Run(true);
	ULONGLONG us = NowUs() - begun;
	stream.It.Leave();
	printf("%u messages of %u bytes %s, depth %u, %s: %.2f us each\n", g_Wish.Count,
	       g_Wish.Size, NAMES[g_Wish.Mode], g_Wish.Depth, g_Wish.Polls ? "polled" : "slept for",
	       (double)us / g_Wish.Count);
}

static void
ReadOptions(Options &options)
{
	for (ULONG mode = 0; mode < Modes; mode++) {
		if (options.Has(WORDS[mode]))
			g_Wish.Mode = mode;
	}
	g_Wish.Count = options.Number(_T("--count"), 20000);
	g_Wish.Size = options.Number(_T("--size"), 64);
	g_Wish.Depth = options.Number(_T("--depth"), 128);
	g_Wish.Sges = options.Number(_T("--sges"), 1);
	g_Wish.Inline = options.Has(_T("--inline"));
	g_Wish.Polls = options.Has(_T("--poll"));
	if (g_Wish.Count == 0 || g_Wish.Size < 2 * NUMBER || g_Wish.Depth == 1) {
		printf("--count from 1, --size from %u, --depth 0 or from 2\n", 2 * NUMBER);
		ExitProcess(2);
	}
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	return RunEnds(Ends{"stream", Serve, Call, ReadOptions}, argc, argv);
}
