/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Windows surface as a C++ program written for Windows uses it, with nothing but its headers
 * and libraries: TCHAR, a completion port, threads that serve it, events, wide output, and _tmain.
 */
#include <windows.h>
#include <process.h>
#include <tchar.h>
#include <winsock2.h>

#include <stdio.h>

#include <vector>

namespace
{

const ULONG_PTR KEY_WORK = 1;
const ULONG_PTR KEY_QUIT = 2;
const int WORKERS = 3;
const LONG ITEMS = 30000;

struct Item {
	OVERLAPPED ov;
	LONG number;
};

class Pool
{
      public:
	Pool() : m_port(NULL), m_done(NULL), m_sum(0), m_left(ITEMS)
	{
	}

	bool
	Start()
	{
		m_port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
		m_done = CreateEvent(NULL, TRUE, FALSE, NULL);
		if (m_port == NULL || m_done == NULL)
			return false;
		for (int i = 0; i < WORKERS; i++) {
			uintptr_t thread = _beginthreadex(NULL, 0, ThreadProc, this, 0, NULL);

			if (thread == 0)
				return false;
			m_threads.push_back(reinterpret_cast<HANDLE>(thread));
		}
		return true;
	}

	bool
	Run()
	{
		for (LONG i = 0; i < ITEMS; i++) {
			Item *item = new Item;

			ZeroMemory(item, sizeof(*item));
			item->number = i;
			if (!PostQueuedCompletionStatus(m_port, sizeof(*item), KEY_WORK, &item->ov))
				return false;
		}
		return WaitForSingleObject(m_done, 60000) == WAIT_OBJECT_0;
	}

	bool
	Stop()
	{
		DWORD n = static_cast<DWORD>(m_threads.size());

		for (DWORD i = 0; i < n; i++)
			PostQueuedCompletionStatus(m_port, 0, KEY_QUIT, NULL);
		if (WaitForMultipleObjects(n, &m_threads[0], TRUE, INFINITE) != WAIT_OBJECT_0)
			return false;
		for (DWORD i = 0; i < n; i++) {
			DWORD code = 0;

			if (!GetExitCodeThread(m_threads[i], &code) || code != 5)
				return false;
			CloseHandle(m_threads[i]);
		}
		CloseHandle(m_done);
		return CloseHandle(m_port) == TRUE;
	}

	LONGLONG
	Sum() const
	{
		return m_sum;
	}

      private:
	static unsigned __stdcall ThreadProc(void *context)
	{
		static_cast<Pool *>(context)->Work();
		return 5;
	}

	void
	Work()
	{
		for (;;) {
			DWORD bytes;
			ULONG_PTR key;
			OVERLAPPED *ov;

			if (!GetQueuedCompletionStatus(m_port, &bytes, &key, &ov, INFINITE) ||
			    key == KEY_QUIT)
				return;
			Item *item = CONTAINING_RECORD(ov, Item, ov);
			InterlockedExchangeAdd64(&m_sum, item->number);
			delete item;
			if (InterlockedDecrement(&m_left) == 0)
				SetEvent(m_done);
		}
	}

	HANDLE m_port, m_done;
	std::vector<HANDLE> m_threads;
	volatile LONGLONG m_sum;
	volatile LONG m_left;
};

} // namespace

int __cdecl _tmain(int argc, TCHAR *argv[])
{
	Pool pool;
	SOCKADDR_IN address;
	INT length = sizeof(address);
	LARGE_INTEGER start, end;

	if (argc != 2 || _tcsicmp(argv[1], _T("W\x00f6rld")) != 0)
		return 2;
	if (WSAStringToAddress(const_cast<LPTSTR>(_T("192.0.2.1:54321")), AF_INET, NULL,
			       reinterpret_cast<LPSOCKADDR>(&address), &length) != 0 ||
	    ntohs(address.sin_port) != 54321)
		return 3;
	QueryPerformanceCounter(&start);
	if (!pool.Start() || !pool.Run() || !pool.Stop())
		return 4;
	QueryPerformanceCounter(&end);
	if (pool.Sum() != static_cast<LONGLONG>(ITEMS) * (ITEMS - 1) / 2)
		return 5;
	if (end.QuadPart <= start.QuadPart)
		return 6;
	_tprintf(_T("%s: %I64d\n"), argv[1], pool.Sum());
	return 0;
}
