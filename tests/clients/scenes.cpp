/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What goes wrong, and what is at the edge, between two ends: a connection for each scene, on the
 * same adapters and listener. Every status is looked at on both sides. The client says in its
 * private data which scene is next. Start with g_Scenes.
 *
 *   scenes ...           every scene
 */
#include "kit/kit.h"

static const ULONG SIZE = 64 * 1024; // of a region
static const ULONG DEPTH = 16;
static const ULONG RECEIVES = 2;
static const ULONG ROOM = 4096; // of a receive
static const ULONG WINDOWS = 2000;
static const DWORD SOON = 5000; // [ms] in which a Send that nobody receives has failed
static const HRESULT BOUND_ALREADY = (HRESULT)STATUS_ADDRESS_ALREADY_ASSOCIATED;
static const HRESULT TOO_LONG = (HRESULT)STATUS_DATA_ERROR;

// A region's place, of the server
struct Place {
	UINT64 Address;
	UINT32 Token, Size;
};

// One end of a scene. The rest of a region is nobody's.
struct End {
	Host &Home;
	Line &It;
	Region &Mine;
	Place There; // of the server, for the client

	// Requests of the client to where the server is, with `bytes` of its own memory from
	// `from`.
	HRESULT
	Write(ULONG from, ULONG bytes, UINT64 offset)
	{
		ND2_SGE sge = Mine.Piece(from, bytes);
		return It.Qp->Write(NULL, &sge, 1, There.Address + offset, There.Token, 0);
	}

	HRESULT
	Read(ULONG from, ULONG bytes, UINT64 offset)
	{
		ND2_SGE sge = Mine.Piece(from, bytes);
		return It.Qp->Read(NULL, &sge, 1, There.Address + offset, There.Token, 0);
	}

	HRESULT
	Send(ULONG from, ULONG bytes)
	{
		ND2_SGE sge = Mine.Piece(from, bytes);
		return It.Qp->Send(NULL, &sge, 1, 0);
	}

	HRESULT
	Receive(ULONG at, ULONG bytes)
	{
		ND2_SGE sge = Mine.Piece(at, bytes);
		return It.Qp->Receive(NULL, &sge, 1);
	}

	// The connection has broken on this side: what is posted now is taken, and comes back.
	void
	IsBroken()
	{
		CHECK_HR(Send(0, 8), ND_SUCCESS);
		It.Flushes(1);
	}
};

// ---- lengths ------------------------------------------------------------------------------------

static const ULONG LENGTHS[] = {0,    1,    2,    3,    4,    7,    255,   256,     257,
				1023, 1024, 1025, 4095, 4096, 4097, 12289, SIZE / 2};

// Each length as a message in one and in three pieces, and written and read at an odd address.
static void
LengthsAtClient(End &end)
{
	for (ULONG i = 0; i < _countof(LENGTHS); i++) {
		const ULONG bytes = LENGTHS[i], third = bytes / 3;

		Fill(end.Mine.At, bytes, i);
		CHECK_HR(end.Write(0, bytes, 1), ND_SUCCESS);
		end.It.Expect(Nd2RequestTypeWrite, ND_SUCCESS);
		ZeroMemory(end.Mine.At + SIZE / 2, bytes);
		CHECK_HR(end.Read(SIZE / 2, bytes, 1), ND_SUCCESS);
		end.It.Expect(Nd2RequestTypeRead, ND_SUCCESS);
		CHECK(IsFilled(end.Mine.At + SIZE / 2, bytes, i));
		if (bytes > ROOM)
			continue;
		ND2_SGE sges[] = {end.Mine.Piece(0, third), end.Mine.Piece(third, third),
				  end.Mine.Piece(2 * third, bytes - 2 * third)};
		CHECK_HR(end.It.Qp->Send(NULL, sges, i % 2 ? 3 : 1, 0),
			 ND_SUCCESS); // of one piece only a third is sent
		end.It.Expect(Nd2RequestTypeSend, ND_SUCCESS);
		CHECK_HR(end.Receive(0, 1), ND_SUCCESS); // its turn
		end.It.Expect(Nd2RequestTypeReceive, ND_SUCCESS);
	}
	end.It.Leave();
}

static void
LengthsAtServer(End &end)
{
	for (ULONG i = 0; i < _countof(LENGTHS); i++) {
		const ULONG bytes = LENGTHS[i];

		if (bytes > ROOM)
			continue;
		ND2_RESULT result = end.It.Reap();
		CHECK(result.RequestType == Nd2RequestTypeReceive);
		CHECK_HR(result.Status, ND_SUCCESS);
		CHECK(result.BytesTransferred == (i % 2 ? bytes : bytes / 3));
		CHECK(IsFilled((BYTE *)result.RequestContext, result.BytesTransferred, i));
		CHECK(IsFilled(end.Mine.At + 1, bytes, i));
		ND2_SGE sge =
			end.Mine.Piece((SIZE_T)((BYTE *)result.RequestContext - end.Mine.At), ROOM);
		CHECK_HR(end.It.Qp->Receive(result.RequestContext, &sge, 1), ND_SUCCESS);
		CHECK_HR(end.It.Qp->Send(NULL, NULL, 0, 0), ND_SUCCESS);
		end.It.Expect(Nd2RequestTypeSend, ND_SUCCESS);
	}
	end.It.BeLeft();
	end.It.Flushes(RECEIVES);
}

// ---- faults -------------------------------------------------------------------------------------

static void
IsLeft(End &end)
{
	end.It.BeLeft();
	end.It.Flushes(RECEIVES);
}

// A message of one byte more than there is room for.
static void
TooLongAtClient(End &end)
{
	CHECK_HR(end.Send(0, ROOM + 1), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeSend, TOO_LONG);
	end.IsBroken();
	end.It.BeLeft();
}

static void
TooLongAtServer(End &end)
{
	end.It.Expect(Nd2RequestTypeReceive, ND_BUFFER_OVERFLOW);
	end.It.BeLeft();
	end.It.Flushes(RECEIVES - 1);
}

// Own memory that is not there: a byte behind the region.
static void
OwnWriteAtClient(End &end)
{
	CHECK_HR(end.Write(SIZE - 8, 9, 0), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeWrite, ND_ACCESS_VIOLATION);
	end.IsBroken();
	end.It.BeLeft();
}

static void
OwnReadAtClient(End &end)
{
	CHECK_HR(end.Read(SIZE - 8, 9, 0), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeRead, ND_ACCESS_VIOLATION);
	end.IsBroken();
	end.It.BeLeft();
}

// The peer's memory: a byte behind its region, and before.
static void
OverWriteAtClient(End &end)
{
	CHECK_HR(end.Write(0, 9, SIZE - 8), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeWrite, ND_ACCESS_VIOLATION);
	end.IsBroken();
	end.It.BeLeft();
}

static void
OverReadAtClient(End &end)
{
	CHECK_HR(end.Read(0, 9, (UINT64)-1), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeRead, ND_ACCESS_VIOLATION);
	end.IsBroken();
	end.It.BeLeft();
}

static void
UntouchedAtServer(End &end)
{
	IsLeft(end);
	for (ULONG i = 0; i < SIZE; i++)
		CHECK(end.Mine.At[i] == 0);
}

// A region of which nobody may write or read from afar.
static void
ShutAtServer(End &end)
{
	Region shut(end.Home, ROOM);
	Place place = {(UINT64)(ULONG_PTR)shut.At, shut.Mr->GetRemoteToken(), ROOM};

	CopyMemory(end.Mine.At + SIZE / 2, &place, sizeof(place));
	CHECK_HR(end.Send(SIZE / 2, sizeof(place)), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeSend, ND_SUCCESS);
	IsLeft(end);
	for (ULONG i = 0; i < ROOM; i++)
		CHECK(shut.At[i] == 0);
}

static void
IsShown(End &end)
{
	CHECK_HR(end.Receive(0, sizeof(Place)), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeReceive, ND_SUCCESS);
	CopyMemory(&end.There, end.Mine.At, sizeof(end.There));
}

static void
ShutWriteAtClient(End &end)
{
	IsShown(end);
	CHECK_HR(end.Write(0, 8, 0), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeWrite, ND_ACCESS_VIOLATION);
	end.IsBroken();
	end.It.BeLeft();
}

static void
ShutReadAtClient(End &end)
{
	IsShown(end);
	CHECK_HR(end.Read(0, 8, 0), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeRead, ND_ACCESS_VIOLATION);
	end.IsBroken();
	end.It.BeLeft();
}

// The server takes its region away while the client writes to it, without a pause.
static void
GoneAtServer(End &end)
{
	Region going(end.Home, ROOM, ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_WRITE);
	Place place = {(UINT64)(ULONG_PTR)going.At, going.Mr->GetRemoteToken(), ROOM};

	CopyMemory(end.Mine.At + SIZE / 2, &place, sizeof(place));
	CHECK_HR(end.Send(SIZE / 2, sizeof(place)), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeSend, ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeReceive, ND_SUCCESS); // it has begun
	going.Deregister();
	FillMemory(going.At, ROOM, 0x5a);
	end.It.BeLeft();
	end.It.Flushes(RECEIVES - 1);
	for (ULONG i = 0; i < ROOM; i++)
		CHECK(going.At[i] == 0x5a);
}

static void
GoneAtClient(End &end)
{
	ND2_RESULT result;

	IsShown(end);
	CHECK_HR(end.Write(0, 8, 0), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeWrite, ND_SUCCESS);
	CHECK_HR(end.Send(0, 0), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeSend, ND_SUCCESS);
	do {
		CHECK_HR(end.Write(0, 8, 0), ND_SUCCESS);
		result = end.It.Reap();
		CHECK(result.RequestType == Nd2RequestTypeWrite);
	} while (result.Status == ND_SUCCESS);
	CHECK_HR(result.Status, ND_ACCESS_VIOLATION);
	end.IsBroken();
	end.It.BeLeft();
}

// A Send for which there is no receive fails in time, and the peer is told.
static void
NobodyAtClient(End &end)
{
	const DWORD since = GetTickCount();
	ND2_RESULT result;

	for (ULONG i = 0; i <= RECEIVES; i++)
		CHECK_HR(end.Send(0, 8), ND_SUCCESS);
	for (ULONG i = 0; i < RECEIVES; i++)
		end.It.Expect(Nd2RequestTypeSend, ND_SUCCESS);
	result = end.It.Reap();
	CHECK_HR(result.Status, ND_IO_TIMEOUT);
	CHECK(GetTickCount() - since < SOON * 4); // a loaded machine is slow
	end.IsBroken();
	end.It.BeLeft();
}

static void
NobodyAtServer(End &end)
{
	for (ULONG i = 0; i < RECEIVES; i++)
		end.It.Expect(Nd2RequestTypeReceive, ND_SUCCESS);
	end.It.BeLeft();
}

// ---- windows ------------------------------------------------------------------------------------

// Thousands of bindings of one window, each at another place and with another right; each is told
// of, used, and ended. The last one is used once more.
static void
WindowsAtServer(End &end)
{
	Region shut(end.Home, ROOM);
	IND2MemoryWindow *window;
	UINT32 before = 0;

	CHECK_HR(end.Home.Adapter->CreateMemoryWindow(IID_IND2MemoryWindow, (void **)&window),
		 ND_SUCCESS);
	for (ULONG i = 0; i < WINDOWS; i++) {
		BYTE *at = shut.At + i % 8 * 256;
		const ULONG flags = i % 2 ? ND_OP_FLAG_ALLOW_READ : ND_OP_FLAG_ALLOW_WRITE;

		FillMemory(at, 256, 0xee);
		CHECK_HR(end.It.Qp->Bind(NULL, shut.Mr, window, at, 256, flags), ND_SUCCESS);
		Place place = {(UINT64)(ULONG_PTR)at, window->GetRemoteToken(), 256};
		CHECK(place.Token != before);
		before = place.Token;
		CopyMemory(end.Mine.At + SIZE / 2, &place, sizeof(place));
		CHECK_HR(end.Send(SIZE / 2, sizeof(place)), ND_SUCCESS);
		end.It.Expect(Nd2RequestTypeBind, ND_SUCCESS);
		ND2_RESULT result = end.It.Reap(); // between the two queues there is no order
		end.It.Expect(result.RequestType == Nd2RequestTypeSend ? Nd2RequestTypeReceive
								       : Nd2RequestTypeSend,
			      ND_SUCCESS);
		CHECK_HR(result.Status, ND_SUCCESS);
		CHECK(i % 2 || IsFilled(at, 256, i));
		ND2_SGE room = end.Mine.Piece(0, ROOM);
		CHECK_HR(end.It.Qp->Receive(end.Mine.At, &room, 1), ND_SUCCESS);
		CHECK_HR(end.It.Qp->Invalidate(NULL, window, 0), ND_SUCCESS);
		end.It.Expect(Nd2RequestTypeInvalidate, ND_SUCCESS);
	}
	CHECK_HR(end.It.Qp->Send(NULL, NULL, 0, 0), ND_SUCCESS); // it has been ended
	end.It.Expect(Nd2RequestTypeSend, ND_SUCCESS);
	end.It.BeLeft();
	end.It.Flushes(RECEIVES);
	CHECK(window->Release() == 0);
}

static void
WindowsAtClient(End &end)
{
	for (ULONG i = 0; i < WINDOWS; i++) {
		IsShown(end);
		Fill(end.Mine.At + 1024, 256, i);
		if (i % 2) {
			CHECK_HR(end.Read(1024, 256, 0), ND_SUCCESS);
			end.It.Expect(Nd2RequestTypeRead, ND_SUCCESS);
			CHECK(end.Mine.At[1024] == 0xee && end.Mine.At[1279] == 0xee);
		} else {
			CHECK_HR(end.Write(1024, 256, 0), ND_SUCCESS);
			end.It.Expect(Nd2RequestTypeWrite, ND_SUCCESS);
		}
		CHECK_HR(end.Send(0, 0), ND_SUCCESS);
		end.It.Expect(Nd2RequestTypeSend, ND_SUCCESS);
	}
	CHECK_HR(end.It.Qp->Receive(NULL, NULL, 0), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeReceive, ND_SUCCESS);
	CHECK_HR(end.Read(1024, 256, 0), ND_SUCCESS);
	end.It.Expect(Nd2RequestTypeRead, ND_ACCESS_VIOLATION);
	end.IsBroken();
	end.It.BeLeft();
}

// ---- leaving ------------------------------------------------------------------------------------

// The last references go while it is connected: the peer is told.
static void
DroppedAtClient(End &)
{
}

// Both at once, each of which must succeed.
static void
CrossingAtClient(End &end)
{
	end.It.Leave();
}

static void
CrossingAtServer(End &end)
{
	end.It.Leave();
	end.It.Flushes(RECEIVES);
}

// What is connected cannot be connected, bound or completed again.
static void
TwiceAtClient(End &end)
{
	SOCKADDR_IN from = end.Home.Address;
	Request request;

	CHECK_HR(end.It.Connector->Bind((const sockaddr *)&from, sizeof(from)), BOUND_ALREADY);
	CHECK_HR(end.It.Connector->Connect(end.It.Qp, (const sockaddr *)&from, sizeof(from), 0, 0,
					   NULL, 0, &request),
		 ND_CONNECTION_ACTIVE);
	CHECK(FAILED(end.It.Connector->CompleteConnect(&request)));
	CHECK_HR(end.Write(0, 8, 0), ND_SUCCESS); // and goes on
	end.It.Expect(Nd2RequestTypeWrite, ND_SUCCESS);
	end.It.Leave();
	CHECK_HR(end.It.Connector->Disconnect(&request), ND_INVALID_DEVICE_STATE);
}

// ---- the play -----------------------------------------------------------------------------------

struct Scene {
	const char *Name;
	void (*Client)(End &end);
	void (*Server)(End &end);
};
static const Scene g_Scenes[] = {
	{"lengths", LengthsAtClient, LengthsAtServer},
	{"a message that is too long", TooLongAtClient, TooLongAtServer},
	{"a Write of memory that is not there", OwnWriteAtClient, UntouchedAtServer},
	{"a Read to memory that is not there", OwnReadAtClient, UntouchedAtServer},
	{"a Write beyond the peer's region", OverWriteAtClient, UntouchedAtServer},
	{"a Read before the peer's region", OverReadAtClient, UntouchedAtServer},
	{"a Write to a region that allows none", ShutWriteAtClient, ShutAtServer},
	{"a Read of a region that allows none", ShutReadAtClient, ShutAtServer},
	{"a region that goes", GoneAtClient, GoneAtServer},
	{"a Send that nobody receives", NobodyAtClient, NobodyAtServer},
	{"windows", WindowsAtClient, WindowsAtServer},
	{"a client that drops everything", DroppedAtClient, IsLeft},
	{"both leave", CrossingAtClient, CrossingAtServer},
	{"everything twice", TwiceAtClient, IsLeft},
};

static void
Serve(const SOCKADDR_IN &at)
{
	Host host(at);
	Listener listener(host, at, 1);

	SayListening();
	for (ULONG next = 0; next < _countof(g_Scenes); next++) {
		Line line(host, Depths{DEPTH, DEPTH, 3, 0});
		Region region(host, SIZE,
			      ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_WRITE |
				      ND_MR_FLAG_ALLOW_REMOTE_READ);
		End end = {host, line, region, Place()};
		UINT32 scene;
		const Place place = {(UINT64)(ULONG_PTR)region.At, region.Mr->GetRemoteToken(),
				     SIZE};

		listener.Take(line, &scene, sizeof(scene));
		CHECK(scene == next);
		for (ULONG i = 0; i < RECEIVES; i++) {
			BYTE *room = region.At + SIZE - (i + 1) * ROOM;
			ND2_SGE sge = region.Piece((SIZE_T)(room - region.At), ROOM);
			CHECK_HR(line.Qp->Receive(room, &sge, 1), ND_SUCCESS);
		}
		line.Accept(&place, sizeof(place));
		g_Scenes[scene].Server(end);
	}
}

static void
Call(const SOCKADDR_IN &from, const SOCKADDR_IN &to)
{
	Host host(from);

	for (UINT32 scene = 0; scene < _countof(g_Scenes); scene++) {
		Line line(host, Depths{DEPTH, DEPTH, 3, 0});
		Region region(host, SIZE);
		End end = {host, line, region, Place()};
		ULONG bytes = sizeof(end.There);

		line.Connect(to, &scene, sizeof(scene));
		HRESULT hr = line.Connector->GetPrivateData(&end.There, &bytes);
		CHECK(hr == ND_SUCCESS || hr == ND_BUFFER_OVERFLOW);
		g_Scenes[scene].Client(end);
		printf("%s\n", g_Scenes[scene].Name);
		fflush(stdout);
	}
}

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	return RunEnds(Ends{"scenes", Serve, Call, NULL}, argc, argv);
}
