/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A session of the storm: one connector, queue pair and completion queue from creation to the last
 * Release, on one end. And what all sessions share: the two ends, the counters, the checks.
 * Start with Session::Start() and Session::OnPacket().
 */
#ifndef SESSION_H
#define SESSION_H

#include <winsock2.h>
#include <ndspi.h>
#include <ntstatus.h>

static const int SESSIONS = 8; // on each side
static const ULONG RECEIVES = 4;
static const ULONG MESSAGE = 64;
static const SIZE_T PIECE = (RECEIVES + 1) * MESSAGE; // of an end's buffer, for each session
static const USHORT PORT = 54326;

// Who leaves, and how.
enum Mode {
	ModeCross,
	ModeClientLeaves,
	ModeServerLeaves,
	ModeServerRejects,
	ModeClientRejects,
	Modes
};

// Private data of either side; also what messages are made of.
struct Hello {
	UINT64 Id;
	UINT32 Mode;
	UINT32 Magic;
};
static const UINT32 MAGIC = 0x4e443221;

// One end: an adapter and a buffer of which each session has a piece.
struct End {
	SOCKADDR_IN Address;
	IND2Adapter *Adapter;
	HANDLE File;
	IND2MemoryRegion *Mr;
	IND2Listener *Listener; // of the server
	BYTE *Buffer;
	UINT32 Token;
};
extern End g_Ends[2];

// What is counted, by all threads; and what they are told.
struct Counters {
	volatile LONG Over, Closing; // no more clients; no more servers
	volatile LONG Clients, Servers;
	volatile LONG Failures, Ids, Lives, ByMode[Modes];
	volatile LONG Begun, Ended; // overlapped requests
	volatile LONG Posted, Reaped, Sends, SendsDone, ReceivesDone;
};
extern Counters g_Counters;
extern HANDLE g_ClientsGone, g_ServersGone;

LONG Now(volatile LONG *value);
bool Check(bool good, const char *what, const char *file, int line, HRESULT hr);
#define CHECK(condition)            Check((condition), #condition, __FILE__, __LINE__, 0)
#define CHECK_HR(condition, status) Check((condition), #condition, __FILE__, __LINE__, (status))

class Session
{
      public:
	static void Start(bool client, int slot);
	static void OnPacket(OVERLAPPED *ov, BOOL ok, DWORD error);

      private:
	// What is under way; each has an OVERLAPPED of its own.
	enum Step {
		StepMeet,
		StepAnswer,
		StepNotice,
		StepLeave,
		StepCq,
		Steps
	};

	struct Request {
		OVERLAPPED Ov;
		Session *Owner;
		Step Which;
		bool Pending;
	};

	CRITICAL_SECTION m_Lock;
	End *m_End;
	bool m_Client;
	int m_Slot;
	IND2CompletionQueue *m_Cq;
	IND2QueuePair *m_Qp;
	IND2Connector *m_Connector;
	Request m_Requests[Steps];
	int m_Pending; // requests
	ULONG m_Posted, m_Reaped, m_Seen;
	bool m_Together, m_Leaving, m_Parted, m_Heard, m_SendDone, m_Stopped;
	Hello m_Hello, m_Peer;

	void Open();
	void Close();
	bool Took(Step step, HRESULT hr);
	OVERLAPPED *Begin(Step step);
	void Meet();
	void Met(HRESULT hr);
	void Answered(HRESULT hr);
	void Establish();
	void Send();
	void Leave();
	void Apart();
	void Noticed(HRESULT hr);
	void Reap();
	void Reaped(const ND2_RESULT &result);
	void ReadHello(Hello *hello);
	void Handle(Step step, HRESULT hr);
	bool Finished();

	BYTE *
	Piece() const
	{
		return m_End->Buffer + m_Slot * PIECE;
	}

	bool
	IsLeaver() const
	{
		return m_Hello.Mode == ModeCross ||
		       m_Hello.Mode ==
			       (m_Client ? (UINT32)ModeClientLeaves : (UINT32)ModeServerLeaves);
	}
};

#endif
