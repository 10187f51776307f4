/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the clients stream, scenes and crowd share: two ends, which are two processes or two threads
 * of one; an adapter, memory, a queue pair with its connection. What goes wrong ends the process
 * with a sentence. Start with RunEnds(), then Line.
 */
#ifndef KIT_H
#define KIT_H

#include <winsock2.h>
#include <ndsupport.h>
#include <ntstatus.h>
#include <process.h>
#include <tchar.h>

#include <stdio.h>
#include <stdlib.h>

static const DWORD PATIENCE = 60000; // [ms] for anything that ought to happen soon

DECLSPEC_NORETURN void Fail(const char *file, int line, const char *what, HRESULT hr);
#define CHECK(condition)                                         \
	do {                                                     \
		if (!(condition))                                \
			Fail(__FILE__, __LINE__, #condition, 0); \
	} while (0)
#define CHECK_HR(call, wanted)                                \
	do {                                                  \
		HRESULT hr_ = (call);                         \
		if (hr_ != (wanted))                          \
			Fail(__FILE__, __LINE__, #call, hr_); \
	} while (0)

// An overlapped request with its event.
class Request : public OVERLAPPED
{
      public:
	Request();
	~Request();
	Request(const Request &) = delete;
	Request &operator=(const Request &) = delete;

	// The end of what has returned hr.
	HRESULT Wait(IND2Overlapped *object, HRESULT hr, DWORD ms = PATIENCE);
};

// An adapter, and a file for everything that is made on it.
class Host
{
      public:
	IND2Adapter *Adapter;
	HANDLE File;
	ND2_ADAPTER_INFO Info;
	SOCKADDR_IN Address;

	explicit Host(const SOCKADDR_IN &address);
	~Host();
	Host(const Host &) = delete;
	Host &operator=(const Host &) = delete;
};

// Registered memory.
class Region
{
      public:
	IND2MemoryRegion *Mr;
	BYTE *At;
	SIZE_T Bytes;

	Region(Host &host, SIZE_T bytes, ULONG flags = ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	~Region();
	Region(const Region &) = delete;
	Region &operator=(const Region &) = delete;

	void Deregister();

	ND2_SGE
	Piece(SIZE_T offset, ULONG bytes) const
	{
		ND2_SGE sge = {At + offset, bytes, m_Token};
		return sge;
	}

      private:
	UINT32 m_Token;
	bool m_Registered;
};

BYTE Pattern(ULONG seed, ULONG at);
void Fill(BYTE *to, ULONG bytes, ULONG seed);
bool IsFilled(const BYTE *at, ULONG bytes, ULONG seed);

// What a queue pair is created with.
struct Depths {
	ULONG Receives, Requests, Sges, Inline;
};

// A queue pair, its completion queue and its connector.
class Line
{
      public:
	IND2CompletionQueue *Cq;
	IND2QueuePair *Qp;
	IND2Connector *Connector;
	bool Blocks; // Reap() sleeps; else it polls

	Line(Host &host, const Depths &depths);
	~Line();
	Line(const Line &) = delete;
	Line &operator=(const Line &) = delete;

	// Both sides of a connection; `words` is private data. A port of 0 is any.
	void Connect(const SOCKADDR_IN &to, const void *words, ULONG bytes);
	void Accept(const void *words, ULONG bytes);
	// The end of a connection that this side ends; of one that the other has ended.
	void Leave();
	void BeLeft();

	// The next completion, for which it sleeps or polls.
	ND2_RESULT Reap();
	// The next one, which must be this.
	void Expect(ND2_REQUEST_TYPE type, HRESULT status);
	// All that are there; each must be CANCELED. Returns: how many
	ULONG Flushed();
	// So many come, in their time.
	void Flushes(ULONG n);

      private:
	Host &m_Host;
};

// Takes connection requests.
class Listener
{
      public:
	IND2Listener *It;

	Listener(Host &host, const SOCKADDR_IN &at, ULONG backlog = 0);
	~Listener();
	Listener(const Listener &) = delete;
	Listener &operator=(const Listener &) = delete;

	// The next request, in `line`; `words` has the private data, as much as there is room for.
	void Take(Line &line, void *words, ULONG bytes);
};

// The words of a client, by name: --size 64. What is left over is an error.
class Options
{
      public:
	Options(int count, TCHAR **words);
	ULONG Number(const TCHAR *name, ULONG otherwise);
	bool Has(const TCHAR *name);
	void MustBeEmpty();

      private:
	int m_Count;
	TCHAR **m_Words;
	ULONGLONG m_Used;
};

// The two ends of a program. Each may be called in a thread of its own.
struct Ends {
	const char *Name;
	void (*Serve)(const SOCKADDR_IN &at);
	void (*Call)(const SOCKADDR_IN &from, const SOCKADDR_IN &to);
	void (*Read)(Options &options);
};

// PROGRAM server ADDRESS:PORT ... | client ADDRESS:PORT ... | both SERVER:PORT CLIENT ...
// A server says "listening" when it is. Returns: the exit status
int RunEnds(const Ends &ends, int argc, TCHAR **argv);
void SayListening();

ULONGLONG NowUs();

#endif
