// SPDX-License-Identifier: BSD-3-Clause
//
// Good source of Windows that gcc or clang remark on: one thing at a time, by NOISE.
#include <windows.h>
#include <unknwn.h>

#if NOISE == 1
struct Swapped {
	Swapped() : second(1), first(0)
	{
	}
	int first, second;
};
int
main()
{
	return Swapped().first;
}
#elif NOISE == 2
int
main()
{
	void *block = new char;

	delete block;
	return 0;
}
#elif NOISE == 3
class Object : public IUnknown
{
      public:
	STDMETHODIMP
	QueryInterface(REFIID, void **object)
	{
		*object = NULL;
		return E_NOINTERFACE;
	}
	STDMETHODIMP_(ULONG) AddRef()
	{
		return InterlockedIncrement(&m_ref);
	}
	STDMETHODIMP_(ULONG) Release()
	{
		LONG left = InterlockedDecrement(&m_ref);

		if (left == 0)
			delete this;
		return left;
	}

      private:
	LONG m_ref = 1;
};
int
main()
{
	IUnknown *object = new Object;

	return object->AddRef() == 2 && object->Release() == 1 && object->Release() == 0 ? 0 : 1;
}
#elif NOISE == 4
int
main()
{
	LONG threads = 2;
	DWORD n = 0;

	for (DWORD i = 0; i < threads; i++)
		n++;
	return n == 2 ? 0 : 1;
}
#elif NOISE == 5
int
main()
{
	OVERLAPPED overlapped = {0};

	return overlapped.hEvent == NULL ? 0 : 1;
}
#elif NOISE == 6
struct Key {
	USHORT rank;
	UINT8 key[3];
};
int
main()
{
	const Key key = {1, 2, 3, 4};

	return key.key[2] == 4 ? 0 : 1;
}
#elif NOISE == 7
#pragma warning(disable : 4100)
#pragma comment(lib, "ws2_32.lib")
int
main()
{
	return 0;
}
#elif NOISE == 8
typedef HRESULT (*Entry)(REFCLSID, REFIID, LPVOID *);
int
main()
{
	FARPROC found = NULL;

	return (Entry)found == NULL ? 0 : 1;
}
#elif NOISE == 9
class Request : public OVERLAPPED
{
      public:
	Request() : m_left(3)
	{
		ZeroMemory(this, sizeof(*this));
	}
	LONG m_left;
};
int
main()
{
	Request a, b;

	a.m_left = 7;
	CopyMemory(&b, &a, sizeof(a));
	return b.m_left == 7 ? 0 : 1;
}
#endif
