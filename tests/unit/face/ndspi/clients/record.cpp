// SPDX-License-Identifier: BSD-3-Clause
//
// The object that an OVERLAPPED is a member of: of a class with a base, virtual functions and
// members that are private.
#include <windows.h>

class Reference
{
      public:
	Reference() : m_nRef(1)
	{
	}
	LONG
	AddRef()
	{
		return InterlockedIncrement(&m_nRef);
	}
	LONG
	Release()
	{
		LONG left = InterlockedDecrement(&m_nRef);

		if (left == 0)
			delete this;
		return left;
	}

      protected:
	virtual ~Reference()
	{
	}

      private:
	LONG m_nRef;
};

class Completion : public OVERLAPPED
{
      public:
	typedef void (*Routine)(Completion *This);

	Completion(Routine routine) : m_routine(routine)
	{
		Internal = 0;
		InternalHigh = 0;
		Pointer = NULL;
		hEvent = NULL;
	}
	void
	Run()
	{
		m_routine(this);
	}

      private:
	Routine m_routine;
};

class Connection : public Reference
{
      public:
	Connection(int *done) : m_done(done), m_read(ReadDone), m_write(WriteDone)
	{
	}
	void
	Finish()
	{
		AddRef();
		m_write.Run();
		m_read.Run();
	}

      private:
	__callback static void
	ReadDone(Completion *p)
	{
		Connection *This = CONTAINING_RECORD(p, Connection, m_read);

		*This->m_done += 1;
		This->Release();
	}
	__callback static void
	WriteDone(Completion *p)
	{
		Connection *This = CONTAINING_RECORD(p, Connection, m_write);

		*This->m_done += 10;
		This->Release();
	}

	int *m_done;
	Completion m_read;
	Completion m_write;
};

int
main()
{
	int done = 0;
	Connection *connection = new Connection(&done);

	connection->Finish();
	return done == 11 ? 0 : 1;
}
